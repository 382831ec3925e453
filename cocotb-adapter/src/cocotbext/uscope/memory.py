"""
The memory that holds what one trace has recorded until it is durable (docs/reference/bridge-protocol.md#memory-of-a-local-client): chunks of one region, for local endpoints a
file in shared memory, from which the daemon takes the last cycles when this process is killed.

What is published is published by one aligned 8-byte store, made after the records by the same thread. That is enough without a barrier: the
daemon looks at a living client's records only when a message, sent by a system call, has named them, and at a dead one's when the kernel has
ended it, and then everything it had stored is there, in the order of its program. A store of a `memoryview` of format Q into aligned memory is
one store instruction, never one byte after the other, so no moment of death leaves half of a number.
"""

from __future__ import annotations

import logging
import mmap
import os
import struct
from collections import deque
from typing import Deque, Optional

from .config import NO_CORE, this_process
from .constants import MEMORY_CONTROL_BYTES, MEMORY_ENTRY_BYTES, MEMORY_LAYOUT_VERSION, MEMORY_MAGIC, RECORD_BYTES

log = logging.getLogger("cocotbext.uscope")

PAGE = 4096
MIN_CHUNK = 256 << 10
MAX_CHUNK = 1 << 20
#: The largest record, with its padding, and an END.
MAX_RECORD = RECORD_BYTES + 65_536 + RECORD_BYTES
#: Without the magic and version, which are written last.
_CONTROL = struct.Struct("<16s16sIIQIIQIIQQ208s")
_CONTROL_AT = 8
_DURABLE_WORD = 80 // 8
_ENTRY_WORDS = MEMORY_ENTRY_BYTES // 8
_UNRECORDED_WORD = 88 // 8
_UNKNOWN = (1 << 64) - 1


class Memory:
    """
    ``words`` and ``bytes`` are the whole region; places in it are counted in 8-byte words.

    :param directory: where the file is made; None: memory of this process alone
    """

    def __init__(
        self,
        credit: int,
        directory: Optional[str],
        session: bytes,
        run: Optional[bytes],
        core: Optional[int],
        name: str,
    ) -> None:
        chunk = MAX_CHUNK
        while chunk > MIN_CHUNK and chunk > credit // 16:
            chunk //= 2
        #: A frame grows to this, then it is split: it must be movable into the next chunk.
        self.frame_words = chunk // 8 // 8
        # Chunks are not filled to their end. There are enough for the whole credit even so: the daemon, which counts what it
        # has received, would otherwise wait for bytes that cannot come.
        worst = chunk - chunk // 8 - 2 * MAX_RECORD
        self.chunk_words = chunk // 8
        self.num_chunks = max(2, -(-credit // worst))
        table = MEMORY_CONTROL_BYTES + self.num_chunks * MEMORY_ENTRY_BYTES
        start = -(-table // PAGE) * PAGE
        self._start_word = start // 8
        self.path = ""
        size = start + self.num_chunks * chunk
        region = self._map_shared(size, directory, session, name) if directory else None
        self._region = region if region is not None else mmap.mmap(-1, size)
        # A child made by native code, without Python's fork handlers, must not write into its parent's records.
        self._region.madvise(mmap.MADV_DONTFORK)
        self.bytes = memoryview(self._region)
        self.words = self.bytes.cast("Q")
        self.free: Deque[int] = deque(range(self.num_chunks))
        self._describe(chunk, start, session, run, core, name)

    def _map_shared(self, size: int, directory: str, session: bytes, name: str) -> Optional[mmap.mmap]:
        path = f"{directory}/uscope-{session.hex()}.mem"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            fd = os.open(path, flags, 0o600)
        except OSError as cause:
            self._say_private(name, directory, cause)
            return None
        try:
            # it must exist before it is written: a write past what a small /dev/shm holds would kill the simulator
            os.posix_fallocate(fd, 0, size)
            region = mmap.mmap(fd, size)
        except OSError as cause:
            os.unlink(path)
            self._say_private(name, directory, cause)
            return None
        finally:
            os.close(fd)
        self.path = path
        return region

    @staticmethod
    def _say_private(name: str, directory: str, cause: OSError) -> None:
        log.warning(
            "%s: no shared memory in %s (%s): should this process be killed, its last cycles cannot be salvaged",
            name,
            directory,
            cause.strerror,
        )

    def _describe(
        self, chunk: int, start: int, session: bytes, run: Optional[bytes], core: Optional[int], name: str
    ) -> None:
        _CONTROL.pack_into(
            self.bytes,
            _CONTROL_AT,
            session,
            run or bytes(16),
            NO_CORE if core is None else core,
            *this_process(),
            chunk,
            self.num_chunks,
            start,
            MEMORY_ENTRY_BYTES,
            MEMORY_CONTROL_BYTES,
            0,
            0,
            name.encode(),
        )
        self.words[0] = MEMORY_MAGIC | MEMORY_LAYOUT_VERSION << 32

    def base(self, chunk: int) -> int:
        """The word at which a chunk begins."""
        return self._start_word + chunk * self.chunk_words

    def enter(self, chunk: int, order: int, ordinal: int) -> int:
        """
        Begins a chunk that holds nothing yet. Returns the word that says how many of its bytes are published.

        That is set to 0 first: a reader after our death must not take the old content for the new.
        """
        entry = MEMORY_CONTROL_BYTES // 8 + chunk * _ENTRY_WORDS
        words = self.words
        words[entry + 3] = 0
        words[entry + 2] = 0
        words[entry + 1] = ordinal
        words[entry] = order
        return entry + 3

    def set_durable(self, frames: int) -> None:
        self.words[_DURABLE_WORD] = frames

    def set_unrecorded_unknown(self) -> None:
        """From now on cycles are completed that nobody records or counts."""
        self.words[_UNRECORDED_WORD] = _UNKNOWN

    def unlink(self) -> None:
        path, self.path = self.path, ""
        if path:
            try:
                os.unlink(path)
            except FileNotFoundError:
                pass  # the daemon has drained and removed it
