"""The lake: a folder of tables in the Delta format. Any Delta reader can read each table from its path.

A batch of segments commits to several tables, one after the other, ``samples`` last. To read several tables
consistently, read each table as of the newest batch that is in all tables.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import pyarrow as pa
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from qmon.files import resolve_user_path
from qmon.pipeline.lake.delta import Files, LakeTable, ReadFilter, TableLog, list_files, newest_batch, select_files
from qmon.pipeline.lake.schema import BATCH, TABLES
from qmon.pipeline.lake.storage import Storage

COUNTS: Final = ("segments", "lines", "bad", "samples", "duplicates")
NO_FILTER: Final = ReadFilter()


def table_logs(lake: str) -> dict[str, TableLog]:
    """Return the log of each of ``schema.TABLES`` of the lake at a path. Needs no Spark."""
    return {name: TableLog(f"{absolute_path(lake)}/{name}", kind) for name, kind in TABLES.items()}


class NewestBatch(NamedTuple):
    """The newest batch that a process has claimed, and the newest batch that all tables have; 0 if there is none."""

    claimed: int
    held: int

    @property
    def is_unfinished(self) -> bool:
        """True if the claimed batch is being written, or was interrupted."""
        return self.claimed > self.held


def find_newest_batch(tables: Mapping[str, TableLog]) -> NewestBatch:
    """Return the newest batch of a lake. ``tables``: keyed by name.

    A batch commits to ``segments`` first and to ``samples`` last.
    """
    return NewestBatch(*(newest_batch(tables[name].version()) or 0 for name in ("segments", "samples")))


def absolute_path(lake: str) -> str:
    """Return the full path of a lake, with its scheme. A path without a scheme is on this machine."""
    if "://" in lake or lake.startswith("file:"):
        return lake.rstrip("/")
    return f"file:/{resolve_user_path(lake).as_posix().strip('/')}"


class Lake:
    """One lake, used by one Spark session."""

    def __init__(self, session: SparkSession, path: str) -> None:
        self.session = session
        self.storage = Storage(session, path)

    def table(self, name: str) -> LakeTable:
        """Return one of ``schema.TABLES``."""
        return LakeTable(self.storage.full_path(name), TABLES[name], session=self.session)

    def view(self, batch: int | None = None) -> LakeView:
        """Return the tables as of one batch. Default: the newest batch that is in all tables."""
        if batch is None:
            batch = min((newest_batch(self.table(name).version()) or 0 for name in BATCH), default=0)
        return LakeView(self, batch)


@dataclass(frozen=True, slots=True)
class LakeView:
    """The tables as of one batch. The version of each table is looked up once."""

    lake: Lake
    batch: int
    _versions: dict[str, DeltaTable | None] = field(default_factory=dict)
    _files: dict[str, pa.Table] = field(default_factory=dict)

    def version(self, name: str) -> DeltaTable | None:
        """Return the version of a table, or ``None`` if the table does not exist."""
        if name not in self._versions:
            self._versions[name] = self.lake.table(name).version(self.batch if name in BATCH else None)
        return self._versions[name]

    def files(self, name: str, within: ReadFilter = NO_FILTER) -> Files:
        """Return the files of a table that may contain rows of ``within``."""
        if name not in self._files:
            self._files[name] = list_files(self.version(name))
        return select_files(self._files[name], within)

    def read(self, name: str, within: ReadFilter = NO_FILTER) -> DataFrame:
        """Return the rows of the files that may contain rows of ``within``."""
        return self.lake.table(name).read(self.files(name, within))

    def dates(self) -> list[datetime.date]:
        """Return the days in the lake, sorted."""
        found = {each["date"] for each in self.files("hours").partitions if each["date"]}
        return sorted(datetime.date.fromisoformat(each) for each in found if each)

    def read_entries(self) -> Mapping[str, Any]:
        """Return the entries of the newest batch: ``counts``, and the days of ``read_deleted_days``."""
        return self.lake.table("samples").read_entries(self.version("samples"))

    def counts(self) -> dict[str, int]:
        """Return the totals since the lake was created: segments, lines, bad, samples, duplicates."""
        counts = self.read_entries().get("counts", {})
        return {name: int(counts.get(name, 0)) for name in COUNTS}
