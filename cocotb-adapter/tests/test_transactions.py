"""Transactions recorded from Python, through the daemon, converted to FTR."""

from __future__ import annotations

import json
import subprocess
from enum import Enum
from pathlib import Path
from typing import Any, Dict, List

import pytest
from conftest import COMMAND, ROOT, Daemon
from test_daemon import Clock

from cocotbext.uscope import Trace, Transactions, UscopeError

SCHEMA = str(ROOT / "sv" / "uscope_tr.yaml")


class State(Enum):
    SHARED = 1


def to_ftr(daemon: Daemon, name: str, directory: Path) -> List[Dict[str, Any]]:
    ftr = directory / f"{name}.ftr"
    trace = str(daemon.out / f"{name}.uscope")
    subprocess.run([*COMMAND, "convert", trace, "-o", str(ftr)], check=True, capture_output=True)
    dump = subprocess.run([*COMMAND, "dump", "--jsonl", str(ftr)], check=True, capture_output=True, text=True)
    return [json.loads(line) for line in dump.stdout.splitlines()]


def test_what_is_recorded_is_in_the_ftr_file(daemon: Daemon, tmp_path: Path) -> None:
    clock = Clock()
    trace = Trace.open("transactions", SCHEMA, time=clock)
    tr = Transactions(trace)
    bus = tr.stream("top.bus", "transactor")
    read = bus.generator("read")
    clock.ps = 1000
    one = read.begin(addr=(1 << 64) - 1, burst=True, state=State.SHARED)
    clock.ps = 2000
    two = bus.generator("write").begin({"data out": ("LOGIC_VECTOR", "01xz")})
    one.record(offset=-3, load=0.25, note="µ", took=("TIME", 500))
    one.relate("next", two)
    clock.ps = 3000
    one.end(result="ok")
    with pytest.raises(UscopeError, match="OP_HANDLE"):
        one.record(late=1)
    with pytest.raises(UscopeError, match="OP_VALUE"):
        two.record(flag=("BOOLEAN", 2))
    two.end()
    stats = trace.close()
    assert stats is not None and (stats.rejected, stats.lost) == (0, 0)
    records = to_ftr(daemon, "transactions", tmp_path)
    found = [r for r in records if r["kind"] == "transaction"]
    assert [(t["id"], t["stream"], t["generator"], t["start"], t["end"]) for t in found] == [
        ("1", "1", "2", "1000", "3000"),
        ("2", "1", "3", "2000", "3000"),
    ]
    attributes = [[(a["phase"], a["name"], a["type"], a["value"]) for a in t["attributes"]] for t in found]
    assert attributes == [
        [
            ("begin", "addr", "UNSIGNED", str((1 << 64) - 1)),
            ("begin", "burst", "BOOLEAN", True),
            ("begin", "state", "ENUMERATION", "SHARED"),
            ("record", "offset", "INTEGER", "-3"),
            ("record", "load", "FLOATING_POINT_NUMBER", 0.25),
            ("record", "note", "STRING", "µ"),
            ("record", "took", "TIME", "500"),
            ("end", "result", "STRING", "ok"),
        ],
        [("begin", "data out", "LOGIC_VECTOR", "01XZ")],
    ]
    relations = [r for r in records if r["kind"] == "relation"]
    assert [(r["name"], r["source"], r["sink"], r["sourceStream"], r["sinkStream"]) for r in relations] == [
        ("next", "1", "2", "1", "1")
    ]
