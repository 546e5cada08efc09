"""Maintenance of a lake: merges small files and deletes old data. Needs no Spark."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

from qmon.pipeline.lake.deleted_days import DeletedDays, deleted_days_entry
from qmon.pipeline.lake.delta import ChangedMeanwhile, TableLog
from qmon.pipeline.lake.lake import table_logs
from qmon.pipeline.pipeline_texts import LakeText

UNUSED_S: Final = 7 * 86400.0
_DAY_S: Final = 86400.0
_TRIES: Final = 5

# The tables with a configurable retention. Each table is mapped to the other tables whose rows are deleted together
# with its own rows.
_TABLES_KEPT_TOGETHER: Final = {"samples": ("samples", "polls"), "minutes": ("minutes",), "messages": ("messages",)}
KEEPABLE: Final = tuple(_TABLES_KEPT_TOGETHER)


@dataclass(frozen=True, slots=True)
class LakeRetention:
    """How long to keep data, in seconds. ``tables``: retention of tables in ``KEEPABLE``, rounded to whole days.

    ``unused_s``: a file is deleted if no version of the table has used it for this time. A reader that has been running
    longer than this fails. A batch or message intake that has been running longer loses the files that it wrote.
    """

    tables: Mapping[str, float] = field(default_factory=dict)
    unused_s: float = UNUSED_S


@dataclass(frozen=True, slots=True)
class TidiedTable:
    """The result for one table.

    ``compacted``: number of small files merged. ``into``: number of files written instead. ``old_rows``: number of old
    rows deleted. ``removed``: number of files deleted.
    """

    table: str
    compacted: int
    into: int
    old_rows: int
    removed: int


def tidy_lake(lake: str, retention: LakeRetention, today: datetime.date | None = None) -> list[TidiedTable]:
    """Delete data older than its retention, merge small files, and delete unused files of the lake at a path.

    Other processes may read and write at the same time. Raises ``ChangedMeanwhile`` if other processes rewrote the same
    files in every attempt.
    """
    day = today or datetime.datetime.now(datetime.UTC).date()
    first = {
        name: day - datetime.timedelta(days=int(kept_s // _DAY_S))
        for table, kept_s in retention.tables.items()
        for name in _TABLES_KEPT_TOGETHER[table]
    }
    tables = table_logs(lake)
    if (kept := first.get("samples")) is not None and (samples := tables["samples"]).exists():
        # Commit this before any row of these days is deleted, so that no batch recomputes the hours of these days any
        # more.
        known = samples.read_entries(samples.version())
        samples.commit_entries(deleted_days_entry(known, [DeletedDays(kept)]))
    return [
        _tidy_table(name, table, first.get(name), retention.unused_s)
        for name, table in tables.items()
        if table.exists()
    ]


def _tidy_table(name: str, table: TableLog, first: datetime.date | None, unused_s: float) -> TidiedTable:
    gone: Mapping[str, Any] = {}
    if first is not None:
        gone = _retry_on_conflict(table, lambda version: version.delete(f"date < '{first}'"))
    packed = _retry_on_conflict(table, lambda version: version.optimize.compact())
    removed = table.open_or_create().vacuum(
        int(unused_s // 3600), dry_run=False, enforce_retention_duration=False, full=True
    )
    if table.read_entries(
        table.version()
    ):  # store the entries again, because the log entry with the entries will be deleted
        table.commit_entries({})
    _shorten_log(table.open_or_create())
    rows = gone.get("num_deleted_rows") or 0
    return TidiedTable(name, packed["numFilesRemoved"], packed["numFilesAdded"], rows, len(removed))


def _retry_on_conflict(table: TableLog, do: Callable[[DeltaTable], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Run an action on the newest version, and repeat the action if a batch has rewritten the same files."""
    for left in reversed(range(_TRIES)):
        try:
            return do(table.open_or_create())
        except CommitFailedError as problem:
            if not left:
                raise ChangedMeanwhile(LakeText.TIDY_CONFLICT.render(table=table.uri, problem=problem)) from problem
    raise AssertionError


def _shorten_log(version: DeltaTable) -> None:
    """Create a checkpoint and remove old log entries, so that readers need to read little of the log."""
    version.create_checkpoint()
    version.cleanup_metadata()
