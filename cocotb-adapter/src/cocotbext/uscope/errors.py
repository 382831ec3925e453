"""Errors carry a stable code; docs/reference/errors.md says for each what to do."""

from __future__ import annotations


class UscopeError(Exception):
    """What went wrong, as ``CODE: what, where, what to do``."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
