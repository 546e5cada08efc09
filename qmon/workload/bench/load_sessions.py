"""The sessions of a load. Each has a thread and a connection, and calls a loop inside the server for each slice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self

from qmon.engines.base import Bound, Connection, Statement, Value
from qmon.errors import QmonError, QueryFailed
from qmon.workload.bench import histogram

# Seconds of a slice. Slices are short, so that the server's counters and autovacuum notice the load soon, and so that a
# bench can end quickly.
SLICE_S: Final = 0.25
_GRACE_S: Final = 5.0


@dataclass(slots=True)
class Slice:
    """The counts of one session in one slice: messages, operations that found no message, and histograms."""

    number: int
    messages: int
    missed: int
    spent: tuple[int, ...] = field(repr=False)
    completed: tuple[int, ...] = field(repr=False)


class LoadSession:
    """One producer or consumer. Its ``slices`` may be read while it works."""

    def __init__(
        self, connection: Connection, call: Statement, salvage: Statement | None, settings: Mapping[str, Value]
    ) -> None:
        """``settings``: the values of ``call.sql``, without ``until`` and ``carry``.

        ``salvage``: the statement that reads the counts of a slice that failed; ``None`` if loops continue after an
        error.
        """
        self.slices: list[Slice] = []
        self.errors = 0
        self.last_error = ""
        self.broken: QmonError | None = None
        self._connection = connection
        self._call = call
        self._salvage = salvage
        self._settings = settings
        self._carry = 0

    def run_slices(self, start_at: float, count: int, stop: threading.Event) -> None:
        """Run the slices. ``start_at``: seconds since the epoch on the server's clock."""
        for number in range(count):
            if stop.is_set():
                return
            until = start_at + (number + 1) * SLICE_S
            try:
                self._run_slice(number, until)
            except QueryFailed as problem:
                self.errors += 1
                self.last_error = str(problem)
                self._salvage_counts(number, until)
            except QmonError as problem:
                self.broken = problem
                return

    def _run_slice(self, number: int, until: float) -> None:
        values = {**self._settings, "until": until, "carry": self._carry}
        rows = self._connection.fetch(Bound(self._call, values))
        (row,) = rows.rows
        found = dict(zip(rows.columns, row, strict=True))
        self._carry = int(str(found["carry"]))
        done = histogram.from_server(found["spent"]), histogram.from_server(found["completed"])
        self.slices.append(Slice(number, int(str(found["messages"])), int(str(found["missed"])), *done))
        if failed := int(str(found.get("failed") or 0)):
            self.errors += failed
            self.last_error = str(found["error"])

    def _salvage_counts(self, number: int, until: float) -> None:
        """Count the messages that a slice committed before it failed, if its loop has stored this number.

        The times of the slice are lost.
        """
        if self._salvage is None:
            return
        try:
            ((kept,),) = self._connection.fetch(Bound(self._salvage)).rows
        except QmonError:
            return
        if words := str(kept).split():
            moment, messages, carry = words
            if abs(float(moment) - until) < SLICE_S / 2:
                self._carry = int(carry)
                self.slices.append(Slice(number, int(messages), 0, histogram.EMPTY, histogram.EMPTY))

    def cancel(self) -> None:
        """Cancel the running statement."""
        self._connection.cancel()

    def close(self) -> None:
        self._connection.close()


class LoadSessions:
    """All sessions of one run. At the end of the ``with`` block, they end after their slice, or are cancelled."""

    def __init__(self, connect: Callable[[str], Connection], salvage: Statement | None) -> None:
        """``connect``: opens a session for a role. ``salvage``: see ``LoadSession``."""
        self.producers: list[LoadSession] = []
        self.consumers: list[LoadSession] = []
        self._connect = connect
        self._salvage = salvage
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def connect_sessions(self, role: str, number: int, call: Statement, settings: Mapping[str, Value]) -> None:
        """Connect ``number`` sessions of a role, ``producer`` or ``consumer``. Raises ``QmonError``."""
        into = self.producers if role == "producer" else self.consumers
        for _ in range(number):
            into.append(LoadSession(self._connect(f"load {role}"), call, self._salvage, settings))

    def start(self, start_at: float, count: int) -> None:
        """Let all sessions run ``count`` slices."""
        for each in self.all_sessions:
            thread = threading.Thread(target=each.run_slices, args=(start_at, count, self._stop), daemon=True)
            self._threads.append(thread)
            thread.start()

    @property
    def all_sessions(self) -> Sequence[LoadSession]:
        """Producers and consumers."""
        return [*self.producers, *self.consumers]

    @property
    def is_working(self) -> bool:
        """Whether any session is still running."""
        return any(thread.is_alive() for thread in self._threads)

    def raise_broken(self) -> None:
        """Raise the error that broke a session, if any."""
        for each in self.all_sessions:
            if each.broken is not None:
                raise each.broken

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        patience = SLICE_S * 2
        for thread in self._threads:
            thread.join(patience)
        for each, thread in zip(self.all_sessions, self._threads, strict=False):
            if thread.is_alive():
                each.cancel()
                thread.join(_GRACE_S)
        for each in self.all_sessions:
            each.close()
