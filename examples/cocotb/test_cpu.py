"""The same test through cocotb's runner: `uscope run -- pytest`, or `uscope run -- python test_cpu.py`."""

import os
from pathlib import Path

try:
    from cocotb_tools.runner import get_runner
except ImportError:  # cocotb 1
    from cocotb.runner import get_runner

HERE = Path(__file__).parent


def test_cpu():
    runner = get_runner(os.environ.get("SIM", "icarus"))
    runner.build(verilog_sources=[HERE / "tiny_cpu.v"], hdl_toplevel="tiny_cpu", build_dir=HERE / "sim_build", always=True)
    runner.test(hdl_toplevel="tiny_cpu", test_module="traced_cpu", test_dir=HERE)


if __name__ == "__main__":
    test_cpu()
