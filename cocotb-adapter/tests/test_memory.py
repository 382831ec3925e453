"""A local client's records are in shared memory: what it completed is in the trace, however it ended (docs/reference/bridge-protocol.md#memory-of-a-local-client)."""

from __future__ import annotations

import multiprocessing
import os
import struct
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Callable, Iterable, List

import pytest
from conftest import ROOT, Daemon

from cocotbext.uscope import ClientTrace, UscopeError, connection
from cocotbext.uscope.memory import Memory

SCHEMA = str(ROOT / "test" / "vectors" / "codegen" / "core.yaml")
ENDLESS = Path(__file__).parent / "programs" / "endless.py"


def run_and_kill(cycles: int, mode: str) -> int:
    """Kills the client at some moment after this number of cycles; returns how many it had completed."""
    process = subprocess.Popen([sys.executable, str(ENDLESS), SCHEMA, mode], stdout=subprocess.PIPE)
    assert process.stdout is not None
    completed = 0
    while completed < cycles:
        data = process.stdout.read(8)
        assert len(data) == 8, "the client ended by itself"
        completed = int.from_bytes(data, "little")
    process.kill()
    rest = process.stdout.read()
    process.wait()
    whole = len(rest) // 8 * 8
    return int.from_bytes(rest[whole - 8 : whole], "little") if whole else completed


def cycles_of(daemon: Daemon) -> List[int]:
    return [int(i["value"]) for i in daemon.dump("core0") if i["op"] == "set"]


@pytest.mark.parametrize(("cycles", "mode"), [(1, "ops"), (3_000, "ops"), (9_000, "texts")])
def test_a_killed_client_has_lost_no_completed_cycle(
    daemon: Daemon, shared_memory: Path, cycles: int, mode: str
) -> None:
    completed = run_and_kill(cycles, mode)
    daemon.stop()
    traced = cycles_of(daemon)
    assert traced == list(range(len(traced)))
    assert completed <= len(traced) <= completed + 1, "the last may be complete and not yet said"
    assert not list(shared_memory.iterdir()), "who has drained it removes it"


def test_the_client_is_killed_while_there_is_no_daemon(daemon: Daemon, shared_memory: Path) -> None:
    process = subprocess.Popen([sys.executable, str(ENDLESS), SCHEMA, "ops"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read(8 * 100)
    daemon.kill()
    data = process.stdout.read(8 * 2_000)
    process.kill()
    rest = process.stdout.read()
    process.wait()
    said = data + rest
    completed = int.from_bytes(said[len(said) // 8 * 8 - 8 : len(said) // 8 * 8], "little")
    daemon.start()
    limit = time.monotonic() + 60
    while list(shared_memory.iterdir()) and time.monotonic() < limit:
        time.sleep(0.1)
    daemon.stop()
    traced = cycles_of(daemon)
    assert traced == list(range(len(traced))) and completed <= len(traced) <= completed + 1


@pytest.mark.parametrize("directory", ["off", "missing"])
def test_without_shared_memory_the_records_are_sent(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, directory: str
) -> None:
    monkeypatch.setenv(*(("USCOPE_SHM", "0") if directory == "off" else ("USCOPE_SHM_DIR", "/nowhere")))
    trace = ClientTrace("core0", SCHEMA)
    assert trace.stream.memory.path == ""
    for cycle in range(5_000):
        trace.begin_cycle(cycle)
        trace.slot_set(1, cycle % 32, 0, cycle)
        trace.end_cycle()
    stats = trace.close()
    assert stats is not None and stats.frames == 5_000
    assert cycles_of(daemon) == list(range(5_000))
    assert ("cannot be salvaged" in caplog.text) == (directory == "missing")


def test_a_closed_trace_leaves_no_memory_behind(daemon: Daemon) -> None:
    trace = ClientTrace("core0", SCHEMA)
    path = Path(trace.stream.memory.path)
    assert path.stat().st_mode & 0o777 == 0o600
    trace.close()
    assert not path.exists()


def test_the_control_page_is_as_documented(tmp_path: Path) -> None:
    memory = Memory(32 << 20, str(tmp_path), bytes(range(16)), b"r" * 16, 3, "soc/core3")
    memory.enter(2, 7, 1000)
    page = Path(memory.path).read_bytes()
    assert Path(memory.path).name == "uscope-000102030405060708090a0b0c0d0e0f.mem"
    assert struct.unpack_from("<II", page) == (0x4D454D75, 1)
    assert page[8:24] == bytes(range(16)) and page[24:40] == b"r" * 16
    core, pid, _start, chunk, chunks, first, entry, entries = struct.unpack_from("<IIQIIQII", page, 40)
    assert (core, pid, chunk, entry, entries) == (3, os.getpid(), 1 << 20, 64, 512)
    assert page[96 : page.index(b"\0", 96)] == b"soc/core3"
    assert len(page) == first + chunks * chunk and first % 4096 == 0
    assert struct.unpack_from("<QQIIQ", page, 512 + 2 * 64) == (7, 1000, 0, 0, 0)


def _in_child(work: Callable[[], None]) -> None:
    """Runs it in a forked child, which must not come back into the test."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def _record(trace: ClientTrace, cycles: Iterable[int]) -> None:
    for cycle in cycles:
        trace.begin_cycle(cycle * 1000)
        trace.slot_set(1, 0, 0, cycle)
        trace.end_cycle()


def _values(daemon: Daemon, name: str) -> List[int]:
    return [int(item["value"]) for item in daemon.dump(name)]


def test_a_forked_child_does_not_write_into_its_parents_trace(
    daemon: Daemon, shared_memory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trace = ClientTrace("core0", SCHEMA)
    trace.begin_cycle(0)
    trace.slot_set(1, 0, 0, 1)

    def child() -> None:
        trace.slot_set(1, 0, 0, 99)
        trace.end_cycle()
        trace.flush()
        _record(trace, [5, 6])
        trace.close()
        assert not trace.is_traced
        assert [r.getMessage()[:20] for r in caplog.records] == ["core0: BRIDGE_FORKED"]
        assert len(list(shared_memory.iterdir())) == 1

    _in_child(child)
    trace.end_cycle()
    trace.close()
    assert _values(daemon, "core0") == [1]
    assert caplog.records == []


def test_a_forked_child_may_open_a_trace_of_its_own(daemon: Daemon) -> None:
    trace = ClientTrace("parent", SCHEMA)
    _record(trace, range(10))

    def child() -> None:
        own = ClientTrace("child", SCHEMA)
        _record(own, range(20))
        _in_child(lambda: _record(own, [99]))
        stats = own.close()
        assert stats is not None and stats.frames == 20

    _in_child(child)
    _record(trace, range(10, 30))
    trace.close()
    assert _values(daemon, "parent") == list(range(30))
    assert _values(daemon, "child") == list(range(20))


def test_a_fork_while_another_thread_records_harms_neither(daemon: Daemon) -> None:
    trace = ClientTrace("busy", SCHEMA)
    enough = threading.Event()
    recorded = [0]

    def record_on() -> None:
        while not enough.is_set():
            _record(trace, [recorded[0]])
            recorded[0] += 1

    def child(name: str) -> None:
        assert not trace.is_traced
        own = ClientTrace(name, SCHEMA)
        _record(own, range(5))
        own.close()

    thread = threading.Thread(target=record_on)
    thread.start()
    try:
        for i in range(4):
            _in_child(lambda: child(f"child{i}"))
    finally:
        enough.set()
        thread.join()
    trace.close()
    assert _values(daemon, "busy") == list(range(recorded[0]))
    for i in range(4):
        assert _values(daemon, f"child{i}") == list(range(5))


def test_a_process_of_multiprocessing_is_a_forked_child(daemon: Daemon) -> None:
    trace = ClientTrace("parent", SCHEMA)
    _record(trace, range(3))

    def child() -> None:
        _record(trace, [99])
        own = ClientTrace("child", SCHEMA)
        _record(own, range(7))
        own.close()

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(120)
    assert process.exitcode == 0
    _record(trace, range(3, 5))
    trace.close()
    assert _values(daemon, "parent") == list(range(5))
    assert _values(daemon, "child") == list(range(7))


def test_a_child_that_python_is_not_told_of_cannot_write_into_the_trace(daemon: Daemon) -> None:
    program = f"""
import ctypes, os, signal
from cocotbext.uscope import ClientTrace, UscopeError, connection
trace = ClientTrace("core0", {SCHEMA!r})
trace.begin_cycle(0)
trace.slot_set(1, 0, 0, 1)
child = ctypes.CDLL(None).fork()
if child == 0:
    trace.slot_set(1, 0, 0, 99)
    os._exit(0)
assert os.waitpid(child, 0)[1] & 127 == signal.SIGSEGV
trace.end_cycle()
trace.close()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
    assert _values(daemon, "core0") == [1]


def test_a_restored_process_gives_up_its_traces_and_may_open_others(
    daemon: Daemon, shared_memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = ClientTrace("saved", SCHEMA)
    _record(trace, range(10))
    trace.flush()
    pid, start = connection.this_process()
    monkeypatch.setattr(connection, "this_process", lambda: (pid, start + 1))
    with pytest.raises(UscopeError, match="BRIDGE_FORKED: this process was restored from an image"):
        for cycle in range(10, 60_000):
            _record(trace, [cycle])
            time.sleep(0.001)
    trace.close()
    assert len(list(shared_memory.iterdir())) == 1  # that of the process that was saved
    own = ClientTrace("restored", SCHEMA)
    _record(own, range(5))
    own.close()
    assert _values(daemon, "restored") == list(range(5))
    daemon.stop()
