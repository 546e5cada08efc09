"""Reads a queue's archive table without Spark: columns, first and last key, writers, and messages in ranges of keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from qmon.engines.base import Bound, Connection, Engine, Session, Value
from qmon.engines.result_records import to_records
from qmon.engines.sql import queries
from qmon.errors import BadInput, PermissionMissing
from qmon.model.layout.layout import Layout
from qmon.operate.install.object_names import table_name
from qmon.texts import Text


class ArchiveReaderText(Text):
    """Why an archive cannot be read."""

    NO_ARCHIVE = "queue {queue!r} has no archive: the design {design} does not keep an archive"
    NO_TABLE = "queue {queue!r}: the table {table} does not exist, or your role may not see it"
    NOT_NUMBERED = "the archive of {queue!r} does not number its rows, so qmon cannot find new rows; run: {statement}"
    NO_MESSAGE_ID = "the archive of {queue!r} has no column for the id of a message"
    REPLICA = "{queue}: this server is a replica, which does not show unfinished writes; connect to the primary"
    NOT_ALLOWED = "not allowed to read {table}: {problem}"


Record = TypeVar("Record")

KEY: Final = "archive_id"

# Target size of a batch in bytes, estimated from the previous messages. A batch has at least one message.
BATCH_BYTES: Final = 8_000_000
_FIRST_LIMIT: Final = 500
_MAX_LIMIT: Final = 10_000


@dataclass(frozen=True, slots=True)
class ArchiveTable:
    """A queue's archive. ``columns``: the archive's column for each figure of a message, ``None`` if there is none."""

    queue: str
    parts: tuple[str, ...]
    table_id: int
    columns: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Survey:
    """The keys of the oldest and newest row, and the transactions that were still writing after the keys were read.

    ``issued``: the greatest key ever issued, if qmon can read it.
    """

    oldest: int | None
    newest: int | None
    issued: int | None
    writers: frozenset[str]


@dataclass(frozen=True, slots=True)
class ArchivedMessage:
    """One archived message. Times are seconds since the epoch on the server's clock."""

    archive_id: int
    message_id: str
    enqueued_at: float | None
    started_at: float | None
    completed_at: float | None
    archived_at: float
    attempts: int | None
    owner: str | None
    title: str | None
    payload_bytes: int | None
    payload: str | None


@dataclass(frozen=True, slots=True)
class ArchiveColumnRow:
    """A column of an archive. ``is_key``: the column contains consecutive numbers that only the server sets."""

    table_id: int
    column_name: str
    is_key: bool


@dataclass(frozen=True, slots=True)
class EndsRow:
    """The first and last key."""

    oldest: int | None
    newest: int | None
    issued: int | None
    standby: bool


@dataclass(frozen=True, slots=True)
class WriterRow:
    """A running transaction."""

    writer: str


def reading_session(engine: Engine) -> Session:
    """Return the session settings for reading messages. On SQL Server, the session must not read uncommitted rows."""
    return Session("messages", statement_timeout_s=120.0, lock_timeout_s=10.0, read_only=engine.name == "postgres")


def find_archive(connection: Connection, engine: Engine, layout: Layout) -> ArchiveTable:
    """Find the archive of a queue. Raises ``BadInput`` if there is no archive, or if its rows are not numbered."""
    if layout.routine_for("archive") is None:
        raise BadInput(ArchiveReaderText.NO_ARCHIVE.render(queue=layout.queue, design=layout.design))
    parts = table_name(layout.table.schema, layout.table.name, "archive_log").parts
    found = _fetch_query(connection, engine, ArchiveColumnRow, "archive_columns", parts)
    if not found:
        raise BadInput(ArchiveReaderText.NO_TABLE.render(queue=layout.queue, table=".".join(parts)))
    if not any(row.column_name == KEY and row.is_key for row in found):
        kind = "GENERATED ALWAYS AS IDENTITY PRIMARY KEY" if engine.name == "postgres" else "IDENTITY(1, 1) PRIMARY KEY"
        statement = f"ALTER TABLE {engine.quote(parts)} ADD {KEY} bigint {kind}"
        raise BadInput(ArchiveReaderText.NOT_NUMBERED.render(queue=layout.queue, statement=statement))
    names = {row.column_name for row in found}
    wanted = {
        "message_id": layout.id,
        "enqueued_at": layout.enqueued_at,
        "started_at": layout.started_at,
        "completed_at": next((name for name in ("completed_at", "processed_at") if name in names), None),
        "attempts": layout.attempts,
        "owner": None if layout.owner is None else layout.owner.column,
        "title": "title",
        "payload": layout.payload,
    }
    columns = {name: column if column in names else None for name, column in wanted.items()}
    if columns["message_id"] is None:
        raise BadInput(ArchiveReaderText.NO_MESSAGE_ID.render(queue=layout.queue))
    return ArchiveTable(layout.queue, parts, found[0].table_id, columns)


def survey_archive(connection: Connection, engine: Engine, archive: ArchiveTable) -> Survey:
    """Return which keys can be read now. Raises ``BadInput`` on a standby, because a standby does not show writers."""
    (ends,) = _fetch_query(connection, engine, EndsRow, "archive_ends", archive.parts)
    if ends.standby:
        raise BadInput(ArchiveReaderText.REPLICA.render(queue=archive.queue))
    writing = _fetch_query(connection, engine, WriterRow, "archive_writers", archive.parts)
    return Survey(ends.oldest, ends.newest, ends.issued, frozenset(row.writer for row in writing))


def read_messages(
    connection: Connection, engine: Engine, archive: ArchiveTable, ranges: Iterable[tuple[int, int]], *, payloads: bool
) -> Iterator[list[ArchivedMessage]]:
    """Yield the committed messages of some ranges of keys in batches of limited size. Ranges include both ends."""
    query = queries.load_query(engine.name, "catalog/archive_messages", connection.version)
    names: dict[str, queries.Name] = {"archive_log": archive.parts, **archive.columns}
    statement = queries.render(query, {name: names[name] for name in query.names}, engine)
    limit = _FIRST_LIMIT
    for first, last in ranges:
        after = first - 1
        while after < last:
            values: dict[str, Value] = {"after": after, "upto": last, "limit": limit, "with_payload": int(payloads)}
            found = _fetch_records(connection, ArchivedMessage, Bound(statement, values), archive.parts)
            if found:
                yield found
            if len(found) < limit:
                break
            after, limit = found[-1].archive_id, _next_limit(limit, found)


def _next_limit(limit: int, messages: list[ArchivedMessage]) -> int:
    """Return the limit of the next batch, computed from the size of this batch: at most twice the current limit."""
    each = sum(message.payload_bytes or 0 for message in messages) / len(messages) + 200
    return max(1, min(_MAX_LIMIT, 2 * limit, int(BATCH_BYTES / each)))


def _fetch_query(
    connection: Connection, engine: Engine, kind: type[Record], name: str, parts: tuple[str, ...]
) -> list[Record]:
    query = queries.load_query(engine.name, f"catalog/{name}", connection.version)
    statement = queries.render(query, {"archive_log": parts}, engine)
    return _fetch_records(connection, kind, Bound(statement), parts)


def _fetch_records(connection: Connection, kind: type[Record], bound: Bound, parts: tuple[str, ...]) -> list[Record]:
    try:
        return to_records(kind, connection.fetch(bound))
    except PermissionMissing as problem:
        raise BadInput(ArchiveReaderText.NOT_ALLOWED.render(table=".".join(parts), problem=problem)) from problem
