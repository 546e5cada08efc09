"""Screen 3: waits with their meaning, the holder of the horizon and its cost, tables and indexes of a queue."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from qmon.model.operation_records import OperationKind
from qmon.model.reasons import Reason
from qmon.model.samples.wait_samples import WaitSource
from qmon.model.snapshot import ProbeFailure
from qmon.model.waits.horizon_holders import HolderText
from qmon.model.waits.meanings import Meaning, wait_meaning
from qmon.model.waits.wait_rates import Waiting, WaitRate
from qmon.recording.history.buckets import Bucket
from qmon.recording.history.in_memory import InMemoryHistory
from qmon.texts import Text
from qmon.tui.actions.action_dialog import ActionDialog
from qmon.tui.figures import UnreadText
from qmon.tui.screen_texts import ScreenText
from qmon.tui.shared.header import HeaderText
from qmon.tui.waits import wait_plot, waits_panel
from qmon.tui.waits.horizon_panel import HorizonText
from qmon.tui.waits.usage_panel import UsageText
from qmon.tui.waits.wait_plot import WaitPlotText, sum_of_waits
from qmon.tui.waits.waits_panel import WaitsText
from qmon.tui.waits.waits_screen import WaitsScreenText
from tests.tui.driving import dashboard
from tests.tui.pictures import SIZES, Compare, Shot
from tests.tui.scripted import NASTY, SAMPLED_AT, target, view
from tests.tui.scripted_acting import Script, ScriptedOffice
from tests.tui.waited import NEXT, PREPARED, SLEEPER, counted, shot_of, waited_view
from tests.wordings import has

PER_POP: Final = UsageText.PER_POP.render(unit="rows touched") + UsageText.BEFORE.render(count="1.2")
SLEEPER_NAME: Final = HolderText.SESSION.render(session=61)
NEXT_NAME: Final = HorizonText.SHORT.render(holder=HolderText.SESSION.render(session=84), duration="0.4 s")
PREPARED_NAME: Final = HolderText.PREPARED.render(name="pay-7731")


def known_meaning(kind: str, event: str) -> Meaning:
    """Return the meaning of a wait that qmon knows."""
    found = wait_meaning(kind, event)
    assert found is not None
    return found


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_waits(snap_compare: Compare, size: tuple[int, int]) -> None:
    shot = shot_of("down")
    assert snap_compare(shot.app, terminal_size=size, run_before=shot.ready)


def watched_before(shot: Shot, seconds: int) -> None:
    """Give the app's memory the waits of the last ``seconds``; the one under the cursor comes and goes."""
    memory, now, found = shot.app.memory, 0.0, waited_view()
    assert memory is not None
    memory.begins_at = SAMPLED_AT - seconds
    memory.clock = lambda: SAMPLED_AT - seconds + now
    while now < seconds:
        now += 2.0
        sessions = 1.0 + now / 100 if now % 400 < 250 else 0.0
        rates = (WaitRate("LWLock", "WALWrite", sessions, 0.6), WaitRate("IO", "WalSync", 1.0, 0.4))
        waiting = Waiting(WaitSource.SAMPLED, 30.0, 118, rates, (), ())
        memory.record_view(replace(found, server=replace(found.server, waiting=waiting)))
    memory.clock = lambda: SAMPLED_AT


@pytest.mark.parametrize("plain", [False, True], ids=["colour", "plain"])
def test_a_tall_screen_shows_the_wait_under_the_cursor_over_time(snap_compare: Compare, plain: bool) -> None:
    shot = shot_of(plain=plain)
    watched_before(shot, 1_200)
    assert snap_compare(shot.app, terminal_size=(200, 50), run_before=shot.ready)


@pytest.mark.parametrize(
    ("seconds", "column", "left"), [(60, "5 s", "15 m 30 s ago"), (1_200, "10 s", "31 m 00 s ago")]
)
def test_a_column_stands_for_as_little_time_as_the_past_fits_into(seconds: int, column: str, left: str) -> None:
    shot = shot_of()
    watched_before(shot, seconds)
    rate = WaitRate("LWLock", "WALWrite", 2.0, 0.6)
    name, *body, axis = (
        "".join(text for text, _ in line)
        for line in wait_plot.wait_plot_lines(rate, shot.app.memory, 199, 12, plain=True)
    )
    assert len(body) == 10
    assert has(name, WaitPlotText.COLUMN, duration=column)
    assert axis.split("  ")[0].strip() == "" and axis.strip().startswith(left)
    assert wait_plot.wait_plot_lines(replace(rate, event="DataFileRead"), shot.app.memory, 199, 12, plain=True) == []
    assert wait_plot.wait_plot_lines(rate, shot.app.memory, 199, wait_plot.MIN_ROWS - 1, plain=True) == []


@pytest.mark.parametrize("case", ["counted", "plain"])
def test_waits_otherwise(snap_compare: Compare, case: str) -> None:
    shots = {"counted": shot_of(found=waited_view(found=counted())), "plain": shot_of(plain=True)}
    assert snap_compare(shots[case].app, terminal_size=(120, 40), run_before=shots[case].ready)


async def test_the_screen_asks_to_look_closely_and_no_longer_when_it_is_left() -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("3")
        assert d.source.focus.closely
        await d.press("escape")
        assert d.app.current_mode == "overview"
        assert not d.source.focus.closely


async def test_waits_with_their_number_of_looks_and_their_meaning() -> None:
    async with dashboard() as d:
        await d.give(waited_view())
        await d.press("3")
        sampled = WaitsText.SAMPLED.render(count=118, duration="30 s")
        assert has(d.lines("waits-heading"), WaitsText.SUMMARY, count=10.0, how=sampled)
        assert d.grid.cursor == "LWLock:WALWrite"
        log = known_meaning("LWLock", "WALWrite")
        assert log.cause in d.lines("meaning")
        assert log.fix[:60] in d.lines("meaning")
        assert "2 idle waits" in d.text()
        assert "EACH" not in d.grid.visible_titles, "waits are not counted here"
        await d.press("down", "down")
        page = known_meaning("LWLock", "BufferContent")
        assert page.cause[:60] in d.lines("meaning")


async def test_the_help_explains_the_wait_under_the_cursor() -> None:
    async with dashboard() as d:
        await d.give(waited_view())
        await d.press("3", "question_mark")
        told = " ".join(d.lines("help-lines").split())
        log = known_meaning("LWLock", "WALWrite")
        assert told.index("LWLock:WALWrite") < told.index(f"cause {log.cause}") < told.index("SYMBOLS")
        assert f"fix {log.fix}" in told


async def test_what_a_server_counts_is_shown_per_second_and_each() -> None:
    async with dashboard() as d:
        await d.give(waited_view(found=counted()))
        await d.press("3")
        assert has(d.lines("waits-heading"), WaitsText.COUNTED, duration="30 s")
        assert {"PER S", "EACH"} <= set(d.grid.visible_titles)
        assert "1,204" in d.text()
        await d.press("G", "up")
        assert d.grid.cursor == "latch:ACCESS_METHODS_HOBT_VIRTUAL_ROOT"
        assert known_meaning("latch", "ACCESS_METHODS_HOBT_VIRTUAL_ROOT").fix in d.lines("meaning")


async def test_who_holds_the_horizon_since_when_at_what_cost_and_what_there_is_to_gain() -> None:
    async with dashboard() as d:
        await d.give(waited_view())
        await d.press("3")
        told = d.lines("horizon")
        assert has(told, HorizonText.FOR_TIME, holder=SLEEPER_NAME, duration="2 h 04 m")
        assert " · idle in transaction · app-7 · shop@10.0.0.7" in told
        assert f"mails  5,361 dead rows · 412 {PER_POP}" in told
        next_holder = HorizonText.NEXT_HOLDER.render(holder=NEXT_NAME)
        assert has(told, HorizonText.GAIN, count=6_565, then=next_holder)
        assert "SELECT * FROM reports" in told


@pytest.mark.parametrize(
    ("holders", "told", "fields"),
    [
        ((), HorizonText.NO_HOLDER, {}),
        ((NEXT,), HorizonText.NOT_FOR_LONG, {"holder": NEXT_NAME}),
        ((PREPARED, NEXT), HorizonText.FOR_TIME, {"holder": PREPARED_NAME, "duration": "2 h 04 m"}),
        (None, UnreadText.NOT_READ, {"what": "the holder"}),
    ],
)
async def test_other_horizons(holders: tuple[object, ...] | None, told: Text, fields: dict[str, str]) -> None:
    async with dashboard() as d:
        await d.give(waited_view(holders))  # type: ignore[arg-type]  # holders of every kind
        await d.press("3")
        assert has(d.lines("horizon"), told, **fields)


async def test_tables_and_indexes_of_the_chosen_queue_and_of_its_neighbours() -> None:
    async with dashboard() as d:
        await d.give(waited_view())
        await d.press("3")
        d.app.selected = "invoices"
        await d.give(waited_view(sequence=8))
        assert f"{UsageText.TITLE_OF_QUEUE.render(queue='invoices')}  88.4 {PER_POP}" in d.lines("use-heading")
        assert "QueueMeta_pkey" in d.lines("use")
        assert "14 MB" in d.lines("use")
        assert "[red]x[/] ␛[31mALARM" in d.text()
        assert NASTY not in d.text()
        await d.press("right_square_bracket")
        assert f"{UsageText.TITLE_OF_QUEUE.render(queue='mails')}  412 {PER_POP}" in d.lines("use-heading")
        await d.press("right_square_bracket")
        assert Reason.NOTHING_POPPED in d.lines("use-heading")
        await d.press("right_square_bracket")
        assert Reason.NOT_READ_IN_THIS_POLL in d.lines("use")


async def test_the_queue_screen_says_who_keeps_its_dead_rows() -> None:
    async with dashboard() as d:
        await d.give(waited_view())
        d.app.selected = "mails"
        await d.press("2")
        assert has(d.lines("tables"), HorizonText.FOR_TIME, holder=SLEEPER_NAME, duration="2 h 04 m")
        assert has(d.lines("tables"), HorizonText.KEEPS_DEAD_ROWS, count=5_361)
        assert f"412 {PER_POP}" in d.lines("tables")
        assert "HOT 98 %" in d.lines("tables")
        await d.give(waited_view((NEXT,), sequence=8))
        assert "horizon" not in d.lines("tables")


async def test_e_ends_exactly_the_session_that_holds_the_horizon() -> None:
    script = Script()
    async with dashboard(runner=ScriptedOffice(script), read_only=False) as d:
        await d.give(waited_view())
        await d.press("3", "E")
        await d.until(lambda: isinstance(d.app.screen, ActionDialog) and script.asked, "the plan")
        assert script.asked[-1][0] is OperationKind.END_SESSION
        assert script.asked[-1][-2:] == (61, SAMPLED_AT - 9_000)


@pytest.mark.parametrize(
    ("holders", "why"),
    [
        ((NEXT,), WaitsScreenText.NO_HOLDER),
        ((PREPARED,), WaitsScreenText.NOT_A_SESSION.render(holder=PREPARED_NAME)),
    ],
)
async def test_why_nothing_can_be_ended(holders: tuple[object, ...], why: str) -> None:
    async with dashboard(runner=ScriptedOffice(), read_only=False) as d:
        await d.give(waited_view(holders))  # type: ignore[arg-type]  # holders of every kind
        await d.press("3", "E")
        await d.until(lambda: why in d.said(), "the reason")
        assert not isinstance(d.app.screen, ActionDialog)


async def test_the_filter_keeps_waits_that_fit() -> None:
    async with dashboard() as d:
        await d.give(waited_view())
        await d.press("3", "slash", *"log to be", "enter")
        assert d.grid.row_keys == ("LWLock:WALWrite", "IO:WalSync")
        await d.press("escape", "slash", *"nonsense", "enter")
        assert has(d.text(), ScreenText.NO_MATCH, what="wait", filter="nonsense")


async def test_what_is_said_before_there_are_figures_and_where_there_are_none() -> None:
    denied = ProbeFailure("waits", "our role sees no session but its own", grant="GRANT pg_read_all_stats TO qmon")
    async with dashboard() as d:
        await d.press("3")
        assert has(d.text(), ScreenText.NO_FIGURES_YET)
        await d.give(view(server=target(waiting=None)))
        assert has(d.text(), WaitsText.NO_WAITS_YET)
        await d.give(view(server=target(waiting=None), failures=(denied,), sequence=8))
        assert "GRANT pg_read_all_stats TO qmon" in d.text()


async def test_figures_grow_old_on_this_screen_too() -> None:
    async with dashboard() as d:
        await d.give(waited_view())
        await d.press("3")
        await d.wait(30.0)
        assert has(d.lines("horizon-heading"), HeaderText.AGO, age="30 s")
        assert d.is_grey("IO:WalSync")


async def test_a_statement_may_be_long_and_hold_anything() -> None:
    holder = replace(SLEEPER, statement=f"SELECT '{NASTY}'\n" + "x" * 500, application=NASTY)
    async with dashboard((80, 24)) as d:
        await d.give(waited_view((holder,)))
        await d.press("3")
        assert has(d.lines("horizon"), HolderText.SESSION, session=61)
        assert "\x1b" not in d.text()


def test_the_past_of_a_wait_is_zero_while_only_others_were_there_and_blank_where_nothing_was_read() -> None:
    now = 1_000.0
    memory = InMemoryHistory(lambda: now)
    first, second = WaitRate("IO", "WalSync", 2.0, 1.0), WaitRate("LWLock", "WALWrite", 6.0, 1.0)
    for at, rates in ((1_001.0, (first,)), (1_070.0, (first, second))):
        now = at
        memory.record_view(waited_view(found=Waiting(WaitSource.SAMPLED, 30.0, 8, rates, (), ())))
    past = waits_panel.past_values(memory)
    assert past["IO:WalSync"][-3:] == [2.0, None, 2.0]
    assert past["LWLock:WALWrite"][-3:] == [0.0, None, 6.0]
    assert {*past["IO:WalSync"][:-3], *past["LWLock:WALWrite"][:-3]} == {None}
    cells = {
        row.key: row.cells[4][0]
        for row in waits_panel.rows_for(Waiting(WaitSource.SAMPLED, 30.0, 8, (first, second), (), ()), "", past)
    }
    assert cells == {"IO:WalSync": " " * 17 + "▃ ▃", "LWLock:WALWrite": " " * 17 + "▁ █"}
    now = 1_000.0 + 3_600
    assert not any(value is not None for values in waits_panel.past_values(memory).values() for value in values)


def test_the_sum_of_waits_is_unknown_only_where_no_wait_was_read() -> None:
    one, two = Bucket(1.0, 3.0, 2.0, 3.0), Bucket(0.5, 0.5, 0.5, 0.5)
    summed = sum_of_waits({"IO:A": [one, None, one], "IO:B": [two, None, None]})
    assert [None if each is None else (each.mean, each.last) for each in summed] == [(2.5, 3.5), None, (2.0, 3.0)]


async def test_without_a_wait_under_the_cursor_the_plot_shows_the_sum_of_all() -> None:
    found = waited_view()
    async with dashboard((120, 40)) as d:
        await d.give(found)
        await d.press("3", "end")
        await d.give(replace(found, sequence=8, taken_at=found.taken_at + 5, sampled_at=found.sampled_at + 5))
        assert d.grid.cursor == "idle waits"
        assert has(d.lines("wait-past"), WaitPlotText.ALL_WAITS)
        assert "10.0" in d.lines("wait-past")
