"""Track the committed work on one table from poll to poll, so that errors of single polls cancel out later."""

from __future__ import annotations

from qmon.model.layout.layout import Layout
from qmon.model.rates.committed_rows import CommittedWork, Shares, committed_work, reconcile_with_rows, update_shares
from qmon.model.samples.polled_samples import CounterSample


class CommittedTrack:
    """The committed work on one table and, if rows are counted, the row count that follows from it.

    Each poll guesses which work was rolled back. The errors of these guesses do not accumulate. The reported totals
    differ from the rows by at most one second's work.
    """

    def __init__(self) -> None:
        self.start_over()

    def start_over(self) -> None:
        """Start over after a gap or a counter reset."""
        self._shares = Shares()
        self._rows: float | None = None

    def record_counters(
        self, before: CounterSample, now: CounterSample, layout: Layout, rows: float | None
    ) -> CommittedWork | None:
        """Return the work between two samples; ``None`` if the counters were reset.

        ``rows``: the table's current row count; ``None`` if it is not counted.
        """
        work = committed_work(before, now, layout, self._shares)
        if work is None:
            self.start_over()
            return None
        if rows is not None and self._rows is not None:
            work = reconcile_with_rows(work, rows - self._rows, before, now)
        self._shares = update_shares(before, now, work, self._shares)
        by_work = None if self._rows is None else self._rows + work.inserted - work.deleted
        tried = now.inserted - before.inserted + now.deleted - before.deleted
        untold = rows is None or by_work is None or abs(rows - by_work) > 2 * tried
        self._rows = rows if untold else by_work  # rows were added or removed without being counted
        return work
