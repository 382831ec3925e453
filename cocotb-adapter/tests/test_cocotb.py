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


def simulate(
    simulator: str,
    module: str,
    daemon: Daemon,
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    design: str = "fifo",
) -> Path:
    """Runs a test module on the queue; returns the file that it wrote its expectations into."""
    for path in (DESIGNS, DESIGNS.parents[1] / "src"):
        monkeypatch.syspath_prepend(str(path))  # the runner hands sys.path on
    result = directory / "result.json"
    runner = _runner(simulator)
    build: Dict[str, Any] = {
        "hdl_toplevel": design,
        "build_dir": str(directory / "build"),
        "always": True,
    }
    sources = [str(DESIGNS / f"{design}.sv")]
    build["sources" if cocotb.__version__ >= "2" else "verilog_sources"] = sources
    runner.build(**build)
    environment = {
        "CASE_SCHEMA": str(DESIGNS / f"{design}.yaml"),
        "CASE_RESULT": str(result),
        "USCOPE_ENDPOINT": daemon.endpoint,
    }
    results = runner.test(
        hdl_toplevel=design,
        test_module=module,
        test_dir=str(directory),
        extra_env=environment,
    )
    text = Path(results).read_text("utf-8")
    assert "<failure" not in text and "<error" not in text, text
    return result


@pytest.mark.skipif("icarus" not in _simulators(), reason="needs Icarus Verilog")
def test_clocks_that_stand_still_x_and_two_traces(
    daemon: Daemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    simulate("icarus", "stopped_case", daemon, tmp_path, monkeypatch)
    said = capfd.readouterr()
    lines = (said.out + said.err).splitlines()
    stopped = [line for line in lines if "the clock fifo.clk never rose: nothing was sampled" in line]
    assert len(stopped) == 1 and "stopped: " in stopped[0]
    assert [i["op"] for i in daemon.dump("stopped")] == ["event"]
    left = [line for line in lines if "first_edge: the clock fifo.clk rose for the first time" in line]
    assert len(left) == 1 and "Wait for another edge" in left[0]
    slow = [line for line in lines if "CLOCK_PERIOD" in line]
    assert len(slow) == 1, "one of the traces has a clock of another period"
    assert "slow: CLOCK_PERIOD: the clock fifo.clk rises every 40000 ps, and the schema has clk 10000 ps" in slow[0]
    unresolved = [line for line in lines if "samples had X or Z bits" in line]
    assert len(unresolved) == 3
    assert "and were skipped: " in unresolved[0] and "fifo.memory[0] " in unresolved[0]
    assert "and were taken with those bits 0: " in unresolved[1]
    assert "and were refused: a value set by the test 1" in unresolved[2]
    assert daemon.dump("x_skip") == [] and daemon.dump("x_error") == []
    zeros = daemon.dump("x_zero")
    assert {i["storage"] for i in zeros if i["op"] == "set"} == {"fifo/level", "fifo/memory"}
    assert all(i["value"] == "0" for i in zeros if i["op"] == "set")
    for name, start in (("both/a", 0), ("both/b", 1)):
        assert [int(i["fields"]["value"]) for i in daemon.dump(name)] == list(range(start, 20, 2))


@pytest.mark.skipif("icarus" not in _simulators(), reason="needs Icarus Verilog")
def test_packed_arrays_and_structures_and_an_exception_before_the_first_edge(
    daemon: Daemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    result = simulate("icarus", "packed_case", daemon, tmp_path, monkeypatch, "packed_lanes")
    expected = json.loads(result.read_text("utf-8"))
    assert expected["refused"] == ["OP_VALUE"] * 4
    state = {(i["storage"], i["slot"], i["field"]): int(i["value"]) for i in daemon.dump("packed")}
    # The edge at which the block is left may not be sampled.
    last = next(one for one in expected["seen"] if one["cnt"] == state["top/cnt", 0, "value"])
    assert last in expected["seen"][-2:]
    lanes = [state["top/lanes", slot, "value"] for slot in range(4)]
    assert lanes == [last["lanes"] >> (8 * slot) & 0xFF for slot in range(4)]
    assert lanes == [(last["cnt"] + slot) & 0xFF for slot in range(4)]
    head = state["top/head", 0, "valid"] << 7 | state["top/head", 0, "tag"]
    assert head == last["head"]
    said = capfd.readouterr()
    assert "never rose" not in said.out + said.err


@pytest.mark.parametrize("simulator", _simulators())
def test_the_trace_holds_what_the_design_did(
    simulator: str, daemon: Daemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = simulate(simulator, "fifo_case", daemon, tmp_path, monkeypatch)
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


