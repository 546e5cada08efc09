"""Archived messages into the lake, each once: what is new since the last time, and what has committed late.

One take writes the messages of one queue into a folder of its own, ``messages/batch=STAMP/target=…/date=…`` (the day of
archiving, UTC), and then one log entry that appears whole: it names the folders that count and says how far every
archive was read. Killed before that, nothing of it counts, and the next take reads the same keys again. The keys that a
take has found are looked up in what it wrote, so that the mark says what the lake holds.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType
from pyspark.sql.window import Window

from qmon.engines.base import Target
from qmon.engines.registry import engine_for
from qmon.errors import BadInput, QmonError
from qmon.pipeline.lake.lake import Lake
from qmon.pipeline.messages.archive_reader import ArchiveTable, Survey, survey
from qmon.pipeline.messages.spark_source import NAME, READ, ArchivedMessages, KeyRangeRead, connect
from qmon.pipeline.messages.watermarks import Range, Watermark, after, as_json, from_json, shared_out, wanted
from qmon.pipeline.session import first_line

FOLDER: Final = "messages"
LOG: Final = "messages_log"
VERSION: Final = 1
MESSAGES: Final = StructType(
    [
        StructField("queue", StringType()),
        StructField("made", LongType()),
        *READ.fields,
        StructField("target", StringType()),
        StructField("date", StringType()),
    ]
)
"""``target``, ``queue``, ``made`` (how often the archive was made anew) and ``archive_id`` tell a message apart."""
_KEPT: Final = 3
_STRETCH: Final = 1_000_000
_SMALL: Final = 1_000_000
_MANY: Final = 32
"""So many batches with fewer than ``_SMALL`` messages are written anew as one."""


@dataclass(frozen=True, slots=True)
class MessageEntry:
    """The newest of the log. ``batches``: stamp → messages in it; ``marks``: target → queue → how far it was read."""

    number: int = 0
    batches: Mapping[str, int] = field(default_factory=dict)
    marks: Mapping[str, Mapping[str, Watermark]] = field(default_factory=dict)

    def mark(self, target: str, queue: str) -> Watermark:
        """How far this archive was read."""
        return self.marks.get(target, {}).get(queue, Watermark())


@dataclass(frozen=True, slots=True)
class Taken:
    """What one take has brought: ``messages`` new ones; ``mark``: how far the archive is read now."""

    queue: str
    messages: int
    mark: Watermark


class Messages:
    """The archived messages of a lake. One writer at a time; readers as many as there are."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._storage = lake.storage
        lake.session.dataSource.register(ArchivedMessages)

    def entry(self) -> MessageEntry:
        """The newest; an empty one where nothing was taken in yet. Raises ``BadInput`` for one of a newer qmon."""
        names = self._entries()
        return MessageEntry() if not names else self._entry(names[-1])

    def frame(self, entry: MessageEntry | None = None) -> DataFrame:
        """All messages as an entry (the newest) has them."""
        return self._read((entry or self.entry()).batches)

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
        """Take in what an archive has that the lake has not.

        ``connections``: to the server at a time, at most. ``anew``: an archive whose numbers begin again is another
        one. Raises ``BadInput`` for such a one without ``anew``, and ``QmonError`` where reading or writing fails.
        """
        before = self.entry()
        self._sweep(before)
        engine, connection = engine_for(target), connect(target)
        try:
            seen = survey(connection, engine, archive)
        finally:
            connection.close()
        mark = _checked(before.mark(target.name, archive.queue), archive, seen, anew=anew)
        parts = shared_out(wanted(mark, seen), seen.oldest, connections)
        stamp = f"{before.number + 1:09d}-{secrets.token_hex(4)}"
        messages, found = 0, list[Range]()
        if parts:
            try:
                self._write(KeyRangeRead(target, archive, parts, payloads, redact), mark, stamp)
                found = self._found(stamp)
            except (PySparkException, Py4JError, OSError) as problem:
                raise QmonError(f"{archive.queue}: nothing was taken in: {_cause(problem)}") from problem
            messages = sum(last - first + 1 for first, last in found)
        known, mark = mark, after(mark, seen, found, messages)
        if mark == known == before.mark(target.name, archive.queue):
            return Taken(archive.queue, 0, mark)
        batches = {**before.batches, **({stamp: messages} if messages else {})}
        marks = {**before.marks, target.name: {**before.marks.get(target.name, {}), archive.queue: mark}}
        self.commit(MessageEntry(before.number + 1, batches, marks))
        return Taken(archive.queue, messages, mark)

    def commit(self, entry: MessageEntry) -> None:
        """Make an entry the newest."""
        marks = {t: {q: as_json(mark) for q, mark in queues.items()} for t, queues in entry.marks.items()}
        entries = {"version": VERSION, "number": entry.number, "batches": dict(entry.batches), "marks": marks}
        self._storage.write(json.dumps(entries, sort_keys=True), LOG, f"{entry.number:09d}.json")

    def compact(self) -> None:
        """Write small batches anew as one, where there are many."""
        before = self.entry()
        small = [stamp for stamp, messages in before.batches.items() if messages < _SMALL]
        if len(small) < _MANY:
            return
        stamp = f"{before.number + 1:09d}-{secrets.token_hex(4)}"
        self._save(self._read(small), stamp)
        kept = {each: messages for each, messages in before.batches.items() if each not in small}
        whole = sum(before.batches[each] for each in small)
        self.commit(replace(before, number=before.number + 1, batches={**kept, stamp: whole}))

    def _write(self, reading: KeyRangeRead, mark: Watermark, stamp: str) -> None:
        rows = self._lake.session.read.format(NAME).options(**reading.options()).load()
        self._save(
            rows.select(
                F.lit(reading.archive.queue).alias("queue"),
                F.lit(mark.made).cast("long").alias("made"),
                *READ.fieldNames(),
                F.lit(reading.target.name).alias("target"),
                F.date_format(F.timestamp_seconds("archived_at"), "yyyy-MM-dd").alias("date"),
            ),
            stamp,
        )

    def _save(self, rows: DataFrame, stamp: str) -> None:
        place = self._storage.at(FOLDER, f"batch={stamp}")
        rows.hint("rebalance", "target", "date").write.mode("overwrite").partitionBy("target", "date").parquet(place)

    def _read(self, stamps: Iterable[str]) -> DataFrame:
        paths = [self._storage.at(FOLDER, f"batch={stamp}") for stamp in stamps]
        if not paths:
            return self._lake.session.createDataFrame([], MESSAGES)
        reader = self._lake.session.read.schema(MESSAGES).option("basePath", self._storage.at(FOLDER))
        return reader.parquet(*paths).select(*MESSAGES.fieldNames())

    def _found(self, stamp: str) -> list[Range]:
        """The stretches of keys without a hole that a batch holds."""
        key = F.col("archive_id")
        place = F.floor(key / _STRETCH)
        row = F.row_number().over(Window.partitionBy("place").orderBy("key"))
        keys = self._read([stamp]).select(key.alias("key"), place.alias("place")).withColumn("hole", F.col("key") - row)
        ends = keys.groupBy("place", "hole").agg(F.min("key").alias("first"), F.max("key").alias("last"))
        return sorted((row["first"], row["last"]) for row in ends.collect())

    def _entry(self, name: str) -> MessageEntry:
        raw = json.loads(self._storage.read(LOG, name))
        if raw["version"] > VERSION:
            raise BadInput(f"the lake {self._storage.root} was written by a newer qmon; upgrade this one")
        marks = {t: {q: from_json(mark) for q, mark in queues.items()} for t, queues in raw["marks"].items()}
        return MessageEntry(raw["number"], raw["batches"], marks)

    def _entries(self) -> list[str]:
        return [name for name in self._storage.names(LOG) if name.endswith(".json") and name[0].isdigit()]

    def _sweep(self, newest: MessageEntry) -> None:
        """Remove old entries, and folders that no kept one names: of takes that were cut short, or compacted."""
        names = self._entries()
        for name in names[:-_KEPT]:
            self._storage.delete(LOG, name)
        counting = set(newest.batches).union(*(self._entry(name).batches for name in names[-_KEPT:]))
        for folder in self._storage.names(FOLDER):
            if folder.removeprefix("batch=") not in counting:
                self._storage.delete(FOLDER, folder)


def _checked(mark: Watermark, archive: ArchiveTable, seen: Survey, *, anew: bool) -> Watermark:
    """The mark for this archive, a fresh one where it was made anew. Raises ``BadInput`` where that is not clear."""
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
    """What an executor causes, without Spark's and Python's stacks."""
    causes: list[Any] = re.findall(r"qmon\.errors\.\w+: ([^\n]+)", str(problem))
    return str(causes[-1]) if causes else first_line(problem)
