"""Written by scripts/version.mjs: the version of sdk/package.json."""

__version__ = "0.1.0"
