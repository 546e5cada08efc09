"""Normal values for an hour of the week, across the end of summer time, compared with plain Python."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import datetime
from statistics import median
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pyspark.sql import Row, SparkSession

from qmon.pipeline.lake.schema import MINUTES
from qmon.pipeline.rollup.baseline_rollup import (
    FIGURES,
    baselines_json,
    hourly_readings,
    weekly_baselines,
    with_target_zones,
    zones_by_target,
)
from qmon.pipeline.rollup.capacity import NoForecastText, estimate_capacity

pytestmark = pytest.mark.timeout(1200)
BERLIN = ZoneInfo("Europe/Berlin")
# Two Sundays before summer time ends; the hour from two o'clock occurs twice on 2026-10-25.
SUNDAY = datetime(2026, 10, 11, 0, 0, tzinfo=BERLIN)


def minutes() -> list[dict[str, Any]]:
    """Return the first six hours of five Sundays, a row per ten minutes to save time; the last week is short."""
    found = []
    for week in range(5):
        start = SUNDAY.timestamp() + week * 7 * 86400 + (3600 if week > 2 else 0)
        for place in range(0, 42 if week < 4 else 12):
            n = week * 100 + place
            found.append(
                {
                    "target": "shop",
                    "queue": "orders",
                    "zone": "Europe/Berlin",
                    "start_at": start + place * 600.0,
                    "seconds": 600.0,
                    "flow_s": 590.0,
                    "pushed": float(n % 37),
                    "popped": float(n % 31),
                    "ready_s": float(n % 29),
                    "ready_known_s": 600.0,
                    "oldest_s": None,
                    "oldest_known_s": None,
                }
            )
    return found


def expected(rows: list[dict[str, Any]], troubled: tuple[float, float]) -> dict[tuple[str, int], list[Any]]:
    """Return median, deviation and number of readings by figure and hour of the week."""
    hours: dict[tuple[int, datetime], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if not troubled[0] // 60 <= row["start_at"] // 60 <= troubled[1] // 60:
            local = datetime.fromtimestamp(row["start_at"], BERLIN).replace(minute=0, second=0, tzinfo=None)
            hours[local.weekday() * 24 + local.hour, local].append(row)
    values: dict[tuple[str, int], list[float]] = defaultdict(list)
    for (hour, _), each in hours.items():
        if sum(row["seconds"] for row in each) >= 1800:
            for name, (total, over) in FIGURES.items():
                if all(row.get(total) is not None for row in each):
                    values[name, hour].append(sum(r[total] for r in each) / sum(r[over] for r in each))
    return {
        key: [median(each), median(abs(v - median(each)) for v in each), len(each)]
        for key, each in values.items()
        if len(each) >= 4
    }


def test_hours_of_the_week_equal_plain_python(spark: SparkSession) -> None:
    rows, troubled = minutes(), (SUNDAY.timestamp() + 3600.0, SUNDAY.timestamp() + 7100.0)
    frame = spark.createDataFrame([tuple(row.get(name) for name in MINUTES.fieldNames()) for row in rows], MINUTES)
    incident = spark.createDataFrame(
        [("shop", "orders", *troubled)], "target string, queue string, start_at double, end_at double"
    )
    zones = zones_by_target(frame, {})
    text = baselines_json(weekly_baselines(hourly_readings(with_target_zones(frame, zones), incident)).collect(), zones)
    file = json.loads(text)
    assert (file["version"], file["zone"], file["zones"]) == (1, "Europe/Berlin", {"shop": "Europe/Berlin"})
    found = {
        (figure, int(hour)): numbers
        for figure, hours in file["queues"]["shop"]["orders"].items()
        for hour, numbers in hours.items()
    }
    wanted = expected(rows, troubled)
    assert found.keys() == wanted.keys()
    for key, numbers in wanted.items():
        assert found[key] == pytest.approx(numbers, rel=1e-9, abs=1e-12), key
    counted = {hour: numbers[2] for (figure, hour), numbers in found.items() if figure == "ready"}
    assert counted == {
        144: 5,
        145: 4,
        146: 4,
        147: 4,
        148: 4,
        149: 4,
    }  # from Sunday 00:00; one o'clock lacks the incident


def test_incidents_in_the_same_hour_of_each_week_are_usual(spark: SparkSession) -> None:
    """The first hour has an incident in each of the five weeks, and the second one in the first three weeks."""
    rows = minutes()
    starts = [SUNDAY.timestamp() + week * 7 * 86400 + (3600 if week > 2 else 0) for week in range(5)]
    incidents = [("shop", "orders", start, start + 3000.0) for start in starts]
    incidents += [("shop", "orders", start + 3600.0, start + 6600.0) for start in starts[:3]]
    frame = spark.createDataFrame([tuple(row.get(name) for name in MINUTES.fieldNames()) for row in rows], MINUTES)
    troubled = spark.createDataFrame(incidents, "target string, queue string, start_at double, end_at double")
    found = weekly_baselines(hourly_readings(with_target_zones(frame, {"shop": "Europe/Berlin"}), troubled)).collect()
    none = expected(rows, (0.0, 0.0))
    ready = {row.hour: [row.median, row.mad, row.readings] for row in found if row.figure == "ready"}
    assert ready[144] == pytest.approx(none["ready", 144], rel=1e-9)
    assert 145 not in ready, "only two weeks without an incident"
    assert ready[146] == pytest.approx(none["ready", 146], rel=1e-9)


def test_a_file_without_history_is_a_file() -> None:
    none: list[Row] = []
    assert json.loads(baselines_json(none, {})) == {"version": 1, "zone": "UTC", "zones": {}, "queues": {}}


def test_a_zone_that_is_stated_counts_before_the_newest_that_was_recorded(spark: SparkSession) -> None:
    """The recorder has moved from Tokyo to Berlin; the readings of both follow one clock."""
    rows = [row | {"zone": "Asia/Tokyo" if place < 84 else row["zone"]} for place, row in enumerate(minutes())]
    frame = spark.createDataFrame([tuple(row.get(name) for name in MINUTES.fieldNames()) for row in rows], MINUTES)
    assert zones_by_target(frame, {}) == zones_by_target(frame, {"crm": "UTC"}) == {"shop": "Europe/Berlin"}
    assert zones_by_target(frame, {"": "UTC", "crm": "Asia/Tokyo"}) == {"shop": "UTC"}
    assert zones_by_target(frame, {"": "UTC", "shop": "America/New_York"}) == {"shop": "America/New_York"}
    nobody = spark.createDataFrame([], "target string, queue string, start_at double, end_at double")
    for zone in ("Europe/Berlin", "America/New_York"):
        found = hourly_readings(with_target_zones(frame, {"shop": zone}), nobody).where("figure = 'ready'").collect()
        first = min(datetime.fromtimestamp(row["start_at"], ZoneInfo(zone)) for row in rows)
        assert {row.zone for row in found} == {zone}
        assert min(row.hour for row in found) == first.weekday() * 24 + first.hour
        assert len(found) == 4 * 7 + 2 - (zone == "Europe/Berlin")


@pytest.mark.parametrize(
    ("rates", "left", "why"),
    [
        ([10.0 + day for day in range(20)], 21.0, ""),
        ([60.0 + day for day in range(20)], 0.0, ""),
        ([10.0] * 20, None, NoForecastText.NO_GROWTH),
        ([10.0 + day / 1e6 for day in range(20)], None, NoForecastText.FAR_AWAY),
        ([10.0] * 5, None, NoForecastText.SHORT_HISTORY.render(days=5, needed=14)),
    ],
)
def test_a_straight_line_says_when_a_queue_is_outgrown(rates: list[float], left: float | None, why: str) -> None:
    found = estimate_capacity(50.0, list(enumerate(rates)))
    assert found.why == why
    assert found.outgrown_days == (left if left is None else pytest.approx(left))
    assert found.daily == rates[-1]
