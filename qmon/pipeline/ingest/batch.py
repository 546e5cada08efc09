"""One batch: writes new segments to the lake and recomputes everything derived from them for the affected hours."""

from __future__ import annotations

import datetime
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, StringType, StructField, StructType

from qmon.pipeline.ingest import staged as stage
from qmon.pipeline.lake.delta import Conflict, Files, Within, WrittenFiles, committed, table_of
from qmon.pipeline.lake.lake import Lake, LakeView
from qmon.pipeline.lake.schema import BATCH, bucket
from qmon.pipeline.lake.storage import Storage
from qmon.pipeline.rollup import rollups
from qmon.pipeline.rollup.incidents import runs

_STRETCHES: Final = StructType([StructField("target", StringType()), StructField("begun", DoubleType())])

# Up to this many periods are matched without a join.
_FEW: Final = 16


@dataclass(frozen=True, slots=True)
class Touched:
    """The hours that a batch affects, as pairs of target and seconds since the epoch.

    ``shared``: true if several recorders watched one of them.
    """

    hours: frozenset[tuple[str, float]]
    shared: bool

    @property
    def low(self) -> float:
        """Start of the first hour, seconds since the epoch."""
        return min(hour for _, hour in self.hours)

    @property
    def high(self) -> float:
        """End of the last hour, seconds since the epoch."""
        return max(hour for _, hour in self.hours) + rollups.HOUR_S

    def within(self, over: str = "") -> Within:
        """Return the part of a table that may hold rows of these hours. Without ``over``: of their days."""
        targets = {target for target, _ in self.hours}
        dates = {datetime.datetime.fromtimestamp(hour, datetime.UTC).date() for _, hour in self.hours}
        return Within(dates, {bucket(target) for target in targets}, targets, over, self.low, self.high)

    def only(self, rows: DataFrame, at: str = "start_at") -> DataFrame:
        """Return the rows within these hours."""
        near = rows.where(F.col(at).between(self.low, self.high))  # lets Parquet skip pages
        return _matched(near, at, rollups.HOUR_S, self.hours)

    def without(self, rows: DataFrame) -> DataFrame:
        """Return the rows outside these hours."""
        return _matched(rows, "start_at", rollups.HOUR_S, self.hours, within=False)

    def of_days(self, rows: DataFrame, *, within: bool = True) -> DataFrame:
        """Return the rows within the days of these hours, or outside them."""
        days = {(target, hour // rollups.DAY_S * rollups.DAY_S) for target, hour in self.hours}
        return _matched(rows, "start_at", rollups.DAY_S, days, within=within)


def _matched(
    rows: DataFrame, at: str, seconds: int, wanted: Collection[tuple[str, float]], *, within: bool = True
) -> DataFrame:
    """Return the rows whose target and period of ``seconds`` are in ``wanted``, or are not."""
    begun = rows.withColumn("begun", rollups.start(F.col(at), seconds))
    if len(wanted) <= _FEW:  # without a Spark job of its own
        few = [F.struct(F.lit(target).alias("target"), F.lit(at_s).alias("begun")) for target, at_s in sorted(wanted)]
        found = F.array_contains(F.array(*few), F.struct("target", "begun"))
        return begun.where(found if within else ~found).drop("begun")
    known = [{"target": target, "begun": at_s} for target, at_s in wanted]
    listed = F.broadcast(table_of(rows.sparkSession, known, _STRETCHES))
    return begun.join(listed, ["target", "begun"], "left_semi" if within else "left_anti").drop("begun")


@dataclass(slots=True)
class _Changes:
    """Files that a batch adds to the tables and removes from them."""

    added: dict[str, WrittenFiles] = field(default_factory=dict)
    removed: dict[str, Files] = field(default_factory=dict)


def take_in(lake: Lake, batch: int, paths: Mapping[str, int]) -> Mapping[str, int]:
    """Write segments to the lake as batch number ``batch``. Returns the totals since the lake was created.

    Samples join those that the lake has of the same hours, duplicates are dropped, and everything derived is recomputed
    for these hours. So it does not matter when a segment arrives or how often. Readers see nothing of the batch in a
    table until that table is committed. An interrupted attempt is repeated; tables it has committed are left alone.

    Args:
        lake: the destination.
        batch: one more than the newest batch in the lake.
        paths: full path and size in bytes of each segment.

    Raises ``Conflict`` if another process writes to the lake.
    """
    done = {name for name in BATCH if (committed(lake.table(name).version()) or 0) >= batch}
    before, stamp = lake.view(batch - 1), f"{batch:09d}-{secrets.token_hex(4)}"
    staged = stage.stage(lake.storage, [path for path, size in paths.items() if size], stamp)
    changes = _Changes()
    lines = _lines(staged)
    first = before.said().get("kept_from", "")
    kept = _samples(before, staged, lines["poll"], first, changes, stamp) if lines["poll"].rows else 0
    if lines["operation"].rows:
        _operations(before, staged, lines["operation"], changes, stamp)
    passed = _passed_over(lake.storage, paths) + _too_old(staged, lines["poll"], first)
    if passed or lines["bad"].rows:
        bad = stage.bad(staged.read("bad")).unionByName(stage.bad_files(lake.session, passed))
        changes.added["bad"] = lake.table("bad").write(bad, stamp)
    new = {
        "segments": len(paths),
        "lines": sum(lines[kind].rows for kind in ("poll", "operation", "bad")) + len(passed),
        "bad": lines["bad"].rows + len(passed),
        "samples": kept,
        "duplicates": lines["sample"].rows - kept,
    }
    totals = {name: count + new[name] for name, count in before.counts().items()}
    for name in BATCH:
        said = {"counts": totals} if name == "samples" else None
        added, removed = changes.added.get(name, WrittenFiles()), changes.removed.get(name, Files())
        if not lake.table(name).commit(batch, added, removed, said) and name not in done:
            raise Conflict(f"somebody else writes to the lake {lake.storage.root}; run one at a time")
    staged.remove()
    return totals


def _lines(staged: stage.Staged) -> dict[str, WrittenFiles]:
    """Return the staged files of each kind."""
    return {kind: staged.files(kind) for kind in ("poll", "sample", "operation", "bad")}


def _samples(
    before: LakeView, staged: stage.Staged, lines: WrittenFiles, first: str, changes: _Changes, stamp: str
) -> int:
    """Write samples and derived tables.

    Returns the number of new samples. ``first``: first day for which samples are kept.
    """
    lake, rows = before.lake, staged.read("poll").where(F.col("date") >= (first or "1970-01-01"))
    place = lines.within("sampled_at")
    known = before.read("polls", place)
    changes.added["polls"] = lake.table("polls").write(stage.polls(rows, known), stamp)
    hours = stage.hours(rows, known).collect()
    if not hours:
        return 0
    samples = lake.table("samples")
    late = any(str(date) < first for date in place.dates or ())
    if changes.added["polls"].rows == sum(hour.polls for hour in hours) and not late:
        lake.storage.move(staged.folder("sample"), f"samples/{stamp}")
        written = samples.found(stamp)
    else:
        polls = lake.table("polls").read_written(changes.added["polls"])
        written = samples.write(stage.samples(staged.read("sample"), polls), stamp)
    changes.added["samples"] = written
    touched = Touched(frozenset((h.target, h.hour) for h in hours), any(h.recorders > 1 for h in hours))
    old = before.files("samples", touched.within("sampled_at"))
    every = samples.read_written(written)
    if old.paths:
        every = touched.only(samples.read(old), "sampled_at").unionByName(every)
    _derive(before, every, touched, changes, stamp)
    return written.rows


def _derive(before: LakeView, samples: DataFrame, touched: Touched, changes: _Changes, stamp: str) -> None:
    """Compute minutes, hours, days and runs of the affected hours from all their samples."""
    minutes = _replaced(before, "minutes", rollups.minutes(samples, shared=touched.shared), touched, changes, stamp)
    counting = rollups.counting(samples, minutes) if touched.shared else samples
    hours = _replaced(before, "hours", rollups.hours(minutes, counting), touched, changes, stamp)
    _replaced(before, "runs", runs(samples), touched, changes, stamp)
    others = before.files("hours", touched.within())
    if others.paths:
        hours = hours.unionByName(touched.of_days(touched.without(before.lake.table("hours").read(others))))
    table, old = before.lake.table("days"), before.files("days", touched.within())
    fresh = rollups.days(hours)
    if old.paths:
        fresh = fresh.unionByName(touched.of_days(table.read(old), within=False))
    changes.added["days"], changes.removed["days"] = table.write(fresh, stamp), old


def _replaced(
    before: LakeView, name: str, fresh: DataFrame, touched: Touched, changes: _Changes, stamp: str
) -> DataFrame:
    """Replace the rows of the affected hours, rewriting the files that hold them. Returns the new rows."""
    table, old = before.lake.table(name), before.files(name, touched.within("start_at"))
    rows = fresh.select(*table.schema.fieldNames())
    if old.paths:
        rows = rows.unionByName(touched.without(table.read(old)))
    written = table.write(rows, stamp)
    changes.added[name], changes.removed[name] = written, old
    again = table.read_written(written)
    return again if not old.paths else touched.only(again)


def _operations(before: LakeView, staged: stage.Staged, lines: WrittenFiles, changes: _Changes, stamp: str) -> None:
    table, old = before.lake.table("operations"), before.files("operations", lines.within())
    rows = table.read(old).unionByName(stage.operations(staged.read("operation")))
    changes.added["operations"] = table.write(stage.last_state(rows), stamp)
    changes.removed["operations"] = old


def _too_old(staged: stage.Staged, lines: WrittenFiles, first: str) -> list[tuple[str, str]]:
    """Return the segments with days older than the kept samples, with a reason. Their hours are not recomputed."""
    if not any(str(date) < first for date in lines.within().dates or ()):
        return []
    rows = staged.read("poll").where(F.col("date") < first).select("line.file").distinct().collect()
    return [(row.file, f"days before {first}, of which samples are kept no more, are left as they are") for row in rows]


def _passed_over(storage: Storage, paths: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return the segments that Spark skips, with a reason: they are empty, or disappeared after listing."""
    found = [(path, "the file is empty") for path, size in paths.items() if not size]
    gone = "the file was there and vanished before it was read"
    found += [(path, gone) for path, size in paths.items() if size and not storage.there(path)]
    return found
