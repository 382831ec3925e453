"""A trace in a cocotb test: cycles are bracketed by the simulator's time, signals are watched on a clock."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple, Type

from . import batch, records
from .client import ClientTrace
from .clock import ClockWatch, PeriodCheck, SimulatorTime
from .codec import EventCodec
from .errors import UscopeError
from .model import Nothing, Scope, Value, did_you_mean, event_values, resolve, signal_values
from .schema import Field, Storage
from .schema_file import SchemaPath
from .stats import TraceStats
from .watch import Unresolved, Watch, elements_of, parts_of, refuse_bits_of_vector

log = logging.getLogger("cocotbext.uscope")

DEFAULT_CLOCK_TIMEOUT_S = 30.0


class Trace(ClientTrace):
    """
    ``async with Trace.open("core0", schema="core.yaml", clock=dut.clk) as t:``

    Every op and event belongs to the simulation time at which it is made; a new time begins a new frame, so there is nothing to bracket. On
    each rising edge of ``clock``, when all signals have settled (ReadOnly), what is watched is sampled and the frame ends.
    """

    def __init__(
        self,
        name: str,
        schema: Optional[SchemaPath] = None,
        *,
        clock: Any = None,
        unresolved: str = "skip",
        clock_timeout_s: float = DEFAULT_CLOCK_TIMEOUT_S,
        time: Optional[Callable[[], int]] = None,
        variables: Optional[Mapping[str, str]] = None,
        dut: Optional[Mapping[str, str]] = None,
        interval_ps: int = 0,
        schema_sha256: Optional[str] = None,
        core: Optional[int] = None,
        on_failure: Optional[str] = None,
    ) -> None:
        """
        :param unresolved: what is done with X and Z in watched signals: ``"skip"``, ``"zero"`` or ``"error"``
        :param clock_timeout_s: seconds of real time after which a clock that has not risen is reported; 0: at the end only
        :param time: the time in ps; without it, the simulator's
        :raises UscopeError: BRIDGE_*, SCHEMA_*; the others are :class:`ClientTrace`'s
        """
        self._unresolved = Unresolved(unresolved)
        super().__init__(
            name,
            schema,
            variables=variables,
            dut=dut,
            interval_ps=interval_ps,
            schema_sha256=schema_sha256,
            core=core,
            on_failure=on_failure,
        )
        self._clock = clock
        self._clock_timeout_s = clock_timeout_s
        self._clock_watch: Optional[ClockWatch] = None
        self._ps: Callable[[Any], int] = int
        if time is None:
            simulator = SimulatorTime()
            self._tick, self._ps = simulator.tick, simulator.ps
        else:
            self._tick = time
        self._watches: List[Watch] = []
        self._task: Any = None
        self._view: Any = Scope(self, self.schema, "") if self.was_opened else Nothing()

    @classmethod
    def open(
        cls,
        name: str,
        schema: Optional[SchemaPath] = None,
        *,
        schema_sha256: Optional[str] = None,
        variables: Optional[Mapping[str, str]] = None,
        **options: Any,
    ) -> "Trace":
        """See the class for the options."""
        return cls(name, schema, schema_sha256=schema_sha256, variables=variables, **options)

    @property
    def unresolved(self) -> int:
        """Samples that had X or Z bits."""
        return self._unresolved.total

    # -- life

    async def __aenter__(self) -> "Trace":
        if self._clock is not None and not self._untraced:
            import cocotb

            self._clock_watch = ClockWatch(self.name, self._clock, self._clock_timeout_s)
            self._task = cocotb.start_soon(self._follow_clock())
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if error is not None and self._clock_watch is not None:
            # What ended the block is the reason, and a clock that has not risen by then a consequence.
            self._clock_watch.interrupted()
        self.close()

    def close(self) -> Optional[TraceStats]:
        task, self._task = self._task, None
        if task is not None:
            import cocotb

            # cocotb 1.9 has `cancel`, too, but says that it will mean something else
            (task.kill if cocotb.__version__ < "2" else task.cancel)()
        watch, self._clock_watch = self._clock_watch, None
        if watch is not None:
            watch.finish()
        if self._unresolved.total and not self._closed:
            log.warning("%s: %s", self.name, self._unresolved.report())
        return super().close()

    async def _follow_clock(self) -> None:
        from cocotb.triggers import ReadOnly, RisingEdge

        edge, settled = RisingEdge(self._clock), ReadOnly()
        watch = self._clock_watch
        period = PeriodCheck(self.name, self._clock, self.schema.clocks)
        while True:
            await edge
            await settled
            if watch is not None:
                watch.edge()
            if period.is_open:
                period.edge(self._ps(self._tick()))
            self.sample()
            self.end_cycle()

    # -- what is recorded

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        view = getattr(self._view, name)
        self.__dict__[name] = view
        return view

    def _meet_time(self) -> None:
        tick = self._tick()
        self.begin_cycle(self._ps(tick))
        self._raw_time = tick if self._time is not None else None

    def emit(self, event: str, /, **values: Value) -> None:
        """An event by path, its fields by name: enum values and texts as such. :raises UscopeError: OP_EVENT, OP_FIELD, OP_VALUE"""
        codec = self._codecs.get(event)
        if codec is None:
            codec = self._codec(event)
            if codec is None:
                return
        ordered = event_values(self, codec, values)
        for value in ordered:
            if value.__class__ is not int and not isinstance(value, int):
                numbers = signal_values(self, codec, ordered)
                if numbers is None:
                    return
                ordered = numbers
                break
        self._put_event(codec, ordered)

    def unresolved_number(self, bits: str, where: str) -> Optional[int]:
        """What is recorded for a value with X or Z. :raises UscopeError: OP_VALUE under the policy "error" """
        return self._unresolved.number("a value set by the test", bits, where)

    def emit_many(self, event: str, /, **columns: Any) -> None:
        """
        Many events of one type in one call: each field is a sequence or numpy array, or one value for all.

        :raises UscopeError: OP_EVENT, OP_FIELD, OP_VALUE
        """
        codec = self._codec(event)
        if codec is not None:
            event_values(self, codec, {name: 0 for name in columns})  # names only
            batch.emit_many(self, codec, columns, self.numbers_of)

    def _codec(self, event: str) -> Optional[EventCodec]:
        """None when there is no schema because nothing is traced."""
        codec = self._codecs.get(event)
        if codec is None and self.was_opened:
            hint = did_you_mean(event, self._codecs)
            raise UscopeError("OP_EVENT", f'the schema has no event "{event}"{hint} [{self.schema_name}]')
        return codec

    def numbers_of(self, codec: EventCodec, field: Field, column: Sequence[Value]) -> List[int]:
        """A column of an event with enum names and texts as numbers."""
        where = codec.event.path
        return [(resolve(self, field, v, where) or 0) if isinstance(v, str) else v for v in column]

    # -- watching

    def watch(
        self,
        signal: Any,
        storage: str,
        field: Optional[str] = None,
        *,
        slot: int = 0,
        valid: Any = None,
        bits: Optional[Tuple[int, int]] = None,
        width: Optional[int] = None,
    ) -> None:
        """
        Mirrors a signal into ``storage[slot].field`` on every edge of the clock, or a memory (an array of signals) into the slots from
        ``slot`` on. Only changes are written. ``valid``, a signal or an array of them, says which slots hold something; the others are cleared.

        Of a packed array or structure the simulator has one vector. ``width``: it is an array of elements of that many bits, element 0
        on the right, each for a slot. ``bits``: the part from bit ``bits[0]`` down to bit ``bits[1]``, counted from 0 on the right.

        :raises UscopeError: OP_STORAGE, OP_FIELD, OP_SLOT for what the schema does not have; OP_VALUE for parts that the signal does not
            have, and for a list of bits of a vector where elements were meant
        """
        if not self.was_opened:
            return
        definition = self._storage_at(storage)
        name = field or next(iter(definition.fields))
        if name not in definition.fields:
            hint = did_you_mean(name, definition.fields)
            raise UscopeError("OP_FIELD", f'{storage} has no field "{name}"{hint} [{self.schema_name}]')
        elements = parts_of(signal, bits, width) if bits or width else elements_of(signal)
        refuse_bits_of_vector(elements, definition.fields[name])
        if slot < 0 or slot + len(elements) > definition.num_slots:
            raise UscopeError(
                "OP_SLOT", f"{len(elements)} elements from slot {slot} on; {storage} has {definition.num_slots}"
            )
        valids = None if valid is None else elements_of(valid)
        if valids is not None and len(valids) != len(elements):
            raise UscopeError("OP_SLOT", f"{len(valids)} valid signals for {len(elements)} elements")
        self._watches.append(
            Watch(elements, definition, definition.fields[name], slot, valids, self._unresolved)
        )

    def _storage_at(self, path: str) -> Storage:
        definition = self.schema.storages.get(path)
        if definition is None:
            hint = did_you_mean(path, self.schema.storages)
            raise UscopeError("OP_STORAGE", f'the schema has no storage "{path}"{hint} [{self.schema_name}]')
        return definition

    def sample(self) -> None:
        """Mirrors what is watched now; the clock's edges do it by themselves."""
        if self._untraced or self._closed:
            return
        for watch in self._watches:
            self._sample(watch)

    def _resync(self) -> None:
        for watch in self._watches:
            watch.forget()

    def _sample(self, watch: Watch) -> None:
        storage, field, op = watch.storage, watch.field, self.op

        def set_slot(slot: int, value: int) -> None:
            op(records.SET, storage, slot, field, value)

        def clear_slot(slot: int) -> None:
            op(records.CLEAR, storage, slot, None, 0)

        watch.sample(set_slot, clear_slot)
