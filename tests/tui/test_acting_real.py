"""From a key to rows changed in a real database: the dashboard over a real poller and the real operator."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyodbc
import pytest

from qmon.model.operation_records import OperationKind, OperationText
from qmon.operate.actions.purge import PurgeText
from qmon.operate.plan.exclusions import ExclusionText
from qmon.tui.actions.action_dialog import DialogStep
from qmon.tui.actions.dialog_text import StepText
from qmon.tui.message.message_screen import MessageScreenText
from qmon.tui.widgets.pager import Pager
from tests.contract.watching import installed
from tests.facts import query
from tests.jobs import HOSTILE, TABLE, fill, states
from tests.tui.live import looking
from tests.wordings import has


@pytest.fixture
def jobs(database: str) -> Iterator[str]:
    """Create three messages of dead owners, two of living ones, and four that are ready."""
    fill(database, dead=3, alive=2, ready=4)
    yield database


async def test_r_requeues_what_dead_owners_hold_and_u_takes_it_back(jobs: str, tmp_path: Path) -> None:
    async with looking(jobs, tmp_path) as d:
        await d.does("r")
        assert states(jobs) == {"ready": 7, "working": 2}
        await d.until(
            lambda: has(d.text(), StepText.FIGURE, figure="ready", now="7", before="4"), "figures from after the end"
        )
        await d.pilot.press("escape")
        await d.does("u")
        assert states(jobs) == {"ready": 4, "working": 5}
        await d.pilot.press("escape", "6")
        await d.until(lambda: "undone" in d.text(), "the operations")
        assert (tmp_path / "audit.jsonl").read_text().count('"event": "end"') == 2


@pytest.mark.parametrize(("index", "mark"), [("", ""), ("DROP INDEX", "~")])
async def test_the_result_of_a_redrive_shows_counts_from_after_its_end(
    database: str, tmp_path: Path, index: str, mark: str
) -> None:
    query(database, TABLE + (f"{index} public.jobs_status_id_idx;" if index else ""))
    query(database, "INSERT INTO public.jobs (status, attempts) SELECT 'dead', 5 FROM generate_series(1, 12)")
    async with looking(database, tmp_path) as d:
        await d.pilot.press("2")
        await d.until(lambda: "dead ~12" in d.text() or "dead 12" in d.text(), "their count")
        await d.does("d")
        seen: list[str] = []

        def shown() -> str:
            seen.append(d.text())
            return seen[-1]

        read = {"figure": "dead", "now": f"{mark}0", "before": f"{mark}12"}
        await d.until(lambda: has(shown(), StepText.FIGURE, **read), "a count from after the end")
        assert not any("dead ~12 (" in each or "dead 12 (" in each for each in seen)
        assert states(database) == {"ready": 12}
        assert "pop/s" not in d.text()


async def test_x_moves_what_is_marked_to_the_trash_and_the_operations_screen_brings_it_back(
    jobs: str, tmp_path: Path
) -> None:
    rows = query(jobs, "SELECT * FROM public.jobs ORDER BY id")
    async with looking(jobs, tmp_path) as d:
        await d.pilot.press("2")
        await d.until(lambda: "card 4111-1111 of 1" in d.text(), "the rows")
        await d.pilot.press("space", "down", "space")
        await d.does("x")
        assert len(query(jobs, "SELECT * FROM public.jobs")) == 7
        await d.pilot.press("escape", "6")
        await d.until(lambda: "rows saved" in d.text(), "the operation")
        await d.does("u")
        assert query(jobs, "SELECT * FROM public.jobs ORDER BY id") == rows


async def test_cancel_and_read_only_change_nothing(jobs: str, tmp_path: Path) -> None:
    rows = query(jobs, "SELECT * FROM public.jobs ORDER BY id")
    async with looking(jobs, tmp_path) as d:
        for key in ("r", "x"):
            await d.pilot.press(key)
            await d.step(DialogStep.CONFIRM if key == "r" else DialogStep.REFUSED)
            if key == "x":
                assert has(d.text(), OperationText.NO_MESSAGE), "it acts on dead messages only, and there are none"
                await d.pilot.press("tab", "right")
                await d.step(DialogStep.CONFIRM)
                assert has(d.text(), PurgeText.TITLE, messages="4 ready messages")
            await d.pilot.press("shift+tab" if key == "x" else "enter", "escape")
            await d.until(lambda: d.dialog is None, "the dialog has gone")
    async with looking(jobs, tmp_path, read_only="for this test") as d:
        for key in ("r", "x", "p", "u", "P", "R", "E"):
            await d.pilot.press(key)
            assert d.dialog is None
    assert query(jobs, "SELECT * FROM public.jobs ORDER BY id") == rows
    assert query(jobs, "SELECT count(*) FROM pg_namespace WHERE nspname = 'qmon'") == [(0,)]


async def test_a_hostile_name_is_text_on_every_screen_and_in_every_statement(jobs: str, tmp_path: Path) -> None:
    async with looking(jobs, tmp_path, queue=HOSTILE) as d:
        await d.pilot.press("r")
        await d.step(DialogStep.CONFIRM)
        await d.until(lambda: d.text().count('[a]]b].[c d]"; drop tab') > 1, "the title")
        await d.pilot.press("escape")
        await d.does("r")
        assert states(jobs) == {"ready": 7, "working": 2}


async def test_p_pauses_the_producers_the_banner_says_so_and_p_resumes(database: str, tmp_path: Path) -> None:
    (made,) = installed(database, "status")
    name = made.routine_for("push")
    assert name is not None
    push = f"SELECT * FROM {name}('x'::bytea)"
    query(database, push)
    async with looking(database, tmp_path, queue="status", layouts=()) as d:
        await d.does("p", "deploy")
        await d.pilot.press("escape")
        await d.until(lambda: "‖ PAUSED" in d.text(), "the banner")
        with pytest.raises(pyodbc.Error) as refused:
            query(database, push)
        assert "QM001" in str(refused.value)
        await d.does("p")
        await d.pilot.press("escape")
        await d.until(lambda: "‖ PAUSED" not in d.text(), "the banner goes")
        query(database, push)


async def test_a_ring_without_faults_needs_no_repair(database: str, tmp_path: Path) -> None:
    installed(database, "ring", ring_size=16)
    async with looking(database, tmp_path, queue="ring", layouts=()) as d:
        await d.pilot.press("R")
        await d.step(DialogStep.REFUSED)
        assert d.dialog is not None
        assert d.dialog.plan is not None
        assert d.dialog.plan.kind is OperationKind.REPAIR


async def test_nothing_to_do_is_said(jobs: str, tmp_path: Path) -> None:
    query(jobs, "UPDATE public.jobs SET lease = now() + interval '1 hour'")
    async with looking(jobs, tmp_path) as d:
        await d.pilot.press("r")
        await d.step(DialogStep.REFUSED)
        assert has(d.text(), OperationText.NO_MESSAGE)
        assert f"5 {ExclusionText.OWNER_ALIVE}" in d.text()


async def test_enter_opens_a_real_message_and_one_that_is_gone_leaves_what_was_listed(
    jobs: str, tmp_path: Path
) -> None:
    async with looking(jobs, tmp_path, read_only="not today") as d:
        await d.pilot.press("2")
        await d.until(lambda: "card 4111-1111 of 1" in d.text(), "the rows")
        await d.pilot.press("enter")
        await d.until(lambda: "text, 19 B" in d.text(), "the message")
        assert "started_at  timestamp with time zone" in d.text()
        found = re.search(r"card 4111-1111 of \d", d.text())
        assert found is not None
        query(jobs, "DELETE FROM public.jobs")
        await d.pilot.press("n")
        payload = d.app.screen.query_one("#payload", Pager)
        await d.until(lambda: has("\n".join(payload.plain_rows), MessageScreenText.GONE), "it is gone")
        assert found[0] in d.text(), "the list's own columns"
