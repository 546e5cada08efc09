"""From lines to samples, waits and operations, each checked against its schema; bad lines apart, with their reason."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from qmon.pipeline.lines import batches
from qmon.pipeline.schema import FIGURES, LINE, LINES, OPERATIONS, SAMPLES, STAGED, WAITS
from qmon.recording.lines import VERSION


def lines_of(segments: DataFrame) -> DataFrame:
    """The lines of whole segments (``path``, ``content``), decompressed where the executors are."""
    return segments.select("path", "content").mapInArrow(batches, LINES)


def staged(lines: DataFrame) -> DataFrame:
    """Lines as values. A row with a ``reason`` is bad; only such a row keeps its text."""
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "broken"}
    read = lines.withColumn("line", F.from_json("text", LINE, options))
    at = F.coalesce(F.col("line.figures.sampled_at"), F.col("line.operation.started_at"))
    whole = F.coalesce(at > 0, F.lit(False)) & F.col("line.r").isNotNull() & F.col("line.n").isNotNull()
    even = F.lit(True)
    for name in FIGURES:
        size = F.size(F.coalesce(f"line.figures.{name}", F.array()))
        even = even & ((size == 0) | (size == F.size(F.coalesce("line.figures.queue", F.array()))))
    wrong = (
        F.when(F.col("reason").isNotNull(), F.col("reason"))
        .when(F.col("line.v") > VERSION, F.concat(F.lit("written by a newer qmon, format "), F.col("line.v")))
        .when(F.col("line.broken").isNotNull(), "not JSON, or values of the wrong kind")
        .when(~whole, "the recorder, the number or the time is missing")
        .when(~even, "its figures are not one for each queue")
        .when(F.length("target") == 0, "the target is not known: neither the session's line nor the folder names it")
    )
    bad = F.col("reason").isNotNull()
    shown = read.withColumn("reason", wrong)
    return shown.select(
        "file", "place", "target", "zone",
        F.when(bad, F.substring("text", 1, 200)).alias("text"), "reason",
        *(F.when(~bad, F.col(f"line.{name}")).alias(name) for name in STAGED.fieldNames()[6:]),
    )  # fmt: skip


def samples(rows: DataFrame) -> DataFrame:
    """One row a queue and poll, of staged lines."""
    figures = rows.where("figures is not null")
    columns = [F.coalesce(f"figures.{name}", F.array().cast(_array(name))).alias(name) for name in FIGURES]
    each = figures.select(
        F.col("r").alias("recorder"), F.col("n").alias("sequence"), F.col("figures.sequence").alias("poll"),
        F.col("figures.sampled_at").alias("sampled_at"), "zone", "target",
        F.explode(F.arrays_zip(*columns)).alias("q"),
    )  # fmt: skip
    flat = each.select(
        "recorder", "sequence", "poll", "sampled_at", "zone", "target", "q.*", _date(F.col("sampled_at")).alias("date")
    ).where("queue is not null")
    return flat.select(*SAMPLES.fieldNames())


def waits(rows: DataFrame) -> DataFrame:
    """One row a poll and kind of wait, of staged lines."""
    columns = ("wait", "sessions")
    arrays = [F.coalesce(f"figures.{name}", F.array().cast("array<string>")).alias(name) for name in columns]
    arrays[1] = F.coalesce("figures.sessions", F.array().cast("array<double>")).alias("sessions")
    each = rows.where("figures is not null").select(
        F.col("r").alias("recorder"), F.col("n").alias("sequence"), F.col("figures.sampled_at").alias("sampled_at"),
        F.array_max("figures.span_s").alias("span_s"), "target",
        _date(F.col("figures.sampled_at")).alias("date"), F.explode(F.arrays_zip(*arrays)).alias("w"),
    )  # fmt: skip
    flat = each.withColumn("event", F.col("w.wait")).withColumn("sessions", F.col("w.sessions"))
    return flat.select(*WAITS.fieldNames())


def operations(rows: DataFrame) -> DataFrame:
    """One row a line about an operation; the same operation may have several."""
    flat = rows.where("operation is not null").select(
        "operation.*", F.col("n").alias("written"), "target", _date(F.col("operation.started_at")).alias("date")
    )
    return flat.select(*OPERATIONS.fieldNames())


def last_said(operations: DataFrame) -> DataFrame:
    """Each operation once, as it stood last."""
    order = F.struct(F.coalesce("ended_at", F.lit(0.0)), F.col("written"))
    whole = F.struct(*(name for name in OPERATIONS.fieldNames() if name not in ("id", "target")))
    found = operations.groupBy("target", "id").agg(F.max_by(whole, order).alias("o"))
    return found.select("target", "id", "o.*").select(*OPERATIONS.fieldNames())


def bad(rows: DataFrame) -> DataFrame:
    """The lines and stretches that could not be used: file, place, text and reason."""
    return rows.where("reason is not null").select("file", "place", "text", "reason")


def _date(at: Column) -> Column:
    return F.date_format(F.timestamp_seconds(at), "yyyy-MM-dd")


def _array(name: str) -> str:
    return f"array<{FIGURES[name].simpleString()}>"
