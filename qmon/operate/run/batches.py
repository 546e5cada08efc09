"""Works through the frozen rows of a plan in small paced transactions that can be stopped at any moment."""

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

# One batch, within its transaction: does it, says so in the tally, and returns the rows that others had locked.
Move = Callable[[Sequence[Mark], Tally], list[Mark]]
# The name of a row, for people.
Named = Callable[[Mark], str]

# SQLSTATEs of a deadlock and of a failed serialization: tried again, as is what waited for a lock in vain.
_TRY_AGAIN: Final = frozenset({"40001", "40P01"})
# Prefixes of the SQLSTATEs by which a constraint, a check option, a policy, a trigger or the size of a page refuses a
# row.
_REFUSALS: Final = re.compile("22|23|27|44|54000|P0")
_OWN_ERRORS: Final = 50_000
# SQL Server: RAISERROR and THROW have numbers from 50,000; the others are those of a row that is too large for a page,
# of a batch that a trigger ended, and of a row that a security policy blocks.
_NO_STATE_SAYS: Final = frozenset({511, 3609, 3616, 33504})
# The statements that lock the rows themselves, and so wait for nothing but the table.
_LOCKING: Final = re.compile(r"/lock(_|$)")
_TRIES: Final = 5
_TRIES_LOCKED: Final = 3
# Rows refused, with none done, after which the rest is not tried: each costs the server an error in its log.
_HOPELESS: Final = 1000
# The mark of a batch that chooses its rows itself.
_ANY: Final = ("", "")
_CHECK_EVERY_S: Final = 0.05
# Seconds that a batch may go on after the operator asked to stop; then the server is asked to cancel it.
_PATIENCE_S: Final = 0.3


class RowRefused(QmonError):
    """A trigger, rule or policy changed the effect of a statement. The batch is rolled back."""


class AllRefused(QmonError):
    """Row after row is refused, and none was done: the rest is not tried."""


def _refusal(problem: QmonError) -> str | None:
    """The reason why a row is left alone after this problem; ``None`` where it is not about a row."""
    if isinstance(problem, RowRefused):
        return str(problem)
    if isinstance(problem, LockTimeout) and not _LOCKING.search(problem.query):  # its own lock is passed over
        return "somebody else holds what it needs, such as a row of another table that refers to it"
    if not isinstance(problem, QueryFailed):
        return None
    words = str(problem).removeprefix(f"{problem.query}: ")
    own = any(number >= _OWN_ERRORS or number in _NO_STATE_SAYS for number in problem.numbers)
    policy = problem.sqlstate == "42501" and "row-level security" in words
    return words if own or policy or _REFUSALS.match(problem.sqlstate) else None


@dataclass(frozen=True, slots=True)
class BatchWork:
    """Moves the frozen rows of a plan: what requeue, purge and undo have in common.

    ``begin`` makes what is missing and returns what moves one batch; ``named``: what a row is called.
    """

    rows: RowSet
    begin: Callable[[Sql, Running], Move]
    named: Callable[[Sql, Mark], str]

    def __call__(self, sql: Sql, operation: Running, on_progress: OnProgress, stopped: Stopped) -> None:
        """Move them all, until ``stopped()``."""
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
    """Lock what is still as the plan saw it: rows that are ours now, and rows that others hold. Counts the changed.

    Raises ``RowRefused`` where row level security lets us see a row that it keeps us from locking.
    """
    found = {row.key: row.locked for row in sql.fetch(_Locked, name, names, values)}
    if None in found.values():
        raise RowRefused("row level security keeps this role from changing it")
    tally.changed += sum(key not in found for key, _ in marks)
    return [mark for mark in marks if found.get(mark[0])], [mark for mark in marks if found.get(mark[0]) is False]


class Batches:
    """One operation's way through its rows.

    ``rate``: rows a second at most. ``watch``: told what each batch has done, and says whether to go on.
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
        """Move all rows; those that others have locked are tried once more at the end.

        Where the server refuses a batch, its halves are tried, until the row that is refused stands alone. Raises
        ``AllRefused``.
        """
        self._named = named
        locked: list[Mark] = []
        self._through(iter(rows), move, locked, again=False)
        if locked and not self._cancelled:
            self._through(iter(locked), move, [], again=True)

    def repeat(self, count: int, some: Callable[[Tally, int], int]) -> None:
        """Repeat ``some``, which does a batch of rows, until ``count`` are done or it does nothing more."""
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
    """While a batch runs: has the server cancel it where the operator has asked to stop and it does not end soon."""

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
