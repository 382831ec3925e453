"""Whom this client gives its trace to: other users of the machine must not be able to listen in the daemon's place."""

from __future__ import annotations

import os
import socket
import stat
import struct
from typing import List, Optional

from .config import Config
from .errors import UscopeError

IPC = "ipc://"
#: What a context with one socket, its monitor and the pipe that wakes its thread takes is 13.
DESCRIPTORS = 24


def check_place(config: Config) -> None:
    """Directory and socket are those of a trusted user; nothing there is fine. :raises UscopeError: BRIDGE_ENDPOINT"""
    path = _path_of(config.endpoint)
    if path is None:
        return
    directory = _lstat(os.path.dirname(path)) if not config.endpoint_set else None
    if directory is not None:
        # The default place is in a directory where others may create names first.
        _check_owner(config, os.path.dirname(path), directory.st_uid)
        if not stat.S_ISDIR(directory.st_mode) or directory.st_mode & 0o077:
            raise UscopeError(
                "BRIDGE_ENDPOINT",
                f"{os.path.dirname(path)} is not a directory that only you may enter (chmod 700); "
                "remove it, or set USCOPE_ENDPOINT",
            )
    there = _lstat(path)
    if there is not None:
        _check_owner(config, path, there.st_uid)
        if not stat.S_ISSOCK(there.st_mode):
            raise UscopeError("BRIDGE_ENDPOINT", f"{path} is not a socket")


def check_peer(config: Config, descriptor: int) -> None:
    """A trusted user's process is at the other end of a connection. :raises UscopeError: BRIDGE_ENDPOINT"""
    if _path_of(config.endpoint) is None:
        return
    try:
        with socket.socket(fileno=os.dup(descriptor)) as end:
            uid = struct.unpack("3i", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
    except OSError:
        return  # a connection that is closed already is noticed otherwise
    _check_owner(config, f"the process that listens at {config.endpoint}", uid)


def check_descriptors() -> None:
    """ZeroMQ ends the process where it lacks file descriptors. :raises UscopeError: ENV_DESCRIPTORS"""
    taken: List[int] = []
    try:
        while len(taken) < DESCRIPTORS:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    except OSError as cause:
        raise UscopeError(
            "ENV_DESCRIPTORS",
            "this process has too few file descriptors left for a connection to the daemon; close some, or raise the "
            "limit (ulimit -n)",
        ) from cause
    finally:
        for descriptor in taken:
            os.close(descriptor)


def _path_of(endpoint: str) -> Optional[str]:
    path = endpoint[len(IPC) :] if endpoint.startswith(IPC) else ""
    return path if path.startswith("/") else None


def _lstat(path: str) -> Optional[os.stat_result]:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _check_owner(config: Config, what: str, uid: int) -> None:
    if uid in (os.geteuid(), 0, config.peer_uid):
        return
    raise UscopeError(
        "BRIDGE_ENDPOINT",
        f"{what} belongs to user {uid}: another user of this machine may listen there. Run this under "
        f"`uscope run -- COMMAND`, set USCOPE_ENDPOINT, or trust that user with USCOPE_PEER_UID={uid}",
    )
