"""Run by test_memory.py: traces cycle after cycle, says on stdout which are complete, and never ends by itself."""

from __future__ import annotations

import os
import sys

from cocotbext.uscope import ClientTrace

trace = ClientTrace("core0", sys.argv[1])
texts = len(sys.argv) > 2 and sys.argv[2] == "texts"
cycle = 0
while True:
    trace.begin_cycle(cycle * 1000)
    trace.slot_set(1, cycle % 32, 0, cycle & 0xFFFFFFFF)
    trace.slot_add(4, 0, 0, 1)
    if texts:
        trace.event(2, (cycle, trace.string(f"instruction {cycle} " + "x" * (cycle % 900))))
    trace.end_cycle()
    cycle += 1
    os.write(1, cycle.to_bytes(8, "little"))
