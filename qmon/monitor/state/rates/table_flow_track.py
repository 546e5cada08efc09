"""Track the messages moved on one table from poll to poll, and the reasons why the resulting rates may be wrong."""

from __future__ import annotations

from qmon.model.rates.flow import Flow
from qmon.model.reasons import Reason
from qmon.model.snapshot import QueueSamples
from qmon.monitor.state import sample_figures
from qmon.monitor.state.rates.committed_track import CommittedTrack
from qmon.monitor.state.rates.in_progress_lag import InProgressLag
from qmon.monitor.state.rates.ready_balance import ReadyBalance
from qmon.monitor.state.rates.standing_counters import RECENT_S


class TableFlowTrack:
    """The flow of one queue from the counters of its table. Not thread-safe."""

    def __init__(self) -> None:
        self._committed = CommittedTrack()
        self._lag = InProgressLag()
        self._balance = ReadyBalance()

    def start_over(self) -> None:
        """Start over after a gap or a counter reset."""
        self._committed.start_over()
        self._lag.start_over()
        self._balance.start_over()

    def record_poll(
        self, before: QueueSamples, samples: QueueSamples, in_progress_change: int | None, at: float
    ) -> Flow | None:
        """Return the messages moved between two polls; ``None`` if the counters were reset or not read.

        ``at``: time of the later poll, server clock, seconds. ``in_progress_change``: see ``table_flow``.
        """
        if before.counters is None or samples.counters is None:
            return None
        work = self._committed.record_counters(
            before.counters, samples.counters, samples.layout, sample_figures.rows_counted(samples)
        )
        if work is None:
            self.start_over()
            return None
        table = None
        if (
            work.exact
            and samples.counters.vacuums == before.counters.vacuums
            and samples.counters.analyzes == before.counters.analyzes
        ):
            table = samples.counters.live - before.counters.live
        flow = self._lag.record_work(work, samples.layout, in_progress_change, table, at)
        self._balance.record_flow(before, samples, work, flow, at)
        return flow

    def why_unclear(self, at: float) -> Reason | None:
        """Return why rates of pops and completions may be wrong, even if they are not 0; ``None`` if they are right."""
        return Reason.UPDATES_UNCLEAR if self._balance.has_uncounted_pops(at) else None

    def why_no_pop(self, at: float, moved_s: float | None, within_s: float = RECENT_S) -> Reason | None:
        """Return why a pop rate of 0 may be wrong; see ``InProgressLag.why_no_pop``."""
        return self._lag.why_no_pop(at, moved_s, within_s)

    def why_no_completion(self, at: float) -> Reason | None:
        """Return why a completion rate of 0 may be wrong."""
        return self._lag.why_no_completion(at)
