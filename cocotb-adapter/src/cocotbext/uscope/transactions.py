"""
Transactions recorded by a test: streams hold generators, generators make transactions with attributes and relations.

The trace's schema needs the scope ``tr`` of ``sv/uscope_tr.yaml``; ``uscope convert run.uscope -o run.ftr`` makes an FTR file of the trace.
"""

from __future__ import annotations

import struct
from enum import Enum
from typing import Any, Mapping, Optional, Tuple, Union

from .errors import UscopeError
from .records import MASK64
from .trace import Trace

#: What an attribute may be: a bool, int, float, str or member of an Enum as it is, a cocotb value as digits, or a pair of the name of a type
#: and a value: ``("TIME", 3000)``.
Recordable = Union[bool, int, float, str, Enum, Tuple[str, Any], Any]

_BEGIN, _RECORD, _END = 0, 1, 2
_STREAM, _GENERATOR = 16, 17
#: Number of each type, and what its values are.
_TYPES = {
    "BOOLEAN": (0, bool),
    "ENUMERATION": (1, str),
    "INTEGER": (2, int),
    "UNSIGNED": (3, int),
    "FLOATING_POINT_NUMBER": (4, float),
    "BIT_VECTOR": (5, str),
    "LOGIC_VECTOR": (6, str),
    "FIXED_POINT_INTEGER": (7, float),
    "UNSIGNED_FIXED_POINT_INTEGER": (8, float),
    "POINTER": (9, int),
    "STRING": (10, str),
    "TIME": (11, int),
}


class Transactions:
    """
    Records transactions in a trace, at the times at which the calls are made. One per trace.

    >>> tr = Transactions(trace)
    >>> read = tr.stream("top.bus", "transactor").generator("read")
    >>> one = read.begin(addr=0x40, burst=True)
    >>> one.record(size=24)
    >>> one.end(result="ok")
    """

    def __init__(self, trace: Trace, scope: str = "tr") -> None:
        self._trace = trace
        self._scope = scope
        self._declared = 0
        self._begun = 0

    def stream(self, name: str, kind: str = "") -> "TransactionStream":
        self._declared += 1
        self._emit("dir", tag=_STREAM, id=self._declared, name=name, stream=0, kind=kind)
        return TransactionStream(self, self._declared)

    def relate(self, name: str, source: "Transaction", sink: "Transaction") -> None:
        """Either may have ended."""
        self._emit("rel", name=name, src=source.id, sink=sink.id, srcStream=source.stream, sinkStream=sink.stream)

    def _emit(self, event: str, **values: Any) -> None:
        self._trace.emit(f"{self._scope}/{event}", **values)

    def _now(self) -> int:
        trace = self._trace
        return trace._ps(trace._tick())

    def _attribute(self, tx: int, phase: int, name: str, value: Recordable) -> None:
        # The order of the events is that of the attributes: the index is 0.
        kind, bits, text = encoded(name, value)
        self._emit("attr", tx=tx, idx=0, phase=phase, name=name, type=kind, bits=bits, str=text)


class TransactionStream:
    """Made by `Transactions.stream`."""

    def __init__(self, transactions: Transactions, id: int) -> None:
        self._transactions = transactions
        self.id = id

    def generator(self, name: str) -> "TransactionGenerator":
        transactions = self._transactions
        transactions._declared += 1
        id = transactions._declared
        transactions._emit("dir", tag=_GENERATOR, id=id, name=name, stream=self.id, kind="")
        return TransactionGenerator(transactions, id, self.id)


class TransactionGenerator:
    """Made by `TransactionStream.generator`."""

    def __init__(self, transactions: Transactions, id: int, stream: int) -> None:
        self._transactions = transactions
        self.id = id
        self.stream = stream

    def begin(self, attributes: Optional[Mapping[str, Recordable]] = None, /, **more: Recordable) -> "Transaction":
        """
        Begins a transaction now.

        :raises UscopeError: OP_VALUE for a value that is none of its type
        """
        transactions = self._transactions
        given = {**(attributes or {}), **more}
        for name, value in given.items():
            encoded(name, value)
        transactions._begun += 1
        transaction = Transaction(transactions, transactions._begun, self.stream)
        transactions._emit(
            "begin", tx=transaction.id, stream=self.stream, generator=self.id, t=transactions._now()
        )
        transaction._tell(_BEGIN, given)
        return transaction


class Transaction:
    """Made by `TransactionGenerator.begin`."""

    def __init__(self, transactions: Transactions, id: int, stream: int) -> None:
        self._transactions = transactions
        self.id = id
        self.stream = stream
        self.ended = False

    def record(self, attributes: Optional[Mapping[str, Recordable]] = None, /, **more: Recordable) -> "Transaction":
        """:raises UscopeError: OP_VALUE for a value that is none of its type, OP_HANDLE after the end"""
        self._check_open()
        self._tell(_RECORD, {**(attributes or {}), **more})
        return self

    def end(self, attributes: Optional[Mapping[str, Recordable]] = None, /, **more: Recordable) -> None:
        """:raises UscopeError: OP_VALUE for a value that is none of its type, OP_HANDLE after the end"""
        self._check_open()
        self._tell(_END, {**(attributes or {}), **more})
        self.ended = True
        self._transactions._emit("end", tx=self.id, t=self._transactions._now())

    def relate(self, name: str, sink: "Transaction") -> "Transaction":
        """A relation of which this is the source."""
        self._transactions.relate(name, self, sink)
        return self

    def _tell(self, phase: int, attributes: Mapping[str, Recordable]) -> None:
        for name, value in attributes.items():
            self._transactions._attribute(self.id, phase, name, value)

    def _check_open(self) -> None:
        if self.ended:
            raise UscopeError("OP_HANDLE", f"transaction {self.id} has ended")


def encoded(name: str, value: Recordable) -> Tuple[int, int, str]:
    """Number of the type, bits, and text of a value. :raises UscopeError: OP_VALUE"""
    kind, plain = value if isinstance(value, tuple) else (_type_of(value), value)
    if kind not in _TYPES:
        raise UscopeError("OP_VALUE", f'attribute "{name}": there is no type "{kind}"; there are {", ".join(_TYPES)}')
    number, of = _TYPES[kind]
    try:
        if of is str:
            digits = kind in ("BIT_VECTOR", "LOGIC_VECTOR")
            text = plain.name if isinstance(plain, Enum) else str(plain)
            return number, 0, text.upper() if digits else text
        if of is float:
            return number, struct.unpack("<Q", struct.pack("<d", float(plain)))[0], ""
        bits = int(plain)
    except (TypeError, ValueError, OverflowError):
        raise UscopeError("OP_VALUE", f'attribute "{name}": {plain!r} does not fit {kind}') from None
    lowest, highest = (-(1 << 63), (1 << 63) - 1) if kind == "INTEGER" else (0, 1 if of is bool else MASK64)
    if not lowest <= bits <= highest:
        raise UscopeError("OP_VALUE", f'attribute "{name}": {bits} does not fit {kind}')
    return number, bits & MASK64, ""


def _type_of(value: Any) -> str:
    if isinstance(value, Enum):
        return "ENUMERATION"
    if isinstance(value, bool):
        return "BOOLEAN"
    if isinstance(value, int):
        return "UNSIGNED" if value >= 0 else "INTEGER"
    if isinstance(value, float):
        return "FLOATING_POINT_NUMBER"
    # Values of signals: digits, of which some may be X or Z.
    return "STRING" if isinstance(value, str) else "LOGIC_VECTOR"
