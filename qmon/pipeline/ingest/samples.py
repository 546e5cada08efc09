"""From segments to samples, waits and operations, checked against their schemas; bad lines apart, with their reason."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from qmon.pipeline.ingest.columns import batches
from qmon.pipeline.lake.schema import OPERATIONS, STAGED, WAITS
from qmon.pipeline.rollup.bundles import KEY, UNBUNDLED, unbundling

_LINE = ("target", "recorder", "sequence")


def staged(segments: DataFrame) -> DataFrame:
    """Whole segments (``path``, ``content``) as rows, made where the executors are."""
    return segments.select("path", "content").mapInArrow(batches, STAGED)


def samples(rows: DataFrame, *, gathered: bool) -> DataFrame:
    """One row a queue and poll, of staged rows; with ``source`` and ``place``.

    ``gathered``: those of a target and day come together, ready to be written; of bundles that costs little.
    """
    found = bundles(rows)
    if gathered:
        found = found.hint("rebalance", *KEY)
    return found.select(*KEY, "bundle").mapInArrow(unbundling, UNBUNDLED)


def bundles(rows: DataFrame) -> DataFrame:
    """The samples as they are staged: ``target``, ``date``, ``share``, ``bundle``."""
    return rows.where("kind = 'bundle'").select(*KEY, "share", "bundle")


def doubled(rows: DataFrame, known: DataFrame) -> DataFrame:
    """``source`` and ``place`` of staged lines that count no more: there are others with their recorder and number.

    Lines, not samples, are compared: there are as many times fewer of them as a target has queues. ``known``: samples
    that the lake has.
    """
    lines = rows.where("kind = 'poll' and queues > 0").select(*_LINE, "source", "place")
    first = Window.partitionBy(*_LINE).orderBy("source", "place")
    again = lines.withColumn("rank", F.row_number().over(first)).where("rank > 1")
    old = known.select(*_LINE).join(lines.select(*_LINE), [*_LINE], "left_semi").distinct()
    return again.select("source", "place").union(lines.join(old, [*_LINE], "left_semi").select("source", "place"))


def waits(rows: DataFrame) -> DataFrame:
    """One row a poll and kind of wait, of staged rows."""
    events = F.coalesce("wait", F.array().cast("array<string>")).alias("wait")
    sessions = F.coalesce("sessions", F.array().cast("array<double>")).alias("sessions")
    each = rows.where("kind = 'poll'").select(
        "recorder", "sequence", "sampled_at", "span_s", "target", "date",
        F.explode(F.arrays_zip(events, sessions)).alias("w"),
    )  # fmt: skip
    return each.withColumn("event", F.col("w.wait")).withColumn("sessions", F.col("w.sessions")).select(
        *WAITS.fieldNames()
    )  # fmt: skip


def operations(rows: DataFrame) -> DataFrame:
    """One row a line about an operation; the same operation may have several."""
    flat = rows.where("kind = 'operation'").select("operation.*", F.col("sequence").alias("written"), "target", "date")
    return flat.select(*OPERATIONS.fieldNames())


def last_state(operations: DataFrame) -> DataFrame:
    """Each operation once, as it stood last."""
    order = F.struct(F.coalesce("ended_at", F.lit(0.0)), F.col("written"))
    whole = F.struct(*(name for name in OPERATIONS.fieldNames() if name not in ("id", "target")))
    found = operations.groupBy("target", "id").agg(F.max_by(whole, order).alias("o"))
    return found.select("target", "id", "o.*").select(*OPERATIONS.fieldNames())


def bad(rows: DataFrame) -> DataFrame:
    """The lines and stretches that could not be used: file, place, text and reason."""
    return rows.where("kind = 'bad'").select("file", "place", "text", "reason")


def touched() -> Column:
    """Which staged rows touch a day of their target."""
    return (F.col("kind") == "operation") | (F.col("queues") > 0)
