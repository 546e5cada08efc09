"""The screens of all targets as pictures. After an intended change, look at the report, then `--snapshot-update`."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.pilot import Pilot

from qmon.monitor.source import Phase
from tests.tui.fleet import NAMES, Named, crm, fleet_app, settled
from tests.tui.pictures import SIZES, Compare
from tests.tui.scripted import SAMPLED_AT, TAKEN_AT, Clock, view


class FleetShot:
    """An app over three targets at rest, on a screen."""

    def __init__(self, *keys: str, plain: bool = False) -> None:
        self.clock, self.sources = Clock(), {name: Named(name) for name in NAMES}
        self.app = fleet_app(self.clock, self.sources, plain=plain)
        for member in self.app.members.values():
            assert member.target.memory is not None
            member.target.memory.clock = lambda: SAMPLED_AT
            member.target.memory.begins_at = SAMPLED_AT
        self.keys = keys

    async def ready(self, pilot: Pilot[None]) -> None:
        """Give figures of two targets, lose the third, and press the keys."""
        await pilot.pause()
        self.app.start_remaining_targets()
        self.sources["orders-prod"].give(replace(view(), sequence=1))
        self.sources["crm"].give(view(crm(), sequence=1))
        self.sources["billing"].say(Phase.LOST, "no route to host", retry_at=TAKEN_AT + 12, at=TAKEN_AT - 180)
        await settled(pilot)
        for key in self.keys:
            await pilot.press(key)
            await settled(pilot)


@pytest.mark.parametrize("screen", ["0", "7", "8"], ids=["targets", "events", "all-queues"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_all_targets(
    snap_compare: Compare, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], screen: str
) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    shot = FleetShot(screen)
    assert snap_compare(shot.app, terminal_size=size, run_before=shot.ready)


def test_all_targets_without_colours(snap_compare: Compare) -> None:
    shot = FleetShot(plain=True)
    assert snap_compare(shot.app, terminal_size=(120, 40), run_before=shot.ready)
