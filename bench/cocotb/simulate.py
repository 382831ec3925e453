"""Builds the queue for Icarus and runs fifo_bench.py in it: prints JSON. Arguments: cycles, runs, directory."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any, Dict, List

import cocotb

try:
    from cocotb_tools.runner import get_runner
except ImportError:
    from cocotb.runner import get_runner

HERE = Path(__file__).resolve().parent
DESIGNS = HERE.parents[1] / "cocotb-adapter" / "tests" / "designs"
MODES = ("untraced", "emitted", "watched")


def main() -> None:
    cycles, runs, directory = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    sys.path.insert(0, str(HERE))
    runner: Any = get_runner("icarus")
    sources = "sources" if cocotb.__version__ >= "2" else "verilog_sources"
    seconds: Dict[str, List[float]] = {mode: [] for mode in MODES}
    build: Dict[str, Any] = {sources: [DESIGNS / "fifo.sv"], "hdl_toplevel": "fifo"}
    runner.build(**build, build_dir=str(directory / "sim"), always=True, log_file=str(directory / "build.log"))
    for _ in range(runs):
        for mode in MODES:
            result = directory / "seconds.json"
            environment = {
                "BENCH_CYCLES": cycles,
                "BENCH_MODE": mode,
                "BENCH_SCHEMA": str(DESIGNS / "fifo.yaml"),
                "BENCH_RESULT": str(result),
                "COCOTB_LOG_LEVEL": "WARNING",
            }
            with contextlib.redirect_stdout(io.StringIO()):
                runner.test(
                    hdl_toplevel="fifo",
                    test_module="fifo_bench",
                    test_dir=str(directory),
                    extra_env=environment,
                    log_file=str(directory / "run.log"),
                )
            seconds[mode].append(json.loads(result.read_text("utf-8")))
            os.unlink(result)
    print(json.dumps({"cocotb": cocotb.__version__, "seconds": seconds}))


main()
