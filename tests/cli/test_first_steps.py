"""The first example of the designs, guessed queues next to installed ones, and folders that are missing."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from qmon.cli.commands.pipeline.pipeline import PipelineText
from qmon.cli.commands.queues import ListingText
from qmon.cli.commands.status import StatusText
from qmon.errors import BadInput
from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.operation_records import Choice
from qmon.operate.actions.purge import PurgeText
from qmon.operate.operator import Operator
from qmon.operate.plan.selection import ChoiceText
from qmon.operate.plan.transitions import TransitionText
from tests.cli.calling import ROOT, call
from tests.contract.operating import desk_at
from tests.facts import query
from tests.wordings import has, pattern

GUESSED = """
    CREATE TABLE jobs (id bigint PRIMARY KEY, status text NOT NULL, payload text, created_at timestamptz DEFAULT now());
    CREATE INDEX ON jobs (status);
    INSERT INTO jobs (id, status, payload)
    SELECT i, (ARRAY['ready', 'done', 'failed'])[i % 3 + 1], 'x' FROM generate_series(1, 300) AS i;
    ANALYZE jobs"""
NOTE = StatusText.INSTALLED_ONLY


def test_the_first_example_of_the_designs_works_as_it_is_written(database: str) -> None:
    text = (ROOT / "docs" / "queue-designs.md").read_text("utf-8")
    commands = re.findall(r"^    qmon (design install|design show) (.*)$", text, re.MULTILINE)[:2]
    assert [name for name, _ in commands] == ["design install", "design show"]
    for name, rest in commands:
        done = call(*name.split(), *(database if word == "shop" else word for word in shlex.split(rest)))
        assert done.exit_code == 0, done.output


def test_status_says_that_guessed_queues_are_not_shown_next_to_installed_ones(database: str) -> None:
    for statement in GUESSED.split(";"):
        query(database, statement)
    before = call("status", database)
    assert "jobs" in before.stdout and NOTE not in before.stderr
    assert call("design", "install", database, "fifo", "--schema", "public").exit_code == 0
    after = call("status", database)
    assert "jobs" not in after.stdout and NOTE in after.stderr
    assert "jobs" in call("queues", database).stdout


def test_split_tables_that_are_known_by_shape_alone_have_one_design(database: str) -> None:
    assert call("design", "install", database, "batch_fast", "--schema", "public", "--queue", "mails").exit_code == 0
    query(database, "DROP SCHEMA qmon CASCADE")
    told = call("queues", database).stdout
    known = re.escape(ListingText.BY_SHAPE.render(confidence="likely"))
    assert re.search(rf"^mails +batch_fast +public\.mails +{known}", told, re.MULTILINE), told


def test_a_state_that_the_server_computes_is_refused_in_the_plan(database: str, tmp_path: Path) -> None:
    query(
        database,
        "CREATE TABLE work (id bigint PRIMARY KEY, taken timestamptz, dead boolean NOT NULL, payload text,"
        " status text GENERATED ALWAYS AS (CASE WHEN dead THEN 'dead' WHEN taken IS NULL THEN 'ready' ELSE 'busy' END)"
        " STORED)",
    )
    query(
        database,
        "INSERT INTO work SELECT i, CASE WHEN i % 2 = 0 THEN now() - interval '2 h' END, i % 3 = 0, 'x'"
        " FROM generate_series(1, 12) AS i",
    )
    state = StateColumn("status", "ready", "busy", None, "dead")
    layout = Layout("work", "status", ObjectName("public", "work"), id="id", started_at="taken", state=state)
    operator = Operator(desk_at(database, tmp_path))
    before = query(database, "SELECT * FROM work ORDER BY id")
    for prepared in (
        operator.requeue(layout, Choice()),
        operator.requeue(layout, Choice(state="dead")),
        operator.redrive(layout, Choice()),
    ):
        assert has(prepared.plan.refused, TransitionText.COMPUTED_STATE, column="status")
    assert query(database, "SELECT * FROM work ORDER BY id") == before
    purge = operator.purge(replace(layout, started_at=None), Choice())
    dead = ChoiceText.MESSAGES.render(listed=ChoiceText.IN_STATE.render(count=4, state="dead"), unit="messages")
    title = PurgeText.TITLE.render(messages=dead, queue="work")
    assert (purge.plan.title, purge.plan.refused) == (title, None)
    with pytest.raises(BadInput, match=pattern(PurgeText.NO_DEAD, queue="work")):
        operator.purge(replace(layout, state=StateColumn("status", "ready", "busy")), Choice())


def test_a_folder_of_recordings_that_is_not_there_is_an_error_before_a_lake_is_made(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    for how in ("--once", "--continuous"):
        done = call("pipeline", "run", "--recordings", str(tmp_path / "none"), "--lake", str(lake), how)
        assert (done.exit_code, lake.exists()) == (2, False)
        assert has(done.stderr, PipelineText.NO_RECORDINGS, path=tmp_path / "none")
