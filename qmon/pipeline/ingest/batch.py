"""One batch: new segments into the lake, and everything that follows from them anew, for the hours they touch."""

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
# So many stretches are looked for one after the other; more are joined.
_FEW: Final = 16


@dataclass(frozen=True, slots=True)
class Touched:
    """The hours of targets that a batch touches (target, seconds since the epoch).

    ``shared``: whether several recorders watched one of them.
    """

    hours: frozenset[tuple[str, float]]
    shared: bool

    @property
    def low(self) -> float:
        """Where the first of them begins."""
        return min(hour for _, hour in self.hours)

    @property
    def high(self) -> float:
        """Where the last of them ends."""
        return max(hour for _, hour in self.hours) + rollups.HOUR_S

    def within(self, over: str = "") -> Within:
        """What of a table can be of these hours; without ``over`` of their days."""
        targets = {target for target, _ in self.hours}
        dates = {datetime.datetime.fromtimestamp(hour, datetime.UTC).date() for _, hour in self.hours}
        return Within(dates, {bucket(target) for target in targets}, targets, over, self.low, self.high)

    def only(self, rows: DataFrame, at: str = "start_at") -> DataFrame:
        """The rows that are of these hours."""
        near = rows.where(F.col(at).between(self.low, self.high))  # which Parquet passes over pages by
        return _matched(near, at, rollups.HOUR_S, self.hours)

    def without(self, rows: DataFrame) -> DataFrame:
        """The rows that are not."""
        return _matched(rows, "start_at", rollups.HOUR_S, self.hours, within=False)

    def of_days(self, rows: DataFrame, *, within: bool = True) -> DataFrame:
        """The rows that are of the days of these hours, or are not."""
        days = {(target, hour // rollups.DAY_S * rollups.DAY_S) for target, hour in self.hours}
        return _matched(rows, "start_at", rollups.DAY_S, days, within=within)


def _matched(
    rows: DataFrame, at: str, seconds: int, wanted: Collection[tuple[str, float]], *, within: bool = True
) -> DataFrame:
    """The rows whose target and stretch of so many seconds are among those, or are not."""
    begun = rows.withColumn("begun", rollups.start(F.col(at), seconds))
    if len(wanted) <= _FEW:  # without a job of its own
        few = [F.struct(F.lit(target).alias("target"), F.lit(at_s).alias("begun")) for target, at_s in sorted(wanted)]
        found = F.array_contains(F.array(*few), F.struct("target", "begun"))
        return begun.where(found if within else ~found).drop("begun")
    known = [{"target": target, "begun": at_s} for target, at_s in wanted]
    listed = F.broadcast(table_of(rows.sparkSession, known, _STRETCHES))
    return begun.join(listed, ["target", "begun"], "left_semi" if within else "left_anti").drop("begun")


@dataclass(slots=True)
class _Changes:
    """What a batch adds to the tables and takes out of them."""

    added: dict[str, WrittenFiles] = field(default_factory=dict)
    removed: dict[str, Files] = field(default_factory=dict)


def take_in(lake: Lake, batch: int, paths: Mapping[str, int]) -> Mapping[str, int]:
    """Take segments into the lake as batch number ``batch``; the totals since the lake was made.

    Samples come to those that the lake has of the same hours, doubles fall out, and all that follows from them is
    computed anew for these hours: so it does not matter when a segment arrives, nor how often. Until a table is
    committed nothing of the batch is seen of it; a try that was cut short is done again, and what it has committed is
    left alone.

    Args:
        lake: where to.
        batch: one more than the newest that the lake holds.
        paths: the whole path of each segment and its bytes.

    Raises ``Conflict`` where somebody else writes to the lake.
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
    """The files of each kind."""
    return {kind: staged.files(kind) for kind in ("poll", "sample", "operation", "bad")}


def _samples(
    before: LakeView, staged: stage.Staged, lines: WrittenFiles, first: str, changes: _Changes, stamp: str
) -> int:
    """Samples and all that follows from them; how many samples are new. ``first``: the day from which they are kept."""
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
    """Minutes, hours, days and runs of the touched hours, from all samples of these."""
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
    """Write what is new of the touched hours in place of what is old, with the rest of its files; the new again."""
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
    """The segments with days of which samples are kept no more, with the reason: their hours stay as they are."""
    if not any(str(date) < first for date in lines.within().dates or ()):
        return []
    rows = staged.read("poll").where(F.col("date") < first).select("line.file").distinct().collect()
    return [(row.file, f"days before {first}, of which samples are kept no more, are left as they are") for row in rows]


def _passed_over(storage: Storage, paths: Mapping[str, int]) -> list[tuple[str, str]]:
    """The segments that Spark passes over, with the reason: they are empty, or have vanished since they were listed."""
    found = [(path, "the file is empty") for path, size in paths.items() if not size]
    gone = "the file was there and vanished before it was read"
    found += [(path, gone) for path, size in paths.items() if size and not storage.there(path)]
    return found
