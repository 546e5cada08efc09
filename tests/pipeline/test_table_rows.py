"""Rows of the tables polls, samples, operations and bad, from staged rows, without Spark."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa
import pytest

from qmon.pipeline.ingest.poll_survey import LINE_KEY
from qmon.pipeline.ingest.table_rows import (
    STAGED_POLL,
    are_new_samples,
    latest_operations,
    poll_rows,
    unusable_files,
)
from qmon.pipeline.lake.schema import OPERATIONS, file_schema
from qmon.recording.figure_rows.row_schema import LINE_COLUMN, ROWS

_LINE = pa.struct([LINE_COLUMN.field(name) for name in ("queues", "wait", "sessions")])
_POLL = pa.schema([*(ROWS.field(name) for name in STAGED_POLL if "." not in name), ("line", _LINE)])


@pytest.mark.parametrize(
    ("lines", "waits"),
    [
        ([(["a"], [2.0]), (None, None), ([], [])], [[("a", 2.0)], None, []]),
        ([(None, [1.0]), (["a", "b"], [1.0, 2.0]), (["c"], None)], [None, [("a", 1.0), ("b", 2.0)], None]),
        ([(["a", "b"], [1.0]), ([], [3.0]), (None, None)], [[("a", 1.0), ("b", None)], [(None, 3.0)], None]),
        ([], []),
    ],
)
def test_a_poll_has_each_wait_with_its_sessions(lines: list[Any], waits: list[Any]) -> None:
    rows = [{"line": {"queues": 3, "wait": wait, "sessions": sessions}} for wait, sessions in lines]
    found = poll_rows(pa.Table.from_pylist(rows, _POLL))
    assert found["queues"].to_pylist() == [3] * len(lines)
    told = [None if each is None else [tuple(wait.values()) for wait in each] for each in found["waits"].to_pylist()]
    assert told == waits


def test_samples_of_known_polls_and_copies_are_left_out() -> None:
    names = (*LINE_KEY, "queue")
    samples = [("shop", "a", 1, "q"), ("shop", "a", 1, "r"), ("shop", "b", 1, "q"), ("shop", "a", 1, "q")]
    schema = pa.schema([ROWS.field(name) for name in names])
    table = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in samples], schema)
    polls = table.slice(0, 1)
    assert are_new_samples(table, polls).to_pylist() == [True, True, False, False]
    assert are_new_samples(table, polls.slice(0, 0)).to_pylist() == [False] * 4


def test_an_operation_is_kept_in_its_latest_state() -> None:
    states = [
        {"target": "shop", "id": "1", "state": "running", "written": 9},
        {"target": "shop", "id": "1", "state": "done", "ended_at": 50.0, "written": 3},
        {"target": "shop", "id": "2", "state": "planned", "written": 4},
        {"target": "shop", "id": "2", "state": "running", "written": 5},
        {"target": "bank", "id": "1", "state": "planned", "written": 1},
    ]
    found = latest_operations(pa.Table.from_pylist(states, file_schema(OPERATIONS))).to_pylist()
    assert {(row["target"], row["id"], row["state"]) for row in found} == {
        ("shop", "1", "done"),
        ("shop", "2", "running"),
        ("bank", "1", "planned"),
    }


def test_an_unusable_file_counts_on_the_day_of_its_path() -> None:
    day = "file:/r/target=shop/date=2026-10-24/x.jsonl.zst"
    found = unusable_files([(day, "empty"), ("file:/r/target=shop/date=2026-99-99/x.jsonl.zst", "gone")]).to_pylist()
    assert [(row["target"], row["place"], row["reason"]) for row in found] == [
        ("shop", 0, "empty"),
        ("shop", 0, "gone"),
    ]
    assert found[0]["date"] == datetime.date(2026, 10, 24)
    assert abs(found[1]["date"] - datetime.datetime.now(datetime.UTC).date()) <= datetime.timedelta(days=1)
