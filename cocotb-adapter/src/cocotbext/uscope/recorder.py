"""Cycles, ops, events and strings of one trace, written as records into its memory (docs/bridge-protocol.md §5)."""

from __future__ import annotations

import logging
import struct
from array import array
from collections import OrderedDict
from operator import index as index_of
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from . import records
from .codec import EventCodec
from .control import TESTBENCH, Control
from .errors import UscopeError
from .memory import MAX_RECORD
from .schema import Event, Field, FieldType, Schema, Storage
from .stream import Stream

log = logging.getLogger("cocotbext.uscope")

MAX_CACHED_STRINGS = 65_536
MASK64 = (1 << 64) - 1
_BEGIN, _END = 0x10, 0x11
_NOWHERE = -1


def _no_time() -> Any:
    return None


class Recorder:
    """
    The side of a trace that the simulator's thread uses.

    Items are stored straight into the memory. ``_at`` is the next free word, ``_limit`` the greatest at which an op fits without asking
    `_make_room`; outside cycles it is below every place, so that the check for room is the check for the cycle, too.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.schema = Schema()
        self.rejected = 0
        self.reasons: Dict[str, int] = {}
        self._stream: Optional[Stream] = None
        self._words: memoryview
        self._bytes: memoryview
        self._at = self._frame_at = self._chunk_end = self._frame_words = 0
        self._limit = _NOWHERE
        self._extra = 0
        self._time: Optional[int] = None
        self._last_time = 0
        self._untraced = False
        self._closed = False
        #: The simulator's time as it counts it; another one begins a frame. Constant when frames are bracketed by hand.
        self._tick: Callable[[], Any] = _no_time
        self._raw_time: Any = None
        self._strings: "OrderedDict[str, int]" = OrderedDict()
        self._num_strings = 0
        self._storages: List[Storage] = []
        self._fields: List[List[Field]] = []
        self._properties: List[List[Field]] = []
        self._codecs: Dict[str, EventCodec] = {}
        self._codecs_by_id: List[EventCodec] = []
        #: Made when something is switched or marked; a command from outside waits in ``_command`` for the next frame.
        self._control: Optional[Control] = None
        self._command: Optional[Dict[str, Any]] = None

    # -- what the trace does for it

    def _next_chunk(self, keep_from: int) -> None:
        """Seals the chunk at a place and takes what stands behind it into the next; waits for room."""
        raise NotImplementedError

    def _after_frame(self, wake: bool) -> None:
        raise NotImplementedError

    def _meet_time(self) -> None:
        """The simulator's time has changed."""

    # -- set up

    @property
    def stream(self) -> Stream:
        assert self._stream is not None
        return self._stream

    def _start(self, stream: Stream, schema: Schema) -> None:
        self._stream = stream
        self._words = stream.memory.words
        self._bytes = stream.memory.bytes
        self._frame_words = stream.memory.frame_words
        self._learn(schema)
        self._enter(stream.take())

    def _enter(self, base: int) -> None:
        self._at = self._frame_at = base
        self._chunk_end = base + self.stream.memory.chunk_words

    def _learn(self, schema: Schema) -> None:
        self.schema = schema
        self._storages = sorted(schema.storages.values(), key=lambda s: s.id)
        self._fields = [list(s.fields.values()) for s in self._storages]
        self._properties = [list(s.properties.values()) for s in self._storages]
        self._codecs = {path: EventCodec(event) for path, event in schema.events.items()}
        self._codecs_by_id = sorted(self._codecs.values(), key=lambda c: c.event.id)

    def _go_untraced(self) -> None:
        """From now on everything is written into a place that nobody reads."""
        self._untraced = True
        size = 2 * self._frame_words + 2 * MAX_RECORD // 8 + 1024
        self._bytes = memoryview(bytearray(size * 8))
        self._words = self._bytes.cast("Q")
        self._at = self._frame_at = 0
        self._chunk_end = size
        if self._time is not None:
            self._set_limit()

    # -- cycles

    def begin_cycle(self, time_ps: int) -> None:
        """Starts a frame; one that is open is ended."""
        if self._time is not None:
            self.end_cycle()
        if self._closed:
            self.reject("OP_HANDLE", "it is closed; nothing can be recorded any more")
            return
        if time_ps < self._last_time:
            self.reject("OP_TIME", f"a cycle at {time_ps} ps after one at {self._last_time} ps")
            return
        self._begin(time_ps)

    def _begin(self, time_ps: int) -> None:
        if self._command is not None and not self._untraced:
            self._obey()
        if self._untraced:
            self._at = 0
        elif self._at + 4 > self._chunk_end:
            self._next_chunk(self._at)
        at = self._at
        words = self._words
        words[at] = _BEGIN
        words[at + 1] = time_ps
        self._frame_at = at
        self._at = at + 2
        self._extra = 0
        self._time = self._last_time = time_ps
        self._set_limit()
        if self._control is not None and self._control.has_marks:
            self._control.put_marks()

    def _set_limit(self) -> None:
        self._limit = min(self._frame_at + self._frame_words, self._chunk_end - 4)

    def end_cycle(self) -> None:
        """Ends the open frame, if there is one, and hands it on. Waits while the daemon has too much of this trace."""
        if self._time is None:
            return
        self._time = None
        self._limit = _NOWHERE
        self._raw_time = None
        self._finish_frame()

    def _finish_frame(self) -> None:
        if self._untraced or (self._control is not None and self._control.is_active and not self._filter_frame()):
            return
        at = self._at
        stream = self.stream
        words = self._words
        words[at] = _END | (((at - self._frame_at) >> 1) - 1 - self._extra) << 32
        words[at + 1] = stream.frames
        self._at = at = at + 2
        stream.strings = self._num_strings
        self._after_frame(stream.publish(at))

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
        """Tells the daemon what is disabled."""

    def _resync(self) -> None:
        """A scope is recorded again: what is written only when it changes must be written once more."""

    def _leave_frame(self) -> Optional[int]:
        """Ends the open frame, to begin another at the same time; that time."""
        time_ps = self._time
        if time_ps is not None:
            self._finish_frame()
            self._time = None
        return time_ps

    def _enter_frame(self, time_ps: Optional[int]) -> None:
        if time_ps is not None:
            self._begin(time_ps)

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

    @property
    def in_cycle(self) -> bool:
        return self._time is not None

    # -- room

    def _make_room(self, words: int) -> bool:
        """Room for a record of the open frame, and an END; False outside of cycles. A frame that is large is ended, and another begun."""
        time_ps = self._time
        if time_ps is None:
            self.reject("OP_OUTSIDE_CYCLE", "an item outside a cycle")
            return False
        if self._untraced:
            self._at = 0
            return True
        if self._at - self._frame_at >= self._frame_words:
            self._finish_frame()
            self._begin(time_ps)
        if self._at + words + 2 > self._chunk_end:
            self._next_chunk(self._frame_at)
            self._set_limit()
        return True

    def _reserve(self, words: int) -> int:
        """A place for a record that is no item; in a frame or before the next one."""
        if self._time is not None:
            if self._at + words - 2 > self._limit:
                self._make_room(words)
            self._extra += words >> 1
        elif self._untraced:
            self._at = 0
        elif self._at + words + 2 > self._chunk_end:
            self._next_chunk(self._at)
        at = self._at
        self._at = at + words
        return at

    def _put_bytes(self, record: bytes) -> None:
        at = self._reserve(len(record) >> 3)
        self._bytes[at << 3 : (at << 3) + len(record)] = record

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

    # -- refusing

    def reject(self, code: str, detail: str, count: int = 1) -> None:
        """An item or cycle is not recorded: counted, and said once per code."""
        if self._untraced:
            return
        self.rejected += count
        known = self.reasons.get(code, 0)
        self.reasons[code] = known + count
        if known == 0:
            log.error("%s: %s: %s (further ones are only counted)", self.name, code, detail)

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

    # The calls that generated code makes (docs/codegen.md): everything by number.

    def slot_set(self, storage: int, slot: int, field: int, value: int, /) -> None:
        """Sets a field of a slot."""
        of = self._storage(storage)
        if of is None:
            return
        if not 0 <= field < len(self._fields[storage]):
            self.reject("OP_FIELD", f"{of.path} has no field {field}")
            return
        self.op(records.SET, of, slot, self._fields[storage][field], value)

    def slot_add(self, storage: int, slot: int, field: int, delta: int, /) -> None:
        """Adds to a field of a slot; it wraps at its width."""
        of = self._storage(storage)
        if of is None:
            return
        if not 0 <= field < len(self._fields[storage]):
            self.reject("OP_FIELD", f"{of.path} has no field {field}")
            return
        self.op(records.ADD, of, slot, self._fields[storage][field], delta)

    def slot_clear(self, storage: int, slot: int, /) -> None:
        """Empties a slot."""
        of = self._storage(storage)
        if of is not None:
            self.op(records.CLEAR, of, slot, None, 0)

    def prop_set(self, storage: int, prop: int, value: int, /) -> None:
        """Sets a property of a storage."""
        of = self._storage(storage)
        if of is None:
            return
        if not 0 <= prop < len(self._properties[storage]):
            self.reject("OP_PROPERTY", f"{of.path} has no property {prop}")
            return
        self.op(records.PROP_SET, of, 0, self._properties[storage][prop], value)

    def _storage(self, number: int) -> Optional[Storage]:
        if 0 <= number < len(self._storages):
            return self._storages[number]
        self.reject("OP_STORAGE", f"the schema has no storage {number}")
        return None

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
        """The mask and slot data of a storage as it is now (format text §8.5); between cycles. Replaces its state in the next checkpoint."""
        self.end_cycle()
        part_bytes = 65_520
        for at in range(0, len(data), part_bytes):
            part = data[at : at + part_bytes]
            self._put_bytes(records.snapshot(storage.id, at, len(data), part))


def op_pairs(head: int, slots: Sequence[int], values: Sequence[int]) -> memoryview:
    """Records of SET ops, from sequences whose values have been checked."""
    words = array("Q", bytes(16 * len(slots)))
    words[0::2] = array("Q", [head | slot << 32 for slot in slots])
    words[1::2] = array("Q", [value & MASK64 for value in values])
    return memoryview(words).cast("B")
