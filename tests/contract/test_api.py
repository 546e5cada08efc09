"""The examples of docs/api.md, on a real queue."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from qmon.api import ApiText, OpenTarget, apply, open_target
from qmon.engines.postgres.postgres_errors import PostgresErrorText
from qmon.errors import BadInput, ConnectionFailed
from qmon.model.operation_records import Choice
from tests.cli.calling import call
from tests.contract.tables import JOBS, make
from tests.facts import query
from tests.wordings import pattern

EXAMPLES = re.findall(
    r"^```python\n(.*?)^```", (Path(__file__).parents[2] / "docs/api.md").read_text("utf-8"), re.M | re.S
)
HELD = """INSERT INTO background_jobs (status, job_type, run_at, locked_at, locked_by)
    SELECT 'running', 'mail', now() - interval '1 day', now() - interval '1 day', 'host:1' FROM generate_series(1, 7);
    INSERT INTO background_jobs (status, job_type, run_at) SELECT 'queued', 'mail', now() FROM generate_series(1, 5)"""
QUEUE = "background_jobs"


@pytest.fixture
def shop(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a target whose queue `qmon init` has written to the user's configuration."""
    make(database, f"{JOBS}; {HELD}")
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    assert call("init", database).exit_code == 0
    (target,) = tomllib.loads((tmp_path / "qmon" / "qmon.toml").read_text("utf-8"))["target"]
    return str(target)


@pytest.mark.parametrize("number", range(3))
def test_each_example_runs(shop: str, number: int, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(EXAMPLES[number], f"docs/api.md {number}", "exec"), {"TARGET": shop, "QUEUE": QUEUE})  # noqa: S102
    said = capsys.readouterr().out
    expected = (QUEUE, f"{{'{QUEUE}': 5", "7 requeued; undo with")[number]
    assert expected in said.lower(), said


def test_there_are_three() -> None:
    assert len(EXAMPLES) == 3


def test_what_is_planned_is_done_and_taken_back(database: str, shop: str) -> None:
    target = open_target(shop)
    action = target.purge(QUEUE, Choice(state="ready"))
    assert query(database, f"SELECT count(*) FROM {QUEUE}")[0][0] == 12
    done = apply(action, "a test")
    assert done.done == action.plan.count == 5
    assert query(database, f"SELECT count(*) FROM {QUEUE}")[0][0] == 7
    assert apply(target.undo(done.operation), "a test").done == 5
    assert query(database, f"SELECT count(*) FROM {QUEUE}")[0][0] == 12


def test_the_status_is_that_of_the_command(shop: str) -> None:
    found = open_target(shop).status(0.5)
    assert [each["name"] for each in found["queues"]] == [QUEUE]


def test_what_is_not_there_is_said(shop: str) -> None:
    with pytest.raises(BadInput, match=pattern(ApiText.NO_QUEUE, queue="job")):
        open_target(shop).layout("job")
    with pytest.raises(ConnectionFailed, match=pattern(PostgresErrorText.REFUSED)):
        open_target("postgresql://me@127.0.0.1:1/none")


def test_a_watch_ends_when_it_is_closed(shop: str) -> None:
    target: OpenTarget = open_target(shop)
    views = target.snapshots(0.5)
    assert next(views).queues[0].name == QUEUE
    views.close()  # type: ignore[attr-defined]
    assert next(views, None) is None
