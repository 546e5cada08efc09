"""Three targets over scripted sources: one with a problem, one that cannot be reached, one that is healthy."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from textual.pilot import Pilot

from qmon.model.snapshot import Snapshot
from qmon.model.view import QueueView, View
from qmon.monitor.alerting import Alerting
from qmon.monitor.source import Phase
from qmon.tui.action_runner import ActionRunner
from qmon.tui.fleet.fleet_app import FleetApp
from qmon.tui.past_reader import KnownPast
from qmon.tui.watched_target import DashboardTarget
from tests.tui.driving import Driver
from tests.tui.scripted import TAKEN_AT, Clock, Scripted, part, queue, snapshot, view

NAMES = ("orders-prod", "billing", "crm")


@dataclass
class Named(Scripted):
    """A scripted source of another target."""

    interval_s: float = 2.0

    def fold(self, snapshot: Snapshot) -> View:
        """Return the view that was given with this snapshot."""
        return replace(super().fold(snapshot), target=self.target)

    def give(self, view: View) -> None:
        """Give one snapshot, which folds into ``view``."""
        assert self.sink is not None, "the app starts its sources when it is mounted"
        self.views[view.sequence] = view
        at = view.sampled_at - snapshot(0).sampled_at
        self.sink(replace(snapshot(view.sequence, at), target=self.target))


def crm() -> tuple[QueueView, ...]:
    """Queues of a library, and one name that two targets share."""
    return (part("oban/default", ready=12), part("oban/mails", ready=0), queue("mails", ready=3, push=2.0, pop=2.0))


@dataclass
class FleetDriver(Driver):
    """A running app over several targets. ``source`` is that of the first."""

    app: FleetApp
    sources: dict[str, Named]

    async def tell(self, target: str, queues: Sequence[QueueView] | None = None, *, at: float = 0.0) -> None:
        """Give new figures of one target, and paint them."""
        source = self.sources[target]
        source.give(view(queues, sequence=len(source.views) + 1, at=at))
        await self.settle()

    async def lose(self, target: str, reason: str = "no route to host", *, at: float = 1.0) -> None:
        """Lose the connection to a target."""
        self.sources[target].say(Phase.LOST, reason, retry_at=TAKEN_AT + at + 12, at=TAKEN_AT + at)
        await self.settle()

    async def three(self) -> None:
        """Give figures of all targets except the lost one."""
        await self.tell("orders-prod")
        await self.tell("crm", crm())
        await self.lose("billing")


def fleet_app(
    clock: Clock,
    sources: dict[str, Named],
    *,
    runners: dict[str, ActionRunner] | None = None,
    alerting: Alerting | None = None,
    known: dict[str, KnownPast] | None = None,
    dark: bool = True,
    plain: bool = False,
) -> FleetApp:
    """Return the app over these sources."""
    targets = [
        DashboardTarget(
            source,
            source.fold,
            prod=name == "orders-prod",
            environment="" if name != "crm" else "staging",
            read_only=runners is None,
            runner=(runners or {}).get(name),
            past=(known or {}).get(name, KnownPast()),
        )
        for name, source in sources.items()
    ]
    return FleetApp(*targets, alerting=alerting, clock=clock, dark=dark, plain=plain)


@asynccontextmanager
async def fleet(
    size: tuple[int, int] = (120, 40),
    *,
    names: Sequence[str] = NAMES,
    runners: dict[str, ActionRunner] | None = None,
    alerting: Alerting | None = None,
    known: dict[str, KnownPast] | None = None,
) -> AsyncIterator[FleetDriver]:
    """Run the app over several targets, without figures yet."""
    clock, sources = Clock(), {name: Named(name) for name in names}
    app = fleet_app(clock, sources, runners=runners, alerting=alerting, known=known)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        app.start_remaining_targets()
        yield FleetDriver(app, sources[names[0]], clock, pilot, sources)


async def settled(pilot: Pilot[None]) -> None:
    """Let the app handle its events, lay out, and paint."""
    for _ in range(3):
        await pilot.pause()
