"""The failures of a queue over a real poller: why messages failed, and actions on one kind of error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from qmon.model.layout.layout import Layout, StateColumn
from qmon.model.layout.list_states import ListText
from qmon.tui.actions.action_dialog import DialogStep
from qmon.tui.failures.failures_screen import FailuresScreen
from qmon.tui.message.message_screen import MessageScreen
from tests.facts import query
from tests.jobs import TABLE, layout
from tests.tui.live import Real, looking
from tests.wordings import has

pytestmark = pytest.mark.server

# Keys from the overview. More keys are a regression.
WHY_KEYS: Final = ("D",)
REQUEUE_KEYS: Final = ("D", "r", "left", "enter")

FAILED_ROWS: Final = (
    "ALTER TABLE public.jobs ADD COLUMN failure text;"
    "INSERT INTO public.jobs (status, payload, failure) SELECT 'dead', 'order ' || n,"
    " CASE WHEN n % 3 = 0 THEN 'user ' || n || ' is [bold]gone[/bold]' ELSE 'timeout after ' || n || ' s' END"
    " FROM generate_series(1, 30) AS n;"
    "INSERT INTO public.jobs (status, failure) VALUES ('ready', 'no such host'), ('ready', NULL)"
)
FAILING: Final[Layout] = replace(
    layout(), state=StateColumn("status", "ready", "working", None, "dead"), error="failure"
)


async def press(real: Real, keys: Sequence[str]) -> None:
    """Press these keys. Wait for the groups before the second key, and for the plan before the third."""
    for number, key in enumerate(keys):
        await real.pilot.press(key)
        if number == 0:
            await real.until(lambda: isinstance(real.app.screen, FailuresScreen) and rows(real), "the groups")
        elif number == 1:
            await real.step(DialogStep.CONFIRM)


def rows(real: Real) -> tuple[str, ...]:
    """Return the kinds of errors."""
    screen = real.app.screen
    return screen.grid.row_keys if isinstance(screen, FailuresScreen) else ()


def states(url: str) -> list[tuple[object, ...]]:
    """Return the number of messages by state and kind of error."""
    return query(
        url,
        "SELECT status, left(failure, 4), count(*) FROM public.jobs WHERE failure IS NOT NULL"
        " GROUP BY 1, 2 ORDER BY 2, 1",
    )


async def test_one_key_shows_why_messages_failed(database: str, tmp_path: Path) -> None:
    query(database, TABLE + FAILED_ROWS)
    async with looking(database, tmp_path, layouts=[FAILING]) as real:
        await press(real, WHY_KEYS)
        assert rows(real) == ("timeout after <n> s", "user <n> is [bold]gone[/bold]", "no such host")
        assert "3 kinds · 31 messages" in real.text()
        assert "user <n> is [bold]gone[/bold]" in real.text()
        assert "timeout after 29 s" in real.text(), "the newest message of the kind"
        await real.pilot.press("enter")
        await real.until(
            lambda: isinstance(real.app.screen, MessageScreen) and "order 29" in real.text(), "the message"
        )
        await real.pilot.press("escape", "escape")
        assert real.app.current_mode == "overview"
        assert not isinstance(real.app.screen, FailuresScreen)


async def test_four_keys_requeue_exactly_one_kind_and_undo_takes_it_back(database: str, tmp_path: Path) -> None:
    query(database, TABLE + FAILED_ROWS)
    before = states(database)
    async with looking(database, tmp_path, layouts=[FAILING]) as real:
        await press(real, REQUEUE_KEYS)
        await real.step(DialogStep.ENDED)
        assert states(database) == [("ready", "no s", 1), ("ready", "time", 20), ("dead", "user", 10)]
        await real.pilot.press("escape")
        await real.until(lambda: rows(real)[:1] == ("timeout after <n> s",), "the messages that are ready again")
        await real.does("u")
        assert states(database) == before


async def test_purge_takes_only_the_kind_under_the_cursor(database: str, tmp_path: Path) -> None:
    query(database, TABLE + FAILED_ROWS)
    async with looking(database, tmp_path, layouts=[FAILING]) as real:
        await press(real, WHY_KEYS)
        await real.pilot.press("down")
        await real.does("x")
        assert states(database) == [("ready", "no s", 1), ("dead", "time", 20)]
        await real.pilot.press("escape")
        await real.until(lambda: rows(real) == ("timeout after <n> s", "no such host"), "the other kinds")


async def test_retried_messages_cannot_be_requeued_but_purged(database: str, tmp_path: Path) -> None:
    query(database, TABLE + FAILED_ROWS)
    async with looking(database, tmp_path, layouts=[FAILING]) as real:
        await press(real, WHY_KEYS)
        await real.pilot.press("down", "down", "r")
        assert isinstance(real.app.screen, FailuresScreen), "no dialog opens"
        await real.pilot.press("d")
        assert isinstance(real.app.screen, FailuresScreen), "no dialog opens"
        await real.does("x")
        assert states(database) == [("dead", "time", 20), ("dead", "user", 10)]


async def test_the_filter_searches_payloads_and_errors_of_all_messages(database: str, tmp_path: Path) -> None:
    query(database, TABLE + FAILED_ROWS)
    async with looking(database, tmp_path, layouts=[FAILING]) as real:
        await press(real, WHY_KEYS)
        await real.pilot.press("slash", *"order 27", "enter")
        assert rows(real) == ("user <n> is [bold]gone[/bold]",)
        await real.pilot.press("escape", "slash", *"after 7 s", "enter")
        assert rows(real) == ("timeout after <n> s",)


async def test_many_failures_are_read_page_by_page(database: str, tmp_path: Path) -> None:
    query(database, TABLE + "ALTER TABLE public.jobs ADD COLUMN failure text")
    query(
        database,
        "INSERT INTO public.jobs (status, failure) SELECT 'dead', 'kind ' || chr(65 + n % 26) FROM"
        " generate_series(1, 1800) AS n",
    )
    async with looking(database, tmp_path, layouts=[FAILING]) as real:
        await real.pilot.press(*WHY_KEYS)
        await real.until(lambda: "26 kinds · 1,800 messages" in real.text(), "all pages")


async def test_without_an_error_column_the_panel_says_so_in_one_line(database: str, tmp_path: Path) -> None:
    query(database, TABLE + FAILED_ROWS)
    async with looking(database, tmp_path, layouts=[replace(FAILING, error=None)]) as real:
        await real.pilot.press(*WHY_KEYS)
        await real.until(lambda: has(real.text(), ListText.NO_ERROR_COLUMN), "the reason")
        assert rows(real) == ()
