"""What a report says, read from the lake: plain records, so that each form of the report shows the same figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from qmon.errors import BadInput
from qmon.pipeline.lake.delta import Within
from qmon.pipeline.lake.lake import Lake, LakeView
from qmon.pipeline.lake.schema import TAILED
from qmon.pipeline.lake.storage import Storage
from qmon.pipeline.messages.waits import waited
from qmon.pipeline.rollup import rollups
from qmon.pipeline.rollup.baselines import as_file, baselines, readings, with_place, zoned, zones_of
from qmon.pipeline.rollup.capacity import Capacity, capacity
from qmon.pipeline.rollup.incidents import incidents, with_operations
from qmon.recording.history.baselines import FILE

HOUR_S: Final = 3600.0
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

    def within(self, over: str, dates: Sequence[date]) -> Within:
        """What of a table can be of it; ``dates``: the days that the lake has."""
        first, last = day_of(self.start), day_of(self.end - 0.001)
        return Within([each for each in dates if first <= str(each) <= last], over=over, low=self.start, high=self.end)

    def hours(self) -> Period:
        """It with whole hours at both ends."""
        return Period(self.start // HOUR_S * HOUR_S, -(-self.end // HOUR_S) * HOUR_S)

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


def period_of(view: LakeView, since: float | None, until: float | None) -> Period:
    """What was asked for, or the last seven days that the lake has. Raises ``BadInput`` where there is nothing."""
    dates = view.dates()
    if not dates:
        raise BadInput("the lake is empty; qmon pipeline run --recordings PATH --lake PATH fills it")
    newest = datetime.combine(dates[-1], datetime.min.time(), UTC) + timedelta(days=1)
    end = until if until is not None else newest.timestamp()
    start = since if since is not None else end - WEEK_S
    if start >= end:
        raise BadInput("--from must be before --to")
    return Period(start, end)


def gather(view: LakeView, period: Period, queue: str | None = None) -> ReportFacts:
    """Read everything that a report says of the whole hours that a period touches.

    Raises ``BadInput`` where the lake has nothing of that time or queue.
    """
    period = period.hours()
    whole = _whole(view, period, queue)
    if not whole:
        asked = f"of the queue {queue!r} " if queue else ""
        raise BadInput(f"the lake has nothing {asked}from {day_of(period.start)} to {day_of(period.end - 1)}")
    shown = sorted(whole, key=lambda key: (-(whole[key]["pushed"] or 0.0), key))[:MOST_QUEUES]
    before = _whole(view, period.back(WEEK_S), queue)
    step_s = 60 if period.end - period.start <= _FINE_S else 3600
    plots = _by_queue(view, "minutes" if step_s == 60 else "hours", period, shown)
    hours = _by_queue(view, "hours", period, shown)
    days = _by_queue(view, "days", Period(0.0, period.end), shown)
    found = _incidents(view, period, queue)
    queues = tuple(
        QueueFacts(
            *key, whole[key], before.get(key), tuple(plots[key]), _worst(hours[key]),
            capacity(_sustained(hours[key]), _daily(days[key])),
        )
        for key in shown
    )  # fmt: skip
    return ReportFacts(
        period, step_s, queues, tuple(found[:MOST_INCIDENTS]), _waits(view, period), view.counts(),
        len(whole) - len(shown), max(0, len(found) - MOST_INCIDENTS), _messages(view, period, queue),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Normal:
    """What was written: how many queues and hours of the week, and the time zone of each target."""

    queues: int
    hours: int
    zones: Mapping[str, str]


def normal(lake: Lake, recordings: str, weeks: int, stated: Mapping[str, str]) -> Normal:
    """Write the file of what is normal, and the table. ``stated``: time zones by target, ``""`` for all others.

    Raises ``BadInput`` where there is no such folder, nothing in the lake, or no target of that name.
    """
    place = Storage(lake.session, recordings)
    if not place.exists():
        raise BadInput(f"there is no folder {recordings}")
    view = lake.view()
    newest = period_of(view, None, None).end
    within = Period(newest - weeks * WEEK_S, newest).within("start_at", view.dates())
    found = incidents(view.read("runs", within))
    minutes = view.read("minutes", within)
    zones = zones_of(minutes, stated)
    targets = sorted({*zones, *(row.target for row in view.read("hours").select("target").distinct().collect())})
    if unknown := sorted(set(stated) - {"", *targets}):
        raise BadInput(f"--zone: the lake has no target {unknown[0]!r}; it has: {', '.join(targets)}")
    usual = baselines(readings(zoned(minutes, zones), found)).persist()
    rows = usual.collect()
    lake.table("baselines").replace(with_place(usual))
    usual.unpersist()
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


def _whole(view: LakeView, period: Period, queue: str | None) -> dict[tuple[str, str], Row]:
    hours = _within(view.read("hours", period.within("start_at", view.dates())), period, "start_at", queue)
    return {(row.target, row.queue): row.asDict() for row in rollups.period(hours).collect()}


def _by_queue(
    view: LakeView, table: str, period: Period, shown: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], list[Row]]:
    wanted = set(shown)
    frame = _within(view.read(table, period.within("start_at", view.dates())), period, "start_at")
    maps = [f"{name}_ms" for name in TAILED]
    frame = frame.where(F.col("queue").isin([queue for _, queue in wanted])).drop(*maps)
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in sorted(frame.collect(), key=lambda r: float(r.start_at)):
        if (row.target, row.queue) in wanted:
            found[row.target, row.queue].append(row.asDict())
    return found


def _incidents(view: LakeView, period: Period, queue: str | None) -> list[Row]:
    wider = Period(period.start - DAY_S, period.end + DAY_S)
    found = incidents(view.read("runs", wider.within("start_at", view.dates())))
    found = found.where((F.col("end_at") >= period.start) & (F.col("start_at") < period.end))
    if queue is not None:
        found = found.where(F.col("queue") == queue)
    rows = with_operations(found, view.read("operations", wider.within("started_at", view.dates()))).collect()
    return sorted((row.asDict(recursive=True) for row in rows), key=lambda r: (r["start_at"], r["target"], r["queue"]))


def _waits(view: LakeView, period: Period) -> tuple[tuple[str, str, float], ...]:
    polls = _within(view.read("polls", period.within("sampled_at", view.dates())), period, "sampled_at")
    watched = polls.groupBy("target").agg(F.sum("poll_s").alias("watched_s"))
    each = polls.select("target", "poll_s", F.explode("waits").alias("wait"))
    waited = each.groupBy("target", F.col("wait.event").alias("event")).agg(
        F.sum(F.col("wait.sessions") * F.col("poll_s")).alias("session_s")
    )
    rows = waited.join(watched, "target").where("watched_s > 0 and session_s > 0").collect()
    found = [(row.target, row.event, row.session_s / row.watched_s) for row in rows]
    return tuple(sorted(found, key=lambda each: (-each[2], each[0], each[1]))[:10])


def _messages(view: LakeView, period: Period, queue: str | None) -> tuple[Row, ...]:
    """Those that were archived in the period."""
    files = view.read("messages", Within(over="archived_at", low=period.start, high=period.end))
    rows = waited(_within(files, period, "archived_at", queue)).collect()
    most_first = sorted(rows, key=lambda row: (-row.messages, row.target, row.queue))
    return tuple(row.asDict() for row in most_first[:MOST_QUEUES])


def _worst(hours: Iterable[Row]) -> tuple[Row, ...]:
    known = [row for row in hours if row["oldest_p95"] is not None]
    return tuple(sorted(known, key=lambda row: (-row["oldest_p95"], row["start_at"]))[:_WORST])


def _sustained(hours: Iterable[Row]) -> float | None:
    found = [rate(row, "popped") for row in hours if row["flow_s"] >= _WHOLE_HOUR_S]
    return max((each for each in found if each is not None), default=None)


def _daily(days: Iterable[Row]) -> list[tuple[int, float]]:
    known = [(int(row["start_at"] // DAY_S), rate(row, "pushed")) for row in days if row["flow_s"] >= DAY_S / 2]
    return [(day, each) for day, each in known if each is not None]
