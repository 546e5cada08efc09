"""Pauses in libraries whose workers do not run here, on recreated tables."""

from __future__ import annotations

import json
import re
from pathlib import Path

import psycopg
import pytest

from qmon.model.operation_records import Side
from qmon.operate.actions.pause import PauseText
from qmon.operate.libraries.library_pause import LibraryPauseText
from tests.contract.hostile import role
from tests.contract.hostile_tables import ROLE
from tests.contract.operating import applied
from tests.facts import query
from tests.libraries.acting import layout_of, operator
from tests.libraries.tables import GOOD_JOB, RIVER, Made
from tests.wordings import has

pytestmark = pytest.mark.server

TABLES = {
    RIVER.name: """
CREATE TABLE river_queue (
    name text PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now(), metadata jsonb NOT NULL DEFAULT '{}',
    paused_at timestamptz, updated_at timestamptz NOT NULL
);
INSERT INTO river_queue (name, updated_at) VALUES ('mails', now() - interval '1 m'), ('default', now());
""",
    GOOD_JOB.name: """
CREATE TABLE good_job_settings (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), created_at timestamp NOT NULL, updated_at timestamp NOT NULL,
    key text UNIQUE, value jsonb
);
""",
}
# SQL for the paused queues, as each library reads them.
PAUSED = {
    RIVER.name: "SELECT name FROM river_queue WHERE paused_at IS NOT NULL",
    GOOD_JOB.name: "SELECT jsonb_array_elements_text(value -> 'queues') FROM good_job_settings WHERE key = 'pauses'",
}


@pytest.mark.parametrize("made", [RIVER, GOOD_JOB], ids=lambda made: made.name)
def test_a_queue_is_paused_and_resumed(made: Made, database: str, tmp_path: Path) -> None:
    query(database, made.tables + TABLES[made.name])
    acting = operator(database, tmp_path)
    mails, default = layout_of(database, "mails"), layout_of(database, "default")
    assert acting.resume(mails, Side.CONSUMERS).plan.refused == LibraryPauseText.UNCHANGED.render(
        side="consumers", queue=mails.queue, state="not paused"
    )
    late = acting.pause(mails, Side.CONSUMERS)
    assert late.plan.risks == (LibraryPauseText.NO_END.render(side="consumers"),)
    for layout in (mails, default):
        assert applied(acting.pause(layout, Side.CONSUMERS)).done == 1
        unchanged = LibraryPauseText.UNCHANGED.render(side="consumers", queue=layout.queue, state="already paused")
        assert acting.pause(layout, Side.CONSUMERS).plan.refused == unchanged
    assert applied(late).changed == 1
    assert set(query(database, PAUSED[made.name])) == {("mails",), ("default",)}
    assert applied(acting.resume(mails, Side.CONSUMERS)).done == 1
    assert query(database, PAUSED[made.name]) == [("default",)]
    assert has(str(acting.pause(mails, Side.PRODUCERS).plan.refused), PauseText.NO_PUSH_SWITCH)


def test_what_else_good_job_pauses_stays_paused(database: str, tmp_path: Path) -> None:
    query(database, GOOD_JOB.tables + TABLES[GOOD_JOB.name])
    query(
        database,
        """INSERT INTO good_job_settings (key, value, created_at, updated_at)
        VALUES ('pauses', '{"queues": ["slow"], "job_classes": ["Mail"]}', now(), now()), ('other', '[1]', now(), now())
        """,
    )
    acting, layout = operator(database, tmp_path), layout_of(database, "mails")
    kept = "SELECT value::text FROM good_job_settings ORDER BY key"
    before = query(database, kept)
    prepared = acting.pause(layout, Side.CONSUMERS)
    assert "enable_pauses" in prepared.plan.consequences[0]
    assert applied(prepared).done == 1
    assert set(query(database, PAUSED[GOOD_JOB.name])) == {("slow",), ("mails",)}
    assert applied(acting.resume(layout, Side.CONSUMERS)).done == 1
    assert query(database, kept) == before


def test_workers_of_river_that_listen_are_told(database: str, tmp_path: Path) -> None:
    query(database, RIVER.tables + TABLES[RIVER.name])
    acting, layout = operator(database, tmp_path), layout_of(database, "mails")
    with psycopg.connect(database, autocommit=True) as worker:
        worker.execute('LISTEN "public.river_control"')
        applied(acting.pause(layout, Side.CONSUMERS))
        applied(acting.resume(layout, Side.CONSUMERS))
        told = [json.loads(each.payload) for each in worker.notifies(stop_after=2, timeout=30)]
    assert told == [{"action": action, "queue": "mails"} for action in ("pause", "resume")]


def test_a_queue_that_no_worker_of_river_has_taken_from_cannot_be_paused(database: str, tmp_path: Path) -> None:
    query(database, RIVER.tables + TABLES[RIVER.name])
    query(database, "DELETE FROM river_queue WHERE name = 'mails'")
    plan = operator(database, tmp_path).pause(layout_of(database, "mails"), Side.CONSUMERS).plan
    assert plan.refused == LibraryPauseText.NO_QUEUE_YET.render(library="river", queue="mails")


@pytest.mark.parametrize("made", [RIVER, GOOD_JOB], ids=lambda made: made.name)
def test_a_right_that_is_missing_is_named_by_the_plan(made: Made, database: str, tmp_path: Path) -> None:
    query(database, made.tables + TABLES[made.name])
    layout, url = layout_of(database, "mails"), role(database)
    query(database, f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {ROLE}")
    acting = operator(url, tmp_path)
    why = str(acting.pause(layout, Side.CONSUMERS).plan.refused)
    for grant in re.findall("GRANT [^;]*", why):
        query(database, grant)
    assert applied(acting.pause(layout, Side.CONSUMERS)).done == 1
