"""The simulator's time, and a look at whether the clock runs."""

from __future__ import annotations

import logging
import threading
from typing import Any, Callable, Optional, Tuple

from .watch import path_of

log = logging.getLogger("cocotbext.uscope")

_PS_EXPONENT = -12


class SimulatorTime:
    """
    ``tick`` is the simulator's time in its own steps, cheap enough to be asked for each item; ``ps`` what it is in ps.

    A precision finer than 1 ps is rounded down: several steps are one time then.
    """

    def __init__(self) -> None:
        from cocotb import simulator

        self.tick: Callable[[], Tuple[int, int]] = simulator.get_sim_time
        self._exponent = int(simulator.get_precision()) - _PS_EXPONENT

    def ps(self, tick: Tuple[int, int]) -> int:
        steps = tick[0] << 32 | tick[1]
        return int(steps * 10**self._exponent if self._exponent >= 0 else steps // 10**-self._exponent)


class ClockWatch:
    """
    Says once that a clock does not run: after ``seconds`` of real time, however far the simulated time has come, or at the end.
    """

    def __init__(self, trace: str, clock: Any, seconds: float) -> None:
        self.edges = 0
        self._trace = trace
        self._clock = path_of(clock)
        self._seconds = seconds
        self._said = False
        self._timer: Optional[threading.Timer] = None
        if seconds > 0:
            self._timer = threading.Timer(seconds, self._look)
            self._timer.daemon = True
            self._timer.start()

    def edge(self) -> None:
        self.edges += 1
        if self.edges == 1 and self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        if self.edges == 0:
            self._say(f"has not risen in {self._seconds:g} s of real time; nothing is sampled until it does")

    def finish(self) -> None:
        """At the end of the trace."""
        if self._timer is not None:
            self._timer.cancel()
        if self.edges == 0:
            self._say("never rose: nothing was sampled")

    def _say(self, what: str) -> None:
        if self._said:
            return
        self._said = True
        log.error(
            "%s: the clock %s %s. Is it driven (cocotb.start_soon(Clock(...).start())), and is it the right signal?",
            self._trace,
            self._clock,
            what,
        )
