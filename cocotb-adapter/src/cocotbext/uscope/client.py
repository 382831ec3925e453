"""A trace as the bridge protocol knows it, without a simulator: opening, resuming, failing, closing."""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import weakref
from collections import deque
from typing import Callable, Deque, Mapping, Optional

from .config import read_config
from .connection import Connection
from .errors import UscopeError
from .memory import Memory
from .messages import Message
from .pool import connection_for, forget_connections
from .recorder import Recorder
from .schema import Schema, decode_schema
from .schema_file import SchemaPath, read_schema
from .stats import TraceStats
from .stream import Slice, Stream

log = logging.getLogger("cocotbext.uscope")

MIN_CREDIT = 1 << 20

_traces: "weakref.WeakSet[ClientTrace]" = weakref.WeakSet()


class ClientTrace(Recorder):
    """
    One trace. Times are ps. Its methods may be called by one thread, the simulator's.

    Ops that the schema does not allow are refused, counted, and reported once per kind; `close` returns the count. When tracing fails,
    ``on_failure`` decides: ``"stop"``, the default, raises :class:`UscopeError` at the next call; ``"continue"`` says so once and continues untraced.
    Without it USCOPE_ON_FAILURE decides.
    """

    def __init__(
        self,
        name: str,
        schema: Optional[SchemaPath] = None,
        *,
        variables: Optional[Mapping[str, str]] = None,
        dut: Optional[Mapping[str, str]] = None,
        interval_ps: int = 0,
        schema_sha256: Optional[str] = None,
        core: Optional[int] = None,
        on_failure: Optional[str] = None,
    ) -> None:
        """Opens the trace; ``schema`` is the path of a schema file, absent: the daemon's. :raises UscopeError: BRIDGE_*, SCHEMA_*"""
        super().__init__(name)
        if on_failure not in (None, "stop", "continue"):
            raise UscopeError("ENV_VALUE", f'on_failure="{on_failure}" is neither "stop" nor "continue"')
        self._config = read_config()
        self._policy_on_failure = on_failure or self._config.on_failure
        #: In no file: only who has it may continue the session, whose id is the beginning of its SHA-256.
        self._secret = os.urandom(32)
        self._session = hashlib.sha256(self._secret).digest()[:16]
        self._core = self._config.core if core is None else core
        self.schema_name = (os.fspath(schema) if schema else None) or self._config.schema or "the daemon's schema"
        self.number: Optional[int] = None
        self.epoch = 0
        self.seq = 0
        self.outbox: Deque[bytes] = deque()
        self.path = ""
        self._credit = self._config.credit
        self._failure: Optional[UscopeError] = None
        self._failure_raised = False
        self._flush_frames = 0
        self._stats: Optional[TraceStats] = None
        self._opened_schema: Optional[Schema] = None
        self._stalled = False
        self._last_command: Optional[int] = None
        self._offers_memory = self._config.memory_directory is not None
        self._reads_memory = False
        self._connection: Optional[Connection] = None
        try:
            self._arguments = self._open_message(schema, variables, dut, interval_ps, schema_sha256)
            self._open()
        except UscopeError as error:
            self._failure = error
            self._handle_failure()
        if not self._untraced:
            _traces.add(self)
            atexit.register(self._close_at_exit)

    def _open_message(
        self,
        schema: Optional[SchemaPath],
        variables: Optional[Mapping[str, str]],
        dut: Optional[Mapping[str, str]],
        interval_ps: int,
        sha256: Optional[str],
    ) -> Message:
        path = os.fspath(schema) if schema else self._config.schema
        return {
            "name": self.name,
            "session": self._session,
            "schema": read_schema(path),
            "schema_name": path,
            "dut": dict(dut) if dut else None,
            "interval_ps": interval_ps or None,
            "credit": self._credit,
            "run": self._config.run,
            "core": self._core,
            "schema_sha256": sha256,
            "vars": {k: str(v) for k, v in variables.items()} if variables else None,
        }

    def _open(self) -> None:
        connection = self._connection = connection_for(self._config)
        with connection.lock:
            connection.add(self, self._config.open_timeout_s)
            while self._opened_schema is None and self._failure is None:
                connection.lock.wait(0.05)
            if self._failure:
                connection.remove(self)
                raise self._failure
            assert self._opened_schema is not None
            self._make_stream(self._opened_schema)

    def _make_stream(self, schema: Schema) -> None:
        if self._credit < MIN_CREDIT:
            detail = f"the daemon allows {self._credit} bytes of credit; at least 1 MiB is needed"
            raise UscopeError("BRIDGE_LIMIT", detail)
        directory = self._config.memory_directory if self._offers_memory else None
        memory = Memory(self._credit, directory, self._session, self._config.run, self._core, self.name)
        self._start(Stream(memory, self._credit), schema)

    # -- called by the connection's thread, with its lock held

    def open_arguments(self) -> Message:
        """What `open` says; memory is offered as long as it has not turned out that the daemon cannot read it."""
        memory = self._offers_memory and (self._stream is None or bool(self._stream.memory.path))
        return {**self._arguments, "memory": True if memory else None, "secret": self._secret}

    @property
    def was_opened(self) -> bool:
        return self._opened_schema is not None

    def on_opened(self, message: Message) -> None:
        stream = self._stream
        if stream is not None and message["frames"] < stream.durable:
            self.on_failure(
                UscopeError("BRIDGE_SEQUENCE", f"the daemon has forgotten frames of {self.name}")
            )
            return
        self.number = message["trace"]
        self.epoch = message["epoch"]
        self.seq = 0
        self.path = message["path"]
        self._reads_memory = message.get("memory") is True
        if self._opened_schema is None:
            self._credit = min(message["credit"], self._credit)
            self._opened_schema = decode_schema(message["schema"])
        if stream is not None:
            stream.restart(message["frames"])
        if self._control is not None and self._control.has_reported and self._connection is not None:
            self._connection.send_for(self, self._control.report(self.number, self.epoch))
        if self._flush_frames > message["frames"]:
            self._send_flush()
        if self._closed:
            self._send_close()

    def next_slice(self) -> Optional[Slice]:
        return self._stream.next_slice() if self._stream is not None else None

    def place_of(self, records: Slice) -> Optional[int]:
        """The offset in the memory file that the daemon reads; None when it does not."""
        return records.start * 8 if self._reads_memory and self.stream.memory.path else None

    def on_memory_refused(self) -> None:
        self._offers_memory = False

    def on_ack(self, message: Message) -> None:
        if message["epoch"] == self.epoch and self._stream is not None:
            self._stream.acknowledge(message["frames"])
            self._stalled = False

    def on_stalled(self, message: Message) -> None:
        if not self._stalled:
            log.warning("%s waits: %s: %s", self.name, message.get("code"), message.get("msg"))
        self._stalled = True

    def on_control(self, message: Message) -> None:
        if message["epoch"] == self.epoch and message["number"] != self._last_command:
            self._last_command = message["number"]
            self._command = message

    def _report_control(self) -> None:
        connection = self._connection
        if connection is not None and self._control is not None:
            with connection.lock:
                connection.send_for(self, self._control.report(self.number, self.epoch))

    def on_closed(self, message: Message) -> None:
        if message.get("session") == self._session:
            stats = message["stats"]
            self._stats = TraceStats(**{k: stats[k] for k in TraceStats.__dataclass_fields__})

    def on_failure(self, error: UscopeError) -> None:
        self._failure = self._failure or error

    # -- what the recorder asks for

    def _next_chunk(self, keep_from: int) -> None:
        stream, connection = self.stream, self._connection
        assert connection is not None
        kept = self._at - keep_from
        old = self._bytes[keep_from * 8 : self._at * 8]
        with connection.lock:
            stream.seal(keep_from, keep_from != stream.current.published[0])
            connection.wake()
            if not self._wait(stream.has_room):
                return
            self._enter(stream.take())
        self._bytes[self._at * 8 : self._at * 8 + len(old)] = old
        self._at += kept

    def _after_frame(self, wake: bool) -> None:
        if wake and self._connection is not None:
            self._connection.wake()
        if self._failure is not None:
            self._handle_failure()

    def _wait(self, done: Callable[[], bool]) -> bool:
        """Waits, with the lock held; False when the trace has failed and it continues untraced."""
        connection = self._connection
        assert connection is not None
        connection.wake()
        while not done():
            if self._failure is not None:
                self._handle_failure()
                return False
            connection.lock.wait(0.05)
        return True

    # -- failure

    def _handle_failure(self) -> None:
        """Raises, or continues untraced, saying so once."""
        error = self._failure
        if error is None or self._untraced:
            return
        kept = self._kept_memory()
        if kept:
            log.warning("%s: what was recorded last is kept in %s", self.name, kept)
        if self._policy_on_failure == "stop":
            self._failure_raised = True
            raise error
        if self._stream is not None:
            self._stream.memory.set_unrecorded_unknown()
        self._go_untraced_because(error)

    def _go_untraced_because(self, error: UscopeError) -> None:
        log.error("%s: %s; continuing untraced", self.name, error)
        self._frame_words = self._frame_words or 16_384
        self._go_untraced()

    def _kept_memory(self) -> str:
        """
        The file of a trace that has failed with cycles that are not durable: the next daemon, or ``uscope recover``, takes them. Records that
        a daemon has refused would be refused again.
        """
        stream = self._stream
        if stream is None or self._failure is None or self._failure.code == "BRIDGE_RECORD":
            return ""
        return stream.memory.path if stream.durable < stream.frames else ""

    @property
    def is_traced(self) -> bool:
        """False when it continues untraced after a failure, and after `close`."""
        return not (self._untraced or self._closed)

    # -- flush and close

    def flush(self) -> None:
        """Returns when everything recorded so far is durable."""
        self.end_cycle()
        if self._untraced or self._closed or self._connection is None:
            return
        frames = self._flush_frames = self.stream.frames
        with self._connection.lock:
            self._send_flush()
            self._wait(lambda: self.stream.durable >= frames)

    def close(self) -> Optional[TraceStats]:
        """Ends the trace; returns when the file is finalized. Again: the same answer. None when the trace had failed."""
        if self._closed:
            return self._stats
        try:
            self._close()
        finally:
            self._closed = True
            atexit.unregister(self._close_at_exit)
            self._leave()
        return self._stats

    def _close(self) -> None:
        if self._untraced or self._stream is None or self._failure_raised:
            return
        if self._failure is None:
            self.end_cycle()
            if self._control is not None and self._control.has_marks:
                self.begin_cycle(self._last_time)
                self.end_cycle()
        connection = self._connection
        assert connection is not None
        with connection.lock:
            if self._failure is None:
                self._seal_last()
                self._closed = True
                self._send_close()
            self._wait(lambda: self._stats is not None)
        self._say_rejected()

    def _seal_last(self) -> None:
        end, _ = self.stream.current.published
        self.stream.seal(end, False)

    def _leave(self) -> None:
        """Nothing is recorded any more; the memory is removed, unless a daemon may still want it."""
        connection, stream = self._connection, self._stream
        if connection is not None:
            with connection.lock:
                connection.remove(self)
        is_restored = self._failure is not None and self._failure.code == "BRIDGE_FORKED"
        # When the daemon is lost the memory alone says how many cycles there were.
        is_lost = self._failure is not None and self._failure.code == "BRIDGE_LOST"
        if stream is not None and not is_restored and not is_lost and not self._kept_memory():
            stream.memory.unlink()
        self._time, self._limit = None, -1

    def _say_rejected(self) -> None:
        if self.rejected:
            kinds = ", ".join(f"{code} {count}" for code, count in sorted(self.reasons.items()))
            log.error("%s: %d calls were rejected: %s", self.name, self.rejected, kinds)

    def _close_at_exit(self) -> None:
        """What fails now cannot stop anything any more: it is said."""
        try:
            self.close()
        except UscopeError as error:
            log.error("%s: %s", self.name, error)

    def _send_flush(self) -> None:
        assert self._connection is not None
        self._connection.send_for(self, {"t": "flush", "trace": self.number, "epoch": self.epoch})

    def _send_close(self) -> None:
        message = {
            "t": "close",
            "trace": self.number,
            "session": self._session,
            "frames": self.stream.frames,
            "strings": self.stream.strings,
            "rejected": self.rejected,
            "reasons": self.reasons,
            "skipped": self.skipped or None,
        }
        assert self._connection is not None
        self._connection.send_for(self, message)

    def _forked(self) -> None:
        """In a child process, which must not write into its parent's trace."""
        atexit.unregister(self._close_at_exit)
        if self._stream is not None:
            self._stream.memory.path = ""
        if not (self._untraced or self._closed):
            detail = "the trace is that of the process that this one was forked from; open one under another name here"
            self._go_untraced_because(UscopeError("BRIDGE_FORKED", detail))
        self._connection = None
        self._stream = None


def _after_fork() -> None:
    forget_connections()
    for trace in list(_traces):
        trace._forked()


os.register_at_fork(after_in_child=_after_fork)
