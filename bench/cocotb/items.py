"""Items per second from Python, through a live daemon: prints JSON. Arguments: items per run, runs."""

from __future__ import annotations

import json
import mmap
import sys
import time
from typing import Callable, Dict, List

from cocotbext.uscope import Trace

PER_CYCLE = 7
SCHEMA = sys.argv[3]
now = [0]


def by_name(t: Trace, cycles: int) -> None:
    core = t.core0
    for cycle in range(cycles):
        now[0] += 1000
        for slot in range(PER_CYCLE - 2):
            core.regs[slot].value = cycle
        core.entities[cycle & 63].pc = cycle
        t.emit("core0/stage_transition", entity_id=cycle, stage="execute")


def in_lists(t: Trace, cycles: int) -> None:
    regs, slots = t.core0.regs, list(range(32))
    for cycle in range(cycles * PER_CYCLE // 32):
        now[0] += 1000
        regs.set_many(slots, "value", range(cycle, cycle + 32))


def in_arrays(t: Trace, cycles: int) -> None:
    import numpy

    regs, slots = t.core0.regs, numpy.arange(1024) % 32
    values = numpy.arange(1024)
    for _ in range(cycles * PER_CYCLE // 1024):
        now[0] += 1000
        regs.set_many(slots, "value", values)


def stores(cycles: int) -> None:
    """The least that Python can do for an item: its record's two words, in a loop."""
    words = memoryview(mmap.mmap(-1, 1 << 20)).cast("Q")
    at = 0
    for cycle in range(cycles * PER_CYCLE):
        words[at] = 0x101
        words[at + 1] = cycle
        at = (at + 2) & 0xFFFF


def main() -> None:
    cycles, runs = int(sys.argv[1]) // PER_CYCLE, int(sys.argv[2])
    results: Dict[str, List[float]] = {}
    ways: Dict[str, Callable[[Trace, int], None]] = {"by_name": by_name, "in_lists": in_lists}
    try:
        import numpy

        ways["in_arrays"] = in_arrays
        del numpy
    except ImportError:
        pass
    for run in range(runs):
        for name, way in ways.items():
            t = Trace.open(f"{name}_{run}", SCHEMA, time=lambda: now[0])
            start = time.perf_counter()
            way(t, cycles)
            seconds = time.perf_counter() - start
            stats = t.close()
            assert stats is not None and stats.rejected == 0 and stats.lost == 0
            results.setdefault(name, []).append(stats.items / seconds)
        start = time.perf_counter()
        stores(cycles)
        results.setdefault("stores", []).append(cycles * PER_CYCLE / (time.perf_counter() - start))
    print(json.dumps({"python": sys.version.split()[0], "rates": results}))


main()
