"""Storages and events by name: ``t.core0.rob[3].entity_id = 5``, ``t.emit("core0/flush", entity_id=5, reason="mispredict")``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Union

from . import records
from .errors import UscopeError
from .schema import Event, Field, FieldType, Schema, Storage

if TYPE_CHECKING:
    from .trace import Trace

Value = Union[int, str, bool]


def resolve(trace: "Trace", field: Field, value: Value, where: str) -> int:
    """A field's value as the integer that is recorded: enum names and texts become numbers. :raises UscopeError: OP_VALUE"""
    if isinstance(value, str):
        if field.type == FieldType.STRING_REF:
            return trace.string(value)
        if value in field.enum:
            return field.enum[value]
        known = ", ".join(field.enum) or "the field takes numbers"
        raise UscopeError("OP_VALUE", f'"{value}" is no value of {where}.{field.name} ({known})')
    return int(value)


class Slot:
    """One slot: its fields are attributes to be set."""

    __slots__ = ("_trace", "_storage", "_slot")
    _trace: "Trace"
    _storage: Storage
    _slot: int

    def __init__(self, trace: "Trace", storage: Storage, slot: int) -> None:
        object.__setattr__(self, "_trace", trace)
        object.__setattr__(self, "_storage", storage)
        object.__setattr__(self, "_slot", slot)

    def __setattr__(self, name: str, value: Value) -> None:
        field = _field(self._storage.fields, name, self._storage.path)
        number = value if type(value) is int else resolve(self._trace, field, value, self._storage.path)
        self._trace.op(records.SET, self._storage, self._slot, field, number)

    def set(self, **values: Value) -> None:
        """Several fields at once."""
        for name, value in values.items():
            setattr(self, name, value)

    def add(self, **deltas: int) -> None:
        """Adds to fields, which wrap at their width."""
        for name, delta in deltas.items():
            field = _field(self._storage.fields, name, self._storage.path)
            self._trace.op(records.ADD, self._storage, self._slot, field, delta)

    def clear(self) -> None:
        """Empties the slot."""
        self._trace.op(records.CLEAR, self._storage, self._slot, None, 0)


class StorageView:
    """A storage: index it for its slots; its properties are attributes to be set."""

    __slots__ = ("_trace", "_storage", "_slots")
    _trace: "Trace"
    _storage: Storage
    _slots: Dict[int, Slot]

    def __init__(self, trace: "Trace", storage: Storage) -> None:
        object.__setattr__(self, "_trace", trace)
        object.__setattr__(self, "_storage", storage)
        object.__setattr__(self, "_slots", {})

    def __getitem__(self, slot: int) -> Slot:
        view = self._slots.get(slot)
        if view is None:
            view = self._slots[slot] = Slot(self._trace, self._storage, slot)
        return view

    def __len__(self) -> int:
        return int(self._storage.num_slots)

    def __setattr__(self, name: str, value: Value) -> None:
        field = _field(self._storage.properties, name, self._storage.path)
        number = resolve(self._trace, field, value, self._storage.path)
        self._trace.op(records.PROP_SET, self._storage, 0, field, number)

    def add(self, delta: int = 1) -> None:
        """Counts: adds to the only field of the only slot."""
        fields = list(self._storage.fields.values())
        if self._storage.num_slots != 1 or len(fields) != 1:
            raise UscopeError("OP_FIELD", f"{self._storage.path} is no counter (one slot, one field)")
        self._trace.op(records.ADD, self._storage, 0, fields[0], delta)


class Scope:
    """A scope: its storages and scopes are attributes."""

    def __init__(self, trace: "Trace", schema: Schema, prefix: str) -> None:
        self._trace = trace
        self._schema = schema
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        path = f"{self._prefix}{name}"
        storage = self._schema.storages.get(path)
        inside = f"{path}/"
        view: Any
        if storage is not None:
            view = StorageView(self._trace, storage)
        elif any(p.startswith(inside) for p in (*self._schema.storages, *self._schema.events)):
            view = Scope(self._trace, self._schema, inside)
        else:
            raise AttributeError(f'the schema has no storage or scope "{path}"')
        self.__dict__[name] = view  # the next look-up finds it
        return view

    def __dir__(self) -> List[str]:
        rest = [p[len(self._prefix) :] for p in self._schema.storages if p.startswith(self._prefix)]
        return sorted({p.split("/")[0] for p in rest})


def event_values(trace: "Trace", event: Event, values: Mapping[str, Value]) -> List[int]:
    """Values in the order of the event's fields. :raises UscopeError: OP_FIELD for one too many or too few"""
    unknown = [name for name in values if name not in event.fields]
    missing = [name for name in event.fields if name not in values]
    if unknown or missing:
        raise UscopeError(
            "OP_FIELD",
            f"{event.path} has the fields {', '.join(event.fields)}"
            + (f"; unknown: {', '.join(unknown)}" if unknown else "")
            + (f"; missing: {', '.join(missing)}" if missing else ""),
        )
    return [resolve(trace, field, values[name], event.path) for name, field in event.fields.items()]


def _field(fields: Dict[str, Field], name: str, where: str) -> Field:
    field = fields.get(name)
    if field is None:
        raise AttributeError(f'{where} has no "{name}" (it has {", ".join(fields) or "none"})')
    return field
