"""From archived messages to how long each waited and was worked on: the whole way of a message, where readings of a
queue show its oldest alone.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from qmon.pipeline.lake.schema import PERCENTILES

# A percentile is the value of a message whose place among all is at most one in so many from the one asked for.
_ACCURACY: Final = 10_000


def waited(messages: DataFrame) -> DataFrame:
    """One row a queue, of archived messages (``messages.MESSAGES``).

    ``messages``: how many; ``again``: the share of those whose attempts are known that took more than one;
    ``wait_p50`` to ``wait_p99``: seconds from being pushed to being popped; ``work_p50`` to ``work_p99``: seconds from
    then to completion; null where the design does not keep these times.
    """
    wait, work = F.col("started_at") - F.col("enqueued_at"), F.col("completed_at") - F.col("started_at")
    found = messages.groupBy("target", "queue").agg(
        F.count(F.lit(1)).alias("messages"),
        F.avg((F.col("attempts") > 1).cast("double")).alias("again"),
        _tail(wait).alias("wait"),
        _tail(work).alias("work"),
    )
    tails = [
        F.get(name, F.lit(place)).alias(f"{name}_{p}")
        for name in ("wait", "work")
        for place, p in enumerate(PERCENTILES)
    ]
    return found.select("target", "queue", "messages", "again", *tails)


def _tail(seconds: Column) -> Column:
    return F.percentile_approx(seconds, list(PERCENTILES.values()), _ACCURACY)
