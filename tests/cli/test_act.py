"""The commands that act, on a real database: plans, refusals, exit codes, and rows that are changed or unchanged."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pyodbc
import pytest

from qmon.cli.commands.act.run_action import RunText, exit_code
from qmon.cli.commands.design.bench import BenchText
from qmon.cli.target_session import SessionText
from qmon.model.operation_records import OperationKind, OperationResult, OperationState, UndoState
from qmon.operate.actions.pause import PauseText
from qmon.operate.actions.redrive import RedriveText
from qmon.operate.actions.requeue import RequeueText
from qmon.operate.plan.exclusions import ExclusionText
from qmon.operate.plan.selection import ChoiceText
from qmon.operate.run.failure_watch import FailureText
from tests.cli.calling import call
from tests.cli.pseudo_terminal import Terminal
from tests.facts import query
from tests.jobs import HOSTILE, configuration, fill, states
from tests.schemas import valid
from tests.wordings import has

STUCK = ChoiceText.IN_PROGRESS.render(messages="3 messages")


@pytest.fixture
def shop(database: str, own_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The target ``shop`` with a queue of 3 messages of dead owners, 2 of living ones, and 4 that are ready."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    fill(database, dead=3, alive=2, ready=4)
    configure(own_home, configuration(database))
    return database


def configure(place: Path, text: str) -> None:
    """Make this the user's qmon.toml."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def acted(*arguments: str, code: int = 0) -> dict[str, Any]:
    """Run a command with --output json. Return the object."""
    done = call(*arguments, "--output", "json")
    assert done.exit_code == code, done.output
    return valid(done.stdout, "action")


def test_a_dry_run_says_everything_and_changes_nothing(shop: str) -> None:
    before = query(shop, "SELECT * FROM public.jobs ORDER BY id")
    done = call("requeue", "shop", "jobs", "--dry-run")
    assert done.exit_code == 0, done.output
    assert has(done.stdout, RequeueText.TITLE, messages=STUCK, queue="jobs")
    for part in (f"2 {ExclusionText.OWNER_ALIVE}", "undo", RunText.DRY_RUN):
        assert part in done.stdout, part
    assert "UPDATE" not in done.stdout
    assert "UPDATE" in call("requeue", "shop", "jobs", "--dry-run", "--sql").stdout
    assert query(shop, "SELECT * FROM public.jobs ORDER BY id") == before
    assert query(shop, "SELECT count(*) FROM pg_namespace WHERE nspname = 'qmon'") == [(0,)]


def test_nothing_to_do_is_one_line_and_exit_code_0(shop: str) -> None:
    query(shop, "DELETE FROM public.jobs WHERE lease < now()")
    for command in (
        ("requeue", "shop", "jobs"),
        ("requeue", "shop", "--state", "dead", "--yes"),
        ("purge", "shop", "--ids", "99", "--yes"),
        ("trash", "empty", "shop", "--yes"),
    ):
        done = call(*command)
        assert done.exit_code == 0, done.output
        assert len(done.stdout.splitlines()) == 1, done.output
        assert acted(*command)["result"] is None
    assert query(shop, "SELECT count(*) FROM pg_namespace WHERE nspname = 'qmon'") == [(0,)]


def test_requeue_and_its_undo(shop: str) -> None:
    result = acted("requeue", "shop", "--yes", "--reason", HOSTILE)["result"]
    assert (result["done"], result["state"]) == (3, "done")
    assert states(shop) == {"ready": 7, "working": 2}
    (listed,) = valid(call("operations", "shop", "--output", "json").stdout, "operations")["operations"]
    assert (listed["id"], listed["reason"], listed["undo_state"]) == (result["operation"], HOSTILE, "possible")
    shown = call("operations", "shop")
    assert result["operation"] in shown.stdout
    undone = acted("undo", "shop", result["operation"], "--yes")["result"]
    assert undone["done"] == 3
    assert states(shop) == {"ready": 4, "working": 5}
    again = call("undo", "shop", result["operation"], "--yes")
    assert again.exit_code == 2, again.output


def test_the_living_are_requeued_only_when_asked_for(shop: str) -> None:
    assert acted("requeue", "shop", "--owners", "dead,alive", "--max", "4", "--yes")["result"]["done"] == 4
    assert states(shop) == {"ready": 8, "working": 1}


def test_a_redrive_is_narrowed_down_paced_and_undone(shop: str) -> None:
    query(shop, "UPDATE public.jobs SET status = 'dead', attempts = 5 WHERE id <= 4")
    asked = (
        "requeue",
        "shop",
        "--state",
        "dead",
        "--payload",
        "OF 1",
        "--ids",
        "1,2,4",
        "--rate",
        "100/s",
        "--stop-after",
        "none",
    )
    plan = acted(*asked, "--dry-run")["plan"]
    assert plan["consequences"][0] == RedriveText.NEVER_STOPS.render(pace=RedriveText.AT_RATE.render(rate="100"))
    assert (plan["count"], plan["kind"]) == (2, "redrive")
    result = acted(*asked, "--yes")["result"]
    assert (result["done"], result["state"]) == (2, "done")
    assert result["notes"] == [FailureText.SUMMARY.render(failed=0, finished=0, rest=2)]
    assert query(shop, "SELECT id FROM public.jobs WHERE status = 'ready' AND attempts = 0 AND id < 6") == [(1,), (4,)]
    assert acted("undo", "shop", result["operation"], "--yes")["result"]["done"] == 2
    assert acted("purge", "shop", "--state", "dead", "--payload", "of 3", "--yes")["result"]["done"] == 1


def test_purge_by_ids_trash_and_undo(shop: str) -> None:
    rows = query(shop, "SELECT * FROM public.jobs ORDER BY id")
    result = acted("purge", "shop", "jobs", "--ids", "6,7", "--ids", "8", "--yes")["result"]
    assert result["done"] == 3
    assert states(shop) == {"ready": 1, "working": 5}
    (kept,) = valid(call("trash", "list", "shop", "--output", "json").stdout, "trash")["trash"]
    assert kept["operation"]["id"] == result["operation"]
    assert kept["kept_until"] > kept["operation"]["started_at"] + 6.9 * 86_400
    assert UndoState.POSSIBLE.label in call("trash", "list", "shop").stdout
    assert acted("undo", "shop", result["operation"], "--ids", "7", "--yes")["result"]["done"] == 1
    assert acted("undo", "shop", result["operation"], "--yes")["result"]["done"] == 2
    assert query(shop, "SELECT * FROM public.jobs ORDER BY id") == rows


def test_emptying_the_trash_is_the_end_of_undo(shop: str) -> None:
    operation = acted("purge", "shop", "--state", "ready", "--yes")["result"]["operation"]
    assert acted("trash", "empty", "shop", "--yes")["result"] is None
    emptied = call("trash", "empty", "shop", "jobs", "--older-than", "1ms", "--yes")
    assert emptied.exit_code == 0, emptied.output
    assert call("undo", "shop", operation, "--yes").exit_code == 2
    assert call("trash", "list", "shop").stdout == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("requeue", "shop", "jobs"),
        ("purge", "shop", "--state", "ready"),
        ("requeue", "shop", "nosuch", "--yes"),
        ("requeue", "shop", "--owners", "ded", "--yes"),
        ("purge", "shop", "--state", "in_progress", "--rate", "5", "--yes"),
        ("requeue", "shop", "--rate", "5", "--yes"),
        ("purge", "shop", "--state", "ready", "--older-than", "5", "--yes"),
        ("purge", "shop", "--ids", "1,,2", "--yes"),
        ("requeue", "shop", "--state", "ready", "--yes"),
        ("requeue", "shop", "--older-than", "soon", "--yes"),
        ("requeue", "shop", "--state", "dead", "--owner", "me", "--yes"),
        ("requeue", "shop", "--state", "dead", "--rate", "soon", "--yes"),
        ("requeue", "shop", "--state", "dead", "--stop-after", "1.5", "--yes"),
        ("setup", "shop", "--remove", "--yes"),
        ("repair", "shop", "jobs", "--yes"),
        ("undo", "shop", "no-such-operation", "--yes"),
        ("end-session", "shop", "1", "--yes"),
        ("resume", "shop", "jobs", "--yes"),
        ("pause", "shop", "jobs", "--for", "0s", "--yes"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_is_changed(shop: str, arguments: tuple[str, ...]) -> None:
    before = query(shop, "SELECT * FROM public.jobs ORDER BY id")
    done = call(*arguments)
    assert done.exit_code == 2, done.output
    assert done.stderr.strip()
    assert query(shop, "SELECT * FROM public.jobs ORDER BY id") == before


def test_pause_resume_and_the_gate_of_a_table_of_ones_own(shop: str) -> None:
    insert = "INSERT INTO public.jobs (status) VALUES ('ready')"
    refused = call("pause", "shop", "--yes")
    assert refused.exit_code == 2, refused.output
    assert has(refused.stderr, PauseText.NO_PUSH_SWITCH)
    assert "CREATE TRIGGER" in call("setup", "shop", "--gate", "jobs", "--print").stdout
    assert query(shop, "SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal") == [(0,)]
    assert acted("setup", "shop", "--gate", "jobs", "--yes")["result"]["done"] == 1
    query(shop, insert)
    assert acted("pause", "shop", "--for", "10m", "--reason", "deploy", "--yes", code=0)["result"]["state"] == "done"
    with pytest.raises(pyodbc.Error, match="QM001"):
        query(shop, insert)
    again = acted("pause", "shop", "--dry-run")
    assert any("deploy" in told for told in again["plan"]["risks"])
    assert call("resume", "shop", "--yes").exit_code == 0
    query(shop, insert)
    assert call("setup", "shop", "--gate", "jobs", "--remove", "--yes").exit_code == 0
    assert query(shop, "SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal") == [(0,)]


def test_prod_asks_for_the_name_and_a_reason(shop: str, own_home: Path) -> None:
    configure(own_home, configuration(shop, more="prod = true"))
    confirmed = ("--confirm", "jbos", "--reason", "why")
    for more, text in (
        ((), RunText.YES_NOT_ENOUGH),
        (("--confirm", "jobs"), RunText.YES_NOT_ENOUGH),
        (("--reason", "why"), RunText.YES_NOT_ENOUGH),
        (confirmed, RunText.WRONG_NAME),
    ):
        done = call("requeue", "shop", "--yes", *more)
        assert done.exit_code == 2, done.output
        assert has(done.stderr, text, queue="jobs")
    assert states(shop) == {"ready": 4, "working": 5}
    assert acted("requeue", "shop", "--yes", "--confirm", "jobs", "--reason", "why")["result"]["done"] == 3


def test_a_read_only_target_refuses_every_command(shop: str, own_home: Path) -> None:
    configure(own_home, configuration(shop, more="read_only = true"))
    before = query(shop, "SELECT * FROM public.jobs ORDER BY id")
    for arguments in (
        ("requeue", "shop"),
        ("requeue", "shop", "--state", "dead"),
        ("purge", "shop"),
        ("pause", "shop"),
        ("resume", "shop"),
        ("repair", "shop"),
        ("undo", "shop", "x"),
        ("end-session", "shop", "1"),
        ("setup", "shop", "--gate", "jobs"),
        ("setup", "shop", "--gate", "jobs", "--remove"),
        ("trash", "empty", "shop"),
    ):
        done = call(*arguments, "--yes", "--reason", "why", "--confirm", "jobs")
        assert done.exit_code == 2, (arguments, done.output)
    for others, text in (
        (("design", "install", "shop", "fifo", "--schema", "public"), SessionText.TARGET_READ_ONLY),
        (("design", "uninstall", "shop", "jobs", "--yes"), SessionText.TARGET_READ_ONLY),
        (("setup", "shop"), SessionText.TARGET_READ_ONLY),
        (("design", "load", "shop", "jobs"), SessionText.TARGET_READ_ONLY),
        (("design", "archive", "shop", "jobs"), SessionText.TARGET_READ_ONLY),
        (("design", "bench", "shop"), BenchText.READ_ONLY),
    ):
        done = call(*others)
        assert (done.exit_code, has(done.stderr, text, target="shop")) == (2, True), (others, done.output)
    assert query(shop, "SELECT * FROM public.jobs ORDER BY id") == before
    assert query(shop, "SELECT count(*) FROM pg_namespace WHERE nspname = 'qmon'") == [(0,)]
    assert query(shop, "SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal") == [(0,)]


def test_a_missing_right_names_the_grant_in_one_line(shop: str, own_home: Path) -> None:
    query(shop, "DROP ROLE IF EXISTS looker")
    query(shop, "CREATE ROLE looker LOGIN")
    try:
        query(shop, "GRANT SELECT ON public.jobs TO looker")
        configure(own_home, configuration(shop.replace("postgres@", "looker@", 1)))
        done = call("requeue", "shop", "--yes", "--owners", "dead,unknown,alive")
        assert done.exit_code in (1, 2), done.output
        assert "GRANT" in done.stderr or "qmon setup" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
        assert states(shop) == {"ready": 4, "working": 5}
    finally:
        query(shop, "DROP OWNED BY looker")
        query(shop, "DROP ROLE looker")


def test_payloads_are_covered_as_configured(shop: str, own_home: Path) -> None:
    configure(own_home, configuration(shop, settings=r'redact = ["\\d{4}-\\d{4}"]'))
    done = call("requeue", "shop", "--dry-run")
    assert "4111" not in done.output
    assert "card ••• of" in done.stdout


def test_hostile_names_change_nothing_but_what_they_should(shop: str, own_home: Path) -> None:
    configure(own_home, configuration(shop, queue=HOSTILE))
    done = call("requeue", "shop", HOSTILE, "--yes", "--reason", HOSTILE)
    assert done.exit_code == 0, done.output
    assert "drop table jobs" in done.stdout
    assert states(shop) == {"ready": 7, "working": 2}


@pytest.mark.parametrize(
    ("state", "done", "skipped", "code"),
    [
        (OperationState.DONE, 5, 0, 0),
        (OperationState.DONE, 4, 1, 3),
        (OperationState.CANCELLED, 2, 0, 3),
        (OperationState.INTERRUPTED, 2, 0, 3),
        (OperationState.FAILED, 0, 0, 1),
    ],
)
def test_exit_codes_tell_all_from_some(state: OperationState, done: int, skipped: int, code: int) -> None:
    assert exit_code(OperationResult("o", OperationKind.PURGE, "jobs", state, done, skipped)) == code


def test_on_a_terminal_it_asks_and_no_is_the_default(shop: str, own_home: Path) -> None:
    terminal = Terminal("requeue", "shop", home=own_home.parents[1])
    terminal.expect("[y/N]")
    assert has(terminal.read(), RequeueText.TITLE, messages=STUCK, queue="jobs")
    terminal.type("")
    assert terminal.end() == 2
    assert states(shop) == {"ready": 4, "working": 5}
    terminal = Terminal("requeue", "shop", home=own_home.parents[1])
    terminal.expect("[y/N]")
    terminal.type("y")
    assert terminal.end() == 0
    assert states(shop) == {"ready": 7, "working": 2}


def test_ctrl_c_stops_between_batches_and_says_what_was_done(shop: str, own_home: Path) -> None:
    query(shop, "INSERT INTO public.jobs (status) SELECT 'ready' FROM generate_series(1, 300000)")
    arguments = ("purge", "shop", "--state", "ready", "--yes", "--confirm", "jobs", "--reason", "test")
    terminal = Terminal(*arguments, home=own_home.parents[1])
    terminal.expect("/s")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 3, terminal.seen
    assert has(terminal.seen, RunText.STOPPING)
    assert "purge cancelled" in terminal.seen
    (listed,) = valid(call("operations", "shop", "--output", "json").stdout, "operations")["operations"]
    assert listed["state"] == "cancelled"
    assert 0 < listed["done"] < 300_004
    assert states(shop)["ready"] == 300_004 - listed["done"]
