"""The RISC-V Formal Interface followed from Python: ports as a simulator shows them, and what of them is in the file."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Dict, List

import pytest
from conftest import ROOT, Daemon

from cocotbext.uscope import Trace
from cocotbext.uscope.rvfi import Rvfi

SCHEMA = str(ROOT / "sv" / "uscope_rvfi.yaml")
XLEN = 32
WIDTHS = {
    **dict.fromkeys(("valid", "trap", "intr"), 1),
    **dict.fromkeys(("rd_addr",), 5),
    **dict.fromkeys(("mem_rmask", "mem_wmask"), 4),
    "mode": 2,
    "order": 64,
}

ADDI, LW, SW, BNE, CJR, EBREAK = 0x00110113, 0x0000A103, 0x0020A023, 0xFE209EE3, 0x8082, 0x00100073


class Core:
    """Ports of two channels; `show` is what they hold in a cycle, by channel. What is not given is X."""

    def __init__(self, without: "tuple[str, ...]" = ()) -> None:
        names = ("valid order insn trap intr mode pc_rdata pc_wdata rd_addr rd_wdata").split()
        names += ["mem_addr", "mem_rmask", "mem_wmask", "mem_rdata", "mem_wdata"]
        self.names = [name for name in names if name not in without]
        for name in self.names:
            setattr(self, f"rvfi_{name}", SimpleNamespace(value=""))
        self.show({}, {})

    def show(self, *channels: Dict[str, int]) -> None:
        for name in self.names:
            width = WIDTHS.get(name, XLEN)
            parts = [f"{c[name]:0{width}b}" if name in c else ("0" if name == "valid" else "x") * width for c in channels]
            getattr(self, f"rvfi_{name}").value = "".join(reversed(parts))


def one(order: int, insn: int, pc: int, after: int, **more: int) -> Dict[str, int]:
    ports = {"valid": 1, "order": order, "insn": insn, "pc_rdata": pc, "pc_wdata": after, "trap": 0, "intr": 0, "mode": 3}
    return {**ports, "rd_addr": 0, "mem_rmask": 0, "mem_wmask": 0, **more}


def record(cycles: "List[List[Dict[str, int]]]", core: Core, **options: Any) -> None:
    now = SimpleNamespace(ps=0)
    trace = Trace.open("core0", SCHEMA, time=lambda: now.ps)
    rvfi = Rvfi(trace, core, **options)
    for number, channels in enumerate(cycles):
        now.ps = number * 1000
        core.show(*channels)
        rvfi.sample()
        trace.end_cycle()
    stats = trace.close()
    assert stats is not None and stats.rejected == 0


def test_instructions_of_two_channels_are_recorded_by_rising_order(daemon: Daemon) -> None:
    load = one(7, LW, 8, 12, rd_addr=2, rd_wdata=5, mem_addr=1020, mem_rmask=3, mem_rdata=0x99990005)
    store = one(8, SW, 12, 16, mem_addr=1020, mem_wmask=15, mem_wdata=6)
    record([[store, load], [{}, {}]], Core(), channels=2)
    items = [i for i in daemon.dump("core0") if i["op"] != "add"]
    events = [(i["t"], i["event"].split("/")[1], i["fields"]) for i in items if i["op"] == "event"]
    assert events == [
        ("0", "stage_transition", {"entity_id": "0", "stage": "retire"}),
        ("0", "mem_read", {"entity_id": "0", "addr": "1020", "mask": "3", "data": "5"}),
        ("0", "reg_write", {"entity_id": "0", "index": "2", "value": "5"}),
        ("0", "stage_transition", {"entity_id": "1", "stage": "retire"}),
        ("0", "mem_write", {"entity_id": "1", "addr": "1020", "mask": "15", "data": "6"}),
    ]
    sets = {(i["slot"], i["field"]): i["value"] for i in items if i["op"] == "set" and i["storage"] == "core0/entities"}
    assert sets[0, "order"] == "7" and sets[1, "order"] == "8" and sets[0, "pc"] == "8"
    assert [(i["t"], i["slot"]) for i in items if i["op"] == "clear"] == [("1000", 0), ("1000", 1)]


def test_traps_are_squashed_and_what_a_core_lacks_has_its_default_and_is_logged(
    daemon: Daemon, caplog: pytest.LogCaptureFixture
) -> None:
    core = Core(without=("mode", "intr"))
    cycles = [
        [one(0, BNE, 16, 12)],
        [one(1, CJR, 12, 0x40)],
        # a mask on an instruction that cannot read memory
        [one(2, ADDI, 0x40, 0x44, mem_addr=4, mem_rmask=15, mem_rdata=1)],
        [one(3, EBREAK, 0x44, 0x80, trap=1)],
        [{}],
    ]
    record(cycles, core)
    assert [r.message for r in caplog.records if "the core has no rvfi_intr, rvfi_mode" in r.message]
    items = daemon.dump("core0")
    counts: Dict[str, int] = {}
    for item in items:
        if item["op"] == "add":
            name = item["storage"].split("/")[1]
            counts[name] = counts.get(name, 0) + int(item["value"])
    assert counts == {"cycles": 5, "committed_insns": 3, "branches": 1, "branches_taken": 1, "jumps": 1, "traps": 1}
    flushes = [(i["t"], i["fields"]) for i in items if i["op"] == "event" and i["event"] == "core0/flush"]
    assert flushes == [("4000", {"entity_id": "1", "reason": "exception"})]
    # two cycles can fill two slots
    assert {i["slot"] for i in items if i["op"] == "clear"} == {0, 1}
    levels = {i["value"] for i in items if i["op"] == "set" and i["field"] == "priv_level"}
    assert levels <= {"3", "machine"} and levels
