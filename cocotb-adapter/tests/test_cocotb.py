"""Real simulators: what a cocotb test traced is what the design did. Needs cocotb, and Icarus or a Verilator that it supports."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Dict, List

import pytest
from conftest import Daemon

cocotb = pytest.importorskip("cocotb")
DESIGNS = Path(__file__).parent / "designs"


def _runner(simulator: str) -> Any:
    if cocotb.__version__ >= "2":
        from cocotb_tools.runner import get_runner
    else:
        from cocotb.runner import get_runner
    return get_runner(simulator)


def _simulators() -> List[str]:
    found = [("icarus", "iverilog"), ("verilator", "verilator")]
    names = [name for name, command in found if shutil.which(command)]
    if cocotb.__version__ >= "1.9" and "verilator" in names:
        names.remove("verilator")  # newer cocotb needs a newer Verilator than Debian's
    return names


@pytest.mark.parametrize("simulator", _simulators())
def test_the_trace_holds_what_the_design_did(
    simulator: str, daemon: Daemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (DESIGNS, DESIGNS.parents[1] / "src"):
        monkeypatch.syspath_prepend(str(path))  # the runner hands sys.path on
    result = tmp_path / "result.json"
    runner = _runner(simulator)
    build: Dict[str, Any] = {
        "hdl_toplevel": "fifo",
        "build_dir": str(tmp_path / "build"),
        "always": True,
    }
    sources = [str(DESIGNS / "fifo.sv")]
    build["sources" if cocotb.__version__ >= "2" else "verilog_sources"] = sources
    runner.build(**build)
    environment = {
        "CASE_SCHEMA": str(DESIGNS / "fifo.yaml"),
        "CASE_RESULT": str(result),
        "USCOPE_ENDPOINT": daemon.endpoint,
    }
    runner.test(
        hdl_toplevel="fifo",
        test_module="fifo_case",
        test_dir=str(tmp_path),
        extra_env=environment,
    )
    expected = json.loads(result.read_text("utf-8"))
    items = daemon.dump("fifo")
    events = [{"t": item["t"], **item["fields"]} for item in items if item["op"] == "event"]
    assert events == expected["events"]
    state: Dict[str, Dict[int, int]] = {"fifo/memory": {}, "fifo/pointers": {}, "fifo/level": {}}
    for item in items:
        if item["op"] == "set":
            state[item["storage"]][item["slot"]] = int(item["value"])
    head = state["fifo/pointers"][0]
    left = expected["queue"]
    assert [state["fifo/memory"][(head + i) % 8] for i in range(len(left))] == left
    assert state["fifo/level"][0] == len(left)
    times = [int(item["t"]) for item in items if item["op"] == "set"]
    assert times == sorted(times)
    assert all(time % 10_000 == times[0] % 10_000 for time in times), "samples are taken on clock edges"
    assert expected["unresolved"] > 0 if simulator == "icarus" else True


