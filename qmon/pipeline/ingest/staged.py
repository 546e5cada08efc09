"""A batch's segments as rows, checked against their schemas. Bad lines are separate, with their reason."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from qmon.pipeline.ingest.columns import batches
from qmon.pipeline.lake.delta import LakeTable, WrittenFiles, table_of
from qmon.pipeline.lake.schema import BAD, OPERATIONS, POLLS, SAMPLES, STAGED, bucket
from qmon.pipeline.lake.storage import Storage
from qmon.pipeline.rollup.rollups import HOUR_S, start

_FOLDER = "_staged"

# Identifies a line, whichever file it is in.
LINE = ("target", "recorder", "sequence")


@dataclass(frozen=True, slots=True)
class Staged:
    """The staged rows of a batch, decoded once, in separate files for each kind."""

    storage: Storage
    stamp: str

    def folder(self, kind: str) -> str:
        """Return the folder of one kind of rows, relative to the lake."""
        return f"{_FOLDER}/{self.stamp}/kind={kind}"

    def read(self, kind: str) -> DataFrame:
        """Return the rows of one kind."""
        place = self.folder(kind)
        if not self.storage.exists(place):
            return table_of(self.storage.session, (), STAGED)
        reader = self.storage.session.read.schema(STAGED).option("basePath", self.storage.at(_FOLDER, self.stamp))
        return reader.option("__globPaths__", "false").parquet(self.storage.at(place))

    def files(self, kind: str) -> WrittenFiles:
        """Return the files of one kind."""
        return LakeTable(self.storage.session, self.storage.at(_FOLDER), STAGED).found(f"{self.stamp}/kind={kind}")

    def remove(self) -> None:
        """Delete the staged files, including those of interrupted batches."""
        self.storage.delete(_FOLDER)


def stage(storage: Storage, paths: Collection[str], stamp: str) -> Staged:
    """Decode segments on the executors and write their rows to the staging folder. ``paths``: full paths."""
    session = storage.session
    if not paths:
        return Staged(storage, stamp)
    segments = session.read.format("binaryFile").option("__globPaths__", "false").load(list(paths))
    rows = segments.select("path", "content").mapInArrow(batches, STAGED)
    place = storage.at(_FOLDER, stamp)
    rows.write.mode("overwrite").partitionBy("kind", "date", "bucket").parquet(place)
    return Staged(storage, stamp)


def samples(rows: DataFrame, polls: DataFrame) -> DataFrame:
    """Return one row per queue and poll without duplicates, for staged rows that belong to these polls."""
    kept = rows.join(polls.select(*LINE), [*LINE], "left_semi").select(*SAMPLES.fieldNames())
    return kept.dropDuplicates([*LINE, "queue"])


def polls(rows: DataFrame, known: DataFrame) -> DataFrame:
    """Return one row per poll with queues, without duplicates and without polls that the lake has."""
    waits = F.arrays_zip(F.col("line.wait").alias("event"), F.col("line.sessions").alias("sessions"))
    found = rows.where("line.queues > 0").dropDuplicates([*LINE]).join(known.select(*LINE), [*LINE], "left_anti")
    return found.withColumns({"queues": F.col("line.queues"), "waits": waits}).select(*POLLS.fieldNames())


def operations(rows: DataFrame) -> DataFrame:
    """Return one row per line about an operation. An operation may have several lines."""
    flat = rows.select("line.operation.*", F.col("sequence").alias("written"), "target", "date", "bucket")
    return flat.select(*OPERATIONS.fieldNames())


def last_state(operations: DataFrame) -> DataFrame:
    """Return each operation once, in its latest state."""
    order = F.struct(F.coalesce("ended_at", F.lit(0.0)), F.col("written"))
    whole = F.struct(*(name for name in OPERATIONS.fieldNames() if name not in ("id", "target")))
    found = operations.groupBy("target", "id").agg(F.max_by(whole, order).alias("o"))
    return found.select("target", "id", "o.*").select(*OPERATIONS.fieldNames())


def bad(rows: DataFrame) -> DataFrame:
    """Return the unusable lines and parts: file, place, text and reason. ``date`` is today."""
    flat = rows.select("line.file", "line.place", "line.text", "line.reason", "target", "bucket")
    return flat.withColumn("date", F.current_date()).select(*BAD.fieldNames())


def bad_files(session: SparkSession, files: Sequence[tuple[str, str]]) -> DataFrame:
    """Return rows like ``unusable_lines`` for whole files, each with its reason."""
    nobody = {"place": 0, "target": "", "bucket": bucket("")}
    rows = [{"file": file, "reason": reason, **nobody} for file, reason in files]
    return table_of(session, rows, BAD).withColumn("date", F.current_date())


def hours(polls: DataFrame, known: DataFrame) -> DataFrame:
    """Return the hours that polls affect, and how many recorders (with different zones) watched each.

    ``known``: polls in the lake.
    """
    hour = start(F.col("sampled_at"), HOUR_S).alias("hour")
    columns = ("target", hour, "recorder", "zone")
    touched = polls.where("line.queues > 0").select(*columns, F.lit(1).alias("new"))
    before = known.select(*columns, F.lit(0).alias("new"))
    each = touched.unionByName(before).groupBy("target", "hour")
    found = each.agg(F.sum("new").alias("polls"), F.countDistinct("recorder", "zone").alias("recorders"))
    return found.where("polls > 0")
