"""Clients that keep a server busy: each sends a byte now and then and never finishes its request."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Final

from tests.facts import wait_until

_EVERY_S: Final = 0.02
_HELLO: Final = b"\x16\x03\x01\x40\x00\x01\x00\x3f\xfc\x03\x03"  # the beginning of a TLS handshake of 16 kB


class Drippers:
    """Open connections that are fed by one thread.

    Args:
        place: address and port of the server.
        count: how many.
        begins: what each sends at once.
        source: our own address.
    """

    def __init__(self, place: tuple[str, int], count: int, begins: bytes, source: str = "127.0.0.1") -> None:
        self.sockets: list[socket.socket] = []
        self.rounds = 0
        self._ended = threading.Event()
        for _ in range(count):
            with contextlib.suppress(ConnectionResetError, BrokenPipeError):  # dropped as soon as it connected
                each = socket.create_connection(place, timeout=120, source_address=(source, 0))
                self.sockets.append(each)
                each.sendall(begins)
                each.setblocking(False)
        self._thread = threading.Thread(target=self._drip)
        self._thread.start()

    def _drip(self) -> None:
        for place, byte in cycle(enumerate(self.sockets)):
            if place == 0:
                self.rounds += 1
                if self._ended.wait(_EVERY_S):
                    return
            with contextlib.suppress(OSError):
                byte.send(b"a")

    def answers(self) -> tuple[int, bytes]:
        """Return the number of open connections, and all data that the server has sent to any of them."""
        connected, said = 0, b""
        for each in self.sockets:
            try:
                found = each.recv(65_536)
            except BlockingIOError:
                connected += 1
            except OSError:
                pass
            else:
                said += found
        return connected, said

    def close(self) -> None:
        """End them all."""
        self._ended.set()
        self._thread.join()
        for each in self.sockets:
            each.close()


@contextlib.contextmanager
def dripping(place: tuple[str, int], count: int, *, tls: bool = False, source: str = "127.0.0.1") -> Iterator[Drippers]:
    """Open this number of connections. Each has sent part of a request or of a handshake, and continues slowly."""
    found = Drippers(place, count, _HELLO if tls else b"GET /metrics HTTP/1.1\r\nX-Slow: ", source)
    try:
        wait_until(lambda: found.rounds > 2, what="each has sent some bytes more")
        yield found
    finally:
        found.close()


def place_of(url: str) -> tuple[str, int]:
    """Return address and port of a URL."""
    host, _, port = url.split("/")[2].rpartition(":")
    return host, int(port)


def answer_to(place: tuple[str, int], request: bytes | Sequence[bytes]) -> bytes:
    """Return the server's complete answer to these bytes, until it closes the connection."""
    with socket.create_connection(place, timeout=120) as client:
        client.sendall(request if isinstance(request, bytes) else b"".join(request))
        parts = []
        with contextlib.suppress(ConnectionResetError):
            while part := client.recv(65_536):
                parts.append(part)
    return b"".join(parts)
