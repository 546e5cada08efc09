"""One table of the lake in the Delta format: Spark writes and reads its Parquet files, delta-rs says which ones count.

A write leaves files that nobody sees, in a folder of its own; a commit makes them part of the table, and others not,
in one step. Each commit carries the number of its batch as an application transaction: a batch that is tried again
commits once, and of two that write at once the second is refused.
"""

from __future__ import annotations

import datetime
import json
import secrets
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.exceptions import CommitFailedError
from deltalake.fs import DeltaStorageHandler
from deltalake.transaction import AddAction, RemoveAction
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from qmon.errors import QmonError
from qmon.files import make_folder
from qmon.pipeline.lake.schema import PARTITIONS

APP: Final = "qmon"
SAID: Final = "qmon"
# Columns whose least and greatest value the log has of each file, so that readers pass over files.
_STATISTICS: Final = ("target", "sampled_at", "start_at", "batch", "archive_id", "archived_at")
# To commit, when others commit at the same moment.
_TRIES: Final = 20
_PROPERTIES: Final = {"delta.logRetentionDuration": "interval 7 days", "delta.checkpointInterval": "20"}


class Conflict(QmonError):
    """Somebody else has committed the same batch."""


class ChangedMeanwhile(Conflict):
    """What was read of a table has been written anew since by somebody else."""


@dataclass(frozen=True, slots=True)
class Within:
    """What to read of a table; ``None``: all. Files that certainly have nothing of it are passed over, rows are not.

    ``low``, ``high``: of the column ``over``, both included.
    """

    dates: Collection[datetime.date] | None = None
    buckets: Collection[int] | None = None
    targets: Collection[str] | None = None
    over: str = ""
    low: float = 0.0
    high: float = 0.0


@dataclass(frozen=True, slots=True)
class Files:
    """Some files of one version of a table: paths relative to it, sizes in bytes, partitions, and rows in all."""

    paths: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    partitions: tuple[Mapping[str, str | None], ...] = ()
    rows: int = 0


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """Files that were written and are no part of the table yet; ``rows`` in all."""

    adds: tuple[AddAction, ...] = ()
    rows: int = 0

    def within(self, over: str = "") -> Within:
        """What of a table can be of the same partitions and targets, and times of the column ``over``."""
        said = [json.loads(add.stats) for add in self.adds]
        dates = {add.partition_values["date"] for add in self.adds} - {None}
        buckets = {add.partition_values["bucket"] for add in self.adds} - {None}
        known = [(each["minValues"], each["maxValues"]) for each in said]
        targets = {each["target"] for pair in known for each in pair if "target" in each}
        times = [each[over] for pair in known for each in pair if over in each]
        return Within(
            {datetime.date.fromisoformat(each) for each in dates if each},
            {int(each) for each in buckets if each},
            targets,
            over if times else "",
            min(times, default=0.0),
            max(times, default=0.0),
        )


@dataclass(frozen=True, slots=True)
class LakeTable:
    """One table. ``root``: where it is, as Spark writes it; ``options``: of delta-rs, beside its environment."""

    session: SparkSession
    root: str
    schema: StructType
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        """Where it is, as delta-rs writes it."""
        if self.root.startswith("file:"):
            return "/" + self.root.removeprefix("file:").lstrip("/")
        return self.root.replace("s3a://", "s3://", 1)

    def exists(self) -> bool:
        """Whether it was ever written."""
        return bool(DeltaTable.is_deltatable(self.uri, dict(self.options)))

    def version(self, batch: int | None = None) -> DeltaTable | None:
        """Its newest version; with ``batch`` the newest that holds no later batch. ``None``: there is none yet."""
        if not self.exists():
            return None
        found = DeltaTable(self.uri, storage_options=dict(self.options))
        while batch is not None and (committed(found) or 0) > batch:
            found.load_as_version(found.version() - 1)
        return found

    def made(self) -> DeltaTable:
        """Its newest version; where there is none, an empty one."""
        if (found := self.version()) is not None:
            return found
        self._make_folder()
        return DeltaTable.create(
            self.uri,
            to_arrow_schema(self.schema),
            mode="ignore",
            partition_by=list(PARTITIONS),
            configuration=_PROPERTIES,
            storage_options=dict(self.options),
        )

    def files(self, version: DeltaTable | None, within: Within = Within()) -> Files:
        """The files of a version that may hold something of what is asked for."""
        if version is None or (within.dates is not None and not within.dates):
            return Files()
        adds = pa.table(version.get_add_actions(flatten=True))
        if not adds.num_rows:
            return Files()
        adds = adds.filter(_kept(adds, within))
        partitions = [
            {
                "date": None if row["partition.date"] is None else str(row["partition.date"]),
                "bucket": None if row["partition.bucket"] is None else str(row["partition.bucket"]),
            }
            for row in adds.select(["partition.date", "partition.bucket"]).to_pylist()
        ]
        return Files(
            tuple(adds["path"].to_pylist()),
            tuple(adds["size_bytes"].to_pylist()),
            tuple(partitions),
            sum(each or 0 for each in adds["num_records"].to_pylist()),
        )

    def read(self, files: Files) -> DataFrame:
        """The rows of these files."""
        return self._read([f"{self.root}/{path}" for path in files.paths])

    def read_written(self, written: WrittenFiles) -> DataFrame:
        """The rows of files that are no part of the table yet."""
        return self._read([f"{self.root}/{add.path}" for add in written.adds])

    def _read(self, paths: list[str]) -> DataFrame:
        if not paths:
            return table_of(self.session, (), self.schema)
        inside = StructType([each for each in self.schema.fields if each.name not in PARTITIONS])
        # Files lie in folders of several batches, of which Spark would make no one table: it is told their partitions.
        reader = self.session.read.schema(inside).option("recursiveFileLookup", "true").option("__globPaths__", "false")
        parts = [_partition(name).cast(self.schema[name].dataType).alias(name) for name in PARTITIONS]
        return reader.parquet(*paths).select(*inside.fieldNames(), *parts)

    def write(self, frame: DataFrame, stamp: str) -> WrittenFiles:
        """Write rows into the folder ``stamp``."""
        self._make_folder()
        rows = frame.select(*self.schema.fieldNames())
        rows.write.mode("overwrite").partitionBy(*PARTITIONS).parquet(f"{self.root}/{stamp}")
        return self.found(stamp)

    def _make_folder(self) -> None:
        """On this machine the folder is the user's alone, because a lake may hold payloads."""
        if self.root.startswith("file:"):
            make_folder(Path(self.uri))

    def found(self, stamp: str) -> WrittenFiles:
        """The Parquet files in the folder ``stamp``, with what their footers say."""
        place = self._place()
        selector = pa.fs.FileSelector(stamp, allow_not_found=True, recursive=True)
        files = [each for each in place.get_file_info(selector) if each.path.endswith(".parquet")]
        now, adds, rows = int(time.time() * 1000), [], 0
        for each in files:
            with place.open_input_file(each.path) as content:
                footer = pq.ParquetFile(content).metadata
            said = _statistics(footer)
            partition = dict(part.split("=", 1) for part in each.path.split("/") if "=" in part)
            adds.append(AddAction(each.path, each.size, partition, now, True, json.dumps(said)))
            rows += footer.num_rows
        return WrittenFiles(tuple(adds), rows)

    def commit(
        self,
        batch: int,
        written: WrittenFiles = WrittenFiles(),
        removed: Files = Files(),
        said: Mapping[str, Any] | None = None,
        app: str = APP,
    ) -> bool:
        """Make files part of the table, and others not, as batch number ``batch``; ``said``: to ``say`` with it.

        False where that batch was committed already. Raises ``Conflict`` where somebody else has committed that batch
        meanwhile, and ``ChangedMeanwhile`` where one of the files that are removed is no part of the table any more.
        """
        now = int(time.time() * 1000)
        gone = [
            RemoveAction(path, True, now, size, dict(partition))
            for path, size, partition in zip(removed.paths, removed.sizes, removed.partitions, strict=True)
        ]
        for left in reversed(range(_TRIES)):
            table = self.made()
            if (committed(table, app) or 0) >= batch:
                if left < _TRIES - 1:
                    raise Conflict(f"somebody else writes to the table {self.uri}; run one at a time")
                return False
            if gone and not set(removed.paths) <= set(self.files(table).paths):
                raise ChangedMeanwhile(f"files of the table {self.uri} were written anew meanwhile")
            if self._committed(table, [*written.adds, *gone], said, [Transaction(app, batch)]):
                return True
        raise ChangedMeanwhile(f"others commit to the table {self.uri} all the time")

    def say(self, said: Mapping[str, Any]) -> None:
        """Commit these entries, beside those that were said before. Raises ``ChangedMeanwhile``."""
        if not any(self._committed(self.made(), [], said) for _ in range(_TRIES)):
            raise ChangedMeanwhile(f"others commit to the table {self.uri} all the time")

    def _committed(
        self,
        table: DeltaTable,
        actions: list[AddAction | RemoveAction],
        said: Mapping[str, Any] | None,
        transactions: list[Transaction] | None = None,
    ) -> bool:
        """Commit right after this version, the newest; False where somebody else was faster."""
        entries = None if said is None else {SAID: json.dumps({**self.said(table), **said}, sort_keys=True)}
        try:
            table.create_write_transaction(
                actions,
                "append",
                table.schema(),
                list(PARTITIONS),
                commit_properties=CommitProperties(
                    custom_metadata=entries, app_transactions=transactions, max_commit_retries=0
                ),
            )
        except CommitFailedError as problem:
            if table.version() == self.made().version():
                raise QmonError(f"the table {self.uri} takes no commit: {problem}") from problem
            return False
        return True

    def replace(self, frame: DataFrame) -> None:
        """Make these rows the whole table."""
        table = self.made()
        batch = (committed(table) or 0) + 1
        self.commit(batch, self.write(frame, f"{batch:09d}-{secrets.token_hex(4)}"), self.files(table))

    def said(self, version: DeltaTable | None) -> Mapping[str, Any]:
        """What was said up to a version, as far as the log goes back."""
        if version is None:
            return {}
        place = self._place()
        for number in range(version.version(), -1, -1):  # ``DeltaTable.history`` tells of the newest version alone
            try:
                with place.open_input_stream(f"_delta_log/{number:020d}.json") as commit:
                    lines: list[bytes] = commit.read().splitlines()
            except FileNotFoundError:
                break
            for line in lines:
                entry = json.loads(line).get("commitInfo", {}) if line.startswith(b'{"commitInfo"') else {}
                if SAID in entry:
                    found: Mapping[str, Any] = json.loads(entry[SAID])
                    return found
        return {}

    def _place(self) -> pa.fs.PyFileSystem:
        return pa.fs.PyFileSystem(DeltaStorageHandler(self.uri, dict(self.options)))


def committed(version: DeltaTable | None, app: str = APP) -> int | None:
    """The newest batch that a version holds."""
    return None if version is None else version.transaction_version(app)


def table_of(session: SparkSession, rows: Sequence[Mapping[str, Any]], schema: StructType) -> DataFrame:
    """Some rows of the driver's, without a job and a worker of Python's; what is joined to none falls out of plans."""
    kind = to_arrow_schema(schema)
    return session.createDataFrame(pa.Table.from_pylist(list(rows), kind), schema)


def _partition(name: str) -> Column:
    """The value of a partition, by the path of the file."""
    rest = F.substring_index(F.col("_metadata.file_path"), f"/{name}=", -1)
    return F.substring_index(rest, "/", 1)


def _kept(adds: pa.Table, within: Within) -> pa.ChunkedArray:
    """Which files may hold something of it: by partition, then by least and greatest value where these are known."""
    keep = pa.chunked_array([pa.repeat(pa.scalar(True), adds.num_rows)])
    names: Iterable[tuple[str, Collection[Any] | None]] = (("date", within.dates), ("bucket", within.buckets))
    for name, wanted in names:
        if wanted is not None:
            column = adds[f"partition.{name}"]
            keep = pc.and_(keep, pc.is_in(column, pa.array(sorted(wanted), column.type)))
    bounds: list[tuple[str, Any, Any]] = []
    if within.targets:
        bounds.append(("target", min(within.targets), max(within.targets)))
    if within.over:
        bounds.append((within.over, within.low, within.high))
    for name, low, high in bounds:
        if f"min.{name}" in adds.column_names:
            apart = pc.or_(pc.less(adds[f"max.{name}"], low), pc.greater(adds[f"min.{name}"], high))
            keep = pc.and_(keep, pc.invert(pc.fill_null(apart, False)))
    return keep


def _statistics(footer: pq.FileMetaData) -> dict[str, Any]:
    """For the log: rows, least and greatest values, nulls."""
    least: dict[str, Any] = {}
    most: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    places = {footer.schema.column(n).path: n for n in range(footer.num_columns)}
    for name in _STATISTICS:
        if name not in places or not footer.num_row_groups:
            continue
        found = [footer.row_group(n).column(places[name]).statistics for n in range(footer.num_row_groups)]
        if all(each is not None and each.has_min_max for each in found):
            least[name], most[name] = min(each.min for each in found), max(each.max for each in found)
            nulls[name] = sum(each.null_count or 0 for each in found)
    return {"numRecords": footer.num_rows, "minValues": least, "maxValues": most, "nullCount": nulls}
