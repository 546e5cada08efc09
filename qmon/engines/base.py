"""The interface of engines and connections. Only ``odbc.py`` uses the driver."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from qmon.engines.secret import Secret
from qmon.errors import BadInput
from qmon.model.cost_budget import Budget
from qmon.model.layout.time_zones import Zone
from qmon.texts import Text


class BindingText(Text):
    """Errors of values of a statement."""

    VALUE_MISSING = "{query} needs a value for {value}"
    VALUE_UNUSED = "{query} does not use the value {value}"
    NUL_CHARACTER = "{query}: a value contains a NUL character, which this server cannot store"


# Maximum UTF-16 units of a text that is not a large object (SQL Server).
MAX_TEXT_UNITS: Final = 4000
# Lists and plans show at most this many characters of an error.
MOST_OF_AN_ERROR: Final = 200


def ordered_values(bound: Bound, *, nul_allowed: bool) -> list[Value]:
    """Return the values in the order of the statement's question marks.

    Raises ``BadInput`` if a value is missing or not used. If ``nul_allowed`` is false, also raises ``BadInput`` if a
    value contains a NUL character, which PostgreSQL cannot store.
    """
    wanted, given = bound.statement.parameters, {**bound.statement.values, **bound.values}
    if not (wanted or given):
        return []
    if missing := [name for name in wanted if name not in given]:
        raise BadInput(BindingText.VALUE_MISSING.render(query=bound.statement.name, value=missing[0]))
    if extra := given.keys() - set(wanted):
        raise BadInput(BindingText.VALUE_UNUSED.render(query=bound.statement.name, value=min(extra)))
    values = [given[name] for name in wanted]
    if not nul_allowed and any([isinstance(value, str) and "\0" in value for value in values]):
        raise BadInput(BindingText.NUL_CHARACTER.render(query=bound.statement.name))
    return values


def fits_max_text(value: Value) -> bool:
    """Return whether a value is NULL or a text of at most ``MAX_TEXT_UNITS``."""
    return value is None or (isinstance(value, str) and len(value.encode("utf-16-le", "replace")) <= 2 * MAX_TEXT_UNITS)


# An answer may arrive this many seconds after the statement timeout. The server enforces the timeout, and the network
# needs time to transfer the answer.
SILENCE_S: Final = 5.0

EngineName = Literal["postgres", "sqlserver"]
Value = str | int | float | bool | bytes | None


@dataclass(frozen=True, slots=True)
class Target:
    """A database to connect to.

    - ``name``: contains no secrets and may be shown on a screen.
    - ``engine``: ``None`` if qmon must ask the server, because the target is a DSN.
    - ``parameters``: ODBC keywords without the password.
    - ``password``: the password, if it is already known.
    - ``prod``: if true, actions require the queue's name and a reason.
    - ``read_only``: if true, actions are refused.
    - ``schema_owner``: a role that may own the schema ``qmon`` (PostgreSQL), in addition to our own role and
      superusers.
    - ``budget``: cost budget of polling the database.
    - ``raised_hidden``: if true, error texts raised by triggers and functions are hidden. The configuration hides parts
      of payloads, and these texts may repeat such parts.
    """

    name: str
    engine: EngineName | None
    parameters: Mapping[str, str] = field(repr=False)
    password: Secret | None = field(default=None, repr=False, compare=False, kw_only=True)
    environment: str = ""
    prod: bool = False
    read_only: bool = False
    schema_owner: str = ""
    budget: Budget = field(default_factory=Budget)
    raised_hidden: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """Settings of a connection. Times are in seconds; ``None`` keeps the server's own setting.

    - ``read_only``: if true, the server refuses writes (PostgreSQL), or reads do not wait for locks (SQL Server).
    - ``purpose``: part of the application name (``qmon poll``), unless ``application`` is set.
    - ``idle_transaction_timeout_s``: if our session stays idle in a transaction for longer than this, the server ends
      the session (PostgreSQL), so that a hung qmon holds no locks.
    - ``writes``: true if the connection changes data. Connecting to a standby is then refused (``BadInput``).
    - ``silence_s``: seconds beyond ``statement_timeout_s`` after which qmon stops waiting for an answer and abandons
      the connection (``ConnectionLost``). Without a statement timeout there is no such deadline, because a statement
      may take as long as it needs. Ctrl-C ends the wait. If ``silence_s`` is ``None``, calls run on the caller's thread
      after the session is set up, and the caller has its own deadline.
    - ``repeats``: true if the session repeats the same batches. These batches are then prepared.
    """

    purpose: str = ""
    login_timeout_s: float = 5.0
    statement_timeout_s: float | None = None
    lock_timeout_s: float | None = None
    read_only: bool = False
    idle_transaction_timeout_s: float | None = 60.0
    repeats: bool = False
    application: str = ""
    writes: bool = False
    silence_s: float | None = SILENCE_S


@dataclass(frozen=True, slots=True)
class Query:
    """One SQL file, checked and compiled but not yet rendered. See ``sql/README.md`` for the format.

    ``required``: the ``names`` that may not be ``NULL``.
    """

    name: str
    purpose: str
    text: str
    parameters: tuple[str, ...]
    names: frozenset[str]
    columns: tuple[str, ...]
    path: str
    required: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL that is ready to run.

    Identifiers are quoted, each value is a ``?``, and ``parameters`` contains the names of the values in order.
    ``values``: values that are already known, because they belong to conditions in the text.
    """

    name: str
    text: str
    parameters: tuple[str, ...]
    columns: tuple[str, ...]
    values: Mapping[str, Value] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Bound:
    """A statement with its values."""

    statement: Statement
    values: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rows:
    """A result set: the declared column names in lower case, and the rows as tuples."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


class Connection(Protocol):
    """One connection, for one thread. Only ``cancel`` and ``abandon`` may be called from another thread.

    Every method raises ``ConnectionLost`` if the connection broke or the server is silent for too long. It raises
    ``StatementStopped`` if the statement ran out of time or was cancelled. If the server refused the statement, it
    raises ``PermissionMissing`` or another ``QueryFailed``. Outside ``transaction`` each statement commits by itself.
    """

    @property
    def version(self) -> tuple[int, int]:
        """The server's version, such as (18, 6) or (16, 0)."""

    @property
    def session_id(self) -> int:
        """The server's id of this session."""

    @property
    def is_pooled(self) -> bool:
        """True if a pooler is between us and the server.

        Our settings then last for one transaction, and no setting stays in the session.
        """

    @property
    def commits(self) -> int:
        """Number of committed transactions. Each statement or batch outside ``transaction`` counts as one."""

    def fetch(self, bound: Bound) -> Rows:
        """Run one statement that returns rows. The columns of the result must be the declared columns."""

    def fetch_batch(self, bounds: Sequence[Bound]) -> list[Rows]:
        """Run several statements in one round trip.

        If one statement fails, the whole batch fails. The caller can then run each statement with ``fetch``.
        """

    def fetch_list(self, bounds: Sequence[Bound], selected: Sequence[bool]) -> list[Rows | None]:
        """Run some statements of a list. The list is the same in each poll, but the statements to run differ.

        ``selected``: true for each statement to run. The result of a statement that is not run is ``None``. If the
        server caches plans by text, the text of the whole list is sent, so that the plan of the text is reused. A long
        list takes a few round trips. Statements that are not run are sent with their previous values, so that the types
        of the values stay the same.
        """

    def set_up_session(self, bound: Bound) -> None:
        """Run a statement that configures the session.

        On a pooled connection, the statement runs at the start of each transaction instead of now. If the statement has
        a parameter ``local``, this method sets its value.
        """

    def limit_statements(self, statement_s: float) -> None:
        """Change the session's statement timeout to this many seconds."""

    def execute(self, bound: Bound) -> int:
        """Run one statement that changes rows. Return the number of changed rows, or -1 if it is not reported.

        If the only declared column of a statement is ``done``, the result of the statement contains this number.
        """

    def transaction(self) -> AbstractContextManager[None]:
        """Commit at the end of the block, or roll back after any exception.

        Raises ``OutcomeUnknown`` if the connection is lost during the commit.
        """

    def cancel(self) -> None:
        """Ask the server to cancel the running statement. Wait two seconds at most. Any thread may call this method."""

    def abandon(self) -> None:
        """Stop waiting for this connection: the running statement raises ``ConnectionLost`` immediately.

        Any thread may call this method. The method does not wait, and has no effect on a statement of a session without
        ``silence_s``.
        """

    def close(self) -> None:
        """Close the connection. This method never raises an exception and does not wait for a silent server."""


class Engine(Protocol):
    """A kind of server: how to quote identifiers, connect, and write expressions for this server."""

    @property
    def name(self) -> EngineName:
        """``postgres`` or ``sqlserver``. The engine's folder in ``sql/`` has the same name."""

    def quote(self, parts: Sequence[str]) -> str:
        """Quote an identifier of one or more parts. Raises ``BadInput`` if a part cannot be an identifier."""

    def literal(self, text: str) -> str:
        """Return a string literal, for the few places that accept neither an identifier nor a parameter.

        An example is the argument of ``nextval``.
        """

    def ids_value(self, ids: Sequence[int]) -> str:
        """Return several object ids as one value, in the form that this engine's statements expect."""

    def texts_value(self, texts: Iterable[str]) -> str:
        """Return several texts as one value, in order, in the form that this engine's statements expect."""

    def utc_expression(self, expression: str, zone: Zone) -> str:
        """Return an expression for a time in UTC. ``zone`` applies only if the time has no zone."""

    def clock_expression(self, zone: Zone) -> str:
        """Return an expression for the current time that can be compared with a column of this zone."""

    def now_minus(self, zone: Zone, seconds: str) -> str:
        """Return an expression for the statement's start time minus ``seconds``. An index can be used with it."""

    def shifted_time(self, utc: str, seconds: str) -> str:
        """Return a time in UTC plus ``seconds``. Both are expressions."""

    def latest_time(self, times: Sequence[str]) -> str:
        """Return the latest of several times in UTC. NULL is ignored, unless all times are NULL."""

    def seconds_expression(self, column: str) -> str:
        """Return an expression for the number of seconds in a column of numbers or of intervals."""

    def json_value(self, expression: str, path: Sequence[str], *, is_number: bool) -> str:
        """Return an expression for the value at ``path`` inside JSON, as text, or as a whole number if ``is_number``.

        The result is NULL if there is no such value, or if it is not a number although ``is_number``.
        """

    def renamed_case(self, text: str, pattern: str, name: str) -> str:
        """Return ``WHEN … THEN …``: if a text matches a pattern, it becomes ``name``.

        ``*`` in the pattern stands for any characters, and ``*`` in the name for the same characters.
        """

    def advisory_lock_condition(self, key: str) -> str:
        """Return the condition that a session of this database holds the advisory lock ``key``, a whole number.

        Raises ``BadInput`` if the engine has no such locks.
        """

    def text_type(self, kind: str) -> str:
        """Return the text type, without length, of values that are compared with a column of type ``kind``.

        If the value has this type, the server does not convert the column.
        """

    def readable_expression(self, column: str, kind: str) -> str:
        """Return an expression for a column's value in a type that can become text. ``column``: quoted name."""
        ...

    def newest(self, expression: str, kind: str) -> str:
        """Return an expression for the most recent error, as text of at most ``MOST_OF_AN_ERROR`` characters.

        An error column may contain one text, or a list to which each failure appends. For an array or a list in
        ``jsonb`` of PostgreSQL, the result is the last element. For any other JSON list, the result is the end of the
        text. For any other text, the result is the beginning of the text. For an empty text or list, the result is
        NULL. For a large value, the result is only the size.

        Args:
            expression: the value. The result contains this expression once.
            kind: base type of the value in lower case; empty if unknown.
        """
        ...

    def text_expression(self, columns: Sequence[str]) -> str:
        """Return an expression for the text of one column, or of several columns.

        The text of several columns has the format of ``qmon.model.layout.message_ids``. ``columns``: quoted names.
        """

    def equals_condition(self, column: str, type_name: str, kind: str) -> str:
        """Return the condition that a column equals a value, which is given as text in one parameter.

        ``column``: quoted name. ``type_name``: type of the column, with length. ``kind``: base type, without length.
        The server can use an index on the column.
        """

    def compare_condition(self, column: str, operator: str, kind: str, value: str) -> str:
        """Return a condition that compares a column with a value, which is given as text.

        ``column``: quoted name. ``operator``: an operator such as ``<=``. ``kind``: type of the column. The server can
        use an index on the column.
        """
        ...

    def byte_order_expression(self, text: str, operator: str = "", value: str = "") -> str:
        """Return an expression that sorts ``text`` byte by byte, whatever its collation.

        If ``operator`` is given, return a condition that compares this expression with ``value``.
        """
        ...

    def contains_condition(self, expression: str, text: str, *, binary: bool) -> str:
        """Return the condition that the text of an expression contains ``text``, ignoring case.

        ``expression`` and ``text`` may appear more than once in the condition. ``binary``: true if the expression
        contains the bytes of a text.
        """
        ...

    def sized_text_expressions(self, column: str, kind: str, max_chars: int) -> tuple[str, str]:
        """Return two expressions: the size in bytes of a column's value, and its first ``max_chars`` characters.

        If the value is bytes, each byte is written as two hex digits, after a prefix of two characters. ``column``:
        quoted.
        """

    def bytes_value(self, text: str) -> Value:
        """Return a text as the value for a column of bytes."""

    @property
    def types_without_text(self) -> Collection[str]:
        """Types whose text form the server does not convert back to the same value."""

    @property
    def counts_reads(self) -> bool:
        """True if the server also counts transactions that only read."""

    @property
    def caches_plans_by_text(self) -> bool:
        """True if the server caches plans by the text of a batch, so that batches should repeat their text."""

    @property
    def shows_deleted(self) -> bool:
        """True if our reads also return rows that a running transaction has deleted."""

    def grant_to_see(self, role: str, version: tuple[int, int]) -> str:
        """Return the statement that lets ``role`` (quoted) see the sessions of other roles."""

    def connect(self, target: Target, session: Session) -> Connection:
        """Connect. Raises ``ConnectionFailed``, ``MissingDriver`` or ``BadInput`` with a one-line message.

        This method never asks for a password. It raises ``PasswordNeeded`` if the server requires a password and
        ``target`` has none.
        """
