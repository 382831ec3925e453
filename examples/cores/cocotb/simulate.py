"""Runs a core on Icarus with cocotb 1.9 or 2: `python simulate.py FOLDER DEFINES SOURCE...`. The test is follow_rvfi.py, next to this file."""

import os
import sys
from pathlib import Path

try:
    from cocotb_tools.runner import get_runner
except ImportError:  # cocotb 1
    from cocotb.runner import get_runner

HERE = Path(__file__).parent


def main() -> None:
    folder, defines, *sources = sys.argv[1:]
    runner = get_runner("icarus")
    runner.build(
        verilog_sources=[Path(source) for source in sources],
        hdl_toplevel="top",
        build_dir=folder,
        build_args=["-g2012"],
        defines={name: 1 for name in defines.split(",") if name},
        timescale=("1ns", "1ps"),
        always=True,
    )
    sys.path.insert(0, str(HERE))
    results = runner.test(hdl_toplevel="top", test_module="follow_rvfi", test_dir=folder, plusargs=[f"+program={os.environ['PROGRAM']}"])
    report = Path(results).read_text()
    if "<failure" in report or "<error" in report:
        sys.exit(1)


if __name__ == "__main__":
    main()
