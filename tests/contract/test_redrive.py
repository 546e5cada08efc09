"""Redrive on a real server: the selected dead messages, with new attempts, at a rate, until too many fail again."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from qmon.engines.sql.queries import Name
from qmon.errors import BadInput
from qmon.model.layout.layout import Layout
from qmon.model.operation_records import Choice, OperationState, Progress, RedriveLimits
from qmon.model.reasons import Reason
from qmon.operate.actions.redrive import RedriveText
from qmon.operate.actions.undo import UndoText
from qmon.operate.operator import Operator
from qmon.operate.plan.selection import ChoiceText, id_names
from qmon.operate.run import failure_watch
from qmon.operate.run.failure_watch import FailureText
from tests.contract.operating import applied, desk_at
from tests.contract.tables import make
from tests.facts import connected, query
from tests.jobs import TABLE, layout
from tests.queues import made
from tests.wordings import has, pattern

FAST = RedriveLimits(rate=None)
JOBS: Layout = replace(layout(), error="last_error", enqueued_at="pushed_at")
DEAD = """
ALTER TABLE public.jobs ADD last_error text, ADD pushed_at timestamptz NOT NULL DEFAULT now();
INSERT INTO public.jobs (status, attempts, payload, last_error, pushed_at)
SELECT CASE n WHEN 9 THEN 'ready' WHEN 10 THEN 'working' ELSE 'dead' END, 5, 'order ' || n,
       CASE WHEN n % 2 = 0 THEN 'Connection refused' ELSE 'no such customer' END, now() - n * interval '1 hour'
FROM generate_series(1, 10) AS n;
"""


@pytest.mark.parametrize(
    ("choice", "ids"),
    [
        (Choice(), [1, 2, 3, 4, 5, 6, 7, 8]),
        (Choice(error="connection REFUSED"), [2, 4, 6, 8]),
        (Choice(payload="Order 3"), [3]),
        (Choice(older_than_s=5.5 * 3600), [6, 7, 8]),
        (Choice(older_than_s=2.5 * 3600, newer_than_s=4.5 * 3600), [3, 4]),
        (Choice(error="refused", older_than_s=3.5 * 3600, limit=2), [4, 6]),
        (Choice(ids=("1", "9")), [1]),
        (Choice(error="%"), []),
    ],
)
def test_exactly_those_that_are_meant_are_tried_again_and_come_back(
    database: str, tmp_path: Path, choice: Choice, ids: list[int]
) -> None:
    make(database, TABLE + DEAD)
    before = query(database, "SELECT * FROM public.jobs ORDER BY id")
    operator = Operator(desk_at(database, tmp_path))
    prepared = operator.redrive(JOBS, choice, FAST)
    assert (prepared.plan.count, prepared.plan.refused is None) == (len(ids), bool(ids))
    assert [row.id for row in prepared.plan.first] == [str(id) for id in ids]
    assert all(row.error in ("Connection refused", "no such customer") for row in prepared.plan.first)
    if not ids:
        return
    result = applied(prepared)
    assert (result.state, result.done) == (OperationState.DONE, len(ids))
    assert result.notes[-1] == FailureText.SUMMARY.render(failed=0, finished=0, rest=len(ids))
    changed = query(
        database, "SELECT id, status, attempts, started_at, lease FROM public.jobs WHERE attempts = 0 ORDER BY id"
    )
    assert changed == [(id, "ready", 0, None, None) for id in ids]
    undo = operator.undo(result.operation)
    assert undo.plan.consequences == (UndoText.AS_BEFORE.render(before="dead"),)
    assert applied(undo).done == len(ids)
    assert query(database, "SELECT * FROM public.jobs ORDER BY id") == before


@pytest.mark.parametrize("design", ["status", "batch_fast", "batch_split", "batch_single"])
def test_what_the_payload_contains_is_found_where_the_design_keeps_it(
    database: str, tmp_path: Path, design: str
) -> None:
    layout = made(database, design)
    assert layout.state is not None
    with connected(database) as raw:
        for text in ("Straße 1", "Platz 2"):
            value = f"convert_to('{text}', 'UTF8')" if design == "status" else f"'{text}'"
            push = layout.routine_for("push")
            assert push is not None
            raw.execute(f'SELECT "{push.name}"({value})')
        raw.execute(f'UPDATE "{layout.table.name}" SET {layout.state.column} = {layout.state.dead}, attempts = 5')
    operator = Operator(desk_at(database, tmp_path))
    assert operator.redrive(layout, Choice(payload="platz"), FAST).plan.count == 1
    prepared = operator.redrive(layout, Choice(payload="Straße"), FAST)
    assert prepared.plan.count == 1
    assert applied(prepared).done == 1
    rows = query(database, f'SELECT {layout.state.column}, attempts FROM "{layout.table.name}" ORDER BY {layout.id}')
    assert rows == [(layout.state.ready, 0), (layout.state.dead, 5)]


@pytest.mark.parametrize(
    ("fails", "again"),
    [
        ("UPDATE public.jobs SET status = 'dead', attempts = 1 WHERE status = 'ready'", True),
        ("UPDATE public.jobs SET attempts = attempts + 1 WHERE status = 'ready'", True),
        ("UPDATE public.jobs SET status = 'working', attempts = 1 WHERE status = 'ready'", False),
        ("DELETE FROM public.jobs WHERE status = 'ready'", False),
    ],
    ids=["dead", "tried once more", "at work", "done"],
)
def test_it_stops_when_they_fail_again(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str, again: bool
) -> None:
    monkeypatch.setattr(failure_watch, "CHECK_EVERY_S", 0.0)
    make(database, f"{TABLE}INSERT INTO public.jobs (status, attempts) SELECT 'dead', 5 FROM generate_series(1, 40)")
    told: list[Progress] = []

    def popped(now: Progress) -> None:
        told.append(now)
        query(database, fails)

    prepared = Operator(desk_at(database, tmp_path)).redrive(layout(), Choice(), RedriveLimits(rate=200.0, failures=5))
    assert prepared.plan.seconds == pytest.approx(0.2)
    assert has(
        prepared.plan.consequences, RedriveText.STOPS, pace=RedriveText.AT_RATE.render(rate=200), messages="5 messages"
    )
    result = applied(prepared, tell=popped)
    if again:
        assert result.state is OperationState.CANCELLED
        assert result.done == 20  # all 20 of the first batch failed, so there is no second one
        assert result.notes[0] == FailureText.STOPPED.render(messages="20 messages")
        assert has(told[0].note, FailureText.PROGRESS, failed=0, stops=FailureText.STOPS_AT.render(count=5))
    else:
        assert (result.state, result.done) == (OperationState.DONE, 40)
    assert query(database, "SELECT count(*) FROM public.jobs WHERE attempts = 5") == [(20 if again else 0,)]


def test_the_rate_is_kept(database: str, tmp_path: Path) -> None:
    make(database, f"{TABLE}INSERT INTO public.jobs (status, attempts) SELECT 'dead', 5 FROM generate_series(1, 12)")
    told: list[Progress] = []
    prepared = Operator(desk_at(database, tmp_path)).redrive(layout(), Choice(), RedriveLimits(rate=20.0))
    assert applied(prepared, tell=told.append).done == 12
    assert len(told) >= 3  # each batch has at most the messages of 0.2 s
    for before, now in pairwise(told):  # no batch begins before the earlier ones have had their time
        assert now.rate is not None
        assert now.rate <= 20.0 * now.done / before.done


def test_a_look_finds_its_messages_by_their_key_however_deep_the_queue(database: str, tmp_path: Path) -> None:
    rows = "INSERT INTO public.jobs (status, attempts) SELECT 'ready', 0 FROM generate_series(1, 100000); ANALYZE jobs;"
    make(database, TABLE + rows)
    query(database, "VACUUM public.jobs")
    with desk_at(database, tmp_path).open_sql("look") as sql:
        names: dict[str, Name] = {
            "table": ("public", "jobs"),
            "called": ("id",),
            "state": "status",
            "attempts": "attempts",
        }
        statement = sql.statement("outcomes", names | id_names(("id",)))
    ids = json.dumps([{"id": id} for id in range(1, 100_000, 100)])
    values = {"ids": ids, "fresh": True, "in_progress": "working", "dead": "dead", "done": None}
    parameters = [values[name] for name in statement.parameters]
    with connected(database) as raw:
        plan = "\n".join(row[0] for row in raw.execute(f"EXPLAIN (ANALYZE, TIMING OFF) {statement.text}", parameters))
    assert "Seq Scan on jobs" not in plan
    assert "jobs_pkey" in plan
    assert "rows=1000.00 loops=1" in plan.splitlines()[0] or "rows=1000 loops=1" in plan.splitlines()[0], plan


def test_what_makes_no_sense_is_refused(database: str, tmp_path: Path) -> None:
    make(database, TABLE)
    operator = Operator(desk_at(database, tmp_path))
    for choice, limits, why in (
        (Choice(state="ready"), FAST, pattern(RedriveText.NOT_DEAD, state="ready")),
        (Choice(error="x"), FAST, pattern(ChoiceText.NO_COLUMN, what=ChoiceText.ERROR)),
        (Choice(payload=""), FAST, pattern(ChoiceText.EMPTY_TEXT, what=ChoiceText.PAYLOAD)),
        (Choice(older_than_s=60, newer_than_s=60), FAST, pattern(ChoiceText.EMPTY_RANGE)),
        (Choice(), RedriveLimits(rate=0.0), pattern(RedriveText.RATE_RANGE, rate=0.0)),
        (Choice(), RedriveLimits(failures=0), pattern(RedriveText.FAILURES_RANGE, failures=0)),
        (Choice(newer_than_s=60), FAST, pattern(ChoiceText.NO_PUSH_TIME)),
    ):
        with pytest.raises(BadInput, match=why):
            operator.redrive(layout(), choice, limits)
    line = made(database, "fifo")
    assert operator.redrive(line, Choice(), FAST).plan.refused == Reason.NO_DEAD_STATE
