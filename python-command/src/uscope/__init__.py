"""The uscope command, run by the Node.js that pip installs."""

from .command import command_line
from .version import __version__

__all__ = ["__version__", "command_line"]
