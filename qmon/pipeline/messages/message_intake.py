"""Reads each archived message into the lake once, even if it was committed late.

One intake commits the messages of one queue together with the positions in all archives. If the intake is killed before
the commit, nothing is committed, and the next intake reads the same keys again. The watermark is computed from the keys
in the written files, so it always matches the lake.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from qmon.engines.base import Target
from qmon.engines.registry import engine_for
from qmon.errors import BadInput, QmonError
from qmon.model.layout.layout import Layout
from qmon.pipeline.lake.delta import WrittenFiles, newest_batch
from qmon.pipeline.lake.lake import Lake
from qmon.pipeline.lake.schema import MESSAGE
from qmon.pipeline.messages.archive_reader import ArchiveTable, Survey, find_archive, survey_archive
from qmon.pipeline.messages.spark_source import FORMAT_NAME, ArchivedMessages, KeyRangeRead, open_connection
from qmon.pipeline.messages.watermarks import (
    Range,
    Watermark,
    advance_watermark,
    from_json,
    ranges_to_read,
    split_ranges,
    watermark_to_json,
)
from qmon.pipeline.pipeline_texts import IntakeText, LakeText
from qmon.pipeline.spark_session import first_error_line
from qmon.recording.figure_rows.row_schema import bucket_for

_KEYS_PER_PARTITION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class IntakeState:
    """The state after the newest intake.

    ``number``: number of intakes so far. ``marks``: the watermarks, keyed by target and queue.
    """

    number: int = 0
    marks: Mapping[str, Mapping[str, Watermark]] = field(default_factory=dict)

    def watermark_for(self, target: str, queue: str) -> Watermark:
        """Return the watermark of this archive."""
        return self.marks.get(target, {}).get(queue, Watermark())


@dataclass(frozen=True, slots=True)
class IntakeResult:
    """The result of one intake: number of new ``messages``, and the new watermark ``mark``."""

    queue: str
    messages: int
    mark: Watermark


class MessageIntake:
    """The archived messages of a lake. Allows one writer at a time and any number of readers."""

    def __init__(self, lake: Lake) -> None:
        self._table = lake.table("messages")
        lake.session.dataSource.register(ArchivedMessages)

    def read_state(self) -> IntakeState:
        """Return the newest state. Before the first intake, the state is empty."""
        version = self._table.version()
        said = self._table.read_entries(version)
        marks = {t: {q: from_json(mark) for q, mark in queues.items()} for t, queues in said.get("marks", {}).items()}
        return IntakeState(newest_batch(version) or 0, marks)

    def all_messages(self) -> DataFrame:
        """Return all messages."""
        return self._table.read(self._table.files_in(self._table.version()))

    def take_archive(
        self,
        target: Target,
        archive: ArchiveTable,
        *,
        payloads: bool,
        redact: tuple[str, ...],
        connections: int,
        anew: bool,
    ) -> IntakeResult:
        """Read the messages of an archive that are not in the lake yet.

        ``connections``: maximum number of connections to the server. ``anew``: treat an archive that was recreated, or
        whose numbers start over, as a new archive. Without ``anew``, raises ``BadInput`` for such an archive. Raises
        ``QmonError`` if reading or writing fails.
        """
        before = self.read_state()
        engine, connection = engine_for(target), open_connection(target)
        try:
            seen = survey_archive(connection, engine, archive)
        finally:
            connection.close()
        mark = _check_watermark(before.watermark_for(target.name, archive.queue), archive, seen, anew=anew)
        parts = split_ranges(ranges_to_read(mark, seen), seen.oldest, connections)
        written, found = WrittenFiles(), list[Range]()
        if parts:
            try:
                written = self._write_messages(
                    KeyRangeRead(target, archive, parts, payloads, redact), mark, before.number + 1
                )
                found = self._found_ranges(written)
            except (PySparkException, Py4JError, OSError) as problem:
                raise QmonError(
                    IntakeText.NO_MESSAGES_READ.render(queue=archive.queue, cause=_cause_text(problem))
                ) from problem
        known, mark = mark, advance_watermark(mark, seen, found, written.rows)
        if mark == known == before.watermark_for(target.name, archive.queue):
            return IntakeResult(archive.queue, 0, mark)
        marks = {**before.marks, target.name: {**before.marks.get(target.name, {}), archive.queue: mark}}
        self.commit_state(IntakeState(before.number + 1, marks), written)
        return IntakeResult(archive.queue, written.rows, mark)

    def commit_state(self, state: IntakeState, written: WrittenFiles) -> None:
        """Commit a new state together with these files."""
        marks = {t: {q: watermark_to_json(mark) for q, mark in queues.items()} for t, queues in state.marks.items()}
        if not self._table.commit_batch(state.number, written, entries={"marks": marks}):
            raise QmonError(LakeText.SECOND_TABLE_WRITER.render(table=self._table.uri))

    def _write_messages(self, reading: KeyRangeRead, mark: Watermark, number: int) -> WrittenFiles:
        rows = self._table.session.read.format(FORMAT_NAME).options(**reading.to_options()).load()
        place = {
            "queue": F.lit(reading.archive.queue),
            "made": F.lit(mark.made).cast("long"),
            "target": F.lit(reading.target.name),
            "bucket": F.lit(bucket_for(reading.target.name)),
            "date": F.to_date(F.timestamp_seconds("archived_at")),
        }
        return self._table.write_rows(rows.select(*MESSAGE).withColumns(place), f"{number:09d}-{secrets.token_hex(4)}")

    def _found_ranges(self, written: WrittenFiles) -> list[Range]:
        """Return the ranges of consecutive keys in these files."""
        key = F.col("archive_id")
        place = F.floor(key / _KEYS_PER_PARTITION)
        row = F.row_number().over(Window.partitionBy("place").orderBy("key"))
        keys = self._table.read_written(written).select(key.alias("key"), place.alias("place"))
        holes = keys.withColumn("hole", F.col("key") - row)
        ends = holes.groupBy("place", "hole").agg(F.min("key").alias("first"), F.max("key").alias("last"))
        return sorted((row["first"], row["last"]) for row in ends.collect())


def find_archives(target: Target, layouts: Sequence[Layout]) -> list[ArchiveTable]:
    """Return the archives of queues as they are now. Raises the errors of ``open_connection`` and ``find_archive``."""
    connection = open_connection(target)
    try:
        return [find_archive(connection, engine_for(target), layout) for layout in layouts]
    finally:
        connection.close()


def _check_watermark(mark: Watermark, archive: ArchiveTable, survey: Survey, *, anew: bool) -> Watermark:
    """Return the watermark for this archive. With ``anew``, return a new watermark if the archive was recreated.

    Without ``anew``, raises ``BadInput`` for an archive that seems to have been recreated.
    """
    if mark.table_id not in (None, archive.table_id):
        problem = IntakeText.OTHER_ARCHIVE.render(queue=archive.queue, upto=mark.upto)
    elif survey.issued is not None and survey.issued < mark.upto:
        problem = IntakeText.RENUMBERED_ARCHIVE.render(queue=archive.queue, issued=survey.issued, upto=mark.upto)
    else:
        return replace(mark, table_id=archive.table_id)
    if anew:
        return Watermark(table_id=archive.table_id, made=mark.made + 1, messages=mark.messages)
    raise BadInput(problem)


def _cause_text(problem: Exception) -> str:
    """Return the cause of an executor's error, without the stack traces of Spark and Python."""
    causes: list[Any] = re.findall(r"qmon\.errors\.\w+: ([^\n]+)", str(problem))
    return str(causes[-1]) if causes else first_error_line(problem)
