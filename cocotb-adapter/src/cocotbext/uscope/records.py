"""The 16-byte records of the bridge protocol (docs/reference/bridge-protocol.md#records)."""

from __future__ import annotations

import struct

from .constants import (
    ACTION_ADD,
    ACTION_CLEAR,
    ACTION_PROP_SET,
    ACTION_SET,
    EVENT_INLINE_BYTES,
    RECORD_BEGIN,
    RECORD_BYTES,
    RECORD_END,
    RECORD_EVENT,
    RECORD_OP,
    RECORD_SNAPSHOT,
    RECORD_STRING,
)
from .constants import MAX_STRING_BYTES as MAX_STRING_BYTES

SET, CLEAR, ADD, PROP_SET = ACTION_SET, ACTION_CLEAR, ACTION_ADD, ACTION_PROP_SET
INLINE_BYTES = EVENT_INLINE_BYTES
MASK64 = (1 << 64) - 1

_OP = struct.Struct("<BBHHHQ")
_EVENT = struct.Struct("<BBHI8s")
_BEGIN = struct.Struct("<BBHIQ")
_END = struct.Struct("<BBHIQ")
_STRING = struct.Struct("<BBHIQ")


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % RECORD_BYTES)


def op(action: int, storage: int, slot: int, field: int, value: int) -> bytes:
    """SET, CLEAR, ADD or PROP_SET; negative values in two's complement."""
    return _OP.pack(RECORD_OP, action, storage, slot, field, value & MASK64)


def event(event_type: int, payload: bytes) -> bytes:
    """An event with its packed payload."""
    head = _EVENT.pack(RECORD_EVENT, 0, event_type, len(payload), payload[:INLINE_BYTES])
    return head + _padded(payload[INLINE_BYTES:])


def begin(time_ps: int) -> bytes:
    """The start of a frame, in ps."""
    return _BEGIN.pack(RECORD_BEGIN, 0, 0, 0, time_ps)


def end(items: int, ordinal: int) -> bytes:
    """The end of a frame."""
    return _END.pack(RECORD_END, 0, 0, items, ordinal)


def string(index: int, data: bytes) -> bytes:
    """A string, at most MAX_STRING_BYTES of UTF-8."""
    return _STRING.pack(RECORD_STRING, 0, 0, len(data), index) + _padded(data)


_SNAPSHOT = struct.Struct("<BBHIII")


def snapshot(storage: int, offset: int, total: int, part: bytes) -> bytes:
    """A part of a storage's mask and slot data; between frames."""
    return _SNAPSHOT.pack(RECORD_SNAPSHOT, 0, storage, len(part), offset, total) + _padded(part)
