"""What is normal: the median of each figure for each hour of the week, and how far it usually strays."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from qmon.pipeline.lake.schema import BUCKETS

# Fewer readings of an hour of the week than this are not enough history.
WEEKS: Final = 4
# An hour counts as a reading where half of it was watched and quiet.
_WATCHED_S: Final = 1800.0
# Each figure of a queue: what is added up, and the seconds that it is divided by.
FIGURES: Final[dict[str, tuple[str, str]]] = {
    "push_rate": ("pushed", "flow_s"),
    "pop_rate": ("popped", "flow_s"),
    "complete_rate": ("completed", "flow_s"),
    "ready": ("ready_s", "ready_known_s"),
    "in_progress": ("in_progress_s", "in_progress_known_s"),
    "oldest_s": ("oldest_s", "oldest_known_s"),
}
VERSION: Final = 1


def zones_of(minutes: DataFrame, stated: Mapping[str, str]) -> dict[str, str]:
    """The time zone of each target: as stated for it, as stated for all (under ``""``), else the newest recorded."""
    rows = minutes.groupBy("target").agg(F.max_by("zone", "start_at").alias("zone")).collect()
    return {row.target: stated.get(row.target) or stated.get("") or row.zone or "UTC" for row in rows}


def zoned(minutes: DataFrame, zones: Mapping[str, str]) -> DataFrame:
    """Minutes with the zone that counts for their target, whichever the machine had that recorded them."""
    known = minutes.sparkSession.createDataFrame(list(zones.items()), "target string, zone string")
    return minutes.drop("zone").join(F.broadcast(known), "target")


def readings(minutes: DataFrame, incidents: DataFrame) -> DataFrame:
    """One row a queue, figure and hour on the clock of the target's time zone, made of minutes outside incidents.

    The hour that summer time's end repeats is one reading of two hours; the one that its beginning skips is none.
    """
    troubled = incidents.select(
        "target", "queue", F.explode(F.sequence(_minute("start_at"), _minute("end_at"))).alias("minute")
    ).distinct()
    quiet = minutes.withColumn("minute", _minute("start_at")).join(troubled, ["target", "queue", "minute"], "left_anti")
    local = quiet.withColumn("local", F.from_utc_timestamp(F.timestamp_seconds("start_at"), F.col("zone")))
    hourly = local.groupBy("target", "queue", "zone", F.date_trunc("hour", "local").alias("hour")).agg(
        F.sum("seconds").alias("watched_s"), *(F.sum(name).alias(name) for name in _summed())
    )
    each = hourly.where(F.col("watched_s") >= _WATCHED_S).select(
        "target",
        "queue",
        "zone",
        (F.weekday("hour") * 24 + F.hour("hour")).alias("hour"),
        F.explode(F.array(*(_figure(name, *parts) for name, parts in FIGURES.items()))).alias("f"),
    )
    return each.select("target", "queue", "zone", "hour", "f.figure", "f.value").where("value is not null")


def baselines(readings: DataFrame, weeks: int = WEEKS) -> DataFrame:
    """``median`` and ``mad`` (median absolute deviation) of each hour of the week, where there are enough readings."""
    key = ["target", "queue", "zone", "figure", "hour"]
    middle = readings.groupBy(*key).agg(F.median("value").alias("median"), F.count(F.lit(1)).alias("readings"))
    strayed = readings.join(middle.where(F.col("readings") >= weeks), key)
    return strayed.groupBy(*key, "median", "readings").agg(
        F.median(F.abs(F.col("value") - F.col("median"))).alias("mad")
    )


def with_place(usual: DataFrame) -> DataFrame:
    """As the table ``baselines`` has it, as of today."""
    place = {"date": F.current_date(), "bucket": F.pmod(F.crc32("target"), F.lit(BUCKETS)).cast("int")}
    return usual.withColumns(place)


def as_file(rows: Iterable[Row], zones: Mapping[str, str]) -> str:
    """The small file that the dashboard loads: target, queue, figure, hour of the week → median, mad, readings.

    ``zones``: of each target; ``zone`` in the file is that of most of them. Hour 0 is Monday 00:00.
    """
    queues: dict[str, Any] = {}
    for row in sorted(rows, key=lambda r: (r.target, r.queue, r.figure, r.hour)):
        figure = queues.setdefault(row.target, {}).setdefault(row.queue, {}).setdefault(row.figure, {})
        figure[str(row.hour)] = [row.median, row.mad, row.readings]
    common = Counter(sorted(zones.values())).most_common(1)
    each = dict(sorted(zones.items()))
    whole = {"version": VERSION, "zone": common[0][0] if common else "UTC", "zones": each, "queues": queues}
    return json.dumps(whole, separators=(",", ":")) + "\n"


def _minute(column: str) -> Column:
    return F.floor(F.col(column) / 60)


def _summed() -> list[str]:
    return sorted({name for parts in FIGURES.values() for name in parts})


def _figure(name: str, total: str, seconds: str) -> Column:
    value = F.when(F.col(seconds) > 0, F.col(total) / F.col(seconds))
    return F.struct(F.lit(name).alias("figure"), value.alias("value"))
