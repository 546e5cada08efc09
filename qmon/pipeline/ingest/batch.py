"""One batch: writes new segments to the lake and recomputes all derived rows of the affected hours."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from deltalake.transaction import AddAction

from qmon.pipeline.ingest.derived_rows import HoursOfBatch, TableChanges, utc_date, write_derived_rows
from qmon.pipeline.ingest.poll_survey import LINE_KEY, POLL_COLUMNS, survey_polls
from qmon.pipeline.ingest.staged import StagedBatch, stage_segments
from qmon.pipeline.ingest.table_rows import (
    STAGED_BAD,
    STAGED_OPERATION,
    STAGED_POLL,
    are_new_samples,
    latest_operations,
    operation_rows,
    poll_rows,
    unusable_files,
    unusable_lines,
)
from qmon.pipeline.lake.deleted_days import DeletedDays, read_deleted_days
from qmon.pipeline.lake.delta import Conflict, Files, ReadFilter, WrittenFiles, newest_batch
from qmon.pipeline.lake.lake import Lake, LakeView
from qmon.pipeline.lake.schema import BATCH, SAMPLES, file_schema
from qmon.pipeline.lake.storage import Storage
from qmon.pipeline.pipeline_texts import IntakeText, LakeText
from qmon.pipeline.rollup.minute_sums import HOUR_S, LONGEST_FLOW_S
from qmon.pipeline.rollup.row_groups import Flags
from qmon.recording.figure_rows.row_schema import PARTITIONS
from qmon.recording.figure_rows.segment_lines import BadLineText


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
    staged = stage_segments(lake.storage, {path: size for path, size in paths.items() if size}, stamp)
    changes = TableChanges()
    lines = {kind: staged.kind_files(kind) for kind in ("poll", "sample", "operation", "bad")}
    deleted = read_deleted_days(before.read_entries())
    kept = _write_samples(before, staged, lines, deleted, changes, stamp) if lines["poll"].rows else 0
    if lines["operation"].rows:
        _write_operations(before, staged, lines["operation"], changes, stamp)
    passed = _skipped_segments(lake.storage, paths) + _segments_of_deleted_days(staged, lines["poll"], deleted)
    if passed or lines["bad"].rows:
        writer = lake.table("bad").write_partitions(stamp)
        writer.add_rows(unusable_lines(staged.read_files(lines["bad"], STAGED_BAD)))
        writer.add_rows(unusable_files(passed))
        writer.write_buffer()
        changes.added["bad"] = lake.table("bad").written_files(stamp)
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


def _write_samples(
    before: LakeView,
    staged: StagedBatch,
    lines: Mapping[str, WrittenFiles],
    deleted: Sequence[DeletedDays],
    changes: TableChanges,
    stamp: str,
) -> int:
    """Write samples and derived tables, except for days that were deleted. Return the number of new samples."""
    lake, polls = before.lake, lines["poll"]
    known = _known_polls(before, polls)
    new = staged.read_files(polls, [*POLL_COLUMNS, "line.queues"])
    kept = np.array(pc.greater(pc.struct_field(new["line"], "queues"), 0).fill_null(False))
    late = _has_deleted_day(polls, deleted)
    if late:
        kept &= ~_are_on_deleted_day(new, deleted)
    found = survey_polls(new.filter(pa.array(kept)), known)
    kept[kept] = found.is_new
    _write_polls(lake, staged, polls, kept, changes, stamp)
    if not found.hours:
        return 0
    samples, whole = lake.table("samples"), found.is_unique and not late
    if whole:
        lake.storage.move_folder(staged.kind_folder("sample"), f"samples/{stamp}")
    else:
        _write_new_samples(lake, staged, lines["sample"], new.filter(pa.array(kept)), stamp)
    written = changes.added["samples"] = samples.written_files(stamp)
    hours = {
        (target, at): hour
        for (target, at), hour in found.hours.items()
        if not any(days.covers(target, utc_date(at)) for days in deleted)
    }
    complete = frozenset(key for key, hour in hours.items() if whole and hour.is_new and not hour.is_shared)
    derived = write_derived_rows(before, staged, written, HoursOfBatch(complete, frozenset(hours) - complete), stamp)
    changes.added |= derived.added
    changes.removed |= derived.removed
    return written.rows


def _known_polls(before: LakeView, polls: WrittenFiles) -> pa.Table:
    """Return the polls in the lake that are near new polls in time.

    The neighbouring hours may have samples of other recorders that cover the same minutes. A poll may be returned
    twice.
    """
    parts, at = list[pa.Table](), pc.field("sampled_at")
    for date in polls.read_filter().dates or ():  # each with its own targets and times
        near = polls.select(ReadFilter({date})).read_filter("sampled_at").widen(HOUR_S + LONGEST_FLOW_S)
        paths = before.files("polls", near).paths
        parts.append(before.lake.table("polls").read_columns(paths, POLL_COLUMNS, (at >= near.low) & (at <= near.high)))
    return pa.concat_tables(parts)


def _write_polls(
    lake: Lake, staged: StagedBatch, files: WrittenFiles, kept: Flags, changes: TableChanges, stamp: str
) -> None:
    """Write the polls that are ``kept``, in the order of the staged files."""
    writer, begin = lake.table("polls").write_partitions(stamp), 0
    for partition, rows in staged.read_partitions(files, STAGED_POLL):
        end = begin + rows.num_rows
        writer.add_partition(poll_rows(rows.filter(pa.array(kept[begin:end]))), partition["date"], partition["bucket"])
        begin = end
    writer.write_buffer()
    changes.added["polls"] = lake.table("polls").written_files(stamp)


def _write_new_samples(lake: Lake, staged: StagedBatch, files: WrittenFiles, polls: pa.Table, stamp: str) -> None:
    """Write the samples of new polls. Copies of a sample are in the same partition."""
    partitions: dict[tuple[str | None, ...], list[AddAction]] = defaultdict(list)
    for add in files.adds:
        partitions[tuple(add.partition_values[name] for name in PARTITIONS)].append(add)
    writer = lake.table("samples").write_partitions(stamp)
    for (date, bucket), adds in partitions.items():
        own = WrittenFiles(tuple(adds))
        kept, begin = are_new_samples(staged.read_files(own, [*LINE_KEY, "queue"]), polls), 0
        for _, rows in staged.read_partitions(own, file_schema(SAMPLES).names):
            writer.add_partition(rows.filter(kept[begin : begin + rows.num_rows]), date, bucket)
            begin += rows.num_rows
    writer.write_buffer()


def _write_operations(
    before: LakeView, staged: StagedBatch, lines: WrittenFiles, changes: TableChanges, stamp: str
) -> None:
    table, old = before.lake.table("operations"), before.files("operations", lines.read_filter())
    rows = [
        _with_partition(table.read_columns([path]), partition)
        for path, partition in zip(old.paths, old.partitions, strict=True)
    ]
    new = staged.read_partitions(lines, STAGED_OPERATION)
    rows += [_with_partition(operation_rows(each), partition) for partition, each in new]
    writer = table.write_partitions(stamp)
    writer.add_rows(latest_operations(pa.concat_tables(rows)))
    writer.write_buffer()
    changes.added["operations"], changes.removed["operations"] = table.written_files(stamp), old


def _with_partition(rows: pa.Table, partition: Mapping[str, str | None]) -> pa.Table:
    """Return rows with partition columns, as text."""
    for name in PARTITIONS:
        rows = rows.append_column(name, pa.repeat(pa.scalar(partition[name], pa.string()), rows.num_rows))
    return rows


def _segments_of_deleted_days(
    staged: StagedBatch, lines: WrittenFiles, deleted: Sequence[DeletedDays]
) -> list[tuple[str, str]]:
    """Return the segments that contain polls of days that were deleted from the lake, each with a reason."""
    if not _has_deleted_day(lines, deleted):
        return []
    polls = staged.read_files(lines, ["target", "sampled_at", "line.file"])
    gone = polls.filter(pa.array(_are_on_deleted_day(polls, deleted)))
    files, times = pc.struct_field(gone["line"], "file").to_pylist(), gone["sampled_at"].to_pylist()
    days = {(file, utc_date(at)) for file, at in zip(files, times, strict=True)}
    return [(file, IntakeText.DELETED_DAY.render(day=day)) for file, day in sorted(days)]


def _has_deleted_day(lines: WrittenFiles, deleted: Sequence[DeletedDays]) -> bool:
    """Return true if these files may have rows of days that were deleted."""
    return any(days.has_day(date) for days in deleted for date in lines.read_filter().dates or ())


def _are_on_deleted_day(polls: pa.Table, deleted: Sequence[DeletedDays]) -> Flags:
    """Return for each poll whether its day was deleted from the lake."""
    places = zip(polls["target"].to_pylist(), polls["sampled_at"].to_pylist(), strict=True)
    return np.array([any(days.covers(target, utc_date(at)) for days in deleted) for target, at in places], np.bool_)


def _skipped_segments(storage: Storage, paths: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return the segments that Spark skips, each with a reason: the file is empty, or was deleted after listing."""
    empty = [(path, BadLineText.EMPTY.render()) for path, size in paths.items() if not size]
    deleted = [path for path, size in paths.items() if size and not storage.path_exists(path)]
    return [*empty, *((path, IntakeText.FILE_DELETED.render()) for path in deleted)]
