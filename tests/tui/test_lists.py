"""The lists of screen 2, one for each state, and their pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from textual.pilot import Pilot

from qmon.model.cost_budget import Throttled
from qmon.model.figure import Figure
from qmon.model.layout.layout import StateColumn
from qmon.model.layout.list_states import ListText
from qmon.model.samples.listing_samples import PAGE_SIZE, PagePosition, PageRequest, PageSample
from qmon.model.samples.polled_samples import MessageSample
from qmon.model.snapshot import ProbeFailure
from qmon.model.view import QueueView, View
from qmon.tui import redacting_fold
from qmon.tui.app import AppText
from qmon.tui.queue.message_lists import ListsText
from qmon.tui.queue.message_rows import OneMessage
from qmon.tui.queue.queue_screen import QueueScreenText
from tests.tui.driving import Driver, dashboard
from tests.tui.pictures import SIZES, Compare, Shot
from tests.tui.scripted import part, queue, snapshot, view
from tests.wordings import has

FIRST = 9_120_311


def invoices(**changes: object) -> QueueView:
    """A queue with all states but scheduled."""
    found = next(each for each in view().queues if each.name == "invoices")
    layout = replace(found.layout, state=StateColumn("status", "ready", "in_progress", "done", "dead"))
    layout = replace(layout, started_at="started_at")
    dead = Figure(12_431.0)
    return replace(found, layout=layout, dead=dead, **changes)  # type: ignore[arg-type]  # checked by replace


def dead(count: int, first: int = FIRST) -> tuple[MessageSample, ...]:
    """Return dead messages in the order of their ids."""
    return tuple(
        MessageSample(str(first + n), "dead", 86_400.0 - n, ("app-7/61", None)[n % 2], 5, f'{{"order": {first + n}}}')
        for n in range(count)
    )


def answer(
    listing: PageRequest, listed: Sequence[MessageSample], following: PagePosition | None = None, **more: object
) -> View:
    """Give the poll after a page was requested."""
    page = PageSample(listing, order="queue_id", looked=len(listed) + 1, next=following)
    page = replace(page, **more)  # type: ignore[arg-type]  # checked by replace
    return view([invoices(messages=tuple(listed), page=page)])


async def opened(d: Driver, *lists: str) -> None:
    """Open the queue screen, and press ``l`` once for each of these lists."""
    await d.give(view([invoices()]))
    await d.press("enter", *("l" for _ in lists))


def focus(d: Driver) -> PageRequest | None:
    """Return the page that the source was asked for."""
    return d.source.focus.listing


async def test_l_goes_through_the_lists_that_the_queue_has() -> None:
    async with dashboard() as d:
        await opened(d)
        assert focus(d) is None
        seen = []
        for _ in range(7):
            await d.press("l")
            seen.append(wanted.state if (wanted := focus(d)) is not None else None)
        assert seen == ["ready", "in_progress", "stuck", "dead", "done", None, "ready"]
        assert has(d.said(), ListsText.NO_LIST, states="scheduled", why=ListText.NO_DUE_TIME)
        await d.press("L", "L")
        assert focus(d) == PageRequest("done")


async def test_a_page_says_how_many_of_how_many_and_which_page_it_is() -> None:
    async with dashboard() as d:
        await opened(d, "ready", "in progress", "stuck", "dead")
        assert d.lines("rows-heading").startswith("── dead messages ──")
        assert has(d.text(), QueueScreenText.ROWS_NOT_READ)
        following = PagePosition("9120410", "9120410")
        await d.give(answer(PageRequest("dead"), dead(PAGE_SIZE), following))
        assert d.lines("rows-heading").startswith("── dead messages  ")
        of_all = ListsText.SHOWN_OF.render(shown="100", count="12,431")
        assert has(d.lines("rows-heading"), ListsText.PAGE, messages=of_all, number=1)
        assert has(d.lines("rows-heading"), ListsText.BY, order="`queue_id`", direction="")
        assert d.grid.row_keys[:2] == (str(FIRST), str(FIRST + 1))
        await d.press("full_stop")
        assert focus(d) == PageRequest("dead", following)
        assert d.grid.row_keys == ()
        await d.give(answer(PageRequest("dead", following), dead(31, FIRST + PAGE_SIZE)))
        part_of_all = ListsText.SHOWN_OF.render(shown=ListsText.PART.render(first="101", last="131"), count="12,431")
        assert has(d.lines("rows-heading"), ListsText.THE_LAST_PAGE, messages=part_of_all, number=2)
        assert d.grid.cursor == str(FIRST + PAGE_SIZE)
        await d.press("full_stop")
        assert has(d.said(), ListsText.LAST_PAGE)
        await d.press("comma")
        assert focus(d) == PageRequest("dead")
        await d.give(answer(PageRequest("dead"), dead(PAGE_SIZE), following))
        await d.press("comma")
        assert has(d.said(), ListsText.FIRST_PAGE)


async def test_a_list_has_a_column_of_errors_while_a_message_has_one_and_there_is_room() -> None:
    listing = PageRequest("dead")
    listed = dead(4)
    failed = (*listed[:3], replace(listed[3], error="timeout \x1b[31m after 30s"))
    async with dashboard() as d:
        await opened(d, "ready", "in progress", "stuck", "dead")
        await d.give(answer(listing, listed))
        assert "ERROR" not in d.grid.visible_titles
        await d.give(answer(listing, failed))
        assert d.grid.visible_titles[-1] == "ERROR"
        assert "timeout ␛[31m after 30s" in d.text()
        await d.press("slash", *"after")
        assert d.grid.row_keys == (failed[3].id,)
        await d.press("escape")
        await d.give(answer(listing, listed))
        assert d.grid.visible_titles[-1] == "PAYLOAD"
    async with dashboard((80, 24)) as d:
        await opened(d, "ready", "in progress", "stuck", "dead")
        await d.give(answer(listing, failed))
        assert {"PAYLOAD", "STATE"} <= set(d.grid.visible_titles)
        assert "ERROR" not in d.grid.visible_titles


def test_errors_are_covered_before_any_screen_has_them() -> None:
    failed = replace(dead(1)[0], error="card 4111-1111 refused")
    fold = redacting_fold(
        lambda _: answer(PageRequest("dead"), (failed, *dead(1))), lambda text: text.replace("4111-1111", "•••")
    )
    (shown,) = fold(snapshot(1)).queues
    assert [each.error for each in shown.messages or ()] == ["card ••• refused", None]


async def test_page_down_on_the_last_row_is_the_next_page_and_page_up_on_the_first_the_one_before() -> None:
    async with dashboard() as d:
        await opened(d, "ready")
        following = PagePosition("7", "7")
        await d.give(answer(PageRequest("ready"), dead(PAGE_SIZE), following))
        await d.press("end")
        assert focus(d) == PageRequest("ready")
        await d.press("pagedown")
        assert focus(d) == PageRequest("ready", following)
        await d.give(answer(PageRequest("ready", following), dead(PAGE_SIZE, FIRST + PAGE_SIZE)))
        await d.press("pageup")
        assert focus(d) == PageRequest("ready")
        await d.press("escape")
        await d.give()
        await d.press("end", "pagedown")
        assert d.app.current_mode == "overview"


async def test_columns_sort_the_page_and_the_heading_says_so() -> None:
    async with dashboard() as d:
        await opened(d, "ready", "in progress", "stuck", "dead")
        await d.give(answer(PageRequest("dead"), dead(PAGE_SIZE), PagePosition("7", "7")))
        assert "▾" not in d.text()
        await d.press("s")
        assert has(d.lines("rows-heading"), QueueScreenText.SORTED_BY, column="age")
        await d.press("S")
        assert d.grid.row_keys[0] == str(FIRST + PAGE_SIZE - 1)
        await d.press(*"ssss")
        assert has(d.lines("rows-heading"), QueueScreenText.SORTED_BY, column="attempts")
        await d.press("s")
        assert not has(d.lines("rows-heading"), QueueScreenText.SORTED_BY)
        assert d.grid.row_keys[0] == str(FIRST)


async def test_the_order_of_the_whole_list_is_turned_around() -> None:
    async with dashboard() as d:
        await opened(d, "ready", "in progress", "stuck", "dead")
        await d.give(answer(PageRequest("dead"), dead(PAGE_SIZE), PagePosition("7", "7")))
        await d.press("full_stop", "S")
        assert focus(d) == PageRequest("dead", None, descending=True)
        await d.give(answer(PageRequest("dead", None, descending=True), dead(9)))
        assert has(d.lines("rows-heading"), ListsText.SHOWN_OF, shown="9", count="12,431")
        assert has(d.lines("rows-heading"), ListsText.BY, order="`queue_id`", direction=ListsText.HIGHEST_FIRST)


async def test_what_was_looked_at_and_what_may_be_missing_is_said() -> None:
    async with dashboard(size=(200, 40)) as d:
        await opened(d, "ready", "in progress", "stuck", "dead")
        await d.give(answer(PageRequest("dead"), (), PagePosition("7", "7"), every=True, looked=2_000))
        assert has(d.lines("rows-heading"), ListsText.NO_INDEX, count="2,000", order="`queue_id`", direction="")
        assert has(d.text(), ListsText.NONE_ON_PAGE, message="dead message", count="2,000")
        await d.give(answer(PageRequest("dead"), dead(3), cut=True))
        assert has(d.lines("rows-heading"), ListsText.MANY_SHARE, order="`queue_id`")
        await d.give(answer(PageRequest("dead"), dead(3), cut=True, order="", looked=2_000))
        assert has(d.lines("rows-heading"), ListsText.UNSORTED, count="2,000")
        await d.give(answer(PageRequest("dead"), (), why="no index leads with `status` or `queue_id`"))
        assert "no index leads with `status` or `queue_id`" in d.text()
        await d.give(answer(PageRequest("dead"), ()))
        assert f" {ListsText.NONE.render(message=OneMessage.DEAD)}\n" in d.text()


async def test_a_list_that_is_read_less_often_than_its_queue_stays() -> None:
    async with dashboard() as d:
        await opened(d, "ready")
        await d.give(answer(PageRequest("ready"), dead(3), PagePosition("7", "7")))
        given = invoices(messages=None, throttled=(Throttled("invoices", "messages_page", 8.0, 2.0, 4.0),))
        await d.give(view([given]))
        assert list(d.grid.row_keys) == [each.id for each in dead(3)]
        await d.press("full_stop")
        assert focus(d) == PageRequest("ready", PagePosition("7", "7"))
        assert list(d.grid.row_keys) == []


async def test_a_page_that_cannot_be_read_says_why() -> None:
    async with dashboard() as d:
        await opened(d, "ready")
        failed = ProbeFailure("messages_page", "took longer than the poll may", "invoices")
        await d.give(view([invoices(failures=(failed,))]))
        assert "took longer than the poll may" in d.text()


async def test_another_queue_begins_with_what_is_in_progress() -> None:
    async with dashboard() as d:
        await d.give(view([invoices(), queue("mails")]))
        await d.press("enter", "l", "right_square_bracket")
        assert (d.source.focus.rows_of, focus(d)) == ("mails", None)


async def test_marks_are_of_the_list_that_is_shown() -> None:
    async with dashboard() as d:
        await opened(d, "ready", "in progress", "stuck", "dead")
        await d.give(answer(PageRequest("dead"), dead(4)))
        await d.press("space", "down", "space")
        screen = d.app.screen
        assert screen.message_choice().ids == (str(FIRST), str(FIRST + 1))  # type: ignore[attr-defined]
        assert screen.message_choice().state == "dead"  # type: ignore[attr-defined]
        await d.press("l")
        assert screen.message_choice().ids == ()  # type: ignore[attr-defined]


async def test_a_message_that_is_open_keeps_its_page() -> None:
    async with dashboard() as d:
        await opened(d, "ready", "in progress", "stuck", "dead")
        await d.give(answer(PageRequest("dead"), dead(4)))
        await d.press("enter")
        assert focus(d) == PageRequest("dead")
        await d.press("escape")
        assert focus(d) == PageRequest("dead")


async def test_a_queue_without_lists_says_why() -> None:
    found = queue("mails", "fifo")
    found = replace(found, layout=replace(found.layout, id=None))
    async with dashboard() as d:
        await d.give(view([found]))
        await d.press("enter", "l")
        assert has(d.said(), ListText.NO_ID)
        assert focus(d) is None


async def test_a_ring_lists_what_is_ready_from_the_first_and_what_is_in_progress_from_the_last() -> None:
    async with dashboard(size=(200, 40)) as d:
        ring = queue("orders", "ring")
        await d.give(view([ring]))
        await d.press("enter", "l")
        assert focus(d) == PageRequest("ready")
        await d.press("l")
        assert focus(d) == PageRequest("in_progress", descending=True)
        assert has(d.said(), ListsText.NO_LIST, states="scheduled", why=ListText.RING_HAS_NO_DUE_TIME)
        listing, following = PageRequest("in_progress", descending=True), PagePosition("2000")
        page = PageSample(listing, order="message_id", looked=2_000, every=True, next=following)
        held = tuple(MessageSample(str(n), "in_progress", 2.0, None, None, f"m{n}") for n in (4_000, 3_998))
        await d.give(view([replace(ring, messages=held, page=page)]))
        assert d.grid.row_keys == ("4000", "3998")
        highest = ListsText.HIGHEST_FIRST
        assert has(d.text(), ListsText.NO_INDEX, count="2,000", order="`message_id`", direction=highest)
        await d.press("space", "down", "space")
        assert d.app.screen.message_choice().ids == ("3998", "4000")  # type: ignore[attr-defined]
        await d.press("enter")
        assert focus(d) == listing
        await d.press("escape", "full_stop")
        assert focus(d) == PageRequest("in_progress", following, descending=True)
        await d.press("l")
        assert focus(d) is None
        for why in (ListText.RING_HAS_NO_POP_TIME, ListText.RING_HAS_NO_DEAD, ListText.RING_HAS_NO_DONE):
            assert has(d.said(), why)


async def test_a_queue_of_a_table_with_several_has_the_lists_of_its_states() -> None:
    async with dashboard() as d:
        await d.give(view([part("oban/mails")]))
        await d.press("enter", "l", "l", "l")
        assert (d.source.focus.rows_of, focus(d)) == ("oban/mails", PageRequest("in_progress"))
        await d.press("L")
        assert focus(d) == PageRequest("scheduled")


async def test_of_a_serve_no_other_list_can_be_had() -> None:
    async with dashboard(served="https://h") as d:
        await d.give(view([invoices()]))
        await d.press("enter", "l")
        assert has(d.said(), AppText.FROM_SERVE, address="https://h")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_page_of_dead_messages(snap_compare: Compare, size: tuple[int, int]) -> None:
    shot = Shot("enter", *"llll", found=view([invoices()]))

    async def ready(pilot: Pilot[None]) -> None:
        await shot.ready(pilot)
        given = answer(PageRequest("dead"), dead(PAGE_SIZE), PagePosition("7", "7"))
        shot.source.give(replace(given, sequence=given.sequence + 1))
        for _ in range(3):
            await pilot.pause()

    assert snap_compare(shot.app, terminal_size=size, run_before=ready)
