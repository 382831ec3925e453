"""Recording switched off and on, from the test and from outside; triggers."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from typing import Any, Dict, List

from conftest import COMMAND, ROOT, Daemon

from cocotbext.uscope import Trace
from cocotbext.uscope.client import ClientTrace

SCHEMA = str(ROOT / "test" / "vectors" / "codegen" / "core.yaml")


def _marks(items: List[Dict[str, Any]]) -> List[List[str]]:
    return [
        [i["t"], *(i["fields"][f] for f in ("action", "source", "subject", "text"))]
        for i in items
        if i.get("event") == "uscope/control"
    ]


def _times(items: List[Dict[str, Any]], storage: str) -> List[int]:
    return [int(i["t"]) for i in items if i.get("storage") == storage]


def _cycle(t: ClientTrace, at: int) -> None:
    t.begin_cycle(at)
    for path in ("core0/entities", "core0/committed_insns"):
        storage = t.schema.storages[path]
        t.slot_set(storage.id, 0, 0, at)
    annotate = t.schema.events["core0/annotate"]
    t.event(annotate, [1, t.string(f"at {at}")])
    t.end_cycle()


def test_what_is_disabled_is_left_out(daemon: Daemon) -> None:
    t = ClientTrace("core0", SCHEMA)
    for at in range(0, 10):
        _cycle(t, at)
    t.disable()
    for at in range(10, 20):
        _cycle(t, at)
    t.trigger("while paused")
    _cycle(t, 20)
    t.enable()
    _cycle(t, 21)
    t.begin_cycle(22)
    t.slot_set(t.schema.storages["core0/entities"].id, 0, 0, 1)
    t.disable("core0")
    t.slot_set(t.schema.storages["core0/entities"].id, 0, 0, 2)
    t.enable("core0")
    t.slot_set(t.schema.storages["core0/entities"].id, 0, 0, 3)
    t.end_cycle()
    t.disable("core7")
    assert t.reasons == {"OP_SCOPE": 1}
    assert t.skipped == 11 * 3 + 1
    stats = t.close()
    assert stats is not None and stats.status == 1
    t.trigger("late")
    assert t.reasons["OP_HANDLE"] == 1
    items = daemon.dump("core0")
    assert _marks(items) == [
        ["10", "pause", "testbench", "", ""],
        ["20", "trigger", "testbench", "", "while paused"],
        ["21", "resume", "testbench", "", ""],
        ["22", "disable", "testbench", "core0", ""],
        ["22", "enable", "testbench", "core0", ""],
    ]
    assert _times(items, "core0/committed_insns") == [*range(0, 10), 21]
    values = [i["value"] for i in items if i.get("storage") == "core0/entities" and i["t"] == "22"]
    assert values == ["1", "3"]


def test_every_way_to_record_is_left_out(daemon: Daemon) -> None:
    now = [0]
    t = Trace.open("core0", SCHEMA, time=lambda: now[0])

    def everything() -> None:
        t.core0.regs.set_many([1, 2, 3], "value", [now[0], now[0], now[0]])
        t.emit_many("core0/stage_transition", entity_id=[1, 2], stage=["fetch", "execute"])
        t.emit("core0/annotate", entity_id=1, text=f"at {now[0]}")
        t.core0.entities[5].entity_id = 7
        t.core0.rob.allocate_ptr = 3
        t.core0.cycles.add()

    for now[0], switch in ((1000, None), (2000, t.disable), (3000, None), (4000, t.enable)):
        if switch:
            switch("core0")
        everything()
    assert t.skipped == 2 * 9
    stats = t.close()
    assert stats is not None and stats.rejected == 0
    items = daemon.dump("core0")
    assert [mark[:2] for mark in _marks(items)] == [["2000", "disable"], ["4000", "enable"]]
    recorded = [i["t"] for i in items if i.get("event") != "uscope/control"]
    assert recorded == ["1000"] * 9 + ["4000"] * 9


def test_other_processes_and_ended_traces_cannot_switch(daemon: Daemon) -> None:
    t = ClientTrace("core0", SCHEMA)
    _cycle(t, 0)
    child = os.fork()
    if child == 0:
        # Whatever happens here must not come back into the test.
        try:
            t.disable()
            t.enable()
            t.trigger("of the child")
            _cycle(t, 0)
            os._exit(0 if t._untraced and t.skipped == 0 else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    _cycle(t, 1)
    t.close()
    for late in (t.disable, t.enable, lambda: t.trigger("late")):
        late()
    assert t.reasons["OP_HANDLE"] == 3
    items = daemon.dump("core0")
    assert _marks(items) == []
    assert _times(items, "core0/committed_insns") == [0, 1]


def test_it_is_paused_and_resumed_from_outside(daemon: Daemon) -> None:
    t = ClientTrace("core0", SCHEMA)
    stop = threading.Event()
    at = [0]

    def model() -> None:
        while not stop.is_set():
            _cycle(t, at[0])
            at[0] += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=model)
    thread.start()

    def ctl(*arguments: str) -> Dict[str, Any]:
        command = [*COMMAND, "ctl", str(daemon.out), *arguments, "--json"]
        result = subprocess.run(command, capture_output=True, text=True)
        traces = json.loads(result.stdout)["traces"]
        return dict(traces[0]) if traces else {"state": "not open yet"}

    try:
        assert ctl("pause")["outcome"] == "done"
        status = ctl("status")
        assert (status["state"], status["disabled"]) == ("paused", [""])
        assert ctl("trigger", "seen")["outcome"] == "done"
        assert ctl("disable", "core7")["code"] == "OP_SCOPE"
        daemon.kill()
        daemon.start()
        deadline = time.monotonic() + 60
        while ctl("status")["state"] != "paused":
            assert time.monotonic() < deadline
        assert ctl("resume")["outcome"] == "done"
        time.sleep(0.05)
    finally:
        stop.set()
        thread.join()
    t.close()
    items = daemon.dump("core0")
    (pause, trigger, resume) = _marks(items)
    assert [pause[1:3], trigger[1:], resume[1:3]] == [
        ["pause", "operator"],
        ["trigger", "operator", "", "seen"],
        ["resume", "operator"],
    ]
    recorded = _times(items, "core0/committed_insns")
    assert recorded == [n for n in range(at[0]) if not int(pause[0]) <= n < int(resume[0])]
    assert t.skipped == 3 * (at[0] - len(recorded))
