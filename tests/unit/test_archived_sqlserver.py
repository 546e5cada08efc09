"""An archive on SQL Server: rows of its types go through the driver's seam into records, batch by batch."""

from __future__ import annotations

import pytest

from qmon.engines.sql import queries
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.errors import BadInput
from qmon.model.layout.layout import Layout, ObjectName
from qmon.pipeline.messages.archive_reader import (
    ArchivedMessage,
    ArchiveReaderText,
    ArchiveTable,
    find_archive,
    read_messages,
    reading_session,
    survey_archive,
)
from tests.replayed import BIG, Driver, columns_of, connection, said, value
from tests.tsql_types import Type
from tests.wordings import pattern

ENGINE = SqlServer()
PARTS = ("dbo", "a]b_archive_log")
COLUMNS = {
    "message_id": "queue_id",
    "enqueued_at": "enqueued_at",
    "started_at": "started_at",
    "completed_at": "completed_at",
    "attempts": "attempts",
    "owner": "owner",
    "title": "title",
    "payload": "text_data",
}
LAYOUT = Layout(
    "a]b",
    "flag",
    ObjectName("dbo", "a]b"),
    id="id",
    enqueued_at="enqueued_at",
    payload="command",
    routines=(("archive", ObjectName("dbo", "a]b_archive")),),
)


class Server(Driver):
    """Answers queries of an archive with rows of the columns' types. Each of its messages is returned once."""

    def __init__(self, columns: dict[str, bool], messages: int = 0, *, known: bool = True) -> None:
        """``known``: messages have optional fields too."""
        super().__init__()
        self.columns, self.left, self.known = columns, messages, known
        self.standby = False

    def answer(self, text: str) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
        name = text.split()[2]
        self.asked.append(name)
        if name in self.broken:
            raise self.broken[name]
        types = columns_of(text)
        names = tuple(column for column, _ in types)
        if name == "catalog/archive_columns":
            return names, [(value(types[0][1], 0), column, is_key) for column, is_key in self.columns.items()]
        if name == "catalog/archive_ends":
            row = [value(kind, 0) for _, kind in types]
            return names, [(*row[:3], self.standby)]
        if name == "catalog/archive_messages":
            return names, self._messages(types)
        return names, [tuple(value(kind, 0) for _, kind in types)]

    def _messages(self, types: tuple[tuple[str, Type], ...]) -> list[tuple[object, ...]]:
        given, self.left = self.left, 0
        certain = {"archive_id": BIG, "message_id": "1", "archived_at": 1.5}
        return [tuple(certain.get(name, value(kind, 0) if self.known else None) for name, kind in types)] * given


def test_its_columns_its_ends_and_who_writes() -> None:
    server = Server({"archive_id": True, "id": False, "enqueued_at": False, "processed_at": False, "command": False})
    opened = connection(server, (16, 0))
    archive = find_archive(opened, ENGINE, LAYOUT)
    assert (archive.queue, archive.parts, archive.table_id) == ("a]b", PARTS, BIG)
    assert {name for name, column in archive.columns.items() if column is None} == {
        "started_at",
        "attempts",
        "owner",
        "title",
    }
    assert archive.columns["completed_at"] == "processed_at"
    seen = survey_archive(opened, ENGINE, archive)
    assert (seen.oldest, seen.newest, seen.issued) == (BIG, BIG, BIG)
    assert [type(writer) for writer in seen.writers] == [str]
    assert server.asked == [f"catalog/archive_{name}" for name in ("columns", "ends", "writers")]
    assert not reading_session(ENGINE).read_only  # otherwise it would read uncommitted data


@pytest.mark.parametrize("known", [True, False])
def test_messages_come_in_batches(known: bool) -> None:
    opened = connection(server := Server({}, messages=500, known=known), (16, 0))
    columns = COLUMNS if known else dict.fromkeys(COLUMNS, None) | {"message_id": "id"}
    batches = list(read_messages(opened, ENGINE, ArchiveTable("a]b", PARTS, 1, columns), [(1, BIG + 1)], payloads=True))
    assert [len(batch) for batch in batches] == [500]
    first = batches[0][0]
    assert isinstance(first, ArchivedMessage)
    assert (first.archive_id, first.message_id, first.archived_at) == (BIG, "1", 1.5)
    assert (first.payload is not None) == (first.attempts is not None) == known
    assert server.asked == ["catalog/archive_messages"] * 2


def test_what_is_missing_is_one_line_with_what_helps() -> None:
    with pytest.raises(BadInput, match=r"ALTER TABLE \[dbo\]\.\[a\]\]b_archive_log\] ADD archive_id bigint IDENTITY"):
        find_archive(connection(Server({"id": False, "archive_id": False}), (16, 0)), ENGINE, LAYOUT)
    with pytest.raises(BadInput, match=pattern(ArchiveReaderText.NO_TABLE)):
        find_archive(connection(Server({}), (16, 0)), ENGINE, LAYOUT)
    server = Server({"archive_id": True, "id": False})
    opened = connection(server, (16, 0))
    archive = find_archive(opened, ENGINE, LAYOUT)
    server.standby = True
    with pytest.raises(BadInput, match=pattern(ArchiveReaderText.REPLICA)):
        survey_archive(opened, ENGINE, archive)
    server.standby = False
    server.broken["catalog/archive_writers"] = said("42000", "VIEW SERVER STATE permission was denied. (300)")
    with pytest.raises(BadInput, match=pattern(ArchiveReaderText.NOT_ALLOWED)):
        survey_archive(opened, ENGINE, archive)


def test_messages_are_read_committed_and_never_passed_over() -> None:
    text = queries.load_query("sqlserver", "catalog/archive_messages", (16, 0)).text
    code = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    assert not {"READPAST", "NOLOCK", "READUNCOMMITTED"} & set(code.replace("(", " ").replace(")", " ").split())
