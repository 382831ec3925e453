"""Run inside the simulator by test_cocotb.py: wrong clocks and unresolved values."""

from __future__ import annotations

import os
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer

from cocotbext.uscope import Trace, UscopeError

SCHEMA = os.environ["CASE_SCHEMA"]


def microseconds(count: int) -> Timer:
    return Timer(count, "us")


@cocotb.test()
async def the_clock_never_rises(dut: Any) -> None:
    async with Trace.open("stopped", schema=SCHEMA, clock=dut.clk, clock_timeout_s=0) as t:
        t.watch(dut.count, "fifo/level")
        t.emit("fifo/access", action="push", value=1)
        await microseconds(1)


@cocotb.test()
async def the_block_is_left_in_the_timestep_of_the_first_edge(dut: Any) -> None:
    dut.clk.value = 0
    await microseconds(1)
    async with Trace.open("first_edge", schema=SCHEMA, clock=dut.clk):
        cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
        await RisingEdge(dut.clk)


@cocotb.test()
async def values_with_x(dut: Any) -> None:
    cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
    for policy in ("skip", "zero", "error"):
        async with Trace.open(f"x_{policy}", schema=SCHEMA, clock=dut.clk, unresolved=policy) as t:
            if policy != "error":
                t.watch(dut.memory, "fifo/memory")
                t.fifo.level[0].count = dut.count.value
                t.emit("fifo/access", action="push", value=dut.front.value)
            else:
                try:
                    t.fifo.level[0].count = dut.count.value
                    raise AssertionError("X was taken for a number")
                except UscopeError as error:
                    assert error.code == "OP_VALUE" and "is" in error.detail
            await RisingEdge(dut.clk)
            await RisingEdge(dut.clk)
            assert t.unresolved > 0


@cocotb.test()
async def the_clock_is_slower_than_the_schema_says(dut: Any) -> None:
    cocotb.start_soon(Clock(dut.clk, 40, "ns").start())
    async with Trace.open("slow", schema=SCHEMA, clock=dut.clk):
        for _ in range(8):
            await RisingEdge(dut.clk)


@cocotb.test()
async def two_traces_of_one_simulation(dut: Any) -> None:
    cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
    async with Trace.open("both/a", schema=SCHEMA, clock=dut.clk, core=0) as a:
        async with Trace.open("both/b", schema=SCHEMA, clock=dut.clk, core=1) as b:
            for value in range(20):
                await RisingEdge(dut.clk)
                (a, b)[value % 2].emit("fifo/access", action="push", value=value)
            try:
                Trace.open("both/a", schema=SCHEMA)
                raise AssertionError("two traces of one name")
            except UscopeError as error:
                assert error.code == "BRIDGE_NAME_BUSY"
