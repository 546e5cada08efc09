"""One target of a fleet: what it is watched and acted on with, and how it stands."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from heapq import nlargest
from typing import TYPE_CHECKING

from qmon.model.figure import Figure, Severity
from qmon.model.group_view import totals
from qmon.model.ranking import Ranking
from qmon.model.view import QueueView, View
from qmon.monitor.source import MOST_WRONG, Focus, Phase, SnapshotSource, SourceState
from qmon.recording.history.in_memory import InMemoryHistory
from qmon.tui.past_reader import KnownPast
from qmon.tui.status import Freshness, Shown

if TYPE_CHECKING:
    from qmon.recording.write.recorder import Recorder
    from qmon.tui.action_runner import ActionRunner
    from qmon.tui.feed import Fold


@dataclass(slots=True)
class FleetTarget:
    """What a target is watched and acted on with; the fields are the arguments of ``QmonApp`` of these names.

    ``runner`` may come once the target was reached, before its first figures.
    """

    source: SnapshotSource
    fold: Fold
    prod: bool = False
    read_only: bool = False
    environment: str = ""
    recorder: Recorder | None = None
    known: KnownPast = field(default_factory=KnownPast)
    runner: ActionRunner | None = None

    @property
    def shown(self) -> Shown:
        """What is shown of it before anything has come."""
        return Shown(
            self.source.target,
            interval_s=self.source.interval_s,
            environment=self.environment,
            prod=self.prod,
            read_only=self.read_only,
            recording=None if self.recorder is None else True,
        )


class Health(IntEnum):
    """How a target is; greater needs a hand sooner."""

    FINE = 0
    NOTICE = 1
    # Nothing is known of it yet.
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


class Member:
    """A target with the newest that is known of it. For the thread of the screen.

    Attributes:
        shown: the newest figures, whatever is on the screen.
        queues: those of the newest view, the worst first.
        asked_s: seconds between its polls while it is on the screen, as asked for.
        selected: the queue that its screens are about.
        focus: what of it is on the screen.
        totals: the sums of its queues, by ``QueueFigure.field``.
        memory: what was seen of it since the start.
        lost_at: since when it cannot be reached, our monotonic clock; ``None`` where it can.
        reason: why it could not be reached last, in one line.
    """

    def __init__(self, target: FleetTarget) -> None:
        self.target = target
        self.name = target.source.target
        self.asked_s = target.source.interval_s
        self.shown = target.shown
        self.selected: str | None = None
        self.focus = Focus(away=True)
        self.queues: tuple[QueueView, ...] = ()
        self.ranking = Ranking()
        self.memory = InMemoryHistory()
        self.totals: dict[str, Figure] = {}
        self.lost_at: float | None = None
        self.reason = ""

    def take(self, event: View | SourceState) -> None:
        """Take in new figures, or a change of phase."""
        if isinstance(event, SourceState):
            self.shown = replace(self.shown, state=event)
            if event.phase is Phase.LOST:
                self.lost_at = event.changed_at if self.lost_at is None else self.lost_at
                self.reason = event.reason or "no connection"
            return
        self.lost_at = None
        every_s = self.target.source.interval_s
        self.shown = replace(self.shown, view=event, newest_at=event.taken_at, interval_s=every_s)
        self.queues = self.ranking.ranked(event)
        self.totals = totals(event.queues)
        wrong = (queue for queue in event.queues if queue.verdict.severity > Severity.FINE)
        worst = nlargest(MOST_WRONG, wrong, key=lambda queue: queue.verdict.severity)
        self.look(replace(self.focus, with_verdict=frozenset(queue.name for queue in worst)))

    def look(self, focus: Focus) -> None:
        """Say what of it is on the screen, where that has changed; what was opened is read at once."""
        before, self.focus = self.focus, focus
        if focus != before:
            self.target.source.set_focus(focus)
            if focus.at_once(before):
                self.target.source.poll_now()

    def poll_every(self, seconds: float) -> None:
        """Poll so often; figures that come at the old pace until then are not late."""
        if self.target.source.interval_s != seconds:
            self.target.source.set_interval(seconds)
            self.shown = replace(self.shown, interval_s=max(self.shown.interval_s, seconds))

    def lost(self, now: float) -> bool:
        """Whether it cannot be reached, or has not answered for a while."""
        late = self.shown.view is not None and self.shown.freshness(now) is Freshness.STALE
        return self.lost_at is not None or late or self.shown.phase is Phase.LATE

    def health(self, now: float) -> Health:
        """How it stands by what is known: what was critical when it was last seen is said to be lost."""
        if self.lost(now):
            return Health.LOST
        if self.shown.view is None:
            return Health.WAITING
        return _BY_SEVERITY[self.worst]

    @property
    def worst(self) -> Severity:
        """The worst severity of its queues, and of Service Broker."""
        view = self.shown.view
        broker = view.server.broker if view is not None else None
        of_broker = [verdict for each in broker.verdicts.values() for verdict in each] if broker is not None else []
        return max(
            [*(queue.verdict.severity for queue in self.queues), *(verdict.severity for verdict in of_broker)],
            default=Severity.FINE,
        )
