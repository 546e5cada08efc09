"""One batch: writes new segments to the lake and recomputes all derived rows of the affected hours."""

from __future__ import annotations

import datetime
import functools
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, StringType, StructField, StructType

from qmon.pipeline.ingest import staged as stage
from qmon.pipeline.ingest.poll_survey import POLL_COLUMNS, survey_polls
from qmon.pipeline.lake.deleted_days import DeletedDays, read_deleted_days
from qmon.pipeline.lake.delta import Conflict, Files, ReadFilter, WrittenFiles, frame_from_rows, newest_batch
from qmon.pipeline.lake.lake import Lake, LakeView
from qmon.pipeline.lake.schema import BATCH
from qmon.pipeline.lake.storage import Storage
from qmon.pipeline.pipeline_texts import IntakeText, LakeText
from qmon.pipeline.rollup import rollups
from qmon.pipeline.rollup.incident_rollup import runs_from_samples
from qmon.pipeline.rollup.minute_sums import HOUR_S, LONGEST_FLOW_S
from qmon.recording.figure_rows.row_schema import bucket_for

_PERIODS: Final = StructType([StructField("target", StringType()), StructField("begun", DoubleType())])

# Maximum number of periods that are matched without a join.
MAX_LISTED_FILES: Final = 16


@dataclass(frozen=True, slots=True)
class AffectedHours:
    """The hours that a batch affects, as pairs of target and seconds since the epoch."""

    hours: frozenset[tuple[str, float]]

    @property
    def start_at(self) -> float:
        """Start of the first hour, seconds since the epoch."""
        return min(hour for _, hour in self.hours)

    @property
    def end_at(self) -> float:
        """End of the last hour, seconds since the epoch."""
        return max(hour for _, hour in self.hours) + HOUR_S

    def read_filter(self, over: str = "") -> ReadFilter:
        """Return the part of a table that may hold rows of these hours.

        ``over``: the column of times to compare. Without ``over``, return the part with the days of these hours.
        """
        targets = {target for target, _ in self.hours}
        dates = {_utc_date(hour) for _, hour in self.hours}
        return ReadFilter(dates, {bucket_for(target) for target in targets}, targets, over, self.start_at, self.end_at)

    def select_rows(self, rows: DataFrame, at: str = "start_at") -> DataFrame:
        """Return the rows within these hours."""
        near = rows.where(F.col(at).between(self.start_at, self.end_at))  # with this condition, Parquet can skip pages
        return _match_rows(near, at, HOUR_S, self.hours)

    def select_samples(self, samples: DataFrame) -> DataFrame:
        """Return all samples that cover time within these hours, and some samples that do not."""
        near = samples.where(F.col("sampled_at").between(self.start_at, self.end_at + LONGEST_FLOW_S))
        following = {(target, hour + HOUR_S) for target, hour in self.hours}
        return _match_rows(near, "sampled_at", HOUR_S, self.hours | following)

    def exclude_rows(self, rows: DataFrame) -> DataFrame:
        """Return the rows outside these hours."""
        return _match_rows(rows, "start_at", HOUR_S, self.hours, within=False)

    def select_days(self, rows: DataFrame, *, within: bool = True) -> DataFrame:
        """Return the rows within the days of these hours. If not ``within``, return all other rows."""
        days = {(target, hour // rollups.DAY_S * rollups.DAY_S) for target, hour in self.hours}
        return _match_rows(rows, "start_at", rollups.DAY_S, days, within=within)


def _match_rows(
    rows: DataFrame, at: str, seconds: int, wanted: Collection[tuple[str, float]], *, within: bool = True
) -> DataFrame:
    """Return the rows whose target and period of ``seconds`` are in ``wanted``; if not ``within``, the other rows."""
    begun = rows.withColumn("begun", rollups.period_start(F.col(at), seconds))
    if len(wanted) <= MAX_LISTED_FILES:  # this way needs no extra Spark job
        few = [F.struct(F.lit(target).alias("target"), F.lit(at_s).alias("begun")) for target, at_s in sorted(wanted)]
        found = F.array_contains(F.array(*few), F.struct("target", "begun"))
        return begun.where(found if within else ~found).drop("begun")
    known = [{"target": target, "begun": at_s} for target, at_s in wanted]
    listed = F.broadcast(frame_from_rows(rows.sparkSession, known, _PERIODS))
    return begun.join(listed, ["target", "begun"], "left_semi" if within else "left_anti").drop("begun")


@dataclass(slots=True)
class _TableChanges:
    """The files that a batch adds to tables, and the files that it removes from tables."""

    added: dict[str, WrittenFiles] = field(default_factory=dict)
    removed: dict[str, Files] = field(default_factory=dict)


def ingest_batch(lake: Lake, batch: int, paths: Mapping[str, int]) -> Mapping[str, int]:
    """Write segments to the lake as batch number ``batch``. Return the totals since the lake was created.

    The new samples are added to the samples that the lake already has for the same hours. Duplicates are dropped, and
    all derived rows of these hours are recomputed. So segments may arrive late, in any order, and repeatedly. Readers
    see the rows of the batch in a table only after that table is committed. If an interrupted batch is repeated, it
    does not change the tables to which it has already committed.

    Args:
        lake: the destination.
        batch: one more than the newest batch in the lake.
        paths: full path and size in bytes of each segment.

    Raises ``Conflict`` if another process writes to the lake.
    """
    done = {name for name in BATCH if (newest_batch(lake.table(name).version()) or 0) >= batch}
    before, stamp = lake.view(batch - 1), f"{batch:09d}-{secrets.token_hex(4)}"
    staged = stage.stage_segments(lake.storage, {path: size for path, size in paths.items() if size}, stamp)
    changes = _TableChanges()
    lines = _staged_files(staged)
    deleted = read_deleted_days(before.read_entries())
    kept = _write_samples(before, staged, lines["poll"], deleted, changes, stamp) if lines["poll"].rows else 0
    if lines["operation"].rows:
        _write_operations(before, staged, lines["operation"], changes, stamp)
    passed = _skipped_segments(lake.storage, paths) + _segments_of_deleted_days(staged, lines["poll"], deleted)
    if passed or lines["bad"].rows:
        bad = stage.unusable_lines(staged.read_rows("bad")).unionByName(stage.unusable_files(lake.session, passed))
        changes.added["bad"] = lake.table("bad").write_rows(bad, stamp)
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
        if not lake.table(name).commit_batch(batch, added, removed, said) and name not in done:
            raise Conflict(LakeText.SECOND_WRITER.render(lake=lake.storage.root))
    staged.delete_files()
    return totals


def _staged_files(staged: stage.StagedBatch) -> dict[str, WrittenFiles]:
    """Return the staged files of each kind."""
    return {kind: staged.kind_files(kind) for kind in ("poll", "sample", "operation", "bad")}


def _write_samples(
    before: LakeView,
    staged: stage.StagedBatch,
    lines: WrittenFiles,
    deleted: Sequence[DeletedDays],
    changes: _TableChanges,
    stamp: str,
) -> int:
    """Write samples and derived tables, except for days that were deleted. Return the number of new samples."""
    lake, late = before.lake, _has_deleted_day(lines, deleted)
    # The neighbouring hours may have samples of other recorders that cover the same minutes.
    near = before.files("polls", lines.read_filter("sampled_at").widen(HOUR_S + LONGEST_FLOW_S))
    new = _exclude_deleted_days(staged.read_polls(), deleted) if late else staged.read_polls()
    found = survey_polls(new, lake.table("polls").read_columns(near.paths, POLL_COLUMNS))
    rows = staged.read_rows("poll")
    rows = stage.poll_rows(
        rows.where(~_on_deleted_day(deleted)) if late else rows,
        None if found.is_unique else lake.table("polls").read(near),
    )
    changes.added["polls"] = lake.table("polls").write_rows(rows, stamp)
    if not found.hours:
        return 0
    samples, whole = lake.table("samples"), found.is_unique and not late
    if whole:
        lake.storage.move_folder(staged.kind_folder("sample"), f"samples/{stamp}")
        written = samples.written_files(stamp)
    else:
        polls = lake.table("polls").read_written(changes.added["polls"])
        written = samples.write_rows(stage.sample_rows(staged.read_rows("sample"), polls), stamp)
    changes.added["samples"] = written
    hours = {
        (target, at): hour
        for (target, at), hour in found.hours.items()
        if not any(days.covers(target, _utc_date(at)) for days in deleted)
    }
    touched = AffectedHours(frozenset(hours))
    computed = {key for key, hour in hours.items() if whole and hour.is_new and not hour.is_shared}
    old = before.files("samples", touched.read_filter("sampled_at").widen(LONGEST_FLOW_S))
    every = samples.read_written(written)
    if old.paths:
        every = touched.select_samples(samples.read(old)).unionByName(every)
    source = _Derived(every, touched, shared=any(hour.is_shared for hour in hours.values()))
    if computed:
        within = AffectedHours(frozenset(computed))
        source.parts = within.select_rows(staged.read_minutes())
        source.histograms = within.select_rows(staged.write_histograms())
    if others := touched.hours.difference(computed):
        again = AffectedHours(others)
        source.late_parts = again.select_rows(rollups.minute_parts(again.select_samples(every)))
    _write_derived(before, source, changes, stamp)
    return written.rows


def _exclude_deleted_days(polls: pa.Table, deleted: Sequence[DeletedDays]) -> pa.Table:
    """Return the polls that are not of a day that was deleted from the lake."""
    places = zip(polls["target"].to_pylist(), polls["sampled_at"].to_pylist(), strict=True)
    kept = [not any(days.covers(target, _utc_date(at)) for days in deleted) for target, at in places]
    return polls.filter(pa.array(kept, pa.bool_()))


@dataclass(slots=True)
class _Derived:
    """The input of derived rows: all samples of the affected hours.

    ``shared``: true if several recorders watched one of these hours. ``parts``, ``histograms``: already computed, for
    the hours for which all samples are in the batch, from one recorder. ``late_parts``: for the other hours.
    """

    samples: DataFrame
    touched: AffectedHours
    shared: bool
    parts: DataFrame | None = None
    histograms: DataFrame | None = None
    late_parts: DataFrame | None = None


def _union(*frames: DataFrame | None) -> DataFrame:
    """Return the rows of all frames that are not ``None``."""
    return functools.reduce(DataFrame.unionByName, (frame for frame in frames if frame is not None))


def _write_derived(before: LakeView, source: _Derived, changes: _TableChanges, stamp: str) -> None:
    """Compute minutes, hours, days and runs of the affected hours."""
    touched, late = source.touched, source.late_parts
    minutes = rollups.minute_rows(_union(source.parts, late), shared=source.shared)
    minutes = _replace_rows(before, "minutes", minutes, touched, changes, stamp)
    if late is not None:
        late = rollups.hour_histograms(rollups.counting_parts(late, minutes) if source.shared else late)
    hours = rollups.hour_rows(minutes, _union(source.histograms, late))
    hours = _replace_rows(before, "hours", hours, touched, changes, stamp)
    runs = runs_from_samples(touched.select_rows(source.samples, "sampled_at"))
    _replace_rows(before, "runs", runs, touched, changes, stamp)
    others = before.files("hours", touched.read_filter())
    if others.paths:
        hours = hours.unionByName(touched.select_days(touched.exclude_rows(before.lake.table("hours").read(others))))
    table, old = before.lake.table("days"), before.files("days", touched.read_filter())
    fresh = rollups.day_rows(hours)
    if old.paths:
        fresh = fresh.unionByName(touched.select_days(table.read(old), within=False))
    changes.added["days"], changes.removed["days"] = table.write_rows(fresh, stamp), old


def _replace_rows(
    before: LakeView, name: str, fresh: DataFrame, touched: AffectedHours, changes: _TableChanges, stamp: str
) -> DataFrame:
    """Replace the rows of the affected hours by rewriting the files that contain these rows. Return the new rows."""
    table, old = before.lake.table(name), before.files(name, touched.read_filter("start_at"))
    rows = fresh.select(*table.schema.fieldNames())
    if old.paths:
        rows = rows.unionByName(touched.exclude_rows(table.read(old)))
    written = table.write_rows(rows, stamp)
    changes.added[name], changes.removed[name] = written, old
    again = table.read_written(written)
    return again if not old.paths else touched.select_rows(again)


def _write_operations(
    before: LakeView, staged: stage.StagedBatch, lines: WrittenFiles, changes: _TableChanges, stamp: str
) -> None:
    table, old = before.lake.table("operations"), before.files("operations", lines.read_filter())
    rows = table.read(old).unionByName(stage.operation_rows(staged.read_rows("operation")))
    changes.added["operations"] = table.write_rows(stage.latest_operations(rows), stamp)
    changes.removed["operations"] = old


def _segments_of_deleted_days(
    staged: stage.StagedBatch, lines: WrittenFiles, deleted: Sequence[DeletedDays]
) -> list[tuple[str, str]]:
    """Return the segments that contain polls of days that were deleted from the lake, each with a reason."""
    if not _has_deleted_day(lines, deleted):
        return []
    rows = staged.read_rows("poll").where(_on_deleted_day(deleted)).select("line.file", "date").distinct().collect()
    return [(row.file, IntakeText.DELETED_DAY.render(day=row.date)) for row in sorted(rows)]


def _has_deleted_day(lines: WrittenFiles, deleted: Sequence[DeletedDays]) -> bool:
    """Return true if these files may have rows of days that were deleted."""
    return any(days.has_day(date) for days in deleted for date in lines.read_filter().dates or ())


def _on_deleted_day(deleted: Sequence[DeletedDays]) -> Column:
    """Return the condition that a row with ``target`` and ``date`` is of a day that was deleted."""
    found = F.lit(False)
    for days in deleted:
        each = F.col("date") < days.before
        if days.after is not None:
            each &= F.col("date") > days.after
        if days.target is not None:
            each &= F.col("target") == days.target
        found |= each
    return found


def _utc_date(at: float) -> datetime.date:
    return datetime.datetime.fromtimestamp(at, datetime.UTC).date()


def _skipped_segments(storage: Storage, paths: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return the segments that Spark skips, each with a reason: the file is empty, or was deleted after listing."""
    found = [(path, "the file is empty") for path, size in paths.items() if not size]
    gone = "the file was deleted before it was read"
    found += [(path, gone) for path, size in paths.items() if size and not storage.path_exists(path)]
    return found
