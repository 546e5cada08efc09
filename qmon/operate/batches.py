"""Works through the frozen rows of a plan in small paced transactions that can be stopped at any moment."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final

from qmon.engines.base import Connection
from qmon.errors import DeadlineExceeded, QueryFailed
from qmon.model.operations import Progress
from qmon.operate.acting import Stopped, Tell
from qmon.operate.frozen import Frozen, Mark
from qmon.operate.operation import Running, Tally
from qmon.operate.pacing import Pace

Move = Callable[[Sequence[Mark], Tally], list[Mark]]
"""One batch, within its transaction: does it, says so in the tally, and returns the rows that others had locked."""

_TRY_AGAIN: Final = frozenset({"40001", "40P01", "55P03"})
"""SQLSTATEs of a deadlock, of a failed serialization and of a lock that did not come: the batch is tried again."""
_TRIES: Final = 5
_LOOK_EVERY_S: Final = 0.05
_PATIENCE_S: Final = 0.3
"""Seconds that a batch may go on after the operator said stop; then the server is asked to cancel it."""


class Batches:
    """One operation's way through its rows. ``rate``: see ``Progress``, over the time of the batches and rests."""

    def __init__(
        self,
        operation: Running,
        connection: Connection,
        total: int,
        tell: Tell,
        stopped: Stopped,
        pace: Pace | None = None,
    ) -> None:
        self._operation, self._connection = operation, connection
        self._total, self._tell, self._stopped = total, tell, stopped
        self._pace = pace or Pace()
        self._begun = time.monotonic()
        self._cancelled = False

    def work(self, rows: Frozen, move: Move) -> None:
        """Move all rows; those that others have locked are tried once more at the end."""
        locked: list[Mark] = []
        self._through(iter(rows), move, locked, again=False)
        if locked and not self._cancelled:
            self._through(iter(locked), move, [], again=True)

    def repeat(self, count: int, some: Callable[[Tally, int], int]) -> None:
        """Do ``some`` of at most so many rows until ``count`` are done, or nothing more comes of it."""
        done = last = 0

        def move(marks: Sequence[Mark], tally: Tally) -> list[Mark]:
            nonlocal last
            last = some(tally, min(self._pace.size, count - done))
            return []

        while done < count and not self._cancelled:
            last = 0
            self._through(iter([("", "")]), move, [], again=False)
            done += last
            if last == 0:
                break

    def _through(self, rest: Iterator[Mark], move: Move, locked: list[Mark], *, again: bool) -> None:
        while some := list(islice(rest, self._pace.size)):
            if self._stopped():
                self._cancelled = True
                self._operation.cancel()
                return
            try:
                locked += self._batch(some, move, again=again)
            except DeadlineExceeded:
                if not self._stopped():
                    raise
                self._cancelled = True
                self._operation.cancel()
                return

    def _batch(self, some: Sequence[Mark], move: Move, *, again: bool) -> list[Mark]:
        for left in reversed(range(_TRIES)):
            begun = time.monotonic()
            try:
                with _Watch(self._connection, self._stopped), self._operation.batch() as tally:
                    locked = move(some, tally)
                    tally.skipped = len(locked) - (len(some) if again else 0)
            except QueryFailed as problem:
                if problem.sqlstate not in _TRY_AGAIN or not left or self._stopped():
                    raise
                self._rest(self._pace.held_up())
                continue
            rest = self._pace.after(max(len(some), tally.done), time.monotonic() - begun)
            self._say()
            self._rest(rest)
            return locked
        raise AssertionError("unreachable")

    def _rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not self._stopped():
            time.sleep(min(left, _LOOK_EVERY_S))

    def _say(self) -> None:
        total = self._operation.total
        over = total.done + total.skipped + total.changed
        elapsed = time.monotonic() - self._begun
        rate = over / elapsed if elapsed > 0 and over else None
        left = None if rate is None else max(0.0, (self._total - over) / rate)
        self._tell(Progress(self._total, total.done, total.skipped, total.changed, rate, left))


class _Watch:
    """While a batch runs: asks the server to cancel it where the operator has said stop and it does not end soon."""

    def __init__(self, connection: Connection, stopped: Stopped) -> None:
        self._connection, self._stopped = connection, stopped
        self._over = threading.Event()
        self._timer = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._timer.join()

    def _look(self) -> None:
        while not self._over.wait(_PATIENCE_S):
            if self._stopped():
                self._connection.cancel()
