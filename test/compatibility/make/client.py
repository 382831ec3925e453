"""A client of which a conversation is recorded: the same kinds of item as `client.c`, from Python."""

import sys

from cocotbext.uscope import Trace

CYCLES = 30
PERIOD_PS = 1000


class Clock:
    """A simulation's time, without a simulator."""

    def __init__(self) -> None:
        self.ps = 0

    def __call__(self) -> int:
        return self.ps


def main() -> int:
    clock = Clock()
    t = Trace.open("core0", sys.argv[1], time=clock, core=0)
    for cycle in range(CYCLES):
        clock.ps = cycle * PERIOD_PS
        slot = cycle % 12
        t.core0.entities[slot].set(entity_id=cycle, pc=0xFFFF_FFFF_8000_0000 + cycle, offset=-cycle)
        t.core0.rob.allocate_ptr = cycle % 9
        t.core0.regs[cycle % 4].value = cycle * 257
        t.core0.committed_insns.add(1)
        t.emit("core0/stage_transition", entity_id=cycle, stage="execute")
        t.emit("core0/annotate", entity_id=cycle, text=f"row {cycle % 6} é")
        if cycle % 5 == 4:
            t.core0.entities[slot].clear()
        if cycle % 12 == 11:
            t.flush()
    stats = t.close()
    return 0 if stats is not None and stats.frames == CYCLES and stats.lost == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
