"""The tables of the report, as text; each form of the report shows the same cells."""

from __future__ import annotations

from dataclasses import dataclass

from qmon.pipeline.report.facts import QueueFacts, ReportFacts, Row, mean, rate
from qmon.pipeline.report.text import change, moment, number, percent, seconds


@dataclass(frozen=True, slots=True)
class ReportTable:
    """``texts``: the columns that are no numbers; ``free``: the one that may wrap, -1 where none may."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: tuple[int, ...] = ()
    free: int = -1


def queue_table(facts: ReportFacts) -> ReportTable:
    """One row a queue."""
    headings = (
        "target", "queue", "push/s", "pop/s", "ready", "ready p95", "ready most", "age p50", "age p95", "age p99",
        "best hour pop/s", "push, week before",
    )  # fmt: skip
    return ReportTable(headings, tuple(_queue(q) for q in facts.queues), (0, 1))


def _queue(q: QueueFacts) -> tuple[str, ...]:
    whole = q.whole
    return (
        q.target, q.queue, number(rate(whole, "pushed")), number(rate(whole, "popped")), number(mean(whole, "ready")),
        number(whole["ready_p95"]), number(whole["ready_max"]), seconds(whole["oldest_p50"]),
        seconds(whole["oldest_p95"]), seconds(whole["oldest_p99"]), number(q.capacity.sustained),
        change(rate(whole, "pushed"), None if q.before is None else rate(q.before, "pushed")),
    )  # fmt: skip


def incident_table(facts: ReportFacts) -> ReportTable:
    """One row an incident, in the order in which they began (UTC)."""
    headings = ("began, UTC", "lasted", "target", "queue", "cause", "most ready", "proof and operations")
    return ReportTable(headings, tuple(map(_incident, facts.incidents)), (0, 2, 3, 4, 6), 6)


def _incident(row: Row) -> tuple[str, ...]:
    done = [f"{each['kind']} {each['state']} by {each['by']}" for each in row["operations"]]
    others = [code for code in row["codes"] if code != row["cause"]]
    text = "; ".join(filter(None, [row["proof"], f"also {', '.join(others)}" if others else "", *done]))
    return (
        moment(row["start_at"]), seconds(row["end_at"] - row["start_at"]), row["target"], row["queue"], row["cause"],
        number(row["peak_ready"]), text,
    )  # fmt: skip


def wait_table(facts: ReportFacts) -> ReportTable:
    """What sessions waited for most."""
    return ReportTable(
        ("target", "wait", "sessions, mean"), tuple((t, e, number(n)) for t, e, n in facts.waits), (0, 1)
    )


def message_table(facts: ReportFacts) -> ReportTable:
    """How long archived messages waited to be popped, and were worked on."""
    headings = (
        "target", "queue", "messages", "wait p50", "wait p95", "wait p99", "work p50", "work p95", "work p99",
        "more than one try",
    )  # fmt: skip
    return ReportTable(headings, tuple(map(_messages, facts.messages)), (0, 1))


def _messages(row: Row) -> tuple[str, ...]:
    tails = (seconds(row[f"{what}_{p}"]) for what in ("wait", "work") for p in ("p50", "p95", "p99"))
    return row["target"], row["queue"], number(row["messages"]), *tails, percent(row["again"])


def worst_table(q: QueueFacts) -> ReportTable:
    """The hours in which messages became oldest (UTC)."""
    rows = tuple(
        (moment(row["start_at"])[:16], seconds(row["oldest_p95"]), seconds(row["oldest_max"]), number(row["ready_max"]),
         number(rate(row, "pushed")), number(rate(row, "popped")))
        for row in q.worst
    )  # fmt: skip
    return ReportTable(("hour, UTC", "age p95", "oldest", "most ready", "push/s", "pop/s"), rows, (0,))
