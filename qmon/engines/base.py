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

# Maximum UTF-16 units of a text that is not a large object (SQL Server).
MAX_TEXT_UNITS: Final = 4000
# Maximum characters of an error that lists and plans show.
MOST_OF_AN_ERROR: Final = 200


def ordered_values(bound: Bound, *, nul_allowed: bool) -> list[Value]:
    """Return the values in the order of the statement's question marks.

    Raises ``BadInput`` if a value is missing or not used, or contains a NUL character, which PostgreSQL cannot
    store.
    """
    wanted, given = bound.statement.parameters, {**bound.statement.values, **bound.values}
    if missing := [name for name in wanted if name not in given]:
        raise BadInput(f"{bound.statement.name} needs a value for {missing[0]}")
    if extra := given.keys() - set(wanted):
        raise BadInput(f"{bound.statement.name} does not use the value {min(extra)}")
    values = [given[name] for name in wanted]
    if not nul_allowed and any(isinstance(value, str) and "\0" in value for value in values):
        raise BadInput(f"{bound.statement.name}: a value contains a NUL character, which this server cannot store")
    return values


def fits_max_text(value: Value) -> bool:
    """Return whether a value is NULL or a text of at most ``MAX_TEXT_UNITS``."""
    return value is None or (isinstance(value, str) and len(value.encode("utf-16-le", "replace")) <= 2 * MAX_TEXT_UNITS)


# How many seconds after the statement timeout an answer may arrive. The server itself enforces the timeout; this is the
# time for the network.
SILENCE_S: Final = 5.0

EngineName = Literal["postgres", "sqlserver"]
Value = str | int | float | bool | bytes | None


@dataclass(frozen=True, slots=True)
class Target:
    """A database to connect to.

    - ``name``: contains no secrets and may be shown on a screen.
    - ``engine``: ``None`` if qmon must ask the server (a DSN).
    - ``parameters``: ODBC keywords without the password. ``password``: the password, if it is already known.
    - ``prod``: actions require the queue's name and a reason.
    - ``read_only``: actions are refused.
    - ``schema_owner``: a role that may own the schema ``qmon`` (PostgreSQL), in addition to our own role and
      superusers.
    - ``budget``: cost budget of watching it.
    - ``raised_hidden``: hide error texts raised by triggers and functions, because the configuration hides parts of
      payloads and these texts may repeat them.
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

    - ``read_only``: the server refuses writes (PostgreSQL), or reads wait for no locks (SQL Server).
    - ``purpose``: part of the application name (``qmon poll``), unless ``application`` is set.
    - ``idle_transaction_timeout_s``: the server ends our session if it stays idle in a transaction longer than this
      (PostgreSQL), so that a hung qmon holds no locks.
    - ``writes``: the connection changes data, so connecting to a standby is refused (``BadInput``).
    - ``silence_s``: seconds beyond ``statement_timeout_s`` after which qmon stops waiting for an answer and abandons
      the connection (``ConnectionLost``). Without a statement timeout there is no such deadline, because a statement
      may take as long as it needs. Ctrl-C ends the wait. ``None``: after the session is set up, calls run on the
      caller's thread, and the caller has its own deadline.
    - ``repeats``: the session repeats the same batches, so they are prepared.
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
    """One SQL file, checked and compiled but not yet rendered. See ``sql/README.md`` for the format."""

    name: str
    purpose: str
    text: str
    parameters: tuple[str, ...]
    names: frozenset[str]
    columns: tuple[str, ...]
    path: str


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL that is ready to run.

    Identifiers are quoted, each value is a ``?``, and ``parameters`` has the names of the values in order. ``values``:
    the values that are already known, because the conditions in the text contain them.
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

    Every method raises ``ConnectionLost`` if the connection broke or the server is silent for too long,
    ``DeadlineExceeded`` if the statement ran out of time or was cancelled, ``PermissionMissing`` or another
    ``QueryFailed`` if the server refused. Outside ``transaction`` each statement commits by itself.
    """

    @property
    def version(self) -> tuple[int, int]:
        """The server's version, such as (18, 6) or (16, 0)."""

    @property
    def session_id(self) -> int:
        """The server's id of this session."""

    @property
    def pooled(self) -> bool:
        """True if a pooler is between us and the server.

        Our settings then last for one transaction, and nothing stays in the session.
        """

    @property
    def commits(self) -> int:
        """Number of committed transactions. Each statement or batch outside ``transaction`` counts as one."""

    def fetch(self, bound: Bound) -> Rows:
        """Run one statement that returns rows. Its columns must be the declared ones."""

    def fetch_batch(self, bounds: Sequence[Bound]) -> list[Rows]:
        """Run several statements in one round trip.

        If one fails, the whole batch fails. The caller can then use ``fetch``.
        """

    def fetch_list(self, bounds: Sequence[Bound], asked: Sequence[bool]) -> list[Rows | None]:
        """Run some statements of a list. The list is the same in each poll, but the statements to run differ.

        If the server caches plans by text, the text of the whole list is sent, so that its plan is reused. A long list
        takes a few round trips. Statements that are not run are sent with their previous values, so that the types of
        the values stay the same.
        """

    def set_up_session(self, bound: Bound) -> None:
        """Run a statement that configures the session: now, or on a pooled connection at the start of each transaction.

        If the statement has a parameter ``local``, this method sets it.
        """

    def limit_statements(self, statement_s: float) -> None:
        """Change the session's statement timeout to this many seconds."""

    def execute(self, bound: Bound) -> int:
        """Run one statement for its effect. Return the affected rows, -1 if the driver does not report them.

        If the only declared column of a statement is ``done``, the statement returns that number itself.
        """

    def transaction(self) -> AbstractContextManager[None]:
        """Commit at the end of the block, roll back on any exception.

        Raises ``OutcomeUnknown`` if the connection is lost during the commit.
        """

    def cancel(self) -> None:
        """Ask the server to cancel the running statement. Safe from any thread; waits two seconds at most."""

    def abandon(self) -> None:
        """Stop waiting for this connection: the running statement raises ``ConnectionLost`` at once.

        Safe from any thread; does not wait. Has no effect on a statement of a session without ``silence_s``.
        """

    def close(self) -> None:
        """Close the connection. Never raises, and does not wait for a silent server."""


class Engine(Protocol):
    """A kind of server: how it quotes and connects, and the folder of its SQL."""

    @property
    def name(self) -> EngineName:
        """``postgres`` or ``sqlserver``: also the name of its folder in ``sql/``."""

    def quote(self, parts: Sequence[str]) -> str:
        """Quote an identifier of one or more parts. Raises ``BadInput`` if a part cannot be an identifier."""

    def literal(self, text: str) -> str:
        """Return a string literal, for the few places that accept neither an identifier nor a
        parameter (``nextval``).
        """

    def ids_value(self, ids: Sequence[int]) -> str:
        """Return several object ids as one value, in the form that this engine's statements expect."""

    def texts_value(self, texts: Iterable[str]) -> str:
        """Return several texts as one value, in order, in the form that this engine's statements expect."""

    def utc_expression(self, expression: str, zone: Zone) -> str:
        """Return an expression for a time in UTC. ``zone`` applies if the time has no zone itself."""

    def clock_expression(self, zone: Zone) -> str:
        """Return an expression for the current time, comparable with a column of this zone."""

    def now_minus(self, zone: Zone, seconds: str) -> str:
        """Return the start time of the statement, minus ``seconds`` if given, so that the server can use an index."""

    def advisory_lock_condition(self, key: str) -> str:
        """Return a condition: a session of this database holds an advisory lock with this whole number as key.

        Raises ``BadInput`` if the engine has no such locks.
        """

    def text_type(self, kind: str) -> str:
        """Return the type of text, without length, for values compared with a column of type ``kind``.

        With this type the server does not convert the column.
        """

    def readable_expression(self, column: str, kind: str) -> str:
        """Return an expression for a column's value in a type that can be converted to text. ``column``: quoted."""
        ...

    def newest(self, expression: str, kind: str) -> str:
        """Return an expression for the newest end of an error, as text of at most ``MOST_OF_AN_ERROR`` characters.

        An error column may contain one text, or a list to which each failure appends. For an array, or a list in
        PostgreSQL's ``jsonb``, the result is the last element. For any other JSON list it is the end of the text.
        Otherwise it is the beginning of the text. For an empty text or list it is NULL, and for a large value only its
        size.

        Args:
            expression: the value; it appears once in the result.
            kind: its base type in lower case, empty if it is not known.
        """
        ...

    def text_expression(self, columns: Sequence[str]) -> str:
        """Return an expression for the text of one column, or of several columns.

        The text of several has the format of ``qmon.model.layout.message_ids``.

        ``columns``: quoted.
        """

    def equals_condition(self, column: str, type_name: str, kind: str) -> str:
        """Return a condition: the column (quoted) equals the value given as text in one parameter.

        ``type_name``: its type, with length. ``kind``: its base type, without length. The server can use an index on
        the column.
        """

    def compare_condition(self, column: str, operator: str, kind: str, value: str) -> str:
        """Return a condition: the column (quoted, of type ``kind``) compares with a value given as text.

        ``operator``: such as ``<=``. The server can use an index on the column.
        """
        ...

    def byte_order_expression(self, text: str, operator: str = "", value: str = "") -> str:
        """Return a text to sort by, byte by byte in every collation.

        With ``operator``, return a condition that compares it with a value.
        """
        ...

    def contains_condition(self, expression: str, text: str, *, binary: bool) -> str:
        """Return a condition: the text of an expression contains ``text``, ignoring case.

        Both may appear more than once in the condition. ``binary``: the expression contains the bytes of a text.
        """
        ...

    def sized_text_expressions(self, column: str, kind: str, max_chars: int) -> tuple[str, str]:
        """Return expressions for the size of a column's value in bytes, and for its first ``max_chars`` characters.

        Bytes are written as two hex digits each, after two characters. ``column``: quoted.
        """

    def bytes_value(self, text: str) -> Value:
        """Return a text as the value for a column of bytes."""

    @property
    def types_without_text(self) -> Collection[str]:
        """Types whose values have no text that the server converts back to the same value."""

    @property
    def counts_reads(self) -> bool:
        """True if the server also counts transactions that only read."""

    @property
    def plans_by_text(self) -> bool:
        """True if the server caches plans by the text of a batch, so that batches should repeat their text."""

    @property
    def shows_deleted(self) -> bool:
        """True if our reads also return rows that a running transaction has deleted."""

    def grant_to_see(self, role: str, version: tuple[int, int]) -> str:
        """Return the statement that lets ``role`` (quoted) see the sessions of others."""

    def connect(self, target: Target, session: Session) -> Connection:
        """Connect. Raises ``Unreachable``, ``MissingDriver`` or ``BadInput`` with a one-line message.

        Never asks for a password: raises ``PasswordNeeded`` if the server wants one and ``target`` has none.
        """
