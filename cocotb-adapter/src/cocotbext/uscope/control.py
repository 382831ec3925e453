"""
Recording switched off and on while the test runs, by scope or as a whole, and triggers (docs/how-to/control.md of µScope).

Nothing of this is on the way of items: what is disabled is taken out of a frame when it ends. Commands from outside are acted upon when a frame
begins.
"""

from __future__ import annotations

import struct
import time
from typing import Any, Dict, List, Optional, Protocol, Set, Tuple

from . import records
from .constants import EVENT_INLINE_BYTES, RECORD_BYTES
from .constants import RECORD_EVENT as _EVENT
from .constants import RECORD_OP as _OP
from .constants import RECORD_STRING as _STRING

from .schema import Schema
from .stream import Stream

EVENT = "uscope/control"
SCOPE = "uscope"
PAUSE, RESUME, DISABLE, ENABLE, TRIGGER = range(5)
TESTBENCH, OPERATOR = range(2)
_ACTIONS = {"pause": PAUSE, "resume": RESUME, "disable": DISABLE, "enable": ENABLE, "trigger": TRIGGER}
_PAYLOAD = struct.Struct("<BBII")
_REPORT_S = 0.5


class Controlled(Protocol):
    """What is asked of the trace."""

    schema: Schema
    _extra: int

    @property
    def stream(self) -> Stream: ...
    def string(self, text: str, /) -> int: ...
    def _enter_frame(self, time_ps: Optional[int], /) -> None: ...
    def _leave_frame(self) -> Optional[int]: ...
    def _put_bytes(self, record: bytes, /) -> None: ...
    def _resync(self) -> None: ...


class Control:
    """What of one trace is disabled, and the control events that wait for a frame."""

    def __init__(self, trace: "Controlled") -> None:
        self._trace = trace
        schema = trace.schema
        self._scopes = _scopes_of([*schema.storages, *schema.events])
        self._off: Set[str] = set()
        self._off_storages: Set[int] = set()
        self._off_events: Set[int] = set()
        self._marks: List[Tuple[int, int, int, int]] = []
        self._done = 0
        self._error: Tuple[str, str] = ("", "")
        self._reported_at = 0.0
        self.skipped = 0
        #: Something has been said to the daemon, which another daemon must hear again.
        self.has_reported = False

    @property
    def is_active(self) -> bool:
        """Something is left out of frames."""
        return bool(self._off)

    @property
    def has_marks(self) -> bool:
        return bool(self._marks)

    # -- switching

    def switch(self, scope: str, off: bool, source: int) -> bool:
        """False when the schema has no such scope."""
        targets = {s for s in self._scopes if scope in ("", s) or s.startswith(scope + "/")}
        if scope == SCOPE or (scope and scope not in self._scopes):
            return False
        before = set(self._off)
        after = before | targets if off else before - targets
        if after == before:
            return True
        action = (PAUSE if off else RESUME) if scope == "" else (DISABLE if off else ENABLE)
        mark = (action, source, self._trace.string(scope), self._trace.string(""))
        reopen = self._trace._leave_frame()
        self._apply(after)
        if off and self._trace.stream.frames > 0:
            self._empty_storages(before)
        self._marks.append(mark)
        self._trace._enter_frame(reopen)
        if not off:
            self._trace._resync()
        return True

    def trigger(self, label: str, source: int) -> None:
        self._marks.append((TRIGGER, source, self._trace.string(""), self._trace.string(label)))
        self._trace._enter_frame(self._trace._leave_frame())

    def _apply(self, off: Set[str]) -> None:
        schema = self._trace.schema
        self._off = off
        self._off_storages = {s.id for path, s in schema.storages.items() if _scope_of(path) in off}
        self._off_events = {e.id for path, e in schema.events.items() if _scope_of(path) in off}

    def _empty_storages(self, before: Set[str]) -> None:
        """What was in flight is not any more, for all that is known."""
        for path, storage in self._trace.schema.storages.items():
            if storage.sparse and _scope_of(path) in self._off - before:
                mask = bytes((storage.num_slots + 7) // 8)
                self._trace._put_bytes(records.snapshot(storage.id, 0, len(mask), mask))

    @property
    def disabled(self) -> List[str]:
        """The outermost scopes of those disabled; "" is the whole trace."""
        if self._off and self._off == self._scopes:
            return [""]
        return [
            s for s in sorted(self._off) if not any(s.startswith(o + "/") and self._whole(o) for o in self._off)
        ]

    def _whole(self, scope: str) -> bool:
        return all(s in self._off for s in self._scopes if s == scope or s.startswith(scope + "/"))

    # -- frames

    def put_marks(self) -> None:
        """Into the frame that has just begun."""
        marks, self._marks = self._marks, []
        event = self._trace.schema.events.get(EVENT)
        if event is None:
            return
        for mark in marks:
            self._trace._put_bytes(records.event(event.id, _PAYLOAD.pack(*mark)))
            self._trace._extra -= 1

    def filter(self, words: "memoryview", first: int, end: int) -> Tuple[int, int, bool]:
        """
        Takes what is disabled out of a frame's records after its BEGIN. Returns their new end, how many 16-byte records are not items of their
        own, and whether the frame shall stay: without items, that of a paused trace does not.
        """
        to, extra, items = first, 0, 0
        at = first
        while at < end:
            word = words[at]
            kind, about, size = word & 0xFF, word >> 16 & 0xFFFF, word >> 32
            length = _words_of(kind, size)
            off = about in (self._off_storages if kind == _OP else self._off_events)
            if kind == _STRING:
                extra += length >> 1
            elif off:
                self.skipped += 1
                at += length
                continue
            else:
                items += 1
                extra += (length >> 1) - 1
            if to != at:
                words[to : to + length] = words[at : at + length]
            to += length
            at += length
        return to, extra, items > 0 or self._off != self._scopes

    # -- from outside

    def obey(self, command: Dict[str, Any]) -> None:
        """Carries out a `control` of the daemon, between two frames."""
        action = _ACTIONS.get(command["action"])
        self._done = command["number"]
        self._error = ("", "")
        if action == TRIGGER and EVENT in self._trace.schema.events:
            self.trigger(str(command.get("text", "")), OPERATOR)
        elif action is None or action == TRIGGER:
            self._error = ("OP_EVENT", "the trace cannot record this")
        elif not self.switch(str(command.get("scope", "")), action in (PAUSE, DISABLE), OPERATOR):
            self._error = ("OP_SCOPE", f'no scope "{command.get("scope")}" that can be switched')

    def report(self, number: Optional[int], epoch: int) -> Dict[str, Any]:
        """The message `controlled`."""
        self.has_reported = True
        self._reported_at = time.monotonic()
        code, msg = self._error
        return {
            "t": "controlled",
            "trace": number,
            "epoch": epoch,
            "done": self._done,
            "disabled": {scope: True for scope in self.disabled},
            "skipped": self.skipped,
            "code": code or None,
            "msg": msg or None,
        }

    @property
    def is_report_due(self) -> bool:
        """The daemon knows of what was left out some time ago."""
        return time.monotonic() - self._reported_at >= _REPORT_S


def _words_of(kind: int, size: int) -> int:
    if kind == _EVENT:
        return 2 if size <= EVENT_INLINE_BYTES else (size + EVENT_INLINE_BYTES + 15) // RECORD_BYTES * 2
    if kind == _STRING:
        return 2 + (size + 15) // RECORD_BYTES * 2
    return 2


def _scope_of(path: str) -> str:
    """The root's own storages and events are in the scope "/"."""
    return path.rpartition("/")[0] or "/"


def _scopes_of(paths: List[str]) -> Set[str]:
    """The scopes of storages and events, and those above them, without that of the control event."""
    scopes = set()
    for path in paths:
        scope = _scope_of(path)
        while scope:
            scopes.add(scope)
            scope = scope.rpartition("/")[0]
    return scopes - {SCOPE}
