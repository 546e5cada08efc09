"""The sums in numpy against plain Python, without Spark: several recorders, days and queues at once."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from qmon.pipeline.rollup.bundles import bundling
from qmon.pipeline.rollup.rates import FIGURES
from qmon.pipeline.rollup.rollups import GRAINS, needed, rolled
from tests.pipeline import reference
from tests.pipeline.comparing import START, same


def drawn(seed: int, count: int) -> list[dict[str, Any]]:
    """Samples in no order: figures that are not known, spans that are none, two recorders that take turns."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        recorder, at = rng.choice("ab"), round(START + rng.uniform(0, 3000), 3)
        row: dict[str, Any] = {name: rng.choice([None, float(rng.randrange(30))]) for name in FIGURES}
        row |= {"target": rng.choice("xy"), "queue": rng.choice(["q", "Q", "é"]), "recorder": recorder, "zone": "UTC"}
        span = rng.choice([None, -1.0, 0.0, 151.0, 0.0004, 2.0, round(rng.uniform(0.1, 9.0), 3)])
        found.append(row | {"sampled_at": at, "span_s": span, "date": reference.date(at)})
    return found


@pytest.mark.parametrize("count", [1, 2, 40, 3000])
def test_rolled_up_rows_equal_plain_python(count: int) -> None:
    """In bundles on the way, as between two machines."""
    wanted_rows = drawn(count, count)
    names = ("target", "date", "queue", "recorder", "zone")
    kinds = dict.fromkeys(names, pa.string()) | dict.fromkeys(("sampled_at", "span_s", *FIGURES), pa.float64())
    columns = {name: pa.array([row[name] for row in wanted_rows], kind) for name, kind in kinds.items()}
    batch = pa.record_batch(columns)
    halves = [batch.slice(0, count // 2), batch.slice(count // 2)]
    together = pa.Table.from_batches(bundling(halves))
    found = {
        (row["grain"], row["target"], row["queue"], row["at"]): row
        for row in rolled(needed(together), GRAINS).to_pylist()
    }
    measured = reference.measured(wanted_rows)
    wanted = {
        (grain, *key): row
        for grain, seconds in GRAINS.items()
        for key, row in reference.rollup(measured, seconds).items()
    }
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        assert {name: (found[key][name], v) for name, v in row.items() if not same(found[key][name], v)} == {}, key
        assert found[key]["date"] == reference.date(key[-1])
