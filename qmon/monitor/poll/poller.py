"""Poll one target with one thread and one connection. A watchdog prevents a hung server from freezing qmon.

A poll that overruns its deadline makes the source ``late``. After five seconds the poll is cancelled. If cancelling
does not help, the thread and its connection are abandoned (at most three at a time) and a new thread reconnects with
back-off.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from qmon import log
from qmon.engines.base import Connection, Engine, Session
from qmon.errors import BadInput, ConnectionFailed, ConnectionLost, NoConnectionLeft, QmonError, StatementCancelled
from qmon.model.cost_budget import Budget
from qmon.model.formatting import duration
from qmon.monitor.background.catalog_reading import CatalogReading, Resolve
from qmon.monitor.background.slow_reads import SlowReads
from qmon.monitor.background.wait_sampler import WaitSampler
from qmon.monitor.poll.collector import Collector
from qmon.monitor.poll.quarantine import InFlightProbe, ProbeQuarantine
from qmon.monitor.poll.turns import AT_ONCE
from qmon.monitor.source import Event, Phase, ReadScope, Sink, SourceState
from qmon.texts import Text


class PollerText(Text):
    """The work of the poller, and the reasons for a missing connection."""

    READING_CATALOG = "reading the catalog; on a server that has just started this may take {time}"
    TOOK_LONGER = "{problem}, because it took longer than {time}"
    NO_ANSWER = "no answer for {time}"
    CONNECTING_AGAIN = "the server does not answer; connecting again"
    CLOSED = "the poller is closed"
    INTERVAL_RANGE = "the poll interval must be {lowest:g} to {highest:g} seconds, not {seconds:g}"


_LOG: Final = logging.getLogger(__name__)
MIN_INTERVAL_S: Final = 0.5
MAX_INTERVAL_S: Final = 60.0
BACK_OFF_S: Final = (1.0, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 20.0)
_GRACE_S: Final = 2.0
_WATCH_EVERY_S: Final = 0.25

# Shortest deadline of a poll in seconds, for short poll intervals.
_LEAST_S: Final = 1.0
_MOST_ABANDONED: Final = 3
_LOGIN_S: Final = 5.0

# Seconds after which a poll is cancelled. Until then a slow server counts as late, not as lost. Each statement has
# a shorter deadline.
_CANCEL_AFTER_S: Final = 5.0

# Extra seconds for a poll that also reads the catalog again.
_CATALOG_S: Final = 5.0

# Extra seconds for the first catalog read on a connection. A server that has just started reads its catalog from disk.
FIRST_READ_S: Final = 30.0

# The poll session sets no `silence_s`, because the watchdog abandons a poll without an answer. Calls therefore need no
# threads or deadlines of their own.
POLL: Final = Session("poll", _LOGIN_S, FIRST_READ_S, lock_timeout_s=0.1, read_only=True, repeats=True, silence_s=None)
READING: Final = PollerText.READING_CATALOG.render(time=duration(FIRST_READ_S))

# A first catalog read that takes longer than this many seconds is reported.
_REPORT_S: Final = 2.0

Connect = Callable[[Session], Connection]


class _ConnectionAttempt:
    """The work of one polling thread, with one connection at a time.

    ``abandoned``: another thread has replaced this thread.
    """

    def __init__(self) -> None:
        self.abandoned = threading.Event()
        self.busy_since: float | None = None
        self.allowed_s = 0.0
        self.connection: Connection | None = None
        self.live = False
        self.late = False
        self.cancelled = False
        # True until the first catalog read on this connection has finished.
        self.is_reading_catalog = False
        self.catalog_reported = False
        self.thread: threading.Thread | None = None
        self.in_flight = InFlightProbe()


class Poller:
    """Poll one target until closed. Implements ``SnapshotSource``.

    Args:
        target: the target's name, free of secrets.
        engine: the engine of the target.
        connect: opens a connection for a session.
        resolve: finds the queues to watch, given the last result. Called at each connect, every two minutes in the
            background, and every few seconds while a queue is gone.
        interval_s: seconds between polls.
        budget: what polling may cost the server. The default is one percent of a processor.
        within_s: seconds until the poller will be closed; counts that take longer are not started. ``None``: no limit.
    """

    def __init__(
        self,
        target: str,
        engine: Engine,
        connect: Connect,
        resolve: Resolve,
        interval_s: float = 2.0,
        budget: Budget | None = None,
        within_s: float | None = None,
    ) -> None:
        self._target = target
        self._engine = engine
        self._connect = OwnConnections(connect)
        self._catalog = CatalogReading(resolve)
        self._budget = budget
        self._at_once = AT_ONCE if within_s is None else sys.maxsize
        self._interval_s = _checked_interval(interval_s)
        self._focus = ReadScope()
        self._sink: Sink | None = None
        self._early_events: list[Event] = []
        self._wake = threading.Event()
        self._reads_all = threading.Event()
        self._changed: set[str] = set()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._attempt = _ConnectionAttempt()
        self._quarantine = ProbeQuarantine()
        self._abandoned: list[_ConnectionAttempt] = []
        self._tries = 0
        self._reason = ""
        self._failing = log.FailureLog(_LOG)
        self._sequence = 0
        self._connected = threading.Event()
        self._slow_reads = SlowReads(engine, self._connect_background, time.monotonic, budget, within_s, self._catalog)
        self._sampler = WaitSampler(engine, self._connect_background)
        self._watchdog: threading.Thread | None = None

    @property
    def target(self) -> str:
        """The target's name, free of secrets."""
        return self._target

    @property
    def interval_s(self) -> float:
        """The configured seconds between polls."""
        return self._interval_s

    @property
    def slow_reads(self) -> SlowReads:
        """The background reader for slow reads, such as exact counts."""
        return self._slow_reads

    def start(self, sink: Sink) -> None:
        """Start polling. ``sink`` gets snapshots and phase changes, first the events since ``begin_polling``."""
        with self._lock:
            for event in self._early_events:
                sink(event)
            self._early_events.clear()
            self._sink = sink
        self.begin_polling()

    def begin_polling(self) -> None:
        """Connect and poll before there is a sink. ``start`` later sends the collected events."""
        if self._watchdog is not None:
            return
        self._slow_reads.start()
        self._sampler.start()
        self._start_attempt(_ConnectionAttempt())
        self._watchdog = threading.Thread(target=self._watch_attempts, name="qmon-watchdog", daemon=True)
        self._watchdog.start()

    def poll_now(self, changed: str = "", *, include_throttled: bool = False) -> None:
        """Poll as soon as the running poll has ended; if the target is lost, reconnect now.

        ``changed``: a queue whose messages an action has changed. The search for its head restarts at the first row,
        and values that are not counted in each poll are counted again. ``include_throttled``: also read the throttled
        probes.
        """
        if include_throttled:
            self._reads_all.set()
        if changed:
            self._slow_reads.find_head_again(changed)
            self._slow_reads.count_again(changed)
            self._changed.add(changed)
        self._wake.set()

    def set_resolver(self, resolve: Resolve) -> None:
        """Use ``resolve`` for discovery from the next poll on, and poll now."""
        self._catalog.set_resolver(resolve)
        self._wake.set()

    def set_interval(self, seconds: float) -> None:
        """Set the seconds between polls. Raises ``BadInput`` if they are outside 0.5 to 60."""
        self._interval_s = _checked_interval(seconds)
        self._wake.set()

    def set_focus(self, focus: ReadScope) -> None:
        """Set the current screen. Opening a queue or the blocking screen triggers a poll."""
        before, self._focus = self._focus, focus
        if focus.needs_poll(before):
            self._wake.set()

    def count_exactly(self, queue: str) -> None:
        """Request an exact count of one queue on the background connection."""
        self._slow_reads.count_exactly(queue)

    def close(self) -> None:
        """Stop polling. Wait at most two seconds for the running poll, then abandon it."""
        self._closed.set()
        self._connected.set()  # wakes the threads that wait for a connection
        self._wake.set()
        attempt = self._attempt
        if attempt.busy_since is not None and attempt.connection is not None:
            _in_background(attempt.connection.cancel)
        ending = [_in_background(self._slow_reads.close), _in_background(self._sampler.close), attempt.thread]
        until = time.monotonic() + _GRACE_S
        for thread in ending:
            if thread is not None:
                thread.join(timeout=max(0.0, until - time.monotonic()))

    def _start_attempt(self, attempt: _ConnectionAttempt) -> None:
        self._attempt = attempt
        attempt.thread = threading.Thread(target=self._run_attempt, args=(attempt,), name="qmon-poll", daemon=True)
        attempt.thread.start()

    def _emit(self, attempt: _ConnectionAttempt, event: Event) -> None:
        with self._lock:
            if attempt.abandoned.is_set() or attempt is not self._attempt or self._closed.is_set():
                return
            (self._sink or self._early_events.append)(event)

    def _emit_state(
        self, attempt: _ConnectionAttempt, phase: Phase, reason: str = "", retry_at: float | None = None
    ) -> None:
        self._emit(
            attempt, SourceState(self._target, phase, reason, retry_at, time.monotonic(), attempt.is_reading_catalog)
        )

    def _run_attempt(self, attempt: _ConnectionAttempt) -> None:
        while not self._closed.is_set() and not attempt.abandoned.is_set():
            attempt.is_reading_catalog = attempt.catalog_reported = False
            try:
                self._emit_state(attempt, Phase.CONNECTING, self._reason)
                self._poll_until_lost(attempt)
            except NoConnectionLeft as problem:  # the background readers may hold the last connections
                self._slow_reads.release_connection()
                self._sampler.release_connection()
                self._report_lost(attempt, str(problem))
            except QmonError as problem:
                late = attempt.late and isinstance(problem, StatementCancelled)
                time_s = max(attempt.allowed_s, _CANCEL_AFTER_S)
                reason = PollerText.TOOK_LONGER.render(problem=problem, time=duration(time_s)) if late else str(problem)
                # Retrying a refused password may lock the account.
                hopeless = isinstance(problem, ConnectionFailed) and not problem.retryable
                self._report_lost(attempt, reason, hopeless=hopeless)
            except Exception as problem:  # show a bug in qmon on the screen and continue watching
                self._report_lost(attempt, log.report_defect(problem))
            finally:
                connection, attempt.connection, attempt.busy_since = attempt.connection, None, None
                if connection is not None:
                    connection.close()

    def _report_lost(self, attempt: _ConnectionAttempt, reason: str, *, hopeless: bool = False) -> None:
        attempt.live = attempt.late = attempt.cancelled = False
        if attempt.abandoned.is_set():
            return
        self._connected.clear()
        if self._closed.is_set():
            self._connected.set()
            return
        pause = BACK_OFF_S[-1] if hopeless else BACK_OFF_S[min(self._tries, len(BACK_OFF_S) - 1)]
        self._tries += 1
        level = logging.WARNING if reason != self._reason else logging.DEBUG
        _LOG.log(level, "%s: lost: %s; tried again in %g s", self._target, reason, pause)
        self._reason = reason
        attempt.busy_since = None
        self._wake.clear()
        self._emit_state(attempt, Phase.LOST, reason, time.monotonic() + pause)
        self._wake.wait(pause)

    def _poll_until_lost(self, attempt: _ConnectionAttempt) -> None:
        """Connect and poll until the connection is lost, the poller is closed or ``attempt`` is abandoned."""
        self._mark_busy(attempt, _LOGIN_S + 1.0)
        attempt.in_flight = InFlightProbe(self._quarantine)
        connection = attempt.connection = self._connect(POLL)
        self._connected.set()
        collector = Collector(
            self._target,
            self._engine,
            connection,
            self._slow_reads,
            time.monotonic,
            self._sampler,
            self._budget,
            lambda: self._connect.commits,
            attempt.in_flight,
            self._at_once,
        )
        self._read_catalog_first(attempt, collector, connection)
        while not self._closed.is_set() and not attempt.abandoned.is_set():
            self._wake.clear()
            if self._catalog.discards_earlier:
                self._read_catalog(attempt, collector, connection)
            elif (found := self._catalog.take_result()) is not None:
                self._slow_reads.watch_queues(collector.watch_queues(found))
            elif self._catalog.is_due and not self._slow_reads.request_catalog():
                self._read_catalog(attempt, collector, connection)
            began = self._mark_busy(attempt, self._poll_deadline_s())
            if self._reads_all.is_set():
                self._reads_all.clear()
                collector.probe_budget.request_full_poll()
            while self._changed:
                collector.count_again(self._changed.pop())
            snapshot = collector.collect(self._sequence + 1, self._interval_s, self._focus)
            attempt.busy_since = None
            if attempt.abandoned.is_set():
                return
            if collector.is_stale:
                self._read_catalog(attempt, collector, connection)
                continue
            if not attempt.live or attempt.late:
                self._report_live(attempt, connection)
            self._sequence, self._tries, self._reason = snapshot.sequence, 0, ""
            self._emit(attempt, snapshot)
            self._failing.record_failures(
                {f"{self._target}: {f.probe} of {f.queue or 'all'}": f.text for f in snapshot.failures}
            )
            self._catalog.record_states(
                {
                    q.layout.queue: q.strange.values
                    for q in snapshot.queues
                    if q.strange is not None and q.layout.part is None
                }
            )
            self._catalog.rereads_soon = self._catalog.rereads_soon or any(
                failure.gone for failure in snapshot.failures
            )
            if self._catalog.is_due:  # the next poll uses the catalog if it is read by then
                self._slow_reads.request_catalog()
            took = time.monotonic() - began
            pause = collector.probe_budget.interval_s
            self._wake.wait(max(pause - took, 0.1 * pause))

    def _report_live(self, attempt: _ConnectionAttempt, connection: Connection) -> None:
        version = ".".join(map(str, connection.version))
        what = "answers again" if attempt.live else f"connected, try {self._tries + 1}" if self._tries else "connected"
        session = connection.session_id
        _LOG.info("%s: %s: %s %s, session %s", self._target, what, self._engine.name, version, session)
        attempt.live, attempt.late, attempt.cancelled = True, False, False
        self._emit_state(attempt, Phase.LIVE)

    def _read_catalog_first(self, attempt: _ConnectionAttempt, collector: Collector, connection: Connection) -> None:
        attempt.is_reading_catalog = True
        self._read_catalog(attempt, collector, connection, FIRST_READ_S)
        connection.limit_statements(self._poll_deadline_s())
        attempt.is_reading_catalog = False

    def _read_catalog(
        self, attempt: _ConnectionAttempt, collector: Collector, connection: Connection, allowed_s: float = _CATALOG_S
    ) -> None:
        """Read the catalog on the polling connection, for the first time or because the last catalog is outdated."""
        self._mark_busy(attempt, self._poll_deadline_s() + allowed_s)
        self._slow_reads.watch_queues(collector.watch_queues(self._catalog.read_now(connection)))
        attempt.busy_since = None

    def _mark_busy(self, attempt: _ConnectionAttempt, allowed_s: float) -> float:
        attempt.allowed_s = allowed_s
        attempt.busy_since = now = time.monotonic()
        return now

    def _poll_deadline_s(self) -> float:
        return min(max(self._interval_s, _LEAST_S), 5.0)

    def _watch_attempts(self) -> None:
        pause = _WATCH_EVERY_S
        while not self._closed.wait(pause):
            attempt, since, pause = self._attempt, self._attempt.busy_since, _LEAST_S
            if since is None:
                continue
            over = time.monotonic() - since - attempt.allowed_s
            pause = _WATCH_EVERY_S if attempt.is_reading_catalog else min(max(_WATCH_EVERY_S, -over), _LEAST_S)
            if attempt.is_reading_catalog and not attempt.catalog_reported and over + attempt.allowed_s > _REPORT_S:
                attempt.catalog_reported = True
                self._emit_state(attempt, Phase.CONNECTING, READING)
            if over > 0 and not attempt.late:
                attempt.late = True
                _LOG.warning("%s: no answer for %.1f s", self._target, attempt.allowed_s + over)
                self._emit_state(
                    attempt, Phase.LATE, PollerText.NO_ANSWER.render(time=duration(attempt.allowed_s + over))
                )
            if attempt.late and not attempt.cancelled and over + attempt.allowed_s > _CANCEL_AFTER_S:
                attempt.cancelled = True
                if attempt.connection is not None:
                    _in_background(attempt.connection.cancel)
            elif attempt.cancelled and over > max(0.0, _CANCEL_AFTER_S - attempt.allowed_s) + _GRACE_S:
                self._abandon(attempt)

    def _connect_background(self, session: Session) -> Connection:
        """Connect a background reader after the poll has connected, because the server may allow few connections."""
        self._connected.wait()
        if self._closed.is_set():
            raise ConnectionLost(PollerText.CLOSED)
        return self._connect(session)

    def _abandon(self, attempt: _ConnectionAttempt) -> None:
        self._abandoned = [t for t in self._abandoned if t.thread is not None and t.thread.is_alive()]
        if len(self._abandoned) >= _MOST_ABANDONED:
            return
        self._emit_state(attempt, Phase.LATE, PollerText.CONNECTING_AGAIN)
        _LOG.warning("%s: the server does not answer; connecting again", self._target)
        with self._lock:
            attempt.abandoned.set()
        attempt.in_flight.record_loss()
        self._abandoned.append(attempt)
        self._start_attempt(_ConnectionAttempt())


def _checked_interval(seconds: float) -> float:
    if not MIN_INTERVAL_S <= seconds <= MAX_INTERVAL_S:
        raise BadInput(PollerText.INTERVAL_RANGE.render(lowest=MIN_INTERVAL_S, highest=MAX_INTERVAL_S, seconds=seconds))
    return seconds


def _in_background(call: Callable[[], None]) -> threading.Thread:
    """Run ``call`` in a thread, because the call (cancel or close) may itself wait for the network."""

    def call_and_ignore_errors() -> None:
        try:
            call()
        except QmonError:
            return

    thread = threading.Thread(target=call_and_ignore_errors, name="qmon-cancel", daemon=True)
    thread.start()
    return thread


# Up to this many connections may still be in use: by polls, by background readers, or after qmon abandoned them.
_MAX_TRACKED_CONNECTIONS: Final = 8


class OwnConnections:
    """Open connections and count their commits. May be used from any thread."""

    def __init__(self, connect: Callable[[Session], Connection]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._connections: deque[Connection] = deque()
        self._past = 0

    def __call__(self, session: Session) -> Connection:
        """Connect. Raises the errors of connecting."""
        connection = self._connect(session)
        with self._lock:
            self._connections.append(connection)
            if len(self._connections) > _MAX_TRACKED_CONNECTIONS:
                self._past += self._connections.popleft().commits
        return connection

    @property
    def commits(self) -> int:
        """Transactions committed so far by all of these connections, including read-only transactions."""
        with self._lock:
            return self._past + sum(connection.commits for connection in self._connections)
