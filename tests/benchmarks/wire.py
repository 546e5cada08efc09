"""Traffic on the wire: a relay in front of the server's socket that counts bytes and round trips."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

_SOCKET = ".s.PGSQL.5432"
_POLL = b"qmon poll\0"


@dataclass(slots=True)
class Wire:
    """Bytes that the polling connection sent and received. ``trips``: how many times it sent after it had received."""

    folder: Path
    sent: int = 0
    received: int = 0
    trips: int = 0

    def through(self, url: str, socket_dir: Path) -> str:
        """Return the URL of a server at this socket, changed to lead through this relay."""
        return url.replace(quote(str(socket_dir), safe=""), quote(str(self.folder), safe=""))


class _Relay:
    """One connection. It belongs to the poll if its first bytes contain the poll's name."""

    def __init__(self, wire: Wire, client: socket.socket, server: socket.socket) -> None:
        self._wire, self._client, self._server = wire, client, server
        self._polls = self._answered = False
        self._guard, self._ways = threading.Lock(), 2
        for work in (self._there, self._back):
            threading.Thread(target=work, daemon=True).start()

    def _there(self) -> None:
        with suppress(OSError):
            while data := self._client.recv(1 << 18):
                self._polls = self._polls or _POLL in data
                if self._polls:
                    self._wire.sent += len(data)
                    self._wire.trips += self._answered
                self._answered = False
                self._server.sendall(data)
        self._end()

    def _back(self) -> None:
        with suppress(OSError):
            while data := self._server.recv(1 << 18):
                self._answered = True
                self._wire.received += len(data) if self._polls else 0
                self._client.sendall(data)
        self._end()

    def _end(self) -> None:
        for each in (self._client, self._server):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        with self._guard:
            self._ways -= 1
            if not self._ways:
                self._client.close()
                self._server.close()


@contextmanager
def relayed(socket_dir: Path) -> Iterator[Wire]:
    """Yield a folder with a socket that leads to the server's, on port 5432."""
    with TemporaryDirectory(prefix="wire-") as folder, socket.socket(socket.AF_UNIX) as door:
        wire = Wire(Path(folder))
        door.bind(str(wire.folder / _SOCKET))
        door.listen()

        def serve() -> None:
            with suppress(OSError):
                while True:
                    client, _ = door.accept()
                    server = socket.socket(socket.AF_UNIX)
                    server.connect(str(socket_dir / _SOCKET))
                    _Relay(wire, client, server)

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield wire
        finally:
            door.shutdown(socket.SHUT_RDWR)
