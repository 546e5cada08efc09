"""A batch's segments as rows, checked against their schemas; bad lines apart, with their reason."""

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
# What tells a line apart, whichever file it is in.
LINE = ("target", "recorder", "sequence")


@dataclass(frozen=True, slots=True)
class Staged:
    """The rows of a batch, in files of their own for each kind, read and decoded once."""

    storage: Storage
    stamp: str

    def folder(self, kind: str) -> str:
        """Where the rows of one kind are below the lake."""
        return f"{_FOLDER}/{self.stamp}/kind={kind}"

    def read(self, kind: str) -> DataFrame:
        """The rows of one kind."""
        place = self.folder(kind)
        if not self.storage.exists(place):
            return table_of(self.storage.session, (), STAGED)
        reader = self.storage.session.read.schema(STAGED).option("basePath", self.storage.at(_FOLDER, self.stamp))
        return reader.option("__globPaths__", "false").parquet(self.storage.at(place))

    def files(self, kind: str) -> WrittenFiles:
        """The files of one kind."""
        return LakeTable(self.storage.session, self.storage.at(_FOLDER), STAGED).found(f"{self.stamp}/kind={kind}")

    def remove(self) -> None:
        """Remove what is left of it, and of batches that were cut short."""
        self.storage.delete(_FOLDER)


def stage(storage: Storage, paths: Collection[str], stamp: str) -> Staged:
    """Decode whole segments where the executors are, and write down what is in them. ``paths``: whole ones."""
    session = storage.session
    if not paths:
        return Staged(storage, stamp)
    segments = session.read.format("binaryFile").option("__globPaths__", "false").load(list(paths))
    rows = segments.select("path", "content").mapInArrow(batches, STAGED)
    place = storage.at(_FOLDER, stamp)
    rows.write.mode("overwrite").partitionBy("kind", "date", "bucket").parquet(place)
    return Staged(storage, stamp)


def samples(rows: DataFrame, polls: DataFrame) -> DataFrame:
    """One row a queue and poll, each once, of staged rows that these polls have."""
    kept = rows.join(polls.select(*LINE), [*LINE], "left_semi").select(*SAMPLES.fieldNames())
    return kept.dropDuplicates([*LINE, "queue"])


def polls(rows: DataFrame, known: DataFrame) -> DataFrame:
    """One row a poll with queues, each line once, without those that the lake has."""
    waits = F.arrays_zip(F.col("line.wait").alias("event"), F.col("line.sessions").alias("sessions"))
    found = rows.where("line.queues > 0").dropDuplicates([*LINE]).join(known.select(*LINE), [*LINE], "left_anti")
    return found.withColumns({"queues": F.col("line.queues"), "waits": waits}).select(*POLLS.fieldNames())


def operations(rows: DataFrame) -> DataFrame:
    """One row a line about an operation; the same operation may have several."""
    flat = rows.select("line.operation.*", F.col("sequence").alias("written"), "target", "date", "bucket")
    return flat.select(*OPERATIONS.fieldNames())


def last_state(operations: DataFrame) -> DataFrame:
    """Each operation once, as it stood last."""
    order = F.struct(F.coalesce("ended_at", F.lit(0.0)), F.col("written"))
    whole = F.struct(*(name for name in OPERATIONS.fieldNames() if name not in ("id", "target")))
    found = operations.groupBy("target", "id").agg(F.max_by(whole, order).alias("o"))
    return found.select("target", "id", "o.*").select(*OPERATIONS.fieldNames())


def bad(rows: DataFrame) -> DataFrame:
    """The lines and stretches that could not be used: file, place, text and reason; ``date``: of today."""
    flat = rows.select("line.file", "line.place", "line.text", "line.reason", "target", "bucket")
    return flat.withColumn("date", F.current_date()).select(*BAD.fieldNames())


def bad_files(session: SparkSession, files: Sequence[tuple[str, str]]) -> DataFrame:
    """The same of whole files, each with the reason."""
    nobody = {"place": 0, "target": "", "bucket": bucket("")}
    rows = [{"file": file, "reason": reason, **nobody} for file, reason in files]
    return table_of(session, rows, BAD).withColumn("date", F.current_date())


def hours(polls: DataFrame, known: DataFrame) -> DataFrame:
    """The hours of targets that polls touch, and how many recorders (with their zones) watched each.

    ``known``: polls of the lake.
    """
    hour = start(F.col("sampled_at"), HOUR_S).alias("hour")
    columns = ("target", hour, "recorder", "zone")
    touched = polls.where("line.queues > 0").select(*columns, F.lit(1).alias("new"))
    before = known.select(*columns, F.lit(0).alias("new"))
    each = touched.unionByName(before).groupBy("target", "hour")
    found = each.agg(F.sum("new").alias("polls"), F.countDistinct("recorder", "zone").alias("recorders"))
    return found.where("polls > 0")
