"""From samples to measured time: no sample counted twice, no rate across a gap, a restart or a step of the clock."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

LONGEST_SPAN_S: Final = 150.0
"""A poll stands for no more time than this: 2.5 times the longest interval, as on the dashboard."""
_KEY: Final = ("target", "recorder", "sequence")


def unique(samples: DataFrame) -> DataFrame:
    """Each queue once for each ``(recorder, sequence)`` of a target, however often a segment was copied."""
    return samples.dropDuplicates([*_KEY, "queue"])


def rates(samples: DataFrame) -> DataFrame:
    """Samples with the seconds they stand for, and what moved in them, of one recorder for each minute.

    The recorder has already seen what only order tells: after a restart, a reset of counters or a gap there is no
    ``span_s``, and such a sample stands for no time. Where several recorders watched a target in the same minute, the
    one counts that watched the longest; of those that watched as long, the first by name.
    """
    sane = (F.col("span_s") > 0) & (F.col("span_s") <= LONGEST_SPAN_S)
    measured = samples.withColumn("span_s", F.when(sane, F.col("span_s")).otherwise(0.0))
    flowing = (F.col("span_s") > 0) & F.col("pushed").isNotNull() & F.col("popped").isNotNull()
    measured = measured.select(
        *(c for c in samples.columns if c not in ("span_s", "pushed", "popped", "completed")),
        "span_s",
        F.when(flowing, F.col("span_s")).otherwise(0.0).alias("flow_s"),
        *(F.when(flowing, F.col(name)).alias(name) for name in ("pushed", "popped", "completed")),
        start_of(F.col("sampled_at"), 60).alias("minute"),
    )
    return _one_recorder(measured)


def start_of(at: Column, seconds: int) -> Column:
    """Where the stretch of so many seconds begins that a moment lies in."""
    return F.floor(at / seconds).cast("double") * seconds


def _one_recorder(measured: DataFrame) -> DataFrame:
    place = ["target", "queue", "minute"]
    watched = measured.groupBy(*place, "recorder").agg(F.sum("span_s").alias("watched_s"))
    first = Window.partitionBy(*place).orderBy(F.round("watched_s", 3).desc(), "recorder")
    best = watched.withColumn("rank", F.row_number().over(first)).where("rank = 1")
    return measured.join(best.select(*place, "recorder"), [*place, "recorder"], "left_semi")
