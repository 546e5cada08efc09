"""Writes the baselines of a lake to a table and to a small file in the folder of recordings."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from qmon.errors import BadInput
from qmon.pipeline.lake.lake import Lake, LakeView
from qmon.pipeline.lake.storage import Storage
from qmon.pipeline.pipeline_texts import ReportText
from qmon.pipeline.report.facts import DAY_S, WEEK_S, newest_day
from qmon.pipeline.report.period import Period
from qmon.pipeline.rollup.baseline_rollup import (
    baselines_json,
    hourly_readings,
    weekly_baselines,
    with_partitions,
    with_target_zones,
    zones_by_target,
)
from qmon.pipeline.rollup.incident_rollup import incidents_from_runs
from qmon.recording.history.baselines_reader import FILE_NAME

# Number of days from today (UTC) on that are used: today and tomorrow, because the clocks of other machines may be
# ahead. Later days are ignored.
_LAST_DAYS: Final = 2


@dataclass(frozen=True, slots=True)
class WrittenBaselines:
    """The result: the numbers of queues and of hours of the week that were written, and the time zone of each target.

    ``ahead``: the newest time (seconds since the epoch) of each target that has data dated later than tomorrow. Days
    after tomorrow are ignored. ``lost``: targets that were in the previous file and are not in the new file. ``kept``:
    nothing was written, because the new result is empty and the old file is not.
    """

    queues: int
    hours: int
    zones: Mapping[str, str]
    ahead: Mapping[str, float]
    lost: tuple[str, ...]
    kept: bool


def write_baselines(
    lake: Lake, recordings: str, weeks: int, stated: Mapping[str, str], now: float | None = None
) -> WrittenBaselines:
    """Write the file and the table from the last ``weeks`` of each target.

    ``stated``: time zones, keyed by target. The key ``""`` is for all other targets. ``now``: seconds since the
    epoch. Raises ``BadInput`` if the folder does not exist, the lake has no usable day, or a stated target is unknown.
    """
    place = Storage(lake.session, recordings)
    if not place.exists():
        raise BadInput(ReportText.NO_FOLDER.render(folder=recordings))
    view = lake.view()
    newest_day(view)
    today = int((time.time() if now is None else now) // DAY_S)
    ends, ahead = _ends(view, (today + _LAST_DAYS) * DAY_S)
    targets = sorted({*ends, *ahead})
    if unknown := sorted(set(stated) - {"", *targets}):
        raise BadInput(ReportText.NO_SUCH_TARGET.render(target=unknown[0], targets=", ".join(targets)))
    if not ends:
        raise BadInput(ReportText.ALL_IN_FUTURE)
    whole = Period(min(ends.values()) - weeks * WEEK_S, max(ends.values())).read_filter("start_at", view.dates())
    minutes = _last_weeks(view.read("minutes", whole), ends, weeks)
    zones = zones_by_target(minutes, stated)
    usual = weekly_baselines(
        hourly_readings(with_target_zones(minutes, zones), incidents_from_runs(view.read("runs", whole)))
    ).persist()
    rows = usual.collect()
    before = _targets_of(place)
    if kept := bool(before and not rows):
        lost: Iterable[str] = ()
    else:
        lost = before - {row.target for row in rows}
        lake.table("baselines").replace_rows(with_partitions(usual))
        place.replace_text(baselines_json(rows, zones), FILE_NAME)
    usual.unpersist()
    hours = {(row.target, row.queue, row.hour) for row in rows}
    queues = {(row.target, row.queue) for row in rows}
    return WrittenBaselines(len(queues), len(hours), zones, ahead, tuple(sorted(lost)), kept)


def _ends(view: LakeView, last: float) -> tuple[dict[str, float], dict[str, float]]:
    """Return the end of each target's newest day up to ``last``, and each target's newest time after ``last``."""
    at = F.col("start_at")
    usable = F.max(F.when(at < last, at)).alias("usable")
    rows = view.read("hours").groupBy("target").agg(usable, F.max(at).alias("newest")).collect()
    ends = {row.target: (row.usable // DAY_S + 1) * DAY_S for row in rows if row.usable is not None}
    return ends, {row.target: row.newest for row in rows if row.newest >= last}


def _last_weeks(minutes: DataFrame, ends: Mapping[str, float], weeks: int) -> DataFrame:
    """Return, for each target, the minutes in the last ``weeks`` before its time in ``ends``."""
    known = minutes.sparkSession.createDataFrame(list(ends.items()), "target string, end_at double")
    at, end = F.col("start_at"), F.col("end_at")
    inside = (at < end) & (at >= end - weeks * WEEK_S)
    return minutes.join(F.broadcast(known), "target").where(inside).drop("end_at")


def _targets_of(place: Storage) -> set[str]:
    """Return the targets in the current file. A damaged file counts as empty."""
    if not place.exists(FILE_NAME):
        return set()
    try:
        return {str(target) for target, queues in json.loads(place.read_text(FILE_NAME))["queues"].items() if queues}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return set()
