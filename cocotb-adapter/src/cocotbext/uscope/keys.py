"""
Keys for a daemon that lets only listed clients in (docs/explanation/threat-model.md): USCOPE_SERVER_KEY_FILE holds the daemon's public key,
USCOPE_KEY_FILE this client's pair, as `uscope keygen` writes them.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from typing import Optional

from .errors import UscopeError

MAX_FILE_BYTES = 4096
_KEY = r"([0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40})"


@dataclass(frozen=True)
class Keys:
    """Z85 texts of 40 characters."""

    server: bytes
    public: bytes
    secret: bytes


def read_keys() -> Optional[Keys]:
    """None when the environment names none. :raises UscopeError: BRIDGE_KEY, saying what is wrong with which file"""
    server = os.environ.get("USCOPE_SERVER_KEY_FILE")
    own = os.environ.get("USCOPE_KEY_FILE")
    if not server and not own:
        return None
    if not server or not own:
        detail = "USCOPE_SERVER_KEY_FILE and USCOPE_KEY_FILE are given together or not at all"
        raise UscopeError("BRIDGE_KEY", detail)
    return Keys(_read_key(server, "public"), _read_key(own, "public"), _read_key(own, "secret"))


def _read_key(path: str, kind: str) -> bytes:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(MAX_FILE_BYTES)
            mode = os.fstat(file.fileno()).st_mode
    except OSError as cause:
        detail = f"the key file {path} cannot be read: {cause.strerror}"
        raise UscopeError("BRIDGE_KEY", detail) from cause
    found = re.search(rf"^{kind}[ \t]+{_KEY}[ \t\r]*$", text, re.MULTILINE)
    if found is None:
        detail = f'{path} holds no {kind} key; make keys with "uscope keygen"'
        raise UscopeError("BRIDGE_KEY", detail)
    if kind == "secret" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UscopeError("BRIDGE_KEY", f"others may read the secret key in {path} (chmod 600)")
    return found[1].encode()
