"""The golden messages that the C and the TypeScript implementation are checked against too."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict

import pytest
from conftest import VECTORS, load_vector

from cocotbext.uscope import records
from cocotbext.uscope.errors import UscopeError
from cocotbext.uscope.messages import data_header, decode_control, encode_control

BRIDGE = VECTORS / "bridge"


def _value(value: Any) -> Any:
    """JSON has 64-bit integers as decimal texts and bytes as {hex}."""
    if isinstance(value, dict):
        if set(value) == {"hex"}:
            return bytes.fromhex(value["hex"])
        return {key: _value(item) for key, item in value.items()}
    return value


def _as_in_json(value: Any, like: Any) -> Any:
    """A decoded value in the form of the golden one, which has 64-bit integers as decimal texts; keys of a later version are left out."""
    if isinstance(like, dict) and isinstance(value, dict):
        return {key: _as_in_json(value.get(key), like[key]) for key in like}
    if isinstance(like, list) and isinstance(value, list) and len(like) == len(value):
        return [_as_in_json(v, l) for v, l in zip(value, like)]
    return str(value) if isinstance(like, str) and isinstance(value, int) else value


def _message(golden: Any, decoded: Any) -> Any:
    """A golden message with numbers where the decoded one has them."""
    if isinstance(golden, dict) and isinstance(decoded, dict):
        return {key: _message(item, decoded.get(key)) for key, item in golden.items()}
    return int(golden) if isinstance(decoded, int) and isinstance(golden, str) else golden


def _vectors(kind: str, bad: bool) -> list[Any]:
    paths = sorted(BRIDGE.glob("*.json"))
    chosen = [p for p in paths if p.name.startswith("bad-") == bad and load_vector(p).get("kind") == kind]
    return [pytest.param(p, id=p.stem) for p in chosen]


@pytest.mark.parametrize("path", _vectors("control", False))
def test_a_control_message_is_understood(path: Path) -> None:
    decoded = decode_control(path.with_suffix(".bin").read_bytes())
    expected = _value(load_vector(path)["message"])
    assert _as_in_json(decoded, expected) == expected


CANONICAL = ["hello", "open", "open-minimal", "open-generated", "close", "ping", "flush"]


@pytest.mark.parametrize("name", [n for n in CANONICAL if (BRIDGE / f"{n}.json").exists()])
def test_a_control_message_is_written_byte_for_byte(name: str) -> None:
    data = (BRIDGE / f"{name}.bin").read_bytes()
    message = _message(_value(load_vector(BRIDGE / f"{name}.json")["message"]), decode_control(data))
    assert encode_control(message) == data


@pytest.mark.parametrize("name", ["data-header", "data-header-in-memory"])
def test_a_data_header_is_written_byte_for_byte(name: str) -> None:
    vector = load_vector(BRIDGE / f"{name}.json")["header"]
    header = data_header(
        vector["trace"],
        vector["epoch"],
        int(vector["seq"]),
        int(vector["first_frame"]),
        vector["payload_size"],
        int(vector["offset"]) if "offset" in vector else None,
    )
    if vector["flags"] & 1:  # CONTINUES: this client's frames never do
        header = header[:4] + bytes([header[4] | 1]) + header[5:]
    assert header == (BRIDGE / f"{name}.bin").read_bytes()


def _record(item: Dict[str, Any]) -> bytes:
    kind = item["kind"]
    if kind == "begin":
        return records.begin(int(item["time_ps"]))
    if kind == "end":
        return records.end(item["items"], int(item["ordinal"]))
    if kind == "string":
        return records.string(int(item["index"]), item["text"].encode())
    if kind == "event":
        return records.event(item["type"], bytes.fromhex(item["payload"]["hex"]))
    if kind == "snapshot":
        part = bytes.fromhex(item["part"]["hex"])
        return records.snapshot(item["storage"], item["offset"], item["total"], part)
    return records.op(item["action"], item["storage"], item["slot"], item["field"], int(item["value"]))


# This client writes no lane records.
PLAIN = [path for path in _vectors("records", False) if "unfolded" not in load_vector(path.values[0])]


@pytest.mark.parametrize("path", PLAIN)
def test_records_are_written_byte_for_byte(path: Path) -> None:
    written = b"".join(_record(item) for item in load_vector(path)["records"])
    assert written == path.with_suffix(".bin").read_bytes()


@pytest.mark.parametrize("data", [b"", b"\xc0", b"\x80", b"\x81\xa1t\x01", b"\xc1", bytes(5_000_000)])
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(UscopeError, match="BRIDGE_MESSAGE"):
        decode_control(data)
