"""The data of a report as files: a table for each part, and the series behind its plots.

Times are seconds since the epoch, as in the lake. Names with ``_s`` are in seconds, with ``_per_s`` in messages per
second. Shares are 0 to 1. Unknown values are null in Parquet and empty in CSV.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyarrow import parquet

from qmon import files
from qmon.model.formatting import spreadsheet_safe
from qmon.pipeline.report.facts import ReportFacts, flow_rate, time_mean
from qmon.pipeline.report.period import Trouble
from qmon.pipeline.report.tables import counters_watched_share, watched_share

_D, _S, _I, _B = pa.float64(), pa.string(), pa.int64(), pa.bool_()
_QUEUE_COLUMNS: Final = {"target": _S, "queue": _S}
_NONE: Final = Trouble(0.0, 0)

# The columns of each file.
SCHEMAS: Final[Mapping[str, Mapping[str, pa.DataType]]] = {
    "levels": {
        **_QUEUE_COLUMNS,
        "slo": _S,
        "figure": _S,
        "below": _D,
        "objective": _D,
        "window_s": _D,
        "counted_s": _D,
        "bad_s": _D,
        "kept": _D,
        "met": _B,
        "budget_left": _D,
        "burn_rate": _D,
    },
    "queues": {
        **_QUEUE_COLUMNS,
        "watched": _D,
        "counters_watched": _D,
        "incidents": _I,
        "incident_s": _D,
        "push_per_s": _D,
        "pop_per_s": _D,
        "ready_mean": _D,
        "ready_p95": _D,
        "ready_max": _D,
        "oldest_p50_s": _D,
        "oldest_p95_s": _D,
        "oldest_p99_s": _D,
        "push_before_per_s": _D,
        "oldest_p95_before_s": _D,
        "incident_before_s": _D,
        "best_hour_per_s": _D,
        "growth_per_s_per_day": _D,
        "outgrown_days": _D,
        "outgrown_earliest_days": _D,
        "outgrown_latest_days": _D,
    },
    "series": {
        **_QUEUE_COLUMNS,
        "start_at": _D,
        "watched_s": _D,
        "push_per_s": _D,
        "pop_per_s": _D,
        "ready_mean": _D,
        "ready_max": _D,
        "oldest_mean_s": _D,
        "oldest_max_s": _D,
        "in_progress_mean": _D,
    },
    "incidents": {
        **_QUEUE_COLUMNS,
        "start_at": _D,
        "end_at": _D,
        "severity": _I,
        "cause": _S,
        "codes": _S,
        "proof": _S,
        "ready_max": _D,
    },
    "unusual": {
        **_QUEUE_COLUMNS,
        "figure": _S,
        "start_at": _D,
        "end_at": _D,
        "value": _D,
        "usual": _D,
        "usual_low": _D,
        "usual_high": _D,
    },
    "operations": {
        **_QUEUE_COLUMNS,
        "started_at": _D,
        "ended_at": _D,
        "kind": _S,
        "state": _S,
        "by": _S,
        "reason": _S,
        "done": _I,
    },
    "coverage": {"target": _S, "watched": _D, "watched_s": _D, "longest_gap_s": _D, "longest_gap_at": _D},
}


def export_tables(facts: ReportFacts) -> dict[str, pa.Table]:
    """Return each part of the report as a table, by file name."""
    rows = {
        "levels": _level_rows(facts),
        "queues": _queue_rows(facts),
        "series": _series_rows(facts),
        "incidents": _incident_rows(facts),
        "unusual": _unusual_rows(facts),
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
    }
    return {name: pa.Table.from_pylist(list(each), schema=pa.schema(SCHEMAS[name])) for name, each in rows.items()}


def write_parquet(facts: ReportFacts, folder: Path) -> list[str]:
    """Write the tables as Parquet files and return their names. Creates the folder if needed and replaces files."""
    files.make_folder(folder)
    found = export_tables(facts)
    for name, table in found.items():
        out = io.BytesIO()
        parquet.write_table(table, out)
        files.replace_file(folder / f"{name}.parquet", out.getvalue())
    return [f"{name}.parquet" for name in found]


def write_csv(facts: ReportFacts, folder: Path) -> list[str]:
    """Write the tables as CSV in UTF-8. Texts that a spreadsheet would take for a formula begin with an apostrophe."""
    files.make_folder(folder)
    found = export_tables(facts)
    for name, table in found.items():
        out = io.StringIO(newline="")
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(table.column_names)
        lines.writerows([_csv_field(value) for value in row.values()] for row in table.to_pylist())
        files.replace_file(folder / f"{name}.csv", out.getvalue())
    return [f"{name}.csv" for name in found]


def _csv_field(value: object) -> object:
    if isinstance(value, str):
        return spreadsheet_safe(value)
    return str(value).lower() if isinstance(value, bool) else value


def _select_columns(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    return {column: row[column] for column in SCHEMAS[name]}


def _level_rows(facts: ReportFacts) -> Iterable[dict[str, Any]]:
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
