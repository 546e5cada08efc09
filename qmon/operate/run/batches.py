"""Processes the frozen rows of a plan in small paced transactions that can be stopped at any moment."""

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
from qmon.errors import DeadlineExceeded, LockTimeout, QmonError, QueryFailed
from qmon.model.operations import Progress
from qmon.operate.context import OnProgress, Stopped
from qmon.operate.row_set import Mark, RowSet
from qmon.operate.run.failures import FailureWatch
from qmon.operate.run.operation import Running, Tally
from qmon.operate.run.pacing import FIRST, BatchPace, largest_at
from qmon.operate.sql import Names, Sql, Values

# Processes one batch inside its transaction, counts it in the tally, and returns rows locked by others.
Move = Callable[[Sequence[Mark], Tally], list[Mark]]

# Returns the readable name of a row.
Named = Callable[[Mark], str]

# SQLSTATEs of a deadlock and of a serialization failure. These are retried, as are lock timeouts.
_TRY_AGAIN: Final = frozenset({"40001", "40P01"})

# Prefixes of the SQLSTATEs with which a constraint, check option, policy, trigger or the page size refuses a row.
_REFUSALS: Final = re.compile("22|23|27|44|54000|P0")
_OWN_ERRORS: Final = 50_000

# SQL Server: RAISERROR and THROW have numbers from 50,000. The others: a row too large for a page, a batch ended by a
# trigger, and a row blocked by a security policy.
_NO_STATE_SAYS: Final = frozenset({511, 3609, 3616, 33504})

# Statements that lock the rows themselves. They only wait for the table lock.
_LOCKING: Final = re.compile(r"/lock(_|$)")
_TRIES: Final = 5
_TRIES_LOCKED: Final = 3

# Stop after this many refused rows if none succeeded: each refusal adds an error to the server's log.
_HOPELESS: Final = 1000

# The mark of a batch that selects its own rows.
_ANY: Final = ("", "")
_CHECK_EVERY_S: Final = 0.05

# After a stop request, a batch may go on for this many seconds. Then the server is asked to cancel it.
_PATIENCE_S: Final = 0.3


class RowRefused(QmonError):
    """Raised when a trigger, rule or policy changed the effect of a statement. The batch is rolled back."""


class AllRefused(QmonError):
    """Raised when many rows were refused and none succeeded. The remaining rows are not tried."""


def _refusal(problem: QmonError) -> str | None:
    """Return why a row is left alone after this error, or ``None`` if the error does not concern a row."""
    if isinstance(problem, RowRefused):
        return str(problem)
    # rows locked by others are skipped, not refused
    if isinstance(problem, LockTimeout) and not _LOCKING.search(problem.query):
        return "somebody else holds what it needs, such as a row of another table that refers to it"
    if not isinstance(problem, QueryFailed):
        return None
    words = str(problem).removeprefix(f"{problem.query}: ")
    own = any(number >= _OWN_ERRORS or number in _NO_STATE_SAYS for number in problem.numbers)
    policy = problem.sqlstate == "42501" and "row-level security" in words
    return words if own or policy or _REFUSALS.match(problem.sqlstate) else None


@dataclass(frozen=True, slots=True)
class BatchWork:
    """Move the frozen rows of a plan. Requeue, purge and undo share this.

    ``begin`` creates what the operation needs and returns the function that moves one batch. ``name_row`` returns the
    readable name of a row.
    """

    rows: RowSet
    begin: Callable[[Sql, Running], Move]
    named: Callable[[Sql, Mark], str]

    def __call__(self, sql: Sql, operation: Running, on_progress: OnProgress, stopped: Stopped) -> None:
        """Move all rows, until ``stopped()`` is true."""
        sql.set_up("settle")
        move = self.begin(sql, operation)
        batches = Batches(operation, sql.connection, self.rows.count, on_progress, stopped)
        batches.work(self.rows, move, partial(self.named, sql))


@dataclass(frozen=True, slots=True)
class _Locked:
    key: str
    locked: bool | None


def lock(
    sql: Sql, name: str, names: Names, values: Values, marks: Sequence[Mark], tally: Tally
) -> tuple[list[Mark], list[Mark]]:
    """Lock the rows that have not changed since the plan.

    Return the rows that are now locked for us, and the rows locked by others. Rows that changed are counted in the
    tally. Raises ``RowRefused`` if row-level security shows a row that our role may not lock.
    """
    found = {row.key: row.locked for row in sql.fetch(_Locked, name, names, values)}
    if None in found.values():
        raise RowRefused("row level security keeps this role from changing it")
    tally.changed += sum(key not in found for key, _ in marks)
    return [mark for mark in marks if found.get(mark[0])], [mark for mark in marks if found.get(mark[0]) is False]


class Batches:
    """Process the rows of one operation in batches.

    ``rate``: maximum rows per second. ``watch``: receives the result of each batch and decides whether to go on.
    """

    def __init__(
        self,
        operation: Running,
        connection: Connection,
        total: int,
        on_progress: OnProgress,
        stopped: Stopped,
        *,
        rate: float | None = None,
        watch: FailureWatch | None = None,
    ) -> None:
        self._operation, self._connection = operation, connection
        self._total, self._on_progress, self._stopped = total, on_progress, stopped
        self._rate, self._watch = rate, watch
        self._pace = BatchPace(min(FIRST, largest_at(rate)), largest_at(rate))
        self._begun = time.monotonic()
        self._cancelled = False
        self._named: Named = itemgetter(0)

    def work(self, rows: RowSet, move: Move, named: Named = itemgetter(0)) -> None:
        """Move all rows. Rows locked by others are tried once more at the end.

        If the server refuses a batch, its halves are tried, until only the refused row is left. Raises
        ``AllRefused``.
        """
        self._named = named
        locked: list[Mark] = []
        self._through(iter(rows), move, locked, again=False)
        if locked and not self._cancelled:
            self._through(iter(locked), move, [], again=True)

    def repeat(self, count: int, some: Callable[[Tally, int], int]) -> None:
        """Call ``do_batch``, which processes a batch of rows, until ``count`` rows are done or a call does nothing."""
        done = last = 0

        def move(marks: Sequence[Mark], tally: Tally) -> list[Mark]:
            nonlocal last
            last = some(tally, min(self._pace.size, count - done))
            return []

        while done < count and not self._cancelled:
            last = 0
            self._through(iter([_ANY]), move, [], again=False)
            done += last
            if last == 0:
                break

    def _through(self, rest: Iterator[Mark], move: Move, locked: list[Mark], *, again: bool) -> None:
        while not self._cancelled and (some := list(islice(rest, self._pace.size))):
            if self._watch is not None and (why := self._watch.why_stop()) is not None:
                self._operation.note(why)
                self._cancel()
                return
            try:
                self._whole_or_halves(some, move, locked, again=again)
            except DeadlineExceeded:
                if not self._stopped():
                    raise
                self._cancel()

    def _cancel(self) -> None:
        self._cancelled = True
        self._operation.cancel()

    def _whole_or_halves(self, some: Sequence[Mark], move: Move, locked: list[Mark], *, again: bool) -> None:
        waiting = [some]
        while waiting:
            if self._stopped():
                self._cancel()
                return
            part = waiting.pop()
            begun = time.monotonic()
            try:
                locked += self._batch(part, move, again=again)
            except QmonError as problem:
                if (why := _refusal(problem)) is None or part == [_ANY]:
                    raise
                self._rest(self._pace.after(0, time.monotonic() - begun))
                if len(part) > 1:
                    middle = len(part) // 2
                    waiting += [part[middle:], part[:middle]]
                else:
                    self._refuse(part[0], why, again=again)

    def _refuse(self, mark: Mark, why: str, *, again: bool) -> None:
        with self._operation.batch() as tally:
            tally.refused, tally.skipped = 1, -1 if again else 0
        self._operation.refuse(why, self._named(mark))
        self._say()
        total = self._operation.total
        if not total.done and total.refused >= _HOPELESS:
            raise AllRefused(f"the first {total.refused:,} were refused, every one, and the rest was not tried: {why}")

    def _batch(self, some: Sequence[Mark], move: Move, *, again: bool) -> list[Mark]:
        for tried in range(1, _TRIES + 1):
            begun = time.monotonic()
            try:
                with _Watch(self._connection, self._stopped), self._operation.batch() as tally:
                    locked = move(some, tally)
                    tally.skipped = len(locked) - (len(some) if again else 0)
            except QueryFailed as problem:
                locked_out = isinstance(problem, LockTimeout)
                most = _TRIES_LOCKED if locked_out else _TRIES if problem.sqlstate in _TRY_AGAIN else 1
                if tried >= most or self._stopped():
                    raise
                self._rest(self._pace.given_up())
                continue
            rest = self._pace.after(max(len(some), tally.done), time.monotonic() - begun)
            if self._watch is not None:
                self._watch.committed()
            if self._rate is not None:
                rest = max(rest, self._begun + self._over / self._rate - time.monotonic())
            self._say()
            self._rest(rest)
            return locked
        raise AssertionError("unreachable")

    def _rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not self._stopped():
            time.sleep(min(left, _CHECK_EVERY_S))

    @property
    def _over(self) -> int:
        total = self._operation.total
        return total.done + total.skipped + total.changed + total.refused

    def _say(self) -> None:
        total, over = self._operation.total, self._over
        elapsed = time.monotonic() - self._begun
        rate = over / elapsed if elapsed > 0 and over else None
        left = None if rate is None else max(0.0, (self._total - over) / rate)
        note = "" if self._watch is None else self._watch.words()
        self._on_progress(
            Progress(self._total, total.done, total.skipped, total.changed, rate, left, note, total.refused)
        )


class _Watch:
    """While a batch runs: cancel it on the server if the operator asked to stop and it does not end soon."""

    def __init__(self, connection: Connection, stopped: Stopped) -> None:
        self._connection, self._stopped = connection, stopped
        self._over = threading.Event()
        self._timer = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._timer.join()

    def _watch(self) -> None:
        while not self._over.wait(_PATIENCE_S):
            if self._stopped():
                self._connection.cancel()
