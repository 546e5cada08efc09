"""One target of the dashboard: its source and runner, and its newest figures."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from heapq import nlargest
from typing import TYPE_CHECKING

from qmon.model.combined_figures import total_figures
from qmon.model.figure import Figure, Severity
from qmon.model.ranking import Ranking
from qmon.model.view import QueueView, View
from qmon.monitor.source import MOST_WRONG, Phase, ReadScope, SnapshotSource, SourceState
from qmon.recording.history.in_memory import InMemoryHistory
from qmon.tui.past_reader import KnownPast
from qmon.tui.shown_state import Freshness, ShownState

if TYPE_CHECKING:
    from qmon.recording.write.recorder import Recorder
    from qmon.tui.action_runner import ActionRunner
    from qmon.tui.feed import Fold


@dataclass(slots=True)
class DashboardTarget:
    """The objects that watch and change one target.

    Attributes:
        source: the source of snapshots. The app starts the source; the caller closes it.
        fold: builds the view of a snapshot. Called on the source's thread, once per snapshot, in order.
        prod, read_only, environment: the badges of the target.
        recorder: the recorder of the source, for the badge. The app does not close the recorder.
        past: recordings and baselines of the target.
        runner: plans and runs actions. Without a runner, the keys of actions are disabled. May be set later: after the
            target was reached and before its first figures arrive.
        memory: the history since the start; ``None`` in a replay.
    """

    source: SnapshotSource
    fold: Fold
    prod: bool = False
    read_only: bool = False
    environment: str = ""
    recorder: Recorder | None = None
    past: KnownPast = field(default_factory=KnownPast)
    runner: ActionRunner | None = None
    memory: InMemoryHistory | None = field(default_factory=InMemoryHistory)

    @property
    def name(self) -> str:
        """The target's name, free of secrets. From ``qmon serve``, the name arrives with the first connection."""
        return self.source.target

    @property
    def initial_state(self) -> ShownState:
        """The state to show before the first figures have arrived."""
        return ShownState(
            self.source.target,
            interval_s=self.source.interval_s,
            environment=self.environment,
            prod=self.prod,
            read_only=self.read_only or (self.runner is not None and self.runner.read_only_reason is not None),
            recording=None if self.recorder is None else True,
        )


class Health(IntEnum):
    """The health of a target. Greater values are more urgent."""

    FINE = 0
    NOTICE = 1
    # No figures have arrived yet.
    WAITING = 2
    WARNING = 3
    LOST = 4
    CRITICAL = 5


_BY_SEVERITY = {
    Severity.FINE: Health.FINE,
    Severity.NOTICE: Health.NOTICE,
    Severity.WARNING: Health.WARNING,
    Severity.CRITICAL: Health.CRITICAL,
}


class WatchedTarget:
    """A target and its newest figures. Only the thread of the screen may use it.

    Attributes:
        shown: the newest figures, even if they are not on screen.
        queues: the queues of the newest view, worst first.
        requested_interval_s: the requested seconds between polls while the target is on screen.
        selected: the queue that its screens show.
        focus: the parts of the target that are on screen.
        totals: the sums over its queues, keyed by ``QueueFigure.field``.
        lost_at: when the target became unreachable, on the local monotonic clock. ``None`` if it can be reached.
        reason: why the last connection failed, in one line.
    """

    def __init__(self, target: DashboardTarget, focus: ReadScope) -> None:
        self.target = target
        self.requested_interval_s = target.source.interval_s
        self.shown = target.initial_state
        self.selected: str | None = None
        self.focus = focus
        self.queues: tuple[QueueView, ...] = ()
        self.ranking = Ranking()
        self.totals: dict[str, Figure] = {}
        self.lost_at: float | None = None
        self.reason = ""

    @property
    def name(self) -> str:
        """The target's name, free of secrets."""
        return self.target.name

    def record_event(self, event: View | SourceState) -> None:
        """Record new figures or a change of phase."""
        if isinstance(event, SourceState):
            self.shown = replace(self.shown, state=event)
            if event.phase is Phase.LOST:
                self.lost_at = event.changed_at if self.lost_at is None else self.lost_at
                self.reason = event.reason or "no connection"
            return
        self.lost_at = None
        every_s = self.target.source.interval_s
        self.shown = replace(self.shown, view=event, newest_at=event.taken_at, interval_s=every_s)
        self.queues = self.ranking.rank_queues(event)
        self.totals = total_figures(event.queues)
        self.request_details_of_worst(event)

    def request_details_of_worst(self, view: View) -> None:
        """Make the source read more about the queues with the worst verdicts."""
        wrong = (queue for queue in view.queues if queue.verdict.severity > Severity.FINE)
        worst = nlargest(MOST_WRONG, wrong, key=lambda queue: queue.verdict.severity)
        if (names := frozenset(queue.name for queue in worst)) != self.focus.with_verdict:
            self.set_focus(replace(self.focus, with_verdict=names))

    def set_focus(self, focus: ReadScope) -> None:
        """Set which parts of the target are on screen. Poll immediately if a part was opened."""
        before, self.focus = self.focus, focus
        if focus != before:
            self.target.source.set_focus(focus)
            if focus.needs_poll(before):
                self.target.source.poll_now()

    def take_recording_stop_reason(self) -> str:
        """Return why the recording has stopped, the first time this is known; otherwise an empty text."""
        if self.target.recorder is None or not self.shown.recording or not (why := self.target.recorder.status.stopped):
            return ""
        self.shown = replace(self.shown, recording=False)
        return why

    def set_poll_interval(self, seconds: float) -> None:
        """Set the poll interval. A poll that follows the old interval does not count as late."""
        if self.target.source.interval_s != seconds:
            self.target.source.set_interval(seconds)
            self.shown = replace(self.shown, interval_s=max(self.shown.interval_s, seconds))

    def is_lost(self, now: float) -> bool:
        """Return True if the target cannot be reached or has not responded for a while."""
        late = self.shown.view is not None and self.shown.freshness(now) is Freshness.STALE
        return self.lost_at is not None or late or self.shown.phase is Phase.LATE

    def health(self, now: float) -> Health:
        """Return the health. A lost target is ``LOST`` even if it was critical before."""
        if self.is_lost(now):
            return Health.LOST
        if self.shown.view is None:
            return Health.WAITING
        return _BY_SEVERITY[self.worst_severity]

    @property
    def worst_severity(self) -> Severity:
        """The worst severity of its queues and of Service Broker."""
        view = self.shown.view
        broker = view.server.broker if view is not None else None
        of_broker = [verdict for each in broker.verdicts.values() for verdict in each] if broker is not None else []
        return max(
            [*(queue.verdict.severity for queue in self.queues), *(verdict.severity for verdict in of_broker)],
            default=Severity.FINE,
        )
