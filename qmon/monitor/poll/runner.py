"""Run the statements of a poll in one round trip if possible, otherwise in a few round trips.

Proven statements are sent in one batch, and new statements are sent in another batch. If a batch fails, it is split in
halves until the failing statement is isolated. A poll may use only a few round trips and little time to isolate
failures. The next poll reads what is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import Final

from qmon.engines.base import Connection
from qmon.engines.result_records import to_records
from qmon.errors import ConnectionLost, LockTimeout, PermissionMissing, QueryFailed, StatementStopped
from qmon.model.cost_budget import ProbeKey
from qmon.model.probe_table import probe_family
from qmon.model.reasons import Reason
from qmon.model.samples.polled_samples import ClockSample, ServerSample
from qmon.model.snapshot import ProbeFailure
from qmon.monitor.poll.quarantine import InFlightProbe
from qmon.monitor.probes.probe_statements import PART, ProbeStatement, Results

# Maximum number of round trips of a run.
MOST_TRIPS: Final = 40

# Seconds that a poll may spend on finding the failing statement, because it must end within its deadline.
UNPROVEN_S: Final = 0.45

# Maximum number of new statements that are tried together. The server must plan each of them for the first time.
_TOGETHER: Final = 250

# Maximum number of new statements that are tried together after a failure, because the statements of one queue often
# fail together. The number then grows again.
_AFTER_ONE: Final = 8
_REST: Final = 15
_REST_LONG: Final = 30
_REST_SHORT: Final = 4

# SQLSTATEs for a missing table, column or schema, of PostgreSQL and of ODBC.
_GONE: Final = frozenset({"42P01", "42S02", "S0002", "42703", "42S22", "S0022", "3F000"})

# The families of probes that a queue needs most.
_QUEUE_PROBES: Final = ("head", "ring")

# Records that every poll needs. Statements that read these records are always tried.
_NEEDED: Final = (ClockSample, ServerSample)


class Runner:
    """Run statements on one connection and remember failed statements, so that they do not fail every batch.

    A failed statement is left out for some polls and then tried again. Until then, each poll reports the failure again.
    Most failures leave a statement out for 15 polls. A lock or a deadline leaves it out for 4 polls, and a missing
    permission for 30 polls. ``in_flight``: the running probes, and the probes during which earlier connections were
    lost. ``by_text``: the server caches plans by the text of a batch. Every batch then has the same text, which
    contains all statements ever sent. Values in the batch select the statements to run. ``find_locked``: returns which
    of these queues have locked tables, without waiting for a lock.
    """

    def __init__(
        self,
        connection: Connection,
        in_flight: InFlightProbe | None = None,
        *,
        by_text: bool = False,
        find_locked: Callable[[Collection[str]], Collection[str]] = lambda _: (),
    ) -> None:
        self._connection = connection
        self._find_locked = find_locked
        self._by_text = by_text
        # Statements sent so far in batches. The first dictionary has statements of polls, and the second dictionary has
        # statements that were added later in a poll.
        self._lists: tuple[dict[ProbeKey, ProbeStatement], dict[ProbeKey, ProbeStatement]] = ({}, {})
        self._is_later = False
        self._in_flight = in_flight or InFlightProbe()
        self._met: set[tuple[str, str]] = set()
        self._proven: set[tuple[str, str]] = set()
        # The poll in which the statement is tried again, and how it failed.
        self._failing: dict[tuple[str, str], tuple[int, ProbeFailure]] = {}
        self._polls = 0
        # Number of new statements that are tried together now.
        self._most = _TOGETHER
        # True while a batch has failed and the failing statement is not known yet.
        self._halving = False
        # Why the last batch that failed has failed.
        self._batch_problem: QueryFailed | None = None
        # Round trips of the last run.
        self.trips = 0
        # Statements that the last run did not reach.
        self.missed: frozenset[ProbeKey] = frozenset()
        # True if the last run took a single round trip, so that its server time is meaningful.
        self.one_trip = False
        # Server milliseconds of the timed statements of the last run, in their batch.
        self.times: dict[ProbeKey, float] = {}
        # Milliseconds of statements that ran alone, measured on this machine, minus the fastest round trip.
        self.times_alone: dict[ProbeKey, float] = {}
        self._trip_s = float("inf")

    def retain_only(self, queues: Collection[str], tables: Collection[int]) -> None:
        """Forget the state of probes of other queues and tables."""
        parts = {str(table) for table in tables}

        def stays(key: ProbeKey) -> bool:
            part = key[1].partition(PART)[2]
            return key[0] in queues if key[0] else not part or part in parts

        for each in self._lists:
            for key in [key for key in each if not stays(key)]:
                del each[key]
        self._met = {key for key in self._met if stays(key)}
        self._proven = {key for key in self._proven if stays(key)}
        self._failing = {key: failure for key, failure in self._failing.items() if stays(key)}
        self._in_flight.quarantine.retain_only(stays)

    def run_statements(
        self, statements: Sequence[ProbeStatement], timed: Collection[ProbeKey] = frozenset(), *, later: bool = False
    ) -> tuple[Results, list[ProbeFailure]]:
        """Run the statements. Raises ``ConnectionLost``; all other failures are returned with the results.

        ``timed``: time these statements; the clock must be among the statements. ``later``: the statements were added
        because of earlier results of this poll.
        """
        self._polls += not later
        self.trips, self._is_later = 0, later
        self.times, self.times_alone = {}, {}
        results: Results = {}
        self._quarantine_probes(statements)
        clock = next((each for each in statements if each.record is ClockSample), None)
        known = [each for each in statements if each.key in self._proven]
        again = [each for each in statements if each.key in self._failing and not self._is_resting(each)]
        new = [each for each in statements if each.key not in self._proven and each.key not in self._failing]
        if failed := self._run_known(known, results, timed, clock):
            self._proven.difference_update(each.key for each in failed)
            new = failed + new
            self._most, self._halving = min(max(1, len(failed) // 2), _TOGETHER), True
        self._run_unproven(new, again, results, timed, clock)
        if self._by_text:  # add all statements now, so that rare statements do not change the text later
            self._lists[later].update({e.key: e for e in new if not e.queue and e.key in self._proven})
        self.one_trip = self.trips == 1 and not new
        self.missed = frozenset(
            each.key for each in statements if each.key not in results and each.key not in self._failing
        )
        asked = {each.key for each in statements}
        failures = [failure for key, (_, failure) in self._failing.items() if key in asked]
        in_order = {each.key: results[each.key] for each in statements if each.key in results}
        return _merge_parts(in_order), list(dict.fromkeys(failures))

    def _run_known(
        self,
        statements: list[ProbeStatement],
        results: Results,
        timed: Collection[ProbeKey],
        clock: ProbeStatement | None,
    ) -> list[ProbeStatement]:
        """Run statements that have worked before in one batch. Return the statements to isolate if the batch fails.

        If the batch waits for a lock, it runs again without the queues whose tables are locked. If these queues are
        already left out, a statement of the target waits for the lock, and the batch runs without these statements.
        Isolating all statements instead would take several polls, in which few queues are read.
        """
        if not statements or self._try_batch(statements, results, timed, clock, worked_before=True):
            return []
        if not isinstance(self._batch_problem, LockTimeout):
            return statements
        free = self._leave_out_locked(statements)
        if not free or (
            len(free) < len(statements) and self._try_batch(free, results, timed, clock, worked_before=True)
        ):
            return []
        target, queues = ([each for each in free if bool(each.queue) is own] for own in (False, True))
        return target if queues and self._try_batch(queues, results, timed, clock, worked_before=True) else free

    def _leave_out_locked(self, statements: Sequence[ProbeStatement]) -> list[ProbeStatement]:
        """Record a failure of all statements of queues with locked tables. Return the other statements.

        Without a lock timeout in the last batch that has failed, return all statements.
        """
        problem = self._batch_problem
        if not isinstance(problem, LockTimeout):
            return list(statements)
        self.trips += 1
        locked = frozenset(self._find_locked({each.queue for each in statements}))
        for each in statements:
            if each.queue in locked:
                self._record_failure(each, problem)
        return [each for each in statements if each.queue not in locked]

    def _run_unproven(
        self,
        new: Sequence[ProbeStatement],
        again: Sequence[ProbeStatement],
        results: Results,
        timed: Collection[ProbeKey],
        clock: ProbeStatement | None,
    ) -> None:
        """Run unproven statements: ``new`` statements together, previously failed statements (``again``) one by one."""
        began, before = time.perf_counter(), self.trips

        def may_go_on() -> bool:
            """Return whether another trip is allowed. The first trip and trips for needed statements always are."""
            if self.trips == before:
                return True
            needed = any(each.record in _NEEDED for each in left)
            return self.trips < MOST_TRIPS and (needed or time.perf_counter() - began <= UNPROVEN_S)

        # Run the statements of the target first, and all statements of one queue before the next queue.
        left = sorted(new, key=lambda each: each.queue)
        while left and may_go_on():
            most = min(self._most, self._in_flight.quarantine.most_together or _TOGETHER)
            piece, rest = left[:most], left[most:]
            if len(piece) > 1:
                if self._try_batch(piece, results, timed, clock):
                    self._most = min(self._most * (1 if self._halving else 4), _TOGETHER)
                    left = rest
                elif len(free := self._leave_out_locked(left)) < len(left):
                    left = free
                else:
                    self._most, self._halving = len(piece) // 2, True
                continue
            if not self._try_single(piece[0], results, left):
                return
            if piece[0].key not in self._proven:
                self._most, self._halving = _AFTER_ONE, False
            left = [each for each in rest if each.key not in self._failing]
        if not left:
            self._most, self._halving = _TOGETHER, False
        for statement in again:
            if not may_go_on() or not (self._is_resting(statement) or self._try_single(statement, results, again)):
                return

    @property
    def denied_queues(self) -> frozenset[str]:
        """The queues with a probe that was denied for lack of permission."""
        return frozenset(queue for (queue, _), (_, failure) in self._failing.items() if queue and failure.grant)

    def wake_queue(self, queue: str) -> None:
        """Let the resting probes of a queue run in the next poll."""
        for key, (_, failure) in self._failing.items():
            if key[0] == queue:
                self._failing[key] = (0, failure)

    def _quarantine_probes(self, statements: Sequence[ProbeStatement]) -> None:
        """Leave out the probes during which earlier connections were lost."""
        for statement in statements:
            if statement.key in self._met or statement.record in _NEEDED:
                continue
            self._met.add(statement.key)
            if rest := self._in_flight.quarantine.rest_polls(statement.key):
                self._failing[statement.key] = (
                    self._polls + rest,
                    ProbeFailure(statement.probe, Reason.CONNECTION_LOST, statement.queue),
                )

    def _is_resting(self, statement: ProbeStatement) -> bool:
        failed = self._failing.get(statement.key)
        return failed is not None and self._polls < failed[0]

    def _try_batch(
        self,
        statements: Sequence[ProbeStatement],
        results: Results,
        timed: Collection[ProbeKey],
        clock: ProbeStatement | None,
        *,
        worked_before: bool = False,
    ) -> bool:
        """Run the statements in one round trip; return false if one fails.

        ``worked_before``: all have worked before.
        """
        self.trips += 1
        listed = worked_before and self._by_text
        last = clock if clock in statements else None
        every = self._all_listed(statements, last) if listed else statements
        sent = _with_stamps(every, clock, {each.key for each in every} if listed else timed)
        asked = _run_flags(sent, {each.key for each in statements}, timed)
        bounds = [(each or clock or statements[0]).bound for each in sent]
        self._in_flight.record_sent(() if worked_before else [each.key for each in statements])
        try:
            sets = self._connection.fetch_list(bounds, asked) if worked_before else self._connection.fetch_batch(bounds)
        except ConnectionLost:
            self._in_flight.record_loss()
            raise
        except QueryFailed as problem:
            self._batch_problem = problem
            if listed and not isinstance(problem, LockTimeout):
                # The cause may be a statement that is in the text but should not run now.
                self._lists[self._is_later].clear()
            self._note_answer(problem)
            return False
        self._in_flight.record_answer()
        self._proven.update(each.key for each in statements)
        stamp_at, read = None, None
        for statement, rows in zip(sent, sets, strict=True):
            if rows is None:
                continue
            if statement is not None:
                read = statement
                try:
                    results[statement.key] = tuple(to_records(statement.record, rows))
                except QueryFailed as problem:  # a value of an unexpected type or range; the other results are good
                    self._record_failure(statement, problem)
                continue
            now_at = to_records(ClockSample, rows)[0].now_at
            if stamp_at is not None and read is not None:
                self.times[read.key] = (now_at - stamp_at) * 1000
            stamp_at, read = now_at, None
        return True

    def _all_listed(self, statements: Sequence[ProbeStatement], clock: ProbeStatement | None) -> list[ProbeStatement]:
        """Return every statement ever sent in such a batch, in order of first use, with the clock at the end."""
        known = self._lists[self._is_later]
        known |= {each.key: each for each in statements}
        if clock is not None:
            known[clock.key] = known.pop(clock.key)
        return list(known.values())

    def _try_single(self, statement: ProbeStatement, results: Results, others: Sequence[ProbeStatement]) -> bool:
        """Run one statement alone; return false if it ran into its deadline.

        ``others``: the statements that run next. If the statement meets a lock, the other statements of the same queue
        are also left out, because each of them would wait for the lock.
        """
        self.trips += 1
        began = time.perf_counter()
        self._in_flight.record_sent([statement.key])
        try:
            results[statement.key] = tuple(to_records(statement.record, self._connection.fetch(statement.bound)))
        except ConnectionLost:
            self._in_flight.record_loss()
            raise
        except QueryFailed as problem:
            self._note_answer(problem)
            self._record_failure(statement, problem)
            if isinstance(problem, LockTimeout) and statement.queue:
                for each in others:
                    if each.queue == statement.queue:
                        self._record_failure(each, problem)
            return isinstance(problem, LockTimeout) or not isinstance(problem, StatementStopped)
        self._in_flight.record_answer(statement.key)
        took = time.perf_counter() - began
        self._trip_s = min(self._trip_s, took)
        self.times_alone[statement.key] = (took - self._trip_s) * 1000
        self._proven.add(statement.key)
        self._failing.pop(statement.key, None)
        return True

    def _record_failure(self, statement: ProbeStatement, problem: QueryFailed) -> None:
        self._proven.discard(statement.key)
        grant = problem.grant if isinstance(problem, PermissionMissing) else ""
        denied = bool(grant) and probe_family(statement.probe) in _QUEUE_PROBES
        gone = bool(statement.queue) and (denied or problem.sqlstate in _GONE)
        failure = ProbeFailure(statement.probe, _failure_reason(problem), statement.queue, grant, gone)
        self._failing[statement.key] = (self._polls + _rest_polls(problem), failure)

    def _note_answer(self, problem: QueryFailed) -> None:
        if isinstance(problem, StatementStopped):
            self._in_flight.record_late()
        else:
            self._in_flight.record_answer()


def _with_stamps(
    statements: Sequence[ProbeStatement], clock: ProbeStatement | None, timed: Collection[ProbeKey]
) -> list[ProbeStatement | None]:
    """Return the statements, with a clock reading (``None``) before and after each timed one, if there is a clock."""
    out: list[ProbeStatement | None] = []
    for statement in statements:
        if clock is None or statement.key not in timed:
            out.append(statement)
            continue
        if not out or out[-1] is not None:
            out.append(None)
        out += [statement, None]
    return out


def _run_flags(
    sent: Sequence[ProbeStatement | None], statements: Collection[ProbeKey], timed: Collection[ProbeKey]
) -> list[bool]:
    """Return for each entry whether to run it. Clock readings run only next to timed statements."""
    beside = [each is not None and each.key in statements and each.key in timed for each in (None, *sent, None)]
    return [
        statement.key in statements if statement is not None else beside[at] or beside[at + 2]
        for at, statement in enumerate(sent)
    ]


def _merge_parts(results: Results) -> Results:
    """Merge the rows of the parts of a probe under the name of the probe."""
    if not any(PART in probe for _, probe in results):
        return results
    out: Results = {}
    for (queue, probe), rows in results.items():
        key = queue, probe.partition(PART)[0]
        out[key] = out.get(key, ()) + rows
    return out


def _rest_polls(problem: QueryFailed) -> int:
    if isinstance(problem, PermissionMissing):
        return _REST_LONG
    return _REST_SHORT if isinstance(problem, StatementStopped) else _REST


def _failure_reason(problem: QueryFailed) -> str:
    if isinstance(problem, LockTimeout):
        return Reason.LOCKED
    if isinstance(problem, StatementStopped):
        return Reason.DEADLINE
    return problem.reason if isinstance(problem, PermissionMissing) else str(problem)
