"""``qmon pipeline …`` as a program that is killed with SIGKILL, and a check of its lake by three readers."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import polars
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from qmon.pipeline.lake.deleted_days import read_deleted_days
from qmon.pipeline.lake.delta import APPLICATION
from qmon.pipeline.lake.lake import Lake
from qmon.pipeline.lake.schema import BATCH, TABLES
from tests.cli.calling import ROOT, surroundings
from tests.pipeline.readers import duck

LONG_S: Final = 240.0
_QUICK: Final = "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_PARTITIONS: Final = "spark.sql.shuffle.partitions=2"
# qmon, with --continuous looking every second.
_PROGRAM: Final = """
from qmon.cli.commands.pipeline import pipeline_options
pipeline_options.EVERY_S = 1.0
from qmon.cli.app import main
main()
"""
_ROLLED: Final = ("minutes", "hours", "days")
_OF_ROLLED: Final = ("target", "queue", "start_at")
# Columns that identify a row of a table.
_KEYS: Final = {
    "segments": ("file",),
    "polls": ("target", "recorder", "sequence"),
    "samples": ("target", "recorder", "sequence", "queue"),
    **dict.fromkeys(_ROLLED, _OF_ROLLED),
    "runs": ("target", "queue", "code", "first_at"),
    "operations": ("target", "id"),
    "messages": ("target", "queue", "made", "archive_id"),
}
_ADDED_UP: Final = {"segments": "bytes", "polls": "queues", **dict.fromkeys(_ROLLED, "samples"), "runs": "samples"}


class Found(NamedTuple):
    """A reader's result for a table: rows, the number of different rows, and a sum."""

    rows: int
    different: int
    total: float


@contextlib.contextmanager
def started(folder: Path, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start the program in its own process group. Its output goes to a file. At the end, the whole group is killed."""
    with (folder / "said.txt").open("ab") as said:
        child = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, "pipeline", *arguments, "--conf", _PARTITIONS, "--conf", _QUICK],
            cwd=ROOT,
            env=surroundings(**environment),
            start_new_session=True,
            stdout=said,
            stderr=said,
        )
    try:
        yield child
    except AssertionError as problem:
        raise AssertionError((folder / "said.txt").read_text("utf-8", "replace")[-3000:]) from problem
    finally:
        kill(child)


def kill(child: subprocess.Popen[bytes]) -> None:
    """Send SIGKILL to all of its processes."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def ended(child: subprocess.Popen[bytes], within_s: float) -> bool:
    """Return whether the program exits with 0 within this time."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        assert child.wait(within_s) == 0
        return True
    return False


def newest(lake: Path, table: str) -> int:
    """Return the batch or take that a table holds, 0 if there is none."""
    path = str(lake / table)
    return (DeltaTable(path).transaction_version(APPLICATION) or 0) if DeltaTable.is_deltatable(path) else 0


@dataclass
class Readers:
    """DuckDB, Polars and Spark on one lake. ``segments``: samples of each segment; ``reads``: tables read so far."""

    session: SparkSession
    place: Path
    segments: dict[str, int] = field(default_factory=dict)
    reads: int = 0

    @property
    def lake(self) -> Lake:
        """Return the lake as qmon reads it."""
        return Lake(self.session, str(self.place))

    def agree(self) -> None:
        """Check that the readers agree on each table, without duplicates, and that a batch's tables hold the same
        samples.

        Each version is read by its number, because other processes may write in the meantime.
        """
        view, last = self.lake.view(), dict[str, tuple[int, Found]]()
        for name in TABLES:
            if (table := self.lake.table(name).version()) is not None:
                last[name] = table.version(), self.same(name, table)
        if not view.batch:
            return
        found = {}
        for name in BATCH:
            table = view.version(name)
            assert table is not None
            number, known = last[name]
            found[name] = known if number == table.version() else self.same(name, table)
        taken = view.read("segments").where(F.col("batch") <= view.batch).collect()
        whole = sum(self.segments[row.file] for row in taken)
        deleted = read_deleted_days(view.read_entries())
        kept = sum(self.segments[row.file] for row in taken if not any(days.has_day(row.date) for days in deleted))
        assert view.counts()["samples"] == whole
        assert {found["samples"].rows, found["polls"].total} <= {whole, kept}, (whole, kept, found)
        assert {found[name].total for name in _ROLLED} == {whole}, (whole, found)

    def same(self, name: str, version: DeltaTable) -> Found:
        """Return each reader's findings in one version of a table."""
        self.reads += 1
        path, number = str(self.place / name), version.version()
        keys, total = _KEYS.get(name, ("target",)), _ADDED_UP.get(name, "bucket")
        with duck() as connection:
            query = f"SELECT count(*), count(DISTINCT ({', '.join(keys)})), coalesce(sum({total}), 0)"
            (row,) = connection.execute(f"{query} FROM delta_scan(?, version=?)", [path, number]).fetchall()
        table = self.lake.table(name)
        spark = table.read(table.files_in(version)).agg(
            F.count("*"), F.count_distinct(F.struct(*keys)), F.coalesce(F.sum(total), F.lit(0))
        )
        frame = polars.scan_delta(path, version=number).select(*keys, polars.col(total).alias("total")).collect()
        found = {
            "duckdb": Found(*row),
            "polars": Found(frame.height, frame.select(keys).n_unique(), float(frame["total"].sum())),
            "spark": Found(*spark.collect()[0]),
        }
        assert len(set(found.values())) == 1, (name, number, found)
        assert name not in _KEYS or found["polars"].rows == found["polars"].different, (name, number, found)
        return found["polars"]
