"""Control messages and data headers of the bridge protocol (docs/reference/bridge-protocol.md#connection, #traces, #data-header)."""

from __future__ import annotations

import struct
from typing import Any, Dict, Optional

import msgpack

from .constants import DATA_HEADER_BYTES, DATA_IN_MEMORY, DATA_MAGIC, MAX_CONTROL_BYTES
from .errors import UscopeError


Message = Dict[str, Any]
_HEADER = struct.Struct("<IHHIIQQIIQ")


def encode_control(message: Message) -> bytes:
    """A control message; keys in the order given, those that are None left out."""
    packed = msgpack.packb({k: v for k, v in message.items() if v is not None}, use_bin_type=True)
    assert isinstance(packed, bytes)
    return packed


def decode_control(data: bytes) -> Message:
    """:raises UscopeError: BRIDGE_MESSAGE when it is not a map with a text ``t``."""
    if len(data) > MAX_CONTROL_BYTES:
        raise UscopeError("BRIDGE_MESSAGE", f"a control message of {len(data)} bytes")
    try:
        message = msgpack.unpackb(data, raw=False, strict_map_key=True)
    except Exception as cause:
        raise UscopeError("BRIDGE_MESSAGE", f"a control message that is not msgpack: {cause}") from cause
    if not isinstance(message, dict) or not isinstance(message.get("t"), str):
        raise UscopeError("BRIDGE_MESSAGE", "a control message that is not a map with a text `t`")
    return message


def data_header(
    trace: int, epoch: int, seq: int, first_frame: int, payload_size: int, place: Optional[int] = None
) -> bytes:
    """The header of a data message; with ``place``, an offset in the client's memory, the message is this header alone."""
    flags = 0 if place is None else DATA_IN_MEMORY
    return _HEADER.pack(
        DATA_MAGIC, flags, DATA_HEADER_BYTES, trace, epoch, seq, first_frame, payload_size, 0, place or 0
    )
