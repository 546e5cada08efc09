"""The committed work on one table from poll to poll, so that what single polls guess makes up for itself."""

from __future__ import annotations

from qmon.model.layout.layout import Layout
from qmon.model.rates.committed_rows import CommittedWork, Shares, committed, shares_of
from qmon.model.samples.polled import CounterSample


class CommittedTrack:
    """What commits did on one table, and how many rows it should have by that, where they are counted.

    Counters come up to a second later than rows do, so that a poll whose rollbacks are guessed is off by what moves
    meanwhile; what is told over many polls is not, since each makes up for those before.
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
        more = None if rows is None or self._rows is None else rows - self._rows
        work = committed(before, now, layout, self._shares, more)
        if work is None:
            self.forget()
            return None
        self._shares = shares_of(before, now, work, self._shares)
        tried = now.inserted - before.inserted + now.deleted - before.deleted
        by_work = None if self._rows is None else self._rows + work.inserted - work.deleted
        untold = rows is None or by_work is None or abs(rows - by_work) > tried
        self._rows = rows if untold else by_work  # rows came or went that no counter told of
        return work
