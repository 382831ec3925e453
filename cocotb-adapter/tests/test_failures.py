"""What follows when there is no daemon, when it goes away, and when a trace is used wrongly."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import List

import pytest
from conftest import COMMAND, Daemon
from test_daemon import SCHEMA, open_trace

from cocotbext.uscope import ClientTrace, Trace, UscopeError


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short timeout for a lost daemon; opening the trace may take a while on a busy machine."""
    monkeypatch.setenv("USCOPE_TIMEOUT_MS", "2000")


def messages(caplog: pytest.LogCaptureFixture) -> List[str]:
    return [r.getMessage() for r in caplog.records]


def test_a_daemon_that_stays_away_stops_the_test(daemon: Daemon, impatient: None) -> None:
    t, clock = open_trace()
    t.core0.cycles.add()
    daemon.kill()
    memory = Path(t.stream.memory.path)
    with pytest.raises(UscopeError, match=r"BRIDGE_LOST: the daemon has not answered for \d+\.\d s"):
        t.flush()
    with pytest.raises(UscopeError, match="BRIDGE_LOST"):
        clock.ps += 1
        t.core0.cycles.add()
        clock.ps += 1
        t.core0.cycles.add()
    assert t.close() is None
    assert memory.exists(), "a daemon that comes back finds what it has not got"


def test_or_the_test_goes_on_untraced(
    daemon: Daemon, impatient: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("USCOPE_ON_FAILURE", "continue")
    t, clock = open_trace()
    t.core0.cycles.add()
    daemon.kill()
    memory = Path(t.stream.memory.path)
    t.flush()
    assert not t.is_traced
    for cycle in range(20_000):
        clock.ps = cycle
        t.core0.regs[cycle % 40].value = cycle
        t.emit("core0/annotate", entity_id=1, text=f"text {cycle}")
        t.core0.regs.set_many(range(32), "value", range(32))
    assert t.close() is None and t.rejected == 0
    said = [m for m in messages(caplog) if "continuing untraced" in m]
    assert len(said) == 1 and "BRIDGE_LOST" in said[0]


def test_without_a_daemon_a_trace_may_take_everything_and_record_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("USCOPE_OPEN_TIMEOUT_MS", "300")
    monkeypatch.setenv("USCOPE_ENDPOINT", f"ipc://{tmp_path}/none.sock")
    t = Trace.open("core0", SCHEMA, time=lambda: 0, on_failure="continue")
    t.core0.rob[3].entity_id = 5
    t.core0.rob.retire_ptr = 3
    t.core0.committed_insns.add()
    t.core0.regs.set_many([1], "value", [2])
    t.emit("core0/flush", entity_id=1, reason="exception")
    t.emit_many("core0/flush", entity_id=[1], reason="exception")
    t.watch(object(), "core0/regs")
    t.slot_set(1, 0, 0, 1)
    t.event(1, (1, 2))
    t.flush()
    assert t.close() is None
    assert [m for m in messages(caplog) if "BRIDGE_NO_DAEMON" in m and "continuing untraced" in m]
    assert len(caplog.records) == 1


def test_an_unknown_policy_is_said(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("USCOPE_ON_FAILURE", "panic")
    monkeypatch.setenv("USCOPE_CREDIT_MIB", "lots")
    ClientTrace("core0", SCHEMA).close()
    assert messages(caplog) == [
        "USCOPE_CREDIT_MIB=lots is not a number from 1 to 4095; 32 is used",
        'USCOPE_ON_FAILURE=panic is neither "stop" nor "continue"; "stop" is used',
    ]
    with pytest.raises(UscopeError, match="ENV_VALUE"):
        ClientTrace("core0", SCHEMA, on_failure="panic")


def test_a_small_credit_is_enough(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USCOPE_CREDIT_MIB", "1")
    t, clock = open_trace()
    for cycle in range(200):
        clock.ps = cycle
        t.emit("core0/annotate", entity_id=cycle, text=f"{cycle} " + "é" * 30_000)
        for _ in range(20):
            t.core0.regs.set_many(range(32), "value", range(cycle, cycle + 32))
    stats = t.close()
    assert stats is not None and stats.strings == 200 and stats.items == 200 * 641


def test_a_closed_trace_takes_nothing_and_says_so_once(daemon: Daemon, caplog: pytest.LogCaptureFixture) -> None:
    t, clock = open_trace()
    t.core0.cycles.add()
    first = t.close()
    for clock.ps in (5, 6, 7):
        t.core0.cycles.add()
        t.core0.regs[0].value = 1
        t.emit("core0/annotate", entity_id=1, text="late")
        t.core0.regs.set_many([1], "value", [1])
    t.begin_cycle(9)
    t.flush()
    assert t.close() == first
    assert len([m for m in messages(caplog) if "OP_HANDLE" in m]) == 1
    assert len(daemon.dump("core0")) == 1


def test_definitions_of_another_trace_are_refused(daemon: Daemon, caplog: pytest.LogCaptureFixture) -> None:
    a, _ = open_trace("a")
    b, _ = open_trace("b")
    a.op(1, b.schema.storages["core0/regs"], 0, b.schema.storages["core0/regs"].fields["value"], 1)
    a.event(b.schema.events["core0/flush"], (1, 1))
    a.slot_set(99, 0, 0, 0)
    a.slot_set(1, 0, 9, 0)
    a.prop_set(2, 9, 0)
    a.event(99, ())
    assert a.reasons == {"OP_HANDLE": 2, "OP_STORAGE": 1, "OP_FIELD": 1, "OP_PROPERTY": 1, "OP_EVENT": 1}
    assert "OP_HANDLE: core0/regs is a storage of another trace" in messages(caplog)[0]
    stats = a.close()
    assert stats is not None and (stats.items, stats.rejected) == (0, 6)
    assert messages(caplog)[-1] == (
        "a: 6 calls were rejected: OP_EVENT 1, OP_FIELD 1, OP_HANDLE 2, OP_PROPERTY 1, OP_STORAGE 1"
    )
    b.close()


def test_the_calls_by_number_take_names_and_refuse_wrong_ones(daemon: Daemon, caplog: pytest.LogCaptureFixture) -> None:
    t, clock = open_trace("names")
    clock.ps = 1
    t.slot_set("core0/regs", 3, "value", 1)
    t.slot_add("core0/cycles", 0, "count", 2)
    t.prop_set("core0/rob", "allocate_ptr", 3)
    t.slot_clear("core0/entities", 4)
    t.slot_set("core0/regs", 3, "valu", 1)
    t.slot_set("core0/reg", 3, "value", 1)
    t.slot_set("core0/regs", 3, "value", "1")  # type: ignore[arg-type]
    t.prop_set("core0/rob", "head", 3)
    assert t.reasons == {"OP_FIELD": 1, "OP_STORAGE": 1, "OP_VALUE": 1, "OP_PROPERTY": 1}
    said = messages(caplog)
    assert "names: in the cycle at 1 ps: OP_FIELD: core0/regs has no field 'valu'; it has value" in said[0]
    assert "OP_STORAGE: the schema has no storage 'core0/reg'; it has core0/" in said[1]
    assert "OP_VALUE: core0/regs: '1' is not a number" in said[2]
    assert "OP_PROPERTY: core0/rob has no property 'head'; it has " in said[3]
    t.close()
    ops = [(i["op"], i["storage"]) for i in daemon.dump("names")]
    assert ops == [("set", "core0/regs"), ("add", "core0/cycles"), ("prop", "core0/rob"), ("clear", "core0/entities")]


def test_names_are_guessed_and_the_schema_is_named(daemon: Daemon) -> None:
    t, _ = open_trace()
    with pytest.raises(AttributeError, match=r'no storage or scope "core0/robb"; did you mean "core0/rob"\? \[.*core\.yaml\]'):
        t.core0.robb
    with pytest.raises(UscopeError, match=r'no storage "core0/reg"; did you mean "core0/regs"\? \[.*core\.yaml\]'):
        t.watch([], "core0/reg")
    with pytest.raises(UscopeError, match='no event "core0/flosh"; did you mean "core0/flush"'):
        t.emit("core0/flosh", entity_id=1, reason="exception")
    with pytest.raises(AttributeError, match='core0/rob has no "entity"; did you mean "entity_id"'):
        t.core0.rob[0].entity = 1
    t.close()


def test_traces_of_one_process_share_a_run_and_know_their_core(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("USCOPE_RUN_ID", "00112233445566778899aabbccddeeff")
    traces = [open_trace(f"soc/core{i}", variables={"core": str(i)}, core=i) for i in range(4)]
    for cycle in range(3_000):
        for i, (t, clock) in enumerate(traces):
            clock.ps = cycle * 1000
            getattr(t, f"core{i}").regs[cycle % 32].value = cycle * 4 + i
    for i, (t, _) in enumerate(traces):
        stats = t.close()
        assert stats is not None and stats.items == 3_000
        values = [int(item["value"]) for item in daemon.dump(f"soc/core{i}")]
        assert values == [cycle * 4 + i for cycle in range(3_000)]
    text = subprocess.run(
        [*COMMAND, "info", "--json", str(daemon.out / "soc/core2.uscope")], check=True, capture_output=True, text=True
    ).stdout
    assert "00112233445566778899aabbccddeeff" in text.replace("-", "")


def keygen(path: Path) -> None:
    subprocess.run([*COMMAND, "keygen", str(path)], check=True, capture_output=True)


def test_with_keys_the_connection_is_encrypted_and_others_see_no_daemon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, client, stranger = tmp_path / "daemon.key", tmp_path / "client.key", tmp_path / "stranger.key"
    for path in (server, client, stranger):
        keygen(path)
    clients = tmp_path / "clients"
    clients.write_text(Path(f"{client}.pub").read_text())
    daemon = Daemon(tmp_path, "tcp://127.0.0.1:*", ["--key", str(server), "--clients", str(clients)])
    try:
        monkeypatch.setenv("USCOPE_ENDPOINT", daemon.endpoint)
        monkeypatch.setenv("USCOPE_SERVER_KEY_FILE", f"{server}.pub")
        monkeypatch.setenv("USCOPE_OPEN_TIMEOUT_MS", "20000")
        monkeypatch.setenv("USCOPE_KEY_FILE", str(client))
        t, _ = open_trace()
        assert t.stream.memory.path == "", "no shared memory over tcp"
        t.core0.regs[0].value = 7
        t.close()
        assert [i["value"] for i in daemon.dump("core0")] == ["7"]
        monkeypatch.setenv("USCOPE_OPEN_TIMEOUT_MS", "700")
        monkeypatch.setenv("USCOPE_KEY_FILE", str(stranger))
        with pytest.raises(UscopeError, match="BRIDGE_NO_DAEMON"):
            open_trace("other")
        client.chmod(0o644)
        monkeypatch.setenv("USCOPE_KEY_FILE", str(client))
        with pytest.raises(UscopeError, match="BRIDGE_KEY: others may read the secret key"):
            open_trace("other")
        monkeypatch.setenv("USCOPE_KEY_FILE", str(clients))
        with pytest.raises(UscopeError, match="BRIDGE_KEY: .*clients holds no secret key"):
            open_trace("other")
        monkeypatch.delenv("USCOPE_KEY_FILE")
        with pytest.raises(UscopeError, match="BRIDGE_KEY: .* are given together or not at all"):
            open_trace("other")
    finally:
        daemon.stop()


