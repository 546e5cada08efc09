"""The wording of the sentences in reports on days and weeks."""

from __future__ import annotations

from typing import Any, Final

from qmon.pipeline.report.headline import HeadlineText, LookText
from qmon.pipeline.report.html import PageText
from qmon.pipeline.report.notes import ReportNoteText
from qmon.pipeline.report.tables import TableText
from qmon.pipeline.report.unusual_hours import UnusualText
from qmon.pipeline.rollup.capacity import NoForecastText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

START: Final = "Sat 24 Oct 23:44"

WORDINGS: Final[Wordings] = {
    HeadlineText.QUEUES: ({"count": 1_200}, "1,200 queues"),
    HeadlineText.NOT_WATCHED: (
        {"queues": "orders", "were": "was"},
        "orders was not watched for long enough.",
    ),
    HeadlineText.ALWAYS_HEALTHY: (
        {"queues": "orders and mails", "were": "were"},
        "orders and mails were healthy during all of the time watched.",
    ),
    HeadlineText.HEALTHY_FOR: (
        {
            "queues": "orders",
            "were": "was",
            "share": "98.6 %",
            "incidents": "one incident",
            "longest": ": orders, consumers fall behind, for 5 m 00 s from Sat 24 Oct 23:44",
        },
        "orders was healthy for 98.6 % of the time watched, with one incident: orders, consumers fall behind, for "
        "5 m 00 s from Sat 24 Oct 23:44.",
    ),
    HeadlineText.ONE_INCIDENT: ({}, "one incident"),
    HeadlineText.INCIDENTS: ({"count": 1_200}, "1,200 incidents"),
    HeadlineText.THE_INCIDENT: (
        {"queue": "orders", "cause": "no pops", "duration": "5 m 00 s", "start": START},
        ": orders, no pops, for 5 m 00 s from Sat 24 Oct 23:44",
    ),
    HeadlineText.LONGEST_INCIDENT: (
        {"queue": "orders", "cause": "no pops", "duration": "5 m 00 s", "start": START},
        "; the longest incident: orders, no pops, for 5 m 00 s from Sat 24 Oct 23:44",
    ),
    HeadlineText.PARTLY_WATCHED: ({"share": "62 %"}, " Only 62 % of the period was watched."),
    LookText.MISSED: (
        {"queue": "orders", "goal": "oldest < 2m for 99 % of 28d", "share": "97.8 %", "over": "4 m 00 s"},
        "orders: oldest < 2m for 99 % of 28d was missed: 97.8 %, 4 m 00 s over the error budget",
    ),
    LookText.BUDGET_LOW: (
        {"queue": "orders", "goal": "oldest < 2m for 99 % of 28d", "left": "12 %", "duration": "20 h 00 m"},
        "orders: oldest < 2m for 99 % of 28d: 12 % of the error budget is left and lasts 20 h 00 m at the last day's "
        "rate",
    ),
    LookText.INCIDENT: (
        {"queue": "orders", "cause": "no pops", "duration": "5 m 00 s", "start": START},
        "orders: no pops for 5 m 00 s from Sat 24 Oct 23:44",
    ),
    LookText.ONE_OF_INCIDENTS: (
        {
            "incident": "orders: no pops for 5 m 00 s from Sat 24 Oct 23:44",
            "count": 1_200,
            "duration": "9 h 00 m",
        },
        "orders: no pops for 5 m 00 s from Sat 24 Oct 23:44, one of 1,200 incidents, 9 h 00 m in total",
    ),
    LookText.OUTGROWN: (
        {"queue": "orders", "time": "in 21 days (18 to 25)"},
        "orders: pushes are growing and reach the pop rate of the best hour in 21 days (18 to 25)",
    ),
    LookText.WATCHED: ({"target": "shop", "share": "62 %"}, "shop was watched for 62 % of the time"),
    LookText.LONGEST_GAP: (
        {"watched": "shop was watched for 62 % of the time", "duration": "9 h 00 m", "start": START},
        "shop was watched for 62 % of the time; the longest gap is 9 h 00 m from Sat 24 Oct 23:44",
    ),
    LookText.UNUSUAL: (
        {"queue": "orders", "description": "pushes 3.1 times the usual", "duration": "3 h 00 m", "start": START},
        "orders: pushes 3.1 times the usual, for 3 h 00 m from Sat 24 Oct 23:44",
    ),
    LookText.OLDER: (
        {"queue": "orders", "now": "3 m 00 s", "before": "1 m 00 s", "change": "+200 %"},
        "orders: the p95 age is 3 m 00 s, was 1 m 00 s before (+200 %)",
    ),
    ReportNoteText.SCOPE: (
        {"targets": "crm, shop", "start": "2026-11-01 00:00", "end": "2026-11-08 00:00"},
        "crm, shop: 2026-11-01 00:00 to 2026-11-08 00:00 UTC",
    ),
    ReportNoteText.AND_MORE: ({"targets": "a, b, c, d, e", "count": 1_200}, "a, b, c, d, e and 1,200 more"),
    ReportNoteText.FIGURES: (
        {},
        "Healthy: the share of the watched time without a warning or worse. An age is the age of the oldest ready "
        "message. Percentiles are weighted by time. Rates are messages divided by the seconds covered by counters.",
    ),
    ReportNoteText.QUEUES_LEFT_OUT: (
        {"count": 1_200},
        "1,200 queues with fewer problems and messages are not shown; show them with --target or --queue.",
    ),
    ReportNoteText.INCIDENTS_LEFT_OUT: (
        {"count": 1_200},
        "1,200 more incidents are not listed; choose a shorter period to see them.",
    ),
    ReportNoteText.NO_BASELINE: (
        {},
        "No baseline yet: run qmon pipeline baselines when the lake has at least four weeks of data.",
    ),
    ReportNoteText.NO_FORECAST: ({"reason": "pushes are not growing"}, "No forecast: pushes are not growing."),
    ReportNoteText.GROWTH: (
        {"growth": "1.2", "time": "in 21 days (18 to 25)"},
        "Pushes grow by 1.2/s per day and reach the best hour in 21 days (18 to 25).",
    ),
    TableText.LEVELS: (
        {},
        "Each share is a share of the watched time. The error budget is the time for which the limit may be exceeded. "
        "At a burn rate of 1, the budget lasts exactly as long as the window. Too little data: less than half of the "
        "window was watched.",
    ),
    TableText.TOO_LITTLE_DATA: ({"state": "met"}, "met, too little data"),
    TableText.BEFORE: (
        {"duration": "7 d 00 h", "start": "2026-11-01 00:00"},
        "Compared with the previous 7 d 00 h, from 2026-11-01 00:00.",
    ),
    TableText.UNUSUAL: (
        {},
        "In these hours, the hourly mean was outside the usual band for the hour of the week.",
    ),
    TableText.CAPACITY: (
        {},
        "Growth is a straight line fitted to whole days; the range in parentheses has 95 % confidence. A queue that "
        "ran empty can pop more than its best hour.",
    ),
    TableText.COVERAGE: ({}, "Gaps shorter than one hour are not listed."),
    TableText.BAD: (
        {},
        "These lines do not count in any figure. The table bad of the lake contains each of them.",
    ),
    TableText.ALSO: ({"verdicts": "stuck, dead"}, "also stuck, dead"),
    TableText.NOW: ({}, "now"),
    TableText.IN_DAYS: ({"days": 1_200.4, "earliest": 900.0, "latest": 1_500.0}, "in 1,200 days (900 to 1,500)"),
    PageText.LOOK_AT: ({}, "Look at:"),
    PageText.MOVED: (
        {"pushed": "1,200", "popped": "1,100", "duration": "7 d 00 h"},
        "1,200 pushed, 1,100 popped in 7 d 00 h of watching.",
    ),
    PageText.BEST_HOUR: (
        {"rate": "120", "outlook": "No forecast: pushes are not growing."},
        "Best hour: 120 popped/s. No forecast: pushes are not growing.",
    ),
    PageText.COMPARED: (
        {"pushes": "+12 %", "pops": "-3 %", "age": "from 0"},
        "Compared with the previous period: pushes +12 %, pops -3 %, p95 age from 0.",
    ),
    PageText.PLOT_FLOW: ({}, "Messages per second"),
    PageText.PLOT_READY: ({}, "Messages ready"),
    PageText.PLOT_AGE: ({}, "Age of the oldest ready message"),
    PageText.PLOT_IN_PROGRESS: ({}, "Messages in progress"),
    PageText.PLOT_GROWTH: ({}, "Pushes per second by day, and pops of the best hour"),
    PageText.INCIDENT: (
        {"cause": "no pops", "duration": "5 m 00 s", "start": START},
        "no pops, 5 m 00 s from Sat 24 Oct 23:44",
    ),
    PageText.NOTHING: ({}, "No incidents and no operations."),
    PageText.ONE_OTHER: ({}, "One other queue had no incidents and no operations."),
    PageText.OTHERS: ({"count": 1_200}, "1,200 other queues had no incidents and no operations."),
    UnusualText.TIMES_USUAL: ({"figure": "pushes", "ratio": "3.1"}, "pushes 3.1 times the usual"),
    UnusualText.USUALLY: ({"figure": "pushes", "value": "12/s", "usual": "0/s"}, "pushes 12/s, usually 0/s"),
    NoForecastText.SHORT_HISTORY: ({"days": 5, "needed": 14}, "not enough history: 5 of 14 days"),
    NoForecastText.NO_FULL_HOUR: ({}, "no full hour of pops was watched"),
    NoForecastText.NO_GROWTH: ({}, "pushes are not growing"),
    NoForecastText.UNCERTAIN: ({}, "the days differ more than pushes grow"),
    NoForecastText.FAR_AWAY: ({}, "not within ten years"),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
