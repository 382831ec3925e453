"""Storages and events by name: ``t.core0.rob[3].entity_id = 5``, ``t.emit("core0/flush", entity_id=5, reason="mispredict")``."""

from __future__ import annotations

import difflib
from operator import index
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from . import batch, records
from .codec import EventCodec
from .errors import UscopeError
from .recorder import Recorder
from .schema import Field, FieldType, Schema, Storage


Value = Union[int, str, bool]


def resolve(trace: Recorder, field: Field, value: Value, where: str) -> Optional[int]:
    """
    A field's value as the integer that is recorded: enum names and texts become numbers, as do values of signals; None for one with X or Z that is
    skipped.

    :raises UscopeError: OP_VALUE
    """
    if isinstance(value, str):
        if field.type == FieldType.STRING_REF:
            return trace.string(value)
        if value in field.enum:
            return field.enum[value]
        known = ", ".join(field.enum) or "the field takes numbers"
        raise UscopeError("OP_VALUE", f'"{value}" is not a value of {where}.{field.name} ({known})')
    if isinstance(value, float):
        raise UscopeError("OP_VALUE", f"{value} is not a whole number: {where}.{field.name}")
    try:
        # a signal's value has no index in every version of cocotb
        return index(value) if hasattr(value, "__index__") else int(value)
    except ValueError:
        return trace.unresolved_number(str(value), f"{where}.{field.name}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean "rob"?`, or what there is."""
    names = list(known)
    close = difflib.get_close_matches(name, names, 1)
    if close:
        return f'; did you mean "{close[0]}"?'
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f" (it has {shown or 'none'})"


class Table:
    """What setting a field of a storage takes: for each the record's first word without the slot, and the bounds of the value."""

    __slots__ = ("storage", "set", "properties")

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.set = {f.name: (_head(records.SET, storage, f), *_bounds(f)) for f in storage.fields.values()}
        self.properties = {
            f.name: (_head(records.PROP_SET, storage, f), *_bounds(f)) for f in storage.properties.values()
        }


def _head(action: int, storage: Storage, field: Field) -> int:
    return 1 | action << 8 | storage.id << 16 | field.index << 48


def _bounds(field: Field) -> "tuple[int, int]":
    """The limits of values that may be stored as they are: none of fields that take texts, no negative ones, which need their two's complement."""
    return (0, -1) if field.type == FieldType.STRING_REF else (0, field.highest)


class Slot:
    """One slot: its fields are attributes to be set."""

    __slots__ = ("_trace", "_table", "_slot", "_bits")
    _trace: Recorder
    _table: Table
    _slot: int
    _bits: int

    def __init__(self, trace: Recorder, table: Table, slot: int) -> None:
        put = object.__setattr__
        put(self, "_trace", trace)
        put(self, "_table", table)
        put(self, "_slot", slot)
        # a slot that the storage does not have is left to `op`, which refuses it
        put(self, "_bits", slot << 32 if 0 <= slot < table.storage.num_slots else -1)

    def __setattr__(self, name: str, value: Value) -> None:
        entry = self._table.set.get(name)
        bits = self._bits
        if entry is None or bits < 0 or value.__class__ is not int or not entry[1] <= value <= entry[2]:
            self._set_slowly(name, value)
            return
        trace = self._trace
        if trace._tick() != trace._raw_time:
            trace._meet_time()
        at = trace._at
        if at > trace._limit:
            if not trace._make_room(2):
                return
            at = trace._at
        words = trace._words
        words[at] = entry[0] | bits
        words[at + 1] = value
        trace._at = at + 2

    def _set_slowly(self, name: str, value: Value) -> None:
        storage = self._table.storage
        field = _field(storage.fields, name, storage.path)
        number = resolve(self._trace, field, value, storage.path)
        if number is not None:
            self._trace.op(records.SET, storage, self._slot, field, number)

    def set(self, **values: Value) -> None:
        """Several fields at once."""
        for name, value in values.items():
            setattr(self, name, value)

    def add(self, **deltas: int) -> None:
        """Adds to fields, which wrap at their width."""
        storage = self._table.storage
        for name, delta in deltas.items():
            self._trace.op(records.ADD, storage, self._slot, _field(storage.fields, name, storage.path), delta)

    def clear(self) -> None:
        """Empties the slot."""
        self._trace.op(records.CLEAR, self._table.storage, self._slot, None, 0)


class StorageView:
    """A storage: index it for its slots; its properties are attributes to be set."""

    __slots__ = ("_trace", "_storage", "_table", "_slots")
    _trace: Recorder
    _storage: Storage
    _table: Table
    _slots: Dict[int, Slot]

    def __init__(self, trace: Recorder, storage: Storage) -> None:
        put = object.__setattr__
        put(self, "_trace", trace)
        put(self, "_storage", storage)
        put(self, "_table", Table(storage))
        put(self, "_slots", {})

    def __getitem__(self, slot: int) -> Slot:
        view = self._slots.get(slot)
        if view is None:
            view = self._slots[slot] = Slot(self._trace, self._table, slot)
        return view

    def __len__(self) -> int:
        return int(self._storage.num_slots)

    def __setattr__(self, name: str, value: Value) -> None:
        field = _field(self._storage.properties, name, self._storage.path)
        number = resolve(self._trace, field, value, self._storage.path)
        if number is not None:
            self._trace.op(records.PROP_SET, self._storage, 0, field, number)

    def put(self, slot: int, /, **values: Value) -> None:
        """
        Sets all fields of a slot: ``t.core0.rob.put(3, entity_id=5, done=False)``, as ``put`` of generated code does.

        :raises UscopeError: OP_FIELD when one is missing or unknown, and then nothing is set; OP_VALUE
        """
        names = self._storage.fields.keys()
        if values.keys() != names:
            raise _wrong_fields(self._storage.path, list(names), values)
        self[slot].set(**{name: values[name] for name in names})

    def add(self, delta: int = 1) -> None:
        """Counts: adds to the only field of the only slot."""
        fields = list(self._storage.fields.values())
        if self._storage.num_slots != 1 or len(fields) != 1:
            raise UscopeError("OP_FIELD", f"{self._storage.path} is not a counter (one slot, one field)")
        self._trace.op(records.ADD, self._storage, 0, fields[0], delta)

    def set_many(self, slots: Sequence[int], field: str, values: Union[Sequence[int], int]) -> None:
        """
        Sets a field of many slots in one call: ``t.core0.regs.set_many(range(32), "value", new)``. ``slots`` and ``values`` are sequences or
        one-dimensional numpy arrays of whole numbers, ``values`` may be one number for all. Pairs that the schema does not allow are refused and counted.
        """
        definition = _field(self._storage.fields, field, self._storage.path)
        batch.set_many(self._trace, self._storage, definition, slots, values)


class Scope:
    """A scope: its storages and scopes are attributes."""

    def __init__(self, trace: Recorder, schema: Schema, prefix: str) -> None:
        self._trace = trace
        self._schema = schema
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{self._prefix}{name}"
        storage = self._schema.storages.get(path)
        inside = f"{path}/"
        view: Any
        if storage is not None:
            view = StorageView(self._trace, storage)
        elif any(p.startswith(inside) for p in (*self._schema.storages, *self._schema.events)):
            view = Scope(self._trace, self._schema, inside)
        else:
            known = [self._prefix + child for child in dir(self)]
            hint = did_you_mean(path, known)
            raise AttributeError(
                f'the schema has no storage or scope "{path}"{hint} [{self._trace.schema_name}]'
            )
        self.__dict__[name] = view  # the next look-up finds it
        return view

    def __dir__(self) -> List[str]:
        rest = [p[len(self._prefix) :] for p in self._schema.storages if p.startswith(self._prefix)]
        return sorted({p.split("/")[0] for p in rest})


class Nothing:
    """What a trace without a schema has instead of scopes, storages and slots: it takes everything and does nothing."""

    def __getattr__(self, name: str) -> "Nothing":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        pass

    def __getitem__(self, slot: int) -> "Nothing":
        return self

    def __len__(self) -> int:
        return 0

    def __call__(self, *positional: object, **named: object) -> None:
        return None


def event_values(trace: Recorder, codec: EventCodec, values: Mapping[str, Value]) -> List[int]:
    """Values in the order of the event's fields. :raises UscopeError: OP_FIELD for one too many or too few"""
    names = codec.names
    if len(values) != len(names):
        raise _wrong_fields(codec.event.path, names, values)
    try:
        ordered: List[Any] = [values[name] for name in names]
    except KeyError:
        raise _wrong_fields(codec.event.path, names, values) from None
    for place, field in codec.named:
        if isinstance(ordered[place], str):
            ordered[place] = resolve(trace, field, ordered[place], codec.event.path)
    return ordered


def signal_values(trace: Recorder, codec: EventCodec, values: Sequence[Any]) -> Optional[List[int]]:
    """Values of signals among the fields as numbers; None when one has X or Z and is skipped: with it the whole event."""
    numbers = [resolve(trace, f, v, codec.event.path) for f, v in zip(codec.fields, values)]
    return None if None in numbers else [n for n in numbers if n is not None]


def _wrong_fields(where: str, names: Sequence[str], values: Mapping[str, object]) -> UscopeError:
    unknown = [name for name in values if name not in names]
    missing = [name for name in names if name not in values]
    return UscopeError(
        "OP_FIELD",
        f"{where} has the fields {', '.join(names)}"
        + (f"; unknown: {', '.join(unknown)}" if unknown else "")
        + (f"; missing: {', '.join(missing)}" if missing else ""),
    )


def _field(fields: Dict[str, Field], name: str, where: str) -> Field:
    field = fields.get(name)
    if field is None:
        raise AttributeError(f'{where} has no "{name}"{did_you_mean(name, fields)}')
    return field
