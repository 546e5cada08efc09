"""Reads the contents of a report from the lake as plain records. All formats of the report show these figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import zip_longest
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from qmon.config.slo import Objective
from qmon.errors import BadInput
from qmon.model.baseline_bands import Baseline, Baselines
from qmon.pipeline.lake.delta import ReadFilter, frame_from_rows
from qmon.pipeline.lake.lake import LakeView
from qmon.pipeline.lake.schema import PERCENTILE_FIGURES
from qmon.pipeline.messages.message_waits import message_times
from qmon.pipeline.pipeline_texts import LakeText, ReportText
from qmon.pipeline.report.period import (
    HOUR_S,
    Coverage,
    Key,
    Period,
    Row,
    Trouble,
    coverage_by_target,
    trouble_by_queue,
    utc_day,
)
from qmon.pipeline.report.service_levels import Level, longest_window_s, measure_levels
from qmon.pipeline.report.unusual_hours import UnusualStretch, find_unusual_hours
from qmon.pipeline.rollup import rollups
from qmon.pipeline.rollup.capacity import Capacity, estimate_capacity
from qmon.pipeline.rollup.incident_rollup import incidents_from_runs, with_operations

DAY_S: Final = 86400.0
WEEK_S: Final = 7 * DAY_S

# Maximum number of queues in a report. `choose_queues` chooses them. `--queue` shows any queue.
MOST_QUEUES: Final = 50
MOST_INCIDENTS: Final = 100
MOST_OPERATIONS: Final = 200
_WORST: Final = 5
_KEYS: Final = StructType([StructField("target", StringType()), StructField("queue", StringType())])
_FINE_S: Final = 2 * DAY_S
_WHOLE_HOUR_S: Final = 1800.0


@dataclass(frozen=True, slots=True)
class QueueFacts:
    """Facts about one queue. ``whole``: sums and percentiles of the period; ``before``: of the previous period.

    ``plot``: minutes or hours, in order. ``worst``: hours with the oldest messages. ``days``: day number and messages
    pushed per second, for all days in the lake. ``unusual``: hours outside the baseline band.
    """

    target: str
    queue: str
    whole: Row
    before: Row | None
    plot: tuple[Row, ...]
    worst: tuple[Row, ...]
    capacity: Capacity
    days: tuple[tuple[int, float], ...] = ()
    unusual: tuple[UnusualStretch, ...] = ()

    @property
    def key(self) -> Key:
        """Target and queue name."""
        return self.target, self.queue


@dataclass(frozen=True, slots=True)
class ReportFacts:
    """All facts of the report. ``waits``: target, event, and average number of waiting sessions.

    ``messages``: wait times of archived messages, one row per queue (``waits.message_times``). ``left_out``: number of
    queues not shown. ``more_incidents``: number of incidents not listed. ``watched_s``: seconds watched, summed over
    all queues. ``trouble``: for each queue with incidents, including queues not shown, the seconds in incidents and the
    number of incidents. ``trouble_before``: ``trouble`` of the previous period. ``targets``: how much of each target
    was watched. ``operations``: the operations that began in the period, in order. ``baselines``: ``None`` if the lake
    has no baselines. ``bad``: number of unusable ``lines`` for each target and reason, with the first and last day of
    their segments.
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
    watched_s: float = 0.0
    trouble: Mapping[Key, Trouble] = field(default_factory=dict)
    trouble_before: Mapping[Key, Trouble] = field(default_factory=dict)
    targets: tuple[Coverage, ...] = ()
    operations: tuple[Row, ...] = ()
    levels: tuple[Level, ...] = ()
    baselines: Baselines | None = None
    bad: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """The scope of the report, and the service level objectives.

    ``queue``: only queues with this name. ``targets``: only these targets; empty for all. ``environments``: only
    targets whose newest hour has one of these environments; empty for all.
    """

    queue: str | None = None
    objectives: tuple[Objective, ...] = ()
    targets: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()

    def with_found_targets(self, view: LakeView, period: Period) -> ReportRequest:
        """Return the request with the targets of its environments.

        Raises ``BadInput`` if no requested target has one of these environments in the period or the period before.
        """
        if not self.environments:
            return self
        both = Period(period.previous_period().start, period.end)
        hours = _rows_within(view.read("hours", both.read_filter("start_at", view.dates())), both, "start_at")
        newest = hours.groupBy("target").agg(F.max_by("environment", "start_at").alias("environment")).collect()
        known = sorted({row.environment for row in newest if row.environment is not None})
        found = {row.target for row in newest if row.environment in self.environments}
        found &= set(self.targets) or found
        if not found:
            asked = " or ".join(self.environments)
            if known:
                raise BadInput(ReportText.NO_SUCH_ENVIRONMENT.render(environments=asked, known=", ".join(known)))
            raise BadInput(ReportText.NO_ENVIRONMENT.render(environments=asked))
        return replace(self, targets=tuple(sorted(found)), environments=())

    def select_rows(self, rows: DataFrame) -> DataFrame:
        """Return the rows of these targets and queues."""
        rows = self.select_targets(rows)
        return rows if self.queue is None else rows.where(F.col("queue") == self.queue)

    def select_targets(self, rows: DataFrame) -> DataFrame:
        """Return the rows of these targets."""
        return rows.where(F.col("target").isin(*self.targets)) if self.targets else rows

    @property
    def text(self) -> str:
        """The scope in words, empty for the whole lake."""
        queue = f"the queue {self.queue!r}" if self.queue is not None else ""
        return " of ".join(part for part in (queue, ", ".join(self.targets)) if part)


DEFAULT_REQUEST: Final = ReportRequest()


def report_period(since: float | None, until: float | None, now: float) -> Period:
    """Return the requested period, or the last week, in whole hours. The period never ends after ``now``.

    Raises ``BadInput`` if the period ends before it begins.
    """
    end = now if until is None else min(Period(0.0, until).whole_hours().end, now)
    start = (since if since is not None else end - WEEK_S) // HOUR_S * HOUR_S
    if start >= end:
        raise BadInput(ReportText.EMPTY_PERIOD)
    return Period(start, end)


def skip_time_before_data(view: LakeView, period: Period) -> Period:
    """Return the period without the hours before the first hour of the lake, which would count as not watched."""
    dates = view.dates()
    if not dates:
        return period
    (row,) = view.read("hours", ReadFilter(dates[:1])).agg(F.min("start_at").alias("first")).collect()
    return Period(max(period.start, row.first), period.end) if row.first < period.end else period


def gather_facts(view: LakeView, period: Period, request: ReportRequest = DEFAULT_REQUEST) -> ReportFacts:
    """Read all facts of the report. ``period``: whole hours, except that the period may end now.

    Raises ``BadInput`` if the lake has no data for this period or queue.
    """
    newest = newest_day(view)
    request = request.with_found_targets(view, period)
    whole = _period_sums(view, period, request)
    if not whole:
        fields: dict[str, object] = {"first": utc_day(period.start), "last": utc_day(period.end - 1), "newest": newest}
        if request.text:
            raise BadInput(ReportText.NO_DATA_FOR.render(scope=request.text, **fields))
        raise BadInput(ReportText.NO_DATA.render(**fields))
    earlier = period.previous_period()
    before = _period_sums(view, earlier, request)
    both = _read_incidents(view, Period(earlier.start, period.end), request)
    found = [row for row in both if row["end_at"] >= period.start]
    trouble, levels = trouble_by_queue(found, period), _read_levels(view, period, request)
    shown = choose_queues(whole, before, trouble, levels)
    step_s = 60 if period.end - period.start <= _FINE_S else 3600
    plots = _rows_by_queue(view, "minutes" if step_s == 60 else "hours", period, shown)
    hours = plots if step_s == 3600 else _rows_by_queue(view, "hours", period, shown)
    days = _rows_by_queue(view, "days", Period(0.0, period.end), shown)
    usual = _read_baselines(view, shown)
    queues = tuple(
        QueueFacts(
            *key,
            whole[key],
            before.get(key),
            tuple(plots[key]),
            _worst_hours(hours[key]),
            estimate_capacity(_best_hour_rate(hours[key]), daily := _daily_rates(days[key])),
            tuple(daily),
            find_unusual_hours(usual, *key, hours[key]) if usual is not None else (),
        )
        for key in shown
    )
    return ReportFacts(
        period,
        step_s,
        queues,
        _listed_incidents(found),
        _read_waits(view, period, request),
        view.counts(),
        len(whole) - len(shown),
        max(0, len(found) - MOST_INCIDENTS),
        _read_message_times(view, period, request),
        sum(row["seconds"] for row in whole.values()),
        trouble,
        trouble_by_queue(both, earlier),
        _read_coverage(view, period, request),
        _read_operations(view, period, request),
        levels,
        usual,
        _read_bad_lines(view, period, request),
    )


def choose_queues(
    whole: Mapping[Key, Row],
    before: Mapping[Key, Row],
    trouble: Mapping[Key, Trouble],
    levels: Iterable[Level],
    most: int = MOST_QUEUES,
) -> list[Key]:
    """Return the queues to show: those with problems first, then those with the most pushed messages.

    The queues with the longest incidents, the most used error budget and the greatest growth of the oldest message's
    age take turns. Arguments: the sums of the period and of the previous period, incidents, and service levels.
    """
    used: dict[Key, float] = {}
    for level in levels:
        if (key := (level.target, level.queue)) in whole and level.budget_left is not None and level.bad_s > 0:
            used[key] = max(used.get(key, 0.0), 1 - level.budget_left)
    grown: dict[Key, float] = {}
    for key in whole.keys() & before.keys():
        now, then = whole[key]["oldest_p95"], before[key]["oldest_p95"]
        if now and then and now > then:
            grown[key] = now / then
    lost = {key: each.seconds for key, each in trouble.items() if key in whole}
    turns = zip_longest(*(sorted(each, key=lambda key: (-each[key], key)) for each in (lost, used, grown)))
    worst = [key for turn in turns for key in turn if key is not None]
    busiest = sorted(whole, key=lambda key: (-(whole[key]["pushed"] or 0.0), key))
    return list(dict.fromkeys([*worst, *busiest]))[:most]


def newest_day(view: LakeView) -> date:
    """Return the last day (UTC) in the lake. Raises ``BadInput`` if the lake is empty."""
    dates = view.dates()
    if not dates:
        raise BadInput(LakeText.EMPTY)
    return dates[-1]


def flow_rate(row: Row, flow: str) -> float | None:
    """Return messages per second from a row of sums, or ``None`` if no counter was read."""
    moved, seconds = row[flow], row["flow_s"]
    return moved / seconds if moved is not None and seconds else None


def time_mean(row: Row, figure: str) -> float | None:
    """Return the mean of a figure over the time in which it was known."""
    total, seconds = row[f"{figure}_s"], row[f"{figure}_known_s"]
    return total / seconds if total is not None and seconds else None


def _rows_within(frame: DataFrame, period: Period, column: str) -> DataFrame:
    return frame.where((F.col(column) >= period.start) & (F.col(column) < period.end))


def _read_hours(view: LakeView, period: Period, request: ReportRequest) -> DataFrame:
    files = view.read("hours", period.read_filter("start_at", view.dates()))
    return request.select_rows(_rows_within(files, period, "start_at"))


def _select_keys(frame: DataFrame, keys: Iterable[Key]) -> DataFrame:
    """Return the rows of these queues. Spark leaves out the others, so that they do not reach this process."""
    rows = [{"target": target, "queue": queue} for target, queue in sorted(keys)]
    return frame.join(F.broadcast(frame_from_rows(frame.sparkSession, rows, _KEYS)), ["target", "queue"], "left_semi")


def _period_sums(view: LakeView, period: Period, request: ReportRequest) -> dict[tuple[str, str], Row]:
    hours = _read_hours(view, period, request)
    return {(row.target, row.queue): row.asDict() for row in rollups.period_rows(hours).collect()}


def _rows_by_queue(
    view: LakeView, table: str, period: Period, shown: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], list[Row]]:
    frame = _rows_within(view.read(table, period.read_filter("start_at", view.dates())), period, "start_at")
    maps = [f"{name}_ms" for name in PERCENTILE_FIGURES]
    frame = _select_keys(frame, shown).drop(*maps)
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in sorted(frame.collect(), key=lambda row: float(row.start_at)):
        found[row.target, row.queue].append(row.asDict())
    return found


def _read_incidents(view: LakeView, period: Period, request: ReportRequest) -> list[Row]:
    wider = Period(period.start - DAY_S, period.end + DAY_S)
    runs = request.select_rows(view.read("runs", wider.read_filter("start_at", view.dates())))
    found = incidents_from_runs(runs)
    found = found.where((F.col("end_at") >= period.start) & (F.col("start_at") < period.end))
    rows = with_operations(found, view.read("operations", wider.read_filter("started_at", view.dates()))).collect()
    return sorted((row.asDict(recursive=True) for row in rows), key=_start_key)


def _listed_incidents(incidents: list[Row]) -> tuple[Row, ...]:
    """Return the incidents in order of their start. If there are too many, drop the least severe and shortest."""
    worst = sorted(incidents, key=lambda row: (-row["severity"], row["start_at"] - row["end_at"]))[:MOST_INCIDENTS]
    return tuple(sorted(worst, key=_start_key))


def _start_key(row: Row) -> tuple[float, str, str]:
    return row["start_at"], row["target"], row["queue"]


def _read_coverage(view: LakeView, period: Period, request: ReportRequest) -> tuple[Coverage, ...]:
    """Return the coverage of each target. In each hour, the queue that was watched longest counts."""
    hours = _read_hours(view, period, request)
    rows = hours.groupBy("target", "start_at").agg(F.max("seconds").alias("seconds")).collect()
    return coverage_by_target({(row.target, row.start_at): row.seconds for row in rows}, period)


def _read_operations(view: LakeView, period: Period, request: ReportRequest) -> tuple[Row, ...]:
    """Return the operations on whole targets and on the requested queues, by default all queues.

    If there are too many operations, only the newest are returned.
    """
    files = view.read("operations", period.read_filter("started_at", view.dates()))
    frame = request.select_targets(_rows_within(files, period, "started_at"))
    if request.queue is not None:
        frame = frame.where(F.coalesce("queue", F.lit("")).isin("", request.queue))
    rows = frame.orderBy(F.desc("started_at"), "id").limit(MOST_OPERATIONS).collect()
    return tuple(row.asDict() for row in reversed(rows))


def _read_levels(view: LakeView, period: Period, request: ReportRequest) -> tuple[Level, ...]:
    if not request.objectives:
        return ()
    window = Period(period.end - longest_window_s(request.objectives), period.end)
    return measure_levels(_read_hours(view, window, request), request.objectives, period.end)


def _read_baselines(view: LakeView, shown: Collection[Key]) -> Baselines | None:
    """Return the baselines of these queues from the last run of ``qmon pipeline baselines``, or ``None``."""
    frame = _select_keys(view.read("baselines"), shown)
    zones: dict[str, str] = {}
    hours: dict[str, dict[str, dict[str, dict[int, Baseline]]]] = defaultdict(lambda: defaultdict(dict))
    for row in frame.collect():
        zones[row.target] = row.zone
        figure = hours[row.target][row.queue].setdefault(row.figure, {})
        figure[row.hour] = Baseline(row.median, row.mad, row.readings)
    return Baselines(hours, zones=zones) if hours else None


def _read_waits(view: LakeView, period: Period, request: ReportRequest) -> tuple[tuple[str, str, float], ...]:
    files = view.read("polls", period.read_filter("sampled_at", view.dates()))
    polls = request.select_targets(_rows_within(files, period, "sampled_at"))
    watched = polls.groupBy("target").agg(F.sum("poll_s").alias("watched_s"))
    each = polls.select("target", "poll_s", F.explode("waits").alias("wait"))
    waited = each.groupBy("target", F.col("wait.event").alias("event")).agg(
        F.sum(F.col("wait.sessions") * F.col("poll_s")).alias("session_s")
    )
    rows = waited.join(watched, "target").where("watched_s > 0 and session_s > 0").collect()
    found = [(row.target, row.event, row.session_s / row.watched_s) for row in rows]
    return tuple(sorted(found, key=lambda each: (-each[2], each[0], each[1]))[:10])


def _read_bad_lines(view: LakeView, period: Period, request: ReportRequest) -> tuple[Row, ...]:
    """Return the number of unusable lines by target and reason, from the segments of the days of the period."""
    first, last = utc_day(period.start), utc_day(period.end - 0.001)
    days = {each["date"] or "" for each in view.files("bad").partitions}
    within = ReadFilter([date.fromisoformat(each) for each in days if first <= each <= last])
    reason = F.regexp_replace("reason", r"^byte \d+: ", "").alias("reason")  # the position differs in each file
    rows = (
        request.select_targets(view.read("bad", within))
        .groupBy("target", reason)
        .agg(F.count(F.lit(1)).alias("lines"), F.min("date").alias("first_day"), F.max("date").alias("last_day"))
    )
    return tuple(row.asDict() for row in sorted(rows.collect(), key=lambda row: (-row.lines, row.target, row.reason)))


def _read_message_times(view: LakeView, period: Period, request: ReportRequest) -> tuple[Row, ...]:
    """Return the wait and work times of the messages that were archived in the period."""
    files = view.read("messages", ReadFilter(over="archived_at", low=period.start, high=period.end))
    rows = message_times(request.select_rows(_rows_within(files, period, "archived_at"))).collect()
    most_first = sorted(rows, key=lambda row: (-row.messages, row.target, row.queue))
    return tuple(row.asDict() for row in most_first[:MOST_QUEUES])


def _worst_hours(hours: Iterable[Row]) -> tuple[Row, ...]:
    known = [row for row in hours if row["oldest_p95"] is not None]
    return tuple(sorted(known, key=lambda row: (-row["oldest_p95"], row["start_at"]))[:_WORST])


def _best_hour_rate(hours: Iterable[Row]) -> float | None:
    found = [flow_rate(row, "popped") for row in hours if row["flow_s"] >= _WHOLE_HOUR_S]
    return max((each for each in found if each is not None), default=None)


def _daily_rates(days: Iterable[Row]) -> list[tuple[int, float]]:
    known = [(int(row["start_at"] // DAY_S), flow_rate(row, "pushed")) for row in days if row["flow_s"] >= DAY_S / 2]
    return [(day, each) for day, each in known if each is not None]
