"""Events as they are packed, compiled once per type of event."""

from __future__ import annotations

import struct
from typing import List, Optional, Sequence, Tuple

from .schema import Event, Field, FieldType

_FORMATS = {1: "B", 2: "H", 3: "I", 4: "Q", 5: "b", 6: "h", 7: "i", 8: "q", 9: "B", 10: "I", 11: "B"}
_HEAD_BYTES = 8


class EventCodec:
    """
    ``words`` is the length of the record, its payload and padding in 8-byte words; ``extra`` how many records of 16 bytes it takes beyond one.

    ``named``: the fields that may be given as a text (enums and texts) with their places.
    """

    __slots__ = ("event", "fields", "names", "record", "words", "extra", "checked", "named", "size")

    def __init__(self, event: Event) -> None:
        self.event = event
        self.fields: Tuple[Field, ...] = tuple(event.fields.values())
        self.names: Tuple[str, ...] = tuple(event.fields)
        self.size = event.size
        length = -(-(_HEAD_BYTES + self.size) // 16) * 16
        layout = "".join(_FORMATS[f.type] for f in self.fields)
        self.record = struct.Struct(f"<BBHI{layout}{length - _HEAD_BYTES - self.size}x")
        self.words = length // 8
        self.extra = length // 16 - 1
        self.checked = [i for i, f in enumerate(self.fields) if f.type in (FieldType.BOOL, FieldType.STRING_REF)]
        self.named = [
            (i, f) for i, f in enumerate(self.fields) if f.type in (FieldType.ENUM, FieldType.STRING_REF)
        ]

    def problem(self, values: Sequence[int], num_strings: int) -> Optional[str]:
        """What is wrong with values that could not be packed; None when nothing is."""
        for field, value in zip(self.fields, values):
            if not isinstance(value, int) and not hasattr(value, "__index__"):
                return f"{value!r} is not a whole number for {self.event.path}.{field.name}"
            if not field.lowest <= value <= field.highest:
                return f"{value} does not fit {self.event.path}.{field.name}"
            if field.type == FieldType.STRING_REF and value >= num_strings:
                return f"{self.event.path}.{field.name}: there is no text with index {value}; texts have those of string()"
        return None


def layout_of(fields: Sequence[Field]) -> List[Tuple[str, str, int]]:
    """Name, format and offset in the payload of each field."""
    result = []
    at = 0
    for field in fields:
        result.append((field.name, "<" + _FORMATS[field.type], at))
        at += field.size
    return result
