"""The committed work on one table from poll to poll, so that what single polls guess makes up for itself."""

from __future__ import annotations

from qmon.model.layout.layout import Layout
from qmon.model.rates.committed_rows import CommittedWork, Shares, committed, held_against, shares_of
from qmon.model.samples.polled import CounterSample


class CommittedTrack:
    """What commits did on one table, and how many rows it should have by that, where they are counted.

    What single polls guess of rollbacks does not add up: all that is told differs from the rows by a second's work at
    most.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew: there was a gap, or counters were reset."""
        self._shares = Shares()
        self._rows: float | None = None

    def add(
        self, before: CounterSample, now: CounterSample, layout: Layout, rows: float | None
    ) -> CommittedWork | None:
        """The work between two samples; ``None`` where the counters were reset.

        ``rows``: how many the table has now, ``None`` where they are not counted.
        """
        work = committed(before, now, layout, self._shares)
        if work is None:
            self.forget()
            return None
        if rows is not None and self._rows is not None:
            work = held_against(work, rows - self._rows, before, now)
        self._shares = shares_of(before, now, work, self._shares)
        by_work = None if self._rows is None else self._rows + work.inserted - work.deleted
        tried = now.inserted - before.inserted + now.deleted - before.deleted
        untold = rows is None or by_work is None or abs(rows - by_work) > 2 * tried
        self._rows = rows if untold else by_work  # rows came or went that no counter told of
        return work
