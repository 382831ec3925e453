"""The schema that a test names by its path."""

from __future__ import annotations

import os
from typing import Optional, Union

from .errors import UscopeError

SchemaPath = Union[str, "os.PathLike[str]"]


def read_schema(path: Optional[str]) -> Optional[str]:
    """The text, None without a path: the daemon's schema is meant. :raises UscopeError: SCHEMA_FILE"""
    if not path:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as cause:
        raise UscopeError("SCHEMA_FILE", f"{path}: {cause}") from cause
