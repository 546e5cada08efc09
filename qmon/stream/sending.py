"""Sends the polls of one target as lines of a recording to every connected client."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final
from urllib.parse import parse_qs

from qmon import __version__
from qmon.errors import BadInput
from qmon.model.snapshot import Snapshot
from qmon.monitor.source import Event, Phase, SourceState
from qmon.recording.format.codec import Cover, encode
from qmon.recording.format.records import KIND_BY_TYPE, End, Line, PhaseChange, SessionLine, encode_line
from qmon.recording.format.redaction import recording_cover
from qmon.recording.times import local_zone
from qmon.texts import Text


class SendingText(Text):
    """Why a stream of a target cannot be sent."""

    CHOOSE_TARGET = "choose a target: {targets}"
    NO_SUCH_TARGET = "target {target!r} is not served here; available: {targets}"


# Response header with the current time of the monotonic clock of `taken_at`, in seconds. Clients use it to compute the
# age of polls.
CLOCK_HEADER: Final = "Qmon-Clock"
STREAM_PATH: Final = "/stream"

# Seconds of silence after which the phase is sent again, so that clients notice a broken connection.
SILENCE_S: Final = 5.0

# Number of earlier polls that a new client gets. They are enough for rates, and for most figures that are not read in
# every poll.
_RECENT_POLLS: Final = 16
_MAX_PENDING: Final = 64
_CLOSE_TIMEOUT_S: Final = 2.0


class _PendingRecord:
    """One record for the clients. The first thread that needs the encoded record encodes it."""

    def __init__(self, at: float, record: Snapshot | PhaseChange, cover: Cover) -> None:
        self.at = at
        self.record = record
        self._cover = cover

    @cached_property
    def value(self) -> bytes:
        return encode(self.record, self._cover)


class _Client:
    """The pending records of one client. Created on the thread of its event loop."""

    def __init__(self) -> None:
        self.pending: deque[_PendingRecord] = deque()
        self.is_dropped = False
        self._news = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def wake(self) -> None:
        """End the client's wait. Thread-safe."""
        with contextlib.suppress(RuntimeError):  # the event loop of the client has ended
            self._loop.call_soon_threadsafe(self._news.set)

    async def wait(self, seconds: float) -> bool:
        """Wait until ``wake`` is called. Return false after ``seconds``."""
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return False
        self._news.clear()
        return True


class PollStream:
    """Sends the polls of one target to clients. Thread-safe.

    Args:
        target: the target's name, free of secrets.
        interval_s: requested seconds between polls.
        redact: applies the configured redaction to statements. Payloads are left out.
        environment: the target's environment, such as ``prod``.
        silence_s: see ``SILENCE_S``.
    """

    def __init__(
        self,
        target: str,
        interval_s: float,
        redact: Callable[[str], str] = lambda text: text,
        environment: str = "",
        silence_s: float = SILENCE_S,
    ) -> None:
        self.target = target
        self._cover = recording_cover(redact, payloads=False)
        self._silence_s = silence_s
        self._id = secrets.token_hex(6)
        self._session = SessionLine(
            target, "", "", __version__, local_zone(), interval_s, time.time(), socket.gethostname(), environment
        )
        self._recent_polls: deque[_PendingRecord] = deque(maxlen=_RECENT_POLLS)
        self._phase = _PendingRecord(time.time(), PhaseChange(Phase.CONNECTING), self._cover)
        self._clients: set[_Client] = set()
        self._changed = threading.Condition()
        self._closed = False

    @property
    def clients(self) -> int:
        """Number of connected clients."""
        return len(self._clients)

    def publish_event(self, event: Event) -> None:
        """Send a poll or phase change to all clients, without blocking. Clients that lag too far behind are dropped."""
        record = PhaseChange(event.phase, event.reason) if isinstance(event, SourceState) else event
        waiting = _PendingRecord(time.time(), record, self._cover)
        with self._changed:
            if isinstance(record, Snapshot):
                self._recent_polls.append(waiting)
            else:
                self._phase = waiting
            for client in [*self._clients]:
                if len(client.pending) < _MAX_PENDING:
                    client.pending.append(waiting)
                else:
                    client.is_dropped = True
                    self._clients.remove(client)
                client.wake()

    async def client_lines(self) -> AsyncGenerator[bytes, None]:
        """Yield the lines for one client: the last polls, the phase, and then each event, until the stream is closed.

        Raises ``TimeoutError`` if the client reads too slowly.
        """
        client, session, number = _Client(), self._session, 0

        def next_line(at: float, kind: type, value: bytes) -> bytes:
            nonlocal number
            number += 1
            return encode_line(Line(self._id, number, at, KIND_BY_TYPE[kind], value))

        with self._changed:
            before = [*self._recent_polls, self._phase]
            if not self._closed:
                self._clients.add(client)
        try:
            yield next_line(time.time(), SessionLine, encode(session))
            async with contextlib.aclosing(self._pending_records(before, client)) as every:
                async for waiting in every:
                    record = waiting.record
                    if isinstance(record, Snapshot) and record.server_version != session.version:
                        session = replace(session, engine=record.engine, version=record.server_version)
                        yield next_line(waiting.at, SessionLine, encode(session))
                    yield next_line(waiting.at, type(record), waiting.value)
            yield next_line(time.time(), End, encode(End("closed")))
        finally:
            with self._changed:
                self._clients.discard(client)
                self._changed.notify_all()

    async def _pending_records(
        self, before: Sequence[_PendingRecord], client: _Client
    ) -> AsyncGenerator[_PendingRecord, None]:
        for waiting in before:
            yield waiting
        while client.pending or not self._closed:
            if client.is_dropped:
                raise TimeoutError
            if client.pending:
                yield client.pending.popleft()
            elif not await client.wait(self._silence_s):
                yield self._phase

    def close(self) -> None:
        """End the stream. Clients have two seconds to read the last lines."""
        with self._changed:
            self._closed = True
            for client in self._clients:
                client.wake()
            self._changed.wait_for(lambda: not self._clients, _CLOSE_TIMEOUT_S)


def stream_for(streams: Sequence[PollStream], query: str) -> PollStream:
    """Return the stream for ``target=NAME``. Without a name, return the only stream.

    Raises ``BadInput`` with the known names if no stream fits.
    """
    name = parse_qs(query).get("target", [""])[0]
    found = [stream for stream in streams if stream.target == name or not name]
    if len(found) == 1:
        return found[0]
    names = ", ".join(stream.target for stream in streams)
    raise BadInput(
        SendingText.NO_SUCH_TARGET.render(target=name, targets=names)
        if name
        else SendingText.CHOOSE_TARGET.render(targets=names)
    )
