"""The lists of screen 2 over a real poller."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from qmon.model.layout.layout import Layout, StateColumn
from qmon.monitor.state.sample_figures import FigureText
from qmon.texts import Text
from qmon.tui.queue.message_lists import ListsText
from qmon.tui.queue.message_rows import ListTitle, OneMessage
from qmon.tui.queue.queue_screen import QueueScreen
from tests.facts import query
from tests.jobs import TABLE, layout
from tests.tui.live import Real, looking
from tests.wordings import has

pytestmark = pytest.mark.server


def heading(d: Real) -> str:
    """Return the kind of the rows."""
    return "\n".join(line for line in d.text().splitlines() if "messages" in line and line.startswith("── "))


def keys(d: Real) -> tuple[str, ...]:
    """Return the listed ids."""
    screen = d.app.screen
    return screen.grid.row_keys if isinstance(screen, QueueScreen) else ()


def on_page(d: Real, shown: str, number: int, *, text: Text = ListsText.PAGE) -> bool:
    """Return whether the title has this page of 230 messages."""
    return has(heading(d), text, messages=ListsText.SHOWN_OF.render(shown=shown, count="230"), number=number)


async def test_dead_messages_are_paged_opened_and_put_back(database: str, tmp_path: Path) -> None:
    query(database, TABLE)
    query(
        database,
        "INSERT INTO public.jobs (status, payload)"
        " SELECT CASE WHEN n % 2 = 0 THEN 'dead' ELSE 'ready' END, 'order ' || n FROM generate_series(1, 460) AS n",
    )
    states = StateColumn("status", "ready", "working", None, "dead")
    async with looking(database, tmp_path, layouts=[replace(layout(), state=states)]) as d:
        await d.pilot.press("2", "l")
        await d.until(lambda: on_page(d, "100", 1), "the ready messages")
        assert has(heading(d), ListsText.BY, order="`id`", direction="")
        assert keys(d)[:2] == ("1", "3")
        await d.pilot.press("l")
        await d.pilot.press("l")
        await d.pilot.press("l")
        await d.until(lambda: "dead messages" in heading(d) and on_page(d, "100", 1), "the dead messages")
        await d.pilot.press("end", "pagedown")
        await d.until(lambda: on_page(d, ListsText.PART.render(first="101", last="200"), 2), "the second page")
        assert (keys(d)[0], keys(d)[-1]) == ("202", "400")
        await d.pilot.press("full_stop")
        last = ListsText.PART.render(first="201", last="230")
        await d.until(lambda: on_page(d, last, 3, text=ListsText.THE_LAST_PAGE), "the third page")
        await d.pilot.press("S")
        await d.until(lambda: keys(d)[:2] == ("460", "458"), "highest first")
        await d.pilot.press("enter")
        await d.until(lambda: "order 460" in d.text() and "payload" in d.text(), "the message")
        await d.pilot.press("escape")
        await d.until(lambda: keys(d)[:2] == ("460", "458"), "the list again")
        await d.pilot.press("space")
        await d.does("r")
        assert query(database, "SELECT status FROM public.jobs WHERE id = 460") == [("ready",)]
        await d.pilot.press("escape")
        await d.until(lambda: keys(d)[:2] == ("458", "456"), "the list without it")


async def test_messages_in_progress_are_listed_without_an_index_and_differences_are_explained(
    database: str, tmp_path: Path
) -> None:
    query(database, TABLE + "DROP INDEX public.jobs_status_id_idx;")
    query(
        database,
        "INSERT INTO public.jobs (status, started_at)"
        " SELECT CASE WHEN n <= 50 THEN 'working' ELSE 'ready' END, now() FROM generate_series(1, 90) AS n",
    )
    async with looking(database, tmp_path) as d:
        await d.pilot.press("2")
        await d.until(lambda: "in progress ~50" in d.text() and len(keys(d)) == 50, "the rows and the figure")
        assert has(heading(d), ListsText.SHOWN_OF, shown="50", count="~50")
        assert has(heading(d), ListsText.NO_INDEX, count="90", order="`id`")
        query(database, "UPDATE public.jobs SET status = 'ready', started_at = NULL")
        # The table may be counted again before the old figure is old enough for its time to be shown.
        await d.until(
            lambda: has(heading(d), ListsText.COUNTED_AGO, count="~50") or "in progress ~0" in d.text(),
            "the time of the figure, or a new one",
        )
        assert not has(d.text(), FigureText.NOT_STUCK_AT_SCAN)
        await d.until(lambda: has(d.text(), ListsText.NONE, message=OneMessage.IN_PROGRESS), "an empty list")


NO_PROGRESS = replace(layout(), state=StateColumn("status", "ready", None, "done", None), started_at=None)
POP_DELETES = replace(layout(), pop="delete")


@pytest.mark.parametrize(
    ("watched", "title"),
    [
        (NO_PROGRESS, f"{ListTitle.READY}  {ListsText.SHOWN_OF.render(shown=3, count=3)}"),
        (POP_DELETES, f"{ListTitle.AT_HEAD}  3"),
    ],
)
async def test_ready_rows_are_never_called_messages_in_progress(
    database: str, tmp_path: Path, watched: Layout, title: str
) -> None:
    query(database, TABLE + "INSERT INTO public.jobs (status) SELECT 'ready' FROM generate_series(1, 3)")
    async with looking(database, tmp_path, layouts=[watched]) as d:
        await d.pilot.press("2")
        await d.until(lambda: len(keys(d)) == 3, "the rows")
        assert title in heading(d)
        assert ListTitle.IN_PROGRESS not in heading(d)


async def test_messages_of_dead_owners_are_stuck_in_the_figure_the_list_and_the_verdict(
    database: str, tmp_path: Path
) -> None:
    query(database, TABLE)
    query(
        database,
        "INSERT INTO public.jobs (status, started_at, lease)"
        " SELECT 'working', now(), now() + CASE WHEN n <= 3 THEN interval '-1 s' ELSE interval '1 h' END"
        " FROM generate_series(1, 5) AS n",
    )
    async with looking(database, tmp_path, layouts=[replace(layout(), timeout_s=3600.0)]) as d:
        await d.pilot.press("2")
        await d.until(lambda: "stuck 3" in d.text() and len(keys(d)) == 5, "the figure and the rows")
        assert d.text().count("▲ stuck") == 3
        await d.pilot.press("o")
        assert f"{ListTitle.STUCK}  3" in heading(d)


async def test_enter_searches_payloads_and_errors_of_all_messages_on_the_server(database: str, tmp_path: Path) -> None:
    query(
        database,
        TABLE + "ALTER TABLE public.jobs ADD COLUMN failure text;"
        "INSERT INTO public.jobs (status, payload, failure) SELECT 'dead',"
        " repeat('x', 400) || ' order ' || n, CASE WHEN n = 2900 THEN 'card declined' END"
        " FROM generate_series(1, 3000) AS n",
    )
    layouts = [replace(layout(), state=StateColumn("status", "ready", "working", None, "dead"), error="failure")]
    async with looking(database, tmp_path, layouts=layouts) as d:
        await d.pilot.press("2", "L")
        await d.until(lambda: len(keys(d)) == 100, "the dead messages")
        await d.pilot.press("slash", *"order 1234")
        only = ListsText.ONLY_READ.render(shown="0", count="100", characters=200)
        await d.until(lambda: only in heading(d), "what the filter searches")
        assert keys(d) == ()
        await d.pilot.press("enter")
        await d.until(lambda: keys(d) == ("1234",), "the message")
        texts = "payloads and errors"
        assert has(heading(d), ListsText.FOUND_AND_MORE, shown="1", texts=texts, count="2,000")
        await d.pilot.press("escape")
        await d.until(lambda: len(keys(d)) == 100, "all dead messages")

        await d.pilot.press("slash", *"DECLINED", "enter")
        await d.until(lambda: has(d.text(), ListsText.NOT_FOUND_YET, message="dead message", count="2,000"), "none yet")
        await d.pilot.press("full_stop")
        await d.until(lambda: keys(d) == ("2900",), "the message on the second page")
        assert has(heading(d), ListsText.FOUND, shown="1", texts=texts)


async def test_a_search_without_a_chosen_list_searches_the_list_on_screen(database: str, tmp_path: Path) -> None:
    query(
        database,
        TABLE + "INSERT INTO public.jobs (status, started_at, payload) SELECT 'working', now(), 'order ' || n"
        " FROM generate_series(1, 500) AS n",
    )
    async with looking(database, tmp_path) as d:
        await d.pilot.press("2")
        await d.until(lambda: keys(d), "messages in progress")
        listed = len(keys(d))
        await d.pilot.press("slash", *"order 499", "enter")
        await d.until(lambda: keys(d) == ("499",), "the message")
        await d.pilot.press("escape")
        await d.until(lambda: len(keys(d)) == listed and "499" not in heading(d), "the list before the search")
        await d.pilot.press("slash", *"!order", "enter")
        await d.until(lambda: has(heading(d), ListsText.ONLY_READ, characters=200), "an exclusion is only a filter")
