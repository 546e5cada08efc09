"""Reads one message completely: payload, columns, times, and the current activity of the owner's session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from qmon.engines.sql.queries import Name
from qmon.engines.sql.whole_row import RowKey, RowValues, StoredColumn
from qmon.errors import BadInput, LockTimeout, PermissionMissing, QmonError
from qmon.model.formatting import duration, one_line, utf8_text
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.layout.message_ids import split_id
from qmon.model.waits.lock_holders import LockHolderSample
from qmon.operate.actions import end_sessions
from qmon.operate.context import OperatorContext
from qmon.operate.plan.library_queue import library_queue_for
from qmon.operate.plan.required_rights import masked_columns
from qmon.operate.sql import Sql
from qmon.operate.table_structure import MAX_KEY_CHARS
from qmon.texts import Text


class MessageText(Text):
    """Texts about one message and the session of its owner."""

    NO_ID = "rows of {table} cannot be identified: the table has no id"
    ID_FORM = "ids of this queue have the form {form}"
    NO_TABLE = "{table} does not exist, or your role may not see it"
    NO_COLUMN = "{table} has no column {column}"
    CUT_KEY = "{columns} has {limit:,} characters or more: qmon cannot name this message of {table}"
    KEY_UNREADABLE = "your role may not read the key of {table}"
    NOT_A_SESSION = "{column} is a {kind}: the consumer's session is unknown"
    OWNER_IS_NAME = "the owner is a name: the consumer's session is unknown"
    ACTIVITY_UNKNOWN = "the activity of session {session} is unknown: {problem}"
    GONE_OR_UNSEEN = "session {session} is gone, or your role may not see it"
    NUMBER_REUSED = "session {session} is gone; another session has this number now"
    FOR_TIME = " for {duration}"
    LAST_STATEMENT = ", last statement: {statement}"
    SESSION = "session {session} ({who}): {state}{since}{last}"
    STATE_UNKNOWN = "state unknown"
    LOCKED = "a session has locked the table, and readers must wait"


# Maximum size of a payload on screen: characters, or bytes for binary columns.
MAX_PAYLOAD_CHARS: Final = 1 << 20
MAX_COLUMN_CHARS: Final = 4_000

# Number of characters that are read after the cut but not shown. A secret that begins before the cut can only be
# recognized if its end is also read.
_REDACTION_MARGIN: Final = 4_096
_BINARY_TYPES: Final = frozenset({"bytea", "binary", "varbinary", "image"})


@dataclass(frozen=True, slots=True)
class MessageColumn:
    """A column of a message's row.

    - ``size``: bytes of the value, ``None`` if it is NULL or cannot be read.
    - ``value``: the redacted text, or bytes if the value is not text. If both ``value`` and ``size`` are ``None``, the
      value is NULL. If only ``value`` is ``None``, the value is too large, and the server cannot read a part of it.
    - ``cut``: ``value`` contains only the beginning of the column's value.
    - ``grant``: how to let our role read the column, usually a GRANT statement. Empty if our role can read the column.
      qmon does not read masked columns.
    """

    name: str
    type_name: str
    size: int | None = None
    value: str | bytes | None = None
    cut: bool = False
    grant: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message at the time when qmon read it.

    - ``columns``: all columns of the message's row, followed by the columns of its row in the second table. Values are
      cut after ``MAX_COLUMN_CHARS``.
    - ``payload``: the payload column, cut after ``MAX_PAYLOAD_CHARS``; ``None`` if the layout has no payload column.
    - ``pushed_s``, ``popped_s``: seconds since the push and the pop; ``None`` if no column contains the time.
    - ``owner``: the consumer that holds the message.
    - ``doing``: the current activity of the owner's session, or the reason why it is unknown.
    """

    columns: tuple[MessageColumn, ...]
    payload: MessageColumn | None = None
    pushed_s: float | None = None
    popped_s: float | None = None
    owner: str | None = None
    doing: str = ""


@dataclass(frozen=True, slots=True)
class ReadableColumn:
    """A row of ``action/message/columns``."""

    table_id: int
    column_name: str
    type_name: str
    kind: str
    readable: bool
    role: str

    @property
    def stored_column(self) -> StoredColumn:
        """The column in the form that statements need."""
        return StoredColumn(self.column_name, self.type_name, self.kind)


@dataclass(frozen=True, slots=True)
class ColumnValue:
    """A row of ``action/message/row``."""

    place: int
    size: int | None
    value: str | None


@dataclass(frozen=True, slots=True)
class MessageTimes:
    """A row of ``action/message/times``."""

    pushed_s: float | None
    popped_s: float | None


def read_message(context: OperatorContext, layout: Layout, id: str, owner: str | None = None) -> Message | None:
    """Read the message ``id``. Return ``None`` if it no longer exists.

    ``owner``: the last known owner, used if the layout has no owner column. Raises ``BadInput`` if the row cannot be
    identified. Raises ``LockTimeout``, which names the session, if a session blocks even readers. Also raises other
    errors of the server.
    """
    with context.open_sql("message") as sql:
        table = _Row(sql, layout.table, _key_for(layout, id), layout.payload, context.redact)
        try:
            row = table.read_columns()
            if row is None:
                return None
            second = _read_second_row(context, sql, layout, id, row)
            where = row if second is None else second
            payload = where.get(layout.payload or "")
            columns = (*row.values(), *(second or {}).values())
            if layout.owner is not None:
                owner = _text_value(row.get(layout.owner.column))
            times = _read_times(sql, layout, table)
            return Message(
                tuple(_shorten_column(each) for each in columns),
                payload,
                times.pushed_s,
                times.popped_s,
                owner,
                _describe_owner(context, sql, layout, owner),
            )
        except LockTimeout as problem:
            raise LockTimeout(
                _describe_lock_holder(sql, table.id), sqlstate=problem.sqlstate, query=problem.query
            ) from None


def _key_for(layout: Layout, id: str) -> dict[str, str]:
    """Return the columns that identify the row of a message, with their values."""
    ring = layout.ring
    if ring is not None:
        return {ring.slot: str(int(id) % ring.size), ring.message_id: id}
    if not layout.id_columns:
        raise BadInput(MessageText.NO_ID.render(table=layout.table))
    parts = split_id(id, len(layout.id_columns))
    if len(parts) != len(layout.id_columns):
        raise BadInput(MessageText.ID_FORM.render(form="/".join(layout.id_columns)))
    return dict(zip(layout.id_columns, parts, strict=True))


class _Row:
    """The row that has this key in a table.

    ``payload_column``: the column that is read up to ``MAX_PAYLOAD_CHARS``.
    """

    def __init__(
        self,
        sql: Sql,
        table: ObjectName,
        key: Mapping[str, str],
        payload_column: str | None,
        redact: Callable[[str], str],
    ) -> None:
        self._sql, self._table, self._payload, self._redact = sql, table, payload_column, redact
        self._columns = sql.fetch(ReadableColumn, "action/message/columns", {"table": table.parts})
        if not self._columns:
            raise BadInput(MessageText.NO_TABLE.render(table=table))
        self.id = self._columns[0].table_id
        known = {each.column_name: each for each in self._columns}
        if unknown := key.keys() - known.keys():
            raise BadInput(MessageText.NO_COLUMN.render(table=table, column=min(unknown)))
        long = [name for name, value in key.items() if len(value) >= MAX_KEY_CHARS]
        if sql.engine.name == "sqlserver" and long:
            raise BadInput(MessageText.CUT_KEY.render(columns=long[0], limit=MAX_KEY_CHARS, table=table))
        self.masked = masked_columns(sql, table)
        if grants := [self._grant_statement(known[name]) for name in key if not self._is_readable(known[name])]:
            raise PermissionMissing(MessageText.KEY_UNREADABLE.render(table=table), grant=grants[0])
        of_key = RowKey(tuple((known[name].stored_column, value) for name, value in key.items()))
        self.names: dict[str, Name] = {"table": table.parts, "key": of_key}

    def read_columns(self) -> dict[str, MessageColumn] | None:
        """Return the columns, keyed by name, or ``None`` if the row does not exist."""
        readable = [each for each in self._columns if self._is_readable(each)]
        wanted = RowValues(tuple((each.stored_column, self._max_size(each) + _REDACTION_MARGIN) for each in readable))
        found = self._sql.fetch(ColumnValue, "action/message/row", {**self.names, "columns": wanted})
        if not found:
            return None
        values = {readable[each.place - 1].column_name: each for each in found}
        return {each.column_name: self._to_message_column(each, values.get(each.column_name)) for each in self._columns}

    def _is_readable(self, column: ReadableColumn) -> bool:
        return column.readable and column.column_name not in self.masked

    def _max_size(self, column: ReadableColumn) -> int:
        return MAX_PAYLOAD_CHARS if column.column_name == self._payload else MAX_COLUMN_CHARS

    def _to_message_column(self, column: ReadableColumn, column_value: ColumnValue | None) -> MessageColumn:
        if column_value is None:
            return MessageColumn(column.column_name, column.type_name, grant=self._grant_statement(column))
        if column_value.value is None:
            return MessageColumn(column.column_name, column.type_name, column_value.size)
        most, value = self._max_size(column), column_value.value
        raw = bytes.fromhex(value[2:]) if column.kind in _BINARY_TYPES else None
        cut = len(value if raw is None else raw) > most
        text = value if raw is None else utf8_text(raw)
        shown = self._redact_text(text or "", cut) if raw is None or text is not None else self._redact_bytes(raw, cut)
        return MessageColumn(column.column_name, column.type_name, column_value.size, shown, cut)

    def _redact_text(self, text: str, cut: bool) -> str:
        covered = self._redact(text)
        return covered[:-_REDACTION_MARGIN] if cut else covered

    def _redact_bytes(self, raw: bytes, cut: bool) -> bytes:
        """Redact text in bytes; redacted characters become question marks."""
        return self._redact_text(raw.decode("latin-1"), cut).encode("latin-1", "replace")

    def _grant_statement(self, column: ReadableColumn) -> str:
        if column.readable:
            return self.masked[column.column_name]
        quote = self._sql.engine.quote
        return f"GRANT SELECT ({quote((column.column_name,))}) ON {quote(self._table.parts)} TO {column.role}"


def _read_second_row(
    context: OperatorContext, sql: Sql, layout: Layout, id: str, row: Mapping[str, MessageColumn]
) -> dict[str, MessageColumn] | None:
    """Return the message's row in the second table: empty if the row is missing, ``None`` if there is no such table."""
    library = library_queue_for(layout)
    lookup = None if library is None or library.group.payload is None else library.group.payload.lookup
    if lookup is not None:
        table, column, value = (
            ObjectName(layout.table.schema, lookup.table),
            lookup.key,
            _text_value(row.get(lookup.referring_column)),
        )
    elif layout.data_table is not None and layout.data_id is not None:
        table, column = layout.data_table, layout.data_id
        value = id if layout.ring is not None else _text_value(row.get(layout.id or ""))
    else:
        return None
    if value is None:
        return {}
    return _Row(sql, table, {column: value}, layout.payload, context.redact).read_columns() or {}


def _read_times(sql: Sql, layout: Layout, row: _Row) -> MessageTimes:
    pushed, popped = (None if at in row.masked else at for at in (layout.enqueued_at, layout.started_at))
    names = {**row.names, "enqueued_at": layout.time_column(pushed), "started_at": layout.time_column(popped)}
    try:
        found = sql.fetch(MessageTimes, "action/message/times", names)
    except PermissionMissing:
        return MessageTimes(None, None)
    return found[0] if found else MessageTimes(None, None)


def _describe_owner(context: OperatorContext, sql: Sql, layout: Layout, owner: str | None) -> str:
    """Describe in one line what the owner's session is doing now."""
    if owner is None:
        return ""
    column = layout.owner
    if column is not None and column.kind in ("lease", "heartbeat"):
        return MessageText.NOT_A_SESSION.render(column=column.column, kind=column.kind)
    number, _, began = owner.partition("/")
    if (column is not None and column.kind != "session") or layout.part is not None or not number.isdecimal():
        return MessageText.OWNER_IS_NAME
    try:
        found = end_sessions.read_session(sql, int(number))
    except QmonError as problem:
        return MessageText.ACTIVITY_UNKNOWN.render(session=number, problem=one_line(str(problem), 120))
    if found is None:
        return MessageText.GONE_OR_UNSEEN.render(session=number)
    if began and found.started_us is not None and found.started_us // 1_000_000 != int(began or 0):
        return MessageText.NUMBER_REUSED.render(session=number)
    who = ", ".join(part for part in (one_line(found.application), found.login, found.host) if part)
    since = "" if found.state_s is None else MessageText.FOR_TIME.render(duration=duration(found.state_s))
    last = (
        MessageText.LAST_STATEMENT.render(statement=one_line(context.redact(found.statement), 200))
        if found.statement
        else ""
    )
    return MessageText.SESSION.render(
        session=number, who=who, state=found.state or MessageText.STATE_UNKNOWN, since=since, last=last
    )


def _describe_lock_holder(sql: Sql, table_id: int) -> str:
    """Name the session or transaction whose lock blocks even readers."""
    try:
        found = sql.fetch(LockHolderSample, "probe/lock_holders", {}, {"tables": sql.engine.ids_value([table_id])})
    except QmonError:
        found = []
    return found[0].summary if found else MessageText.LOCKED


def _text_value(column: MessageColumn | None) -> str | None:
    return column.value if column is not None and isinstance(column.value, str) else None


def _shorten_column(column: MessageColumn) -> MessageColumn:
    value = column.value
    if value is None or len(value) <= MAX_COLUMN_CHARS:
        return column
    return replace(column, value=value[:MAX_COLUMN_CHARS], cut=True)
