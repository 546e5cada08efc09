"""A source of polls that reads from a ``qmon serve``. Several dashboards can read from one ``qmon serve``."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from typing import Final

from qmon import log
from qmon.errors import BadInput, ConnectionFailed, QmonError
from qmon.monitor.poll.poller import BACK_OFF_S
from qmon.monitor.source import Phase, ReadScope, Sink, SourceState
from qmon.stream.reading import OpenStream
from qmon.stream.serve_address import ServeAddress

_LOG: Final = logging.getLogger(__name__)

# The source reconnects after this many seconds to compare the clocks of the two machines again, because clocks drift.
RENEW_S: Final = 3600.0
_INTERVAL_S: Final = 2.0
_GRACE_S: Final = 2.0


class ServedSource:
    """Reads the polls of a ``qmon serve``. Implements ``SnapshotSource``. Thread-safe.

    Args:
        address: the address of the server.
        first: a connection that is already open.
        clock: local monotonic clock, seconds.
    """

    def __init__(
        self, address: ServeAddress, first: OpenStream | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._address = address
        self._next_stream = first
        self._stream = first
        self._clock = clock
        self._sink: Sink = lambda event: None
        self._last_reported: tuple[Phase, str] | None = None
        self._newest = ("", 0)
        self._tries = 0
        self._reason = ""
        self._closing = threading.Event()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def target(self) -> str:
        """The target's name on the server. Until it is known: the requested name, or host and port."""
        return self._stream.session.target if self._stream else self._address.target or self._address.host_and_port

    @property
    def environment(self) -> str:
        """The target's environment, such as ``prod``. Empty until it is known."""
        return self._stream.session.environment if self._stream else ""

    @property
    def interval_s(self) -> float:
        """Seconds between polls, as configured on the server."""
        return self._stream.session.interval_s if self._stream else _INTERVAL_S

    def start(self, sink: Sink) -> None:
        """Start reading. ``sink`` gets every snapshot and phase change."""
        self._sink = sink
        self._thread = threading.Thread(target=self._run, name="qmon-served", daemon=True)
        self._thread.start()

    def poll_now(self, changed: str = "", *, include_throttled: bool = False) -> None:
        """Reconnect at once if the connection is lost. Only the server decides when to poll."""
        self._wake.set()

    def set_interval(self, seconds: float) -> None:
        """Do nothing: the server decides the interval."""

    def set_focus(self, focus: ReadScope) -> None:
        """Do nothing: the server decides which data it reads."""

    def count_exactly(self, queue: str) -> None:
        """Do nothing: the server takes no requests."""

    def close(self) -> None:
        """Stop. Waits at most two seconds."""
        self._closing.set()
        self._wake.set()
        if self._stream is not None:
            self._stream.interrupt()
        if self._thread is not None:
            self._thread.join(_GRACE_S)
        elif self._stream is not None:
            self._stream.close()

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                with contextlib.closing(self._take_stream()) as stream:
                    self._read_stream(stream)
            except QmonError as problem:
                hopeless = isinstance(problem, BadInput) or (
                    isinstance(problem, ConnectionFailed) and not problem.retryable
                )
                self._report_lost(str(problem), hopeless=hopeless)
            except Exception as problem:  # the screen must show the bug in qmon, and reading must continue
                self._report_lost(log.report_defect(problem))
        if self._next_stream is not None:
            self._next_stream.close()

    def _take_stream(self) -> OpenStream:
        """Return the open connection, or a new one."""
        stream, self._next_stream = self._next_stream, None
        if stream is None:
            self._report_state(SourceState(self.target, Phase.CONNECTING, self._reason, None, self._clock()))
            stream = OpenStream(self._address, self._clock)
        self._stream = stream
        _LOG.info("%s: reading from the qmon serve at %s", self.target, self._address.host_and_port)
        return stream

    def _read_stream(self, stream: OpenStream) -> None:
        """Pass events to the sink until it is time to switch to a new connection."""
        until = self._clock() + RENEW_S
        for event in stream.events():
            if self._closing.is_set():
                return
            if isinstance(event, SourceState):
                self._report_state(event)
            elif stream.recorder != self._newest[0] or event.sequence > self._newest[1]:
                self._newest, self._tries, self._reason = (stream.recorder, event.sequence), 0, ""
                self._sink(event)
            if self._clock() > until:
                until += RENEW_S
                with contextlib.suppress(QmonError):
                    self._next_stream = OpenStream(self._address, self._clock)
                    return

    def _report_state(self, state: SourceState) -> None:
        """Report a phase, unless it was the last phase that was reported."""
        if (state.phase, state.reason) != self._last_reported:
            self._last_reported = state.phase, state.reason
            self._sink(state)

    def _report_lost(self, reason: str, *, hopeless: bool = False) -> None:
        self._wake.clear()
        if self._closing.is_set():
            return
        pause_s = BACK_OFF_S[-1] if hopeless else BACK_OFF_S[min(self._tries, len(BACK_OFF_S) - 1)]
        self._tries += 1
        level = logging.WARNING if reason != self._reason else logging.DEBUG
        _LOG.log(level, "%s: connection lost: %s; next try in %g s", self.target, reason, pause_s)
        self._reason = reason
        now = self._clock()
        self._report_state(SourceState(self.target, Phase.LOST, reason, now + pause_s, now))
        self._wake.wait(pause_s)
