"""The connection of this process to the daemon: one DEALER socket and one thread that owns it."""

from __future__ import annotations

import logging
import os
import threading
import time
from typing import Any, Deque, Dict, List, Optional, Protocol

import zmq
from zmq.utils.monitor import parse_monitor_message

from .config import Config, this_process
from .constants import PROTOCOL_VERSION
from .errors import UscopeError
from .keys import Keys
from .messages import Message, data_header, decode_control, encode_control
from .peer import check_peer, check_place
from .stream import Slice, Stream
from .version import __version__

log = logging.getLogger("cocotbext.uscope")

HELLO_INTERVAL_S = 0.2
PING_INTERVAL_S = 1.0
IDLE_SEND_S = 0.02
#: A daemon that is there answers a greeting sooner.
SILENT_S = 0.5
#: A thread that was not running (a debugger, a suspended machine) has heard nothing because it has not listened.
PAUSE_S = 1.0
#: How often it looks whether this is still the process that it was.
LOOK_S = 1.0
CLIENT_NAME = f"cocotbext-uscope {__version__}"


class Session(Protocol):
    """A trace as its connection sees it."""

    number: Optional[int]
    epoch: int
    seq: int
    outbox: Deque[bytes]

    @property
    def was_opened(self) -> bool: ...
    @property
    def stream(self) -> Stream: ...
    def open_arguments(self) -> Message: ...
    def next_slice(self) -> Optional[Slice]: ...
    def place_of(self, records: Slice, /) -> Optional[int]: ...
    def on_opened(self, message: Message, /) -> None: ...
    def on_ack(self, message: Message, /) -> None: ...
    def on_stalled(self, message: Message, /) -> None: ...
    def on_closed(self, message: Message, /) -> None: ...
    def on_control(self, message: Message, /) -> None: ...
    def on_memory_refused(self) -> None: ...
    def on_failure(self, error: UscopeError, /) -> None: ...


class Connection:
    """Sends batches, receives acknowledgements, reconnects and resumes."""

    def __init__(self, config: Config, keys: Optional[Keys]) -> None:
        self._config = config
        self.endpoint = config.endpoint
        self.timeout_s = config.timeout_s
        self.lock = threading.Condition()
        self._process = this_process()
        self._looked = time.monotonic()
        self._welcome = False
        self._said_hello = 0.0
        self._pinged = 0.0
        self._heard = self._stepped = time.monotonic()
        self._requests = 0
        self._deadlines: Dict[Session, float] = {}
        #: Why this process does not talk to what listens; the thread may find out before there is a trace.
        self._refused: Optional[UscopeError] = None
        self._traces: List[Session] = []
        self._opening: Dict[int, Session] = {}
        self._by_number: Dict[int, Session] = {}
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)
        self._keys = keys
        #: Several pings must fit into the timeout of a client, even a short one.
        self._ping_interval_s = min(PING_INTERVAL_S, config.timeout_s / 4)
        #: When the user learns that a daemon is waited for, until then.
        self._say_awaited: Optional[float] = None
        #: The socket was replaced since the daemon was heard last.
        self._replaced = False
        self._poller = zmq.Poller()
        self._poller.register(self._wake_read, zmq.POLLIN)
        self._attach()
        self._thread = threading.Thread(target=self._run, name="uscope", daemon=True)
        self._thread.start()

    def _make_socket(self) -> "zmq.Socket[bytes]":
        socket: "zmq.Socket[bytes]" = zmq.Context.instance().socket(zmq.DEALER)
        for option, value in (
            (zmq.LINGER, 0),
            (zmq.IMMEDIATE, 1),
            (zmq.SNDHWM, 0),
            (zmq.RCVHWM, 0),
            (zmq.RECONNECT_IVL, 50),
            (zmq.RECONNECT_IVL_MAX, 500),
        ):
            socket.setsockopt(option, value)
        if self._keys is not None:
            socket.curve_serverkey = self._keys.server
            socket.curve_publickey = self._keys.public
            socket.curve_secretkey = self._keys.secret
        return socket

    def _attach(self, connect: bool = True) -> None:
        self._welcome = False
        self._said_hello = 0.0
        #: Somebody does, at the endpoint.
        self._listens = False
        self._socket = self._make_socket()
        # Before it connects: no event is missed.
        self._monitor = self._socket.get_monitor_socket(zmq.EVENT_CONNECTED | zmq.EVENT_DISCONNECTED)
        self._poller.register(self._socket, zmq.POLLIN)
        self._poller.register(self._monitor, zmq.POLLIN)
        try:
            if connect:
                self._socket.connect(self.endpoint)
        except zmq.ZMQError as cause:
            self._detach()
            detail = f'"{self.endpoint}" is not an endpoint (USCOPE_ENDPOINT): {cause}'
            raise UscopeError("BRIDGE_ENDPOINT", detail) from cause

    def _detach(self) -> None:
        self._poller.unregister(self._socket)
        self._poller.unregister(self._monitor)
        self._socket.disable_monitor()
        self._monitor.close()
        self._socket.close()

    # -- called by traces, with the lock held

    def wake(self) -> None:
        """There is something to do for the thread."""
        try:
            os.write(self._wake_write, b"w")
        except BlockingIOError:
            pass  # it is awake

    def add(self, trace: Session, open_timeout_s: float) -> None:
        """Opens a trace, now or when there is a daemon; without one it fails after the timeout."""
        if not self._traces:
            self._heard = time.monotonic()  # nobody has listened for an answer
        self._traces.append(trace)
        now = time.monotonic()
        self._deadlines[trace] = now + open_timeout_s
        if self._refused is not None:
            trace.on_failure(self._refused)
        elif self._welcome:
            self._open(trace)
        elif open_timeout_s > SILENT_S:
            self._say_awaited = now + SILENT_S
        self.wake()

    def remove(self, trace: Session) -> None:
        if trace in self._traces:
            self._traces.remove(trace)
        self._deadlines.pop(trace, None)
        self._opening = {n: t for n, t in self._opening.items() if t is not trace}
        self._by_number = {n: t for n, t in self._by_number.items() if t is not trace}

    # -- the thread

    def _run(self) -> None:
        while True:
            ready = dict(self._poller.poll(int(1000 * IDLE_SEND_S)))
            with self.lock:
                if self._wake_read in ready:
                    os.read(self._wake_read, 65536)
                self._watch()
                if self._socket in ready:
                    self._receive()
                self._check_process()
                self._keep_alive()
                self._check_patience()
                self._send_records()
                self.lock.notify_all()

    def _watch(self) -> None:
        """The other end is seen before anything is said to it, or that it says is believed."""
        while self._monitor.poll(0):
            event = parse_monitor_message(self._monitor.recv_multipart())
            self._listens = event["event"] == zmq.EVENT_CONNECTED
            if not self._listens:
                self._welcome = False
                continue
            try:
                check_place(self._config)
                check_peer(self._config, event["value"])
            except UscopeError as error:
                self._refused = error
                self._fail_all(error)
                self._detach()
                self._attach(connect=False)

    def _receive(self) -> None:
        while True:
            try:
                parts = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            self._heard = time.monotonic()
            self._replaced = False
            try:
                self._handle(decode_control(parts[0]))
            except (UscopeError, KeyError, TypeError) as error:
                self._fail_all(UscopeError("BRIDGE_MESSAGE", f"the daemon's message makes no sense: {error}"))

    def _check_process(self) -> None:
        """A tool that restores a process from an image brings this thread back: the process has another id or start time."""
        now = time.monotonic()
        if 0 <= now - self._looked < LOOK_S and self._welcome:
            return
        self._looked = now
        before, self._process = self._process, this_process()
        if self._process != before:
            detail = (
                f"this process was restored from an image of process {before[0]}, whose trace this is; "
                "a restored process has to open a new trace"
            )
            self._fail_all(UscopeError("BRIDGE_FORKED", detail))
            self._detach()
            self._attach()

    def _keep_alive(self) -> None:
        now = time.monotonic()
        if self._listens and not self._welcome and now - self._said_hello >= HELLO_INTERVAL_S:
            self._said_hello = now
            pid, start = self._process
            self._send(t="hello", v=PROTOCOL_VERSION, client=CLIENT_NAME, pid=pid, start=start)
        elif self._welcome and min(now - self._pinged, now - self._heard) >= self._ping_interval_s:
            self._pinged = now
            self._send(t="ping")

    def _check_patience(self) -> None:
        now = time.monotonic()
        if now - self._stepped > PAUSE_S:
            self._heard += now - self._stepped
        self._stepped = now
        if self._welcome:
            self._say_awaited = None
        else:
            self._say_what_is_awaited(now)
            for trace in [t for t in self._traces if not t.was_opened and now >= self._deadlines[t]]:
                if self._listens and self._config.run is not None:
                    # `uscope run` looks after its daemon, which gets little of a busy machine: it lives, so it answers.
                    self._deadlines[trace] = now + self._config.open_timeout_s
                    continue
                trace.on_failure(
                    UscopeError(
                        "BRIDGE_NO_DAEMON",
                        f"no daemon answers at {self.endpoint}: run this under `uscope run -- COMMAND`, or start "
                        "`uscope serve` and set USCOPE_ENDPOINT to where it listens "
                        "(for a run without a trace: USCOPE_ON_FAILURE=continue)",
                    )
                )
        if self._traces and now - self._heard >= self.timeout_s:
            self._fail_all(
                UscopeError("BRIDGE_LOST", f"the daemon has not answered for {now - self._heard:.1f} s"),
                only_opened=not self._welcome,
            )
        elif self._welcome and not self._replaced and now - self._heard >= self.timeout_s / 2:
            # A connection can be dead without notice to either side.
            self._detach()
            self._attach()
            self._replaced = True

    def _say_what_is_awaited(self, now: float) -> None:
        patience = [self._deadlines[t] - now for t in self._traces if not t.was_opened]
        if self._say_awaited is not None and now >= self._say_awaited and patience:
            self._say_awaited = None
            log.warning("no daemon answers at %s yet; waiting up to %.0f s for one", self.endpoint, max(patience))

    def _fail_all(self, error: UscopeError, only_opened: bool = False) -> None:
        for trace in self._traces:
            if trace.was_opened or not only_opened:
                trace.on_failure(error)

    def _send(self, **message: Any) -> None:
        try:
            self._socket.send(encode_control(message), zmq.NOBLOCK)
        except zmq.Again:
            pass  # no connection: it is said again

    def send_for(self, trace: Session, message: Message) -> None:
        """A control message of an opened trace; lost ones are repeated after the reconnect. With the lock held."""
        if self._welcome and trace.number is not None:
            trace.outbox.append(encode_control(message))
            self.wake()

    def _open(self, trace: Session) -> None:
        self._requests += 1
        self._opening[self._requests] = trace
        trace.number = None
        trace.outbox.clear()
        self._send(t="open", req=self._requests, **trace.open_arguments())

    def _send_records(self) -> None:
        for trace in self._traces:
            if trace.number is None or not self._welcome:
                continue
            for records in iter(trace.next_slice, None):
                place = trace.place_of(records)
                payload = None if place is not None else trace.stream.memory.bytes[records.start * 8 : records.end * 8]
                size = (records.end - records.start) * 8
                header = data_header(trace.number, trace.epoch, trace.seq, records.first_frame, size, place)
                trace.seq += 1
                self._socket.send_multipart([header] if payload is None else [header, bytes(payload)])
            while trace.outbox:
                self._socket.send(trace.outbox.popleft())

    def _handle(self, message: Message) -> None:
        kind = message["t"]
        if kind == "welcome":
            if self._listens and not self._welcome:
                self._welcome = True
                for trace in self._traces:
                    self._open(trace)
        elif kind == "opened":
            opened = self._opening.pop(message["req"], None)
            if opened:
                self._by_number[message["trace"]] = opened
                opened.on_opened(message)
        elif kind == "error":
            self._handle_error(message)
        elif kind in ("ack", "stalled", "closed", "control"):
            trace_of = self._by_number.get(message["trace"])
            if trace_of:
                getattr(trace_of, f"on_{kind}")(message)

    def _handle_error(self, message: Message) -> None:
        error = UscopeError(str(message.get("code")), str(message.get("msg")))
        if "req" in message:
            trace = self._opening.pop(message["req"], None)
            if trace:
                trace.on_failure(error)
        elif "trace" in message:
            of = self._by_number.get(message["trace"])
            if of is None or message.get("epoch", of.epoch) != of.epoch:
                return
            if message.get("retry"):
                if error.code == "BRIDGE_MEMORY":
                    of.on_memory_refused()
                self._open(of)
            else:
                of.on_failure(error)
        else:
            self._fail_all(error)
