"""Maintenance of a lake: merges small files and deletes old data."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

from qmon.pipeline.lake.delta import ChangedMeanwhile, LakeTable
from qmon.pipeline.lake.lake import Lake
from qmon.pipeline.lake.schema import TABLES

UNUSED_S: Final = 7 * 86400.0
_DAY_S: Final = 86400.0
_TRIES: Final = 5

# Key of an entry of `samples`: the first day with kept samples, so that no earlier hour is recomputed without them.
KEPT_FROM: Final = "kept_from"

# Tables with limited retention, and the tables deleted together with them.
_TOGETHER: Final = {"samples": ("samples", "polls"), "minutes": ("minutes",), "messages": ("messages",)}
KEEPABLE: Final = tuple(_TOGETHER)


@dataclass(frozen=True, slots=True)
class Keep:
    """How long to keep data, in seconds. ``tables``: retention of tables in ``KEEPABLE``, by whole days.

    ``unused_s``: files that no version of this last period needs are deleted. Readers that started earlier fail, and a
    batch or take that has been running longer loses the files it wrote.
    """

    tables: Mapping[str, float] = field(default_factory=dict)
    unused_s: float = UNUSED_S


@dataclass(frozen=True, slots=True)
class Tidied:
    """The result for one table: files merged, files written for them, old rows deleted, files deleted."""

    table: str
    compacted: int
    into: int
    old_rows: int
    removed: int


def tidy(lake: Lake, keep: Keep, today: datetime.date | None = None) -> list[Tidied]:
    """Delete data older than its retention, merge small files, and delete unused files.

    Others may read and write at the same time. Raises ``ChangedMeanwhile`` if they keep rewriting the same files.
    """
    day = today or datetime.datetime.now(datetime.UTC).date()
    first = {
        name: day - datetime.timedelta(days=int(kept_s // _DAY_S))
        for table, kept_s in keep.tables.items()
        for name in _TOGETHER[table]
    }
    tables = {name: lake.table(name) for name in TABLES}
    if (kept := first.get("samples")) is not None and (samples := tables["samples"]).exists():
        # Before deleting anything of these days: from now on no batch recomputes their hours.
        before = samples.said(samples.version()).get(KEPT_FROM, "")
        samples.say({KEPT_FROM: max(str(kept), before)})
    return [_tidied(name, table, first.get(name), keep.unused_s) for name, table in tables.items() if table.exists()]


def _tidied(name: str, table: LakeTable, first: datetime.date | None, unused_s: float) -> Tidied:
    gone: Mapping[str, Any] = {}
    if first is not None:
        gone = _again(table, lambda version: version.delete(f"date < '{first}'"))
    packed = _again(table, lambda version: version.optimize.compact())
    removed = table.made().vacuum(int(unused_s // 3600), dry_run=False, enforce_retention_duration=False, full=True)
    if table.said(table.version()):  # store the entries again, so that they outlive the log entry that holds them
        table.say({})
    _shorten(table.made())
    rows = gone.get("num_deleted_rows") or 0
    return Tidied(name, packed["numFilesRemoved"], packed["numFilesAdded"], rows, len(removed))


def _again(table: LakeTable, do: Callable[[DeltaTable], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Run an action on the newest version, and repeat it if a batch has rewritten the same files."""
    for left in reversed(range(_TRIES)):
        try:
            return do(table.made())
        except CommitFailedError as problem:
            if not left:
                raise ChangedMeanwhile(
                    f"somebody else writes to the table {table.uri}: {problem}; do it again"
                ) from problem
    raise AssertionError


def _shorten(version: DeltaTable) -> None:
    """Create a checkpoint and remove old log entries, so that readers read little of the log."""
    version.create_checkpoint()
    version.cleanup_metadata()
