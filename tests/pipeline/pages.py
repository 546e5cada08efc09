"""The report's page taken apart, and facts for one with names that no page should break at."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from qmon.pipeline.report.facts import Period, QueueFacts, ReportFacts
from qmon.pipeline.report.text import moment, number, seconds
from qmon.pipeline.rollup.capacity import capacity
from tests.pipeline.comparing import START

HOSTILE = ("<script>alert(1)</script>&amp;", "q" * 128, '[a]]b].[c d]"; drop table x; --', "очередь 🎉", "orders")

_MOVED = ("pushed", "popped")


class _Tables(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[list[list[str]]] = []
        self._cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.found.append([])
        elif tag == "tr":
            self.found[-1].append([])
        elif tag in ("td", "th"):
            self.found[-1][-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        self._cell = self._cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._cell:
            self.found[-1][-1][-1] += data


def tables(page: str) -> list[list[list[str]]]:
    """The cells of each table as text, row by row; the first row has the headings."""
    parser = _Tables()
    parser.feed(page)
    return parser.found


def queue_cells(target: str, queue: str, row: dict[str, Any]) -> tuple[str, ...]:
    """What a queue's row of the report must begin with, from its sums over the whole time."""
    moved = (row[what] / row["flow_s"] if row["flow_s"] and row[what] is not None else None for what in _MOVED)
    ready = row["ready_s"] / row["ready_known_s"] if row["ready_known_s"] else None
    depths = (ready, row["ready_p95"], row["ready_max"])
    ages = (row["oldest_p50"], row["oldest_p95"], row["oldest_p99"])
    return (target, queue, *map(number, (*moved, *depths)), *map(seconds, ages))


def incident_cells(row: dict[str, Any]) -> tuple[str, ...]:
    """What an incident's row must begin with."""
    lasted = seconds(row["end_at"] - row["start_at"])
    return (
        moment(row["start_at"]), lasted, row["target"], row["queue"], row["cause"], number(row["peak_ready"])
    )  # fmt: skip


def hostile_facts(queues: int = 12) -> ReportFacts:
    """Six hours of so many queues, with an incident and an operation each."""
    names = [*HOSTILE, *(f"queue{n}" for n in range(queues - len(HOSTILE)))]
    period = Period(START, START + 6 * 3600)
    return ReportFacts(
        period, 60, tuple(_queue(place, name) for place, name in enumerate(names)),
        tuple(_incident(place, name) for place, name in enumerate(names)),
        (("shop", "LWLock:WALWrite" + "x" * 60, 1.25), ("shop", "Lock:transactionid", 0.5)), {"bad": 3}, 7, 2,
        tuple(_messages(name) for name in names),
    )  # fmt: skip


def _queue(place: int, name: str) -> QueueFacts:
    plot = tuple(_row(START + n * 60, 60.0, place + n % 90) for n in range(360) if not 100 < n < 140)
    worst = tuple(_row(START + n * 3600, 3600.0, place + n) for n in range(5))
    days = [(day, 100.0 + day) for day in range(20)]
    return QueueFacts(
        "shop", name, _row(START, 21600.0, place), _row(START, 21600.0, place + 1), plot, worst, capacity(5e6, days)
    )


def _row(at: float, seconds: float, n: int) -> dict[str, Any]:
    sums = {"pushed": n * 1234567.0, "popped": n * 1234560.0, "flow_s": seconds, "seconds": seconds}
    depth = {f"{name}_s": n * seconds for name in ("ready", "oldest", "in_progress")}
    known = {f"{name}_known_s": seconds for name in ("ready", "oldest", "in_progress")}
    tail = {f"{name}_{p}": float(n * 1000) for name in ("ready", "oldest") for p in ("p50", "p95", "p99", "max")}
    return {"start_at": at, **sums, **depth, **known, **tail}


def _messages(name: str) -> dict[str, Any]:
    tails = {f"{what}_{p}": 86400.0 * 99 for what in ("wait", "work") for p in ("p50", "p95", "p99")}
    return {"target": "shop", "queue": name, "messages": 123_456_789, "again": 0.999, **tails}


def _incident(place: int, name: str) -> dict[str, Any]:
    done = {"kind": "requeue", "state": "done", "by": "anna@ops-1"}
    return {
        "target": "shop", "queue": name, "cause": "pushers outrun poppers", "start_at": START + place * 60,
        "end_at": START + place * 60 + 300, "codes": ["pushers outrun poppers", "no pops"], "peak_ready": 1234567.0,
        "proof": f"push 120/s over pop 80/s for 300 s in {name}", "operations": [done] if place % 2 else [],
    }  # fmt: skip
