"""A parser for the report's page, and facts for a page with names that must not break it."""

from __future__ import annotations

import datetime
from html.parser import HTMLParser
from typing import Any, Final

from qmon.config.slo import Objective
from qmon.model.baseline_bands import Baseline, Baselines
from qmon.pipeline.report.facts import QueueFacts, ReportFacts
from qmon.pipeline.report.period import Coverage, Period, trouble_by_queue
from qmon.pipeline.report.report_formatting import duration_text, moment_text, number_text
from qmon.pipeline.report.service_levels import Level, sort_by_budget
from qmon.pipeline.report.unusual_hours import find_unusual_hours
from qmon.pipeline.rollup.capacity import estimate_capacity
from tests.pipeline.comparing import START

HOSTILE = ("<script>alert(1)</script>&amp;", "q" * 128, '[a]]b].[c d]"; drop table x; --', "очередь 🎉", "orders")

TARGET = "shop <eu>"
DAY: Final = datetime.date(2026, 10, 24)

_MOVED = ("pushed", "popped")


_VOID: Final = ("meta", "!doctype")


class Page(HTMLParser):
    """A page: its tables by title, and the names and targets of its links. Fails if a tag is not closed.

    ``tables``: the cells as text, row by row. The first row contains the headings; rows that name a group are left out.
    ``unclosed``: tags that are open at the end, or were closed in another order.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.names: list[str] = []
        self.links: list[str] = []
        self.unclosed: list[str] = []
        self.heading = ""
        self._open: list[str] = []
        self._title, self._queue, self._group = "", "", False
        self.feed(text)
        self.close()
        self.unclosed += self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember the current position."""
        given = dict(attrs)
        if tag not in _VOID:
            self._open.append(tag)
        self.names += [given["id"] or ""] if "id" in given else []
        self.links += [given["href"] or ""] if "href" in given else []
        if tag in ("h2", "h3", "h4"):
            self._title = ""
        elif tag == "tr":
            self._group = given.get("class") == "of"
            if not self._group:
                self.tables.setdefault(self._title, []).append([])
        elif tag in ("td", "th") and not self._group:
            self.tables[self._title][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        """Each tag is closed before the one around it."""
        if not self._open or self._open.pop() != tag:
            self.unclosed.append(tag)
        if tag == "h3":
            self._queue = self._title
        elif tag == "h4":
            self._title = f"{self._queue}: {self._title}"

    def handle_data(self, data: str) -> None:
        """Add text to its heading or cell."""
        if "h1" in self._open:
            self.heading += data
        elif {"h2", "h3", "h4"} & set(self._open):
            self._title += data
        elif {"td", "th"} & set(self._open) and not self._group:
            self.tables[self._title][-1][-1] += data


def queue_cells(queue: str, row: dict[str, Any]) -> tuple[str, ...]:
    """Return the first cells of a queue's row in the report, from its sums over the whole time.

    Its target is above it.
    """
    moved = (row[what] / row["flow_s"] if row["flow_s"] and row[what] is not None else None for what in _MOVED)
    ready = row["ready_s"] / row["ready_known_s"] if row["ready_known_s"] else None
    depths = (ready, row["ready_p95"], row["ready_max"])
    ages = (row["oldest_p50"], row["oldest_p95"], row["oldest_p99"])
    return (queue, *map(number_text, (*moved, *depths)), *map(duration_text, ages))


def incident_cells(row: dict[str, Any]) -> tuple[str, ...]:
    """Return the first cells of an incident's row."""
    lasted = duration_text(row["end_at"] - row["start_at"])
    return (
        moment_text(row["start_at"]),
        lasted,
        row["target"],
        row["queue"],
        row["cause"],
        number_text(row["peak_ready"]),
    )


def hostile_facts(queues: int = 12) -> ReportFacts:
    """Return facts of six hours with this number of queues, and an incident and an operation on each."""
    names = [*HOSTILE, *(f"queue{n}" for n in range(queues - len(HOSTILE)))]
    period = Period(START, START + 6 * 3600)
    incidents = tuple(_incident(place, name) for place, name in enumerate(names))
    objective = Objective(HOSTILE[0], "oldest_seconds", 120.0, 0.99)
    return ReportFacts(
        period,
        60,
        tuple(_queue(place, name) for place, name in enumerate(names)),
        incidents,
        ((TARGET, "LWLock:WALWrite" + "x" * 60, 1.25), (TARGET, "Lock:transactionid", 0.5)),
        {"bad": 3},
        7,
        2,
        tuple(_messages(name) for name in names),
        21600.0 * queues,
        trouble_by_queue(incidents, period),
        {},
        (Coverage(TARGET, 19000.0, 0.88, 3600.0, START + 3600), Coverage(HOSTILE[1], 21600.0, 1.0)),
        tuple(_operation(name) for name in (None, *names)),
        sort_by_budget(
            Level(objective, TARGET, name, 20000.0, 40.0 * n, 20000.0, 40.0 * n) for n, name in enumerate(names)
        ),
        _baselines(names),
        tuple(
            {"target": name, "reason": name, "lines": n + 1, "first_day": DAY, "last_day": DAY}
            for n, name in enumerate(names)
        ),
    )


def _queue(place: int, name: str) -> QueueFacts:
    plot = tuple(_row(START + n * 60, 60.0, place + n % 90) for n in range(360) if not 100 < n < 140)
    worst = tuple(_row(START + n * 3600, 3600.0, place + n) for n in range(5))
    days = [(day, 100.0 + day) for day in range(20)]
    return QueueFacts(
        TARGET,
        name,
        _row(START, 21600.0, place),
        _row(START, 21600.0, place + 1),
        plot,
        worst,
        estimate_capacity(5e6, days),
        tuple(days),
        find_unusual_hours(_baselines([name]), TARGET, name, worst),
    )


def _baselines(names: list[str]) -> Baselines:
    hours = {
        name: {figure: dict.fromkeys(range(168), Baseline(3.0, 0.5, 6)) for figure in ("ready", "push_rate")}
        for name in names
    }
    return Baselines({TARGET: hours})


def _row(at: float, seconds: float, n: int) -> dict[str, Any]:
    sums = {"pushed": n * 1234567.0, "popped": n * 1234560.0, "flow_s": seconds, "seconds": seconds}
    depth = {f"{name}_s": n * seconds for name in ("ready", "oldest", "in_progress")}
    known = {f"{name}_known_s": seconds for name in ("ready", "oldest", "in_progress")}
    tail = {f"{name}_{p}": float(n * 1000) for name in ("ready", "oldest") for p in ("p50", "p95", "p99", "max")}
    return {"start_at": at, **sums, **depth, **known, **tail}


def _messages(name: str) -> dict[str, Any]:
    tails = {f"{what}_{p}": 86400.0 * 99 for what in ("wait", "work") for p in ("p50", "p95", "p99")}
    return {"target": TARGET, "queue": name, "messages": 123_456_789, "again": 0.999, **tails}


def _incident(place: int, name: str) -> dict[str, Any]:
    done = {"kind": "requeue", "state": "done", "by": "anna@ops-1"}
    return {
        "target": TARGET,
        "queue": name,
        "cause": "consumers fall behind",
        "start_at": START + place * 60,
        "end_at": START + place * 60 + 300,
        "severity": 2 + place % 2,
        "codes": ["consumers fall behind", "no pops"],
        "peak_ready": 1234567.0,
        "proof": f"push 120/s over pop 80/s for 300 s in {name}",
        "operations": [done] if place % 2 else [],
    }


def _operation(name: str | None) -> dict[str, Any]:
    return {
        "target": TARGET,
        "queue": name,
        "started_at": START + 7200,
        "ended_at": None,
        "kind": "pause",
        "state": "done",
        "by": "<b>anna</b>@ops-1",
        "reason": "</script><script>alert(1)</script>",
        "done": None,
    }
