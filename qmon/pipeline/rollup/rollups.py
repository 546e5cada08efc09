"""From samples to minutes, from minutes to hours, from hours to days: sums of what moved and of time.

The recorder has already seen what only order tells: after a restart, a reset of counters or a gap there is no
``poll_s`` and no ``span_s``, and such a sample stands for no time. A sample's time belongs to the stretch in which it
ends.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from qmon.pipeline.lake.schema import BUCKETS, MINUTES, ROLLUPS, TAILED
from qmon.pipeline.rollup.histograms import histograms, rounded, weights
from qmon.recording.history.buckets import LONGEST_SPAN_S

MINUTE_S: Final = 60
HOUR_S: Final = 3600
DAY_S: Final = 86400
_KNOWN: Final = {"ready": "ready", "oldest": "oldest_s", "in_progress": "in_progress"}
"""Figures whose mean over time can be told: name in a rollup → column of a sample."""
_LAST: Final = {"ready_last": "ready", "dead_last": "dead"}
_MOVED: Final = ("pushed", "popped", "completed")
_WHO: Final = ("target", "queue", "start_at")
_SUMMED: Final = (
    "samples", "seconds", "flow_s", *_MOVED, *(f"{name}_{end}" for name in _KNOWN for end in ("s", "known_s")),
)  # fmt: skip


def start(at: Column, seconds: int) -> Column:
    """Where the stretch of so many seconds begins that a time belongs to."""
    return F.floor(at / seconds) * F.lit(float(seconds))


def minutes(samples: DataFrame) -> DataFrame:
    """One row a queue and minute (``schema.MINUTES``), from unique samples.

    ``poll_s`` is what a depth or an age stands for, ``span_s`` what the counters moved in: those of a queue that are
    read in every tenth poll span ten polls. Of several recorders the one counts that watched the minute longest, of
    those the first by name.
    """
    watched = _watched()
    flowing = (F.col("span_s") > 0) & F.col("pushed").isNotNull() & F.col("popped").isNotNull()
    sums = [F.count(F.lit(1)).alias("samples"), F.sum(watched).alias("seconds")]
    sums.append(F.sum(F.when(flowing, F.col("span_s")).otherwise(0.0)).alias("flow_s"))
    sums += [F.sum(F.when(flowing, F.col(name))).alias(name) for name in _MOVED]
    for name, column in _KNOWN.items():
        known = F.col(column).isNotNull()
        sums.append(F.sum(F.when(known, F.col(column) * watched)).alias(f"{name}_s"))
        sums.append(F.sum(F.when(known, watched)).alias(f"{name}_known_s"))
        sums.append(F.max(F.when(watched > 0, F.col(column))).alias(f"{name}_max"))
    for name, column in _LAST.items():
        sums.append(F.max_by(column, F.when(F.col(column).isNotNull(), F.col("sampled_at"))).alias(name))
    key = ("target", "queue", start(F.col("sampled_at"), MINUTE_S).alias("start_at"))
    each = samples.groupBy(*key, "recorder", "zone").agg(*sums)
    longest = F.struct(-F.round("seconds", 3), "recorder")
    whole = F.struct(*(name for name in each.columns if name not in _WHO))
    best = each.groupBy(*_WHO).agg(F.min_by(whole, longest).alias("of")).select(*_WHO, "of.*")
    return best.withColumns({"date": _date(), "bucket": _bucket()}).select(*MINUTES.fieldNames())


def hours(minutes: DataFrame, samples: DataFrame) -> DataFrame:
    """One row a queue and hour (``schema.ROLLUPS``), from its minutes and the samples that count in them."""
    pairs = [
        F.struct(F.lit(n).alias("figure"), rounded(F.col(_KNOWN[name])).alias("value")) for n, name in enumerate(TAILED)
    ]
    each = samples.where(_watched() > 0).select(
        "target", "queue", start(F.col("sampled_at"), HOUR_S).alias("start_at"),
        F.round(_watched() * 1000).cast("long").alias("ms"), F.explode(F.array(*pairs)).alias("e"),
    )  # fmt: skip
    weighted = each.select(*_WHO, "ms", "e.*").where("value is not null and ms > 0")
    return _together(minutes, weighted, HOUR_S)


def days(hours: DataFrame) -> DataFrame:
    """One row a queue and day, from its hours."""
    inside = hours.withColumn("start_at", start(F.col("start_at"), DAY_S))
    return _together(hours, weights(inside, _WHO), DAY_S)


def period(hours: DataFrame) -> DataFrame:
    """One row a queue over all of these hours, without a time of its own."""
    one = hours.withColumn("start_at", F.lit(0.0))
    return _together(hours, weights(one, _WHO), None).drop("start_at", "date", "bucket", "zone")


def counting(samples: DataFrame, minutes: DataFrame) -> DataFrame:
    """The samples of the recorders that count in each minute."""
    of = minutes.select("target", "queue", "recorder", F.col("start_at").alias("minute"))
    minute = samples.withColumn("minute", start(F.col("sampled_at"), MINUTE_S))
    return minute.join(of, ["target", "queue", "recorder", "minute"], "left_semi").drop("minute")


def _together(finer: DataFrame, weighted: DataFrame, seconds: int | None) -> DataFrame:
    """Stretches added up to longer ones. ``weighted``: for ``histograms``, with the start of the longer one."""
    begins = F.lit(0.0) if seconds is None else start(F.col("start_at"), seconds)
    sums = [F.sum(name).alias(name) for name in _SUMMED]
    sums += [F.max(f"{name}_max").alias(f"{name}_max") for name in _KNOWN]
    newest = {name: F.when(F.col(name).isNotNull(), F.col("start_at")) for name in _LAST}
    sums += [F.max_by(name, at).alias(name) for name, at in newest.items()]
    sums.append(F.max_by("zone", "start_at").alias("zone"))
    found = finer.groupBy("target", "queue", begins.alias("start_at")).agg(*sums)
    with_tails = found.join(histograms(weighted, _WHO), [*_WHO], "left")
    return with_tails.withColumns({"date": _date(), "bucket": _bucket()}).select(*ROLLUPS.fieldNames())


def _watched() -> Column:
    """The seconds that a sample stands for."""
    sane = (F.col("poll_s") > 0) & (F.col("poll_s") <= LONGEST_SPAN_S)
    return F.when(sane, F.col("poll_s")).otherwise(0.0)


def _date() -> Column:
    return F.to_date(F.timestamp_seconds("start_at"))


def _bucket() -> Column:
    """As ``schema.bucket`` has it."""
    return F.pmod(F.crc32("target"), F.lit(BUCKETS)).cast("int")
