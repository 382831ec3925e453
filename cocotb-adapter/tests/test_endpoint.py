"""Whose socket a client connects to: the cases that the C and the TypeScript client are checked against too."""

from __future__ import annotations

import logging
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import List

import pytest
from conftest import VECTORS

from cocotbext.uscope.client import ClientTrace
from cocotbext.uscope.config import read_config
from cocotbext.uscope.errors import UscopeError
from cocotbext.uscope.peer import check_place

OTHER = 65_534
CASES = [
    line.split()
    for line in (VECTORS / "endpoints" / "cases.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
is_root = os.geteuid() == 0


def make(path: Path, owner: str, mode: str, kind: str) -> None:
    """A link leads to a thing of the right kind, which is our own."""
    if kind == "none":
        return
    if kind == "directory":
        path.mkdir()
    elif kind == "file":
        path.touch()
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
    else:
        target = path.with_suffix(".target")
        target.mkdir(mode=0o700)
        path.symlink_to(target)
    if mode != "-":
        path.chmod(int(mode, 8))
    if owner == "other":
        os.chown(path, OTHER, OTHER, follow_symlinks=False)


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_places_are_trusted_as_the_vectors_say(
    case: List[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, owner, mode, kind, owner_of_socket, kind_of_socket, right = case
    if "other" in case and not is_root:
        pytest.skip("root, who gives files away")
    directory = tmp_path / "d"
    make(directory, owner, mode, kind)
    make(directory / "uscope.sock", owner_of_socket, "-", kind_of_socket)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(directory))
    monkeypatch.setenv("USCOPE_ENDPOINT", "" if place == "default" else f"ipc://{directory}/uscope.sock")
    if right == "trusted":
        check_place(read_config())
        return
    with pytest.raises(UscopeError, match="BRIDGE_ENDPOINT"):
        check_place(read_config())


def test_an_abstract_socket_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USCOPE_ENDPOINT", "ipc://@name")
    with pytest.raises(UscopeError, match="BRIDGE_ENDPOINT.*abstract"):
        check_place(read_config())


#: A socket as another user has it: it prints what it gets.
SQUATTER = """
import os, sys, zmq
os.setgid(65534); os.setuid(65534)
router = zmq.Context.instance().socket(zmq.ROUTER)
router.bind(sys.argv[1])
while True:
    print(router.recv_multipart(), flush=True)
"""


@pytest.mark.skipif(not is_root, reason="root, who becomes another user")
def test_a_socket_that_another_user_makes_while_a_daemon_is_awaited_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    directory = Path(tempfile.mkdtemp(prefix="uscope-endpoint-"))
    directory.chmod(0o1777)
    endpoint = f"ipc://{directory}/s"
    monkeypatch.setenv("USCOPE_ENDPOINT", endpoint)
    squatters: "List[subprocess.Popen[str]]" = []

    def squat_when_awaited(_: logging.LogRecord) -> bool:
        if not squatters:
            command = [sys.executable, "-c", SQUATTER, endpoint]
            squatters.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd="/"))
        return True

    log = logging.getLogger("cocotbext.uscope")
    log.addFilter(squat_when_awaited)
    try:
        with pytest.raises(UscopeError, match="BRIDGE_ENDPOINT.*belongs to user 65534"):
            ClientTrace("core0")
        with pytest.raises(UscopeError, match="BRIDGE_ENDPOINT"):
            ClientTrace("core1")
        squatters[0].kill()
        assert squatters[0].communicate()[0] == ""
    finally:
        log.removeFilter(squat_when_awaited)
        for process in squatters:
            process.kill()
            process.wait()
        shutil.rmtree(directory)
