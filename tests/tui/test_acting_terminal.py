"""``qmon connect`` in a real terminal: a key, a plan, a confirmation, and rows that are changed and brought back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.facts import query, wait_until
from tests.jobs import configuration, fill, states
from tests.tui.test_terminal import Tmux


@pytest.fixture
def shop(database: str, tmp_path: Path) -> Iterator[tuple[str, Tmux]]:
    """The database, and the dashboard on it, which asks as on a prod target."""
    fill(database, dead=3, alive=2, ready=4)
    place = tmp_path / "qmon.toml"
    settings = 'interval = "500ms"\nredact = ["4111-\\\\d+"]'
    place.write_text(configuration(database, more="prod = true", settings=settings), encoding="utf-8")
    program = ["env", f"XDG_STATE_HOME={tmp_path}", sys.executable, "-m", "qmon", "connect", "shop", "-c", str(place)]
    terminal = Tmux(program=program, cells=80, rows=24)
    yield database, terminal
    terminal.close()


def confirm(terminal: Tmux, plan: str) -> None:
    """Fill in what a prod target asks for and press the button, all by keyboard."""
    terminal.expect(plan)
    terminal.expect("type jobs")
    terminal.keys("BTab", "BTab")  # over the button to the name
    terminal.keys("jobs")
    terminal.keys("BTab")
    terminal.keys("for this test")
    terminal.keys("Tab", "Tab")
    terminal.keys("Enter")
    terminal.expect("done after")
    terminal.keys("Enter")
    wait_until(lambda: "done after" not in terminal.screen(), what="the dialog closes")


def test_requeue_undo_and_purge_by_keyboard_at_80_by_24(shop: tuple[str, Tmux]) -> None:
    database, terminal = shop
    terminal.expect("● live")
    terminal.expect("jobs")
    terminal.keys("r")
    confirm(terminal, "Requeue 3 messages of jobs")
    assert states(database) == {"ready": 7, "working": 2}
    terminal.keys("u")
    confirm(terminal, "Undo")
    assert states(database) == {"ready": 4, "working": 5}
    terminal.keys("2")
    terminal.expect("card ••• of 3")
    assert "4111" not in terminal.screen()
    terminal.keys("Space")
    terminal.keys("x")
    confirm(terminal, "Purge 1 message")
    assert sum(states(database).values()) == 8
    terminal.keys("6")
    terminal.expect("for this t")
    terminal.keys("q")
    wait_until(lambda: "● live" not in terminal.screen(), what="it leaves")
    assert query(database, "SELECT count(*) FROM qmon.operations WHERE state = 'done'") == [(3,)]
