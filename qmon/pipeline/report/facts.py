"""What a report says, read from the lake: plain records, so that each form of the report shows the same figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from qmon.errors import BadInput
from qmon.pipeline.lake.lake import Lake, Manifest
from qmon.pipeline.lake.storage import Storage
from qmon.pipeline.messages.take import Messages
from qmon.pipeline.messages.waits import waited
from qmon.pipeline.rollup.baselines import as_file, baselines, readings, zoned, zones_of
from qmon.pipeline.rollup.capacity import Capacity, capacity
from qmon.pipeline.rollup.incidents import incidents, with_operations
from qmon.pipeline.rollup.rollups import rollups
from qmon.recording.history.baselines import FILE

DAY_S: Final = 86400.0
WEEK_S: Final = 7 * DAY_S
MOST_QUEUES: Final = 50
"""A report shows so many queues, those with the most messages; ``--queue`` shows any."""
MOST_INCIDENTS: Final = 100
_WORST: Final = 5
_FINE_S: Final = 2 * DAY_S
_WHOLE_HOUR_S: Final = 1800.0

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Period:
    """From ``start`` to before ``end``, seconds since the epoch."""

    start: float
    end: float

    def days(self, manifest: Manifest) -> list[tuple[str, str]]:
        """The days of targets that the lake has of it."""
        first, last = day_of(self.start), day_of(self.end - 0.001)
        return [(t, d) for t, dates in manifest.days.items() for d in dates if first <= d <= last]

    def back(self, seconds: float) -> Period:
        """As long, so much earlier."""
        return Period(self.start - seconds, self.end - seconds)


@dataclass(frozen=True, slots=True)
class QueueFacts:
    """One queue over the period. ``whole``: its sums and percentiles; ``before``: the same a week earlier.

    ``plot``: minutes or hours, in order; ``worst``: hours with the oldest messages.
    """

    target: str
    queue: str
    whole: Row
    before: Row | None
    plot: tuple[Row, ...]
    worst: tuple[Row, ...]
    capacity: Capacity


@dataclass(frozen=True, slots=True)
class ReportFacts:
    """The whole report. ``waits``: target, event, and how many sessions waited for it on average.

    ``messages``: how long archived messages waited, one row a queue (``waited.waited``). ``left_out``: queues, and
    ``more_incidents``: incidents that there are beyond those listed.
    """

    period: Period
    step_s: int
    queues: tuple[QueueFacts, ...]
    incidents: tuple[Row, ...]
    waits: tuple[tuple[str, str, float], ...]
    counts: Mapping[str, int]
    left_out: int = 0
    more_incidents: int = 0
    messages: tuple[Row, ...] = ()


def day_of(at: float) -> str:
    """The day in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")


def period_of(manifest: Manifest, since: float | None, until: float | None) -> Period:
    """What was asked for, or the last seven days that the lake has. Raises ``BadInput`` where there is nothing."""
    dates = sorted({date for each in manifest.days.values() for date in each})
    if not dates:
        raise BadInput("the lake is empty; qmon pipeline run --recordings PATH --lake PATH fills it")
    newest = datetime.fromisoformat(dates[-1]).replace(tzinfo=UTC) + timedelta(days=1)
    end = until if until is not None else newest.timestamp()
    start = since if since is not None else end - WEEK_S
    if start >= end:
        raise BadInput("--from must be before --to")
    return Period(start, end)


def gather(lake: Lake, manifest: Manifest, period: Period, queue: str | None = None) -> ReportFacts:
    """Read everything that a report says. Raises ``BadInput`` where the lake has nothing of that time or queue."""
    whole = _whole(lake, manifest, period, queue)
    if not whole:
        asked = f"of the queue {queue!r} " if queue else ""
        raise BadInput(f"the lake has nothing {asked}from {day_of(period.start)} to {day_of(period.end - 1)}")
    shown = sorted(whole, key=lambda key: (-(whole[key]["pushed"] or 0.0), key))[:MOST_QUEUES]
    before = _whole(lake, manifest, period.back(WEEK_S), queue)
    step_s = 60 if period.end - period.start <= _FINE_S else 3600
    plots = _by_queue(lake, manifest, "minutes" if step_s == 60 else "hours", period, shown)
    hours = _by_queue(lake, manifest, "hours", period, shown)
    days = _by_queue(lake, manifest, "days", Period(0.0, period.end), shown)
    found = _incidents(lake, manifest, period, queue)
    queues = tuple(
        QueueFacts(
            *key, whole[key], before.get(key), tuple(plots[key]), _worst(hours[key]),
            capacity(_sustained(hours[key]), _daily(days[key])),
        )
        for key in shown
    )  # fmt: skip
    return ReportFacts(
        period, step_s, queues, tuple(found[:MOST_INCIDENTS]), _waits(lake, manifest, period), manifest.counts,
        len(whole) - len(shown), max(0, len(found) - MOST_INCIDENTS), _messages(lake, period, queue),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Normal:
    """What was written: how many queues and hours of the week, and the time zone of each target."""

    queues: int
    hours: int
    zones: Mapping[str, str]


def normal(lake: Lake, recordings: str, weeks: int, stated: Mapping[str, str]) -> Normal:
    """Write the file of what is normal. ``stated``: time zones by target, ``""`` for all others.

    Raises ``BadInput`` where there is no such folder, nothing in the lake, or no target of that name.
    """
    place = Storage(lake.session, recordings)
    if not place.exists():
        raise BadInput(f"there is no folder {recordings}")
    manifest = lake.manifest()
    newest = period_of(manifest, None, None).end
    days = Period(newest - weeks * WEEK_S, newest).days(manifest)
    if unknown := sorted(set(stated) - {"", *manifest.days}):
        raise BadInput(f"--zone: the lake has no target {unknown[0]!r}; it has: {', '.join(sorted(manifest.days))}")
    found = incidents(lake.read("runs", manifest, days))
    minutes = lake.read("minutes", manifest, days)
    zones = zones_of(minutes, stated)
    rows = baselines(readings(zoned(minutes, zones), found)).collect()
    place.replace(as_file(rows, zones), FILE)
    hours = {(row.target, row.queue, row.hour) for row in rows}
    return Normal(len({(row.target, row.queue) for row in rows}), len(hours), zones)


def rate(row: Row, what: str) -> float | None:
    """Messages per second of a row of sums; ``None`` where no counter was read."""
    moved, seconds = row[what], row["flow_s"]
    return moved / seconds if moved is not None and seconds else None


def mean(row: Row, what: str) -> float | None:
    """A figure's mean over the time in which it was known."""
    total, seconds = row[f"{what}_s"], row[f"{what}_known_s"]
    return total / seconds if total is not None and seconds else None


def _within(frame: DataFrame, period: Period, column: str, queue: str | None = None) -> DataFrame:
    inside = frame.where((F.col(column) >= period.start) & (F.col(column) < period.end))
    return inside if queue is None else inside.where(F.col("queue") == queue)


def _whole(lake: Lake, manifest: Manifest, period: Period, queue: str | None) -> dict[tuple[str, str], Row]:
    samples = _within(lake.read("samples", manifest, period.days(manifest)), period, "sampled_at", queue)
    one = rollups(samples.withColumn("date", F.lit("")), {"whole": 10**12})
    return {(row.target, row.queue): row.asDict() for row in one.collect()}


def _by_queue(
    lake: Lake, manifest: Manifest, table: str, period: Period, shown: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], list[Row]]:
    wanted = set(shown)
    frame = _within(lake.read(table, manifest, period.days(manifest)), period, "at")
    frame = frame.where(F.col("queue").isin([queue for _, queue in wanted]))
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in sorted(frame.collect(), key=lambda r: float(r.at)):
        if (row.target, row.queue) in wanted:
            found[row.target, row.queue].append(row.asDict())
    return found


def _incidents(lake: Lake, manifest: Manifest, period: Period, queue: str | None) -> list[Row]:
    wider = Period(period.start - DAY_S, period.end + DAY_S)
    days = wider.days(manifest)
    found = incidents(lake.read("runs", manifest, days))
    found = found.where((F.col("end_at") >= period.start) & (F.col("start_at") < period.end))
    if queue is not None:
        found = found.where(F.col("queue") == queue)
    rows = with_operations(found, lake.read("operations", manifest, days)).collect()
    return sorted((row.asDict(recursive=True) for row in rows), key=lambda r: (r["start_at"], r["target"], r["queue"]))


def _waits(lake: Lake, manifest: Manifest, period: Period) -> tuple[tuple[str, str, float], ...]:
    days = period.days(manifest)
    polls = _within(lake.read("samples", manifest, days), period, "sampled_at")
    each = polls.groupBy("target", "recorder", "sequence").agg(F.max("span_s").alias("span_s"))
    watched = each.groupBy("target").agg(F.sum("span_s").alias("watched_s"))
    waited = (
        _within(lake.read("waits", manifest, days), period, "sampled_at")
        .groupBy("target", "event")
        .agg(F.sum(F.col("sessions") * F.col("span_s")).alias("session_s"))
    )
    rows = waited.join(watched, "target").where("watched_s > 0 and session_s > 0").collect()
    found = [(row.target, row.event, row.session_s / row.watched_s) for row in rows]
    return tuple(sorted(found, key=lambda each: (-each[2], each[0], each[1]))[:10])


def _messages(lake: Lake, period: Period, queue: str | None) -> tuple[Row, ...]:
    """Those that were archived in the period."""
    days = F.col("date").between(day_of(period.start), day_of(period.end - 0.001))
    rows = waited(_within(Messages(lake).frame().where(days), period, "archived_at", queue)).collect()
    most_first = sorted(rows, key=lambda row: (-row.messages, row.target, row.queue))
    return tuple(row.asDict() for row in most_first[:MOST_QUEUES])


def _worst(hours: Iterable[Row]) -> tuple[Row, ...]:
    known = [row for row in hours if row["oldest_p95"] is not None]
    return tuple(sorted(known, key=lambda row: (-row["oldest_p95"], row["at"]))[:_WORST])


def _sustained(hours: Iterable[Row]) -> float | None:
    found = [rate(row, "popped") for row in hours if row["flow_s"] >= _WHOLE_HOUR_S]
    return max((each for each in found if each is not None), default=None)


def _daily(days: Iterable[Row]) -> list[tuple[int, float]]:
    known = [(int(row["at"] // DAY_S), rate(row, "pushed")) for row in days if row["flow_s"] >= DAY_S / 2]
    return [(day, each) for day, each in known if each is not None]
