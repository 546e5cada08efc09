"""Computes wait and work times from archived messages.

These times cover every message, while polls of a queue cover only its oldest message.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from qmon.pipeline.lake.schema import PERCENTILES

# Accuracy of percentiles: the rank is off by at most 1 divided by this number.
_ACCURACY: Final = 10_000


def message_times(messages: DataFrame) -> DataFrame:
    """Return one row per queue from archived messages (``messages.MESSAGES``).

    ``messages``: number of messages. ``again``: share of messages that needed more than one attempt, among messages
    with a known number of attempts. ``wait_p50`` to ``wait_p99``: seconds from push to pop. ``work_p50`` to
    ``work_p99``: seconds from pop to completion. A time is null if the design does not store it.
    """
    wait, work = F.col("started_at") - F.col("enqueued_at"), F.col("completed_at") - F.col("started_at")
    found = messages.groupBy("target", "queue").agg(
        F.count(F.lit(1)).alias("messages"),
        F.avg((F.col("attempts") > 1).cast("double")).alias("again"),
        _percentiles(wait).alias("wait"),
        _percentiles(work).alias("work"),
    )
    tails = [
        F.get(name, F.lit(place)).alias(f"{name}_{p}")
        for name in ("wait", "work")
        for place, p in enumerate(PERCENTILES)
    ]
    return found.select("target", "queue", "messages", "again", *tails)


def _percentiles(seconds: Column) -> Column:
    return F.percentile_approx(seconds, list(PERCENTILES.values()), _ACCURACY)
