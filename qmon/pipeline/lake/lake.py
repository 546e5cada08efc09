"""The lake: tables as Parquet folders, of which the newest manifest says which ones count.

There is no table format without jars, so: a batch writes folders of its own, ``TABLE/batch=STAMP/target=…/date=…``, and
then one manifest that appears whole. Readers go by the manifest alone, so a batch is seen in full or not at all. A
manifest names, for each target and day, the batch that wrote it last: every table of that day is in that batch's
folders, in few files. Folders that no kept manifest names are removed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from qmon.errors import BadInput
from qmon.pipeline.lake.schema import TABLES
from qmon.pipeline.lake.storage import Storage

_KEPT: Final = 3
"""Manifests that are kept, for readers that began with an older one."""
_MANIFESTS: Final = "manifest"
VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the lake holds. ``days``: target → day → the stamp of the batch that wrote it last.

    ``counts``: totals since the lake was made: segments, lines, bad, samples, duplicates.
    ``stamp``: of the batch that this manifest commits. ``bad``: stamps of batches with bad lines.
    """

    number: int = 0
    stamp: str = ""
    days: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    bad: tuple[str, ...] = ()

    def with_days(self, days: Iterable[tuple[str, str]], stamp: str) -> Manifest:
        """With these days of targets written by the batch ``stamp``."""
        merged = {target: dict(each) for target, each in self.days.items()}
        for target, date in days:
            merged.setdefault(target, {})[date] = stamp
        return replace(self, days=merged)

    def stamps(self) -> set[str]:
        """The batches whose folders count."""
        return {stamp for days in self.days.values() for stamp in days.values()} | set(self.bad)


class Lake:
    """One lake, read and written by one session. One writer at a time; readers as many as there are."""

    def __init__(self, session: SparkSession, path: str) -> None:
        self.session = session
        self.storage = Storage(session, path)

    def manifest(self) -> Manifest:
        """The newest; an empty one where nothing was committed yet. Raises ``BadInput`` for one of a newer qmon."""
        names = self._manifests()
        if not names:
            return Manifest()
        raw = json.loads(self.storage.read(_MANIFESTS, names[-1]))
        if raw.pop("version") > VERSION:
            raise BadInput(f"the lake {self.storage.root} was written by a newer qmon; upgrade this one")
        return Manifest(**(raw | {"bad": tuple(raw["bad"])}))

    def commit(self, manifest: Manifest) -> None:
        """Make a manifest the newest, then remove what none of the kept ones names."""
        text = json.dumps({"version": VERSION, **asdict(manifest)}, sort_keys=True)
        self.storage.write(text, _MANIFESTS, f"{manifest.number:09d}.json")
        self._sweep(manifest)

    def read(
        self, table: str, manifest: Manifest | None = None, days: Iterable[tuple[str, str]] | None = None
    ) -> DataFrame:
        """A table as a manifest (the newest) has it, or only these days of targets."""
        known = manifest or self.manifest()
        pairs = [(t, d) for t, each in known.days.items() for d in each] if days is None else list(days)
        paths = [
            self.folder(table, known.days[target][date], target, date)
            for target, date in pairs
            if date in known.days.get(target, {})
        ]
        return self.read_folders(table, [path for path in paths if self.storage.exists(path)])

    def read_folders(self, table: str, paths: list[str]) -> DataFrame:
        """A table from some of its folders, as ``folder`` names them."""
        schema = TABLES[table]
        if not paths:
            return self.session.createDataFrame([], schema)
        reader = self.session.read.schema(schema).option("basePath", self.storage.at(table))
        return reader.parquet(*map(self.storage.at, paths)).select(*schema.fieldNames())

    def write(self, table: str, frame: DataFrame, stamp: str, *, gathered: bool = False) -> None:
        """Write rows into the folders of a batch, over whatever a try before has left there.

        ``gathered``: those of a target and day are together already, so that they are written into few files.
        """
        schema = TABLES[table]
        rows = frame.select(*schema.fieldNames())
        if not gathered:
            rows = rows.hint("rebalance", "target", "date")
        rows.write.mode("overwrite").partitionBy("target", "date").parquet(self.storage.at(table, f"batch={stamp}"))

    def folder(self, table: str, stamp: str, target: str, date: str) -> str:
        """Where a day of a target is, below the lake."""
        escape = self.storage.escaped
        return f"{table}/batch={stamp}/target={escape(target)}/date={date}"

    def _manifests(self) -> list[str]:
        return [name for name in self.storage.names(_MANIFESTS) if name.endswith(".json") and name[0].isdigit()]

    def _sweep(self, newest: Manifest) -> None:
        names = self._manifests()
        for name in names[:-_KEPT]:
            self.storage.delete(_MANIFESTS, name)
        wanted = newest.stamps()
        for name in names[-_KEPT:-1]:
            raw = json.loads(self.storage.read(_MANIFESTS, name))
            wanted |= Manifest(**{key: raw[key] for key in ("days", "bad")}).stamps() | {raw["stamp"]}
        for table in (*TABLES, "bad", "staged"):
            for folder in self.storage.names(table):
                if folder.removeprefix("batch=") not in wanted or table == "staged":
                    self.storage.delete(table, folder)
