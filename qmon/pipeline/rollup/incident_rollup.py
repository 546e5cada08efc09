"""Joins runs of trouble to incidents. Runs of one queue that are at most two minutes apart are one incident.

Runs are stored per hour, one row per run and verdict. Runs of consecutive hours are joined by the same rule, because
neighbouring samples of a run are at most two minutes apart. So an incident that continues after midnight is one
incident.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from qmon.recording.history.incidents import JOIN_WITHIN_S


def incidents_from_runs(runs: DataFrame) -> DataFrame:
    """Return one row per incident: ``start_at``, ``end_at`` (seconds since the epoch), cause, proof and peak.

    The cause is the worst verdict. Among equally bad verdicts, the cause is the most frequent verdict, then the first
    by name. ``codes``: all verdicts, sorted by the same criteria. ``start_at``: time of the first evidence.
    """
    key = ("target", "queue")
    by_verdict = _merge_by_verdict(_number_runs(runs, *key), *key)
    order = F.struct(-F.col("severity"), -F.col("samples"), F.col("code"))
    return (
        by_verdict.groupBy(*key, "stretch")
        .agg(
            F.min("since_at").alias("start_at"),
            F.min("first_at").alias("first_at"),
            F.max("last_at").alias("end_at"),
            F.max("severity").alias("severity"),
            F.sum("samples").alias("samples"),
            F.min_by("code", order).alias("cause"),
            F.min_by("proof", order).alias("proof"),
            F.transform(F.sort_array(F.collect_list(F.struct(order, "code"))), lambda each: each.code).alias("codes"),
            F.max("peak_ready").alias("peak_ready"),
            F.min_by("peak_at", _peak_order()).alias("peak_at"),
        )
        .drop("stretch")
    )


def with_operations(incidents: DataFrame, operations: DataFrame) -> DataFrame:
    """Add the column ``operations`` to incidents.

    These operations began during the incident. They were on the queue of the incident or on the whole target. The
    oldest comes first.
    """
    done = operations.select(
        F.col("target").alias("t"),
        F.col("queue").alias("q"),
        F.struct("started_at", "kind", "state", "by", "reason", "done").alias("operation"),
    )
    inside = (
        (F.col("t") == F.col("target"))
        & F.coalesce("q", F.lit("")).isin("", F.col("queue"))
        & F.col("operation.started_at").between(F.col("start_at"), F.col("end_at") + JOIN_WITHIN_S)
    )
    columns = [F.col(name) for name in incidents.columns]
    joined = incidents.join(done, inside, "left").groupBy(*columns)
    return joined.agg(F.sort_array(F.collect_list("operation")).alias("operations"))


def _number_runs(stretches: DataFrame, *key: str) -> DataFrame:
    """Add the number of the run that each row belongs to. Runs are numbered for each key."""
    before = Window.partitionBy(*key).orderBy("first_at", "last_at").rowsBetween(Window.unboundedPreceding, -1)
    until = F.max("last_at").over(before)
    begins = F.when(until.isNull() | (F.col("first_at") - until > JOIN_WITHIN_S), 1).otherwise(0)
    so_far = Window.partitionBy(*key).orderBy("first_at", "last_at").rowsBetween(Window.unboundedPreceding, 0)
    return stretches.withColumn("begins", begins).withColumn("stretch", F.sum("begins").over(so_far)).drop("begins")


def _peak_order() -> Column:
    """Return the sort key of peaks: the highest first, then the earliest, and unknown peaks last."""
    return F.struct(F.coalesce(-F.col("peak_ready"), F.lit(float("inf"))), F.col("peak_at"))


def _merge_by_verdict(numbered: DataFrame, *key: str) -> DataFrame:
    return numbered.groupBy(*key, "stretch", "code").agg(
        F.max("severity").alias("severity"),
        F.min("first_at").alias("first_at"),
        F.max("last_at").alias("last_at"),
        F.min("since_at").alias("since_at"),
        F.sum("samples").alias("samples"),
        F.min_by("proof", "proof_at").alias("proof"),
        F.min("proof_at").alias("proof_at"),
        F.max("peak_ready").alias("peak_ready"),
        F.min_by("peak_at", _peak_order()).alias("peak_at"),
    )
