"""The cocotb test: runs the program and traces the processor."""

from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from cocotbext.uscope import Trace

SCHEMA = Path(__file__).parent / "tiny_cpu.yaml"


def disassemble(bits: int) -> str:
    op, rd, ra, rb, low = bits >> 12, bits >> 9 & 7, bits >> 6 & 7, bits >> 3 & 7, bits & 63
    immediate = low - 64 if low & 32 else low
    offset = rd - 8 if rd & 4 else rd
    return [f"addi r{rd}, r{ra}, {immediate}", f"add r{rd}, r{ra}, r{rb}", f"bne r{ra}, r{rb}, {offset}", "halt"][op]


@cocotb.test()
async def runs_the_program(dut):
    cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
    dut.rst.value = 1
    await RisingEdge(dut.clk)
    await RisingEdge(dut.clk)
    dut.rst.value = 0
    async with Trace.open("cpu", schema=SCHEMA, clock=dut.clk) as t:
        t.watch(dut.regs, "cpu/regs")
        t.watch(dut.pc, "cpu/pc")
        while True:
            await RisingEdge(dut.clk)
            if str(dut.retire.value) == "1":
                t.cpu.retired.add()
                t.emit("cpu/retire", pc=int(dut.retire_pc.value), text=disassemble(int(dut.retire_bits.value)))
            if str(dut.halted.value) == "1":
                break
    assert int(dut.regs[3].value) == 10946
