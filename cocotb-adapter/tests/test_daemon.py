"""A trace through a real socket into a real file, whatever happens to the daemon meanwhile."""

from __future__ import annotations

import logging
import signal
import threading
from pathlib import Path

import pytest
from conftest import ROOT, Daemon
from proxy import SilentNetwork

from cocotbext.uscope import Trace, UscopeError
from cocotbext.uscope.client import ClientTrace

SCHEMA = str(ROOT / "test" / "vectors" / "codegen" / "core.yaml")


class Clock:
    """A simulation's time, without a simulator."""

    def __init__(self) -> None:
        self.ps = 0

    def __call__(self) -> int:
        return self.ps


def open_trace(name: str = "core0", **options: object) -> "tuple[Trace, Clock]":
    clock = Clock()
    return Trace.open(name, SCHEMA, time=clock, **options), clock


def test_every_kind_of_item_arrives(daemon: Daemon) -> None:
    t, clock = open_trace()
    clock.ps = 1000
    t.core0.entities[5].set(entity_id=7, pc=0x8000_0000)
    t.core0.rob.allocate_ptr = 3
    t.core0.committed_insns.add(2)
    t.emit("core0/stage_transition", entity_id=7, stage="execute")
    clock.ps = 2000
    t.emit("core0/annotate", entity_id=7, text="addi x1, x0, 1")
    t.core0.entities[5].clear()
    stats = t.close()
    assert stats is not None
    assert (stats.frames, stats.items, stats.strings, stats.rejected, stats.status) == (2, 7, 1, 0, 1)
    assert daemon.dump("core0") == [
        {"t": "1000", "op": "set", "storage": "core0/entities", "slot": 5, "field": "entity_id", "value": "7"},
        {"t": "1000", "op": "set", "storage": "core0/entities", "slot": 5, "field": "pc", "value": "2147483648"},
        {"t": "1000", "op": "prop", "storage": "core0/rob", "field": "allocate_ptr", "value": "3"},
        {"t": "1000", "op": "add", "storage": "core0/committed_insns", "slot": 0, "field": "count", "value": "2"},
        {"t": "1000", "op": "event", "event": "core0/stage_transition", "fields": {"entity_id": "7", "stage": "execute"}},
        {"t": "2000", "op": "event", "event": "core0/annotate", "fields": {"entity_id": "7", "text": "addi x1, x0, 1"}},
        {"t": "2000", "op": "clear", "storage": "core0/entities", "slot": 5},
    ]


def test_put_sets_all_fields_of_a_slot_or_none(daemon: Daemon) -> None:
    t, clock = open_trace()
    clock.ps = 1000
    t.core0.rob.put(2, done=True, entity_id=7)
    with pytest.raises(UscopeError, match="OP_FIELD: core0/rob has the fields entity_id, done; missing: entity_id"):
        t.core0.rob.put(3, done=True)
    with pytest.raises(UscopeError, match="OP_FIELD: .*; unknown: finished"):
        t.core0.rob.put(3, done=True, entity_id=7, finished=True)
    t.close()
    assert [(i["slot"], i["field"], i["value"]) for i in daemon.dump("core0")] == [
        (2, "entity_id", "7"),
        (2, "done", True),
    ]


def test_variables_name_the_core(daemon: Daemon) -> None:
    t, clock = open_trace("soc/core3", variables={"core": "3"}, core=3)
    clock.ps = 500
    t.core3.cycles.add()
    t.close()
    assert daemon.dump("soc/core3")[0]["storage"] == "core3/cycles"


def test_a_killed_daemon_loses_and_doubles_nothing(daemon: Daemon) -> None:
    t, clock = open_trace()
    for cycle in range(30_000):
        clock.ps = cycle * 1000
        t.core0.regs[cycle % 32].value = cycle
        t.core0.cycles.add()
        if cycle in (9_000, 21_000):
            daemon.kill()
            daemon.start()
    stats = t.close()
    assert stats is not None and (stats.frames, stats.items) == (30_000, 60_000)
    values = [int(item["value"]) for item in daemon.dump("core0") if item["op"] == "set"]
    assert values == list(range(30_000))


def test_a_connection_that_died_in_silence_is_replaced(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    network = SilentNetwork(daemon.endpoint[len("ipc://") :])
    monkeypatch.setenv("USCOPE_ENDPOINT", network.endpoint)
    monkeypatch.setenv("USCOPE_TIMEOUT_MS", "8000")
    t, clock = open_trace()
    for cycle in range(6_000):
        clock.ps = cycle * 1000
        t.core0.regs[cycle % 32].value = cycle
        if cycle == 3_000:
            network.silence()
    stats = t.close()
    network.close()
    assert network.accepted >= 2  # more where a busy machine lets the daemon wait as long
    assert stats is not None and (stats.frames, stats.items, stats.lost) == (6_000, 6_000, 0)
    values = [int(item["value"]) for item in daemon.dump("core0") if item["op"] == "set"]
    assert values == list(range(6_000))


def test_credit_bounds_what_is_held(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USCOPE_CREDIT_MIB", "4")
    t, clock = open_trace()
    stopped = threading.Event()

    def resume() -> None:
        while t.stream.held_bytes <= 3 << 20 and not stopped.wait(0.005):
            pass
        daemon.process.send_signal(signal.SIGCONT)

    # A daemon that takes nothing: what is held grows until it must not grow further.
    daemon.process.send_signal(signal.SIGSTOP)
    thread = threading.Thread(target=resume)
    thread.start()
    highest = 0
    try:
        for cycle in range(1_000):
            clock.ps = cycle
            for slot in range(500):
                t.op(1, t.schema.storages["core0/regs"], slot % 32, t.schema.storages["core0/regs"].fields["value"], slot)
            highest = max(highest, t.stream.held_bytes)
    finally:
        stopped.set()
        thread.join()
    t.close()
    assert 3 << 20 < highest <= 4 << 20


def test_flush_makes_durable_while_the_trace_goes_on(daemon: Daemon) -> None:
    t, clock = open_trace()
    t.core0.cycles.add()
    t.flush()
    assert t.stream.durable == 1
    assert len(daemon.dump("core0")) == 1
    clock.ps = 10
    t.core0.cycles.add()
    t.close()
    assert len(daemon.dump("core0")) == 2


def test_what_the_schema_does_not_allow_is_refused_counted_and_said_once(
    daemon: Daemon, caplog: pytest.LogCaptureFixture
) -> None:
    t, clock = open_trace()
    with caplog.at_level(logging.ERROR):
        t.core0.regs[32].value = 1
        t.core0.regs[33].value = 1
        t.core0.regs[0].value = 1 << 32
        clock.ps = 100
        t.core0.regs[1].value = 1
        clock.ps = 50
        t.core0.regs[1].value = 2
    stats = t.close()
    assert stats is not None and stats.rejected == t.rejected
    assert t.reasons == {"OP_SLOT": 2, "OP_VALUE": 1, "OP_TIME": 1, "OP_OUTSIDE_CYCLE": 1}
    assert [r.message for r in caplog.records][0] == (
        "core0: in the cycle at 0 ps: OP_SLOT: slot 32 of core0/regs, which has 32 (further ones are only counted)"
    )
    assert [int(item["value"]) for item in daemon.dump("core0")] == [1]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda t: t.core0.nothing, 'the schema has no storage or scope "core0/nothing"'),
        (lambda t: setattr(t.core0.regs[0], "x", 1), 'core0/regs has no "x" (it has value)'),
        (lambda t: t.emit("core0/x"), 'OP_EVENT: the schema has no event "core0/x"'),
        (lambda t: t.emit("core0/flush", entity_id=1), "missing: reason"),
        (lambda t: t.string("x" * 65_521), "OP_STRING: core0: a text of 65521 bytes; at most 65520 are allowed"),
        (lambda t: t.string("\ud800"), "OP_STRING: core0: a text has no UTF-8 form"),
        (lambda t: t.emit("core0/flush", entity_id=1, reason="rain"), '"rain" is not a value of core0/flush.reason'),
    ],
)
def test_names_the_schema_does_not_have_are_exceptions(daemon: Daemon, action: object, message: str) -> None:
    t, _ = open_trace()
    with pytest.raises((AttributeError, UscopeError)) as raised:
        action(t)  # type: ignore[operator]
    assert message in str(raised.value)
    t.close()


def test_what_the_daemon_refuses_is_an_exception(daemon: Daemon, tmp_path: Path) -> None:
    schema = tmp_path / "bad.yaml"
    schema.write_text("nonsense: 1\n")
    with pytest.raises(UscopeError) as raised:
        ClientTrace("core0", str(schema))
    assert raised.value.code == "SCHEMA_KEY"
    with pytest.raises(UscopeError) as raised:
        ClientTrace("core0", SCHEMA, schema_sha256="0" * 64)
    assert raised.value.code == "SCHEMA_MISMATCH"
    with pytest.raises(UscopeError) as raised:
        ClientTrace("../core0", SCHEMA)
    assert raised.value.code == "BRIDGE_NAME"
    with pytest.raises(UscopeError) as raised:
        ClientTrace("core0", str(tmp_path / "none.yaml"))
    assert raised.value.code == "SCHEMA_FILE"


def test_two_traces_may_not_have_one_name(daemon: Daemon) -> None:
    t, _ = open_trace()
    with pytest.raises(UscopeError, match="BRIDGE_NAME_BUSY"):
        open_trace()
    t.close()


def test_without_a_daemon_there_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("USCOPE_ENDPOINT", raising=False)
    with pytest.raises(UscopeError, match="BRIDGE_NO_DAEMON: USCOPE_ENDPOINT is not set: run this under `uscope run"):
        ClientTrace("core0", SCHEMA)
    monkeypatch.setenv("USCOPE_ENDPOINT", f"ipc://{tmp_path}/none.sock")
    monkeypatch.setenv("USCOPE_OPEN_TIMEOUT_MS", "1500")
    with pytest.raises(UscopeError, match="BRIDGE_NO_DAEMON: no daemon answers at"):
        ClientTrace("core0", SCHEMA)
    assert [m for m in caplog.messages if "yet; waiting up to 1 s for one" in m]
