"""The segments of a batch as rows, checked against schemas. Bad lines are stored separately, each with a reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from qmon.pipeline.ingest.segment_rows import stage_rows_files, staged_batches
from qmon.pipeline.lake.delta import TableLog, WrittenFiles, frame_from_rows
from qmon.pipeline.lake.schema import BAD, OPERATIONS, POLLS, SAMPLES, STAGED
from qmon.pipeline.lake.storage import Storage
from qmon.pipeline.rollup.rollups import HOUR_S, LONGEST_FLOW_S, period_start
from qmon.recording.figure_rows.row_schema import bucket_for
from qmon.recording.figure_rows.segment_lines import target_from_path

_FOLDER = "_staged"

# These columns identify a line, even if the line is in several files.
LINE_KEY = ("target", "recorder", "sequence")


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

    def delete_files(self) -> None:
        """Delete all staged files, including the files of interrupted batches."""
        self.storage.delete_path(_FOLDER)


def stage_segments(storage: Storage, segments: Mapping[str, int], stamp: str) -> StagedBatch:
    """Write the rows of segments to the staging folder. ``segments``: full path and size in bytes of each segment.

    If the lake and a segment are on this machine, the rows are copied from the Parquet file that the recorder wrote.
    Without a usable file, the segment is decoded on the executors.
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


def poll_rows(rows: DataFrame, known: DataFrame) -> DataFrame:
    """Return one row per poll that has queues, without duplicates and without polls that the lake already has."""
    waits = F.arrays_zip(F.col("line.wait").alias("event"), F.col("line.sessions").alias("sessions"))
    found = (
        rows.where("line.queues > 0")
        .dropDuplicates([*LINE_KEY])
        .join(known.select(*LINE_KEY), [*LINE_KEY], "left_anti")
    )
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


def affected_hours(polls: DataFrame, known: DataFrame) -> DataFrame:
    """Return the hours that polls affect, and for each hour the number of recorders that watched it.

    A poll also affects the previous hour if its time may begin there. ``polls``: number of new polls that were taken in
    the hour. ``known``: polls in the lake.
    """
    hour = period_start(F.col("sampled_at"), HOUR_S)
    earliest = period_start(F.col("sampled_at") - LONGEST_FLOW_S, HOUR_S)
    covered = F.explode(F.array_distinct(F.array(hour, earliest))).alias("hour")
    columns = ("target", covered, hour.alias("taken"), "recorder", "zone")
    touched = polls.where("line.queues > 0").select(*columns, F.lit(1).alias("new"))
    before = known.select(*columns, F.lit(0).alias("new"))
    each = touched.unionByName(before).groupBy("target", "hour")
    found = each.agg(
        F.sum("new").alias("touching"),
        F.sum(F.when(F.col("taken") == F.col("hour"), F.col("new")).otherwise(0)).alias("polls"),
        F.countDistinct("recorder", "zone").alias("recorders"),
    )
    return found.where("touching > 0")
