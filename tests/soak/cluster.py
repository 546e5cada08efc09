"""The same job on a standalone cluster of a master and two workers, handed over by spark-submit with qmon's code.

Six JVMs on two cores take half a minute if nothing else runs, and minutes next to other tests: too long for those.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from qmon.pipeline.lake.schema import BATCH
from qmon.pipeline.spark_session import start_session
from tests.pipeline.cluster import WORKERS, cluster, packed
from tests.pipeline.comparing import START, run, same
from tests.pipeline.conftest import small
from tests.pipeline.recordings import Watched, rows


def same_on_a_cluster() -> str:
    """Compare a run on the cluster with a local one. Return a summary. Raises ``AssertionError``."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        root, far, near = place / "recordings", place / "cluster", place / "near"
        written = [Watched(root, f"shop{n % 2}", f"{n:012x}") for n in range(4)]
        for number, watched in enumerate(written):
            watched.record(START + number * 300, 80, seed=number, trouble=range(10, 40))
        package = packed(place)
        with cluster(place) as here:
            done = here.submit(
                package, "pipeline", "run", "--recordings", str(root), "--lake", str(far), "--output", "json"
            )
            worked = here.worked(package)
        assert done.returncode == 0, done.stderr
        assert worked == [True] * WORKERS
        session = start_session("local[2]", small(place))
        counts = run(session, root, near).view().counts()
        session.stop()
        assert json.loads(done.stdout.splitlines()[-1]) == {"schema": 1, "batches": 1, **counts}
        assert counts["samples"] == len(list(rows([line for each in written for line in each.written])))
        compared = sum(_compared(far, near, table) for table in BATCH)
    return (
        f"the pipeline on a cluster of two workers and on one machine: {compared:,} rows of {len(BATCH)} tables equal"
    )


def _compared(far: Path, near: Path, table: str) -> int:
    """Return the number of rows on both sides."""
    found, expected = _rows(far, table), _rows(near, table)
    assert bool(expected) == (table not in ("operations", "bad")), table
    assert [pair for pair in zip(found, expected, strict=True) if not _equal(*pair)] == [], table
    return len(found)


def _rows(lake: Path, table: str) -> list[tuple[Any, ...]]:
    """Return a table read without Spark, sorted."""
    path = str(lake / table)
    if not DeltaTable.is_deltatable(path):
        return []
    rows = DeltaTable(path).to_pyarrow_dataset().to_table().to_pylist()
    return sorted((tuple(row.items()) for row in rows), key=repr)


def _equal(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return all(found == expected or same(found[1], expected[1]) for found, expected in zip(one, other, strict=True))
