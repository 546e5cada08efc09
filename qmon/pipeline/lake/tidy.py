"""What a lake needs from time to time: few large files in place of many small ones, and an end to what is old."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import CommitFailedError

from qmon.pipeline.lake.delta import SAID, ChangedMeanwhile, LakeTable
from qmon.pipeline.lake.lake import Lake
from qmon.pipeline.lake.schema import TABLES

UNUSED_S: Final = 7 * 86400.0
_DAY_S: Final = 86400.0
KEPT_FROM: Final = "kept_from"
"""In what ``samples`` say: the first day of which they are kept, so that no hour is computed anew without them."""
_TOGETHER: Final = {"samples": ("samples", "polls"), "minutes": ("minutes",), "messages": ("messages",)}
"""Tables that may be kept for a time only, with those that go with them."""
KEEPABLE: Final = tuple(_TOGETHER)


@dataclass(frozen=True, slots=True)
class Keep:
    """For how long, in seconds. ``tables``: what of ``KEEPABLE`` is kept for a time only, by its days.

    ``unused_s``: files that no version of the last so many seconds needs are removed; readers that began with such a
    version lose them.
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

    Others may read and write meanwhile. Raises ``ChangedMeanwhile`` where somebody else has committed the same files.
    """
    day = today or datetime.datetime.now(datetime.UTC).date()
    first = {
        name: day - datetime.timedelta(days=int(kept_s // _DAY_S))
        for table, kept_s in keep.tables.items()
        for name in _TOGETHER[table]
    }
    found = []
    for name in TABLES:
        table = lake.table(name)
        if table.exists():
            try:
                found.append(_tidied(name, table, first.get(name), keep.unused_s))
            except CommitFailedError as problem:
                raise ChangedMeanwhile(
                    f"somebody else writes to the table {table.uri}: {problem}; do it again"
                ) from problem
    return found


def _tidied(name: str, table: LakeTable, first: datetime.date | None, unused_s: float) -> Tidied:
    version = table.made()
    said = table.said(version)
    if first is not None and name == "samples":
        said = (said or {}) | {KEPT_FROM: max(str(first), (said or {}).get(KEPT_FROM, ""))}
    # What the newest batch or take has said must not be lost.
    saying = CommitProperties(custom_metadata={SAID: json.dumps(said, sort_keys=True)})
    gone = version.delete(f"date < '{first}'", commit_properties=saying) if first is not None else {}
    packed = version.optimize.compact(commit_properties=saying)
    removed = version.vacuum(
        int(unused_s // 3600), dry_run=False, enforce_retention_duration=False, full=True, commit_properties=saying
    )
    _shorten(version)
    rows = gone.get("num_deleted_rows") or 0
    return Tidied(name, packed["numFilesRemoved"], packed["numFilesAdded"], rows, len(removed))


def _shorten(version: DeltaTable) -> None:
    """So that a reader of the table reads little of its log."""
    version.create_checkpoint()
    version.cleanup_metadata()
