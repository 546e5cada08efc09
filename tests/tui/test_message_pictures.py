"""One message as a picture. After an intended change, look at the report and run with ``--snapshot-update``."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from qmon.operate.message import Message
from qmon.tui.app import QmonApp
from qmon.tui.message.message_screen import MessageScreenText
from qmon.tui.watched_target import DashboardTarget
from qmon.tui.widgets.pager import Pager
from tests.tui.opening import found
from tests.tui.pictures import SIZES, Compare
from tests.tui.scripted import Clock, Scripted, view
from tests.tui.scripted_acting import Script, ScriptedOffice

XML = (
    '<?xml version="1.0"?><order id="7"><to>ada@example.org</to>'
    '<lines><line sku="A-1"/><line sku="B-2"/></lines></order>'
)


def picture(snap_compare: Compare, size: tuple[int, int], message: Message | None, *keys: str) -> bool:
    """Compare the picture of the first message of the invoices, after these keys."""
    source = Scripted()
    app = QmonApp(
        DashboardTarget(source, source.fold, prod=True, runner=ScriptedOffice(Script(message=message))),
        clock=Clock(),
        plain=False,
    )

    async def ready(pilot: Pilot[None]) -> None:
        await pilot.pause()
        source.give(view())
        for key in ("down", "enter", "enter", *keys):
            for _ in range(3):
                await pilot.pause()
            await pilot.press(key)
        while MessageScreenText.READING in "".join(app.screen.query_one("#payload", Pager).plain_rows):
            await pilot.pause(0.02)
        for _ in range(3):
            await pilot.pause()

    return snap_compare(app, terminal_size=size, run_before=ready)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_message(snap_compare: Compare, size: tuple[int, int]) -> None:
    assert picture(snap_compare, size, found())


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_message_that_is_searched(snap_compare: Compare, size: tuple[int, int]) -> None:
    assert picture(snap_compare, size, found(XML), "slash", *"line", "enter", "greater_than_sign")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_message_of_bytes(snap_compare: Compare, size: tuple[int, int]) -> None:
    assert picture(snap_compare, size, found(bytes(range(256)) * 8))


def test_message_that_is_gone(snap_compare: Compare) -> None:
    assert picture(snap_compare, SIZES[0], None)
