"""Computes the minutes, hours, days and runs of the hours that a batch affects, with Arrow and without Spark.

Each partition (day and bucket) is computed on its own, and a partition with many samples is computed in pieces. So
memory does not depend on the size of a batch.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qmon.pipeline.ingest.poll_survey import Hour
from qmon.pipeline.ingest.staged import StagedBatch
from qmon.pipeline.lake.delta import Files, ReadFilter, WrittenFiles
from qmon.pipeline.lake.lake import LakeView
from qmon.pipeline.lake.partition_writer import PartitionWriter
from qmon.pipeline.rollup.minute_sums import HOUR_S, LONGEST_FLOW_S, MINUTE_S, SAMPLE_COLUMNS, add_up_minutes
from qmon.pipeline.rollup.rollups import DAY_S, counting_parts, day_rows, hour_rows, minute_rows
from qmon.pipeline.rollup.row_groups import numbers
from qmon.pipeline.rollup.trouble_runs import RUN_COLUMNS, runs_from_samples
from qmon.recording.figure_rows.row_schema import bucket_for

DERIVED: Final = ("minutes", "hours", "days", "runs")

# Maximum number of samples, or of sums of minutes, that are read for one piece of a partition.
PIECE_ROWS: Final = 200_000
_COLUMNS: Final = tuple(dict.fromkeys((*SAMPLE_COLUMNS, *RUN_COLUMNS)))

# Day (UTC) and bucket.
Partition = tuple[datetime.date, int]


@dataclass(slots=True)
class TableChanges:
    """The files that a batch adds to tables, and the files that it removes from tables."""

    added: dict[str, WrittenFiles] = field(default_factory=dict)
    removed: dict[str, Files] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HoursOfBatch:
    """The hours that a batch affects.

    ``whole``: hours for which all samples are in the batch and from one recorder, so that the staged sums are complete.
    ``late``: hours that must be computed from the samples in the lake and in the batch.
    """

    whole: frozenset[Hour]
    late: frozenset[Hour]


def write_derived_rows(
    before: LakeView, staged: StagedBatch, samples: WrittenFiles, hours: HoursOfBatch, stamp: str
) -> TableChanges:
    """Write the derived rows of hours, together with the other rows of the files that are replaced.

    Args:
        before: the lake before the batch.
        staged: the batch.
        samples: the new files of the table ``samples``.
        hours: the affected hours.
        stamp: folder of the new files.
    """
    writing, changes = _DerivedRows(before, staged, samples, hours, stamp), TableChanges()
    partitions: dict[Partition, list[Hour]] = defaultdict(list)
    for target, at in hours.whole | hours.late:
        partitions[utc_date(at), bucket_for(target)].append((target, at))
    for partition in sorted(partitions):
        writing.write_partition(partition, sorted(partitions[partition]))
    for name, writer in writing.writers.items():
        writer.write_buffer()
        changes.added[name] = before.lake.table(name).written_files(stamp)
        changes.removed[name] = writing.removed[name]
    return changes


def utc_date(at: float) -> datetime.date:
    """Return the day of a time."""
    return datetime.datetime.fromtimestamp(at, datetime.UTC).date()


class _DerivedRows:
    def __init__(
        self, before: LakeView, staged: StagedBatch, samples: WrittenFiles, hours: HoursOfBatch, stamp: str
    ) -> None:
        self._before, self._staged, self._samples, self._hours = before, staged, samples, hours
        self._minutes, self._trouble = staged.kind_files("minute"), staged.kind_files("trouble")
        self.writers: dict[str, PartitionWriter] = {
            name: before.lake.table(name).write_partitions(stamp) for name in DERIVED
        }
        self.removed = dict.fromkeys(DERIVED, Files())

    def write_partition(self, partition: Partition, hours: Sequence[Hour]) -> None:
        """Write the rows of all tables for these hours of one partition."""
        found = []
        for piece in self._pieces(partition, hours):
            parts, trouble = self._read_piece(partition, piece)
            parts = counting_parts(parts)
            minutes = minute_rows(parts)
            found.append(hour_rows(minutes, parts))
            self.writers["minutes"].add_partition(minutes, *partition)
            self.writers["runs"].add_partition(runs_from_samples(trouble), *partition)
        new = pa.concat_tables(found)
        self.writers["hours"].add_partition(new, *partition)
        within = _filter_for([partition], hours)
        self.writers["days"].add_partition(
            day_rows(pa.concat_tables([new, self._other_hours(within, hours)])), *partition
        )
        for name in ("minutes", "hours", "runs"):
            self._replace_files(name, partition, _filter_times("start_at", within, hours, -MINUTE_S), hours, HOUR_S)
        self._replace_files("days", partition, within, hours, DAY_S)

    def _pieces(self, partition: Partition, hours: Sequence[Hour]) -> Iterator[Sequence[Hour]]:
        """Yield the hours in pieces, so that the rows of one piece fit in memory."""
        late = self._hours.late.intersection(hours)
        rows = self._minutes.select(_filter_for([partition], hours)).rows
        rows = max(rows, sum(files.rows for files in self._sample_files(partition, late)))
        count = min(len(hours), rows // PIECE_ROWS + 1)
        for part in np.array_split(np.arange(len(hours)), count):
            yield [hours[place] for place in part]

    def _read_piece(self, partition: Partition, hours: Sequence[Hour]) -> tuple[pa.Table, pa.Table]:
        """Return the parts of minutes, and the samples with trouble, of these hours."""
        whole, late = self._hours.whole.intersection(hours), self._hours.late.intersection(hours)
        parts, trouble = list[pa.Table](), list[pa.Table]()
        if whole:
            within = _filter_for([partition], whole)
            parts.append(_rows_within(self._staged.read_minutes(self._minutes.select(within)), "start_at", whole))
            samples = self._staged.read_files(self._trouble.select(within), RUN_COLUMNS)
            trouble.append(_rows_within(samples, "sampled_at", whole))
        if late:
            samples = self._read_samples(partition, late)
            sums = pa.Table.from_batches([add_up_minutes(samples, MINUTE_S)])
            parts.append(_rows_within(sums, "start_at", late))
            trouble.append(_rows_within(samples.select(RUN_COLUMNS), "sampled_at", late))
        return pa.concat_tables(parts), pa.concat_tables(trouble)

    def _read_samples(self, partition: Partition, hours: Collection[Hour]) -> pa.Table:
        """Return all samples that cover time within these hours, from the lake and from the batch."""
        following = {(target, at + HOUR_S) for target, at in hours}
        at = pc.field("sampled_at")
        first, last = _bounds(hours)
        where = (at >= first) & (at <= last + LONGEST_FLOW_S)
        table = self._before.lake.table("samples")
        rows = [table.read_columns(files.paths, _COLUMNS, where) for files in self._sample_files(partition, hours)]
        return _rows_within(pa.concat_tables(rows), "sampled_at", {*hours, *following})

    def _sample_files(self, partition: Partition, hours: Collection[Hour]) -> tuple[Files, WrittenFiles]:
        """Return the files in the lake and in the batch that may have samples that cover time within these hours."""
        if not hours:
            return Files(), WrittenFiles()
        date, bucket = partition
        next_day = (date + datetime.timedelta(days=1), bucket)
        within = _filter_times("sampled_at", _filter_for([partition, next_day], hours), hours, LONGEST_FLOW_S)
        return self._before.files("samples", within), self._samples.select(within)

    def _other_hours(self, within: ReadFilter, hours: Collection[Hour]) -> pa.Table:
        """Return the other hours of the same targets and day in the lake."""
        table, old = self._before.lake.table("hours"), self._before.files("hours", within)
        rows = table.read_columns(old.paths, where=pc.field("target").isin(sorted(within.targets or ())))
        return rows.filter(pc.invert(_are_within(rows, "start_at", hours)))

    def _replace_files(
        self, name: str, partition: Partition, within: ReadFilter, hours: Collection[Hour], seconds: int
    ) -> None:
        """Replace the files that may have rows of these hours: write their other rows again.

        ``seconds``: length of the periods of the table. The periods that contain these hours are left out.
        """
        table, old = self._before.lake.table(name), self._before.files(name, within)
        self.removed[name] += old
        for path in old.paths:
            rows = table.read_columns([path])
            kept = rows.filter(pc.invert(_are_within(rows, "start_at", hours, seconds)))
            self.writers[name].add_partition(kept, *partition)


def _filter_for(partitions: Sequence[Partition], hours: Collection[Hour]) -> ReadFilter:
    dates, buckets = {date for date, _ in partitions}, {bucket for _, bucket in partitions}
    return ReadFilter(dates, buckets, {target for target, _ in hours})


def _bounds(hours: Collection[Hour]) -> tuple[float, float]:
    """Return the start of the first hour and the end of the last one."""
    return min(at for _, at in hours), max(at for _, at in hours) + HOUR_S


def _filter_times(column: str, within: ReadFilter, hours: Collection[Hour], more_s: float) -> ReadFilter:
    """Return the filter with the times of these hours, and ``more_s`` after them. Both bounds are inclusive."""
    first, last = _bounds(hours)
    return replace(within, over=column, low=first, high=last + more_s)


def _rows_within(rows: pa.Table, at: str, hours: Collection[Hour]) -> pa.Table:
    """Return the rows within these hours."""
    return rows.filter(_are_within(rows, at, hours))


def _are_within(rows: pa.Table, at: str, hours: Collection[Hour], seconds: int = HOUR_S) -> pa.Array:
    """Return for each row whether it is in a period, ``seconds`` long, that contains one of these hours."""
    targets = rows["target"].combine_chunks().dictionary_encode()
    codes = {target: code for code, target in enumerate(targets.dictionary.to_pylist())}
    first = min(at_s // seconds for _, at_s in hours)
    count = max(at_s // seconds for _, at_s in hours) - first + 1
    period = np.floor(numbers(rows, at) / seconds) - first
    code = targets.indices.to_numpy() * count + period
    wanted = [codes[target] * count + at_s // seconds - first for target, at_s in hours if target in codes]
    return pa.array(np.isin(code, wanted) & (period >= 0) & (period < count))
