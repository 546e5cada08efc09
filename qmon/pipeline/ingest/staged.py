"""The segments of a batch as rows, checked against schemas. Bad lines are stored separately, each with a reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from qmon.pipeline.ingest.poll_survey import LINE_KEY, POLL_COLUMNS
from qmon.pipeline.lake.delta import TableLog, WrittenFiles, frame_from_rows
from qmon.pipeline.lake.schema import BAD, HISTOGRAMS, OPERATIONS, POLLS, SAMPLES, STAGED
from qmon.pipeline.lake.storage import Storage
from qmon.pipeline.rollup.histograms import MERGED_COLUMNS, merge_hours
from qmon.pipeline.rollup.minute_sums import HOUR_S, add_up_minutes
from qmon.recording.figure_rows.line_rows import rows_from_segment
from qmon.recording.figure_rows.row_schema import PARTITIONS, bucket_for
from qmon.recording.figure_rows.rows_file import read_rows
from qmon.recording.figure_rows.segment_lines import target_from_path

_FOLDER = "_staged"


@dataclass(frozen=True, slots=True)
class StagedBatch:
    """The staged rows of a batch. They are decoded once and stored in separate files for each kind."""

    storage: Storage
    stamp: str

    def kind_folder(self, kind: str) -> str:
        """Return the folder of one kind of rows, relative to the lake."""
        return f"{_FOLDER}/{self.stamp}/kind={kind}"

    def read_rows(self, kind: str) -> DataFrame:
        """Return the rows of one kind."""
        place = self.kind_folder(kind)
        if not self.storage.exists(place):
            return frame_from_rows(self.storage.session, (), STAGED)
        reader = self.storage.session.read.schema(STAGED).option(
            "basePath", self.storage.full_path(_FOLDER, self.stamp)
        )
        return reader.option("__globPaths__", "false").parquet(self.storage.full_path(place))

    def kind_files(self, kind: str) -> WrittenFiles:
        """Return the files of one kind."""
        return TableLog(self.storage.full_path(_FOLDER), STAGED).written_files(f"{self.stamp}/kind={kind}")

    def read_polls(self) -> pa.Table:
        """Return the columns ``POLL_COLUMNS`` of the staged polls that have queues, without Spark."""
        log = TableLog(self.storage.full_path(_FOLDER), STAGED)
        rows = log.read_columns([add.path for add in self.kind_files("poll").adds], [*POLL_COLUMNS, "line.queues"])
        return rows.filter(pc.greater(pc.struct_field(rows["line"], "queues"), 0)).select(POLL_COLUMNS)

    def read_minutes(self) -> DataFrame:
        """Return the sums of minutes (``schema.MINUTE_SUMS``)."""
        return self.read_rows("minute").select("minute.*")

    def write_histograms(self) -> DataFrame:
        """Write the histograms of the hours in the staged minutes, without Spark. Return them."""
        log = TableLog(self.storage.full_path(_FOLDER), STAGED)
        paths = [add.path for add in self.kind_files("minute").adds]
        minutes = log.read_columns(paths, [f"minute.{name}" for name in MERGED_COLUMNS])["minute"]
        flat = pa.table({name: pc.struct_field(minutes, name) for name in MERGED_COLUMNS})
        place = f"{self.stamp}/histograms/hours.parquet"
        with log.file_system().open_output_stream(place) as output:
            pq.write_table(merge_hours(flat), output, compression="snappy")
        return self.storage.session.read.schema(HISTOGRAMS).parquet(self.storage.full_path(_FOLDER, place))

    def delete_files(self) -> None:
        """Delete all staged files, including the files of interrupted batches."""
        self.storage.delete_path(_FOLDER)


def stage_segments(storage: Storage, segments: Mapping[str, int], stamp: str) -> StagedBatch:
    """Write the rows of segments to the staging folder. ``segments``: full path and size in bytes of each segment.

    If the lake and a segment are on this machine, the rows are copied from the files that the recorder wrote next to
    the segment. Without a usable file, the segment is decoded on the executors.
    """
    here = storage.local_folder()
    near = {path: size for path, size in segments.items() if here is not None and path.startswith("file:")}
    rest = [path for path in segments if path not in near]
    if here is not None and near:
        rest += stage_rows_files(near, here / _FOLDER / stamp)
    if rest:
        read = storage.session.read.format("binaryFile").option("__globPaths__", "false").load(rest)
        rows = read.select("path", "content").mapInArrow(staged_batches, STAGED)
        place = storage.full_path(_FOLDER, stamp)
        rows.write.mode("append").partitionBy("kind", "date", "bucket").parquet(place)
    return StagedBatch(storage, stamp)


def sample_rows(rows: DataFrame, polls: DataFrame) -> DataFrame:
    """Return one row per queue and poll, without duplicates, from the staged rows of these polls."""
    kept = rows.join(polls.select(*LINE_KEY), [*LINE_KEY], "left_semi").select(*SAMPLES.fieldNames())
    return kept.dropDuplicates([*LINE_KEY, "queue"])


def poll_rows(rows: DataFrame, known: DataFrame | None) -> DataFrame:
    """Return one row per poll that has queues, without duplicates and without polls that the lake already has.

    ``known``: polls in the lake. If there are no duplicates at all, ``None`` saves the comparison.
    """
    waits = F.arrays_zip(F.col("line.wait").alias("event"), F.col("line.sessions").alias("sessions"))
    found = rows.where("line.queues > 0")
    if known is not None:
        key = [*LINE_KEY]
        found = found.dropDuplicates(key).join(known.select(*key), key, "left_anti")
    return found.withColumns({"queues": F.col("line.queues"), "waits": waits}).select(*POLLS.fieldNames())


def operation_rows(rows: DataFrame) -> DataFrame:
    """Return one row per line about an operation. An operation may have several lines."""
    flat = rows.select("line.operation.*", F.col("sequence").alias("written"), "target", "date", "bucket")
    return flat.select(*OPERATIONS.fieldNames())


def latest_operations(operations: DataFrame) -> DataFrame:
    """Return each operation once, in its latest state."""
    order = F.struct(F.coalesce("ended_at", F.lit(0.0)), F.col("written"))
    whole = F.struct(*(name for name in OPERATIONS.fieldNames() if name not in ("id", "target")))
    found = operations.groupBy("target", "id").agg(F.max_by(whole, order).alias("o"))
    return found.select("target", "id", "o.*").select(*OPERATIONS.fieldNames())


def unusable_lines(rows: DataFrame) -> DataFrame:
    """Return the unusable lines and parts: file, place, text and reason."""
    flat = rows.select("line.file", "line.place", "line.text", "line.reason", "target", "bucket")
    return flat.withColumn("date", _segment_date()).select(*BAD.fieldNames())


def unusable_files(session: SparkSession, files: Sequence[tuple[str, str]]) -> DataFrame:
    """Return rows for whole files, in the form of ``unusable_lines``, each with its reason."""
    rows: list[dict[str, object]] = []
    for file, reason in files:
        target = target_from_path(file)
        rows.append({"file": file, "place": 0, "reason": reason, "target": target, "bucket": bucket_for(target)})
    return frame_from_rows(session, rows, BAD).withColumn("date", _segment_date())


def _segment_date() -> Column:
    """Return the day in the path of a segment, or today if the path has no day."""
    return F.expr(r"coalesce(try_cast(regexp_extract(file, '/date=([0-9-]+)/', 1) AS DATE), current_date())")


# Maximum number of rows in memory. Files of this size take about 1.5 MB.
_BUFFERED_ROWS: Final = 250_000


def staged_batches(segments: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Convert segments (``path``, ``content``) to rows of ``schema.STAGED``. This is a function for ``mapInArrow``."""
    schema = to_arrow_schema(STAGED)
    for batch in segments:
        for path, content in zip(batch.column("path"), batch.column("content"), strict=True):
            for rows in rows_from_segment(str(path.as_py()), content.as_py()):
                yield _full_rows(rows, schema)
                if rows.num_rows and rows["kind"][0].as_py() == "sample":
                    yield _full_rows(_minute_rows(pa.Table.from_batches([rows])), schema)


def _full_rows(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return rows with all columns of a schema. Missing columns are null."""
    there = set(rows.schema.names)
    columns = [rows[each.name] if each.name in there else pa.nulls(rows.num_rows, each.type) for each in schema]
    return pa.record_batch(columns, schema=schema)


def _minute_rows(samples: pa.Table) -> pa.RecordBatch:
    """Return the rows of the kind ``minute`` for the samples of one segment. These rows are in no partition."""
    sums = add_up_minutes(samples, HOUR_S)
    kind = pa.repeat(pa.scalar("minute"), sums.num_rows)
    return pa.record_batch([kind, sums.to_struct_array()], names=["kind", "minute"])


def stage_rows_files(segments: Mapping[str, int], folder: Path) -> list[str]:
    """Write the rows of segments that have a usable file next to them to a folder, in the layout of Spark's partitions.

    Returns the other segments. ``segments``: full path of each segment on this machine, and its size in bytes.
    """
    writer, others = _PartitionedWriter(folder), list[str]()
    for path, size in segments.items():
        kinds = read_rows(Path(path.removeprefix("file:")), size, path)
        if kinds is None:
            others.append(path)
            continue
        for kind, rows in kinds.items():
            writer.add_rows(kind, rows)
        if "sample" in kinds:
            writer.add_rows("minute", pa.Table.from_batches([_minute_rows(kinds["sample"])]))
    writer.write_buffer()
    return others


class _PartitionedWriter:
    """Writes rows to Parquet files below ``folder``, in folders for each kind, date and bucket."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tables: dict[tuple[object, ...], list[pa.Table]] = {}
        self._buffered = 0
        self._files = 0
        # The folder is also listed if no segment has rows. Like Spark, create it with the usual mode of new folders.
        pa.fs.LocalFileSystem().create_dir(str(folder))

    def add_rows(self, kind: str, rows: pa.Table) -> None:
        """Add rows of one kind. Rows without the columns ``date`` and ``bucket`` are in no partition."""
        names = [name for name in PARTITIONS if name in rows.column_names]
        for key in rows.group_by(names).aggregate([]).to_pylist() if names else [{}]:
            found = rows
            for name, value in key.items():
                if pc.count_distinct(rows[name], "all").as_py() > 1:
                    found = found.filter(pc.field(name).is_null() if value is None else pc.field(name) == value)
            place = (kind, *(key.get(name) for name in PARTITIONS))
            self._tables.setdefault(place, []).append(found.drop_columns(names))
        self._buffered += rows.num_rows
        if self._buffered >= _BUFFERED_ROWS:
            self.write_buffer()

    def write_buffer(self) -> None:
        for (kind, *values), tables in self._tables.items():
            place = self._folder / f"kind={kind}"
            for name, value in zip(PARTITIONS, values, strict=True):
                place /= f"{name}={'__HIVE_DEFAULT_PARTITION__' if value is None else value}"
            pa.fs.LocalFileSystem().create_dir(str(place))
            self._files += 1
            pq.write_table(pa.concat_tables(tables), place / f"rows-{self._files:05d}.parquet", compression="snappy")
        self._tables.clear()
        self._buffered = 0
