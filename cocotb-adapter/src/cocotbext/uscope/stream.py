"""
What one trace has recorded and the daemon has not acknowledged: chunks of memory in the order of the stream (docs/reference/bridge-protocol.md#credit, #acknowledgement-and-resume).

The trace's thread appends and publishes; the connection's thread sends what is published and gives chunks back. What both change is changed
under the connection's lock; a published place is a single reference, which needs none.
"""

from __future__ import annotations

from collections import deque
from typing import Deque, Optional, Tuple

from .memory import Memory

#: The connection's thread is woken for that much; it looks by itself every few milliseconds.
WAKE_WORDS = 8192


class Chunk:
    """Whole frames; everything after the last one belongs to the next. Places are words of the memory."""

    __slots__ = ("index", "base", "first_frame", "published", "sealed", "end_frame")

    def __init__(self, index: int, base: int, first_frame: int) -> None:
        self.index = index
        self.base = base
        self.first_frame = first_frame
        #: The end of what may be sent, and the ordinal of the frame that is next there.
        self.published: Tuple[int, int] = (base, first_frame)
        self.sealed = False
        #: Of a sealed chunk: it is free when frames below this are durable.
        self.end_frame = 0


class Slice:
    """Records for one message."""

    __slots__ = ("start", "end", "first_frame")

    def __init__(self, start: int, end: int, first_frame: int) -> None:
        self.start = start
        self.end = end
        self.first_frame = first_frame


class Stream:
    """Made when the daemon has said how much may be held."""

    def __init__(self, memory: Memory, credit: int) -> None:
        self.memory = memory
        self.credit = credit
        self.frames = 0
        self.strings = 0
        self.durable = 0
        self.held_bytes = 0
        self._order = 0
        self._chunks: Deque[Chunk] = deque()
        self._send_chunk = 0
        self._send_at: Optional[int] = None
        self._send_frame = 0
        self.current = Chunk(-1, 0, 0)
        self._published_word = 0
        self.woken_at = 0

    # -- by the trace's thread

    def has_room(self) -> bool:
        """A chunk can be taken. With the lock held."""
        return bool(self.memory.free) and self.held_bytes + self.memory.chunk_words * 8 <= self.credit

    def seal(self, end: int, trailing: bool) -> None:
        """Ends the current chunk at the word ``end``; ``trailing``: something follows its last frame. With the lock held."""
        chunk = self.current
        used = (end - chunk.base) * 8
        self.held_bytes += used
        self.memory.words[self._published_word] = used
        chunk.end_frame = self.frames + trailing
        chunk.published = (end, self.frames)
        chunk.sealed = True

    def take(self) -> int:
        """Begins the next chunk; returns its first word. With the lock held, when there is room."""
        index = self.memory.free.popleft()
        chunk = Chunk(index, self.memory.base(index), self.frames)
        self._order += 1
        self._published_word = self.memory.enter(index, self._order, self.frames)
        self.current = chunk
        self.woken_at = chunk.base
        self._chunks.append(chunk)
        return chunk.base

    def publish(self, end: int) -> bool:
        """The frame that ends at the word ``end`` is complete; True when the sender should be woken."""
        self.frames += 1
        chunk = self.current
        self.memory.words[self._published_word] = (end - chunk.base) << 3
        chunk.published = (end, self.frames)
        if end - self.woken_at < WAKE_WORDS:
            return False
        self.woken_at = end
        return True

    # -- by the connection's thread, with the lock held

    def next_slice(self) -> Optional[Slice]:
        """The next records that have not been sent."""
        while self._send_chunk < len(self._chunks):
            chunk = self._chunks[self._send_chunk]
            sealed = chunk.sealed
            end, next_frame = chunk.published
            start = chunk.base if self._send_at is None else self._send_at
            if end > start:
                first = chunk.first_frame if start == chunk.base else self._send_frame
                self._send_at = end
                self._send_frame = next_frame
                return Slice(start, end, first)
            if not sealed:
                return None
            self._send_chunk += 1
            self._send_at = None
        return None

    def acknowledge(self, frames: int) -> None:
        """Frames below this are durable; chunks that hold only such frames are free."""
        if frames > self.durable:
            self.durable = frames
            self.memory.set_durable(frames)
        while self._chunks and self._chunks[0].sealed and self._chunks[0].end_frame <= self.durable:
            chunk = self._chunks.popleft()
            self.held_bytes -= (chunk.published[0] - chunk.base) * 8
            self.memory.free.append(chunk.index)
            if self._send_chunk > 0:
                self._send_chunk -= 1
            else:
                self._send_at = None

    def restart(self, frames: int) -> None:
        """After a reconnect: everything that belongs to frames from ``frames`` on is sent again, and what is in the same chunk."""
        self._send_chunk = len(self._chunks)
        self._send_at = None
        self.acknowledge(frames)
        self._send_chunk = 0
