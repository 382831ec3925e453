"""A real daemon for the tests: the `uscope` command of this repository, on a separate ipc socket."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND = ["node", str(ROOT / "sdk" / "bin" / "uscope.js")]
VECTORS = ROOT / "test" / "vectors"


class Daemon:
    """`uscope serve`, which may be killed and started again."""

    def __init__(self, directory: Path, endpoint: str = "", options: Sequence[str] = ()) -> None:
        self.is_untouched = True
        self.out = directory / "out"
        self.out.mkdir()
        self.socket = directory / "s.sock"
        self.endpoint = endpoint or f"ipc://{self.socket}"
        self.options = options
        self.process: "subprocess.Popen[str]"
        self.start()

    def start(self) -> None:
        """Returns when it listens, and says where: port * is any."""
        arguments = [*COMMAND, "serve", "--endpoint", self.endpoint, "--out", str(self.out), *self.options]
        self.process = subprocess.Popen(
            arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        said = ""
        for line in self.process.stderr:
            said += line
            found = re.search(r"listening on ((?:ipc|tcp)://[^\s,]+)", line)
            if found:
                self.endpoint = found[1]
                break
        else:
            raise AssertionError(f"the daemon did not start: {said}")
        self._drain = threading.Thread(target=self.process.stderr.read, daemon=True)
        self._drain.start()

    def kill(self) -> None:
        self.is_untouched = False
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        if self.socket.exists():
            self.socket.unlink()

    def stop(self) -> None:
        self.is_untouched = False
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(120)

    def dump(self, name: str) -> List[Dict[str, Any]]:
        """Every item of a trace, as `uscope dump --jsonl` prints it."""
        arguments = [*COMMAND, "dump", "--jsonl", str(self.out / f"{name}.uscope")]
        text = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
        return [json.loads(line) for line in text.splitlines()]


class _Shared:
    """One daemon serves the tests that follow each other until one of them has ended or killed it: starting it takes half a second."""

    daemon: Optional[Daemon] = None
    memory: Optional[Path] = None


def _renew(directory: Path) -> Daemon:
    _give_up()
    place = "/dev/shm" if os.path.isdir("/dev/shm") else None
    _Shared.memory = Path(tempfile.mkdtemp(prefix="uscope-test-", dir=place))
    os.environ["USCOPE_SHM_DIR"] = str(_Shared.memory)
    _Shared.daemon = Daemon(directory)
    return _Shared.daemon


def _give_up() -> None:
    if _Shared.daemon is not None:
        _Shared.daemon.stop()
    if _Shared.memory is not None:
        shutil.rmtree(_Shared.memory)
    _Shared.daemon = _Shared.memory = None


@pytest.fixture(scope="session", autouse=True)
def end() -> Iterator[None]:
    yield
    _give_up()


@pytest.fixture
def daemon(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Daemon:
    current = _Shared.daemon
    if current is None or not current.is_untouched:
        current = _renew(tmp_path_factory.mktemp("daemon"))
    monkeypatch.setenv("USCOPE_ENDPOINT", current.endpoint)
    monkeypatch.delenv("USCOPE_SCHEMA", raising=False)
    return current


@pytest.fixture
def shared_memory(daemon: Daemon) -> Path:
    """The directory of the clients' memory."""
    assert _Shared.memory is not None
    return _Shared.memory


def load_vector(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


os.environ.pop("USCOPE_RUN_ID", None)
