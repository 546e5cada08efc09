"""A figure, a verdict and a probe each need a few files. This test adds one of each kind to a copy of qmon.

``docs/contributing.md`` lists the files.
"""

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
# A figure from a sample that polls already read.
SAMPLED_ROW: Final = """    QueueFigure("rows", "rows", COUNT, "rows in the table"),
"""
SAMPLED: Final = """
def _rows_figure(samples: QueueSamples, at: float) -> Figure:
    if samples.counters is None:
        return _unknown_figure(samples, "rows")
    return Figure(float(samples.counters.live), estimated=True)


# The figures that follow from the samples of one poll, made"""
VERDICT: Final = """

class RetryText(Text):
    RETRIED = "{count:,} messages in progress were tried before"


def _retried_proof(context: RuleInput) -> str | None:
    kept = context.samples.values.get("retried") if context.samples is not None else None
    if kept is None or not kept.value:
        return None
    return RetryText.RETRIED.render(count=round(kept.value))


RETRIED = Rule("retried", Severity.WARNING, 0.0, _retried_proof, probes=probes_for("retried"))
"""
# A probe of the target.
TARGET_STATEMENT: Final = """-- Prepared transactions.
-- > transactions  number of prepared transactions
-- > oldest_s      age of the oldest one in seconds
SELECT CAST(count(*) AS int) AS transactions,
       CAST(max(extract(epoch FROM clock_timestamp() - prepared)) AS float8) AS oldest_s
FROM pg_catalog.pg_prepared_xacts
"""
SAMPLE: Final = """@dataclass(frozen=True, slots=True)
class PreparedSample:
    transactions: int
    oldest_s: float | None


@dataclass(frozen=True, slots=True)
class ServerState:"""
PROBE: Final = """_TARGET_PROBES: Final = (
    Probe("prepared", server_state_samples.PreparedSample, Scope.TARGET, every_s=5.0, subject="prepared"),
"""
SCREEN: Final = """
from qmon import api
from qmon.tui.overview.column_choice import EXTRA_COLUMNS
from qmon.tui.queue.queue_panel import reading_lines, unknown_items
from qmon.tui.waits.server_health_panel import server_lines
view = api.open_target("shop").view()
for name in ("mails", "plain"):
    queue = view.queue(name)
    print("".join(text for line in reading_lines(queue, 200) for text, _ in line))
    print([item for item in unknown_items(queue) if "retried" in item[0]])
print([column.title for column in EXTRA_COLUMNS])
print([text for line in server_lines(view, 200, 30) for text, _ in line])
"""


def edit(path: Path, before: str, after: str) -> None:
    """Replace a text that the file contains once."""
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1, (path, before)
    path.write_text(text.replace(before, after), encoding="utf-8")


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Return a folder with a copy of qmon that has the new figures, the new verdict and the new probes."""
    folder = tmp_path / "copy"
    for name in ("qmon", "sql", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    model, probes = folder / "qmon/model", folder / "sql/postgres/probes"
    figures = model / "queue_figures.py"
    # a figure that a probe reads
    (probes / "retried.sql").write_text(STATEMENT, encoding="utf-8")
    edit(figures, "\n)\n\nFIGURES_BY_FIELD", f"\n{ROW}{SAMPLED_ROW})\n\nFIGURES_BY_FIELD")
    edit(
        figures,
        "from qmon.model.probe import Probe\n",
        "from qmon.model.cost_budget import Rank\n"
        "from qmon.model.probe import Probe, Scope\n"
        "from qmon.model.samples.polled_samples import ValueSample\n",
    )
    # a figure from a sample
    samples = folder / "qmon/monitor/state/sample_figures.py"
    edit(samples, "\n# The figures that follow from the samples of one poll, made", SAMPLED)
    edit(samples, '"fill": fill_figure,\n', '"fill": fill_figure,\n    "rows": _rows_figure,\n')
    edit(model / "probe_table.py", '_COUNTERS: Final = ("rates",', '_COUNTERS: Final = ("rates", "rows",')
    # a verdict
    rules = model / "verdicts/flow_verdicts.py"
    rules.write_text(rules.read_text(encoding="utf-8") + VERDICT, encoding="utf-8")
    judge = model / "verdicts/judge.py"
    edit(judge, "flow_verdicts import (\n", "flow_verdicts import (\n    RETRIED,\n")
    edit(judge, "    BEHIND,\n)\n_RANKS", "    BEHIND,\n    RETRIED,\n)\n_RANKS")
    # a probe of the target
    (probes / "prepared.sql").write_text(TARGET_STATEMENT, encoding="utf-8")
    state = model / "samples/server_state_samples.py"
    edit(state, "@dataclass(frozen=True, slots=True)\nclass ServerState:", SAMPLE)
    edit(state, "    read_at: Mapping", "    prepared: PreparedSample | None = None\n    read_at: Mapping")
    edit(model / "probe_table.py", "_TARGET_PROBES: Final = (\n", PROBE)
    return folder


def test_each_addition_is_shown_printed_and_recorded(copied: Path, database: str, own_home: Path) -> None:
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

    status = json.loads(run("-m", "qmon", "status", "shop", "-o", "json"))
    read = queues(status)
    assert read["mails"]["retried"] == 4
    assert read["plain"]["retried"] is None
    assert "retried" in read["plain"]["unknown"]
    assert (read["mails"]["rows"], read["mails"]["approximate"]["rows"]) == (8, "~")
    assert "retried" in {verdict["code"] for verdict in read["mails"]["verdicts"]}
    assert "retried" not in {verdict["code"] for verdict in read["plain"]["verdicts"]}
    assert status["server_state"]["prepared"] == {"transactions": 0, "oldest_s": None}

    run("-m", "qmon", "record", "shop", "--to", str(copied / "tape"), "--for", "3s")
    replay = json.loads(run("-m", "qmon", "replay", str(copied / "tape"), "-o", "json"))
    replayed = queues(replay["status"])
    assert (replayed["mails"]["retried"], replayed["mails"]["rows"]) == (4, 8)
    assert "retried" in {verdict["code"] for verdict in replayed["mails"]["verdicts"]}
    assert replay["status"]["server_state"]["prepared"]["transactions"] == 0

    mails, mails_unknown, plain, plain_unknown, columns, health = run("-c", SCREEN).splitlines()
    assert "retried 4" in mails
    assert "rows ~8" in mails
    assert "retried" not in plain
    assert (mails_unknown, plain_unknown) == ("[]", "[]"), "a table without attempts has no such figure"
    assert "'RETRIED'" in columns
    assert "'ROWS'" in columns
    assert "prepared" in health
    assert "transactions " in health
