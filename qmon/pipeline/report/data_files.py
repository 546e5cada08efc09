"""Writes the data of a report to files: one table for each part, and the series that the plots show.

Times are seconds since the epoch, as in the lake. Columns that end in ``_s`` are in seconds, columns that end in
``_per_s`` in messages per second. Shares are 0 to 1. Unknown values are empty.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from qmon import files
from qmon.model.formatting import spreadsheet_safe
from qmon.pipeline.report.facts import ReportFacts, flow_rate, time_mean
from qmon.pipeline.report.period import Trouble
from qmon.pipeline.report.tables import counters_watched_share, watched_share

_NONE: Final = Trouble(0.0, 0)

# The columns of each file.
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    name: tuple(columns.split())
    for name, columns in {
        "levels": "target queue slo figure below objective window_s counted_s bad_s kept met budget_left burn_rate",
        "queues": (
            "target queue watched counters_watched incidents incident_s push_per_s pop_per_s ready_mean "
            "ready_p95 ready_max oldest_p50_s oldest_p95_s oldest_p99_s push_before_per_s "
            "oldest_p95_before_s incident_before_s best_hour_per_s growth_per_s_per_day outgrown_days "
            "outgrown_earliest_days outgrown_latest_days"
        ),
        "series": (
            "target queue start_at watched_s push_per_s pop_per_s ready_mean ready_max oldest_mean_s "
            "oldest_max_s in_progress_mean"
        ),
        "incidents": "target queue start_at end_at severity cause codes proof ready_max",
        "unusual": "target queue figure start_at end_at value usual usual_low usual_high",
        "operations": "target queue started_at ended_at kind state by reason done",
        "coverage": "target watched watched_s longest_gap_s longest_gap_at",
        "bad": "target reason lines first_day last_day",
    }.items()
}


def export_rows(facts: ReportFacts) -> dict[str, Sequence[Mapping[str, Any]]]:
    """Return the rows of each part of the report, keyed by file name."""
    return {
        "levels": [*_slo_rows(facts)],
        "queues": [*_queue_rows(facts)],
        "series": [*_series_rows(facts)],
        "incidents": [*_incident_rows(facts)],
        "unusual": [*_unusual_rows(facts)],
        "operations": [_select_columns("operations", row) for row in facts.operations],
        "coverage": [
            {
                "target": each.target,
                "watched": each.share,
                "watched_s": each.seconds,
                "longest_gap_s": each.gap_s,
                "longest_gap_at": each.gap_at,
            }
            for each in facts.targets
        ],
        "bad": [_select_columns("bad", row) for row in facts.bad],
    }


def write_csv(facts: ReportFacts, folder: Path) -> list[str]:
    """Write the data as CSV files in UTF-8 and return their names. Creates the folder if needed and replaces files.

    If a spreadsheet would read a text as a formula, the text gets a leading apostrophe.
    """
    files.make_folder(folder)
    for name, rows in export_rows(facts).items():
        out = io.StringIO(newline="")
        lines = csv.DictWriter(out, COLUMNS[name], lineterminator="\n")
        lines.writeheader()
        lines.writerows({column: _csv_field(value) for column, value in row.items()} for row in rows)
        files.replace_file(folder / f"{name}.csv", out.getvalue())
    return [f"{name}.csv" for name in COLUMNS]


def _csv_field(value: object) -> object:
    if isinstance(value, str):
        return spreadsheet_safe(value)
    return str(value).lower() if isinstance(value, bool) else value


def _select_columns(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    return {column: row[column] for column in COLUMNS[name]}


def _slo_rows(facts: ReportFacts) -> Iterable[dict[str, Any]]:
    for each in facts.levels:
        asked = each.objective
        yield {
            "target": each.target,
            "queue": each.queue,
            "slo": asked.name,
            "figure": asked.figure,
            "below": asked.below,
            "objective": asked.share,
            "window_s": asked.window_s,
            "counted_s": each.counted_s,
            "bad_s": each.bad_s,
            "kept": each.share,
            "met": each.is_met,
            "budget_left": each.budget_left,
            "burn_rate": each.burn_rate,
        }


def _queue_rows(facts: ReportFacts) -> Iterable[dict[str, Any]]:
    for q in facts.queues:
        whole, before, can = q.whole, q.before, q.capacity
        lost, lost_before = facts.trouble.get(q.key, _NONE), facts.trouble_before.get(q.key, _NONE)
        yield {
            "target": q.target,
            "queue": q.queue,
            "watched": watched_share(q, facts),
            "counters_watched": counters_watched_share(q, facts),
            "incidents": lost.incidents,
            "incident_s": lost.seconds,
            "push_per_s": flow_rate(whole, "pushed"),
            "pop_per_s": flow_rate(whole, "popped"),
            "ready_mean": time_mean(whole, "ready"),
            "ready_p95": whole["ready_p95"],
            "ready_max": whole["ready_max"],
            **{f"oldest_{p}_s": whole[f"oldest_{p}"] for p in ("p50", "p95", "p99")},
            "push_before_per_s": None if before is None else flow_rate(before, "pushed"),
            "oldest_p95_before_s": None if before is None else before["oldest_p95"],
            "incident_before_s": None if before is None else lost_before.seconds,
            "best_hour_per_s": can.sustained,
            "growth_per_s_per_day": can.growth,
            "outgrown_days": can.outgrown_days,
            "outgrown_earliest_days": can.earliest_days,
            "outgrown_latest_days": can.latest_days,
        }


def _series_rows(facts: ReportFacts) -> Iterable[dict[str, Any]]:
    for q in facts.queues:
        for row in q.plot:
            yield {
                "target": q.target,
                "queue": q.queue,
                "start_at": row["start_at"],
                "watched_s": row["seconds"],
                "push_per_s": flow_rate(row, "pushed"),
                "pop_per_s": flow_rate(row, "popped"),
                "ready_mean": time_mean(row, "ready"),
                "ready_max": row["ready_max"],
                "oldest_mean_s": time_mean(row, "oldest"),
                "oldest_max_s": row["oldest_max"],
                "in_progress_mean": time_mean(row, "in_progress"),
            }


def _incident_rows(facts: ReportFacts) -> Iterable[dict[str, Any]]:
    for row in facts.incidents:
        named = ("target", "queue", "start_at", "end_at", "severity", "cause", "proof")
        yield {name: row[name] for name in named} | {
            "codes": ", ".join(row["codes"]),
            "ready_max": row["peak_ready"],
        }


def _unusual_rows(facts: ReportFacts) -> Iterable[dict[str, Any]]:
    for q in facts.queues:
        for each in q.unusual:
            worst = each.worst
            yield {
                "target": each.target,
                "queue": each.queue,
                "figure": worst.figure,
                "start_at": each.start,
                "end_at": each.end,
                "value": worst.value,
                "usual": worst.band.median,
                "usual_low": worst.band.low,
                "usual_high": worst.band.high,
            }
