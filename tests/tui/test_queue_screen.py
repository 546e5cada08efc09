"""Screen 2, driven by keys."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.figure import Figure, PastVerdict, Severity, Verdict
from qmon.model.snapshot import ProbeFailure
from qmon.tui.overview.overview_lines import TargetLineText
from qmon.tui.queue.message_lists import ListsText
from qmon.tui.queue.message_rows import ListTitle
from qmon.tui.queue.queue_panel import QueuePanelText
from qmon.tui.queue.queue_screen import QueueScreenText
from qmon.tui.screen_texts import ScreenText
from tests.tui.driving import dashboard, later
from tests.tui.opening import opened
from tests.tui.scripted import SAMPLED_AT, messages, queue, view
from tests.wordings import has


async def test_title_figures_verdict_and_forecast() -> None:
    async with dashboard() as d:
        await opened(d, "mails")
        assert "mails   batch_fast   dbo.QueueMeta + dbo.QueueData" in d.lines("title")
        assert d.lines("title").rstrip().endswith("■ no pops")
        assert "depth ~40,112" in d.lines("readings")
        assert "push 4.0/s" in d.lines("readings")
        assert "forecast growing 4.0/s" in d.lines("readings")
        assert "oldest 2 h 04 m" in d.lines("readings")
        assert "40,112 ready, but no pops" in d.lines("because")


async def test_a_ring_has_a_fill_and_a_gap_that_may_be_negative() -> None:
    async with dashboard() as d:
        await opened(d, "webhooks")
        assert "gap -24" in d.lines("readings")
        assert "fill 0 %" in d.lines("readings")
        await d.press("escape")
        await opened(d, "invoices")
        assert "gap 60,052" in d.lines("readings")
        assert "fill" not in d.lines("readings")


async def test_what_is_not_known_is_listed_with_its_reason() -> None:
    async with dashboard() as d:
        await opened(d, "payroll")
        listed = " ".join(d.lines("unknown-list").split())
        assert "scheduled this table has no due column" in listed
        assert "ready, in progress, stuck, oldest permission denied for table payroll" in listed
        assert "GRANT SELECT ON hr.payroll" in listed
        assert "ring fill" not in listed
        await d.resize(80, 24)
        assert "GRANT SELECT ON" in d.lines("unknown-lines")
        shown = QueuePanelText.UNKNOWN.render(figure="ready, in progress, stuck, oldest", reason="permission")
        assert shown in d.lines("unknown-lines")


async def test_stuck_messages_come_first_with_owner_and_age() -> None:
    async with dashboard() as d:
        await opened(d, "invoices")
        rows = [line for line in d.text().splitlines() if line.startswith(" 9120")]
        assert rows[0].split() == [
            "9120311",
            "▲",
            "stuck",
            "2",
            "h",
            "05",
            "m",
            "app-7/61",
            "1",
            '{"to":',
            '"ada@example.org",',
            '"template":',
            '"welcome"}',
        ]
        assert ["stuck" in row for row in rows] == [True] * 9 + [False] * 3


async def test_payloads_are_shown_and_not_obeyed() -> None:
    async with dashboard() as d:
        await opened(d, "invoices")
        assert "␛]0;owned␇␛[2J␛[31mred" in d.text()
        assert "line one⏎line two⇥tabbed" in d.text()
        assert "worker [b]bold[/b]" in d.text()


async def test_a_message_is_copied_and_nothing_that_a_terminal_obeys() -> None:
    async with dashboard() as d:
        await opened(d, "invoices")
        await d.press("slash", *"no such row", "enter", "y")
        assert d.app.clipboard == ""
        await d.press("escape", "home", "space", "up", "y")
        assert d.app.clipboard == "9120311"
        assert has(d.said(), ScreenText.COPIED, what="9120311")
        await d.press("down", "Y")
        lines = d.app.clipboard.splitlines()
        assert lines[0] == "ID: 9120324"
        assert lines[1] == "STATE: ▲ stuck"
        assert lines[-1] == "PAYLOAD: ␛]0;owned␇␛[2J␛[31mred"


async def test_rows_are_sorted_and_filtered() -> None:
    async with dashboard() as d:
        await opened(d, "invoices")
        await d.press("s")
        assert "ID▴" in d.text()
        assert list(d.grid.row_keys) == sorted(d.grid.row_keys, key=int)
        await d.press("S")
        assert d.grid.row_keys[0] == max(d.grid.row_keys, key=int)
        await d.press("slash", *"mailer", "enter")
        assert len(d.grid.row_keys) == 2
        assert has(d.lines("rows-heading"), ListsText.ONLY_READ, shown="2", count="12")
        await d.press("escape")
        assert len(d.grid.row_keys) == 12
        await d.press("escape")
        assert d.app.current_mode == "overview"


async def test_only_stuck_messages_are_shown() -> None:
    async with dashboard() as d:
        await opened(d, "invoices")
        await d.press("o")
        assert d.lines("rows-heading").startswith(f"── {ListTitle.STUCK}  9")
        assert len(d.grid.row_keys) == 9
        await d.press("o")
        assert len(d.grid.row_keys) == 12


async def test_the_rows_of_a_queue_that_deletes_on_pop_are_the_next_to_pop() -> None:
    async with dashboard() as d:
        await opened(d, "exports")
        assert d.lines("rows-heading").startswith(f"── {ListTitle.AT_HEAD}")


async def test_neighbours_are_one_key_away() -> None:
    async with dashboard() as d:
        await opened(d, "invoices")
        await d.press("right_square_bracket")
        assert "mails" in d.lines("title")
        assert d.source.focus.rows_of == "mails"
        await d.press("left_square_bracket", "left_square_bracket")
        assert "exports" in d.lines("title")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (queue("a"), QueueScreenText.ROWS_NOT_READ),
        (queue("a", in_progress=Figure.unknown("pops delete: nothing is in progress")), "pops delete"),
        (queue("a", messages=()), QueueScreenText.NONE_IN_PROGRESS),
        (queue("a", failures=(ProbeFailure("messages", "permission denied", "a"),)), "permission denied"),
    ],
)
async def test_an_empty_table_says_why(given: object, said: str) -> None:
    async with dashboard() as d:
        await d.give(view([given]))  # type: ignore[list-item]
        await d.press("enter")
        assert said in d.text()


async def test_new_rows_replace_the_old_ones_and_the_cursor_stays() -> None:
    async with dashboard() as d:
        await opened(d, "invoices")
        await d.press("down")
        assert d.grid.cursor == "9120324"
        more = replace(view().queues[1], messages=(*messages(12)[1:], *messages(14)[12:]))
        await d.give(view([more], sequence=8, at=1))
        assert d.grid.cursor == "9120324"
        assert len(d.grid.row_keys) == 13


async def test_a_queue_that_is_gone_says_so_and_comes_back() -> None:
    async with dashboard() as d:
        await opened(d, "invoices")
        await d.give(view([queue("other")], sequence=8, at=1))
        gone = ScreenText.QUEUE_GONE.render(queue="invoices")
        assert has(d.text(), QueueScreenText.GO_BACK, why=gone)
        await d.give(later(2, sequence=9))
        assert "invoices   status" in d.text()


async def test_digits_change_screens() -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("2")
        assert d.app.current_mode == "queue"
        assert "invoices" in d.lines("title")
        await d.press("1")
        assert d.app.current_mode == "overview"
        await d.press("3")
        assert d.app.current_mode == "waits"


async def test_every_verdict_is_told_with_its_proof_and_what_was_said_before() -> None:
    verdicts = (
        Verdict("stuck in progress", "7 in progress, owner dead", Severity.CRITICAL, SAMPLED_AT - 90, "r"),
        Verdict("archive behind", "12,000 done, none archived", Severity.WARNING, SAMPLED_AT - 600),
    )
    past = tuple(
        PastVerdict("everything locked", f"session {n} holds all", Severity.CRITICAL, SAMPLED_AT - 100 * n, SAMPLED_AT)
        for n in (3, 5)
    )
    made = replace(queue("mails", ready=31, verdict=verdicts[0]), verdicts=verdicts, past=past)
    async with dashboard() as d:
        await d.give(view([made]))
        await d.press("enter")
        told = d.lines("because")
        held_for = [TargetLineText.HELD_FOR.render(duration=each) for each in ("1 m 30 s", "10 m 00 s")]
        assert f"why: mails stuck in progress{held_for[0]}: 7 in progress, owner dead" in told
        assert f"also: mails archive behind{held_for[1]}: 12,000 done, none archived" in told
        earlier = QueuePanelText.PAST_VERDICT.render(
            symbol="■", verdict="everything locked", time="20:21:40", duration="5 m 00 s"
        )
        assert has(told, QueuePanelText.PAST_PROOF, verdict=earlier, proof="session 3 holds all")
        assert "session 5 holds all" in told
        await d.resize(80, 24)
        told = d.lines("because")
        assert f"earlier: {earlier} · ■" in told
        assert len(told.splitlines()) == 3


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_plot_uses_the_rows_that_the_list_does_not_need(size: tuple[int, int]) -> None:
    async with dashboard(size) as d:
        few = queue("mails", in_progress=2, messages=messages(2))
        await d.give(view([few]))
        await d.press("2")
        await d.settle()
        grid, plot = d.grid, d.app.screen.query_one("#plot")
        assert grid.size.height == 4, "a title and three rows"
        large = plot.size.height
        await d.give(view([replace(few, messages=messages(4))], sequence=8))
        assert (grid.size.height, plot.size.height) == (5, large - 1)
        await d.give(view([few], sequence=9))
        assert (grid.size.height, plot.size.height) == (5, large - 1), "the plot does not jump back"
        await d.give(view([replace(few, messages=messages(100))], sequence=10))
        assert grid.size.height > 5 or size[1] == 24
        assert plot.size.height >= 7
        await d.press("H")
        assert not plot.size.height
        lines = d.text().split("\n")
        assert sum(not line.strip() for line in lines) <= 1, "no empty half"
