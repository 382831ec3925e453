"""The simulator's time, and a look at whether the clock runs."""

from __future__ import annotations

import logging
import threading
from typing import Any, Callable, Mapping, Optional, Tuple

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


class PeriodCheck:
    """
    Says once that the schema has no clock of the signal's period: every count of cycles would be wrong by that factor.

    The first two periods that are the same decide: a clock may start irregularly. Clocks of unknown period (0 ps) fit any signal.
    """

    def __init__(self, trace: str, clock: Any, periods: Mapping[str, int]) -> None:
        self.is_open = bool(periods) and all(periods.values())
        self._trace = trace
        self._clock = path_of(clock)
        self._periods = periods
        self._last_ps = -1
        self._distance_ps = 0

    def edge(self, ps: int) -> None:
        """A rising edge at ``ps``."""
        distance, before = ps - self._last_ps, self._distance_ps
        is_first, self._last_ps, self._distance_ps = self._last_ps < 0, ps, distance
        if is_first:
            self._distance_ps = 0
        elif distance == before:
            self.is_open = False
            if distance not in self._periods.values():
                self._warn(distance)

    def _warn(self, distance: int) -> None:
        known = ", ".join(f"{name} {period} ps" for name, period in self._periods.items())
        log.warning(
            "%s: CLOCK_PERIOD: the clock %s rises every %d ps, and the schema has %s: cycles and all that is counted per cycle will be wrong. "
            "Give the schema's clock the period of the signal",
            self._trace,
            self._clock,
            distance,
            known,
        )


IS_IT_DRIVEN = "Is it driven (cocotb.start_soon(Clock(...).start())), and is it the right signal?"


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
        self._was_high = _is_high(clock)
        self._signal = clock
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
            self._say(
                f"has not risen in {self._seconds:g} s of real time; nothing is sampled until it does. {IS_IT_DRIVEN}"
            )

    def interrupted(self) -> None:
        """An exception ends the trace: nothing more is said about the clock."""
        self._said = True

    def finish(self) -> None:
        """At the end of the trace."""
        if self._timer is not None:
            self._timer.cancel()
        if self.edges > 0:
            return
        if _is_high(self._signal) and not self._was_high:
            self._say(
                "rose for the first time in the timestep in which the trace was closed: nothing was sampled, "
                "because signals settle at the end of a timestep. Wait for another edge before leaving the block"
            )
        else:
            self._say(f"never rose: nothing was sampled. {IS_IT_DRIVEN}")

    def _say(self, what: str) -> None:
        if self._said:
            return
        self._said = True
        log.error("%s: the clock %s %s", self._trace, self._clock, what)


def _is_high(clock: Any) -> bool:
    """False for X and Z."""
    return str(getattr(clock, "value", "")) == "1"
