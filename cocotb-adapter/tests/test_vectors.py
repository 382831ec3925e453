"""The golden messages that the C and the TypeScript implementation are checked against too."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict

import pytest
from conftest import VECTORS, load_vector

from cocotbext.uscope import records
from cocotbext.uscope.errors import UscopeError
from cocotbext.uscope.messages import data_message, decode_control, encode_control

BRIDGE = VECTORS / "bridge"


def _value(value: Any) -> Any:
    """JSON has 64-bit integers as decimal texts and bytes as {hex}."""
    if isinstance(value, dict):
        if set(value) == {"hex"}:
            return bytes.fromhex(value["hex"])
        return {key: _value(item) for key, item in value.items()}
    return value


NUMBERS = {
    "frames", "strings", "interval_ps", "rejected", "start", "items", "bytes", "total_time_ps", "lost", "segments",
}


def _message(message: Dict[str, Any]) -> Dict[str, Any]:
    def convert(key: str, value: Any) -> Any:
        if isinstance(value, dict) and "hex" not in value:
            counts = key == "reasons"
            return {k: int(v) if counts else convert(k, v) for k, v in value.items()}
        if key in NUMBERS and isinstance(value, str):
            return int(value)
        return _value(value)

    return {key: convert(key, value) for key, value in message.items()}


def _vectors(kind: str, bad: bool) -> list[Any]:
    paths = sorted(BRIDGE.glob("*.json"))
    chosen = [p for p in paths if p.name.startswith("bad-") == bad and load_vector(p).get("kind") == kind]
    return [pytest.param(p, id=p.stem) for p in chosen]


@pytest.mark.parametrize("path", _vectors("control", False))
def test_a_control_message_is_understood(path: Path) -> None:
    decoded = decode_control(path.with_suffix(".bin").read_bytes())
    expected = _message(load_vector(path)["message"])
    assert {key: decoded[key] for key in expected} == expected  # others are a later version's


CANONICAL = ["hello", "open", "open-minimal", "open-generated", "close", "ping", "flush"]


@pytest.mark.parametrize("name", [n for n in CANONICAL if (BRIDGE / f"{n}.json").exists()])
def test_a_control_message_is_written_byte_for_byte(name: str) -> None:
    message = _message(load_vector(BRIDGE / f"{name}.json")["message"])
    assert encode_control(message) == (BRIDGE / f"{name}.bin").read_bytes()


def test_a_data_header_is_written_byte_for_byte() -> None:
    vector = load_vector(BRIDGE / "data-header.json")["header"]
    header, _ = data_message(
        vector["trace"],
        vector["epoch"],
        int(vector["seq"]),
        int(vector["first_frame"]),
        bytes(vector["payload_size"]),
    )
    assert header == (BRIDGE / "data-header.bin").read_bytes()


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


@pytest.mark.parametrize("path", _vectors("records", False))
def test_records_are_written_byte_for_byte(path: Path) -> None:
    written = b"".join(_record(item) for item in load_vector(path)["records"])
    assert written == path.with_suffix(".bin").read_bytes()


@pytest.mark.parametrize("data", [b"", b"\xc0", b"\x80", b"\x81\xa1t\x01", b"\xc1", bytes(5_000_000)])
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(UscopeError, match="BRIDGE_MESSAGE"):
        decode_control(data)
