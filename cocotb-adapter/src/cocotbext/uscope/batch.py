"""
Many items in one call. Arrays of numpy are taken as they are, without a Python object per item; numpy itself is never imported here: who passes
one of its arrays has imported it.
"""

from __future__ import annotations

import sys
from array import array
from typing import Any, Callable, List, Mapping, Sequence, Union

from .codec import EventCodec, layout_of
from .constants import ACTION_SET, RECORD_EVENT, RECORD_OP
from .errors import UscopeError
from .recorder import Recorder
from .records import MASK64
from .schema import Field, FieldType, Storage



def _numpy_if_used(*values: Any) -> Any:
    """The numpy module when one of the values is its array."""
    numpy = sys.modules.get("numpy")
    return numpy if numpy is not None and any(isinstance(v, numpy.ndarray) for v in values) else None


def set_many(
    trace: Recorder, storage: Storage, field: Field, slots: Sequence[int], values: Union[Sequence[int], int]
) -> None:
    """SET of one field of many slots. :raises UscopeError: OP_VALUE for lengths that differ, texts"""
    if field.type == FieldType.STRING_REF:
        raise UscopeError("OP_VALUE", f"{storage.path}.{field.name} takes texts: set them one by one")
    head = RECORD_OP | ACTION_SET << 8 | storage.id << 16 | field.index << 48
    numpy = _numpy_if_used(slots, values)
    if numpy is not None:
        pairs = _numpy_pairs(numpy, trace, storage, field, head, slots, values)
    else:
        pairs = _plain_pairs(trace, storage, field, head, slots, values)
    if len(pairs) and trace._is_recording():
        trace._put_pairs(pairs)


def _check_lengths(where: str, slots: int, values: int) -> None:
    if slots != values:
        raise UscopeError("OP_VALUE", f"{where}: {slots} slots and {values} values")


def _plain_pairs(
    trace: Recorder, storage: Storage, field: Field, head: int, slots: Sequence[int], values: Any
) -> memoryview:
    values = [values] * len(slots) if isinstance(values, int) else values
    _check_lengths(f"{storage.path}.{field.name}", len(slots), len(values))
    if len(slots) == 0:
        return memoryview(b"")
    low, high, count = field.lowest, field.highest, storage.num_slots
    if not (0 <= min(slots) and max(slots) < count):
        kept = [(s, v) for s, v in zip(slots, values) if 0 <= s < count]
        wrong = next(s for s in slots if not 0 <= s < count)
        trace.reject("OP_SLOT", f"slot {wrong} of {storage.path}, which has {count}", len(slots) - len(kept))
        slots, values = [s for s, _ in kept], [v for _, v in kept]
    if values and not (low <= min(values) and max(values) <= high):
        kept = [(s, v) for s, v in zip(slots, values) if low <= v <= high]
        wrong = next(v for v in values if not low <= v <= high)
        trace.reject("OP_VALUE", f"{wrong} does not fit {storage.path}.{field.name}", len(slots) - len(kept))
        slots, values = [s for s, _ in kept], [v for _, v in kept]
    return _op_pairs(head, slots, values)


def _op_pairs(head: int, slots: Sequence[int], values: Sequence[int]) -> memoryview:
    """Records of SET ops, from sequences whose values have been checked."""
    words = array("Q", bytes(16 * len(slots)))
    words[0::2] = array("Q", [head | slot << 32 for slot in slots])
    words[1::2] = array("Q", [value & MASK64 for value in values])
    return memoryview(words).cast("B")


def _numpy_pairs(
    numpy: Any, trace: Recorder, storage: Storage, field: Field, head: int, slots: Any, values: Any
) -> memoryview:
    slots, values = numpy.asarray(slots), numpy.asarray(values)
    where = f"{storage.path}.{field.name}"
    if values.ndim == 0:
        values = numpy.full(slots.shape, values)
    if slots.ndim != 1 or values.ndim != 1:
        raise UscopeError("OP_VALUE", f"{where}: arrays must be one-dimensional")
    _check_lengths(where, len(slots), len(values))
    if len(slots) == 0:
        return memoryview(b"")
    if slots.dtype.kind not in "iub" or values.dtype.kind not in "iub":
        raise UscopeError("OP_VALUE", f"{where}: arrays must be of whole numbers, not {slots.dtype} and {values.dtype}")
    good = (slots >= 0) & (slots < storage.num_slots)
    if not good.all():
        detail = f"slot {slots[~good][0]} of {storage.path}, which has {storage.num_slots}"
        trace.reject("OP_SLOT", detail, int((~good).sum()))
        slots, values = slots[good], values[good]
    # bounds that the array's own type already keeps cannot be compared with in it
    low, high = _bounds_within(numpy, values, field)
    good = (values >= low) & (values <= high)
    if not good.all():
        trace.reject("OP_VALUE", f"{values[~good][0]} does not fit {where}", int((~good).sum()))
        slots, values = slots[good], values[good]
    words = numpy.empty((len(slots), 2), dtype="<u8")
    words[:, 0] = slots.astype("<u8") << numpy.uint64(32) | numpy.uint64(head)
    words[:, 1] = values.astype("<i8").view("<u8") if values.dtype.kind == "i" else values
    return memoryview(words.reshape(-1).view("u1"))


def _bounds_within(numpy: Any, values: Any, field: Field) -> Any:
    if values.dtype.kind == "b":
        return False, True
    kind = numpy.iinfo(values.dtype)
    return max(field.lowest, int(kind.min)), min(field.highest, int(kind.max))


def emit_many(
    trace: Recorder,
    codec: EventCodec,
    columns: Mapping[str, Any],
    numbers_of: Callable[[EventCodec, Field, Sequence[Any]], List[int]],
) -> None:
    """
    Many events of one type: each field a sequence, a numpy array, or one value for all; ``numbers_of`` resolves texts.

    :raises UscopeError: OP_FIELD for fields that are missing or unknown, OP_VALUE for lengths that differ
    """
    lengths = {len(c) for c in columns.values() if _is_column(c)}
    if len(lengths) != 1:
        detail = "no field is a sequence" if not lengths else f"sequences of {sorted(lengths)} values"
        raise UscopeError("OP_VALUE", f"{codec.event.path}: {detail}")
    count = lengths.pop()
    numpy = _numpy_if_used(*columns.values())
    texts = [f.name for _, f in codec.named if _holds_text(columns[f.name])]
    if numpy is not None and not texts:
        _emit_arrays(numpy, trace, codec, columns, count)
        return
    ordered: List[Any] = [
        columns[n] if _is_column(columns[n]) else [columns[n]] * count for n in codec.names
    ]
    for place, field in codec.named:
        ordered[place] = numbers_of(codec, field, ordered[place])
    for values in zip(*ordered):
        trace._put_event(codec, values)


def _is_column(column: Any) -> bool:
    return hasattr(column, "__len__") and not isinstance(column, str) and getattr(column, "ndim", 1) > 0


def _holds_text(column: Any) -> bool:
    return isinstance(column, str) or (_is_column(column) and any(isinstance(v, str) for v in column))


def _emit_arrays(numpy: Any, trace: Recorder, codec: EventCodec, columns: Mapping[str, Any], count: int) -> None:
    good = numpy.ones(count, dtype=bool)
    arrays = {}
    for field in codec.fields:
        array = numpy.asarray(columns[field.name])
        if array.dtype.kind not in "iub":
            raise UscopeError("OP_VALUE", f"{codec.event.path}.{field.name}: an array of {array.dtype}")
        low, high = _bounds_within(numpy, array, field)
        if field.type == FieldType.STRING_REF:
            high = min(high, trace._num_strings - 1)
        good &= (array >= low) & (array <= high)
        arrays[field.name] = array
    refused = int(count - good.sum())
    if refused:
        first = int(numpy.argmin(good))
        values = [int(a[first] if a.ndim else a) for a in arrays.values()]
        detail = codec.problem(values, trace._num_strings) or "a value does not fit"
        trace.reject("OP_VALUE", detail, refused)
    layout = layout_of(codec.fields)
    dtype = numpy.dtype(
        {
            "names": ["kind", "type", "size", *(f".{name}" for name, _, _ in layout)],
            "formats": ["<u2", "<u2", "<u4", *(form[0] + _NUMPY[form[1]] for _, form, _ in layout)],
            "offsets": [0, 2, 4, *(8 + at for _, _, at in layout)],
            "itemsize": codec.words * 8,
        }
    )
    items = numpy.zeros(count - refused, dtype=dtype)
    items["kind"], items["type"], items["size"] = RECORD_EVENT, codec.event.id, codec.size
    for name, array in arrays.items():
        items[f".{name}"] = array[good] if array.ndim else array
    if len(items) and trace._is_recording():
        trace._put_events(memoryview(items.view("u1").reshape(-1)), codec)


_NUMPY = {"B": "u1", "H": "u2", "I": "u4", "Q": "u8", "b": "i1", "h": "i2", "i": "i4", "q": "i8"}
