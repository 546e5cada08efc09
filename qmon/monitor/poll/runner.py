"""Runs the statements of a poll: all in one round trip where that works, one by one where it does not."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import Final

from qmon.engines.base import Connection
from qmon.engines.rows import records
from qmon.errors import ConnectionLost, DeadlineExceeded, LockTimeout, PermissionMissing, QueryFailed
from qmon.model.budget import Key
from qmon.model.samples.polled import ClockSample, ServerSample
from qmon.model.snapshot import ProbeFailure
from qmon.monitor.poll.quarantine import InFlightProbe
from qmon.monitor.probes.statements import PART, ProbeStatement, Results

_PROVING_S: Final = 0.45
"""Probes that run by themselves take no longer together in one poll; a poll must end within its deadline."""
_REST: Final = 15
_REST_LONG: Final = 30
_REST_SHORT: Final = 4
_GONE: Final = frozenset({"42P01", "42S02", "S0002", "42703", "42S22", "S0022", "3F000"})
"""SQLSTATEs of a table, column or schema that is not there, of PostgreSQL and of ODBC."""
_OF_THE_QUEUE: Final = ("head", "ring")
"""What the probes are called without which nothing is known of a queue."""
_NEEDED: Final = (ClockSample, ServerSample)
"""Records without which there is no poll: what reads them is always tried."""
_COSTLY: Final = "the connection was lost each time this ran; tried again later"


class Runner:
    """Runs statements on one connection and remembers which of them fail, so that they do not spoil each batch.

    A statement that failed is left out for some polls and then tried again; meanwhile its failure stands. What may
    pass by itself (a lock, a deadline) rests for four polls, a missing permission for thirty. ``suspicion``: of probes
    that have cost earlier connections, and of those under way. ``by_text``: the server plans by the text of a batch, so
    that one text has all that was ever asked, and each batch marks what of it is asked now.
    """

    def __init__(
        self, connection: Connection, suspicion: InFlightProbe | None = None, *, by_text: bool = False
    ) -> None:
        self._connection = connection
        self._by_text = by_text
        self._lists: tuple[dict[Key, ProbeStatement], dict[Key, ProbeStatement]] = ({}, {})
        """What has been asked in a batch: first of a poll's, which the clock ends, then of others."""
        self._suspicion = suspicion or InFlightProbe()
        self._met: set[tuple[str, str]] = set()
        self._proven: set[tuple[str, str]] = set()
        self._failing: dict[tuple[str, str], tuple[int, ProbeFailure]] = {}
        """The poll in which it is tried again, and how it failed."""
        self._polls = 0
        self.one_trip = False
        """The last run took a single round trip, so that its server time means something."""
        self.times: dict[Key, float] = {}
        """Milliseconds on the server of what was timed in the last run, in its batch."""
        self.alone: dict[Key, float] = {}
        """The same of what ran by itself, seen from here, less the quickest way there and back."""
        self._trip_s = float("inf")

    def keep(self, queues: Collection[str], tables: Collection[int]) -> None:
        """Forget how the probes of other queues and tables than these have gone."""
        parts = {str(table) for table in tables}

        def stays(key: Key) -> bool:
            part = key[1].partition(PART)[2]
            return key[0] in queues if key[0] else not part or part in parts

        for each in self._lists:
            for key in [key for key in each if not stays(key)]:
                del each[key]
        self._met = {key for key in self._met if stays(key)}
        self._proven = {key for key in self._proven if stays(key)}
        self._failing = {key: failure for key, failure in self._failing.items() if stays(key)}
        self._suspicion.quarantine.keep(stays)

    def run(
        self, statements: Sequence[ProbeStatement], timed: Collection[Key] = frozenset()
    ) -> tuple[Results, list[ProbeFailure]]:
        """Run the statements; ``timed``: take the time of these.

        Raises ``ConnectionLost``; every other failure is returned beside the results.
        """
        self._polls += 1
        self.times, self.alone = {}, {}
        results: Results = {}
        self._meet(statements)
        batch = [each for each in statements if each.key in self._proven]
        single = [each for each in statements if each.key not in self._proven and not self._resting(each)]
        self.one_trip = not single
        if batch and not self._batch(batch, results, timed):
            single = batch + single
            self.one_trip = False
        began = time.perf_counter()
        for at, statement in enumerate(single):
            if not self._single(statement, results) or time.perf_counter() - began > _PROVING_S:
                # The server is too slow for more in this poll: the others have their turn in the next. Of a batch that
                # failed, one of those not reached may be the one that fails it.
                self._proven.difference_update(each.key for each in single[at + 1 :])
                break
        asked = {each.key for each in statements}
        failures = [failure for key, (_, failure) in self._failing.items() if key in asked]
        return _put_together(results), list(dict.fromkeys(failures))

    @property
    def denied(self) -> frozenset[str]:
        """The queues of which a probe was refused for want of a permission."""
        return frozenset(queue for (queue, _), (_, failure) in self._failing.items() if queue and failure.grant)

    def wake(self, queue: str) -> None:
        """Let the probes of a queue that rest run in the next poll."""
        for key, (_, failure) in self._failing.items():
            if key[0] == queue:
                self._failing[key] = (0, failure)

    def _meet(self, statements: Sequence[ProbeStatement]) -> None:
        """Leave out for a while what has cost earlier connections."""
        for statement in statements:
            if statement.key in self._met or statement.record in _NEEDED:
                continue
            self._met.add(statement.key)
            if rest := self._suspicion.quarantine.rest(statement.key):
                self._failing[statement.key] = (
                    self._polls + rest,
                    ProbeFailure(statement.probe, _COSTLY, statement.queue),
                )

    def _resting(self, statement: ProbeStatement) -> bool:
        failed = self._failing.get(statement.key)
        return failed is not None and self._polls < failed[0]

    def _batch(self, statements: Sequence[ProbeStatement], results: Results, timed: Collection[Key]) -> bool:
        clock = next((each for each in statements if each.record is ClockSample), None)
        known = self._listed(statements, clock) if self._by_text else statements
        sent = _with_stamps(known, clock, {each.key for each in known} if self._by_text else timed)
        asked = _asked(sent, {each.key for each in statements}, timed)
        self._suspicion.asks(None)
        try:
            sets = self._connection.fetch_list([(each or clock or statements[0]).bound for each in sent], asked)
        except ConnectionLost:
            self._suspicion.lost()
            raise
        except QueryFailed as problem:
            if not isinstance(problem, LockTimeout):  # one that is not asked for may be what the server does not take
                self._lists[clock is None].clear()
            self._note(problem)
            return False
        self._suspicion.answered()
        stamp_at, last = None, None
        for statement, rows in zip(sent, sets, strict=True):
            if rows is None:
                continue
            if statement is not None:
                last = statement
                try:
                    results[statement.key] = tuple(records(statement.record, rows))
                except QueryFailed as problem:  # a value that no row had before: the others are good
                    self._failed(statement, problem)
                continue
            now_at = records(ClockSample, rows)[0].now_at
            if stamp_at is not None and last is not None:
                self.times[last.key] = (now_at - stamp_at) * 1000
            stamp_at, last = now_at, None
        return True

    def _listed(self, statements: Sequence[ProbeStatement], clock: ProbeStatement | None) -> list[ProbeStatement]:
        """All that was ever asked in such a batch, in the order in which it came; the clock at the end."""
        known = self._lists[clock is None]
        known |= {each.key: each for each in statements}
        if clock is not None:
            known[clock.key] = known.pop(clock.key)
        return list(known.values())

    def _single(self, statement: ProbeStatement, results: Results) -> bool:
        """Run one statement by itself; false where it ran into its deadline."""
        began = time.perf_counter()
        self._suspicion.asks(statement.key)
        try:
            results[statement.key] = tuple(records(statement.record, self._connection.fetch(statement.bound)))
        except ConnectionLost:
            self._suspicion.lost()
            raise
        except QueryFailed as problem:
            self._note(problem)
            self._failed(statement, problem)
            return isinstance(problem, LockTimeout) or not isinstance(problem, DeadlineExceeded)
        self._suspicion.answered(statement.key)
        took = time.perf_counter() - began
        self._trip_s = min(self._trip_s, took)
        self.alone[statement.key] = (took - self._trip_s) * 1000
        self._proven.add(statement.key)
        self._failing.pop(statement.key, None)
        return True

    def _failed(self, statement: ProbeStatement, problem: QueryFailed) -> None:
        self._proven.discard(statement.key)
        grant = problem.grant if isinstance(problem, PermissionMissing) else ""
        denied = bool(grant) and statement.probe.startswith(_OF_THE_QUEUE)
        gone = bool(statement.queue) and (denied or problem.sqlstate in _GONE)
        failure = ProbeFailure(statement.probe, _reason(problem), statement.queue, grant, gone)
        self._failing[statement.key] = (self._polls + _rest(problem), failure)

    def _note(self, problem: QueryFailed) -> None:
        if isinstance(problem, DeadlineExceeded):
            self._suspicion.late()
        else:
            self._suspicion.answered()


def _with_stamps(
    statements: Sequence[ProbeStatement], clock: ProbeStatement | None, timed: Collection[Key]
) -> list[ProbeStatement | None]:
    """The statements, the clock (``None``) before and after each that is timed; without a clock as they are."""
    out: list[ProbeStatement | None] = []
    for statement in statements:
        if clock is None or statement.key not in timed:
            out.append(statement)
            continue
        if not out or out[-1] is not None:
            out.append(None)
        out += [statement, None]
    return out


def _asked(sent: Sequence[ProbeStatement | None], statements: Collection[Key], timed: Collection[Key]) -> list[bool]:
    """Which of these are asked for: the statements, and the clock where it stands beside one that is timed."""
    beside = [each is not None and each.key in statements and each.key in timed for each in (None, *sent, None)]
    return [
        statement.key in statements if statement is not None else beside[at] or beside[at + 2]
        for at, statement in enumerate(sent)
    ]


def _put_together(results: Results) -> Results:
    """The rows of a probe that was asked in parts, under its own name."""
    if not any(PART in probe for _, probe in results):
        return results
    out: Results = {}
    for (queue, probe), rows in results.items():
        key = queue, probe.partition(PART)[0]
        out[key] = out.get(key, ()) + rows
    return out


def _rest(problem: QueryFailed) -> int:
    if isinstance(problem, PermissionMissing):
        return _REST_LONG
    return _REST_SHORT if isinstance(problem, DeadlineExceeded) else _REST


def _reason(problem: QueryFailed) -> str:
    if isinstance(problem, LockTimeout):
        return "somebody holds a lock on the table that even readers wait for; tried again later"
    if isinstance(problem, DeadlineExceeded):
        return "took longer than the poll may; tried again later"
    return str(problem)
