"""Screen 1, driven by keys and by the mouse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from rich.console import RenderableType
from textual._compositor import Compositor
from textual.geometry import Region

from qmon.model.figure import Figure, Severity, Verdict
from qmon.model.layout.layout import ObjectName
from qmon.model.reasons import Reason
from qmon.model.snapshot import ProbeFailure
from qmon.model.view import QueueView
from qmon.tui.overview.overview_lines import TargetLineText
from qmon.tui.overview.overview_screen import OverviewText
from qmon.tui.overview.summary import SummaryText
from qmon.tui.screen_texts import ScreenText
from tests.tui.driving import dashboard, later
from tests.tui.scripted import NASTY, queue, target, twelve, view
from tests.wordings import has


async def test_the_worst_verdict_is_first_and_its_proof_is_told() -> None:
    async with dashboard() as d:
        await d.give()
        assert d.grid.row_keys[:4] == ("invoices", "mails", "orders", "payroll")
        lasted = TargetLineText.HELD_FOR.render(duration="9 m 05 s")
        assert d.lines("why").startswith(f"  why: invoices stuck in progress{lasted}: 7 in progress")
        assert "■ stuck in progress" in d.text()


async def test_the_target_line() -> None:
    async with dashboard((160, 40)) as d:
        await d.give()
        said = d.lines("target")
        assert "tx/s 1,204" in said
        assert "blocked 1" in said
        assert "waits Lock:tuple 3, IO:DataFileRead 1" in said
        assert has(said, TargetLineText.FAILING, probes="1 probe")


async def test_unknown_is_a_dash_and_never_zero() -> None:
    async with dashboard((200, 50)) as d:
        await d.give(view(server=target(commits=Figure.unknown("first sample"), waits=None, blocking=None)))
        row = next(line for line in d.text().splitlines() if line.startswith(" payroll"))
        assert row.split()[:9] == ["payroll", "status", *["–"] * 7]
        assert "tx/s –" in d.lines("target")
        assert "waits –" in d.lines("target")


LOCKED = "locked by session 4711 (deploy, migration 0042, in a transaction since 04:13:22 UTC): ALTER TABLE mail_jobs …"


def old_and_locked() -> tuple[QueueView, ...]:
    """Return a queue that was not read for a while, one whose oldest age has a bound, and a locked table."""
    gone, unread = Figure.unknown(LOCKED), Reason.NOT_READ_SINCE.render(time="04:12:00 UTC")
    past = Figure(1744.0, estimated=True, age_s=95.0, old=True, reason=unread)
    tell = Verdict("cannot tell", f"ready is unknown: {unread}", Severity.NOTICE)
    held = Verdict("cannot tell", f"ready, in progress and stuck are unknown: {LOCKED}", Severity.NOTICE)
    return (
        queue("orders", ready=past, in_progress=replace(past, value=12), oldest=replace(past, value=75), verdict=tell),
        queue(
            "mails",
            ready=3,
            oldest=Figure(20.0, at_least=True, reason=Reason.LAST_READ_AND_NOT_POPPED.render(age="8.0 s")),
        ),
        queue(
            "mail_jobs",
            ready=gone,
            in_progress=gone,
            stuck=gone,
            oldest=gone,
            push=None,
            pop=None,
            points=(),
            verdict=held,
            failures=(ProbeFailure("layout", LOCKED, "mail_jobs"),),
        ),
    )


async def test_old_figures_have_their_age_and_a_locked_table_says_whose_lock_it_is() -> None:
    async with dashboard((140, 30)) as d:
        await d.give(view(old_and_locked()))
        rows = {line.split()[0]: " ".join(line.split()[2:8]) for line in d.text().splitlines() if " status " in line}
        assert rows["orders"].startswith("~1.7k·1m ~12 ·1m 0 ~1m·1m")
        assert rows["mails"].startswith("3 0 0 ≥20s")
        assert rows["mail_jobs"].startswith("– – – –")
        await d.press("down")
        assert "mail_jobs cannot tell: ready, in progress and stuck are unknown: locked by s" in d.lines("why")


async def test_the_first_sample_shows_no_rate() -> None:
    async with dashboard() as d:
        await d.give(view([queue("orders", ready=3, push=None, pop=None, points=())]))
        row = next(line for line in d.text().splitlines() if line.startswith(" orders "))
        assert row.split() == ["orders", "3", "0", "0", "0.4s", "–", "–", "–", "stable", "·", "healthy"]


async def test_s_goes_through_the_columns_and_shows_which() -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("s")
        assert "QUEUE▴" in d.text()
        assert d.grid.row_keys[0] == '"; drop table x; --'
        await d.press("s")
        assert "READY▾" in d.text()
        assert d.grid.row_keys[0] == "exports"
        assert d.grid.row_keys[-1] == "payroll"  # without a value: last, in either direction
        await d.press("S")
        assert "READY▴" in d.text()
        assert d.grid.row_keys[-1] == "payroll"


async def test_the_cursor_stays_on_its_queue_when_the_order_changes() -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("down", "down")
        assert d.grid.cursor == "orders"
        await d.press("s")
        assert d.grid.cursor == "orders"
        await d.give(later(1, sequence=8))
        assert d.grid.cursor == "orders"


async def test_the_cursor_is_on_the_worst_until_somebody_moves_it() -> None:
    async with dashboard() as d:
        await d.give(view([q for q in twelve() if q.name != "invoices"]))
        assert d.grid.cursor == "mails"
        await d.give(view(sequence=8, at=1))
        assert d.grid.cursor == "invoices"
        assert "invoices" in d.lines("trends-heading")
        await d.press("down", "up")
        await d.give(view([q for q in twelve() if q.name != "mails"], sequence=9, at=2))
        await d.press("s")
        assert d.grid.cursor == "invoices"


async def test_the_cursor_returns_to_the_queue_whose_details_were_open() -> None:
    async with dashboard() as d:
        await d.give(view([q for q in twelve() if q.name != "invoices"]))
        assert d.grid.cursor == "mails"
        await d.press("c")
        await d.give(view(sequence=8, at=1))
        await d.press("escape")
        assert d.grid.cursor == "mails"


async def test_the_cursor_goes_to_the_neighbour_when_its_queue_is_gone() -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("down")
        await d.give(view([q for q in twelve() if q.name != "mails"], sequence=8, at=1))
        assert d.grid.cursor == "orders"
        await d.give(view([], sequence=9, at=2))
        assert d.grid.row_keys == ()
        assert has(d.text(), SummaryText.NO_QUEUE)


@pytest.mark.parametrize(("typed", "left"), [("mail", {"mails"}), ("RING", {"orders", "webhooks"}), ("!healthy", None)])
async def test_filter(typed: str, left: set[str] | None) -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("slash", *("exclamation_mark" if c == "!" else c for c in typed))
        expected = left or {q.name for q in twelve() if q.verdict.code != "healthy"}
        assert set(d.grid.row_keys) == expected
        await d.press("enter")
        assert set(d.grid.row_keys) == expected
        assert f"queues  {len(expected)} of 12" in d.lines("queues-heading")
        await d.press("escape")
        assert len(d.grid.row_keys) == 12


async def test_keys_typed_into_the_filter_do_nothing_else() -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("slash", "q", "z", "1", "space", "backspace")
        assert d.app.is_running
        assert not d.app.shown.frozen
        assert "filter: qz1" in d.text()
        await d.press("escape")
        assert len(d.grid.row_keys) == 12


async def test_a_filter_that_nothing_matches_says_so() -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("slash", "x", "y", "z", "enter")
        assert d.grid.row_keys == ()
        assert has(d.text(), ScreenText.NO_MATCH, what="queue", filter="xyz")


async def test_enter_goes_deeper_and_escape_back_to_the_same_queue() -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("j", "j", "enter")
        assert d.app.current_mode == "queue"
        assert "orders" in d.lines("title")
        await d.press("escape")
        assert d.app.current_mode == "overview"
        assert d.grid.cursor == "orders"


async def test_a_click_chooses_a_double_click_opens_a_header_sorts() -> None:
    async with dashboard() as d:
        await d.give()
        rows = d.grid.region.y
        await d.pilot.click(offset=(5, rows + 3))
        assert d.grid.cursor == "orders"
        await d.pilot.click(offset=(5, rows + 2), times=2)
        assert d.app.current_mode == "queue"
        assert d.app.selected == "mails"
        await d.press("1")
        header = d.text().splitlines()[rows]
        await d.pilot.click(offset=(header.index("OLDEST") + 2, rows))
        await d.pilot.pause()
        assert "OLDEST▾" in d.text()
        await d.pilot.click(offset=(header.index("OLDEST") + 2, rows))
        await d.pilot.pause()
        assert "OLDEST▴" in d.text()


async def test_the_tooltip_says_why_a_figure_is_unknown() -> None:
    async with dashboard() as d:
        await d.give()
        rows = d.grid.region.y
        column = d.text().splitlines()[rows].index("STUCK")
        await d.pilot.hover(offset=(column + 2, rows + 3))
        assert str(d.grid.tooltip) == "a ring has no start time"
        await d.pilot.hover(offset=(column + 2, rows))
        assert "timeout" in str(d.grid.tooltip)


async def test_the_wheel_moves_the_cursor_and_long_lists_scroll() -> None:
    async with dashboard((80, 24)) as d:
        many = [queue(f"queue_{i:03}", ready=60 - i) for i in range(60)]
        await d.give(view(many))
        await d.press("G")
        assert d.grid.cursor == "queue_059"
        assert "queue_059" in d.text()
        assert "queue_000" not in d.text()
        await d.press("pageup", "g")
        assert "queue_000" in d.text()
        assert "┃" in d.text()


async def test_e_counts_the_queue_under_the_cursor() -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("down", "e")
        assert ("count", "mails") in d.source.asked


async def test_nasty_names_are_shown_and_not_obeyed() -> None:
    async with dashboard((200, 50)) as d:
        await d.give()
        assert "[red]x[/] ␛[31mALARM␇�" in d.text()
        assert '"; drop table x; --' in d.text()
        assert "請求書キュー 🎉" in d.text()
        assert "\x1b" not in d.text()
        keys = d.grid.row_keys
        for _ in range(keys.index(NASTY)):
            await d.press("down")
        await d.press("enter")
        assert "dbo.[a]]b].[c d]" in d.lines("title")


async def test_failed_probes_of_the_target_are_told() -> None:
    async with dashboard() as d:
        failure = ProbeFailure("waits", "permission denied", grant="GRANT pg_monitor TO qmon")
        await d.give(view(failures=(failure,)))
        assert "unknown:  waits: permission denied  GRANT pg_monitor TO qmon" in d.lines("why")


async def test_hidden_panels_are_not_polled() -> None:
    async with dashboard() as d:
        assert d.source.asked == []
        await d.give()
        assert "poll_now" not in d.source.asked
        await d.press("enter")
        assert d.source.focus.rows_of == "invoices"
        assert d.source.asked.count("poll_now") == 1
        await d.give()
        assert d.source.asked.count("poll_now") == 1
        await d.press("escape")
        assert d.source.focus.rows_of is None


async def test_what_is_looked_at_and_what_has_a_verdict_is_told_to_the_source() -> None:
    async with dashboard((100, 30)) as d:
        queues = [queue(f"queue_{i:03}", ready=i) for i in range(60)]
        await d.give(view(queues))
        await d.press("G")
        assert d.source.focus.cursor == d.grid.cursor
        assert d.source.focus.visible == {name for name in (q.name for q in queues) if name in d.text()}
        assert d.source.focus.priority_queues == {d.grid.cursor}
        growing = Verdict("growing", "grows", Severity.WARNING)
        await d.give(view([replace(queues[0], verdict=growing), *queues[1:]]))
        assert d.source.focus.priority_queues == {d.grid.cursor, "queue_000"}
        await d.press("3")
        assert d.source.focus.priority_queues == {"queue_000"}
        assert d.source.focus.visible == frozenset()


async def test_only_changed_cells_are_painted(monkeypatch: pytest.MonkeyPatch) -> None:
    painted: list[Region] = []
    render = Compositor.render_update

    def watched(of: Compositor, *args: Any, **options: Any) -> RenderableType | None:
        painted.extend(of._dirty_regions)
        return render(of, *args, **options)

    async with dashboard() as d:
        queues = list(twelve())
        await d.give(view(queues))
        monkeypatch.setattr(Compositor, "render_update", watched)
        await d.give(view(queues, sequence=8))
        assert painted == []
        queues[1] = replace(queues[1], in_progress=Figure(13.0))
        await d.give(view(queues, sequence=9))
        assert [(r.y - d.grid.region.y, r.height, r.width) for r in painted] == [(1, 1, 7)]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50), (60, 15), (40, 10), (20, 6), (300, 90)])
async def test_every_size_is_survived_with_a_view_and_without(size: tuple[int, int]) -> None:
    async with dashboard(size) as d:
        await d.give()
        await d.press("enter")
        await d.resize(80, 24)
        await d.press("escape")
        await d.resize(*size)
        assert "invoices" in d.text()


async def test_growing_the_terminal_brings_columns_back() -> None:
    async with dashboard((80, 24)) as d:
        await d.give()
        assert "VERDICT" in d.grid.visible_titles
        assert "GAP" not in d.grid.visible_titles
        await d.resize(200, 50)
        assert {"GAP", "DESIGN", "BECAUSE", "DEPTH, PEAK"} < set(d.grid.visible_titles)
        await d.resize(80, 24)
        assert "GAP" not in d.grid.visible_titles


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_trouble_outside_of_the_queues_is_told_at_every_size(size: tuple[int, int]) -> None:
    said = ("37 of 40 sessions are used (92 %): the server refuses new sessions after 3 more",)
    full = target(sessions_used=37, sessions_limit=40, outside=said)
    async with dashboard(size) as d:
        await d.give(view(server=full))
        assert "server: 37 of 40 sessions are used" in d.lines("why")
        assert has(d.text(), SummaryText.SERVER) or size[0] < 120
        assert size[0] < 200 or "all sessions 37 of 40" in d.lines("target")
        await d.give(view([queue("one")], sequence=8, at=1.0, server=full))
        assert has(d.lines("summary"), SummaryText.SERVER)
        assert "server: 37 of 40 sessions are used" in d.lines("why")
        await d.give(view(sequence=9, at=2.0))
        assert "server" not in d.lines("why") + d.lines("summary")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_tables_that_may_be_queues_are_told_at_every_size(size: tuple[int, int]) -> None:
    async with dashboard(size) as d:
        d.app.unwritable_reason = ""
        await d.give(view([queue("one")]))
        assert "W:" not in d.text()
        d.app.candidate_tables = frozenset({ObjectName("demo", "one_queue"), ObjectName("shop", "parcels")})
        await d.wait(1.0)
        assert has(d.text(), OverviewText.PROPOSE_KEY, queues=OverviewText.ONE_CANDIDATE)
        d.app.unwritable_reason = "a replay"
        await d.wait(2.0)
        assert "W:" not in d.text()
