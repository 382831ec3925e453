"""What the daemon says at the end."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TraceStats:
    """What the daemon says of a finished trace."""

    path: str
    status: int
    frames: int
    items: int
    strings: int
    segments: int
    bytes: int
    total_time_ps: int
    rejected: int
    lost: int
