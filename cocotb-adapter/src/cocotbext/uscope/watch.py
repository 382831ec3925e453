"""What is mirrored from the simulator: signals and memories, read as texts of bits, so that what has not changed costs one comparison."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from .errors import UscopeError
from .schema import Field, FieldType, Storage

_SIGNED = (FieldType.I8, FieldType.I16, FieldType.I32, FieldType.I64)
UNRESOLVED = ("skip", "zero", "error")
Sampled = Callable[[], str]


class Unresolved:
    """What is done with X and Z, and how often that was: by signal."""

    def __init__(self, policy: str) -> None:
        if policy not in UNRESOLVED:
            raise UscopeError("ENV_VALUE", f'unresolved="{policy}" is none of {", ".join(UNRESOLVED)}')
        self.policy = policy
        self.total = 0
        self.by_signal: Dict[str, int] = {}

    def number(self, handle: Any, bits: str, where: str) -> Optional[int]:
        """None: what was there stays. :raises UscopeError: OP_VALUE under the policy "error" """
        name = path_of(handle)
        self.total += 1
        self.by_signal[name] = self.by_signal.get(name, 0) + 1
        if self.policy == "error":
            raise UscopeError("OP_VALUE", f"{name} is {bits}: not a number for {where}")
        if self.policy == "skip":
            return None
        return int("".join(bit if bit in "01" else "0" for bit in bits) or "0", 2)

    def report(self) -> str:
        """One line for people."""
        most = sorted(self.by_signal.items(), key=lambda item: -item[1])
        shown = ", ".join(f"{name} {count}" for name, count in most[:4])
        more = f" and {len(most) - 4} more signals" if len(most) > 4 else ""
        done = {"skip": "skipped", "zero": "taken with those bits 0", "error": "refused"}[self.policy]
        return f"{self.total} samples had X or Z bits and were {done}: {shown}{more}"


class Watch:
    """Elements mirrored into one field, each into a slot."""

    def __init__(
        self,
        elements: Sequence[Any],
        storage: Storage,
        field: Field,
        first: int,
        valid: Optional[Sequence[Any]],
        unresolved: Unresolved,
    ) -> None:
        self.storage = storage
        self.field = field
        self.first = first
        self.elements = elements
        self._unresolved = unresolved
        self._read = [_reader(element) for element in elements]
        self._bits: List[Optional[str]] = [None] * len(elements)
        self._valid = valid
        self._read_valid = [_reader(signal) for signal in valid] if valid is not None else []
        self._held: List[Optional[bool]] = [None] * len(elements)

    def forget(self) -> None:
        """The next sample writes everything."""
        self._bits = [None] * len(self._bits)
        self._held = [None] * len(self._held)

    def sample(self, set_slot: Callable[[int, int], None], clear_slot: Callable[[int], None]) -> None:
        """Calls back for what has changed since the last sample."""
        if self._valid is not None:
            self._sample_valid(set_slot, clear_slot)
            return
        last = self._bits
        for index, read in enumerate(self._read):
            bits = read()
            if bits != last[index]:
                last[index] = bits
                self._changed(index, bits, set_slot)

    def _sample_valid(self, set_slot: Callable[[int, int], None], clear_slot: Callable[[int], None]) -> None:
        assert self._valid is not None
        for index, read in enumerate(self._read_valid):
            bits = read()
            number = _number(bits)
            if number is None:
                number = self._unresolved.number(self._valid[index], bits, self.storage.path)
            if number is None:
                continue
            if number:
                value = self._read[index]()
                if value != self._bits[index] or not self._held[index]:
                    self._bits[index] = value
                    self._changed(index, value, set_slot)
                self._held[index] = True
            else:
                if self._held[index]:
                    clear_slot(self.first + index)
                self._held[index] = False

    def _changed(self, index: int, bits: str, set_slot: Callable[[int, int], None]) -> None:
        number = _number(bits)
        if number is None:
            number = self._unresolved.number(self.elements[index], bits, self.storage.path)
        if number is None:
            self._bits[index] = None  # counted at every edge as long as it is so
            return
        if self.field.type in _SIGNED and not bits.startswith("=") and bits[:1] == "1":
            number -= 1 << len(bits)
        set_slot(self.first + index, number)


def _number(bits: str) -> Optional[int]:
    """A text of bits, or of a decimal number after `=`; None when some are X or Z."""
    if bits.startswith("="):
        return int(bits[1:])
    try:
        return int(bits, 2)
    except ValueError:
        return None


def _reader(handle: Any) -> Sampled:
    """The value as text: bits, or `=` and a decimal number for what the simulator has as an integer."""
    if isinstance(handle, Part):
        return handle.read
    try:
        read: Sampled = handle._handle.get_signal_val_binstr
        is_vector = hasattr(handle, "__len__") or "Logic" in type(handle).__name__
        if is_vector and isinstance(read(), str):
            return read
    except (AttributeError, TypeError, ValueError, RuntimeError):
        pass
    return lambda: _text_of(handle.value)


def _text_of(value: Any) -> str:
    bits = getattr(value, "binstr", None)
    if isinstance(bits, str):
        return bits
    try:
        return f"={int(value)}"
    except ValueError:
        return str(value)


class Part:
    """Some bits of a vector: an element of a packed array, or a member of a packed structure."""

    def __init__(self, signal: Any, high: int, low: int) -> None:
        self._path = f"{path_of(signal)}[{high}:{low}]"
        self._vector = _reader(signal)
        self._width = len(signal)
        self._from, self._to = self._width - 1 - high, self._width - low

    def read(self) -> str:
        bits = self._vector()
        if bits.startswith("="):
            bits = format(int(bits[1:]) & ((1 << self._width) - 1), f"0{self._width}b")
        return bits[self._from : self._to]


def parts_of(signal: Any, bits: Optional[Tuple[int, int]], width: Optional[int]) -> List[Part]:
    """The elements of a packed array from the right on, or of a part of it. :raises UscopeError: OP_VALUE"""
    try:
        total = len(signal)
    except TypeError:
        raise UscopeError("OP_VALUE", f"{path_of(signal)} is not a vector: it has no bits to take") from None
    high, low = bits or (total - 1, 0)
    if not 0 <= low <= high < total:
        raise UscopeError("OP_VALUE", f"bits ({high}, {low}) of {path_of(signal)}, which has {total}: write (high, low)")
    count = high - low + 1
    size = count if width is None else width
    if size < 1 or count % size:
        raise UscopeError("OP_VALUE", f"{count} bits of {path_of(signal)} are not a multiple of width={width}")
    return [Part(signal, at + size - 1, at) for at in range(low, high + 1, size)]


def refuse_bits_of_vector(elements: Sequence[Any], field: Field) -> None:
    """An index into a packed array is a bit of its vector, not an element. :raises UscopeError: OP_VALUE"""
    names = {path_of(one).rpartition("[")[0] for one in elements if type(one).__name__ == "LogicObject"}
    if len(elements) < 2 or len(names) != 1 or "" in names or field.type is FieldType.BOOL:
        return
    name = names.pop()
    raise UscopeError(
        "OP_VALUE",
        f"{len(elements)} single bits of {name} for a field that is wider: of a packed array give the whole, watch({name}, …, width=BITS)",
    )


def elements_of(signal: Any) -> Sequence[Any]:
    """The elements of a memory or list in order of their index, or the signal alone."""
    if isinstance(signal, (list, tuple)):
        return signal
    kind = type(signal).__name__
    if ("ArrayObject" not in kind or "Logic" in kind) and kind != "NonHierarchyIndexableObject":
        return [signal]
    return sorted(signal, key=_index)


def _index(handle: Any) -> int:
    name = str(getattr(handle, "_name", ""))
    digits = name[name.rfind("[") + 1 : name.rfind("]")]
    return int(digits) if digits.lstrip("-").isdigit() else 0


def path_of(handle: Any) -> str:
    """A handle's name for people."""
    if isinstance(handle, str):
        return handle
    return str(getattr(handle, "_path", None) or getattr(handle, "_name", None) or handle)
