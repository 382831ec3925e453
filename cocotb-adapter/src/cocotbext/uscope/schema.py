"""The binary schema chunk (docs/reference/format.md#schema) as the daemon sends it: names, ids and field types."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Dict, List, Tuple

from .constants import FieldType as FieldType
from .errors import UscopeError

NO_ID = 0xFFFF

_SIZES = {1: 1, 2: 2, 3: 4, 4: 8, 5: 1, 6: 2, 7: 4, 8: 8, 9: 1, 10: 4, 11: 1}
_SIGNED = (FieldType.I8, FieldType.I16, FieldType.I32, FieldType.I64)


@dataclass(frozen=True)
class Field:
    """A field of a slot or event, or a property of a storage."""

    name: str
    index: int
    type: FieldType
    enum: Dict[str, int]

    #: Packed size in bytes; least and greatest value.
    size: int = 0
    lowest: int = 0
    highest: int = 0

    def __post_init__(self) -> None:
        size = _SIZES[self.type]
        signed = self.type in _SIGNED
        highest = 1 if self.type == FieldType.BOOL else (1 << (8 * size - signed)) - 1
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "lowest", -highest - 1 if signed else 0)
        object.__setattr__(self, "highest", highest)


@dataclass(frozen=True)
class Storage:
    """An array of slots of the same fields. ``path`` is the names of its scopes and its own, without the root."""

    path: str
    id: int
    num_slots: int
    sparse: bool
    fields: Dict[str, Field]
    properties: Dict[str, Field]


@dataclass(frozen=True)
class Event:
    """A type of events; ``size`` is that of its packed payload in bytes."""

    path: str
    id: int
    fields: Dict[str, Field]

    @property
    def size(self) -> int:
        return sum(f.size for f in self.fields.values())


@dataclass(frozen=True)
class Schema:
    """Everything a client needs of a schema, by path."""

    storages: Dict[str, Storage] = field(default_factory=dict)
    events: Dict[str, Event] = field(default_factory=dict)
    #: Period of each clock in ps, in the schema's order; 0: not known.
    clocks: Dict[str, int] = field(default_factory=dict)


class _Reader:
    """Walks the chunk; every access is checked against its end."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.pool = 0

    def take(self, layout: str) -> Tuple[int, ...]:
        size = struct.calcsize("<" + layout)
        if self.at + size > len(self.data):
            raise UscopeError("FORMAT_TRUNCATED", f"the schema ends inside a definition at byte {self.at}")
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += size
        return values

    def text(self, offset: int) -> str:
        start = self.pool + offset
        end = self.data.find(b"\0", start)
        if start > len(self.data) or end < 0:
            raise UscopeError("FORMAT_STRING_POOL", f"no text at {offset} of the schema's string pool")
        return self.data[start:end].decode("utf-8", "replace")

    def fields(self, count: int, enums: List[Dict[str, int]]) -> Dict[str, Field]:
        result: Dict[str, Field] = {}
        for index in range(count):
            name, kind, enum, _, _, _ = self.take("HBBBBH")
            if kind not in _SIZES:
                raise UscopeError("FORMAT_VALUE", f"field type {kind} is not known")
            values = enums[enum] if kind == FieldType.ENUM and enum < len(enums) else {}
            result[self.text(name)] = Field(self.text(name), index, FieldType(kind), values)
        return result


_SPARSE = 0x0001


def decode_schema(data: bytes) -> Schema:
    """Reads the payload of the schema chunk. :raises UscopeError: FORMAT_* when it makes no sense."""
    reader = _Reader(data)
    num_enums, num_clocks, num_scopes, num_storages, num_events, _, pool = reader.take("BBHHHHH")
    reader.pool = pool
    schema = Schema()
    for _ in range(num_clocks):
        name, _, period_ps = reader.take("HHI")
        schema.clocks[reader.text(name)] = period_ps
    scopes: Dict[int, Tuple[str, int]] = {}
    for _ in range(num_scopes):
        name, scope_id, parent, *_rest = reader.take("HHHHBBBB")
        scopes[scope_id] = (reader.text(name), parent)
    enums = [_enum(reader) for _ in range(num_enums)]
    for _ in range(num_storages):
        name, storage_id, slots, fields, flags, scope, properties, _ = reader.take("HHHHHHHH")
        path = _path(scopes, scope, reader.text(name))
        schema.storages[path] = Storage(
            path,
            storage_id,
            slots,
            bool(flags & _SPARSE),
            reader.fields(fields, enums),
            reader.fields(properties, enums),
        )
    for _ in range(num_events):
        name, event_id, fields, scope = reader.take("HHHH")
        path = _path(scopes, scope, reader.text(name))
        schema.events[path] = Event(path, event_id, reader.fields(fields, enums))
    return schema


def _enum(reader: _Reader) -> Dict[str, int]:
    _, count, _ = reader.take("HBB")
    values = [reader.take("BBH") for _ in range(count)]
    return {reader.text(name): value for value, _, name in values}


def _path(scopes: Dict[int, Tuple[str, int]], scope: int, name: str) -> str:
    parts = [name]
    seen = set()
    while scope in scopes and scope not in seen:
        seen.add(scope)
        text, parent = scopes[scope]
        if parent == NO_ID:
            break
        parts.append(text)
        scope = parent
    return "/".join(reversed(parts))
