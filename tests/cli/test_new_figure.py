"""A figure that a probe reads needs a SQL file per engine and one row. This test adds one to a copy of qmon."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cli.calling import ROOT, surroundings
from tests.facts import query

pytestmark = pytest.mark.server

TABLE: Final = """
CREATE TABLE mails (id bigserial PRIMARY KEY, status text NOT NULL, attempts int NOT NULL DEFAULT 0);
CREATE INDEX ON mails (status, id);
INSERT INTO mails (status, attempts) SELECT 'working', n FROM generate_series(1, 5) AS n;
INSERT INTO mails (status) SELECT 'new' FROM generate_series(1, 3);
CREATE TABLE plain_mails (id bigserial PRIMARY KEY, body text);
"""
CONFIG: Final = """
[target.shop]
connect = "{database}"
[[target.shop.queue]]
name = "mails"
table = "public.mails"
id = "id"
attempts = "attempts"
state = {{ column = "status", ready = "new", in_progress = "working", done = "sent" }}
[[target.shop.queue]]
name = "plain"
table = "public.plain_mails"
id = "id"
"""
STATEMENT: Final = """-- Messages in progress that were tried before, counted up to a limit.
-- {table}       the queue's table
-- {state}       column: the state
-- {attempts}    column: the number of attempts
-- :in_progress  the state value of a message in progress
-- :limit        maximum number of messages in progress to read
-- > value       rows seen
SELECT CAST(count(*) AS float8) AS value
FROM (SELECT {attempts} AS attempts FROM {table} WHERE {state} = :in_progress LIMIT :limit) AS s
WHERE s.attempts > 1
"""
ROW: Final = """    QueueFigure(
        "retried",
        "retried",
        COUNT,
        "messages in progress that were tried before",
        of_rows=True,
        kinds=("in_progress",),
        probe=Probe(
            "retried",
            ValueSample,
            Scope.QUEUE,
            index="progress",
            feeds=("retried",),
            rank=Rank.DETAIL,
            every_s=10.0,
            in_turns_s=60.0,
            subject="retried",
        ),
    ),
"""
IMPORTS: Final = """from qmon.model.cost_budget import Rank
from qmon.model.probe import Scope
from qmon.model.samples.polled_samples import ValueSample
"""
SCREEN: Final = """
import sys
from qmon import api
from qmon.tui.overview.column_choice import EXTRA_COLUMNS, chosen_columns
from qmon.tui.queue.queue_panel import reading_lines, unknown_items
view = api.open_target("shop").view()
for name in ("mails", "plain"):
    queue = view.queue(name)
    print("".join(text for line in reading_lines(queue, 200) for text, _ in line))
    print([item for item in unknown_items(queue) if "retried" in item[0]])
print([column.title for column in EXTRA_COLUMNS])
"""


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Return a folder with a copy of qmon that has the new figure."""
    folder = tmp_path / "copy"
    for name in ("qmon", "sql", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "sql/postgres/probes/retried.sql").write_text(STATEMENT, encoding="utf-8")
    figures = folder / "qmon/model/queue_figures.py"
    text = figures.read_text(encoding="utf-8")
    rows, _, rest = text.partition("\n)\n\nFIGURES_BY_FIELD")
    assert rest
    rows = rows.replace("from qmon.model.figure import", f"{IMPORTS}from qmon.model.figure import", 1)
    figures.write_text(f"{rows}\n{ROW})\n\nFIGURES_BY_FIELD{rest}", encoding="utf-8")
    return folder


def test_a_figure_is_one_row_and_a_file_for_each_engine(copied: Path, database: str, own_home: Path) -> None:
    query(database, TABLE)
    own_home.parent.mkdir(parents=True)
    own_home.write_text(CONFIG.format(database=database), encoding="utf-8")

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            env=surroundings(PYTHONPATH=str(copied)),
            cwd=copied,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def queues(status: dict[str, Any]) -> dict[str, dict[str, Any]]:
        return {queue["name"]: queue for queue in status["queues"]}

    read = queues(json.loads(run("-m", "qmon", "status", "shop", "-o", "json")))
    assert read["mails"]["retried"] == 4
    assert read["plain"]["retried"] is None
    assert "retried" in read["plain"]["unknown"]

    run("-m", "qmon", "record", "shop", "--to", str(copied / "tape"), "--for", "3s")
    replayed = queues(json.loads(run("-m", "qmon", "replay", str(copied / "tape"), "-o", "json"))["status"])
    assert replayed["mails"]["retried"] == 4

    mails, mails_unknown, plain, plain_unknown, columns = run("-c", SCREEN).splitlines()
    assert "retried 4" in mails
    assert "retried" not in plain
    assert (mails_unknown, plain_unknown) == ("[]", "[]"), "a table without attempts has no such figure"
    assert "'RETRIED'" in columns
