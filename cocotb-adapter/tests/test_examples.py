"""The example, run as its documentation says, by every flow of cocotb."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

import pytest
from conftest import COMMAND, ROOT

pytest.importorskip("cocotb")
EXAMPLE = ROOT / "examples" / "cocotb"
FLOWS = {"make": ["make"], "pytest": ["pytest", "-q", "-p", "no:cacheprovider", "test_cpu.py"], "runner": ["python", "test_cpu.py"]}

needs_icarus = pytest.mark.skipif(not shutil.which("iverilog") or not shutil.which("make"), reason="needs Icarus Verilog and make")


def fibonacci() -> List[str]:
    """The program's instructions in the order in which they retire."""
    lines = ["addi r1, r0, 0", "addi r2, r0, 1", "addi r4, r0, 20"]
    loop = ["add r3, r1, r2", "addi r1, r2, 0", "addi r2, r3, 0", "addi r4, r4, -1", "bne r4, r0, -4"]
    return lines + loop * 20 + ["halt"]


@needs_icarus
@pytest.mark.parametrize("flow", FLOWS)
def test_the_example_runs_under_uscope_run(flow: str, tmp_path: Path) -> None:
    for name in ("tiny_cpu.v", "tiny_cpu.yaml", "traced_cpu.py", "test_cpu.py", "Makefile"):
        shutil.copy(EXAMPLE / name, tmp_path)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("USCOPE_ENDPOINT")}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    environment["PYTHONPATH"] = str(ROOT / "cocotb-adapter" / "src")
    ran = subprocess.run(
        [*COMMAND, "run", "--", *FLOWS[flow]], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    items = dump(tmp_path / "cpu.uscope")
    retired = [i["fields"]["text"] for i in items if i["op"] == "event"]
    assert retired == fibonacci()
    assert sum(int(i["value"]) for i in items if i["op"] == "add") == len(retired)
    regs = {i["slot"]: int(i["value"]) for i in items if i["op"] == "set" and i["storage"] == "cpu/regs"}
    assert regs == {0: 0, 1: 6765, 2: 10946, 3: 10946, 4: 0}, "those never written have X and are not traced"


def dump(path: Path) -> List[Dict[str, Any]]:
    text = subprocess.run([*COMMAND, "dump", "--jsonl", str(path)], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in text.splitlines()]
