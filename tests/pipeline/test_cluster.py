"""The same job on a standalone cluster of a master and two workers, handed over by spark-submit with qmon's code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow.parquet import ParquetFile
from pyspark.sql import SparkSession

from qmon.pipeline.schema import TABLES
from tests.pipeline.cluster import WORKERS, cluster, packed
from tests.pipeline.comparing import START, run, same
from tests.pipeline.recordings import Watched, rows

pytestmark = pytest.mark.timeout(1200)


def test_a_cluster_gives_what_this_machine_gives(spark: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "recordings"
    written = [Watched(root, f"shop{n % 2}", f"{n:012x}") for n in range(4)]
    for number, watched in enumerate(written):
        watched.record(START + number * 300, 80, seed=number, trouble=range(10, 40))
    package = packed(tmp_path)
    with cluster(tmp_path) as here:
        recordings = ("--recordings", str(root))
        done = here.submit(package, "pipeline", "run", *recordings, "--lake", str(tmp_path / "cluster"), "--json")
        worked = here.worked(package)
    assert done.returncode == 0, done.stderr
    assert worked == [True] * WORKERS
    far, near = tmp_path / "cluster", tmp_path / "near"
    manifest = run(spark, root, near).manifest()
    assert json.loads(done.stdout.splitlines()[-1]) == {"schema": 1, "batches": 1, **manifest.counts}
    assert manifest.counts["samples"] == len(list(rows([line for each in written for line in each.written])))
    for table in TABLES:
        found, expected = _rows(far, table), _rows(near, table)
        assert bool(expected) == (table != "operations"), table
        assert [pair for pair in zip(found, expected, strict=True) if not _equal(*pair)] == [], table


def _rows(lake: Path, table: str) -> list[tuple[Any, ...]]:
    """A table as the newest manifest has it, read without Spark, in an order of its own."""
    days = json.loads(max((lake / "manifest").glob("0*.json")).read_text())["days"]
    found = []
    for target, stamps in days.items():
        for date, stamp in stamps.items():
            for path in (lake / table / f"batch={stamp}" / f"target={target}" / f"date={date}").glob("*.parquet"):
                found += [(target, date, *row.items()) for row in ParquetFile(path).read().to_pylist()]
    return sorted(found, key=repr)


def _equal(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return all(found == expected or same(found[1], expected[1]) for found, expected in zip(one, other, strict=True))
