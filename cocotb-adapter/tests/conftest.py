"""A real daemon for the tests: the `uscope` command of this repository, on an ipc socket of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND = ["node", str(ROOT / "sdk" / "bin" / "uscope.js")]
VECTORS = ROOT / "test" / "vectors"


class Daemon:
    """`uscope serve`, which may be killed and started again."""

    def __init__(self, directory: Path) -> None:
        self.out = directory / "out"
        self.out.mkdir()
        self.socket = directory / "s.sock"
        self.endpoint = f"ipc://{self.socket}"
        self.process: "subprocess.Popen[bytes]"
        self.start()

    def start(self) -> None:
        arguments = [*COMMAND, "serve", "--endpoint", self.endpoint, "--out", str(self.out)]
        self.process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        limit = time.monotonic() + 30
        while not self.socket.exists():
            assert self.process.poll() is None and time.monotonic() < limit, "the daemon did not start"
            time.sleep(0.02)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.socket.unlink(missing_ok=True)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)

    def dump(self, name: str) -> List[Dict[str, Any]]:
        """Every item of a trace, as `uscope dump --jsonl` prints it."""
        arguments = [*COMMAND, "dump", "--jsonl", str(self.out / f"{name}.uscope")]
        text = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    started = Daemon(tmp_path)
    monkeypatch.setenv("USCOPE_ENDPOINT", started.endpoint)
    monkeypatch.delenv("USCOPE_SCHEMA", raising=False)
    yield started
    started.stop()


def load_vector(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


os.environ.pop("USCOPE_RUN_ID", None)
