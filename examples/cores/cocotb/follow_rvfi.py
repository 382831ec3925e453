"""Traces a core's RVFI from Python, for as many cycles as CYCLES says or until the program ends."""

import os

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from cocotbext.uscope import Trace
from cocotbext.uscope.rvfi import Rvfi

RESET_CYCLES = 8


@cocotb.test()
async def follows_the_rvfi(dut):
    dut.rst.value = 1
    cocotb.start_soon(Clock(dut.clk, 1, "ns").start())
    variables = {"isa": os.environ["ISA"], "dut_name": os.environ["CORE"]}
    async with Trace.open("core0", schema=os.environ["RVFI_SCHEMA"], clock=dut.clk, variables=variables) as trace:
        rvfi = Rvfi(trace, dut.u_core)
        for cycle in range(int(os.environ["CYCLES"])):
            await RisingEdge(dut.clk)
            if cycle >= RESET_CYCLES:
                rvfi.sample()
            else:
                dut.rst.value = int(cycle < RESET_CYCLES - 1)
            if cycle > RESET_CYCLES and str(dut.done.value) == "1":
                break
