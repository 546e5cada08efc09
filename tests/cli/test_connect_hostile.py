"""``qmon connect`` to a server that sends bytes slowly, never ends a line, or redirects."""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from qmon.errors import BadInput, ConnectionFailed
from qmon.monitor.source import Phase, SourceState
from qmon.recording.format.codec import encode
from qmon.recording.format.records import Line, SessionLine, encode_line
from qmon.stream import reading, served_source
from qmon.stream.reading import OpenStream, ServeText
from qmon.stream.serve_address import parse_address
from qmon.stream.served_source import ServedSource
from tests.facts import wait_until
from tests.wordings import has, pattern

HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\nQmon-Clock: 1.0\r\n"
FOUND = ServeText.ANSWER.render(status=302, phrase="Found")
SESSION = encode_line(Line("0", 1, 1.0, "session", encode(SessionLine("shop", "", "", "", "UTC", 2.0, 1.0))))


@contextlib.contextmanager
def answering(*parts: bytes, forever: bytes = b"", pause_s: float = 0.01) -> Iterator[tuple[str, list[bytes]]]:
    """Start a server that sends these parts, then repeats one part. Yield its URL and the requests it received."""
    asked: list[bytes] = []
    ended = threading.Event()
    clients: list[socket.socket] = []

    def answer(client: socket.socket) -> None:
        clients.append(client)
        with client, contextlib.suppress(OSError):
            asked.append(client.recv(65_536))
            for part in itertools.chain(parts, itertools.repeat(forever)):
                client.sendall(part)
                if not forever or ended.wait(pause_s):
                    break

    def serve() -> None:
        while not ended.is_set():
            with contextlib.suppress(TimeoutError):
                answer(listening.accept()[0])

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.05)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://anna:hunter22@127.0.0.1:{listening.getsockname()[1]}/shop", asked
        finally:
            ended.set()
            for client in clients:  # a write to a client that has gone may wait for minutes
                with contextlib.suppress(OSError):
                    client.shutdown(socket.SHUT_RDWR)
            thread.join()


def opened(url: str) -> OpenStream:
    """Connect to it."""
    return OpenStream(parse_address(url, None, "a test"), time.monotonic)


DRIPS: dict[str, tuple[bytes, bytes]] = {
    "the status": (b"", b"H"),
    "headers": (HEAD + b"X: ", b"a"),
    "header after header": (HEAD, b"X: y\r\n"),
    "interim answers": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "the size of a chunk": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0"),
    "the first line": (HEAD + b"\r\n", b"x"),
}


@pytest.mark.parametrize(("begin", "drip"), DRIPS.values(), ids=DRIPS)
def test_a_server_that_drips_is_given_up_before_the_first_line(
    begin: bytes, drip: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "CONNECT_S", 0.3)
    monkeypatch.setattr(reading, "LOST_AFTER_S", 0.3)
    with answering(begin, forever=drip) as (url, asked), pytest.raises((ConnectionFailed, BadInput)):
        opened(url)
    assert asked


@contextlib.contextmanager
def watching(url: str) -> Iterator[Callable[[], list[str]]]:
    """Return the reasons of a source for losing its connection."""
    states: list[SourceState] = []
    found = ServedSource(parse_address(url, None, "a test"))
    found.start(lambda event: states.append(event) if isinstance(event, SourceState) else None)
    try:
        yield lambda: [each.reason for each in states if each.phase is Phase.LOST]
    finally:
        found.close()


def test_a_stream_without_a_whole_line_is_left_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LOST_AFTER_S", 0.3)
    monkeypatch.setattr(served_source, "BACK_OFF_S", (0.01,))
    with answering(HEAD + b"\r\n" + SESSION, forever=b"x") as (url, asked), watching(url) as reasons:
        wait_until(lambda: len(asked) >= 2, what="it connects again")
        wait_until(reasons, what="the reason")
        assert has(reasons()[0], ServeText.SILENT, duration="0.3 s")


def test_a_line_without_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_LINE_BYTES", 3 * 2**20)
    monkeypatch.setattr(served_source, "BACK_OFF_S", (0.01,))
    endless = b"x" * 2**20
    with answering(HEAD + b"\r\n" + SESSION, forever=endless, pause_s=0.0) as (url, asked), watching(url) as reasons:
        wait_until(lambda: len(asked) >= 2, what="it connects again")
        wait_until(reasons, what="the reason")
        assert has(reasons()[0], ServeText.LONG_LINE, megabytes=3)


def test_a_password_does_not_follow_a_redirect() -> None:
    with answering(b"HTTP/1.1 200 OK\r\n\r\n") as (elsewhere, asked_elsewhere):
        location = elsewhere.replace("anna:hunter22@", "")
        with answering(f"HTTP/1.1 302 Found\r\nLocation: {location}\r\n\r\n".encode()) as (url, asked):
            with pytest.raises(BadInput, match=pattern(ServeText.NOT_A_SERVE, why=FOUND)):
                opened(url)
            assert b"Authorization: Basic " in asked[0]
    assert asked_elsewhere == []
