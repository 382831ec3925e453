"""Run inside the simulator by simulate.py: the same testbench of a queue, traced or not; writes the seconds of its cycles."""

from __future__ import annotations

import contextlib
import json
import os
import random
import time
from typing import Any, Optional

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from cocotbext.uscope import Trace

CYCLES = int(os.environ["BENCH_CYCLES"])
MODE = os.environ["BENCH_MODE"]


async def cycles(dut: Any, t: Optional[Trace]) -> None:
    rng = random.Random(1)
    held = 0
    edge = RisingEdge(dut.clk)
    for _ in range(CYCLES):
        push = rng.random() < 0.6 and held < 8
        pop = rng.random() < 0.5 and held > 0
        value = rng.randrange(256)
        held += push - pop
        dut.push.value = int(push)
        dut.pop.value = int(pop)
        dut.data.value = value
        await edge
        if t is not None:
            if push:
                t.emit("fifo/access", action="push", value=value)
            if pop:
                t.emit("fifo/access", action="pop", value=value)


@cocotb.test()
async def measured(dut: Any) -> None:
    cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
    dut.rst.value = 1
    await RisingEdge(dut.clk)
    await RisingEdge(dut.clk)
    dut.rst.value = 0
    async with contextlib.AsyncExitStack() as stack:
        t = None
        if MODE != "untraced":
            clock = dut.clk if MODE == "watched" else None
            t = await stack.enter_async_context(Trace.open(MODE, os.environ["BENCH_SCHEMA"], clock=clock))
        if t is not None and MODE == "watched":
            t.watch(dut.memory, "fifo/memory")
            t.watch([dut.head, dut.tail], "fifo/pointers")
            t.watch(dut.count, "fifo/level")
        start = time.perf_counter()
        await cycles(dut, t)
        seconds = time.perf_counter() - start
    with open(os.environ["BENCH_RESULT"], "w", encoding="utf-8") as file:
        json.dump(seconds, file)
