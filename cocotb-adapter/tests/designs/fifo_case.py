"""Run inside the simulator by test_cocotb.py: traces the queue and writes down what the trace must hold."""

from __future__ import annotations

import json
import os
import random
from typing import Any, Dict, List

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotb.utils import get_sim_time

from cocotbext.uscope import Trace


def start_clock(signal: Any) -> None:
    clock = Clock(signal, 10, **{"units" if cocotb.__version__ < "2" else "unit": "ns"})
    cocotb.start_soon(clock.start())


@cocotb.test()
async def traced(dut: Any) -> None:
    rng = random.Random(1)
    start_clock(dut.clk)
    dut.rst.value = 1
    dut.push.value = 0
    dut.pop.value = 0
    dut.data.value = 0
    for _ in range(2):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    expected: List[Dict[str, Any]] = []
    queue: List[int] = []
    async with Trace.open("fifo", schema=os.environ["CASE_SCHEMA"], clock=dut.clk) as t:
        t.watch(dut.memory, "fifo/memory")
        t.watch([dut.head, dut.tail], "fifo/pointers")
        t.watch(dut.count, "fifo/level", "count")
        for _ in range(200):
            push = rng.random() < 0.6 and len(queue) < 8
            pop = rng.random() < 0.5 and len(queue) > 0
            value = rng.randrange(256)
            dut.push.value = int(push)
            dut.pop.value = int(pop)
            dut.data.value = value
            await RisingEdge(dut.clk)
            now = str(int(get_sim_time("ps")))
            if push:
                queue.append(value)
                t.emit("fifo/access", action="push", value=value)
                expected.append({"t": now, "action": "push", "value": str(value)})
            if pop:
                taken = queue.pop(0)
                t.emit("fifo/access", action="pop", value=taken)
                expected.append({"t": now, "action": "pop", "value": str(taken)})
        dut.push.value = 0
        dut.pop.value = 0
        for _ in range(2):
            await RisingEdge(dut.clk)
        unresolved = t.unresolved
    result = {"events": expected, "queue": queue, "unresolved": unresolved}
    with open(os.environ["CASE_RESULT"], "w", encoding="utf-8") as file:
        json.dump(result, file)
