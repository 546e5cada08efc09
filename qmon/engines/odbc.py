"""The only module that uses the driver: it connects, runs and cancels statements, and converts faults to errors."""

from __future__ import annotations

import codecs
import contextlib
import itertools
import logging
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar

from qmon.engines.base import (
    MAX_TEXT_UNITS,
    SILENCE_S,
    Bound,
    Rows,
    Session,
    Statement,
    Value,
    fits_max_text,
    ordered_values,
)
from qmon.engines.driver_calls import DriverCalls, ExplainStatement
from qmon.engines.driver_faults import DriverFault, ExplainFault, read_fault
from qmon.engines.drivers import MANAGER_HINT
from qmon.engines.odbc_keywords import format_for_manager, lookup_keyword, respell_keywords
from qmon.engines.prepared_statements import KNOWN_NAMES, PreparedStatements
from qmon.engines.result_records import check_columns, read_results
from qmon.engines.secret import Secret
from qmon.engines.sql.batch_text import PreparedTexts, join_statements, split_batch
from qmon.errors import ConnectionLost, MissingDriver, OutcomeUnknown, QmonError, QueryFailed, StatementStopped
from qmon.model.formatting import count_text
from qmon.texts import Text


class OdbcText(Text):
    """Errors of ODBC connections."""

    NO_DRIVER_MANAGER = "the ODBC driver manager is not installed: {hint}"
    BAD_CHARACTERS = "the connection string contains characters that the driver does not accept"
    NESTED_TRANSACTION = "a transaction is already open; transactions do not nest"
    NOTHING_COMMITTED = "nothing was committed, because a statement of the transaction failed"
    WRONG_RESULTS = "{query} returned {results} instead of {wanted:,}"


try:
    import pyodbc
except ImportError as _problem:
    if "libodbc" not in str(_problem):
        raise
    raise MissingDriver(OdbcText.NO_DRIVER_MANAGER.render(hint=MANAGER_HINT)) from None

pyodbc.pooling = False  # a connection from a pool might have the settings of one of our other sessions

# unixODBC may pool connections although pooling is off here, so each connection string gets a different spelling.
_CONNECTION_NUMBERS: Final = itertools.count()

T = TypeVar("T")

_LOG: Final = logging.getLogger(__name__)

# The type, length and digits with which texts and NULL are sent. The statements cast them as needed.
_TEXT: Final = (pyodbc.SQL_WVARCHAR, MAX_TEXT_UNITS, 0)

# The type of a text that is sent as bytes. Without this type, psqlODBC sends the bytes in the binary form of their
# type.
_BYTES_OF_TEXT: Final = (pyodbc.SQL_LONGVARCHAR, 0, 0)

_TEXT_TYPES: Final = (
    pyodbc.SQL_CHAR,
    pyodbc.SQL_VARCHAR,
    pyodbc.SQL_LONGVARCHAR,
    pyodbc.SQL_WCHAR,
    pyodbc.SQL_WVARCHAR,
    pyodbc.SQL_WLONGVARCHAR,
)

# A statement with these columns returns the number of rows that it changed. The first count from the driver may belong
# to a trigger.
COUNT_COLUMNS: Final = ("done",)


def connect(
    keywords: Mapping[str, str], password: Secret | None, login_timeout_s: float | None, explain: ExplainFault
) -> pyodbc.Connection:
    """Open a driver connection in autocommit mode. A fault of the driver raises the error that ``explain`` returns.

    ``login_timeout_s`` is rounded up to whole seconds. If it is ``None``, the timeout of the driver or the DSN applies.
    The password is in no variable that a traceback could show.
    """
    try:
        made = pyodbc.connect(
            format_for_manager(
                {
                    **respell_keywords(keywords, next(_CONNECTION_NUMBERS)),
                    **({} if password is None else {"PWD": password.reveal()}),
                }
            ),
            autocommit=True,
            timeout=0 if login_timeout_s is None else max(1, math.ceil(login_timeout_s)),
        )
        _disable_driver_log(made, keywords)
        _LOG.info("connected to %s %s by %s", server_kind(made), server_version(made), _driver_text(made))
        return made
    except pyodbc.Error as error:
        fault = read_fault(error.args, password)
    except UnicodeError:
        fault = DriverFault("HY000", (), OdbcText.BAD_CHARACTERS)
    raise explain(fault)


def _disable_driver_log(connection: pyodbc.Connection, keywords: Mapping[str, str]) -> None:
    """Keep psqlODBC from writing ``/tmp/psqlodbc_….log`` when its last connection closes.

    psqlODBC writes this log if odbcinst.ini has ``CommLog=1``, as on Debian. While a connection with ``CommLog=0`` is
    open, psqlODBC does not write the log. A connection that fails is never closed. A connection that the server refuses
    therefore keeps the log off.
    """
    if "psqlodbc" not in driver_name(connection).lower():
        return
    driver = (
        lookup_keyword(keywords, "Driver")
        or find_dsn_driver(lookup_keyword(keywords, "DSN") or "")
        or "PostgreSQL Unicode"
    )
    with contextlib.suppress(pyodbc.Error):
        pyodbc.connect(format_for_manager({"DRIVER": driver, "Server": "none", "CommLog": "0", "pqopt": "none"}))


def installed_drivers() -> tuple[str, ...]:
    """Return the drivers that the driver manager knows by name."""
    return tuple(pyodbc.drivers())


def known_dsns() -> Mapping[str, str]:
    """Return the DSNs that the driver manager knows, each with the name of its driver."""
    return dict(pyodbc.dataSources())


def find_dsn_driver(dsn: str) -> str | None:
    """Return the driver of a DSN, as named in the DSN's section of odbc.ini, or ``None`` if there is no such DSN."""
    known = {name.lower(): driver for name, driver in known_dsns().items()}
    return known.get(dsn.lower())


def server_kind(raw: pyodbc.Connection) -> str:
    """Return the server's product name: ``PostgreSQL``, ``Microsoft SQL Server``."""
    return str(raw.getinfo(pyodbc.SQL_DBMS_NAME))


def server_version(raw: pyodbc.Connection) -> str:
    """Return the server's version in the driver's format, such as ``18.0.6`` or ``16.00.4135``."""
    return str(raw.getinfo(pyodbc.SQL_DBMS_VER))


def driver_name(raw: pyodbc.Connection) -> str:
    """Return the file name of the driver's library, such as ``psqlodbcw.so``."""
    return str(raw.getinfo(pyodbc.SQL_DRIVER_NAME))


def _driver_text(raw: pyodbc.Connection) -> str:
    name, version = driver_name(raw), raw.getinfo(pyodbc.SQL_DRIVER_VER)
    return f"{name} {version}, pyodbc {pyodbc.version}"


def _decode_text(raw: bytes | None) -> str | None:
    return None if raw is None else text_from_bytes(raw)


def _encode_text(value: Value) -> Value:
    """Return a text as bytes if it contains bytes that are not UTF-8, else return the text as it is in the database."""
    if not isinstance(value, str):
        return value
    raw = bytes_from_text(value)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


class OdbcConnection:
    """A connection over ODBC. ``qmon.engines.base.Connection`` documents each method.

    Only one thread uses the connection, but any thread may call ``cancel``. All statements share one cursor, so that a
    statement that is repeated in each poll is prepared once.
    """

    def __init__(
        self,
        raw: pyodbc.Connection,
        explain: ExplainStatement,
        *,
        nul_allowed: bool,
        login: Session | None = None,
        query_timeout_s: float | None = None,
        most_values: int | None = None,
        list_of: Callable[[Sequence[Statement]], str] | None = None,
    ) -> None:
        """``login``: the session that is being set up. Until it is set up, answers may take as long as its login
        timeout. If ``login`` is ``None``, calls have no deadline.

        ``query_timeout_s``: the driver ends statements after this many seconds, rounded up to whole seconds.

        ``most_values``: maximum number of values in a batch, if the server has a limit. Larger batches are sent in
        parts. On servers with a limit, texts and NULL are sent with a type of fixed length. Otherwise each length would
        need its own plan, and for each NULL the driver would ask the server for the type in an extra round trip.

        ``list_of``: a function for servers that cache plans by text. It returns the text of a list of statements. The
        first value of this text selects the statements to run.
        """
        self._raw = raw
        self._calls = DriverCalls(explain, pyodbc.Error, self._close_raw)
        if login is not None:
            # This deadline applies until the session is set up, even if the caller has a deadline for later calls.
            self._calls.configure_deadline(login.login_timeout_s, SILENCE_S)
        self._nul_allowed = nul_allowed
        self._most_values = most_values
        self._list_of = list_of
        self._lists: PreparedTexts[pyodbc.Cursor] = PreparedTexts()
        self._open = False
        self._version = (0, 0)
        self._session_id = 0
        self._pooled = False
        self._any_bytes = False
        self._settings: dict[str, Bound] = {}
        # The text of the last statement sent. It is used to explain errors.
        self.last_sql = ""
        self.commits = 0
        # The prepared statements, if batches are repeated.
        self.prepared: PreparedStatements | None = None
        # Returns the statement that sets the server's statement timeout, if the server has one.
        self.timeout_statement: Callable[[float], Bound] | None = None
        self._cursor = self._make_cursor(query_timeout_s)

    def _make_cursor(self, seconds: float | None) -> pyodbc.Cursor:
        if seconds is not None:
            self._raw.timeout = max(1, math.ceil(seconds))  # pyodbc applies the timeout to cursors created later
        return self._raw.cursor()

    def set_raised_hidden(self, hidden: bool) -> None:
        """Set ``raised_hidden`` of ``read_statement_fault`` for all later faults."""
        self._calls.raised_hidden = hidden

    def set_identity(self, version: tuple[int, int], session_id: int) -> None:
        """Store the server's version and the session id when they are known."""
        self._version, self._session_id = version, session_id

    def use_any_bytes(self) -> None:
        """Read and send texts as bytes from now on; see ``qmon.engines.odbc``."""
        self._any_bytes = True
        for kind in _TEXT_TYPES:
            self._raw.add_output_converter(kind, _decode_text)

    def mark_pooled(self) -> None:
        """Limit all later settings to one transaction, because a pooler later gives this session to other clients."""
        self._pooled = True

    @property
    def version(self) -> tuple[int, int]:
        return self._version

    @property
    def session_id(self) -> int:
        return self._session_id

    @property
    def driver(self) -> str:
        """The name and version of the driver, and the version of pyodbc."""
        return _driver_text(self._raw)

    @property
    def is_pooled(self) -> bool:
        return self._pooled

    def set_up_session(self, bound: Bound) -> None:
        if "local" in bound.statement.parameters:
            bound = Bound(bound.statement, {**bound.values, "local": self._pooled})
        if self._pooled:
            self._settings[bound.statement.name] = bound
        else:
            self._read_statements(bound.statement.name, bound.statement.text, (bound,))

    def configure_deadline(self, session: Session) -> None:
        """Use the timeouts of this session. Call this after the session is set up."""
        self._calls.configure_deadline(session.statement_timeout_s, session.silence_s)

    def limit_statements(self, statement_s: float) -> None:
        self._calls.set_statement_timeout(statement_s)
        if self.timeout_statement is not None:
            self.set_up_session(self.timeout_statement(statement_s))
        else:
            self._cursor, self._lists = self._make_cursor(statement_s), PreparedTexts()

    def fetch(self, bound: Bound) -> Rows:
        with self._statement_context():
            return self._read_statements(bound.statement.name, bound.statement.text, (bound,))[0]

    def fetch_batch(self, bounds: Sequence[Bound]) -> list[Rows]:
        prepared = self.prepared
        if prepared is None or len(bounds) < 2:  # the driver itself prepares a single statement
            with self._statement_context():
                return self._read_batch(bounds)
        try:
            self._prepare(prepared, bounds)
            return self._read_statements(
                "batch", join_statements([prepared.text_for(bound.statement) for bound in bounds]), bounds
            )
        except StatementStopped:
            raise
        except QueryFailed:
            prepared.forget_all()
            raise

    def _prepare(self, prepared: PreparedStatements, bounds: Sequence[Bound]) -> None:
        """Prepare repeated statements. A prepared statement is used only after the server has confirmed its name."""
        if prepared.is_uncertain:
            (known,) = self._read_statements(KNOWN_NAMES.name, KNOWN_NAMES.text, (Bound(KNOWN_NAMES),))
            self._run_all(list(prepared.statements_to_deallocate(str(name) for (name,) in known.rows)))
            prepared.confirm()
        self._run_all(list(prepared.statements_to_prepare(bounds)))
        prepared.confirm()

    def _run_all(self, texts: Sequence[str]) -> None:
        if texts:
            self._call_driver("prepare", partial(self._execute, join_statements(texts), ()))
            self.commits += 1

    def fetch_list(self, bounds: Sequence[Bound], selected: Sequence[bool]) -> list[Rows | None]:
        if self._list_of is None:
            found = iter(self.fetch_batch([bound for bound, wanted in zip(bounds, selected, strict=True) if wanted]))
            return [next(found) if wanted else None for wanted in selected]
        out: list[Rows | None] = []
        with self._statement_context():
            for part in split_batch(bounds, self._most_values, own=1):
                out += self._read_list(self._list_of, part, selected[len(out) : len(out) + len(part)])
        return out

    def execute(self, bound: Bound) -> int:
        values = self._values(bound)

        def work() -> int:
            self._execute(bound.statement.text, values)
            counted = bound.statement.columns == COUNT_COLUMNS
            count = -1 if counted else int(self._cursor.rowcount)
            while True:
                if counted and self._cursor.description:
                    count = int(self._cursor.fetchall()[0][0])
                if not self._cursor.nextset():  # an error may follow the first result
                    return count

        with self._statement_context():
            count = self._call_driver(bound.statement.name, work)
            self.commits += not self._open
        return count

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        if self._open:
            raise RuntimeError(OdbcText.NESTED_TRANSACTION)

        def begin() -> None:
            self._raw.autocommit = False
            self._open, self._calls.failed = True, False

        def end() -> None:
            self._raw.autocommit = True

        self._call_driver("begin", begin)
        try:
            self._read_batch(tuple(self._settings.values()))
            yield
            if self._calls.failed:
                raise QueryFailed(OdbcText.NOTHING_COMMITTED)
            self._commit()
        except BaseException:
            # The original error is more useful than the error of a failing rollback. The server rolls back by itself.
            with contextlib.suppress(QmonError):
                self._call_driver("rollback", self._raw.rollback)
            raise
        finally:
            self._open = False
            with contextlib.suppress(QmonError):
                self._call_driver("autocommit", end)

    def _commit(self) -> None:
        if self._calls.lost:
            raise ConnectionLost(self._calls.lost)
        try:
            self._call_driver("commit", self._raw.commit)
        except ConnectionLost as problem:
            raise OutcomeUnknown(str(problem)) from problem
        self.commits += 1

    def _statement_context(self) -> contextlib.AbstractContextManager[None]:
        """Return the context of a single statement: a transaction on a pooled connection, else an empty context."""
        return self.transaction() if self._settings and not self._open else contextlib.nullcontext()

    def cancel(self) -> None:
        self._calls.cancel()

    def abandon(self) -> None:
        self._calls.abandon()

    def close(self) -> None:
        self._calls.close()

    def _close_raw(self, idle: bool) -> None:
        if self._pooled and idle:
            with contextlib.suppress(pyodbc.Error):
                self._cursor.close()  # also frees the cursor's prepared statements, because the session stays open
        with contextlib.suppress(pyodbc.Error):
            self._raw.close()

    def __del__(self) -> None:
        """Close the connection if the caller did not close it.

        psqlODBC 17 does not free the cursor of an ended session. Without this method, pyodbc would then raise an error
        at an arbitrary place in the program.
        """
        self.close()

    def _values(self, bound: Bound) -> list[Value]:
        return ordered_values(bound, nul_allowed=self._nul_allowed)

    def _execute(self, text: str, values: Sequence[Value], cursor: pyodbc.Cursor | None = None) -> None:
        cursor, self.last_sql = cursor or self._cursor, text
        if self._most_values is not None:
            sizes = [_TEXT if fits_max_text(value) else None for value in values]
            cursor.setinputsizes(sizes if any(sizes) else None)
        elif self._any_bytes:
            sent = [_encode_text(value) for value in values]
            texts = [isinstance(value, str) and isinstance(now, bytes) for value, now in zip(values, sent, strict=True)]
            cursor.setinputsizes([_BYTES_OF_TEXT if text else None for text in texts] if any(texts) else None)
            values = sent
        cursor.execute(*((text, values) if values else (text,)))

    def _read_batch(self, bounds: Sequence[Bound]) -> list[Rows]:
        out: list[Rows] = []
        for part in split_batch(bounds, self._most_values):
            out += self._read_statements("batch", join_statements([bound.statement.text for bound in part]), part)
        return out

    def _read_list(
        self, list_of: Callable[[Sequence[Statement]], str], bounds: Sequence[Bound], selected: Sequence[bool]
    ) -> list[Rows | None]:
        """Run the requested statements. If no statement is requested, nothing is sent.

        The text of the list stays prepared, so it is sent only once.
        """
        wanted = [bound for bound, want in zip(bounds, selected, strict=True) if want]
        if not wanted:
            return [None] * len(bounds)
        values: list[Value] = ["".join("01"[want] for want in selected)]
        values += (value for bound in bounds for value in self._values(bound))
        text, cursor = self._lists.take_out(list_of([bound.statement for bound in bounds]))
        if cursor is None:
            cursor = self._call_driver("list", self._raw.cursor)
        try:
            found = iter(self._read_results("list", text, values, wanted, cursor))
        except QmonError:
            self._close_cursor(cursor)  # the cursor's remaining results would block other statements
            raise
        self._close_cursor(self._lists.put(text, cursor))
        return [next(found) if want else None for want in selected]

    def _close_cursor(self, cursor: pyodbc.Cursor | None) -> None:
        if cursor is not None:
            with contextlib.suppress(QmonError):
                self._call_driver("close", cursor.close)

    def _read_statements(self, name: str, text: str, bounds: Sequence[Bound]) -> list[Rows]:
        """Run the text of these statements in one round trip. Return a result with the declared columns for each."""
        values = [value for bound in bounds for value in self._values(bound)]
        return self._read_results(name, text, values, bounds, self._cursor)

    def _read_results(
        self, name: str, text: str, values: Sequence[Value], bounds: Sequence[Bound], cursor: pyodbc.Cursor
    ) -> list[Rows]:
        """Run a text. Return a result with the declared columns for each statement in the text."""

        def work() -> list[Rows]:
            self._execute(text, values, cursor)
            out = read_results(cursor)
            if len(out) != len(bounds):
                raise QueryFailed(
                    OdbcText.WRONG_RESULTS.render(
                        query=name, results=count_text(len(out), "result"), wanted=len(bounds)
                    ),
                    query=name,
                )
            return out

        found = self._call_driver(name, work, cursor, len(bounds))
        self.commits += not self._open
        for rows, bound in zip(found, bounds, strict=True):
            check_columns(rows, bound.statement)
        return found

    def _call_driver(
        self, name: str, work: Callable[[], T], cursor: pyodbc.Cursor | None = None, statements: int = 1
    ) -> T:
        return self._calls.run(name, work, cursor or self._cursor, statements)


_ANY_BYTES_HANDLER: Final = "qmon-any-bytes"
_WRITTEN_BYTE: Final = re.compile(rb"<(3C|[89A-F][0-9A-F])>")


def _write_bytes(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(f"<{byte:02X}>" for byte in error.object[error.start : error.end]), error.end


codecs.register_error(_ANY_BYTES_HANDLER, _write_bytes)


def text_from_bytes(raw: bytes) -> str:
    """Return the bytes as text. A byte that is not part of UTF-8 is written like ``<E9>``."""
    return _WRITTEN_BYTE.sub(rb"<3C>\1>", raw).decode("utf-8", _ANY_BYTES_HANDLER)


def bytes_from_text(text: str) -> bytes:
    """Return the bytes of a text that ``text_from_bytes`` returned or a user typed.

    Python replaces a byte that it cannot decode on the command line by a lone surrogate. This surrogate becomes the
    byte again. Raises ``UnicodeEncodeError`` for other surrogates.
    """
    raw = text.encode("utf-8", "surrogateescape")
    return _WRITTEN_BYTE.sub(lambda found: bytes.fromhex(found[1].decode("ascii")), raw)
