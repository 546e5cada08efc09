"""The tables of the report as text. All formats of the report show these cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from qmon.model.formatting import UNKNOWN
from qmon.pipeline.report.facts import QueueFacts, ReportFacts, flow_rate, time_mean
from qmon.pipeline.report.period import Row, Trouble
from qmon.pipeline.report.report_formatting import (
    change_text,
    duration_text,
    good_share_text,
    moment_text,
    number_text,
    percent_text,
)
from qmon.pipeline.report.unusual_hours import UnusualStretch
from qmon.texts import Text


class TableText(Text):
    """Notes below the headings of tables, and sentences in cells."""

    LEVELS = (
        "Each share is a share of the watched time. The error budget is the time for which the limit may be exceeded. "
        "At a burn rate of 1, the budget lasts exactly as long as the window. "
        "Too little data: less than half of the window was watched."
    )
    TOO_LITTLE_DATA = "{state}, too little data"
    BEFORE = "Compared with the previous {duration}, from {start}."
    UNUSUAL = "In these hours, the hourly mean was outside the usual band for the hour of the week."
    CAPACITY = (
        "Growth is a straight line fitted to whole days; the range in parentheses has 95 % confidence. A queue that "
        "ran empty can pop more than its best hour."
    )
    COVERAGE = "Gaps shorter than one hour are not listed."
    BAD = "These lines do not count in any figure. The table bad of the lake contains each of them."
    ALSO = "also {verdicts}"
    NOW = "now"
    IN_DAYS = "in {days:,.0f} days ({earliest:,.0f} to {latest:,.0f})"


QUEUE: Final = "queue"
INCIDENT: Final = "incident"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell. ``value``: the sort key if cells are not sorted by their text."""

    text: str
    value: float | None = None


@dataclass(frozen=True, slots=True)
class ReportTable:
    """One table. ``texts``: columns that are not numbers. ``free``: the column that may wrap; -1 if no column may.

    ``name``: the anchor of the table. ``note``: a line below the title. ``rows_are``: ``QUEUE`` if the first two cells
    of each row are a target and a queue; ``INCIDENT`` if the rows are the report's incidents in order.
    """

    title: str
    name: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    texts: tuple[int, ...] = ()
    free: int = -1
    note: str = ""
    rows_are: str = ""


def report_tables(facts: ReportFacts) -> tuple[ReportTable, ...]:
    """Return the tables of the whole report in display order."""
    each = [
        level_table(facts),
        queue_table(facts),
        change_table(facts),
        unusual_table(facts),
        incident_table(facts),
        operation_table(facts),
        capacity_table(facts),
        coverage_table(facts),
        wait_table(facts),
        message_table(facts),
        bad_table(facts),
    ]
    always = ("queues", "incidents")
    return tuple(table for table in each if table.rows or table.name in always)


def level_table(facts: ReportFacts) -> ReportTable:
    """Return the table of service levels: one row per queue and objective."""
    rows = []
    for each in facts.levels:
        asked = each.objective
        state = {True: "met", False: "missed", None: "not known"}[each.is_met]
        if each.is_met is not None and not each.has_enough_data:
            state = TableText.TOO_LITTLE_DATA.render(state=state)
        left = None if each.budget_left is None else round(each.budget_s - each.bad_s, 3)
        rows.append(
            (
                Cell(each.target),
                Cell(each.queue),
                Cell(asked.name),
                Cell(each.goal),
                Cell(state),
                Cell(good_share_text(each.share), each.share),
                Cell(_signed_seconds(left), left),
                Cell(percent_text(each.budget_left), each.budget_left),
                _number_cell(each.burn_rate),
                _share_cell(min(1.0, each.counted_s / asked.window_s)),
            )
        )
    headings = (
        "target",
        "queue",
        "slo",
        "objective",
        "state",
        "kept",
        "budget left",
        "of the budget",
        "burn rate, last day",
        "watched",
    )
    note = TableText.LEVELS.render()
    return ReportTable("Service levels", "levels", headings, tuple(rows), (0, 1, 2, 3, 4), note=note, rows_are=QUEUE)


def queue_table(facts: ReportFacts) -> ReportTable:
    """Return the table of queues: one row per queue."""
    headings = (
        "target",
        "queue",
        "push/s",
        "pop/s",
        "ready",
        "ready p95",
        "ready most",
        "age p50",
        "age p95",
        "age p99",
        "healthy",
        "watched",
        "counters watched",
    )
    rows = tuple(_queue_row(q, facts) for q in facts.queues)
    return ReportTable("Queues", "queues", headings, rows, (0, 1), rows_are=QUEUE)


def _queue_row(queue_facts: QueueFacts, facts: ReportFacts) -> tuple[Cell, ...]:
    whole = queue_facts.whole
    return (
        Cell(queue_facts.target),
        Cell(queue_facts.queue),
        _number_cell(flow_rate(whole, "pushed")),
        _number_cell(flow_rate(whole, "popped")),
        _number_cell(time_mean(whole, "ready")),
        _number_cell(whole["ready_p95"]),
        _number_cell(whole["ready_max"]),
        _seconds_cell(whole["oldest_p50"]),
        _seconds_cell(whole["oldest_p95"]),
        _seconds_cell(whole["oldest_p99"]),
        Cell(good_share_text(healthy := _healthy_share(queue_facts, facts)), healthy),
        _share_cell(watched_share(queue_facts, facts)),
        _share_cell(counters_watched_share(queue_facts, facts)),
    )


def watched_share(queue_facts: QueueFacts, facts: ReportFacts) -> float:
    """Return the share of the period in which a queue was watched."""
    return min(1.0, float(queue_facts.whole["seconds"]) / (facts.period.end - facts.period.start))


def counters_watched_share(queue_facts: QueueFacts, facts: ReportFacts) -> float:
    """Return the share of the period that the queue's counters cover. Rates are computed from these counters."""
    return min(1.0, float(queue_facts.whole["flow_s"]) / (facts.period.end - facts.period.start))


def _healthy_share(queue_facts: QueueFacts, facts: ReportFacts) -> float | None:
    """Return the share of the watched time in which a queue had no incident."""
    lost = facts.trouble.get(queue_facts.key, Trouble(0.0, 0)).seconds
    return max(0.0, 1 - lost / queue_facts.whole["seconds"]) if queue_facts.whole["seconds"] else None


def change_table(facts: ReportFacts) -> ReportTable:
    """Return the table of changes: one row for each queue that has data of the previous period."""
    headings = (
        "target",
        "queue",
        "push/s",
        "before",
        "change",
        "age p95",
        "before",
        "change",
        "in incidents",
        "before",
        "watched before",
    )
    rows = tuple(_change_row(q, q.before, facts) for q in facts.queues if q.before is not None)
    before = facts.period.previous_period()
    note = TableText.BEFORE.render(
        duration=duration_text(before.end - before.start), start=moment_text(before.start)[:16]
    )
    return ReportTable("Compared with the previous period", "before", headings, rows, (0, 1), note=note, rows_are=QUEUE)


def _change_row(queue_facts: QueueFacts, before: Row, facts: ReportFacts) -> tuple[Cell, ...]:
    pushes, then = flow_rate(queue_facts.whole, "pushed"), flow_rate(before, "pushed")
    age, old = queue_facts.whole["oldest_p95"], before["oldest_p95"]
    lost, lost_then = (
        each.get(queue_facts.key, Trouble(0.0, 0)).seconds for each in (facts.trouble, facts.trouble_before)
    )
    share = before["seconds"] / (facts.period.end - facts.period.start)
    return (
        Cell(queue_facts.target),
        Cell(queue_facts.queue),
        _number_cell(pushes),
        _number_cell(then),
        _change_cell(pushes, then),
        _seconds_cell(age),
        _seconds_cell(old),
        _change_cell(age, old),
        _lost_cell(lost),
        _lost_cell(lost_then),
        _share_cell(min(1.0, share)),
    )


def unusual_table(facts: ReportFacts) -> ReportTable:
    """Return the table of unusual hours: one row per run of hours, the run farthest outside its band first."""
    found = sorted((each for q in facts.queues for each in q.unusual), key=lambda each: -each.distance)
    headings = ("target", "queue", "from, UTC", "lasted", "what", "worst hour", "usually", "hour of the week")
    note = TableText.UNUSUAL.render()
    return ReportTable(
        "Unusual hours",
        "unusual",
        headings,
        tuple(map(_unusual_row, found[:_MOST_UNUSUAL])),
        (0, 1, 2, 4, 7),
        note=note,
        rows_are=QUEUE,
    )


_MOST_UNUSUAL: Final = 30
_LEAST_GROWTH: Final = 0.005


def _unusual_row(hours: UnusualStretch) -> tuple[Cell, ...]:
    worst = hours.worst
    return (
        Cell(hours.target),
        Cell(hours.queue),
        Cell(moment_text(hours.start)[:16], hours.start),
        _seconds_cell(hours.end - hours.start),
        Cell(hours.description, hours.distance),
        Cell(hours.value_text(worst.value), worst.value),
        Cell(hours.value_text(worst.band.median), worst.band.median),
        Cell(worst.band.hour),
    )


def incident_table(facts: ReportFacts) -> ReportTable:
    """Return the table of incidents, in order of their start (UTC)."""
    headings = ("began, UTC", "lasted", "target", "queue", "cause", "most ready", "proof and operations")
    rows = tuple(map(_incident_row, facts.incidents))
    return ReportTable("Incidents", "incidents", headings, rows, (0, 2, 3, 4, 6), 6, rows_are=INCIDENT)


def _incident_row(row: Row) -> tuple[Cell, ...]:
    done = [f"{each['kind']} {each['state']} by {each['by']}" for each in row["operations"]]
    others = [code for code in row["codes"] if code != row["cause"]]
    also = TableText.ALSO.render(verdicts=", ".join(others)) if others else ""
    text = "; ".join(filter(None, [row["proof"], also, *done]))
    return (
        Cell(moment_text(row["start_at"]), row["start_at"]),
        _seconds_cell(row["end_at"] - row["start_at"]),
        Cell(row["target"]),
        Cell(row["queue"]),
        Cell(row["cause"]),
        _number_cell(row["peak_ready"]),
        Cell(text),
    )


def operation_table(facts: ReportFacts) -> ReportTable:
    """Return the table of operations, in order of their start (UTC)."""
    headings = ("began, UTC", "target", "queue", "operation", "messages", "by", "reason")
    rows = tuple(
        (
            Cell(moment_text(row["started_at"]), row["started_at"]),
            Cell(row["target"]),
            Cell(row["queue"] or "all queues"),
            Cell(f"{row['kind']} {row['state']}"),
            _number_cell(row["done"]),
            Cell(row["by"] or ""),
            Cell(row["reason"] or ""),
        )
        for row in facts.operations
    )
    return ReportTable("Operations", "operations", headings, rows, (0, 1, 2, 3, 5, 6), 6)


def capacity_table(facts: ReportFacts) -> ReportTable:
    """Return the table of capacity: the pop rate of the best hour, and when the push rate will reach this pop rate."""
    headings = ("target", "queue", "push/s, last day", "best hour, pop/s", "growth, push/s a day", "outgrown")
    rows = tuple(
        (
            Cell(q.target),
            Cell(q.queue),
            _number_cell(q.capacity.daily),
            _number_cell(q.capacity.sustained),
            Cell(_growth_text(q.capacity.growth), q.capacity.growth),
            Cell(outgrown_text(q), q.capacity.outgrown_days),
        )
        for q in facts.queues
    )
    note = TableText.CAPACITY.render()
    return ReportTable("Capacity", "capacity", headings, rows, (0, 1, 5), 5, note=note, rows_are=QUEUE)


def _growth_text(value: float | None) -> str:
    return UNKNOWN if value is None else "about 0" if abs(value) < _LEAST_GROWTH else f"{value:+,.2f}"


def outgrown_text(queue_facts: QueueFacts) -> str:
    """Describe when the push rate reaches the pop rate of the best hour."""
    can = queue_facts.capacity
    if can.outgrown_days is None or can.earliest_days is None or can.latest_days is None:
        return can.why
    if not can.outgrown_days:
        return TableText.NOW.render()
    return TableText.IN_DAYS.render(days=can.outgrown_days, earliest=can.earliest_days, latest=can.latest_days)


def coverage_table(facts: ReportFacts) -> ReportTable:
    """Return the table of coverage: how much of each target was watched."""
    rows = tuple(
        (
            Cell(each.target),
            Cell(good_share_text(each.share), each.share),
            _seconds_cell(each.seconds),
            _seconds_cell(each.gap_s or None),
            Cell(moment_text(each.gap_at)[:16], each.gap_at),
        )
        for each in facts.targets
    )
    headings = ("target", "watched", "time watched", "longest gap", "from, UTC")
    return ReportTable("Coverage", "coverage", headings, rows, (0,), note=TableText.COVERAGE.render())


def wait_table(facts: ReportFacts) -> ReportTable:
    """Return the table of the longest waits of sessions."""
    rows = tuple((Cell(target), Cell(event), _number_cell(sessions)) for target, event, sessions in facts.waits)
    return ReportTable("Waits", "waits", ("target", "wait", "sessions, mean"), rows, (0, 1))


def message_table(facts: ReportFacts) -> ReportTable:
    """Return the table of wait and work times of archived messages."""
    headings = (
        "target",
        "queue",
        "messages",
        "wait p50",
        "wait p95",
        "wait p99",
        "work p50",
        "work p95",
        "work p99",
        "more than one try",
    )
    rows = tuple(map(_message_row, facts.messages))
    return ReportTable("Archived messages", "messages", headings, rows, (0, 1), rows_are=QUEUE)


def _message_row(row: Row) -> tuple[Cell, ...]:
    tails = (_seconds_cell(row[f"{what}_{p}"]) for what in ("wait", "work") for p in ("p50", "p95", "p99"))
    return Cell(row["target"]), Cell(row["queue"]), _number_cell(row["messages"]), *tails, _share_cell(row["again"])


def bad_table(facts: ReportFacts) -> ReportTable:
    """Return the table of unusable lines of recordings, by reason."""
    rows = tuple(
        (
            Cell(row["target"]),
            Cell(row["reason"]),
            _number_cell(row["lines"]),
            Cell(str(row["first_day"])),
            Cell(str(row["last_day"])),
        )
        for row in facts.bad
    )
    headings = ("target", "reason", "lines", "first day", "last day")
    note = TableText.BAD.render()
    return ReportTable("Unusable lines", "bad", headings, rows, (0, 1, 3, 4), 1, note=note)


def worst_table(queue_facts: QueueFacts) -> ReportTable:
    """Return the table of hours with the oldest messages (UTC)."""
    rows = tuple(
        (
            Cell(moment_text(row["start_at"])[:16], row["start_at"]),
            _seconds_cell(row["oldest_p95"]),
            _seconds_cell(row["oldest_max"]),
            _number_cell(row["ready_max"]),
            _number_cell(flow_rate(row, "pushed")),
            _number_cell(flow_rate(row, "popped")),
        )
        for row in queue_facts.worst
    )
    headings = ("hour, UTC", "age p95", "oldest", "most ready", "push/s", "pop/s")
    return ReportTable("Hours with the oldest messages", "worst", headings, rows, (0,))


def _number_cell(value: float | None) -> Cell:
    return Cell(number_text(value), value)


def _seconds_cell(value: float | None) -> Cell:
    return Cell(duration_text(value), value)


def _lost_cell(value: float) -> Cell:
    """Return the time in incidents; ``none`` if there were no incidents."""
    return Cell(duration_text(value) if value else "none", value)


def _share_cell(value: float | None) -> Cell:
    return Cell(percent_text(value), value)


def _change_cell(now: float | None, before: float | None) -> Cell:
    ratio = now / before if now is not None and before else None
    return Cell(change_text(now, before), ratio)


def _signed_seconds(value: float | None) -> str:
    return f"−{duration_text(-value)}" if value is not None and value < 0 else duration_text(value)
