"""What one trace records: ops, events, strings and snapshots, and what of them is switched off (docs/reference/bridge-protocol.md#records)."""

from __future__ import annotations

import struct
from collections import OrderedDict
from operator import index as index_of
from typing import Dict, List, Optional, Sequence, Union

from . import records
from .codec import EventCodec
from .control import TESTBENCH, Control
from .errors import UscopeError
from .frames import Frames
from .records import MASK64
from .schema import Event, Field, FieldType, Schema, Storage
from .stream import Stream

MAX_CACHED_STRINGS = 65_536


class Recorder(Frames):
    """The side of a trace that the simulator's thread uses."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.schema = Schema()
        #: What messages call the schema.
        self.schema_name = ""
        self._strings: "OrderedDict[str, int]" = OrderedDict()
        self._storages: List[Storage] = []
        self._fields: List[List[Field]] = []
        self._properties: List[List[Field]] = []
        self._codecs: Dict[str, EventCodec] = {}
        self._codecs_by_id: List[EventCodec] = []

    def _start(self, stream: Stream, schema: Schema) -> None:
        self._learn(schema)
        self._store_into(stream)

    def _learn(self, schema: Schema) -> None:
        self.schema = schema
        self._storages = sorted(schema.storages.values(), key=lambda s: s.id)
        self._fields = [list(s.fields.values()) for s in self._storages]
        self._properties = [list(s.properties.values()) for s in self._storages]
        self._codecs = {path: EventCodec(event) for path, event in schema.events.items()}
        self._codecs_by_id = sorted(self._codecs.values(), key=lambda c: c.event.id)

    # -- control while running

    def disable(self, scope: str = "") -> None:
        """
        Stops recording the storages and events of a scope (``"core0/lsu"``) and of those below it; "" is the whole trace. Its sparse storages are
        empty from here on. What is left out is counted (`skipped`).
        """
        self._switch(scope, True)

    def enable(self, scope: str = "") -> None:
        """Records a scope and those below it again; what is watched is written anew."""
        self._switch(scope, False)

    def trigger(self, label: str = "") -> None:
        """Records a trigger, also while the trace is paused."""
        if self._can_control("trigger"):
            self._controls().trigger(label, TESTBENCH)

    @property
    def skipped(self) -> int:
        """Items left out because their scope was disabled."""
        return self._control.skipped if self._control is not None else 0

    def _switch(self, scope: str, off: bool) -> None:
        call = "disable" if off else "enable"
        if not self._can_control(call):
            return
        if self._controls().switch(scope or "", off, TESTBENCH):
            self._report_control()
        else:
            self.reject("OP_SCOPE", f'{call}: no scope "{scope}" that can be switched')

    def _can_control(self, call: str) -> bool:
        if self._closed and not self._untraced:
            self.reject("OP_HANDLE", f"{call} after close")
        if self._closed or self._untraced:
            return False
        if self._time is not None and self._tick() != self._raw_time:
            self.end_cycle()  # of a time that has passed: what follows belongs to the next
        return True

    def _controls(self) -> Control:
        if self._control is None:
            self._control = Control(self)
        return self._control

    def _obey(self) -> None:
        command, self._command = self._command, None
        if command is not None:
            self._controls().obey(command)
            self._report_control()

    def _report_control(self) -> None:
        """Reports to the daemon what is disabled."""

    def _resync(self) -> None:
        """A scope is recorded again: what is written only when it changes must be written once more."""

    def _filter_frame(self) -> bool:
        """Takes what is disabled out of the frame; False when nothing is left of it."""
        control, first = self._controls(), self._frame_at + 2
        end, self._extra, stays = control.filter(self._words, first, self._at)
        self._at = end
        if control.is_report_due:
            self._report_control()
        if stays:
            return True
        # strings stay, between frames
        self._words[first - 2 : end - 2] = self._words[first:end]
        self._at = end - 2
        self._after_frame(False)
        return False

    # -- items

    def _is_recording(self) -> bool:
        """Whether items are taken now; says why not."""
        if self._tick() != self._raw_time:
            self._meet_time()
        if self._untraced:
            return False
        if self._closed:
            self.reject("OP_HANDLE", "items after close")
        elif self._time is None:
            self.reject("OP_OUTSIDE_CYCLE", "items outside a cycle")
        return self._time is not None and not self._closed

    def _put_pairs(self, pairs: memoryview) -> None:
        """Many ops: bytes of whole op records."""
        done, size = 0, len(pairs)
        while done < size:
            if self._at > self._limit and not self._make_room(2):
                return
            at = self._at
            part = min(size - done, (max(self._limit - at, 0) // 2 + 1) * 16)
            self._bytes[at << 3 : (at << 3) + part] = pairs[done : done + part]
            self._at = at + (part >> 3)
            done += part

    def _put_events(self, events: memoryview, codec: EventCodec) -> None:
        """Many events of one type: bytes of whole records."""
        done, size, each = 0, len(events), codec.words * 8
        while done < size:
            if self._at + codec.words - 2 > self._limit and not self._make_room(codec.words):
                return
            at = self._at
            count = max((self._limit + 2 - at) // codec.words, 1)
            part = min(size - done, count * each)
            self._bytes[at << 3 : (at << 3) + part] = events[done : done + part]
            self._at = at + (part >> 3)
            self._extra += part // each * codec.extra
            done += part

    # -- values

    def unresolved_number(self, bits: str, where: str) -> Optional[int]:
        """What is recorded for a value with X or Z; None: nothing. :raises UscopeError: OP_VALUE"""
        raise UscopeError("OP_VALUE", f"{bits} is not a number: {where}")

    # -- ops

    def op(self, action: int, storage: Storage, slot: int, field: Optional[Field], value: int) -> None:
        """SET, CLEAR, ADD or PROP_SET (records.py); whatever this trace's schema does not allow is refused."""
        if self._tick() != self._raw_time:
            self._meet_time()
        if self._untraced:
            return
        if not (0 <= storage.id < len(self._storages) and self._storages[storage.id] is storage):
            self.reject("OP_HANDLE", f"{storage.path} is a storage of another trace")
        elif self._closed:
            self.reject("OP_HANDLE", f"an op on {storage.path} after close")
        elif self._time is None:
            self.reject("OP_OUTSIDE_CYCLE", f"an op on {storage.path} outside a cycle")
        elif action != records.PROP_SET and not 0 <= slot < storage.num_slots:
            self.reject("OP_SLOT", f"slot {slot} of {storage.path}, which has {storage.num_slots}")
        elif field is not None and action != records.ADD and not self._fits(field, value):
            self.reject("OP_VALUE", f"{value} does not fit {storage.path}.{field.name}")
        elif self._at <= self._limit or self._make_room(2):
            at = self._at
            index = field.index if field else 0
            self._words[at] = 1 | action << 8 | storage.id << 16 | slot << 32 | index << 48
            self._words[at + 1] = index_of(value) & MASK64
            self._at = at + 2

    def _fits(self, field: Field, value: int) -> bool:
        if field.type == FieldType.STRING_REF and value >= self._num_strings:
            return False
        return field.lowest <= value <= field.highest

    # The calls that generated code makes (docs/reference/cli/codegen.md), by number; hand-written code may use names, which costs a look-up each.

    def slot_set(self, storage: Union[int, str], slot: int, field: Union[int, str], value: int, /) -> None:
        """Sets a field of a slot. Storage and field by number or name; wrong ones are rejected: OP_STORAGE, OP_FIELD, OP_SLOT, OP_VALUE."""
        if storage.__class__ is field.__class__ is slot.__class__ is value.__class__ is int:
            self._op(records.SET, storage, slot, field, value)
        else:
            self._op_by_name(records.SET, storage, slot, field, value)

    def slot_add(self, storage: Union[int, str], slot: int, field: Union[int, str], delta: int, /) -> None:
        """Adds to a field of a slot; it wraps at its width. Names and rejections as `slot_set`."""
        if storage.__class__ is field.__class__ is slot.__class__ is delta.__class__ is int:
            self._op(records.ADD, storage, slot, field, delta)
        else:
            self._op_by_name(records.ADD, storage, slot, field, delta)

    def slot_clear(self, storage: Union[int, str], slot: int, /) -> None:
        """Empties a slot. Names and rejections as `slot_set`."""
        of = self._storage(storage) if isinstance(storage, int) else self._storage_named(storage)
        if of is not None and self._is_number(of, slot):
            self.op(records.CLEAR, of, slot, None, 0)

    def prop_set(self, storage: Union[int, str], prop: Union[int, str], value: int, /) -> None:
        """Sets a property of a storage. Names and rejections as `slot_set`; OP_PROPERTY."""
        if storage.__class__ is prop.__class__ is value.__class__ is int:
            self._op(records.PROP_SET, storage, 0, prop, value)
        else:
            self._op_by_name(records.PROP_SET, storage, 0, prop, value)

    def _op(self, action: int, storage: int, slot: int, member: int, value: int) -> None:
        of = self._storage(storage)
        if of is None:
            return
        is_property = action == records.PROP_SET
        members = (self._properties if is_property else self._fields)[storage]
        if 0 <= member < len(members):
            self.op(action, of, slot, members[member], value)
        elif is_property:
            self.reject("OP_PROPERTY", f"{of.path} has no property {member}")
        else:
            self.reject("OP_FIELD", f"{of.path} has no field {member}")

    def _op_by_name(
        self, action: int, storage: Union[int, str], slot: int, member: Union[int, str], value: int
    ) -> None:
        of = self._storage(storage) if isinstance(storage, int) else self._storage_named(storage)
        if of is None or not self._is_number(of, slot) or not self._is_number(of, value):
            return
        if isinstance(member, int):
            self._op(action, of.id, slot, member, value)
            return
        is_property = action == records.PROP_SET
        members = of.properties if is_property else of.fields
        found = members.get(member)
        if found is not None:
            self.op(action, of, slot, found, value)
            return
        code, what = ("OP_PROPERTY", "property") if is_property else ("OP_FIELD", "field")
        self.reject(code, f"{of.path} has no {what} {member!r}; it has {', '.join(members) or 'none'}")

    def _storage(self, number: int) -> Optional[Storage]:
        if 0 <= number < len(self._storages):
            return self._storages[number]
        self.reject("OP_STORAGE", f"the schema has no storage {number}")
        return None

    def _storage_named(self, path: str) -> Optional[Storage]:
        found = self.schema.storages.get(path)
        if found is None:
            known = list(self.schema.storages)
            more = f" and {len(known) - 8} more" if len(known) > 8 else ""
            self.reject("OP_STORAGE", f"the schema has no storage {path!r}; it has {', '.join(known[:8])}{more}")
        return found

    def _is_number(self, of: Storage, value: object) -> bool:
        if isinstance(value, int):
            return True
        self.reject("OP_VALUE", f"{of.path}: {value!r} is not a number")
        return False

    # -- events

    def event(self, event: Union[Event, int], values: Sequence[int], /) -> None:
        """An event, by its definition or number, with the values of all its fields in order; texts as indices of `string`."""
        number = event if isinstance(event, int) else event.id
        if not 0 <= number < len(self._codecs_by_id):
            self.reject("OP_EVENT", f"the schema has no event {number}")
            return
        codec = self._codecs_by_id[number]
        if codec.event is not event and not isinstance(event, int):
            self.reject("OP_HANDLE", f"{event.path} is an event of another trace")
        elif len(values) != len(codec.fields):
            self.reject("OP_PAYLOAD", f"{codec.event.path} has {len(codec.fields)} fields, not {len(values)}")
        else:
            self._put_event(codec, values)

    def _put_event(self, codec: EventCodec, values: Sequence[int]) -> None:
        if self._tick() != self._raw_time:
            self._meet_time()
        if self._closed:
            self.reject("OP_HANDLE", f"an event {codec.event.path} after close")
            return
        if self._time is None:
            self.reject("OP_OUTSIDE_CYCLE", f"an event {codec.event.path} outside a cycle")
            return
        if codec.checked and codec.problem(values, self._num_strings) and not self._untraced:
            self.reject("OP_VALUE", str(codec.problem(values, self._num_strings)))
            return
        if self._at + codec.words - 2 > self._limit and not self._make_room(codec.words):
            return
        at = self._at
        try:
            codec.record.pack_into(self._bytes, at << 3, 3, 0, codec.event.id, codec.size, *values)
        except struct.error:
            self.reject("OP_VALUE", codec.problem(values, self._num_strings) or "a value that cannot be packed")
            return
        self._at = at + codec.words
        self._extra += codec.extra

    # -- strings and snapshots

    def string(self, text: str, /) -> int:
        """
        The index of a text; the same text has the same index as long as it is remembered.

        :raises UscopeError: OP_STRING when it is too long or has no UTF-8 form; nothing of it is recorded
        """
        index = self._strings.get(text)
        if index is not None:
            self._strings.move_to_end(text)
            return index
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError as cause:
            raise UscopeError("OP_STRING", f"{self.name}: a text has no UTF-8 form: {cause}") from cause
        if len(data) > records.MAX_STRING_BYTES:
            detail = f"a text of {len(data)} bytes; at most {records.MAX_STRING_BYTES} are allowed"
            raise UscopeError("OP_STRING", f"{self.name}: {detail}: shorten it")
        if self._untraced or self._closed:
            return 0
        index = self._num_strings
        self._put_bytes(records.string(index, data))
        self._num_strings += 1
        self._strings[text] = index
        if len(self._strings) > MAX_CACHED_STRINGS:
            self._strings.popitem(last=False)
        return index

    def snapshot(self, storage: Storage, data: bytes) -> None:
        """The mask and slot data of a storage as it is now (docs/reference/format.md#checkpoints); between cycles. Replaces its state in the next checkpoint."""
        self.end_cycle()
        for at in range(0, len(data), records.MAX_STRING_BYTES):
            part = data[at : at + records.MAX_STRING_BYTES]
            self._put_bytes(records.snapshot(storage.id, at, len(data), part))
