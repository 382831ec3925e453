"""Version of this package: that of sdk/package.json (scripts/version.mjs writes it)."""

__version__ = "0.1.0"
