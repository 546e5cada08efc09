"""The screens as pictures. After an intended change, look at the report and run with ``--snapshot-update``."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.pilot import Pilot

from qmon.model.layout.layout import LayoutSource, ObjectName
from qmon.monitor.source import Phase
from tests.tui.pictures import SIZES, Compare, Shot
from tests.tui.scripted import TAKEN_AT, target, twelve, view

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_overview(snap_compare: Compare, size: tuple[int, int]) -> None:
    shot = Shot()
    assert snap_compare(shot.app, terminal_size=size, run_before=shot.ready)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_overview_from_a_serve(snap_compare: Compare, size: tuple[int, int]) -> None:
    shot = Shot(served="ops-1.example.com:9777")
    assert snap_compare(shot.app, terminal_size=size, run_before=shot.ready)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_queue(snap_compare: Compare, size: tuple[int, int]) -> None:
    shot = Shot("enter")
    assert snap_compare(shot.app, terminal_size=size, run_before=shot.ready)


@pytest.mark.parametrize("screen", ["1", "2"], ids=["overview", "queue"])
def test_light(snap_compare: Compare, screen: str) -> None:
    shot = Shot(screen, dark=False)
    assert snap_compare(shot.app, terminal_size=(120, 40), run_before=shot.ready)


@pytest.mark.parametrize("screen", ["1", "2"], ids=["overview", "queue"])
def test_no_color(snap_compare: Compare, monkeypatch: pytest.MonkeyPatch, screen: str) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    shot = Shot(screen, plain=True)
    assert snap_compare(shot.app, terminal_size=(120, 40), run_before=shot.ready)


def test_late(snap_compare: Compare) -> None:
    shot = Shot()

    async def late(pilot: Pilot[None]) -> None:
        await shot.ready(pilot)
        shot.source.say(Phase.LATE, "the poll has run for 12 s", at=TAKEN_AT + 3)
        await shot.at(pilot, 14)

    assert snap_compare(shot.app, terminal_size=(120, 40), run_before=late)


def test_lost(snap_compare: Compare) -> None:
    shot = Shot("enter")

    async def lost(pilot: Pilot[None]) -> None:
        await shot.ready(pilot)
        shot.source.say(Phase.LOST, "server closed the connection", retry_at=TAKEN_AT + 17, at=TAKEN_AT + 2)
        await shot.at(pilot, 14)

    assert snap_compare(shot.app, terminal_size=(80, 24), run_before=lost)


def test_not_yet_connected(snap_compare: Compare) -> None:
    shot = Shot()

    async def waiting(pilot: Pilot[None]) -> None:
        await pilot.pause()
        shot.source.say(Phase.LOST, "connection refused: nothing listens at db port 5432", retry_at=TAKEN_AT + 3)
        await shot.at(pilot, 0)

    assert snap_compare(shot.app, terminal_size=(80, 24), run_before=waiting)


@pytest.mark.parametrize(
    "keys",
    [("colon",), ("question_mark",), ("slash",), ("C", "down", "space"), ("right", "right", "question_mark"), ("t",)],
    ids=["palette", "help", "filter", "columns", "column", "themes"],
)
def test_over_the_screen(snap_compare: Compare, keys: tuple[str, ...]) -> None:
    shot = Shot(*keys)
    assert snap_compare(shot.app, terminal_size=(80, 24), run_before=shot.ready)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_overview_with_tables_to_keep_and_a_server_in_trouble(snap_compare: Compare, size: tuple[int, int]) -> None:
    said = (
        "37 of 40 sessions are used (92 %): the server refuses new sessions after 3 more",
        "14 deadlocks in the last minute on tables that are not queues; these sessions waited for each"
        " other: session 61 (billing):"
        " UPDATE accounts SET balance = 0 WHERE id = 2 and session 62 (billing): UPDATE accounts SET balance = 1",
    )
    server = target(sessions_used=37, sessions_limit=40, outside=said)
    guessed = tuple(replace(each, layout=replace(each.layout, source=LayoutSource.DISCOVERY)) for each in twelve())
    shot = Shot(found=view(guessed, server=server))
    shot.app.unwritable_reason = ""
    shot.app.candidate_tables = frozenset({ObjectName("shop", "parcels"), ObjectName("shop", "letters")})
    assert snap_compare(shot.app, terminal_size=size, run_before=shot.ready)
