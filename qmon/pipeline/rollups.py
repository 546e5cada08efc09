"""From rates to minutes, hours and days: sums of what moved and of time, and percentiles weighted by time."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from qmon.pipeline.rates import start_of
from qmon.pipeline.schema import ROLLUPS

GRAINS: Final = {"minutes": 60, "hours": 3600, "days": 86400}
"""Seconds of each."""
SHARES: Final = (0.5, 0.95, 0.99)


def rollup(measured: DataFrame, seconds: int) -> DataFrame:
    """Sums over stretches of ``seconds``, from rates; a sample's interval belongs to the stretch that it ends in.

    Percentiles come from the samples themselves, each as often as it lasted milliseconds, with a straight line between
    neighbours (Spark's exact ``percentile``): never from other percentiles.
    """
    stretch = measured.withColumn("at", start_of(F.col("sampled_at"), seconds))
    weight = F.round(F.col("span_s") * 1000).cast("long")
    shares = F.array(*(F.lit(share) for share in SHARES))
    summed = stretch.withColumn("ms", weight).groupBy("target", "date", "queue", "at").agg(
        F.max("zone").alias("zone"),
            F.count(F.lit(1)).alias("samples"),
        F.sum("span_s").alias("seconds"),
        F.sum("flow_s").alias("flow_s"),
        *(F.sum(name).alias(name) for name in ("pushed", "popped", "completed")),
        *_over_time("ready", "ready"),
        F.max_by("ready", F.when(F.col("ready").isNotNull(), F.col("sampled_at"))).alias("ready_last"),
        *_over_time("oldest", "oldest_s"),
        *_over_time("in_progress", "in_progress"),
        F.max_by("dead", F.when(F.col("dead").isNotNull(), F.col("sampled_at"))).alias("dead_last"),
        F.percentile("ready", shares, F.col("ms")).alias("ready_shares"),
        F.percentile("oldest_s", shares, F.col("ms")).alias("oldest_shares"),
    )  # fmt: skip
    for name in ("ready", "oldest"):
        for place, share in enumerate(SHARES):
            summed = summed.withColumn(f"{name}_p{share * 100:.0f}", F.col(f"{name}_shares")[place])
    return summed.select(*(F.col(field.name).cast(field.dataType) for field in ROLLUPS.fields))


def _over_time(name: str, figure: str) -> tuple[Column, Column, Column]:
    value, span = F.col(figure), F.col("span_s")
    return (
        F.sum(value * span).alias(f"{name}_s"),
        F.sum(F.when(value.isNotNull(), span)).alias(f"{name}_known_s"),
        F.max(F.when(span > 0, value)).alias(f"{name}_max"),
    )
