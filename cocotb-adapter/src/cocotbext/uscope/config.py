"""What the environment says; the variables and their meaning are those of the C client."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import Optional, Tuple

from .constants import DEFAULT_CREDIT_BYTES

log = logging.getLogger("cocotbext.uscope")

NO_CORE = 0xFFFFFFFF
ON_FAILURE = ("stop", "continue")


@dataclass(frozen=True)
class Config:
    """Times in seconds, sizes in bytes."""

    endpoint: str
    #: False: the place where a daemon listens by default.
    endpoint_set: bool
    #: Whose daemon is trusted besides one's own and root's.
    peer_uid: Optional[int]
    open_timeout_s: float
    timeout_s: float
    credit: int
    core: Optional[int]
    on_failure: str
    #: Where shared memory is made; None: not at all.
    memory_directory: Optional[str]
    run: Optional[bytes]
    schema: Optional[str]


def read_config() -> Config:
    """Read anew for each trace: a test may change its environment."""
    endpoint = os.environ.get("USCOPE_ENDPOINT") or default_endpoint()
    shared = os.environ.get("USCOPE_SHM") != "0" and endpoint.startswith("ipc:")
    core = _number("USCOPE_CORE", NO_CORE, 0, NO_CORE)
    return Config(
        endpoint=endpoint,
        endpoint_set=bool(os.environ.get("USCOPE_ENDPOINT")),
        peer_uid=_number("USCOPE_PEER_UID", -1, 0, 0xFFFFFFFF) if os.environ.get("USCOPE_PEER_UID") else None,
        open_timeout_s=_number("USCOPE_OPEN_TIMEOUT_MS", 10_000, 0, 86_400_000) / 1000,
        timeout_s=_number("USCOPE_TIMEOUT_MS", 30_000, 100, 86_400_000) / 1000,
        credit=_number("USCOPE_CREDIT_MIB", DEFAULT_CREDIT_BYTES >> 20, 1, 4095) << 20,
        core=None if core == NO_CORE else core,
        on_failure=_policy(),
        memory_directory=(os.environ.get("USCOPE_SHM_DIR") or "/dev/shm") if shared else None,
        run=_run(),
        schema=os.environ.get("USCOPE_SCHEMA") or None,
    )


def default_endpoint() -> str:
    """The endpoint on which `uscope serve` listens by default."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    return f"ipc://{runtime}/uscope.sock" if runtime else f"ipc:///tmp/uscope-{os.getuid()}/uscope.sock"


def _number(name: str, fallback: int, least: int, most: int) -> int:
    text = os.environ.get(name)
    if not text:
        return fallback
    if text.isascii() and text.isdigit() and least <= int(text) <= most:
        return int(text)
    log.warning("%s=%s is not a number from %d to %d; %d is used", name, text, least, most, fallback)
    return fallback


def _policy() -> str:
    text = os.environ.get("USCOPE_ON_FAILURE") or "stop"
    if text in ON_FAILURE:
        return text
    log.warning('USCOPE_ON_FAILURE=%s is neither "stop" nor "continue"; "stop" is used', text)
    return "stop"


def _run() -> Optional[bytes]:
    text = os.environ.get("USCOPE_RUN_ID")
    if not text:
        return None
    try:
        run = bytes.fromhex(text)
    except ValueError:
        run = b""
    if len(run) == 16 and len(text) == 32:
        return run
    log.warning("USCOPE_RUN_ID=%s is not 32 hexadecimal digits; it is ignored", text)
    return None


def this_process() -> Tuple[int, int]:
    """A process id is used again; together with the start time it names one process."""
    return os.getpid(), _process_start()


def _process_start() -> int:
    """Start of this process in clock ticks since boot (`/proc/PID/stat` field 22); 0 when unknown."""
    try:
        with open("/proc/self/stat", "rb") as file:
            return int(file.read().rsplit(b")", 1)[1].split()[19])
    except (OSError, IndexError, ValueError):
        return 0
