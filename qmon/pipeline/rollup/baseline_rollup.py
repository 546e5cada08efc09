"""Baselines: the median of each figure for each hour of the week, and the usual deviation from this median."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from qmon.model.queue_figures import BANDED_FIGURES
from qmon.recording.figure_rows.row_schema import BUCKETS

# An hour of the week has a baseline if it has at least this many readings.
MIN_READINGS: Final = 4

# An hour counts as a reading if at least this many of its seconds were watched and had no incident.
_WATCHED_S: Final = 1800.0

# Each figure of a queue: the column with the sum, and the column with the seconds to divide the sum by.
FIGURES: Final = {name: figure.lake_columns for name, figure in BANDED_FIGURES.items()}
VERSION: Final = 1


def zones_by_target(minutes: DataFrame, stated: Mapping[str, str]) -> dict[str, str]:
    """Return the zone of each target: its stated zone, or that of key ``""``, or the newest recorded zone."""
    rows = minutes.groupBy("target").agg(F.max_by("zone", "start_at").alias("zone")).collect()
    return {row.target: stated.get(row.target) or stated.get("") or row.zone or "UTC" for row in rows}


def with_target_zones(minutes: DataFrame, zones: Mapping[str, str]) -> DataFrame:
    """Return the minutes with the zone chosen for their target instead of the zone of the recording machine."""
    known = minutes.sparkSession.createDataFrame(list(zones.items()), "target string, zone string")
    return minutes.drop("zone").join(F.broadcast(known), "target")


def hourly_readings(minutes: DataFrame, incidents: DataFrame) -> DataFrame:
    """Return one row per queue, figure and local hour, from minutes outside incidents.

    If a queue had incidents in the same hour of the week at least ``MIN_READINGS`` times, these minutes count as usual:
    a queue that fills by day and is drained at night has no other values.

    The hour that is repeated at the end of summer time is one reading of two hours. The hour that is skipped at the
    start of summer time has no reading.
    """
    troubled = incidents.select(
        "target", "queue", F.explode(F.sequence(_minute_number("start_at"), _minute_number("end_at"))).alias("minute")
    ).distinct()
    local = minutes.withColumns(
        {
            "minute": _minute_number("start_at"),
            "local": F.from_utc_timestamp(F.timestamp_seconds("start_at"), F.col("zone")),
        }
    ).withColumns({"hour": F.date_trunc("hour", "local"), "hour_of_week": F.weekday("local") * 24 + F.hour("local")})
    marked = local.join(troubled.withColumn("troubled", F.lit(True)), ["target", "queue", "minute"], "left")
    again = (
        marked.where("troubled")
        .groupBy("target", "queue", "hour_of_week")
        .agg(F.count_distinct("hour").alias("times"))
        .where(F.col("times") >= MIN_READINGS)
    )
    usual = marked.join(again, ["target", "queue", "hour_of_week"], "left").where(
        "troubled is null or times is not null"
    )
    hourly = usual.groupBy("target", "queue", "zone", "hour").agg(
        F.sum("seconds").alias("watched_s"), *(F.sum(name).alias(name) for name in _summed_columns())
    )
    each = hourly.where(F.col("watched_s") >= _WATCHED_S).select(
        "target",
        "queue",
        "zone",
        (F.weekday("hour") * 24 + F.hour("hour")).alias("hour"),
        F.explode(F.array(*(_figure_value(name, *parts) for name, parts in FIGURES.items()))).alias("f"),
    )
    return each.select("target", "queue", "zone", "hour", "f.figure", "f.value").where("value is not null")


def weekly_baselines(readings: DataFrame, weeks: int = MIN_READINGS) -> DataFrame:
    """Return ``median`` and ``mad`` (median absolute deviation) for each hour of the week that has enough readings."""
    key = ["target", "queue", "zone", "figure", "hour"]
    middle = readings.groupBy(*key).agg(F.median("value").alias("median"), F.count(F.lit(1)).alias("readings"))
    strayed = readings.join(middle.where(F.col("readings") >= weeks), key)
    return strayed.groupBy(*key, "median", "readings").agg(
        F.median(F.abs(F.col("value") - F.col("median"))).alias("mad")
    )


def with_partitions(usual: DataFrame) -> DataFrame:
    """Add the partition columns of the table ``baselines``, with today's date."""
    place = {"date": F.current_date(), "bucket": F.pmod(F.crc32("target"), F.lit(BUCKETS)).cast("int")}
    return usual.withColumns(place)


def baselines_json(rows: Iterable[Row], zones: Mapping[str, str]) -> str:
    """Return the file that the dashboard loads: target, queue, figure, hour of the week → median, mad, readings.

    ``zones``: zone of each target. ``zone`` in the file is the most common zone. Hour 0 is Monday 00:00.
    """
    queues: dict[str, Any] = {}
    for row in sorted(rows, key=lambda row: (row.target, row.queue, row.figure, row.hour)):
        figure = queues.setdefault(row.target, {}).setdefault(row.queue, {}).setdefault(row.figure, {})
        figure[str(row.hour)] = [row.median, row.mad, row.readings]
    common = Counter(sorted(zones.values())).most_common(1)
    each = dict(sorted(zones.items()))
    whole = {"version": VERSION, "zone": common[0][0] if common else "UTC", "zones": each, "queues": queues}
    return json.dumps(whole, separators=(",", ":")) + "\n"


def _minute_number(column: str) -> Column:
    return F.floor(F.col(column) / 60)


def _summed_columns() -> list[str]:
    return sorted({name for parts in FIGURES.values() for name in parts})


def _figure_value(name: str, total: str, seconds: str) -> Column:
    value = F.when(F.col(seconds) > 0, F.col(total) / F.col(seconds))
    return F.struct(F.lit(name).alias("figure"), value.alias("value"))
