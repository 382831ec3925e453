"""A network between client and daemon that loses connections without telling anybody."""

from __future__ import annotations

import socket
import threading
from typing import List, Set


class SilentNetwork:
    """Forwards a TCP port to a daemon's ipc socket. Connections that were silenced stay open, and nothing passes through them."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"tcp://127.0.0.1:{self._listener.getsockname()[1]}"
        self.accepted = 0
        self._ends: List[socket.socket] = []
        self._silenced: Set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def silence(self) -> None:
        """All connections there are."""
        self._silenced.update(self._ends)

    def close(self) -> None:
        for end in [self._listener, *self._ends]:
            end.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            daemon = socket.socket(socket.AF_UNIX)
            daemon.connect(self._path)
            self.accepted += 1
            self._ends += [client, daemon]
            for source, target in ((client, daemon), (daemon, client)):
                threading.Thread(target=self._forward, args=(source, target), daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                if source not in self._silenced:
                    target.sendall(data)
        except OSError:
            pass
