"""The lake: a folder of tables, each in the Delta format, so that any reader of Delta reads it by its path alone.

A batch of segments commits to several tables, one after the other and ``samples`` last. Who reads more than one of them
reads as of the newest batch that all of them hold.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from qmon.pipeline.lake.delta import Files, LakeTable, Within, committed
from qmon.pipeline.lake.schema import BATCH, TABLES
from qmon.pipeline.lake.storage import Storage

COUNTS: Final = ("segments", "lines", "bad", "samples", "duplicates")
ALL: Final = Within()


class Lake:
    """One lake, read and written by one session."""

    def __init__(self, session: SparkSession, path: str) -> None:
        self.session = session
        self.storage = Storage(session, path)

    def table(self, name: str) -> LakeTable:
        """One of ``schema.TABLES``."""
        return LakeTable(self.session, self.storage.at(name), TABLES[name])

    def view(self, batch: int | None = None) -> LakeView:
        """The tables as of one batch; by default the newest that all of them hold."""
        if batch is None:
            batch = min((committed(self.table(name).version()) or 0 for name in BATCH), default=0)
        return LakeView(self, batch)


@dataclass(frozen=True, slots=True)
class LakeView:
    """The tables as of one batch. Each is looked up once."""

    lake: Lake
    batch: int
    _versions: dict[str, DeltaTable | None] = field(default_factory=dict)

    def version(self, name: str) -> DeltaTable | None:
        """The version of a table; ``None``: it is not there yet."""
        if name not in self._versions:
            self._versions[name] = self.lake.table(name).version(self.batch if name in BATCH else None)
        return self._versions[name]

    def files(self, name: str, within: Within = ALL) -> Files:
        """The files of a table that may hold something of what is asked for."""
        return self.lake.table(name).files(self.version(name), within)

    def read(self, name: str, within: Within = ALL) -> DataFrame:
        """The rows of those files."""
        return self.lake.table(name).read(self.files(name, within))

    def dates(self) -> list[datetime.date]:
        """The days that there are, in order."""
        found = {each["date"] for each in self.files("hours").partitions if each["date"]}
        return sorted(datetime.date.fromisoformat(each) for each in found if each)

    def said(self) -> Mapping[str, Any]:
        """What the newest batch said: ``counts``, and ``kept_from``, the first day of which samples are kept."""
        return self.lake.table("samples").said(self.version("samples"))

    def counts(self) -> dict[str, int]:
        """Totals since the lake was made: segments, lines, bad, samples, duplicates."""
        counts = self.said().get("counts", {})
        return {name: int(counts.get(name, 0)) for name in COUNTS}
