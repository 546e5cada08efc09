"""What an engine and its connections offer to the packages above. Only ``odbc.py`` knows the driver."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from qmon.engines.secret import Secret
from qmon.errors import BadInput
from qmon.model.budget import Budget
from qmon.model.layout.zones import Zone

# UTF-16 units of the longest text that is no large object (SQL Server).
LONGEST_TEXT: Final = 4000
# Characters of an error that lists and plans show.
MOST_OF_AN_ERROR: Final = 200


def values_of(bound: Bound, *, nul_allowed: bool) -> list[Value]:
    """The values in the order of the statement's question marks.

    Raises ``BadInput`` where one is missing or of no use, or has a NUL character, which PostgreSQL cannot store.
    """
    wanted, given = bound.statement.parameters, {**bound.statement.values, **bound.values}
    if missing := [name for name in wanted if name not in given]:
        raise BadInput(f"{bound.statement.name} needs a value for {missing[0]}")
    if extra := given.keys() - set(wanted):
        raise BadInput(f"{bound.statement.name} has no use for the value {min(extra)}")
    values = [given[name] for name in wanted]
    if not nul_allowed and any(isinstance(value, str) and "\0" in value for value in values):
        raise BadInput(f"{bound.statement.name}: a value holds a NUL character, which this server cannot store")
    return values


def of_one_length(value: Value) -> bool:
    """Whether it can be sent as a text of ``LONGEST_TEXT``: as NULL can, and a longer text, sent in pieces, cannot."""
    return value is None or (isinstance(value, str) and len(value.encode("utf-16-le", "replace")) <= 2 * LONGEST_TEXT)


# Seconds that an answer may be late. The server ends a statement by its own clock: this is for the network.
SILENCE_S: Final = 5.0

EngineName = Literal["postgres", "sqlserver"]
Value = str | int | float | bool | bytes | None


@dataclass(frozen=True, slots=True)
class Target:
    """A database one can connect to.

    ``name`` is free of secrets and fit for a screen. ``engine`` is ``None`` where only the server can tell (a DSN).
    ``parameters`` are ODBC keywords without the password, which is in ``password`` where it is known already.
    ``prod``: acting asks for the queue's name and a reason. ``read_only``: acting is refused.
    ``schema_owner``: a role that may own the schema ``qmon`` (PostgreSQL), in addition to our own role and superusers.
    ``budget``: what watching it may cost. ``raised_hidden``: leave out error texts that triggers and functions raise,
    because the configuration covers parts of payloads, and such a text may hold any part of one.
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
    """How a connection behaves. Times in seconds; ``None``: the server's own setting.

    ``read_only``: the server itself refuses writes (PostgreSQL), or reads wait for nobody (SQL Server).
    ``purpose`` ends up in the application name (``qmon poll``), unless ``application`` says another one.
    ``idle_transaction_timeout_s``: the server ends a session of ours that sits in an open transaction for longer
    (PostgreSQL), so that a hung qmon holds no locks.
    ``writes``: it is there to change something, so that connecting to a standby is refused (``BadInput``).
    ``silence_s``: seconds beyond ``statement_timeout_s`` after which qmon itself stops waiting for an answer and
    abandons the connection (``ConnectionLost``). Without a statement timeout there is no such deadline, because a
    statement may take as long as it needs; Ctrl-C ends the wait. ``None``: calls are made on the caller's own thread,
    and the caller has a deadline of its own.
    ``repeats``: the same batches come again and again, so that it is worth having the server read them once.
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
    """SQL ready to run: identifiers quoted, ``?`` for each value, ``parameters`` naming the values in order.

    ``values``: those that are known already, as they belong to the conditions in its text.
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
    """A result set: column names in lower case as declared, and rows as tuples."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


class Connection(Protocol):
    """One connection, for one thread; only ``cancel`` and ``abandon`` may be called from another.

    Every method raises ``ConnectionLost`` when the connection has broken or the server is silent for too long,
    ``DeadlineExceeded`` when the statement ran out of time or was cancelled, ``PermissionMissing`` or another
    ``QueryFailed`` when the server refused.
    Outside ``transaction`` each statement commits by itself.
    """

    @property
    def version(self) -> tuple[int, int]:
        """The server's version, such as (18, 6) or (16, 0)."""

    @property
    def session_id(self) -> int:
        """The server's id of this session."""

    @property
    def pooled(self) -> bool:
        """Whether a pooler is in between: then our settings last for a transaction, and nothing stays behind."""

    @property
    def commits(self) -> int:
        """Transactions committed so far; each statement or batch outside ``transaction`` is one."""

    def fetch(self, bound: Bound) -> Rows:
        """Run one statement that returns rows; its columns must be the declared ones."""

    def fetch_batch(self, bounds: Sequence[Bound]) -> list[Rows]:
        """Run several statements in one round trip. One that fails fails the batch: fall back to ``fetch``."""

    def fetch_list(self, bounds: Sequence[Bound], asked: Sequence[bool]) -> list[Rows | None]:
        """As ``fetch_batch``, for some statements of a list; it is the same from poll to poll, the choice is not.

        Where the server plans by text, the text is that of the whole list, so that its plan is reused; a long list
        takes a few round trips. Statements that are not asked for keep the values of before, so that their types stay.
        """

    def set_up(self, bound: Bound) -> None:
        """Run a statement that sets up the session, at once, or where it is pooled, at the start of each transaction.

        Its parameter ``local``, where it has one, is given here.
        """

    def limit(self, statement_s: float) -> None:
        """From now on end statements after this many seconds, whatever the session began with."""

    def execute(self, bound: Bound) -> int:
        """Run one statement for its effect; returns the rows affected, -1 where the driver does not say.

        One that declares the column ``done`` alone says itself how many."""

    def transaction(self) -> AbstractContextManager[None]:
        """Commit at the end of the block, roll back on any exception.

        Raises ``OutcomeUnknown`` when the connection is lost during the commit.
        """

    def cancel(self) -> None:
        """Ask the server to end the statement under way. May be called from any thread; waits two seconds at most."""

    def abandon(self) -> None:
        """Never wait for this connection again: the statement under way raises ``ConnectionLost`` at once.

        May be called from any thread; does not wait. Has no effect on a statement of a session without ``silence_s``.
        """

    def close(self) -> None:
        """Close; never raises, and does not wait for a server that is silent."""


class Engine(Protocol):
    """A kind of server: how it quotes, connects, and where its SQL is."""

    @property
    def name(self) -> EngineName:
        """``postgres`` or ``sqlserver``: also the name of its folder in ``sql/``."""

    def quote(self, parts: Sequence[str]) -> str:
        """An identifier of one or more parts, quoted; raises ``BadInput`` where a part cannot be one."""

    def literal(self, text: str) -> str:
        """A string literal, for the few places where the server takes no identifier and no parameter (``nextval``)."""

    def ids(self, ids: Sequence[int]) -> str:
        """Several object ids as one value, in the form that the statements of this engine take."""

    def texts(self, texts: Iterable[str]) -> str:
        """Several texts as one value, in their order and in the form that the statements of this engine take."""

    def utc(self, expression: str, zone: Zone) -> str:
        """The moment in UTC that a time means, whose clock is that of ``zone`` where the time names none itself."""

    def clock(self, zone: Zone) -> str:
        """The present time to compare a column of such times with."""

    def now_less(self, zone: Zone, seconds: str) -> str:
        """The same as of the start of the statement, less some seconds if given, so that an index can serve it."""

    def advisory_lock(self, key: str) -> str:
        """True where a session of this database holds an advisory lock whose key is this whole number.

        Raises ``BadInput`` where the engine has no such locks.
        """

    def text_type(self, kind: str) -> str:
        """The type of text, without its length, that a column of type ``kind`` is compared with and stays as it is."""

    def readable(self, column: str, kind: str) -> str:
        """An expression for a column's value, of a type that can be converted to text. ``column``: quoted."""
        ...

    def newest(self, expression: str, kind: str) -> str:
        """Return an expression for the newest end of an error, as text of at most ``MOST_OF_AN_ERROR`` characters.

        An error column may contain one text, or a list to which each failure appends. The result is the last element
        of an array, or of a list in PostgreSQL's ``jsonb``; the end of any other JSON list; else the beginning of the
        text. An empty text or list gives NULL, a large value its size alone.

        Args:
            expression: the value; it appears once in the result.
            kind: its base type in lower case, empty if it is not known.
        """
        ...

    def text_of(self, columns: Sequence[str]) -> str:
        """An expression for the text of a column, or of several as ``qmon.model.layout.ids`` reads it; they are
        quoted.
        """

    def equals(self, column: str, type_name: str, kind: str) -> str:
        """A condition: the column, which is quoted, has the value that the text of one parameter means.

        ``type_name``: its type, with length; ``kind``: its base type, without. An index on the column serves it.
        """

    def compared(self, column: str, how: str, kind: str, value: str) -> str:
        """A condition: the column, which is quoted and of type ``kind``, compares so with a value, as its own text is.

        An index on the column serves it.
        """
        ...

    def in_byte_order(self, text: str, how: str = "", value: str = "") -> str:
        """A text to sort by, byte by byte, whatever its collation; or a condition: it compares so with a value."""
        ...

    def contains(self, expression: str, text: str, *, binary: bool) -> str:
        """A condition: the text of an expression contains ``text``, in capitals or not; both stand in it once or more.

        ``binary``: the expression holds the bytes of a text.
        """
        ...

    def sized_text(self, column: str, kind: str, most: int) -> tuple[str, str]:
        """Expressions for the bytes of a column's value, and for its text cut to a number of characters.

        Bytes are written as hex digits, two each, after two characters. ``column``: quoted.
        """

    def binary(self, text: str) -> Value:
        """A text as the value for a column of bytes."""

    @property
    def textless(self) -> Collection[str]:
        """Types of columns whose values have no exact text that the server turns back into the same value."""

    @property
    def counts_reads(self) -> bool:
        """Whether a transaction that only read is counted among the server's transactions."""

    @property
    def plans_by_text(self) -> bool:
        """Whether the server keeps a plan for each text of a batch as it is, so that a text had better recur."""

    @property
    def shows_deleted(self) -> bool:
        """Whether what we read still holds rows that a running transaction has deleted."""

    def grant_to_see(self, role: str, version: tuple[int, int]) -> str:
        """The statement that lets ``role``, quoted already, see the sessions of others."""

    def connect(self, target: Target, session: Session) -> Connection:
        """Connect; raises ``Unreachable``, ``MissingDriver`` or ``BadInput`` with one clear line.

        Never asks anybody for a password: where the server wants one and ``target`` has none, ``PasswordNeeded``.
        """
