"""``qmon connect`` in a real terminal: a key, a plan, a confirmation, and rows that are changed and restored."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from qmon.operate.actions.purge import PurgeText
from qmon.operate.actions.requeue import RequeueText
from qmon.operate.plan.selection import ChoiceText
from qmon.tui.actions.dialog_text import StepText
from qmon.tui.app import AppText
from qmon.tui.shared.header import HeaderText
from tests.facts import query, wait_until
from tests.jobs import configuration, fill, states
from tests.silence import COMMIT_OF_A_BATCH, Tunnel, tunnel
from tests.tui.tmux import Tmux, gone


@pytest.fixture
def shop(database: str, tmp_path: Path) -> Iterator[tuple[str, Tmux]]:
    """The database, and its dashboard, which asks for confirmation as on a prod target."""
    fill(database, dead=3, alive=2, ready=4)
    place = tmp_path / "qmon.toml"
    settings = 'interval = "500ms"\nredact = ["4111-\\\\d+"]'
    place.write_text(configuration(database, more="prod = true", settings=settings), encoding="utf-8")
    program = [
        "env",
        f"XDG_STATE_HOME={tmp_path}",
        sys.executable,
        "-m",
        "qmon",
        "connect",
        "shop",
        "--config",
        str(place),
    ]
    terminal = Tmux(program=program, cells=80, rows=24)
    yield database, terminal
    terminal.close()


REQUEUE = RequeueText.TITLE.render(messages=ChoiceText.IN_PROGRESS.render(messages="3 messages"), queue="jobs")


def confirm(terminal: Tmux, plan: str) -> None:
    """Type the confirmation that a prod target requires and press the button, all by keyboard."""
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
    terminal.expect(HeaderText.LIVE)
    terminal.expect("jobs")
    terminal.keys("r")
    confirm(terminal, REQUEUE)
    assert states(database) == {"ready": 7, "working": 2}
    terminal.keys("u")
    confirm(terminal, "Undo")
    assert states(database) == {"ready": 4, "working": 5}
    terminal.keys("2")
    terminal.expect("card ••• of 3")
    assert "4111" not in terminal.screen()
    terminal.keys("Space")
    terminal.keys("x")
    confirm(terminal, PurgeText.TITLE.partition("{")[0] + "1 message")
    assert sum(states(database).values()) == 8
    terminal.keys("6")
    terminal.expect("for this t")
    terminal.keys("q")
    wait_until(lambda: HeaderText.LIVE not in terminal.screen(), what="it leaves")
    assert query(database, "SELECT count(*) FROM qmon.operations WHERE state = 'done'") == [(3,)]


@pytest.fixture
def quiet_shop(database: str, tmp_path: Path) -> Iterator[tuple[Tunnel, Tmux]]:
    """The dashboard on the database, over a tunnel that can go silent."""
    fill(database, dead=3, alive=2, ready=4)
    with tunnel(database) as quiet:
        place = tmp_path / "qmon.toml"
        place.write_text(configuration(quiet.url, settings='interval = "500ms"'), encoding="utf-8")
        program = ["env", f"XDG_STATE_HOME={tmp_path}", sys.executable, "-m", "qmon"]
        terminal = Tmux(program=[*program, "connect", "shop", "--config", str(place)], cells=80, rows=24)
        yield quiet, terminal
        terminal.close()


def requeue_over(quiet: Tunnel, terminal: Tmux) -> None:
    """Requeue, and get no answer to the commit of the first batch."""
    terminal.expect(HeaderText.LIVE)
    terminal.expect("jobs")
    terminal.keys("r")
    terminal.expect(REQUEUE)
    quiet.silence_at(*COMMIT_OF_A_BATCH, passes=True)
    terminal.keys("Left")
    terminal.keys("Enter")
    assert quiet.silent.wait(120)


def test_the_second_stop_leaves_an_action_that_has_no_answer(quiet_shop: tuple[Tunnel, Tmux], tmp_path: Path) -> None:
    quiet, terminal = quiet_shop
    requeue_over(quiet, terminal)
    terminal.keys("C-c")
    wait_until(lambda: terminal.shows(StepText.STOPPING), what="it stops")
    terminal.keys("C-c")
    wait_until(lambda: not terminal.shows(StepText.STOPPING), what="the dialog closes")
    audit = tmp_path / "qmon" / "operations.jsonl"
    wait_until(lambda: '"state": "unknown"' in audit.read_text(), what="the audit records the unknown result")
    terminal.expect("unknown")
    terminal.keys("q")
    wait_until(lambda: gone(terminal.pid), what="it has left")
    assert states(quiet.direct) == {"ready": 7, "working": 2}


def test_q_leaves_while_an_action_has_no_answer(quiet_shop: tuple[Tunnel, Tmux], tmp_path: Path) -> None:
    quiet, terminal = quiet_shop
    requeue_over(quiet, terminal)
    terminal.keys("b")
    terminal.keys("q")
    advice = AppText.STILL_RUNNING.rpartition("; ")[2]
    wait_until(lambda: advice[:13] in terminal.screen(), what="it asks")  # the rest is wrapped beside other text
    terminal.keys("q")
    wait_until(lambda: gone(terminal.pid), what="it has left")
    assert '"state": "unknown"' in (tmp_path / "qmon" / "operations.jsonl").read_text()
