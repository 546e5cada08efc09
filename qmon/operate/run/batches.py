"""Processes the frozen rows of a plan in small transactions with rests in between. A run can be stopped at any time."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Final

from qmon.engines.base import Connection
from qmon.errors import LockTimeout, QmonError, QueryFailed, StatementStopped
from qmon.model.operation_records import Progress
from qmon.operate.context import OnProgress, StopRequested
from qmon.operate.row_set import Mark, RowSet
from qmon.operate.run.failure_watch import FailureWatch
from qmon.operate.run.pacing import FIRST_BATCH, BatchPace, largest_batch_for
from qmon.operate.run.running_operation import Refusal, RunningOperation, Tally
from qmon.operate.sql import Names, Sql, Values
from qmon.texts import Text


class RowRefusal(Text):
    """Why rows stay unchanged."""

    LOCKED = "another session has locked a row that this change needs, such as a row of another table"
    ROW_SECURITY = "row level security keeps this role from changing the row"
    ALL_REFUSED = "the first {count:,} rows were refused; qmon did not try the other rows: {why}"


# Processes one batch inside its transaction, counts its rows in the tally, and returns rows locked by other sessions.
MoveBatch = Callable[[Sequence[Mark], Tally], list[Mark]]

# Returns the readable name of a row.
NameRow = Callable[[Mark], str]

# SQLSTATEs of a deadlock and of a serialization failure. Batches are retried after these errors and after lock
# timeouts.
_RETRYABLE_STATES: Final = frozenset({"40001", "40P01"})

# Prefixes of the SQLSTATEs with which a constraint, check option, policy, trigger or the page size refuses a row.
_REFUSAL_STATES: Final = re.compile("22|23|27|44|54000|P0")
_FIRST_USER_ERROR: Final = 50_000

# SQL Server: RAISERROR and THROW have numbers from 50,000. The numbers below mean that a row is too large for a page,
# that a trigger ended the batch, or that a security policy blocked the row.
_REFUSAL_NUMBERS: Final = frozenset({511, 3609, 3616, 33504})

# Statements that lock the frozen rows. These statements skip locked rows, so a lock timeout is about the table lock.
_LOCK_STATEMENTS: Final = re.compile(r"/lock(_|$)")
_MAX_TRIES: Final = 5
_MAX_TRIES_LOCKED: Final = 3

# Stop after this many refused rows if no row succeeded, because each refusal adds an error to the server's log.
MAX_ONLY_REFUSED: Final = 1000

# The mark of a batch that selects its own rows.
_ANY_ROWS: Final = ("", "")
_CHECK_EVERY_S: Final = 0.05

# After a stop request, a batch may run for this many seconds before qmon asks the server to cancel the batch.
_CANCEL_AFTER_S: Final = 0.3


class RowRefused(QmonError):
    """Raised when a trigger, rule or policy changed the effect of a statement. The batch is rolled back."""


class AllRefused(QmonError):
    """Raised when many rows were refused and no row succeeded. The remaining rows are not tried."""


def _refusal_of(problem: QmonError) -> Refusal | None:
    """Return why a row is skipped after this error, or ``None`` if the error is not about a single row."""
    if isinstance(problem, RowRefused):
        return Refusal.by_qmon(str(problem))
    # rows locked by other sessions are skipped, not refused
    if isinstance(problem, LockTimeout) and not _LOCK_STATEMENTS.search(problem.query):
        return Refusal.by_qmon(RowRefusal.LOCKED)
    if not isinstance(problem, QueryFailed):
        return None
    words = str(problem).removeprefix(f"{problem.query}: ")
    own = any(number >= _FIRST_USER_ERROR or number in _REFUSAL_NUMBERS for number in problem.numbers)
    policy = problem.sqlstate == "42501" and "row-level security" in words
    return Refusal.by_server(words) if own or policy or _REFUSAL_STATES.match(problem.sqlstate) else None


@dataclass(frozen=True, slots=True)
class BatchWork:
    """Move the frozen rows of a plan. Requeue, purge and undo use this class.

    ``create_mover`` creates what the operation needs and returns the function that moves one batch.
    ``read_message_name`` returns the readable name of a row.
    """

    rows: RowSet
    create_mover: Callable[[Sql, RunningOperation], MoveBatch]
    read_message_name: Callable[[Sql, Mark], str]

    def __call__(self, sql: Sql, operation: RunningOperation, on_progress: OnProgress, stopped: StopRequested) -> None:
        """Move all rows, until ``stopped()`` is true."""
        sql.set_up_session("settle")
        move = self.create_mover(sql, operation)
        batches = Batches(operation, sql.connection, self.rows.count, on_progress, stopped)
        batches.move_all(self.rows, move, partial(self.read_message_name, sql))


@dataclass(frozen=True, slots=True)
class _Locked:
    key: str
    locked: bool | None


def lock_rows(
    sql: Sql, name: str, names: Names, values: Values, marks: Sequence[Mark], tally: Tally
) -> tuple[list[Mark], list[Mark]]:
    """Lock the rows that have not changed since the plan.

    Return the rows that this transaction has locked, and the rows that other sessions have locked. The tally counts the
    rows that changed. Raises ``RowRefused`` if row-level security shows a row that our role may not lock.
    """
    found = {row.key: row.locked for row in sql.fetch(_Locked, name, names, values)}
    if None in found.values():
        raise RowRefused(RowRefusal.ROW_SECURITY)
    tally.changed += sum(key not in found for key, _ in marks)
    return [mark for mark in marks if found.get(mark[0])], [mark for mark in marks if found.get(mark[0]) is False]


class Batches:
    """Process the rows of one operation in batches.

    ``rate``: maximum number of rows per second. ``watch``: receives the result of each batch and decides whether to
    continue.
    """

    def __init__(
        self,
        operation: RunningOperation,
        connection: Connection,
        total: int,
        on_progress: OnProgress,
        stopped: StopRequested,
        *,
        rate: float | None = None,
        watch: FailureWatch | None = None,
    ) -> None:
        self._operation, self._connection = operation, connection
        self._total, self._on_progress, self._stopped = total, on_progress, stopped
        self._rate, self._watch = rate, watch
        self._pace = BatchPace(min(FIRST_BATCH, largest_batch_for(rate)), largest_batch_for(rate))
        self._begun = time.monotonic()
        self._cancelled = False
        self._name_row: NameRow = itemgetter(0)

    def move_all(self, rows: RowSet, move: MoveBatch, name_row: NameRow = itemgetter(0)) -> None:
        """Move all rows.

        Rows locked by other sessions are tried once more at the end. If the server refuses a batch, the batch is halved
        repeatedly until the refused rows are found. Raises ``AllRefused``.
        """
        self._name_row = name_row
        locked: list[Mark] = []
        self._move_in_batches(iter(rows), move, locked, again=False)
        if locked and not self._cancelled:
            self._move_in_batches(iter(locked), move, [], again=True)

    def repeat_batches(self, count: int, do_batch: Callable[[Tally, int], int]) -> None:
        """Call ``do_batch``, which processes one batch, until ``count`` rows are done or a call processes no row."""
        done = last = 0

        def move(marks: Sequence[Mark], tally: Tally) -> list[Mark]:
            nonlocal last
            last = do_batch(tally, min(self._pace.size, count - done))
            return []

        while done < count and not self._cancelled:
            last = 0
            self._move_in_batches(iter([_ANY_ROWS]), move, [], again=False)
            done += last
            if last == 0:
                break

    def _move_in_batches(self, remaining: Iterator[Mark], move: MoveBatch, locked: list[Mark], *, again: bool) -> None:
        while not self._cancelled and (some := list(islice(remaining, self._pace.size))):
            if self._watch is not None and (why := self._watch.why_stop()) is not None:
                self._operation.add_note(why)
                self._cancel_operation()
                return
            try:
                self._move_or_split(some, move, locked, again=again)
            except StatementStopped:
                if not self._stopped():
                    raise
                self._cancel_operation()

    def _cancel_operation(self) -> None:
        self._cancelled = True
        self._operation.mark_cancelled()

    def _move_or_split(self, some: Sequence[Mark], move: MoveBatch, locked: list[Mark], *, again: bool) -> None:
        waiting = [some]
        while waiting:
            if self._stopped():
                self._cancel_operation()
                return
            part = waiting.pop()
            begun = time.monotonic()
            try:
                locked += self._run_batch(part, move, again=again)
            except QmonError as problem:
                if (refusal := _refusal_of(problem)) is None or part == [_ANY_ROWS]:
                    raise
                self._pause(self._pace.record_batch(0, time.monotonic() - begun))
                if len(part) > 1:
                    middle = len(part) // 2
                    waiting += [part[middle:], part[:middle]]
                else:
                    self._record_refusal(part[0], refusal, again=again)

    def _record_refusal(self, mark: Mark, refusal: Refusal, *, again: bool) -> None:
        with self._operation.batch() as tally:
            tally.refused, tally.skipped = 1, -1 if again else 0
        self._operation.record_refusal(refusal, self._name_row(mark))
        self._report_progress()
        total = self._operation.total
        if not total.done and total.refused >= MAX_ONLY_REFUSED:
            raise AllRefused(RowRefusal.ALL_REFUSED.render(count=total.refused, why=refusal.why))

    def _run_batch(self, some: Sequence[Mark], move: MoveBatch, *, again: bool) -> list[Mark]:
        for tried in range(1, _MAX_TRIES + 1):
            begun = time.monotonic()
            try:
                with _CancelTimer(self._connection, self._stopped), self._operation.batch() as tally:
                    locked = move(some, tally)
                    tally.skipped = len(locked) - (len(some) if again else 0)
            except QueryFailed as problem:
                locked_out = isinstance(problem, LockTimeout)
                most = _MAX_TRIES_LOCKED if locked_out else _MAX_TRIES if problem.sqlstate in _RETRYABLE_STATES else 1
                if tried >= most or self._stopped():
                    raise
                self._pause(self._pace.record_given_up())
                continue
            rest = self._pace.record_batch(max(len(some), tally.done), time.monotonic() - begun)
            if self._watch is not None:
                self._watch.record_commit()
            if self._rate is not None:
                rest = max(rest, self._begun + self._processed_count / self._rate - time.monotonic())
            self._report_progress()
            self._pause(rest)
            return locked
        raise AssertionError("unreachable")

    def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not self._stopped():
            time.sleep(min(left, _CHECK_EVERY_S))

    @property
    def _processed_count(self) -> int:
        total = self._operation.total
        return total.done + total.skipped + total.changed + total.refused

    def _report_progress(self) -> None:
        total, over = self._operation.total, self._processed_count
        elapsed = time.monotonic() - self._begun
        rate = over / elapsed if elapsed > 0 and over else None
        left = None if rate is None else max(0.0, (self._total - over) / rate)
        note = "" if self._watch is None else self._watch.progress_text()
        self._on_progress(
            Progress(self._total, total.done, total.skipped, total.changed, rate, left, note, total.refused)
        )


class _CancelTimer:
    """Cancels a running batch on the server if the batch does not end soon after the operator asked to stop."""

    def __init__(self, connection: Connection, stopped: StopRequested) -> None:
        self._connection, self._stopped = connection, stopped
        self._over = threading.Event()
        self._timer = threading.Thread(target=self._cancel_when_stopped, daemon=True)

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._timer.join()

    def _cancel_when_stopped(self) -> None:
        while not self._over.wait(_CANCEL_AFTER_S):
            if self._stopped():
                self._connection.cancel()
