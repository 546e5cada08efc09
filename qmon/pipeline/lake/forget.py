"""Deletes the rows of targets or days from all tables of a lake. Needs no Spark.

A deletion is a batch, so that readers see all tables before or after it, and no other batch runs at the same time. The
request is stored with the claim of the batch. An interrupted deletion can therefore be finished later. The table
``segments`` and the watermarks of archives stay, so the same segments and messages are not read again.
"""

from __future__ import annotations

import datetime
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from qmon.errors import BadInput
from qmon.pipeline.lake.deleted_days import DeletedDays, deleted_days_entry
from qmon.pipeline.lake.delta import (
    APPLICATION,
    ChangedMeanwhile,
    Conflict,
    Files,
    ReadFilter,
    TableLog,
    newest_batch,
)
from qmon.pipeline.lake.lake import find_newest_batch, table_logs
from qmon.pipeline.lake.partition_writer import open_output
from qmon.pipeline.lake.schema import BATCH
from qmon.pipeline.pipeline_texts import LakeText
from qmon.recording.figure_rows.row_schema import bucket_for

# The tables with rows to delete, in the order of the commits. The first two are not written by batches of segments, so
# they have other numbers of batches.
_TABLES: Final = ("messages", "baselines", *BATCH)
_OTHER_APPLICATION: Final = "qmon-forget"

# Key of the request among the entries of the table `segments`.
_KEY: Final = "forget"
_TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """Rows to delete: those of ``targets`` (empty: all targets) on days before ``before`` and after ``after``.

    Days are in UTC. ``None`` means no limit.
    """

    targets: tuple[str, ...] = ()
    before: datetime.date | None = None
    after: datetime.date | None = None

    def has_day(self, day: str | None) -> bool:
        """Return true if a partition with this date has rows to delete. Rows without a date are on no day."""
        if day is None:
            return self.before is None and self.after is None
        at = datetime.date.fromisoformat(day)
        return (self.before is None or at < self.before) and (self.after is None or at > self.after)

    def deleted_days(self) -> list[DeletedDays]:
        """Return the days that no later batch may compute again.

        Without ``before``, there are none: the days go on into the future, so the lake must accept new rows of them.
        """
        if self.before is None:
            return []
        return [DeletedDays(self.before, self.after, target) for target in self.targets or (None,)]

    def to_json(self) -> list[Any]:
        """Convert the request for the lake's log."""
        return [list(self.targets), *(None if day is None else str(day) for day in (self.before, self.after))]


def _request_from_json(raw: list[Any]) -> ForgetRequest:
    targets, *days = raw
    before, after = (None if day is None else datetime.date.fromisoformat(day) for day in days)
    return ForgetRequest(tuple(targets), before, after)


def count_rows(lake: str, request: ForgetRequest) -> dict[str, int]:
    """Return the number of rows to delete, keyed by table.

    Raises ``BadInput`` if there is no lake, or if a batch is being written or was interrupted.
    """
    tables = _tables_at_rest(lake)
    return {
        name: _select_files(tables[name], tables[name].version(), request).rows
        for name in _TABLES
        if tables[name].exists()
    }


def forget_rows(lake: str, request: ForgetRequest) -> None:
    """Delete the rows from all tables. Deleting them again changes nothing.

    Finishes an interrupted deletion first. The files stay until ``tidy`` deletes them. Raises the errors of
    ``count_rows``, and ``Conflict`` if another process begins a batch.
    """
    finish_forgetting(lake)
    tables = _tables_at_rest(lake)
    batch = find_newest_batch(tables).held + 1
    tables["segments"].commit_batch(batch, entries={_KEY: [batch, *request.to_json()]})
    _delete_rows(tables, batch, request)


def finish_forgetting(lake: str) -> bool:
    """Finish an interrupted deletion. Returns false if the newest batch is not an interrupted deletion."""
    tables = table_logs(lake)
    said = tables["segments"].read_entries(tables["segments"].version()).get(_KEY)
    newest = find_newest_batch(tables)
    if said is None or said[0] != newest.claimed or not newest.is_unfinished:
        return False
    _delete_rows(tables, said[0], _request_from_json(said[1:]))
    return True


def _tables_at_rest(lake: str) -> dict[str, TableLog]:
    """Return the tables of a lake in which no batch is unfinished."""
    tables = table_logs(lake)
    if not tables["segments"].exists():
        raise BadInput(LakeText.NO_LAKE_TO_CHANGE.render(lake=lake))
    if find_newest_batch(tables).is_unfinished:
        raise BadInput(LakeText.UNFINISHED_BATCH)
    return tables


def _delete_rows(tables: Mapping[str, TableLog], batch: int, request: ForgetRequest) -> None:
    for name in _TABLES:
        own = name in BATCH
        if own or tables[name].exists():
            days = request.deleted_days() if name == "samples" else []
            _delete_from_table(tables[name], batch, request, APPLICATION if own else _OTHER_APPLICATION, days)


def _delete_from_table(
    table: TableLog, batch: int, request: ForgetRequest, app: str, days: Sequence[DeletedDays]
) -> None:
    """Commit the batch to one table. Tries again if another process has rewritten the same files in the meantime."""
    for left in reversed(range(_TRIES)):
        version = table.open_or_create()
        if (newest_batch(version, app) or 0) >= batch:
            return  # this process or another one has already finished this table
        found, stamp = _select_files(table, version, request), f"{batch:09d}-{secrets.token_hex(4)}"
        for number, (path, folder) in enumerate(found.mixed):
            _copy_other_rows(table, path, f"{stamp}/{folder}/part-{number:05d}.parquet", request.targets)
        entries = deleted_days_entry(table.read_entries(version), days) if days else None
        try:
            table.commit_batch(batch, table.written_files(stamp), found.files, entries, app)
        except ChangedMeanwhile:
            if not left:
                raise
        except Conflict:
            if (newest_batch(table.version(), app) or 0) < batch:
                raise


@dataclass(frozen=True, slots=True)
class _SelectedFiles:
    """The files with rows to delete, and the number of these rows.

    ``mixed``: the files among them that also have other rows, as path and folder of the partition.
    """

    files: Files
    mixed: tuple[tuple[str, str], ...]
    rows: int


def _select_files(table: TableLog, version: DeltaTable | None, request: ForgetRequest) -> _SelectedFiles:
    within = ReadFilter()
    if request.targets:
        within = ReadFilter(buckets={bucket_for(target) for target in request.targets}, targets=request.targets)
    files = table.files_in(version, within)
    found, mixed, rows = list[int](), list[tuple[str, str]](), 0
    for place, (path, partition, count) in enumerate(zip(files.paths, files.partitions, files.row_counts, strict=True)):
        if request.has_day(partition["date"]):
            deleted = _count_rows_of(table, path, request.targets) if request.targets else count
            if deleted:
                found.append(place)
                rows += deleted
            if 0 < deleted < count:
                mixed.append((path, "/".join(f"{name}={value}" for name, value in partition.items())))
    return _SelectedFiles(files.select(found), tuple(mixed), rows)


def _count_rows_of(table: TableLog, path: str, targets: Sequence[str]) -> int:
    with table.file_system().open_input_file(path) as content:
        names = pq.ParquetFile(content).read(columns=["target"])["target"]
    return int(pc.sum(pc.is_in(names, pa.array(targets, names.type))).as_py() or 0)


def _copy_other_rows(table: TableLog, path: str, new_path: str, targets: Sequence[str]) -> None:
    """Write the rows of other targets to a new file of the table."""
    place = table.file_system()
    with place.open_input_file(path) as content, open_output(place, new_path) as output:
        file = pq.ParquetFile(content)
        with pq.ParquetWriter(output, file.schema_arrow) as writer:
            for batch in file.iter_batches():
                names = batch["target"]
                writer.write_batch(batch.filter(pc.invert(pc.is_in(names, pa.array(targets, names.type)))))
