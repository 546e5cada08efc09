"""The screen's messages while it waits, and when the server is late, lost or back."""

from __future__ import annotations

import pytest

from qmon.model.view import View
from qmon.monitor.source import Phase
from qmon.tui.shared.header import HeaderText
from qmon.tui.shown_state import ShownState
from tests.tui.driving import dashboard, later
from tests.tui.scripted import TAKEN_AT, view
from tests.wordings import has

pytestmark = pytest.mark.unit


def ago(age: str) -> str:
    """Return the age as the header shows it."""
    return HeaderText.AGO.render(age=age)


async def test_before_the_first_figures_the_screen_is_calm_and_has_no_zeros() -> None:
    async with dashboard() as d:
        await d.say(Phase.CONNECTING)
        assert HeaderText.CONNECTING in d.text()
        assert "orders-prod" in d.text()
        assert "0" not in d.lines("waiting")
        await d.press("2")
        assert HeaderText.CONNECTING in d.text()


async def test_a_target_that_cannot_be_reached_says_why_and_counts_down() -> None:
    async with dashboard() as d:
        await d.say(Phase.LOST, "connection refused: nothing listens there", retry_at=TAKEN_AT + 4.4)
        assert f"✕ {HeaderText.NO_CONNECTION}" in d.text()
        assert has(d.text(), HeaderText.RETRY_IN, duration="4 s")
        assert "connection refused: nothing listens there" in d.text()
        await d.wait(3.0)
        assert has(d.text(), HeaderText.RETRY_IN, duration="1 s")
        await d.wait(4.4)
        assert has(d.text(), HeaderText.RETRYING_NOW)


async def test_live_figures_have_an_age() -> None:
    async with dashboard() as d:
        await d.give()
        assert f"{HeaderText.LIVE} {ago('0.4 s')}" in d.lines("header")
        await d.wait(1.5)
        assert f"{HeaderText.LIVE} {ago('1.5 s')}" in d.lines("header")
        assert ago("2 s") in d.lines("queues-heading")


async def test_late_figures_turn_grey_age_and_recover() -> None:
    async with dashboard() as d:
        await d.give()
        assert not d.is_grey("stuck in progress")
        await d.say(Phase.LATE, "the poll has run for 3 s", at=3)
        await d.wait(4)
        late = HeaderText.AGO_AND_REASON.render(ago=ago("4.0 s"), reason="the poll has run for 3 s")
        assert f"{HeaderText.LATE} {late}" in d.lines("header")
        assert d.is_grey("stuck in progress")
        await d.wait(14)
        assert f"{HeaderText.LATE} {ago('14 s')}" in d.lines("header")
        assert ago("14 s") in d.lines("trends-heading")
        d.clock.now = TAKEN_AT + 20
        await d.give(later(20, sequence=8))
        assert f"{HeaderText.LIVE} {ago('0.0 s')}" in d.lines("header")
        assert not d.is_grey("stuck in progress")


async def test_a_lost_connection_is_a_state_with_a_countdown() -> None:
    async with dashboard((80, 24)) as d:
        await d.give()
        await d.press("enter")
        await d.say(Phase.LOST, "server closed the connection", retry_at=TAKEN_AT + 5, at=2)
        await d.wait(2)
        retry = HeaderText.RETRY_IN.render(duration="3 s")
        lost = HeaderText.RETRY_AND_REASON.render(retry=retry, reason="server closed the connection")
        assert f"{HeaderText.LOST}{lost}" in d.lines("header")
        assert d.is_grey("stuck in progress")
        await d.say(Phase.CONNECTING, at=5)
        assert HeaderText.CONNECTING in d.lines("header")
        assert d.is_grey("stuck in progress")
        d.clock.now = TAKEN_AT + 6
        await d.say(Phase.LIVE, at=6)
        await d.give(later(6, sequence=8))
        assert HeaderText.LIVE in d.lines("header")
        assert not d.is_grey("stuck in progress")


async def test_figures_that_stop_coming_turn_grey_even_if_the_source_says_nothing() -> None:
    async with dashboard() as d:
        await d.give()
        await d.wait(3.9)
        assert not d.is_grey("stuck in progress")
        await d.wait(4.6)
        assert HeaderText.LATE in d.lines("header")
        assert d.is_grey("stuck in progress")


async def test_figures_of_a_late_poll_that_still_arrive_are_live() -> None:
    async with dashboard() as d:
        await d.give()
        await d.say(Phase.LATE, at=3)
        d.clock.now = TAKEN_AT + 5.2
        await d.give(later(5, sequence=8))
        assert f"{HeaderText.LIVE} {ago('0.2 s')}" in d.lines("header")


async def test_freeze_holds_the_figures_while_sampling_goes_on() -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("z")
        await d.give(later(5, sequence=8))
        await d.give(later(6, sequence=9))
        await d.wait(6.0)
        assert d.source.folded == [7, 8, 9]
        assert f"{HeaderText.FROZEN} {ago('6.0 s')}" in d.lines("header")
        assert not d.is_grey("stuck in progress")
        await d.press("z")
        assert f"{HeaderText.LIVE} {ago('0.0 s')}" in d.lines("header")
        assert d.app.shown.view is not None
        assert d.app.shown.view.sequence == 9


async def test_a_frozen_display_still_tells_a_lost_connection() -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("z")
        await d.say(Phase.LOST, "gone", retry_at=TAKEN_AT + 4, at=2)
        assert HeaderText.LOST in d.lines("header")
        assert "why: orders-prod unreachable: gone" in d.lines("why")


async def test_every_snapshot_is_folded_though_the_screen_may_skip_some() -> None:
    async with dashboard() as d:
        for sequence in range(1, 31):
            d.source.give(later(sequence, sequence=sequence))
        await d.pilot.pause()
        assert d.source.folded == list(range(1, 31))
        assert d.app.shown.view is not None
        assert d.app.shown.view.sequence == 30


async def test_a_fold_that_fails_ends_the_app_with_its_error() -> None:
    with pytest.raises(KeyError, match="77"):
        async with dashboard() as d:
            d.source.views = Forgetful()
            await d.give(later(77, sequence=77))


class Forgetful(dict[int, View]):
    """Keeps nothing."""

    def __setitem__(self, key: int, value: View) -> None:
        """Forget it."""


async def test_a_second_that_passes_while_qmon_ends_draws_nothing() -> None:
    async with dashboard() as d:
        await d.give()
        screen = d.app.screen
        assert screen.query("#header")
    assert not screen.query("#header")
    d.app.tick()


@pytest.mark.parametrize(("interval_s", "allowed_s"), [(0.5, 3.0), (2.0, 6.0), (10.0, 22.0)])
def test_figures_are_overdue_after_two_intervals_and_two_seconds(interval_s: float, allowed_s: float) -> None:
    shown = ShownState("orders-prod", view(), newest_at=TAKEN_AT, interval_s=interval_s)
    assert not shown.is_overdue(TAKEN_AT + allowed_s)
    assert shown.is_overdue(TAKEN_AT + allowed_s + 0.1)
