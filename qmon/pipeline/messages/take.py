"""Takes archived messages into the lake, each once: new ones, and those that committed late.

One take commits the messages of one queue together with the position in every archive. If it is killed earlier, nothing
counts, and the next take reads the same keys again. The keys found are read back from the written files, so the
watermark always matches the lake.
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
from qmon.pipeline.lake.delta import WrittenFiles, committed
from qmon.pipeline.lake.lake import Lake
from qmon.pipeline.lake.schema import MESSAGE, bucket
from qmon.pipeline.messages.archive_reader import ArchiveTable, Survey, archive_of, survey
from qmon.pipeline.messages.spark_source import NAME, ArchivedMessages, KeyRangeRead, connect
from qmon.pipeline.messages.watermarks import Range, Watermark, after, as_json, from_json, shared_out, wanted
from qmon.pipeline.session import first_line

_STRETCH: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class MessageEntry:
    """The state after the newest take. ``number``: takes so far. ``marks``: watermark by target and queue."""

    number: int = 0
    marks: Mapping[str, Mapping[str, Watermark]] = field(default_factory=dict)

    def mark(self, target: str, queue: str) -> Watermark:
        """Return the watermark of this archive."""
        return self.marks.get(target, {}).get(queue, Watermark())


@dataclass(frozen=True, slots=True)
class Taken:
    """The result of one take: number of new ``messages``, and the new watermark ``mark``."""

    queue: str
    messages: int
    mark: Watermark


class Messages:
    """The archived messages of a lake. Allows one writer at a time and any number of readers."""

    def __init__(self, lake: Lake) -> None:
        self._table = lake.table("messages")
        lake.session.dataSource.register(ArchivedMessages)

    def entry(self) -> MessageEntry:
        """Return the newest state, empty before the first take."""
        version = self._table.version()
        said = self._table.said(version)
        marks = {t: {q: from_json(mark) for q, mark in queues.items()} for t, queues in said.get("marks", {}).items()}
        return MessageEntry(committed(version) or 0, marks)

    def frame(self) -> DataFrame:
        """Return all messages."""
        return self._table.read(self._table.files(self._table.version()))

    def take(
        self,
        target: Target,
        archive: ArchiveTable,
        *,
        payloads: bool,
        redact: tuple[str, ...],
        connections: int,
        anew: bool,
    ) -> Taken:
        """Take in the messages of an archive that the lake does not have.

        ``connections``: maximum number of connections to the server. ``anew``: treat an archive whose numbers start
        over as a new one. Raises ``BadInput`` for such an archive without ``anew``, and ``QmonError`` if reading or
        writing fails.
        """
        before = self.entry()
        engine, connection = engine_for(target), connect(target)
        try:
            seen = survey(connection, engine, archive)
        finally:
            connection.close()
        mark = _checked(before.mark(target.name, archive.queue), archive, seen, anew=anew)
        parts = shared_out(wanted(mark, seen), seen.oldest, connections)
        written, found = WrittenFiles(), list[Range]()
        if parts:
            try:
                written = self._write(KeyRangeRead(target, archive, parts, payloads, redact), mark, before.number + 1)
                found = self._found(written)
            except (PySparkException, Py4JError, OSError) as problem:
                raise QmonError(f"{archive.queue}: nothing was taken in: {_cause(problem)}") from problem
        known, mark = mark, after(mark, seen, found, written.rows)
        if mark == known == before.mark(target.name, archive.queue):
            return Taken(archive.queue, 0, mark)
        marks = {**before.marks, target.name: {**before.marks.get(target.name, {}), archive.queue: mark}}
        self.commit(MessageEntry(before.number + 1, marks), written)
        return Taken(archive.queue, written.rows, mark)

    def commit(self, entry: MessageEntry, written: WrittenFiles) -> None:
        """Commit a new state together with these files."""
        marks = {t: {q: as_json(mark) for q, mark in queues.items()} for t, queues in entry.marks.items()}
        if not self._table.commit(entry.number, written, said={"marks": marks}):
            raise QmonError(f"somebody else writes to the table {self._table.uri}; run one at a time")

    def _write(self, reading: KeyRangeRead, mark: Watermark, number: int) -> WrittenFiles:
        rows = self._table.session.read.format(NAME).options(**reading.options()).load()
        place = {
            "queue": F.lit(reading.archive.queue),
            "made": F.lit(mark.made).cast("long"),
            "target": F.lit(reading.target.name),
            "bucket": F.lit(bucket(reading.target.name)),
            "date": F.to_date(F.timestamp_seconds("archived_at")),
        }
        return self._table.write(rows.select(*MESSAGE).withColumns(place), f"{number:09d}-{secrets.token_hex(4)}")

    def _found(self, written: WrittenFiles) -> list[Range]:
        """Return the unbroken ranges of keys in these files."""
        key = F.col("archive_id")
        place = F.floor(key / _STRETCH)
        row = F.row_number().over(Window.partitionBy("place").orderBy("key"))
        keys = self._table.read_written(written).select(key.alias("key"), place.alias("place"))
        holes = keys.withColumn("hole", F.col("key") - row)
        ends = holes.groupBy("place", "hole").agg(F.min("key").alias("first"), F.max("key").alias("last"))
        return sorted((row["first"], row["last"]) for row in ends.collect())


def found_again(target: Target, layouts: Sequence[Layout]) -> list[ArchiveTable]:
    """Return the archives of queues as they are now. Raises what connecting and ``find_archive`` raise."""
    connection = connect(target)
    try:
        return [archive_of(connection, engine_for(target), layout) for layout in layouts]
    finally:
        connection.close()


def _checked(mark: Watermark, archive: ArchiveTable, seen: Survey, *, anew: bool) -> Watermark:
    """Return the watermark for this archive, a fresh one if it was recreated.

    Raises ``BadInput`` if that is unclear.
    """
    other = mark.table_id not in (None, archive.table_id)
    back = seen.issued is not None and seen.issued < mark.upto
    if not (other or back):
        return replace(mark, table_id=archive.table_id)
    if anew:
        return Watermark(table_id=archive.table_id, made=mark.made + 1, messages=mark.messages)
    what = "is another table than last time" if other else f"numbers its rows from the beginning again: {seen.issued:,}"
    raise BadInput(
        f"the archive of {archive.queue!r} {what}; the lake has it up to {mark.upto:,}; with --anew all its rows are "
        "taken in as new ones"
    )


def _cause(problem: Exception) -> str:
    """Return the cause of an executor's error, without the stacks of Spark and Python."""
    causes: list[Any] = re.findall(r"qmon\.errors\.\w+: ([^\n]+)", str(problem))
    return str(causes[-1]) if causes else first_line(problem)
