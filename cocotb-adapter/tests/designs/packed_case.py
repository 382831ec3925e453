"""Run inside the simulator by test_cocotb.py: packed arrays and structures, and what an exception hides."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, List

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge, Timer

from cocotbext.uscope import Trace, UscopeError

SCHEMA = os.environ["CASE_SCHEMA"]


@cocotb.test()
async def packed(dut: Any) -> None:
    cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
    dut.rst.value = 1
    await RisingEdge(dut.clk)
    await RisingEdge(dut.clk)
    dut.rst.value = 0
    refused: List[str] = []
    seen: List[Dict[str, int]] = []
    async with Trace.open("packed", schema=SCHEMA, clock=dut.clk) as t:
        t.watch(dut.cnt, "top/cnt")
        t.watch(dut.lanes, "top/lanes", width=8)
        t.watch(dut.head, "top/head", "valid", bits=(7, 7))
        t.watch(dut.head, "top/head", "tag", bits=(6, 0))
        for options in (
            {"signal": [dut.lanes[i] for i in range(4)]},
            {"signal": dut.lanes, "width": 7},
            {"signal": dut.lanes, "bits": (32, 0)},
            {"signal": dut.lanes, "bits": (0, 7)},
        ):
            try:
                t.watch(storage="top/lanes", **options)
            except UscopeError as error:
                refused.append(error.code)
        for _ in range(10):
            await RisingEdge(dut.clk)
            await ReadOnly()
            seen.append({name: int(getattr(dut, name).value) for name in ("cnt", "lanes", "head")})
    Path(os.environ["CASE_RESULT"]).write_text(json.dumps({"refused": refused, "seen": seen}), "utf-8")


@cocotb.test()
async def an_exception_before_the_first_edge(dut: Any) -> None:
    try:
        async with Trace.open("failed", schema=SCHEMA, clock=dut.rst):
            await Timer(1, "ns")
            raise KeyError("the reason")
    except KeyError:
        pass
