"""Screen 7: the events of all queues, the newest first."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from qmon.model.figure import Severity, Verdict
from qmon.tui.timeline.timeline_screen import TimelineText
from tests.recording.days import BEGIN, usual, written
from tests.tui.driving import Driver, dashboard
from tests.tui.events import FINE, NOW, PAUSED, happened
from tests.tui.histories import HOUR, history, read, shown
from tests.tui.pictures import SIZES, Compare, Shot
from tests.tui.scripted import queue, view
from tests.wordings import has


async def on_the_time_line(d: Driver) -> None:
    memory = d.app.memory
    assert memory is not None
    happened(memory)
    await d.give(view([queue("mails"), queue("orders", verdict=PAUSED)]))
    await d.press("7")


async def test_all_kinds_of_events_the_newest_first() -> None:
    async with dashboard() as d:
        await on_the_time_line(d)
        kinds = [row.cells[1][0] for row in d.grid.rows]
        assert kinds == [
            "connection",
            "connection",
            "alert",
            "verdict",
            "operation",
            "verdict",
            "alert",
            "verdict",
            "connection",
        ]
        told = d.text()
        assert "✕" not in told.splitlines()[0]
        assert "■ connection lost" in told and "server closed the connection" in told
        assert "stuck in progress ended" in told and "after 11 m 00 s: 7 in progress" in told
        assert "◆ requeue done" in told and "40 by anna@ops-1, worker died" in told
        assert "‖ paused began" in told
        assert "someone must look raised" in told and "someone must look cleared" in told
        assert "\x1b" not in told
        assert "event log  9 · " in d.lines("timeline-heading")
        assert has(d.lines("timeline-heading"), TimelineText.SINCE)


async def test_one_cause_of_several_queues_is_one_row_with_their_names() -> None:
    held = Verdict("cleanup held back", "session 61 keeps dead rows", Severity.WARNING, cause="session 61")
    async with dashboard() as d:
        memory = d.app.memory
        assert memory is not None
        at = {"mails": 30.0, "orders": 26.0, "audit": 5.0}

        def polled(ago_s: float) -> None:
            memory.clock = lambda: NOW - ago_s
            memory.record_view(
                view([queue(n, verdict=held if ago_s <= since else FINE) for n, since in at.items()], at=-ago_s)
            )

        memory.begins_at = NOW - 60
        for ago_s in (40.0, 30.0, 26.0, 5.0):
            polled(ago_s)
        memory.clock = lambda: NOW
        await d.give(view([queue(name, verdict=held) for name in at]))
        await d.press("7")
        assert len(d.grid.row_keys) == 1
        assert "3 queues" in d.text()
        assert "mails, orders, audit: session 61 keeps dead rows" in d.text()
        await d.press("slash", *"audit", "enter")
        assert len(d.grid.row_keys) == 1
        await d.press("enter")
        assert d.app.selected == "mails"


async def test_it_is_filtered_and_enter_shows_the_history_around_a_moment() -> None:
    async with dashboard() as d:
        await on_the_time_line(d)
        await d.press("slash", *"stuck in progress began", "enter")
        assert len(d.grid.row_keys) == 1
        assert "1 of 9" in d.lines("timeline-heading")
        await d.press("enter")
        screen = await read(d)
        assert d.app.selected == "mails"
        assert screen.cursor_at == pytest.approx(NOW - 20 * 60, abs=1)
        assert screen.past is not None and screen.past.since_at < NOW - 20 * 60 < screen.past.until_at
        assert "stuck in progress" in d.lines("event")
        await d.press("7", "escape")
        assert len(d.grid.row_keys) == 9, "the filter is dropped first"
        await d.press("escape")
        assert d.app.current_mode == "overview"


async def test_a_replay_has_the_events_of_the_recording_and_goes_to_one(tmp_path: Path) -> None:
    written(tmp_path, 14.0, snapshots=24.0)
    usual(tmp_path)
    async with shown(tmp_path) as d:
        await d.press("7")
        await d.until(lambda: len(d.grid.row_keys) == 7, "all events")
        assert "stuck in progress began" in d.text()
        await d.press("G", "enter")
        await d.until(lambda: d.app.current_mode == "history", "the history")
        await read(d)
        assert history(d).cursor_at == pytest.approx(BEGIN + 7 * HOUR, abs=60)
        await d.until(lambda: "14:00:00 CET" in d.lines("header"), "the replay is there")


async def test_before_anything_has_happened_it_says_so() -> None:
    async with dashboard() as d:
        await d.press("7")
        assert has(d.text(), TimelineText.NONE)


class Line(Shot):
    """The event log with an event of each kind."""

    async def ready(self, pilot: Pilot[None]) -> None:
        """Record the events first."""
        memory = self.app.memory
        assert memory is not None
        happened(memory)
        await super().ready(pilot)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_timeline(snap_compare: Compare, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    shot = Line("7", found=view([queue("mails"), queue("orders", verdict=PAUSED)]))
    assert snap_compare(shot.app, terminal_size=size, run_before=shot.ready)


@pytest.mark.parametrize("look", ["light", "no-colour"])
def test_timeline_in_other_colours(snap_compare: Compare, monkeypatch: pytest.MonkeyPatch, look: str) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    shot = Line("7", found=view([queue("mails")]), dark=look != "light", plain=look == "no-colour")
    assert snap_compare(shot.app, terminal_size=(120, 40), run_before=shot.ready)


def test_history_without_a_recording(snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    shot = Line("5", "less_than_sign", "less_than_sign", found=view([queue("mails")]))
    assert snap_compare(shot.app, terminal_size=(120, 40), run_before=shot.ready)
