"""Minutes, hours and days compared with plain Python: several recorders, days and queues, and all kinds of spans."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from qmon.pipeline.lake.schema import SAMPLES
from qmon.pipeline.rollup.minute_sums import HOUR_S, MINUTE_S
from qmon.pipeline.rollup.rollups import (
    DAY_S,
    counting_parts,
    day_rows,
    hour_histograms,
    hour_rows,
    minute_parts,
    minute_rows,
)
from tests.pipeline import reference
from tests.pipeline.comparing import START, same

pytestmark = pytest.mark.timeout(1200)
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


def test_rolled_up_rows_equal_plain_python(spark: SparkSession) -> None:
    rows = drawn(7, 3000)
    frame = spark.createDataFrame([tuple(row.get(name) for name in SAMPLES.fieldNames()) for row in rows], SAMPLES)
    parts = minute_parts(frame)
    found = {MINUTE_S: minute_rows(parts).persist()}
    found[HOUR_S] = hour_rows(found[MINUTE_S], hour_histograms(counting_parts(parts, found[MINUTE_S]))).persist()
    found[DAY_S] = day_rows(found[HOUR_S])
    measured = reference.measured(rows)
    for seconds, frame in found.items():
        wanted = reference.rollup(measured, seconds)
        got = {(row.target, row.queue, row.start_at): row.asDict() for row in frame.collect()}
        assert got.keys() == wanted.keys()
        for key, row in wanted.items():
            assert {n: (got[key][n], v) for n, v in row.items() if not same(got[key][n], v)} == {}, key
            assert str(got[key]["date"]) == reference.date(key[-1])
    found[MINUTE_S].unpersist()
    found[HOUR_S].unpersist()
