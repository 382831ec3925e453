"""The connections of this process: traces of one daemon share one."""

from __future__ import annotations

import os
import threading
from typing import Dict, Optional, Tuple

from .config import Config
from .connection import Connection
from .errors import UscopeError
from .keys import Keys, read_keys
from .peer import check_descriptors, check_place

_connections: Dict[Tuple[str, float, Optional[Keys]], Connection] = {}
_lock = threading.Lock()


def connection_for(config: Config) -> Connection:
    """The connection to the daemon. :raises UscopeError: BRIDGE_NO_DAEMON, what keys raise"""
    if not config.endpoint_set and not os.path.exists(config.endpoint[len("ipc://") :]):
        raise UscopeError(
            "BRIDGE_NO_DAEMON",
            "USCOPE_ENDPOINT is not set: run this under `uscope run -- COMMAND`, or start `uscope serve` "
            "(for a run without a trace: USCOPE_ON_FAILURE=continue)",
        )
    check_place(config)
    which = (config.endpoint, config.timeout_s, read_keys())
    with _lock:
        if which not in _connections:
            check_descriptors()
            _connections[which] = Connection(config, which[2])
        return _connections[which]


def forget_connections() -> None:
    """In a forked child, whose parent has their threads."""
    global _lock
    _lock = threading.Lock()
    _connections.clear()
