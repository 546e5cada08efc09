"""A tunnel to a test's server that can go silent: it stays open, accepts data, and forwards nothing."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit, urlunsplit

# Last statements of an operation's batch: its counts, then the commit.
COMMIT_OF_A_BATCH = (b"qmon.operation_count(CAST(", b"COMMIT")


class Tunnel:
    """Forwards connections to the server of a ``postgresql://`` URL, as an SSH tunnel or a proxy does."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        # The URL of the server itself.
        self.direct = url
        self._server = f"{options['host']}/.s.PGSQL.{options['port']}"
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        self.url = urlunsplit(parts._replace(netloc=f"{parts.username}@127.0.0.1:{port}", query=""))
        # It forwards nothing.
        self.silent = threading.Event()
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._marks: list[bytes] = []
        self._passes = False
        self._sockets = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def silence_at(self, *marks: bytes, passes: bool) -> None:
        """Go silent after clients have sent these marks in order. ``passes``: the last one reaches the server."""
        with self._lock:
            self._marks, self._passes = list(marks), passes

    def close(self) -> None:
        """Cut every connection."""
        self._over.set()
        with self._lock:
            for each in self._sockets:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client = self._listener.accept()[0]
                server = socket.socket(socket.AF_UNIX)
                with self._lock:
                    if self._over.is_set():  # the client connected while the tunnel was closed
                        client.close()
                        server.close()
                        return
                    self._sockets += (client, server)
                server.connect(self._server)
                for pair, sends in (((client, server), True), ((server, client), False)):
                    threading.Thread(target=self._forward, args=(*pair, sends), daemon=True).start()

    def _forward(self, source: socket.socket, to: socket.socket, sends: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                passes = not self.silent.is_set()
                if sends and passes:
                    passes = self._passed(data)
                if not passes:
                    self._over.wait()
                    return
                to.sendall(data)
            to.shutdown(socket.SHUT_WR)

    def _passed(self, data: bytes) -> bool:
        """Return whether data from a client is forwarded."""
        with self._lock:
            if not self._marks:
                return True
            while self._marks and (at := data.find(self._marks[0])) >= 0:
                data = data[at + len(self._marks.pop(0)) :]
            if self._marks:
                return True
            self.silent.set()
            return self._passes


@contextlib.contextmanager
def tunnel(url: str) -> Iterator[Tunnel]:
    """Open a tunnel to the server of this URL and cut all connections at the end."""
    made = Tunnel(url)
    try:
        yield made
    finally:
        made.close()
