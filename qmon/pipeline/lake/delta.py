"""One table of the lake in the Delta format. Spark reads and writes the Parquet files, and delta-rs manages the log.

A write creates files in a new folder that readers do not see. A commit adds files to the table and removes other files
in one step. Each commit contains the number of its batch as an application transaction. So a repeated batch commits
only once, and if two writers commit the same batch, the second commit is refused.
"""

from __future__ import annotations

import datetime
import json
import secrets
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from qmon.pipeline.lake.partition_writer import PartitionWriter
from qmon.pipeline.lake.schema import file_schema
from qmon.pipeline.pipeline_texts import LakeText
from qmon.recording.figure_rows.row_schema import PARTITIONS

APPLICATION: Final = "qmon"
ENTRIES_KEY: Final = "qmon"

# Columns whose minimum and maximum per file are in the log, so that readers can skip files.
_STATISTICS: Final = ("target", "sampled_at", "start_at", "batch", "archive_id", "archived_at")

# Maximum number of attempts to commit. An attempt fails if another writer commits at the same time.
_TRIES: Final = 20
_PROPERTIES: Final = {"delta.logRetentionDuration": "interval 7 days", "delta.checkpointInterval": "20"}


class Conflict(QmonError):
    """Another process has committed the same batch."""


class ChangedMeanwhile(Conflict):
    """Another process has rewritten files that this process had read."""


@dataclass(frozen=True, slots=True)
class ReadFilter:
    """The part of a table to read; ``None`` means no limit. A filter excludes whole files, not single rows.

    ``low``, ``high``: bounds of the column ``over``, inclusive.
    """

    dates: Collection[datetime.date] | None = None
    buckets: Collection[int] | None = None
    targets: Collection[str] | None = None
    over: str = ""
    low: float = 0.0
    high: float = 0.0

    @property
    def bounds(self) -> list[tuple[str, Any, Any]]:
        """The columns with bounds, each with its least and its greatest value."""
        found: list[tuple[str, Any, Any]] = [(self.over, self.low, self.high)] if self.over else []
        return [*found, ("target", min(self.targets), max(self.targets))] if self.targets else found

    def widen(self, seconds: float) -> ReadFilter:
        """Return the filter extended by this time, of at most one day, in both directions."""
        day = datetime.timedelta(days=1)
        dates = None if self.dates is None else {date + n * day for date in self.dates for n in (-1, 0, 1)}
        return replace(self, dates=dates, low=self.low - seconds, high=self.high + seconds)


@dataclass(frozen=True, slots=True)
class Files:
    """Files of one version of a table: relative paths, sizes in bytes, partitions, and numbers of rows."""

    paths: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    partitions: tuple[Mapping[str, str | None], ...] = ()
    row_counts: tuple[int, ...] = ()

    @property
    def rows(self) -> int:
        """The total number of rows."""
        return sum(self.row_counts)

    def __add__(self, other: Files) -> Files:
        """Return the files of both."""
        return Files(
            self.paths + other.paths,
            self.sizes + other.sizes,
            self.partitions + other.partitions,
            self.row_counts + other.row_counts,
        )

    def select(self, places: Sequence[int]) -> Files:
        """Return the files at these places, counted from 0."""
        return Files(
            tuple(self.paths[place] for place in places),
            tuple(self.sizes[place] for place in places),
            tuple(self.partitions[place] for place in places),
            tuple(self.row_counts[place] for place in places),
        )


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """Files that were written but are not part of the table yet. ``rows``: the total number of rows."""

    adds: tuple[AddAction, ...] = ()
    rows: int = 0

    @property
    def paths(self) -> tuple[str, ...]:
        """The relative paths of the files."""
        return tuple(add.path for add in self.adds)

    def select(self, within: ReadFilter) -> WrittenFiles:
        """Return the files that may contain rows of ``within``."""
        adds = tuple(add for add in self.adds if _may_contain(add, within))
        return WrittenFiles(adds, sum(json.loads(add.stats)["numRecords"] for add in adds))

    def read_filter(self, over: str = "") -> ReadFilter:
        """Return the part of a table with the same partitions, targets and times (in ``over``) as these files."""
        said = [json.loads(add.stats) for add in self.adds]
        dates = {add.partition_values["date"] for add in self.adds} - {None}
        buckets = {add.partition_values["bucket"] for add in self.adds} - {None}
        known = [(each["minValues"], each["maxValues"]) for each in said]
        targets = {each["target"] for pair in known for each in pair if "target" in each}
        times = [each[over] for pair in known for each in pair if over in each]
        return ReadFilter(
            {datetime.date.fromisoformat(each) for each in dates if each},
            {int(each) for each in buckets if each},
            targets,
            over if times else "",
            min(times, default=0.0),
            max(times, default=0.0),
        )


@dataclass(frozen=True, slots=True)
class TableLog:
    """The log of one table, which lists the table's files. Needs no Spark.

    ``root``: the path for Spark. ``options``: for delta-rs, in addition to environment variables.
    """

    root: str
    schema: StructType
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        """The table's path for delta-rs."""
        if self.root.startswith("file:"):
            return "/" + self.root.removeprefix("file:").lstrip("/")
        return self.root.replace("s3a://", "s3://", 1)

    def exists(self) -> bool:
        """Return true if the table has a version."""
        return bool(DeltaTable.is_deltatable(self.uri, dict(self.options)))

    def version(self, batch: int | None = None) -> DeltaTable | None:
        """Return the newest version. With ``batch``, return the newest version without later batches.

        ``None``: no version exists.
        """
        if not self.exists():
            return None
        found = DeltaTable(self.uri, storage_options=dict(self.options))
        while batch is not None and (newest_batch(found) or 0) > batch:
            found.load_as_version(found.version() - 1)
        return found

    def open_or_create(self) -> DeltaTable:
        """Return the newest version. Create an empty table if there is no table."""
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

    def files_in(self, version: DeltaTable | None, within: ReadFilter = ReadFilter()) -> Files:
        """Return the files of a version that may contain rows of ``within``."""
        return select_files(list_files(version), within)

    def _make_folder(self) -> None:
        """Create a local folder that only the user may access, because a lake may contain payloads."""
        if self.root.startswith("file:"):
            make_folder(Path(self.uri))

    def written_files(self, stamp: str) -> WrittenFiles:
        """Return the Parquet files in the folder ``stamp``, with the statistics in their footers."""
        place = self.file_system()
        selector = pa.fs.FileSelector(stamp, allow_not_found=True, recursive=True)
        files = [each for each in place.get_file_info(selector) if each.path.endswith(".parquet")]
        now, adds, rows = int(time.time() * 1000), [], 0
        for each in files:
            with place.open_input_file(each.path) as content:
                footer = pq.ParquetFile(content).metadata
            said = _footer_statistics(footer)
            partition = dict(part.split("=", 1) for part in each.path.split("/") if "=" in part)
            adds.append(AddAction(each.path, each.size, partition, now, True, json.dumps(said)))
            rows += footer.num_rows
        return WrittenFiles(tuple(adds), rows)

    def commit_batch(
        self,
        batch: int,
        written: WrittenFiles = WrittenFiles(),
        removed: Files = Files(),
        entries: Mapping[str, Any] | None = None,
        app: str = APPLICATION,
    ) -> bool:
        """Add files to the table and remove other files, as batch number ``batch``.

        ``entries``: stored with the commit. Returns false if the batch was already committed. Raises ``Conflict`` if
        another process has committed the batch in the meantime, and ``ChangedMeanwhile`` if a file to remove is no
        longer part of the table.
        """
        now = int(time.time() * 1000)
        gone = [
            RemoveAction(path, True, now, size, dict(partition))
            for path, size, partition in zip(removed.paths, removed.sizes, removed.partitions, strict=True)
        ]
        for left in reversed(range(_TRIES)):
            table = self.open_or_create()
            if (newest_batch(table, app) or 0) >= batch:
                if left < _TRIES - 1:
                    raise Conflict(LakeText.SECOND_TABLE_WRITER.render(table=self.uri))
                return False
            if gone and not set(removed.paths) <= set(self.files_in(table).paths):
                raise ChangedMeanwhile(LakeText.FILES_REWRITTEN.render(table=self.uri))
            if self._try_commit(table, [*written.adds, *gone], entries, [Transaction(app, batch)]):
                return True
        raise ChangedMeanwhile(LakeText.MANY_COMMITS.render(table=self.uri))

    def commit_entries(self, entries: Mapping[str, Any]) -> None:
        """Commit these entries and keep all earlier entries. Raises ``ChangedMeanwhile``."""
        if not any(self._try_commit(self.open_or_create(), [], entries) for _ in range(_TRIES)):
            raise ChangedMeanwhile(LakeText.MANY_COMMITS.render(table=self.uri))

    def _try_commit(
        self,
        table: DeltaTable,
        actions: list[AddAction | RemoveAction],
        commit_info: Mapping[str, Any] | None,
        transactions: list[Transaction] | None = None,
    ) -> bool:
        """Commit on top of this version. Returns false if another process committed first."""
        entries = (
            None
            if commit_info is None
            else {ENTRIES_KEY: json.dumps({**self.read_entries(table), **commit_info}, sort_keys=True)}
        )
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
            if table.version() == self.open_or_create().version():
                raise QmonError(LakeText.CANNOT_COMMIT.render(table=self.uri, problem=problem)) from problem
            return False
        return True

    def read_entries(self, version: DeltaTable | None) -> Mapping[str, Any]:
        """Return the entries that were stored up to a version, except entries that the log no longer has."""
        if version is None:
            return {}
        place = self.file_system()
        for number in range(version.version(), -1, -1):  # `DeltaTable.history` covers only the newest version
            try:
                with place.open_input_stream(f"_delta_log/{number:020d}.json") as commit:
                    lines: list[bytes] = commit.read().splitlines()
            except FileNotFoundError:
                break
            for line in lines:
                entry = json.loads(line).get("commitInfo", {}) if line.startswith(b'{"commitInfo"') else {}
                if ENTRIES_KEY in entry:
                    found: Mapping[str, Any] = json.loads(entry[ENTRIES_KEY])
                    return found
        return {}

    def read_columns(
        self, paths: Sequence[str], names: Sequence[str] | None = None, where: pc.Expression | None = None
    ) -> pa.Table:
        """Return columns of files below the table's path, without Spark. Columns that a file does not have are null.

        Args:
            paths: the files, relative to the table's path.
            names: columns; a name with a dot is a field of a column. Default: all columns except partition columns.
            where: condition on the rows.
        """
        kind = file_schema(self.schema)
        wanted = list(kind.names) if names is None else list(names)
        columns = list(dict.fromkeys(name.split(".")[0] for name in wanted))
        whole = set(columns).intersection(wanted)
        place, parts = self.file_system(), list[pa.Table]()
        for path in paths:
            with place.open_input_file(path) as content:
                file = pq.ParquetFile(content)
                for group in range(file.num_row_groups):
                    rows = _with_types(file.read_row_group(group, wanted), kind, columns, whole)
                    parts.append(rows if where is None else rows.filter(where))
        if not parts:  # there may be no table yet
            return kind.empty_table().select(columns)
        return pa.concat_tables(parts)

    def write_partitions(self, stamp: str) -> PartitionWriter:
        """Return a writer of files in the folder ``stamp``, without Spark."""
        self._make_folder()
        return PartitionWriter(self.file_system(), stamp)

    def file_system(self) -> pa.fs.FileSystem:
        """Return the files below the table's path."""
        if self.root.startswith("file:"):
            return pa.fs.SubTreeFileSystem(self.uri, pa.fs.LocalFileSystem())
        return pa.fs.PyFileSystem(DeltaStorageHandler(self.uri, dict(self.options)))


@dataclass(frozen=True, slots=True)
class LakeTable(TableLog):
    """One table whose rows are read and written by Spark."""

    session: SparkSession = field(kw_only=True)

    def read(self, files: Files) -> DataFrame:
        """Return the rows of these files."""
        return self._read_paths([f"{self.root}/{path}" for path in files.paths])

    def read_written(self, written: WrittenFiles) -> DataFrame:
        """Return the rows of files that are not part of the table yet."""
        return self._read_paths([f"{self.root}/{add.path}" for add in written.adds])

    def _read_paths(self, paths: list[str]) -> DataFrame:
        if not paths:
            return frame_from_rows(self.session, (), self.schema)
        inside = StructType([each for each in self.schema.fields if each.name not in PARTITIONS])
        # The folders of several batches are not one table for Spark. So partition values are read from the paths.
        reader = self.session.read.schema(inside).option("recursiveFileLookup", "true").option("__globPaths__", "false")
        parts = [_partition_value(name).cast(self.schema[name].dataType).alias(name) for name in PARTITIONS]
        return reader.parquet(*paths).select(*inside.fieldNames(), *parts)

    def write_rows(self, frame: DataFrame, stamp: str) -> WrittenFiles:
        """Write rows to the folder ``stamp``."""
        self._make_folder()
        rows = frame.select(*self.schema.fieldNames())
        rows.write.mode("overwrite").partitionBy(*PARTITIONS).parquet(f"{self.root}/{stamp}")
        return self.written_files(stamp)

    def replace_rows(self, frame: DataFrame) -> None:
        """Replace all rows of the table."""
        table = self.open_or_create()
        batch = (newest_batch(table) or 0) + 1
        self.commit_batch(batch, self.write_rows(frame, f"{batch:09d}-{secrets.token_hex(4)}"), self.files_in(table))


def newest_batch(version: DeltaTable | None, app: str = APPLICATION) -> int | None:
    """Return the newest batch in a version, or ``None``."""
    return None if version is None else version.transaction_version(app)


def list_files(version: DeltaTable | None) -> pa.Table:
    """Return the files of a version with their partitions and statistics, for ``select_files``."""
    return pa.table({}) if version is None else pa.table(version.get_add_actions(flatten=True))


def select_files(adds: pa.Table, within: ReadFilter) -> Files:
    """Return the files that may contain rows of ``within``. ``adds``: from ``list_files``."""
    if not adds.num_rows or (within.dates is not None and not within.dates):
        return Files()
    adds = adds.filter(_matching_files(adds, within))
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
        tuple(adds["num_records"].to_pylist()),
    )


def frame_from_rows(session: SparkSession, rows: Sequence[Mapping[str, Any]], schema: StructType) -> DataFrame:
    """Create a frame from local rows without a Spark job or Python worker.

    Spark removes joins with an empty frame.
    """
    kind = to_arrow_schema(schema)
    return session.createDataFrame(pa.Table.from_pylist(list(rows), kind), schema)


def _partition_value(name: str) -> Column:
    """Return the value of a partition column from the file's path."""
    rest = F.substring_index(F.col("_metadata.file_path"), f"/{name}=", -1)
    return F.substring_index(rest, "/", 1)


def _matching_files(adds: pa.Table, within: ReadFilter) -> pa.ChunkedArray:
    """Return which files may contain matching rows, by partition and, if known, by minimum and maximum."""
    keep = pa.chunked_array([pa.repeat(pa.scalar(True), adds.num_rows)])
    names: Iterable[tuple[str, Collection[Any] | None]] = (("date", within.dates), ("bucket", within.buckets))
    for name, wanted in names:
        if wanted is not None:
            column = adds[f"partition.{name}"]
            keep = pc.and_(keep, pc.is_in(column, pa.array(sorted(wanted), column.type)))
    for name, low, high in within.bounds:
        if f"min.{name}" in adds.column_names:
            apart = pc.or_(pc.less(adds[f"max.{name}"], low), pc.greater(adds[f"min.{name}"], high))
            keep = pc.and_(keep, pc.invert(pc.fill_null(apart, False)))
    return keep


def _may_contain(add: AddAction, within: ReadFilter) -> bool:
    """Return whether a file may contain rows of ``within``, by partition and, if known, by minimum and maximum."""
    date, bucket = (add.partition_values.get(name) for name in PARTITIONS)
    if within.dates is not None and date not in {str(each) for each in within.dates}:
        return False
    if within.buckets is not None and bucket not in {str(each) for each in within.buckets}:
        return False
    stats = json.loads(add.stats)
    least, most = stats["minValues"], stats["maxValues"]
    return all(name not in least or (least[name] <= high and most[name] >= low) for name, low, high in within.bounds)


def _with_types(rows: pa.Table, kind: pa.Schema, columns: Sequence[str], whole: Collection[str]) -> pa.Table:
    """Return these columns, with the types of ``kind`` for ``whole`` columns. delta-rs may use other types of text."""
    for name in columns:
        if name not in rows.column_names:
            rows = rows.append_column(kind.field(name), pa.nulls(rows.num_rows, kind.field(name).type))
    for number, name in enumerate(rows.column_names):
        if name in whole and rows.schema.field(number).type != kind.field(name).type:
            rows = rows.set_column(number, kind.field(name), rows[name].cast(kind.field(name).type))
    return rows.select(columns)


def _footer_statistics(footer: pq.FileMetaData) -> dict[str, Any]:
    """Return the statistics of a file for the log: rows, minimum, maximum and number of nulls."""
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
