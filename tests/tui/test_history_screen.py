"""Screen 5: choosing, zooming, moving, jumping, in a replay and next to a live target."""

from __future__ import annotations

import shutil
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qmon.model.figure import Severity, Verdict
from qmon.recording.history.baselines_reader import FILE_NAME, BaselinesText
from qmon.recording.history.recording_archive import RecordingArchive, live_archive
from qmon.recording.read.recording_paths import list_segments
from qmon.tui.history.history_panel import HistoryPanelText, step_index
from qmon.tui.history.history_screen import HistoryNotice
from qmon.tui.history.marks import EventsText
from qmon.tui.past_reader import KnownPast
from qmon.tui.plots.range_plot import SCALE_CELLS
from qmon.tui.widgets.plot_panel import PlotPanel
from tests.recording.days import BEGIN, ZONE, usual, written
from tests.tui.driving import Driver, dashboard
from tests.tui.histories import HOUR, history, press, read, shown
from tests.tui.scripted import SAMPLED_AT, queue, view
from tests.wordings import has


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A day's recording with a baselines file next to it."""
    root = tmp_path_factory.mktemp("day")
    written(root, 14.0, snapshots=24.0)
    usual(root)
    return root


def hours(driver: Driver) -> tuple[float, float]:
    """Return the shown range, in hours after the recording's beginning."""
    past = history(driver).past
    assert past is not None
    return ((past.since_at - BEGIN) / HOUR, (past.until_at - BEGIN) / HOUR)


async def test_the_last_hour_is_shown_first_and_figures_and_queues_are_chosen(day: Path) -> None:
    async with shown(day) as d:
        assert hours(d) == pytest.approx((13.0, 14.0), abs=0.02)
        assert "mails   1 h   Tue 2026-11-17 20:00 – 21:00 CET" in d.lines("choice")
        assert "‹depth›" in d.lines("figures") and "not known" not in d.text()
        await press(d, "f", "f")
        assert "‹push›" in d.lines("figures") and "push" in d.lines("usual")
        await press(d, "f", "f")
        assert has(d.lines("past"), HistoryPanelText.NO_DATA_OF_FIGURE, figure="complete", queue="mails")
        await press(d, "F", "F", "F", "F", "F")
        assert "‹blocked›" in d.lines("figures")
        await press(d, "f", "right_square_bracket")
        assert d.lines("choice").startswith(" orders") and " 12 " in d.lines("usual")
        await press(d, "left_square_bracket")
        assert d.lines("choice").startswith(" mails")


async def test_ranges_are_longer_and_shorter_earlier_and_later(day: Path) -> None:
    async with shown(day) as d:
        await press(d, "w")
        assert "6 h" in d.lines("choice") and hours(d) == pytest.approx((8.0, 14.0), abs=0.1)
        await press(d, "pageup")
        assert hours(d) == pytest.approx((5.0, 11.0), abs=0.1)
        await press(d, "pagedown", "pagedown", "pagedown")
        assert hours(d) == pytest.approx((8.0, 14.0), abs=0.1)
        await press(d, "g")
        assert hours(d) == pytest.approx((0.0, 6.0), abs=0.1)
        await press(d, "G", "v", "v")
        assert "15 m" in d.lines("choice") and hours(d) == pytest.approx((13.75, 14.0), abs=0.02)
        await press(d, "w", "w", "w", "w", "w", "w")
        assert "30 d" in d.lines("choice") and "Nov" not in d.lines("choice")
        assert sum(step is not None for step in history(d).past.steps["ready"]) >= 1  # type: ignore[union-attr]


async def test_jumps_choose_what_is_there_and_go_on_beyond_the_range(day: Path) -> None:
    async with shown(day) as d:
        await d.pilot.press("greater_than_sign")
        await d.until(lambda: has(d.said(), HistoryNotice.NO_MORE_EVENTS), "none is left")
        await press(d, "less_than_sign")
        time = EventsText.TIME.render(since="Tue 17:59:00", until="18:02:00", duration="3 m 00 s")
        assert f"▲ {time}  consumers fall behind" in d.lines("event")
        await press(d, "less_than_sign")
        assert "◆ Tue 14:24:00  requeue done: 40 by anna@ops-1, worker died" in d.lines("event")
        assert "△ 2.9×  ▒ " in d.lines("usual")
        assert has(d.lines("usual"), HistoryPanelText.USUAL, hour="Tue 14:00")
        await press(d, "less_than_sign")
        time = EventsText.TIME.render(since="Tue 13:59:00", until="14:29:00", duration="30 m 00 s")
        assert f"■ {time}  stuck in progress: 7 in progress" in d.lines("event")
        assert has(d.lines("usual"), HistoryPanelText.USUAL, weeks=9)
        await press(d, "w", "w")
        assert has(d.lines("event"), EventsText.POSITION, number=1, count=3)
        assert "■━" in d.lines("past") and "◆" in d.lines("past")
        await press(d, "greater_than_sign")
        assert has(d.lines("event"), EventsText.POSITION, number=2, count=3) and "◆" in d.lines("event")


async def test_the_replay_goes_to_the_chosen_mark(day: Path) -> None:
    async with shown(day, "less_than_sign", "less_than_sign", "less_than_sign") as d:
        await press(d, "enter")
        await d.until(lambda: "13:59:00 CET" in d.lines("header"), "the replay is there")
        assert "▼" in d.lines("past")


async def test_narrowing_stays_at_the_chosen_mark(day: Path) -> None:
    async with shown(day, "w", "w", "less_than_sign", "less_than_sign", "v", "v", "v") as d:
        since, until = hours(d)
        assert "15 m" in d.lines("choice") and since < 7.4 < until
        assert "◆" in d.lines("event")


async def test_an_empty_range_says_where_the_recording_is(day: Path) -> None:
    async with shown(day, "g", *["pagedown"] * 8, "v") as d:
        since, until = hours(d)
        assert 4.0 < since < until < 5.0
        assert has(d.lines("past"), HistoryPanelText.NO_DATA, since="Tue 2026-11-17 07:00")
        assert not d.lines("event").strip()


async def test_what_is_damaged_is_said_and_the_rest_is_drawn(day: Path, tmp_path: Path) -> None:
    shutil.copytree(day, tmp_path / "copy")
    broken = list_segments(tmp_path / "copy")[5]
    data = bytearray(broken.read_bytes())
    data[200:600] = b"\x00" * 400
    broken.write_bytes(bytes(data))
    async with shown(tmp_path / "copy", "w", "w") as d:
        assert has(d.lines("choice"), HistoryPanelText.DAMAGED) and broken.name[:12] in d.lines("choice")
        assert "2,000" in d.lines("past")


async def test_an_older_recording_has_no_gap(tmp_path: Path) -> None:
    written(tmp_path, 1.0, snapshots=24.0, change=lambda figures: replace(figures, gap=()))
    async with shown(tmp_path, "f", hours=0.5) as d:
        assert has(d.lines("past"), HistoryPanelText.NO_DATA_OF_FIGURE, figure="gap", queue="mails")
        await press(d, "F")
        assert has(d.lines("usual"), HistoryPanelText.NO_USUAL_RANGE, reason=HistoryPanelText.NO_BASELINES)


async def test_few_weeks_and_damaged_files_give_no_band(day: Path, tmp_path: Path) -> None:
    written(tmp_path / "few", 1.0, snapshots=24.0)
    usual(tmp_path / "few", weeks=3)
    async with shown(tmp_path / "few", hours=0.5) as d:
        few = HistoryPanelText.TOO_FEW_WEEKS.render(weeks=4)
        assert has(d.lines("usual"), HistoryPanelText.NO_USUAL_RANGE, reason=few) and "▒" not in d.lines("usual")
    (tmp_path / "few" / FILE_NAME).write_text("{")
    async with shown(tmp_path / "few", hours=0.5) as d:
        damaged = BaselinesText.NOT_JSON.render(path=FILE_NAME)
        shown_part = HistoryPanelText.NO_USUAL_RANGE.render(reason=damaged)[:40]
        assert shown_part in d.lines("usual")


@asynccontextmanager
async def remembered(minutes: int = 60, **options: Any) -> AsyncIterator[Driver]:
    """A dashboard without a recording, after this number of minutes of polls every 10 s."""
    async with dashboard(**options) as d:
        memory, at, ready = d.app.memory, BEGIN, 0.0
        assert memory is not None
        memory.clock = lambda: at
        memory.begins_at = BEGIN
        for sequence in range(minutes * 6):
            at = BEGIN + 10 * sequence
            ready = 100.0 + sequence
            stuck = Verdict("stuck_in_progress", "7 in progress", Severity.CRITICAL, SAMPLED_AT + 10.0 * sequence)
            verdict = stuck if 60 <= sequence < 90 else Verdict("healthy", "")
            memory.record_view(
                view([queue("mails", ready=ready, verdict=verdict)], sequence=sequence, at=10.0 * sequence)
            )
        await d.give(view([queue("mails", ready=ready)], sequence=sequence, at=10.0 * sequence))
        yield d


async def test_what_was_ten_minutes_ago_is_seen_after_one_key_without_a_recording() -> None:
    async with remembered(65) as d:
        await d.press("5")
        screen = await read(d)
        past = screen.past
        assert past is not None
        assert screen.range.span_name == "1 h" and past.until_at - past.since_at == pytest.approx(3_600.0)
        known = [step for step in past.steps["ready"] if step is not None]
        assert len(known) >= len(past.steps["ready"]) - 1, "an hour without a gap"
        ago = past.steps["ready"][step_index(past, past.until_at - 600)]
        assert ago is not None
        assert ago.mean == pytest.approx(100 + 65 * 6 - 60, abs=6)
        assert "stuck in progress: 7 in progress" in screen.plot_events[0].text
        assert screen.plot_events[0].until_at - screen.plot_events[0].at == pytest.approx(290.0, abs=11)


async def test_the_cursor_tells_the_figures_of_a_moment_and_goes_on_into_earlier_ranges() -> None:
    async with remembered(200) as d:
        await d.press("5")
        screen = await read(d)
        assert "← →" in d.lines("values")
        await press(d, "left")
        assert " depth 1,2" in d.lines("values") and "push " in d.lines("values")
        first, at = d.lines("values"), screen.cursor_at
        await press(d, "left")
        assert d.lines("values") != first and at is not None and screen.cursor_at is not None
        assert at - screen.cursor_at == pytest.approx(screen.past.step_s)  # type: ignore[union-attr]
        assert "│" in d.lines("past").splitlines()[1][12:]
        screen.cursor_at = screen.past.since_at + 1  # type: ignore[union-attr]
        since_at = screen.past.since_at  # type: ignore[union-attr]
        await press(d, "left")
        assert screen.past is not None and screen.past.since_at < since_at - 1_000
        assert screen.past.since_at < screen.cursor_at < screen.past.until_at
        await press(d, "escape")
        assert screen.cursor_at is None and d.app.current_mode == "history"


async def test_a_range_is_marked_by_keys_and_by_the_mouse() -> None:
    async with remembered(200) as d:
        await d.press("5")
        screen = await read(d)
        await press(d, "left", "space", *["left"] * 9)
        assert "━" in d.lines("past")
        step_s = screen.past.step_s  # type: ignore[union-attr]
        await press(d, "space")
        assert screen.marked_at is None
        assert screen.range.span_s == pytest.approx(10 * step_s)
        await press(d, "w")
        assert screen.range.span_name in ("15 m", "1 h")
        await press(d, "G", "w")
        plot = screen.query_one("#past", PlotPanel)
        since_at, step_s = screen.past.since_at, screen.past.step_s  # type: ignore[union-attr]
        await d.pilot.mouse_down(plot, offset=(SCALE_CELLS + 1 + 20, 5))
        await d.pilot.hover(plot, offset=(SCALE_CELLS + 1 + 39, 5))
        await d.pilot.mouse_up(plot, offset=(SCALE_CELLS + 1 + 39, 5))
        await read(d)
        assert screen.range.span_s == pytest.approx(20 * step_s)
        assert screen.past.since_at == pytest.approx(since_at + 20 * step_s, abs=1.0)  # type: ignore[union-attr]
        before = screen.range.span_s
        plot.post_message(PlotPanel.Wheeled(30, 1))
        await read(d)
        assert screen.range.span_s > before


async def test_where_the_memory_ends_it_says_how_to_keep_more() -> None:
    async with remembered(10) as d:
        await d.press("5")
        await read(d)
        screen = await press(d, "w", "w", "w")
        screen.range.show_between(BEGIN - 9_000, BEGIN - 8_000)
        await press(d, "left")
        screen._read_range()
        await read(d)
        assert has(d.lines("past"), HistoryPanelText.RECORD_MORE, target="orders-prod")
        await d.pilot.press("enter")
        await d.until(lambda: has(d.said(), HistoryNotice.NO_REPLAY), "the reason why nothing happens")


async def test_where_it_is_wide_events_are_listed_beside_the_plot() -> None:
    async with remembered(65, size=(200, 50)) as d:
        await d.press("5")
        await read(d)
        assert has(d.lines("events"), EventsText.TITLE)
        assert "stuck in progress: 7 in progress" in d.lines("events")
        await d.resize(120, 40)
        assert not d.app.screen.query_one("#events").display


def now(root: Path, at: float) -> RecordingArchive:
    """Return the recorded data below a folder, at a moment."""
    return live_archive(root, "orders-prod", ZONE, clock=lambda: at)


async def test_beside_a_live_target_the_end_is_now(tmp_path: Path) -> None:
    written(tmp_path, 7.3, seal=False)
    async with dashboard(known=KnownPast(now(tmp_path, BEGIN + 7.3 * HOUR))) as d:
        await d.give(view([queue("mails"), queue("unheard")]))
        await d.press("5")
        await read(d)
        assert hours(d) == pytest.approx((6.3, 7.3), abs=0.02) and "■" in d.lines("past")
        await press(d, "right_square_bracket")
        assert "orders" in d.lines("choice"), "it was recorded, although it is no longer among the queues"
        await press(d, "right_square_bracket")
        assert has(d.lines("past"), HistoryPanelText.NO_DATA)


async def test_a_target_that_gives_no_figures_still_has_its_past(tmp_path: Path) -> None:
    written(tmp_path, 1.0)
    async with dashboard(known=KnownPast(now(tmp_path, BEGIN + HOUR))) as d:
        await d.press("5")
        await read(d)
        await d.until(lambda: "depth " in d.lines("usual"), "the past of the first queue")
        assert d.lines("choice").startswith(" mails")


async def test_a_slow_disk_holds_up_nothing_and_escape_stops_reading(tmp_path: Path) -> None:
    written(tmp_path, 1.0)
    disk = threading.Event()

    def paths() -> list[Path]:
        disk.wait()
        return list_segments(tmp_path)

    try:
        async with dashboard(known=KnownPast(RecordingArchive(paths, ZONE, clock=lambda: BEGIN + HOUR))) as d:
            await d.give(view([queue("mails")]))
            await d.press("5")
            assert has(d.lines("choice"), HistoryPanelText.READING, share="0 %")
            await d.press("f")
            assert "‹gap›" in d.lines("figures")
            await d.press("escape")
            assert d.app.current_mode == "history" and has(d.lines("choice"), HistoryPanelText.STOPPED)
            disk.set()
            await press(d, "w")
            assert not has(d.lines("choice"), HistoryPanelText.STOPPED) and "gap " in d.lines("usual")
    finally:
        disk.set()


async def test_leaving_the_screen_stops_reading_and_coming_back_reads(day: Path) -> None:
    async with shown(day) as d:
        await d.press("w", "1", "5")
        await read(d)
        assert hours(d) == pytest.approx((8.0, 14.0), abs=0.1)
