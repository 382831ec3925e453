"""A trace as the bridge protocol knows it, without a simulator: cycles, ops, events, strings, close."""

from __future__ import annotations

import atexit
import logging
import os
import struct
import threading
import time
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Any, Deque, Dict, List, Mapping, Optional, Sequence

from . import records
from .connection import Connection
from .errors import UscopeError
from .messages import Message
from .schema import Event, Field, Schema, Storage, decode_schema
from .stream import Stream

log = logging.getLogger("cocotbext.uscope")

DEFAULT_CREDIT_BYTES = 32 * 1024 * 1024
DEFAULT_TIMEOUT_S = 30.0
DEFAULT_OPEN_TIMEOUT_S = 10.0
#: A cycle with more is split into frames of equal time: only whole frames are acknowledged.
MAX_FRAME_BYTES = 512 * 1024
MAX_CACHED_STRINGS = 65_536
_FORMATS = {1: "B", 2: "H", 3: "I", 4: "Q", 5: "b", 6: "h", 7: "i", 8: "q", 9: "B", 10: "I", 11: "B"}

_connections: Dict[str, Connection] = {}
_connections_lock = threading.Lock()


@dataclass(frozen=True)
class TraceStats:
    """What the daemon says of a finished trace."""

    path: str
    status: int
    frames: int
    items: int
    strings: int
    segments: int
    bytes: int
    total_time_ps: int
    rejected: int
    lost: int


def _connection() -> Connection:
    endpoint = os.environ.get("USCOPE_ENDPOINT", "")
    if not endpoint:
        raise UscopeError(
            "BRIDGE_NO_DAEMON",
            "USCOPE_ENDPOINT is not set: run this under `uscope run -- COMMAND`, or start `uscope serve` and set it",
        )
    with _connections_lock:
        if endpoint not in _connections:
            _connections[endpoint] = Connection(endpoint, _seconds("USCOPE_TIMEOUT_MS", DEFAULT_TIMEOUT_S))
        return _connections[endpoint]


def _seconds(name: str, default: float) -> float:
    text = os.environ.get(name)
    if text is None:
        return default
    try:
        return float(text) / 1000
    except ValueError:
        raise UscopeError("ENV_VALUE", f'{name} is "{text}", which is no number of milliseconds') from None


class ClientTrace:
    """
    One trace. Times are ps. Its methods may be called by one thread, the simulator's.

    Ops that the schema does not allow are refused, counted, and reported once per kind; `close` returns the count. Failures that end the
    trace raise :class:`UscopeError` at the next call.
    """

    def __init__(
        self,
        name: str,
        schema: Optional[str] = None,
        *,
        variables: Optional[Mapping[str, str]] = None,
        dut: Optional[Mapping[str, str]] = None,
        interval_ps: int = 0,
        schema_sha256: Optional[str] = None,
        core: Optional[int] = None,
    ) -> None:
        """Opens the trace; ``schema`` is the path of a schema file, absent: the daemon's. :raises UscopeError: BRIDGE_*, SCHEMA_*"""
        self.name = name
        self._session = os.urandom(16)
        self._arguments = self._open_message(schema, variables, dut, interval_ps, schema_sha256, core)
        self.stream = Stream()
        self.number: Optional[int] = None
        self.epoch = 0
        self.seq = 0
        self.outbox: Deque[bytes] = deque()
        self.path = ""
        self.schema = Schema()
        self._credit = DEFAULT_CREDIT_BYTES
        self._failure: Optional[UscopeError] = None
        self._stats: Optional[TraceStats] = None
        self._opened = False
        self._closed = False
        self._stalled = False

        self._frame: List[bytes] = []
        self._frame_bytes = 0
        self._items = 0
        self._time: Optional[int] = None
        self._last_time = -1
        self._strings: "OrderedDict[str, int]" = OrderedDict()
        self._num_strings = 0
        self._before: List[bytes] = []
        self.rejected = 0
        self.reasons: Dict[str, int] = {}

        self._connection = _connection()
        with self._connection.lock:
            self._connection.add(self)
            self._wait_opened()
        atexit.register(self.close)

    def _open_message(
        self,
        schema: Optional[str],
        variables: Optional[Mapping[str, str]],
        dut: Optional[Mapping[str, str]],
        interval_ps: int,
        sha256: Optional[str],
        core: Optional[int],
    ) -> Message:
        path = schema or os.environ.get("USCOPE_SCHEMA")
        text = None
        if path:
            try:
                with open(path, encoding="utf-8") as file:
                    text = file.read()
            except (OSError, UnicodeDecodeError) as cause:
                raise UscopeError("SCHEMA_FILE", f"{path}: {cause}") from cause
        run = os.environ.get("USCOPE_RUN_ID", "")
        return {
            "name": self.name,
            "session": self._session,
            "schema": text,
            "schema_name": path,
            "dut": dict(dut) if dut else None,
            "interval_ps": interval_ps or None,
            "credit": DEFAULT_CREDIT_BYTES,
            "run": bytes.fromhex(run) if len(run) == 32 else None,
            "core": core,
            "schema_sha256": sha256,
            "vars": {k: str(v) for k, v in variables.items()} if variables else None,
        }

    def _wait_opened(self) -> None:
        limit = time.monotonic() + _seconds("USCOPE_OPEN_TIMEOUT_MS", DEFAULT_OPEN_TIMEOUT_S)
        while not self._opened and self._failure is None:
            if self._connection.lost:
                self._failure = self._connection.lost
            elif time.monotonic() > limit:
                self._failure = UscopeError(
                    "BRIDGE_NO_DAEMON",
                    f"no daemon answers at {self._connection.endpoint}: run this under `uscope run -- COMMAND`, or start `uscope serve`",
                )
            else:
                self._connection.lock.wait(0.05)
        if self._failure:
            self._connection.remove(self)
            raise self._failure

    # -- called by the connection's thread, with its lock held

    def open_arguments(self) -> Message:
        return self._arguments

    def on_opened(self, message: Message) -> None:
        if message["frames"] < self.stream.durable:
            self.on_failure(
                UscopeError("BRIDGE_SEQUENCE", f"the daemon has forgotten frames of {self.name}")
            )
            return
        self.number = message["trace"]
        self.epoch = message["epoch"]
        self.seq = 0
        self.path = message["path"]
        self._credit = message["credit"]
        if not self._opened:
            self.schema = decode_schema(message["schema"])
            self._opened = True
        self.stream.restart(message["frames"])
        if self._closed:
            self._send_close()

    def on_ack(self, message: Message) -> None:
        if message["epoch"] == self.epoch:
            self.stream.acknowledge(message["frames"])
            self._stalled = False

    def on_stalled(self, message: Message) -> None:
        if not self._stalled:
            log.warning("%s waits: %s: %s", self.name, message.get("code"), message.get("msg"))
        self._stalled = True

    def on_closed(self, message: Message) -> None:
        if message.get("session") == self._session:
            stats = message["stats"]
            self._stats = TraceStats(**{k: stats[k] for k in TraceStats.__dataclass_fields__})

    def on_failure(self, error: UscopeError) -> None:
        self._failure = error

    # -- frames

    def begin_cycle(self, time_ps: int) -> None:
        """Starts a frame; one that is open is ended."""
        self.end_cycle()
        if time_ps < self._last_time:
            self.reject("OP_TIME", f"a cycle at {time_ps} ps after one at {self._last_time} ps")
            return
        self._time = time_ps
        self._last_time = time_ps

    def end_cycle(self) -> None:
        """Ends the open frame, if there is one, and hands it on. Waits while the daemon has too much of this trace."""
        if self._time is None:
            return
        self._emit_frame()
        self._time = None

    @property
    def in_cycle(self) -> bool:
        return self._time is not None

    def _emit_frame(self) -> None:
        assert self._time is not None
        stream = self.stream
        frame = b"".join(
            [
                *self._before,
                records.begin(self._time),
                *self._frame,
                records.end(self._items, stream.frames),
            ]
        )
        self._before.clear()
        self._frame.clear()
        self._items = self._frame_bytes = 0
        with self._connection.lock:
            self._check()
            stream.strings = self._num_strings
            if stream.append(frame):
                self._connection.wake()
            if stream.held_bytes > self._credit * 3 // 4:
                self._wait(lambda: stream.held_bytes <= self._credit // 2)

    def _add(self, record: bytes) -> None:
        self._frame.append(record)
        self._frame_bytes += len(record)
        self._items += 1
        if self._items >= records.MAX_ITEMS or self._frame_bytes >= MAX_FRAME_BYTES:
            self._emit_frame()

    def _wait(self, done: Any) -> None:
        """Waits, with the lock held, until ``done()``; gives up when the daemon is silent too long."""
        connection = self._connection
        connection.wake()
        while not done():
            self._check()
            if connection.silent_s > connection.timeout_s:
                self._failure = UscopeError(
                    "BRIDGE_LOST", f"{self.name}: the daemon has not answered for {connection.timeout_s:g} s"
                )
            connection.lock.wait(0.05)

    def _check(self) -> None:
        if self._failure is None and self._connection.lost:
            self._failure = self._connection.lost
        if self._failure:
            raise self._failure

    # -- ops

    def reject(self, code: str, detail: str) -> None:
        """An item or cycle is not recorded: counted, and said once per code."""
        self.rejected += 1
        self.reasons[code] = self.reasons.get(code, 0) + 1
        if self.reasons[code] == 1:
            log.error("%s: %s: %s (further ones are only counted)", self.name, code, detail)

    def op(self, action: int, storage: Storage, slot: int, field: Optional[Field], value: int) -> None:
        """SET, CLEAR, ADD or PROP_SET (records.py) on ids that belong to this trace's schema."""
        if self._time is None:
            self.reject("OP_OUTSIDE_CYCLE", f"an op on {storage.path} outside a cycle")
        elif action != records.PROP_SET and not 0 <= slot < storage.num_slots:
            self.reject("OP_SLOT", f"slot {slot} of {storage.path}, which has {storage.num_slots}")
        elif (
            field is not None
            and action != records.ADD
            and not field.lowest <= value <= field.highest
        ):
            self.reject("OP_VALUE", f"{value} does not fit {storage.path}.{field.name}")
        else:
            self._add(records.op(action, storage.id, slot, field.index if field else 0, value))

    def event(self, event: Event, values: Sequence[int]) -> None:
        """An event with the values of all its fields in order; texts as indices of `string`."""
        if self._time is None:
            self.reject("OP_OUTSIDE_CYCLE", f"an event {event.path} outside a cycle")
            return
        fields = list(event.fields.values())
        if len(values) != len(fields):
            self.reject("OP_PAYLOAD", f"{event.path} has {len(fields)} fields, not {len(values)}")
            return
        for field, value in zip(fields, values):
            if not field.lowest <= value <= field.highest:
                self.reject("OP_VALUE", f"{value} does not fit {event.path}.{field.name}")
                return
        layout = "<" + "".join(_FORMATS[f.type] for f in fields)
        self._add(records.event(event.id, struct.pack(layout, *values)))

    def string(self, text: str) -> int:
        """
        The index of a text; the same text has the same index as long as it is remembered.

        :raises UscopeError: OP_STRING when it is too long or has no UTF-8 form; nothing of it is recorded
        """
        index = self._strings.get(text)
        if index is not None:
            self._strings.move_to_end(text)
            return index
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError as cause:
            raise UscopeError("OP_STRING", f"{self.name}: a text has no UTF-8 form: {cause}") from cause
        if len(data) > records.MAX_STRING_BYTES:
            detail = f"a text of {len(data)} bytes; at most {records.MAX_STRING_BYTES} are allowed"
            raise UscopeError("OP_STRING", f"{self.name}: {detail}: shorten it")
        index = self._num_strings
        self._num_strings += 1
        record = records.string(index, data)
        if self._time is None:
            self._before.append(record)
        else:
            self._frame.append(record)
            self._frame_bytes += len(record)
        self._strings[text] = index
        if len(self._strings) > MAX_CACHED_STRINGS:
            self._strings.popitem(last=False)
        return index

    def snapshot(self, storage: Storage, data: bytes) -> None:
        """The mask and slot data of a storage as it is now (format text §8.5); between cycles. Replaces its state in the next checkpoint."""
        part_bytes = 65_536
        for at in range(0, len(data), part_bytes):
            part = data[at : at + part_bytes]
            self._before.append(records.snapshot(storage.id, at, len(data), part))

    def flush(self) -> None:
        """Returns when everything recorded so far is durable."""
        self.end_cycle()
        with self._connection.lock:
            self._check()
            self.stream.seal()
            self._connection.send_for(self, {"t": "flush", "trace": self.number, "epoch": self.epoch})
            frames = self.stream.frames
            self._wait(lambda: self.stream.durable >= frames)

    def close(self) -> Optional[TraceStats]:
        """Ends the trace; returns when the file is finalized. Again: the same answer. None when the trace had failed."""
        atexit.unregister(self.close)
        if self._closed or self._failure:
            return self._stats
        self.end_cycle()
        with self._connection.lock:
            self._closed = True
            self.stream.seal()
            self._send_close()
            try:
                self._wait(lambda: self._stats is not None)
            finally:
                self._connection.remove(self)
        return self._stats

    def _send_close(self) -> None:
        message = {
            "t": "close",
            "trace": self.number,
            "session": self._session,
            "frames": self.stream.frames,
            "strings": self.stream.strings,
            "rejected": self.rejected,
            "reasons": self.reasons,
        }
        self._connection.send_for(self, message)
