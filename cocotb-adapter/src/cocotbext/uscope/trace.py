"""A trace in a cocotb test: cycles are bracketed by the simulator's time, signals are watched on a clock."""

from __future__ import annotations

import dataclasses
import logging
from types import TracebackType
from typing import Any, Callable, Dict, List, Optional, Sequence, Type

from . import records
from .client import ClientTrace, TraceStats
from .errors import UscopeError
from .model import Scope, Value, event_values
from .schema import Field, Storage

log = logging.getLogger("cocotbext.uscope")

UNRESOLVED = ("skip", "zero", "error")


def _sim_time_ps() -> int:
    from cocotb.utils import get_sim_time

    return int(get_sim_time("ps"))


@dataclasses.dataclass
class _Watch:
    """Elements mirrored into one field, each into a slot; ``last`` is what was recorded."""

    elements: Sequence[Any]
    storage: Storage
    field: Field
    first: int
    valid: Optional[Sequence[Any]]
    last: Dict[int, Optional[int]] = dataclasses.field(default_factory=dict)


class Trace(ClientTrace):
    """
    ``async with Trace.open("core0", schema="core.yaml", clock=dut.clk) as t:``

    Every op and event belongs to the simulation time at which it is made; a new time begins a new frame, so there is nothing to bracket. On
    each rising edge of ``clock``, when all signals have settled (ReadOnly), what is watched is sampled and the frame ends.
    """

    def __init__(
        self,
        name: str,
        schema: Optional[str] = None,
        *,
        clock: Any = None,
        unresolved: str = "skip",
        time: Callable[[], int] = _sim_time_ps,
        **options: Any,
    ) -> None:
        if unresolved not in UNRESOLVED:
            raise UscopeError("ENV_VALUE", f'unresolved="{unresolved}" is none of {", ".join(UNRESOLVED)}')
        super().__init__(name, schema, **options)
        self._clock = clock
        self._policy = unresolved
        self._now = time
        self._watches: List[_Watch] = []
        self._task: Any = None
        self._edges = 0
        self._view = Scope(self, self.schema, "")
        #: Samples that had X or Z bits.
        self.unresolved = 0

    @classmethod
    def open(cls, name: str, schema: Optional[str] = None, **options: Any) -> "Trace":
        """See the class and :class:`ClientTrace` for the options."""
        return cls(name, schema, **options)

    # -- life

    async def __aenter__(self) -> "Trace":
        if self._clock is not None:
            import cocotb

            self._task = cocotb.start_soon(self._follow_clock())
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def close(self) -> Optional[TraceStats]:
        task, self._task = self._task, None
        if task is not None:
            stop = getattr(task, "cancel", None) or task.kill
            stop()
            if self._edges == 0:
                log.warning("%s: the clock never rose: nothing was sampled", self.name)
        return super().close()

    async def _follow_clock(self) -> None:
        from cocotb.triggers import ReadOnly, RisingEdge

        while True:
            await RisingEdge(self._clock)
            await ReadOnly()
            self._edges += 1
            for watch in self._watches:
                self._sample(watch)
            self.end_cycle()

    # -- what is recorded

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        view = getattr(self._view, name)
        self.__dict__[name] = view
        return view

    def op(self, action: int, storage: Storage, slot: int, field: Optional[Field], value: int) -> None:
        self._meet_time()
        super().op(action, storage, slot, field, value)

    def _meet_time(self) -> None:
        now = self._now()
        if self._time == now:
            return
        self.begin_cycle(now)

    def emit(self, event: str, **values: Value) -> None:
        """An event by path, its fields by name: enum values and texts as such. :raises UscopeError: OP_EVENT, OP_FIELD, OP_VALUE"""
        definition = self.schema.events.get(event)
        if definition is None:
            known = ", ".join(self.schema.events)
            raise UscopeError("OP_EVENT", f'the schema has no event "{event}" (it has {known})')
        self._meet_time()
        self.event(definition, event_values(self, definition, values))

    # -- watching

    def watch(
        self,
        signal: Any,
        storage: str,
        field: Optional[str] = None,
        *,
        slot: int = 0,
        valid: Any = None,
    ) -> None:
        """
        Mirrors a signal into ``storage[slot].field`` on every edge of the clock, or a memory (an array of signals) into the slots from
        ``slot`` on. Only changes are written. ``valid``, a signal or an array of them, says which slots hold something; the others are cleared.

        :raises UscopeError: OP_STORAGE, OP_FIELD, OP_SLOT for what the schema does not have
        """
        definition = self.schema.storages.get(storage)
        if definition is None:
            raise UscopeError("OP_STORAGE", f'the schema has no storage "{storage}"')
        name = field or next(iter(definition.fields))
        if name not in definition.fields:
            raise UscopeError("OP_FIELD", f'{storage} has no field "{name}"')
        elements = _elements(signal)
        if slot < 0 or slot + len(elements) > definition.num_slots:
            raise UscopeError(
                "OP_SLOT", f"{len(elements)} elements from slot {slot} on; {storage} has {definition.num_slots}"
            )
        valids = None if valid is None else _elements(valid)
        if valids is not None and len(valids) != len(elements):
            raise UscopeError("OP_SLOT", f"{len(valids)} valid signals for {len(elements)} elements")
        self._watches.append(_Watch(elements, definition, definition.fields[name], slot, valids))

    def _sample(self, watch: _Watch) -> None:
        for index, element in enumerate(watch.elements):
            slot = watch.first + index
            if watch.valid is not None and not self._read(watch.valid[index], watch):
                if watch.last.get(slot) is not None:
                    self.op(records.CLEAR, watch.storage, slot, None, 0)
                watch.last[slot] = None
                continue
            value = self._read(element, watch)
            if value is None or watch.last.get(slot, _NEVER) == value:
                continue
            watch.last[slot] = value
            self.op(records.SET, watch.storage, slot, watch.field, value)

    def _read(self, handle: Any, watch: _Watch) -> Optional[int]:
        """None when it has X or Z bits and those are skipped."""
        value = handle.value
        try:
            return int(value)
        except ValueError:
            self.unresolved += 1
        if self._policy == "error":
            where = getattr(handle, "_path", getattr(handle, "_name", "a signal"))
            raise UscopeError("OP_VALUE", f"{where} is {value}: not a number for {watch.storage.path}")
        if self._policy == "skip":
            return None
        return int("".join(bit if bit in "01" else "0" for bit in str(value)) or "0", 2)


_NEVER = object()


def _elements(signal: Any) -> Sequence[Any]:
    """The elements of a memory or list in order of their index, or the signal alone."""
    if isinstance(signal, (list, tuple)):
        return signal
    if "ArrayObject" not in type(signal).__name__ or "Logic" in type(signal).__name__:
        if type(signal).__name__ != "NonHierarchyIndexableObject":
            return [signal]
    return sorted(signal, key=_index)


def _index(handle: Any) -> int:
    name = str(getattr(handle, "_name", ""))
    digits = name[name.rfind("[") + 1 : name.rfind("]")]
    return int(digits) if digits.lstrip("-").isdigit() else 0

