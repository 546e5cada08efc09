"""Sample the waits of sessions between polls, with one cheap statement in a thread with its own connection.

Used for servers that do not count waits. All qmon instances on a database together sample four times a second. A single
instance samples twice a second if no session waits, and ten times a second while the waits are on screen. While another
target is on screen, the instance samples every two seconds. Sampling never uses more than 0.15 percent of one
processor, or half a percent while the waits are on screen. As with probes, the cost of a sample is the shortest of the
recent durations, because longer durations include the load of the server.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from qmon import log
from qmon.engines.base import Bound, Connection, Engine, Rows, Session
from qmon.engines.result_records import to_records
from qmon.errors import ConnectionLost, QmonError
from qmon.model.samples.deadlock_samples import Circle, CircleSample
from qmon.model.samples.polled_samples import ClockSample, WaitSample
from qmon.model.samples.wait_samples import WaitSource, WaitTotal, WaitTotals
from qmon.model.snapshot import ProbeFailure
from qmon.model.waits.deadlock_circles import find_circles
from qmon.monitor.background.background_reader import BackgroundReader
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.source import ReadScope
from qmon.redact import hide_passwords

EVERY_S: Final = 0.25

# Seconds between samples after ten seconds without a waiting session. The server breaks a deadlock after a second, so
# this interval is short enough to find deadlocks.
QUIET_S: Final = 0.5
_QUIET_AFTER_S: Final = 10.0
CLOSELY_S: Final = 0.1
AWAY_S: Final = 2.0

# Minimum pause after a sample, as a multiple of its cost. The second constant applies while waits are on screen.
_COST_FACTOR: Final = 667.0
_COST_FACTOR_CLOSELY: Final = 200.0

# Processor time of a sample, as a measured multiple of the time between the clock readings before and after the sample.
_AROUND: Final = 2.0

# Maximum weight of a sample, as a multiple of the planned interval. The weight is the time since the previous sample.
_LONGEST: Final = 2.5
_LEAST_OF: Final = 16
_DEADLINE_S: Final = 5.0
_CIRCLES: Final = {"limit": 50, "chars": 200}


class WaitSampler(BackgroundReader):
    """Add up the sampled waits. A poll reads the totals and never waits for a sample."""

    NAME = "qmon-waits"

    def __init__(
        self, engine: Engine, connect: Callable[[Session], Connection], clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(engine, connect, clock)
        self._focus = ReadScope()
        self._since_at: float | None = None
        self._watched_s = 0.0
        self._samples = 0
        self._waited: dict[tuple[str, str], float] = {}
        self._circles: list[Circle] = []
        self._failure: ProbeFailure | None = None

    def set_pace(self, focus: ReadScope) -> None:
        """Set the sampling rate: higher while waits are on screen, lower while another target is on screen."""
        if focus.closely and not self._focus.closely:
            self._wake.set()
        self._focus = focus

    def wait_totals(self) -> WaitTotals | None:
        """Return the totals so far; ``None`` before the first sample, and if the server counts waits itself."""
        with self._lock:
            if self._since_at is None or not self._samples:
                return None
            waits = tuple(WaitTotal(kind, event, None, s) for (kind, event), s in sorted(self._waited.items()))
            return WaitTotals(WaitSource.SAMPLED, self._since_at, round(self._watched_s, 3), waits, self._samples)

    def failures(self) -> tuple[ProbeFailure, ...]:
        """Return the reason why there are no samples; empty if there are samples."""
        with self._lock:
            return () if self._failure is None else (self._failure,)

    def _run(self) -> None:
        while not self._closed:
            why: QmonError | None = None
            try:
                if self._sample_until_closed():
                    return
            except ConnectionLost as problem:  # the poll reports this too
                self._log.info("lost: %s", problem)
            except QmonError as problem:
                why = problem
                self._record_failure(str(problem))
            except Exception as problem:  # a bug in qmon is reported like any other reason
                self._record_failure(log.report_defect(problem))
            finally:
                self._reset_totals()
                self._drop_connection()
            self._back_off(why)

    def _sample_until_closed(self) -> bool:
        """Sample until closed or until the connection must be released; return whether sampling is over.

        Returns immediately if the server counts waits itself.
        """
        session = Session("waits", statement_timeout_s=_DEADLINE_S, lock_timeout_s=0.1, read_only=True, repeats=True)
        connection = self._connection = self._connect(session)
        statements = StatementCache(self._engine, connection.version)
        if statements.has_probe("wait_totals") or not statements.has_probe("waits"):
            return True
        circles = statements.statement_for("circles", _CIRCLES).bound if statements.has_probe("circles") else None
        sample, clock = statements.statement_for_target("waits").bound, statements.statement_for_target("clock").bound
        began = to_records(ClockSample, connection.fetch(clock))[0].now_at
        last = waited_at = self._clock()
        planned = 0.0

        def read(bound: Bound, took_s: deque[float]) -> Rows:
            started, rows, ended = connection.fetch_batch([clock, bound, clock])
            took_s.append(
                max(0.0, to_records(ClockSample, ended)[0].now_at - to_records(ClockSample, started)[0].now_at)
            )
            return rows

        sample_s: deque[float] = deque(maxlen=_LEAST_OF)
        circles_s: deque[float] = deque(maxlen=_LEAST_OF)
        while not self._closed and not self._release_requested:
            started = self._clock()
            seen = to_records(WaitSample, read(sample, sample_s))
            took_s = min(sample_s)
            stands_for = min(started - last, _LONGEST * planned)
            last = started
            self._record_waits(began, seen, stands_for)
            waited_at = started if seen else waited_at
            if circles is not None and sum(wait.sessions for wait in seen if wait.kind == "Lock") > 1:
                self._record_circles(to_records(CircleSample, read(circles, circles_s)))
                took_s += min(circles_s)
            cost = took_s * _AROUND
            often_s = CLOSELY_S if self._focus.closely else EVERY_S
            if not self._focus.closely and started - waited_at > _QUIET_AFTER_S:
                often_s = max(EVERY_S, QUIET_S / self.instances)
            if self._focus.away:
                often_s = AWAY_S
            factor = _COST_FACTOR_CLOSELY if self._focus.closely else _COST_FACTOR
            planned = max(often_s, cost * factor) * self.instances
            self.share = cost / planned
            self._wake.wait(planned)
            self._wake.clear()
        return self._closed

    def _record_waits(self, began: float, samples: list[WaitSample], stands_for: float) -> None:
        with self._lock:
            self._failure = None
            self._since_at = began
            self._watched_s += stands_for
            self._samples += 1
            for wait in samples:
                key = ("", "") if not wait.event else (wait.kind, wait.event)
                self._waited[key] = self._waited.get(key, 0.0) + wait.sessions * stands_for

    def _record_circles(self, rows: list[CircleSample]) -> None:
        found = find_circles([replace(row, statement=hide_passwords(row.statement)) for row in rows])
        with self._lock:
            self._circles += [circle for circle in found if circle not in self._circles]

    def take_circles(self) -> tuple[Circle, ...]:
        """Return the sessions seen waiting for each other since the last call."""
        with self._lock:
            found, self._circles = tuple(self._circles), []
        return found

    def _reset_totals(self) -> None:
        """Reset the totals for a new connection, because waits during the gap were not sampled."""
        with self._lock:
            self._since_at, self._watched_s, self._samples, self.share = None, 0.0, 0, 0.0
            self._waited.clear()

    def _record_failure(self, reason: str) -> None:
        with self._lock:
            self._failure = ProbeFailure("waits over time", reason)
