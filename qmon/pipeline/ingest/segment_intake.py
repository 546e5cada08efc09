"""Reads each segment of a folder of recordings into the lake once. Works in batches, for one run or continuously.

The table ``segments`` lists the files of each batch. Each batch commits to this table first. After this commit, no
other writer can use the batch number, and an interrupted batch is repeated with the same files.
"""

from __future__ import annotations

import datetime
import threading
import time
import uuid
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql.pandas.types import to_arrow_schema

from qmon.errors import BadInput, QmonError
from qmon.pipeline.ingest.batch import ingest_batch
from qmon.pipeline.lake.delta import APPLICATION, ChangedMeanwhile, Conflict, newest_batch
from qmon.pipeline.lake.forget import finish_forgetting
from qmon.pipeline.lake.lake import Lake, find_newest_batch
from qmon.pipeline.lake.schema import SEGMENTS
from qmon.pipeline.lake.storage import Storage
from qmon.pipeline.pipeline_texts import IntakeText, LakeText
from qmon.pipeline.repeat import repeat_step
from qmon.pipeline.spark_session import first_error_line
from qmon.recording.figure_rows.row_schema import bucket_for
from qmon.recording.format.frames import SEGMENT_SUFFIX
from qmon.recording.write.retention import lake_mark_name, lake_mark_text

# Bytes of segments per batch. A batch has at least one segment.
_BATCH_BYTES: Final = 1_000_000_000
_TRIES: Final = 3
_NO_DATE: Final = datetime.date(1970, 1, 1)


class BatchResult(NamedTuple):
    """The number of a batch, and the totals since the lake was created."""

    batch: int
    totals: Mapping[str, int]


class SegmentIntake:
    """Reads new segments of a folder of recordings into the lake, batch by batch.

    Raises ``BadInput`` if the folder does not exist.
    """

    def __init__(self, lake: Lake, recordings: str) -> None:
        self._lake = lake
        self._folder = Storage(lake.session, recordings)
        self._table = lake.table("segments")
        self._known: set[str] | None = None
        if not self._folder.exists():
            raise BadInput(IntakeText.NO_RECORDINGS.render(folder=recordings))

    def run_batch(self) -> BatchResult | None:
        """Run one batch. Returns ``None`` if nothing is new."""
        there = self._folder.file_sizes(SEGMENT_SUFFIX)
        newest = find_newest_batch({name: self._lake.table(name) for name in ("segments", "samples")})
        unfinished = newest.is_unfinished and not finish_forgetting(self._lake.storage.root)
        if self._known is None:
            self._known = self._known_files(there)
            if there:
                self._write_lake_mark(there)  # written before the first batch, so that retention waits for this lake
        self._known &= there.keys()
        if unfinished:
            batch = newest.claimed
            files = self._batch_files(batch)
        else:
            batch = newest.claimed + 1
            files = _next_files({n: s for n, s in there.items() if n not in self._known}, _BATCH_BYTES)
            if not files:
                return None
            self._claim_batch(batch, files)
        totals = self._ingest_with_retries(batch, {self._folder.full_path(name): size for name, size in files.items()})
        self._known |= files.keys() & there.keys()
        self._write_lake_mark(there)
        return BatchResult(batch, totals)

    def _write_lake_mark(self, listed_files: Collection[str]) -> None:
        """Write this lake's marker file to the folder of recordings. It lists the segments that the lake has."""
        lake = self._lake.storage.root
        # A copied lake has the same id as the original, so the name also depends on the path.
        name = lake_mark_name(uuid.uuid5(uuid.UUID(str(self._table.open_or_create().metadata().id)), lake).hex)
        self._folder.replace_text(
            lake_mark_text(lake, time.time(), (self._known or set()).intersection(listed_files)), name
        )

    def _ingest_with_retries(self, batch: int, paths: Mapping[str, int]) -> Mapping[str, int]:
        for left in reversed(range(_TRIES)):
            try:
                return ingest_batch(self._lake, batch, paths)
            except ChangedMeanwhile:  # `tidy` rewrote files in the meantime: compute again from the current files
                if not left:
                    raise
        raise AssertionError

    def _claim_batch(self, batch: int, files: Mapping[str, int]) -> None:
        """Commit that these files belong to this batch. Raises ``Conflict`` if another process has committed it."""
        rows = [{"file": name, "bytes": size, "batch": batch, **_partition_for(name)} for name, size in files.items()]
        told = LakeText.SECOND_WRITER.render(lake=self._lake.storage.root)
        table = self._table.open_or_create()
        if (newest_batch(table) or 0) >= batch:
            raise Conflict(told)
        try:  # Delta refuses a second commit of this batch, but allows a concurrent commit by `tidy`
            write_deltalake(
                table,
                pa.Table.from_pylist(rows, to_arrow_schema(SEGMENTS)),
                mode="append",
                commit_properties=CommitProperties(app_transactions=[Transaction(APPLICATION, batch)]),
            )
        except CommitFailedError as problem:
            raise Conflict(told) from problem

    def _known_files(self, listed_files: Mapping[str, int]) -> set[str]:
        """Return the files that the lake already has for the days of the given files."""
        if (version := self._table.version()) is None:
            return set()
        dates = {_partition_for(name)["date"] for name in listed_files}
        rows = version.to_pyarrow_table(filters=pc.field("date").isin(sorted(dates)), columns=["file"])
        return set(rows["file"].to_pylist())

    def _batch_files(self, batch: int) -> dict[str, int]:
        """Return the files of a batch with their sizes in bytes."""
        rows = self._table.open_or_create().to_pyarrow_table(
            filters=pc.field("batch") == batch, columns=["file", "bytes"]
        )
        return dict(zip(rows["file"].to_pylist(), rows["bytes"].to_pylist(), strict=True))


def run_intake(
    intake: SegmentIntake,
    *,
    every_s: float | None = None,
    on_batch: Callable[[BatchResult], None] | None = None,
    stop: threading.Event | None = None,
) -> None:
    """Read all new segments. With ``every_s`` (seconds), look for new segments at this interval until ``stop`` is set.

    ``on_batch`` is called after each batch, on another thread. Raises ``QmonError`` with a message of one line if a
    batch fails.
    """

    def step() -> bool:
        if (done := intake.run_batch()) is None:
            return False
        if on_batch is not None:
            on_batch(done)
        return True

    try:
        repeat_step(step, every_s, stop)
    except Exception as problem:
        _raise_batch_error(problem)


def _raise_batch_error(problem: Exception) -> None:
    if isinstance(problem, Conflict | BadInput):
        raise problem
    if isinstance(problem, PySparkException | Py4JError | OSError | QmonError):
        raise QmonError(IntakeText.BATCH_FAILED.render(cause=_cause_text(problem))) from problem
    raise problem


def _next_files(new: Mapping[str, int], most: int) -> dict[str, int]:
    """Return the files of the next batch, at most ``most`` bytes, sorted by day and target."""
    found: dict[str, int] = {}
    total = 0
    for name in sorted(new, key=lambda each: (*_partition_for(each).values(), each)):
        total += new[name]
        if found and total > most:
            break
        found[name] = new[name]
    return found


def _partition_for(name: str) -> dict[str, Any]:
    """Return the day, bucket and target of a segment from its path."""
    folders = dict(part.split("=", 1) for part in name.split("/")[:-1] if "=" in part)
    target = unquote(folders.get("target", ""), errors="surrogatepass")
    try:
        date = datetime.date.fromisoformat(folders.get("date", ""))
    except ValueError:
        date = _NO_DATE
    return {"date": date, "bucket": bucket_for(target), "target": target}


def _cause_text(problem: Exception) -> str:
    text = str(problem)
    for mark in ("qmon.errors.", "BadInput: ", "QmonError: ", "ModuleNotFoundError: "):
        if mark in text:
            return first_error_line(QmonError(text[text.index(mark) :]))
    return first_error_line(problem)
