"""Runs the statements of a poll: all in one round trip where that works, in a few where it does not.

What has worked before goes in one batch, what is new in another. Of a batch that fails its halves are tried, and their
halves, until what fails stands alone. A poll has a fixed number of round trips and little time for that; what it does
not come to has its turn in the next one.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import Final

from qmon.engines.base import Connection
from qmon.engines.rows import records
from qmon.errors import ConnectionLost, DeadlineExceeded, LockTimeout, PermissionMissing, QueryFailed
from qmon.model.budget import Key
from qmon.model.reasons import Reason
from qmon.model.samples.polled import ClockSample, ServerSample
from qmon.model.snapshot import ProbeFailure
from qmon.monitor.poll.quarantine import InFlightProbe
from qmon.monitor.probes.statements import PART, ProbeStatement, Results

# Round trips of a run, at most.
MOST_TRIPS: Final = 40
# Seconds of one poll that looking for what fails may take: the poll must end within its deadline.
_PROVING_S: Final = 0.45
# New statements that are tried together, at most: the server plans each for the first time.
_TOGETHER: Final = 250
# The same after one has failed, since those of a queue often fail together; then more and more.
_AFTER_ONE: Final = 8
_REST: Final = 15
_REST_LONG: Final = 30
_REST_SHORT: Final = 4
# SQLSTATEs of a table, column or schema that is not there, of PostgreSQL and of ODBC.
_GONE: Final = frozenset({"42P01", "42S02", "S0002", "42703", "42S22", "S0022", "3F000"})
# What the names of the probes begin with without which nothing is known of a queue.
_OF_THE_QUEUE: Final = ("head", "ring")
# Records without which there is no poll: what reads them is always tried.
_NEEDED: Final = (ClockSample, ServerSample)


class Runner:
    """Runs statements on one connection and remembers which of them fail, so that they do not fail every batch.

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
        # What has been asked in a batch: first of a poll's, then of what is asked later in it.
        self._lists: tuple[dict[Key, ProbeStatement], dict[Key, ProbeStatement]] = ({}, {})
        self._later = False
        self._suspicion = suspicion or InFlightProbe()
        self._met: set[tuple[str, str]] = set()
        self._proven: set[tuple[str, str]] = set()
        # The poll in which it is tried again, and how it failed.
        self._failing: dict[tuple[str, str], tuple[int, ProbeFailure]] = {}
        self._polls = 0
        # New statements that are tried together now.
        self._most = _TOGETHER
        # A batch has failed, and which of its statements it was is not known yet.
        self._halving = False
        # Round trips of the last run.
        self.trips = 0
        # The statements that the last run did not come to.
        self.missed: frozenset[Key] = frozenset()
        # The last run took a single round trip, so that its server time means something.
        self.one_trip = False
        # Milliseconds on the server of what was timed in the last run, in its batch.
        self.times: dict[Key, float] = {}
        # The same of what ran by itself, seen from here, less the quickest way there and back.
        self.alone: dict[Key, float] = {}
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
        self, statements: Sequence[ProbeStatement], timed: Collection[Key] = frozenset(), *, later: bool = False
    ) -> tuple[Results, list[ProbeFailure]]:
        """Run the statements; ``timed``: take the time of these, for which the clock must be among the statements.

        ``later``: these are asked because of what the poll has found so far. Raises ``ConnectionLost``; every other
        failure is returned beside the results.
        """
        self._polls += 1
        self.trips, self._later = 0, later
        self.times, self.alone = {}, {}
        results: Results = {}
        self._meet(statements)
        clock = next((each for each in statements if each.record is ClockSample), None)
        known = [each for each in statements if each.key in self._proven]
        again = [each for each in statements if each.key in self._failing and not self._resting(each)]
        new = [each for each in statements if each.key not in self._proven and each.key not in self._failing]
        if known and not self._batch(known, results, timed, clock, known=True):
            self._proven.difference_update(each.key for each in known)
            new = known + new
            self._most, self._halving = min(max(1, len(known) // 2), _TOGETHER), True
        self._prove(new, again, results, timed, clock)
        if self._by_text:  # at once, so that what is asked rarely does not change the text when it is due again
            self._lists[later].update({e.key: e for e in new if not e.queue and e.key in self._proven})
        self.one_trip = self.trips == 1 and not new
        self.missed = frozenset(
            each.key for each in statements if each.key not in results and each.key not in self._failing
        )
        asked = {each.key for each in statements}
        failures = [failure for key, (_, failure) in self._failing.items() if key in asked]
        in_order = {each.key: results[each.key] for each in statements if each.key in results}
        return _put_together(in_order), list(dict.fromkeys(failures))

    def _prove(
        self,
        new: Sequence[ProbeStatement],
        again: Sequence[ProbeStatement],
        results: Results,
        timed: Collection[Key],
        clock: ProbeStatement | None,
    ) -> None:
        """Try what has not worked yet: what is ``new`` together, what has failed before (``again``) one by one."""
        began, before = time.perf_counter(), self.trips

        def may_go_on() -> bool:
            """At least one in each poll, so that there is an end to it on the slowest server, and what is needed."""
            if self.trips == before:
                return True
            needed = any(each.record in _NEEDED for each in left)
            return self.trips < MOST_TRIPS and (needed or time.perf_counter() - began <= _PROVING_S)

        left = sorted(new, key=lambda each: each.queue)  # all of a queue before the next one, the target's first
        while left and may_go_on():
            most = min(self._most, self._suspicion.quarantine.most or _TOGETHER)
            piece, rest = left[:most], left[most:]
            if len(piece) > 1:
                if self._batch(piece, results, timed, clock):
                    self._most = min(self._most * (1 if self._halving else 4), _TOGETHER)
                    left = rest
                else:
                    self._most, self._halving = len(piece) // 2, True
                continue
            if not self._single(piece[0], results, left):
                return
            if piece[0].key not in self._proven:
                self._most, self._halving = _AFTER_ONE, False
            left = [each for each in rest if each.key not in self._failing]
        if not left:
            self._most, self._halving = _TOGETHER, False
        for statement in again:
            if not may_go_on() or not (self._resting(statement) or self._single(statement, results, again)):
                return

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
        """Quarantine the probes that have cost earlier connections."""
        for statement in statements:
            if statement.key in self._met or statement.record in _NEEDED:
                continue
            self._met.add(statement.key)
            if rest := self._suspicion.quarantine.rest(statement.key):
                self._failing[statement.key] = (
                    self._polls + rest,
                    ProbeFailure(statement.probe, Reason.CONNECTION_LOST, statement.queue),
                )

    def _resting(self, statement: ProbeStatement) -> bool:
        failed = self._failing.get(statement.key)
        return failed is not None and self._polls < failed[0]

    def _batch(
        self,
        statements: Sequence[ProbeStatement],
        results: Results,
        timed: Collection[Key],
        clock: ProbeStatement | None,
        *,
        known: bool = False,
    ) -> bool:
        """Run these in one round trip; false where one fails. ``known``: all have worked before."""
        self.trips += 1
        listed = known and self._by_text
        last = clock if clock in statements else None
        every = self._listed(statements, last) if listed else statements
        sent = _with_stamps(every, clock, {each.key for each in every} if listed else timed)
        asked = _asked(sent, {each.key for each in statements}, timed)
        bounds = [(each or clock or statements[0]).bound for each in sent]
        self._suspicion.asks(() if known else [each.key for each in statements])
        try:
            sets = self._connection.fetch_list(bounds, asked) if known else self._connection.fetch_batch(bounds)
        except ConnectionLost:
            self._suspicion.lost()
            raise
        except QueryFailed as problem:
            if listed and not isinstance(problem, LockTimeout):
                self._lists[self._later].clear()  # one that is not asked for may be what the server does not take
            self._note(problem)
            return False
        self._suspicion.answered()
        self._proven.update(each.key for each in statements)
        stamp_at, read = None, None
        for statement, rows in zip(sent, sets, strict=True):
            if rows is None:
                continue
            if statement is not None:
                read = statement
                try:
                    results[statement.key] = tuple(records(statement.record, rows))
                except QueryFailed as problem:  # a value that no row had before: the others are good
                    self._failed(statement, problem)
                continue
            now_at = records(ClockSample, rows)[0].now_at
            if stamp_at is not None and read is not None:
                self.times[read.key] = (now_at - stamp_at) * 1000
            stamp_at, read = now_at, None
        return True

    def _listed(self, statements: Sequence[ProbeStatement], clock: ProbeStatement | None) -> list[ProbeStatement]:
        """All that was ever asked in such a batch, in the order in which it came; the clock at the end."""
        known = self._lists[self._later]
        known |= {each.key: each for each in statements}
        if clock is not None:
            known[clock.key] = known.pop(clock.key)
        return list(known.values())

    def _single(self, statement: ProbeStatement, results: Results, others: Sequence[ProbeStatement]) -> bool:
        """Run one statement by itself; false where it ran into its deadline. ``others``: where somebody holds a lock on
        its queue's table, those of the same queue are left out as well: each would wait for it."""
        self.trips += 1
        began = time.perf_counter()
        self._suspicion.asks([statement.key])
        try:
            results[statement.key] = tuple(records(statement.record, self._connection.fetch(statement.bound)))
        except ConnectionLost:
            self._suspicion.lost()
            raise
        except QueryFailed as problem:
            self._note(problem)
            self._failed(statement, problem)
            if isinstance(problem, LockTimeout) and statement.queue:
                for each in others:
                    if each.queue == statement.queue:
                        self._failed(each, problem)
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
        return Reason.LOCKED
    if isinstance(problem, DeadlineExceeded):
        return Reason.DEADLINE
    return str(problem)
