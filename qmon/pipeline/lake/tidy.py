"""What a lake needs from time to time: few large files in place of many small ones, and an end to what is old."""

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
# In what `samples` say: the first day of which they are kept, so that no hour is computed anew without them.
KEPT_FROM: Final = "kept_from"
# Tables that may be kept for a time only, with those that go with them.
_TOGETHER: Final = {"samples": ("samples", "polls"), "minutes": ("minutes",), "messages": ("messages",)}
KEEPABLE: Final = tuple(_TOGETHER)


@dataclass(frozen=True, slots=True)
class Keep:
    """For how long, in seconds. ``tables``: what of ``KEEPABLE`` is kept for a time only, by its days.

    ``unused_s``: files that no version of the last so many seconds needs are removed; readers that began with such a
    version lose them, and a batch or take that has been under way for longer loses what it has written.
    """

    tables: Mapping[str, float] = field(default_factory=dict)
    unused_s: float = UNUSED_S


@dataclass(frozen=True, slots=True)
class Tidied:
    """Of one table: files that became others, the files that these are now, rows that were too old, files removed."""

    table: str
    compacted: int
    into: int
    old_rows: int
    removed: int


def tidy(lake: Lake, keep: Keep, today: datetime.date | None = None) -> list[Tidied]:
    """Remove what is older than it is kept, write small files anew as large ones, and remove what is needed no more.

    Others may read and write meanwhile. Raises ``ChangedMeanwhile`` where they write the same files anew all the time.
    """
    day = today or datetime.datetime.now(datetime.UTC).date()
    first = {
        name: day - datetime.timedelta(days=int(kept_s // _DAY_S))
        for table, kept_s in keep.tables.items()
        for name in _TOGETHER[table]
    }
    tables = {name: lake.table(name) for name in TABLES}
    if (kept := first.get("samples")) is not None and (samples := tables["samples"]).exists():
        # Before anything of these days is removed: from now on no batch computes their hours anew.
        before = samples.said(samples.version()).get(KEPT_FROM, "")
        samples.say({KEPT_FROM: max(str(kept), before)})
    return [_tidied(name, table, first.get(name), keep.unused_s) for name, table in tables.items() if table.exists()]


def _tidied(name: str, table: LakeTable, first: datetime.date | None, unused_s: float) -> Tidied:
    gone: Mapping[str, Any] = {}
    if first is not None:
        gone = _again(table, lambda version: version.delete(f"date < '{first}'"))
    packed = _again(table, lambda version: version.optimize.compact())
    removed = table.made().vacuum(int(unused_s // 3600), dry_run=False, enforce_retention_duration=False, full=True)
    if table.said(table.version()):  # it must outlive the log in which it was said
        table.say({})
    _shorten(table.made())
    rows = gone.get("num_deleted_rows") or 0
    return Tidied(name, packed["numFilesRemoved"], packed["numFilesAdded"], rows, len(removed))


def _again(table: LakeTable, do: Callable[[DeltaTable], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Do something with the newest version, and again where a batch has written the same files anew meanwhile."""
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
    """So that a reader of the table reads little of its log."""
    version.create_checkpoint()
    version.cleanup_metadata()
