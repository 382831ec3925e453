"""µScope traces from cocotb tests and any Python model. See the README."""

from .client import ClientTrace
from .errors import UscopeError
from .stats import TraceStats
from .trace import Trace
from .transactions import Transactions
from .version import __version__

__all__ = ["ClientTrace", "Trace", "TraceStats", "Transactions", "UscopeError", "__version__"]
