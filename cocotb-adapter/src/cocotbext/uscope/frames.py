"""Frames of one trace and the room for their records (docs/reference/bridge-protocol.md#records)."""

from __future__ import annotations

import logging
from typing import Any, Callable, Dict, Optional

from .constants import RECORD_BEGIN as _BEGIN
from .constants import RECORD_END as _END
from .control import Control
from .memory import MAX_RECORD
from .stream import Stream


log = logging.getLogger("cocotbext.uscope")

_NOWHERE = -1


def _no_time() -> Any:
    return None


class Frames:
    """
    The buffer for records: they are stored straight into the memory.

    ``_at`` is the next free word, ``_limit`` the greatest at which an op fits without asking `_make_room`; outside cycles it is below every
    place, so that the check for room is the check for the cycle, too.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.rejected = 0
        self.reasons: Dict[str, int] = {}
        self._stream: Optional[Stream] = None
        self._words: memoryview
        self._bytes: memoryview
        self._at = self._frame_at = self._chunk_end = self._frame_words = 0
        self._limit = _NOWHERE
        self._extra = 0
        self._time: Optional[int] = None
        self._last_time = 0
        self._untraced = False
        self._closed = False
        #: The simulator's time as it counts it; another one begins a frame. Constant when frames are bracketed by hand.
        self._tick: Callable[[], Any] = _no_time
        self._raw_time: Any = None
        self._num_strings = 0
        #: Made when something is switched or marked; a command from outside waits in ``_command`` for the next frame.
        self._control: Optional[Control] = None
        self._command: Optional[Dict[str, Any]] = None

    # -- what the trace does for it

    def _next_chunk(self, keep_from: int) -> None:
        """Seals the chunk at a place and takes everything after it into the next; waits for room."""
        raise NotImplementedError

    def _after_frame(self, wake: bool) -> None:
        raise NotImplementedError

    def _meet_time(self) -> None:
        """The simulator's time has changed."""

    def _obey(self) -> None:
        """Carries out the command that has come from outside."""
        raise NotImplementedError

    def _filter_frame(self) -> bool:
        """Takes what is disabled out of the frame; False when nothing is left of it."""
        raise NotImplementedError

    # -- set up

    @property
    def stream(self) -> Stream:
        assert self._stream is not None
        return self._stream

    def _store_into(self, stream: Stream) -> None:
        self._stream = stream
        self._words = stream.memory.words
        self._bytes = stream.memory.bytes
        self._frame_words = stream.memory.frame_words
        self._enter(stream.take())

    def _enter(self, base: int) -> None:
        self._at = self._frame_at = base
        self._chunk_end = base + self.stream.memory.chunk_words

    def _go_untraced(self) -> None:
        """From now on everything is written into a place that nobody reads."""
        self._untraced = True
        size = 2 * self._frame_words + 2 * MAX_RECORD // 8 + 1024
        self._bytes = memoryview(bytearray(size * 8))
        self._words = self._bytes.cast("Q")
        self._at = self._frame_at = 0
        self._chunk_end = size
        if self._time is not None:
            self._set_limit()

    # -- cycles

    def begin_cycle(self, time_ps: int) -> None:
        """Starts a frame; one that is open is ended."""
        if self._time is not None:
            self.end_cycle()
        if self._closed:
            self.reject("OP_HANDLE", "it is closed; nothing can be recorded any more")
            return
        if time_ps < self._last_time:
            self.reject("OP_TIME", f"a cycle at {time_ps} ps after one at {self._last_time} ps")
            return
        self._begin(time_ps)

    def _begin(self, time_ps: int) -> None:
        if self._command is not None and not self._untraced:
            self._obey()
        if self._untraced:
            self._at = 0
        elif self._at + 4 > self._chunk_end:
            self._next_chunk(self._at)
        at = self._at
        words = self._words
        words[at] = _BEGIN
        words[at + 1] = time_ps
        self._frame_at = at
        self._at = at + 2
        self._extra = 0
        self._time = self._last_time = time_ps
        self._set_limit()
        if self._control is not None and self._control.has_marks:
            self._control.put_marks()

    def _set_limit(self) -> None:
        self._limit = min(self._frame_at + self._frame_words, self._chunk_end - 4)

    def end_cycle(self) -> None:
        """Ends the open frame, if there is one, and hands it on. Waits while the daemon has too much of this trace."""
        if self._time is None:
            return
        self._time = None
        self._limit = _NOWHERE
        self._raw_time = None
        self._finish_frame()

    def _finish_frame(self) -> None:
        if self._untraced or (self._control is not None and self._control.is_active and not self._filter_frame()):
            return
        at = self._at
        stream = self.stream
        words = self._words
        words[at] = _END | (((at - self._frame_at) >> 1) - 1 - self._extra) << 32
        words[at + 1] = stream.frames
        self._at = at = at + 2
        stream.strings = self._num_strings
        self._after_frame(stream.publish(at))

    def _leave_frame(self) -> Optional[int]:
        """Ends the open frame, to begin another at the same time; that time."""
        time_ps = self._time
        if time_ps is not None:
            self._finish_frame()
            self._time = None
        return time_ps

    def _enter_frame(self, time_ps: Optional[int]) -> None:
        if time_ps is not None:
            self._begin(time_ps)

    @property
    def in_cycle(self) -> bool:
        return self._time is not None

    # -- room

    def _make_room(self, words: int) -> bool:
        """Room for a record of the open frame, and an END; False outside of cycles. A frame that is large is ended, and another begun."""
        time_ps = self._time
        if time_ps is None:
            self.reject("OP_OUTSIDE_CYCLE", "an item outside a cycle")
            return False
        if self._untraced:
            self._at = 0
            return True
        if self._at - self._frame_at >= self._frame_words:
            self._finish_frame()
            self._begin(time_ps)
        if self._at + words + 2 > self._chunk_end:
            self._next_chunk(self._frame_at)
            self._set_limit()
        return True

    def _reserve(self, words: int) -> int:
        """A place for a record that is not an item; in a frame or before the next one."""
        if self._time is not None:
            if self._at + words - 2 > self._limit:
                self._make_room(words)
            self._extra += words >> 1
        elif self._untraced:
            self._at = 0
        elif self._at + words + 2 > self._chunk_end:
            self._next_chunk(self._at)
        at = self._at
        self._at = at + words
        return at

    def _put_bytes(self, record: bytes) -> None:
        at = self._reserve(len(record) >> 3)
        self._bytes[at << 3 : (at << 3) + len(record)] = record

    # -- refusing

    def reject(self, code: str, detail: str, count: int = 1) -> None:
        """An item or cycle is not recorded: counted, and said once per code."""
        if self._untraced:
            return
        self.rejected += count
        known = self.reasons.get(code, 0)
        self.reasons[code] = known + count
        if known == 0:
            cycle = "" if self._time is None else f"in the cycle at {self._time} ps: "
            log.error("%s: %s%s: %s (further ones are only counted)", self.name, cycle, code, detail)
