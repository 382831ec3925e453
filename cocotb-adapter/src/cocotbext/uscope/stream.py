"""What one trace has produced and the daemon has not acknowledged: batches of whole frames (docs/bridge-protocol.md §6, §7)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Deque, Optional

BATCH_BYTES = 128 * 1024


@dataclass
class Batch:
    """Whole frames, from ``first_frame`` up to ``end_frame`` (exclusive)."""

    first_frame: int
    end_frame: int
    payload: bytes


class Stream:
    """Not thread-safe: its trace holds the lock."""

    def __init__(self) -> None:
        self.frames = 0
        self.strings = 0
        self.durable = 0
        self.held_bytes = 0
        self._open = bytearray()
        self._open_first = 0
        self._batches: Deque[Batch] = deque()
        self._sent = 0

    def append(self, frame: bytes) -> bool:
        """Takes the next frame, with what stands before it; True when a batch is full."""
        if not self._open:
            self._open_first = self.frames
        self._open += frame
        self.frames += 1
        self.held_bytes += len(frame)
        if len(self._open) < BATCH_BYTES:
            return False
        self.seal()
        return True

    def seal(self) -> None:
        """What has been appended may be sent."""
        if self._open:
            self._batches.append(Batch(self._open_first, self.frames, bytes(self._open)))
            self._open = bytearray()

    def next_unsent(self) -> Optional[Batch]:
        if self._sent >= len(self._batches):
            return None
        self._sent += 1
        return self._batches[self._sent - 1]

    def acknowledge(self, frames: int) -> None:
        """Frames below this are durable; batches of nothing else are forgotten."""
        self.durable = max(self.durable, frames)
        while self._batches and self._batches[0].end_frame <= frames:
            self.held_bytes -= len(self._batches.popleft().payload)
            self._sent = max(0, self._sent - 1)

    def restart(self, frames: int) -> None:
        """After a reconnect: everything that belongs to frames from ``frames`` on is sent again."""
        self.acknowledge(frames)
        self._sent = 0
