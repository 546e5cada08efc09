"""Minutes, hours and days compared with plain Python: several recorders, days and queues, and all kinds of spans."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema

from qmon.pipeline.lake.schema import SAMPLES
from qmon.pipeline.rollup.minute_sums import HOUR_S, MINUTE_S, add_up_minutes
from qmon.pipeline.rollup.rollups import DAY_S, counting_parts, day_rows, hour_rows, minute_rows
from qmon.pipeline.rollup.trouble_runs import runs_from_samples
from tests.pipeline import reference
from tests.pipeline.comparing import START, same
from tests.pipeline.recordings import TROUBLE

FIGURES = ("pushed", "popped", "completed", "ready", "oldest_s", "in_progress", "dead")


def drawn(seed: int, count: int) -> list[dict[str, Any]]:
    """Return samples in random order: unknown figures, missing spans, two recorders that take turns.

    Counters are read less often than depths, so they span the polls between.
    """
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        recorder, at = rng.choice("ab"), round(START + rng.uniform(0, 3000), 3)
        row: dict[str, Any] = {name: rng.choice([None, float(rng.randrange(300))]) for name in FIGURES}
        row |= {"target": rng.choice("xy"), "queue": rng.choice(["q", "Q", "é"]), "recorder": recorder, "zone": "UTC"}
        poll_s = rng.choice([None, -1.0, 0.0, 151.0, 0.0004, 2.0, round(rng.uniform(0.1, 9.0), 3)])
        row |= {"poll_s": poll_s, "span_s": rng.choice([None, 0.0, 2.0, 20.0, 600.0])}
        found.append(row | {"sampled_at": at})
    return found


def test_rolled_up_rows_equal_plain_python() -> None:
    rows = drawn(7, 3000)
    samples = pa.Table.from_pylist(rows, to_arrow_schema(SAMPLES))
    several = [add_up_minutes(part, MINUTE_S) for part in (samples[:1200], samples[1200:])]
    parts = counting_parts(pa.Table.from_batches(several))
    minutes = minute_rows(parts)
    hours = hour_rows(minutes, parts)
    measured = reference.measured(rows)
    for seconds, table in ((MINUTE_S, minutes), (HOUR_S, hours), (DAY_S, day_rows(hours))):
        wanted = reference.rollup(measured, seconds)
        got = {(row["target"], row["queue"], row["start_at"]): row for row in table.to_pylist()}
        assert got.keys() == wanted.keys()
        assert len(got) == table.num_rows
        for key, row in wanted.items():
            assert {n: (got[key][n], v) for n, v in row.items() if not same(got[key][n], v)} == {}, key


def test_no_samples_give_no_rows() -> None:
    nothing = to_arrow_schema(SAMPLES).empty_table()
    parts = counting_parts(pa.Table.from_batches([add_up_minutes(nothing, MINUTE_S)]))
    hours = hour_rows(minute_rows(parts), parts)
    assert [each.num_rows for each in (hours, day_rows(hours), runs_from_samples(nothing))] == [0, 0, 0]


def test_runs_of_trouble_equal_plain_python() -> None:
    rows = [row | {"sequence": n} for n, row in enumerate(drawn(8, 3000))]
    rng = random.Random(9)
    for row in rows:
        code, severity = rng.choice([*TROUBLE, *[("healthy", 0)] * 60])
        at = row["sampled_at"]
        row |= {"verdict": code, "severity": severity, "since_at": rng.choice([None, at - 50.0, at + 5.0])}
        row["proof"] = rng.choice([None, f"{code} at {at}"])
    found = runs_from_samples(pa.Table.from_pylist(rows, to_arrow_schema(SAMPLES))).to_pylist()
    wanted = {(row["target"], row["queue"], row["start_at"], row["code"], row["first_at"]): row for row in runs(rows)}
    got = {(row["target"], row["queue"], row["start_at"], row["code"], row["first_at"]): row for row in found}
    assert len(got) == len(found) > 50
    assert got == wanted


def runs(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the runs of trouble of each queue, hour and verdict, row by row."""
    bad = sorted((row for row in rows if row["severity"] >= 2), key=lambda row: float(row["sampled_at"]))
    groups: dict[tuple[Any, ...], list[list[dict[str, Any]]]] = {}
    for row in bad:
        of_hour = groups.setdefault((row["target"], row["queue"], row["sampled_at"] // HOUR_S * HOUR_S), [])
        if not of_hour or row["sampled_at"] - of_hour[-1][-1]["sampled_at"] > 120:
            of_hour.append([])
        of_hour[-1].append(row)
    for (target, queue, hour), of_hour in groups.items():
        for run in of_hour:
            for code in {row["verdict"] for row in run}:
                own = [row for row in run if row["verdict"] == code]
                ready = [row["ready"] for row in own if row["ready"] is not None]
                peak = max(ready, default=None)
                yield {
                    "target": target,
                    "queue": queue,
                    "start_at": hour,
                    "code": code,
                    "severity": own[0]["severity"],
                    "first_at": own[0]["sampled_at"],
                    "last_at": own[-1]["sampled_at"],
                    "since_at": min(min(row["since_at"] or row["sampled_at"], row["sampled_at"]) for row in own),
                    "samples": len(own),
                    "proof": own[0]["proof"],
                    "proof_at": own[0]["sampled_at"],
                    "peak_ready": peak,
                    "peak_at": next(
                        (row["sampled_at"] for row in own if peak is not None and row["ready"] == peak), None
                    ),
                }
