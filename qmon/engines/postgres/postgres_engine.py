"""PostgreSQL over psqlODBC: quoting, connecting, and the settings of qmon's sessions."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from qmon.engines import drivers
from qmon.engines.base import MOST_OF_AN_ERROR, Bound, EngineName, Session, Statement, Target, Value
from qmon.engines.bounded_calls import log_in
from qmon.engines.driver_faults import DriverFault
from qmon.engines.odbc_keywords import format_conninfo, lookup_keyword, parse_conninfo, without_keywords
from qmon.engines.postgres import pooler
from qmon.engines.postgres import postgres_errors as errors
from qmon.engines.postgres.arrays import array_literal
from qmon.engines.prepared_statements import PreparedStatements
from qmon.engines.result_records import to_records
from qmon.engines.sql import name_pattern
from qmon.engines.sql.queries import load_query, render
from qmon.errors import BadInput, MissingDriver, NoConnectionLeft, QmonError
from qmon.model.config_reader import suggest_nearest
from qmon.model.layout.time_zones import UTC_ZONE, Zone
from qmon.texts import Text

if TYPE_CHECKING:
    import pyodbc

    from qmon.engines.odbc import OdbcConnection


class PostgresText(Text):
    """Errors of PostgreSQL targets."""

    NO_PARTS = "a name without any part cannot be an identifier"
    BAD_IDENTIFIER = "{name!r} cannot be an identifier: it is empty or contains a NUL character"
    LONG_IDENTIFIER = "{name!r} cannot be an identifier: PostgreSQL truncates names after {limit} bytes"
    NUL_CHARACTER = "a text with a NUL character cannot be sent to PostgreSQL"
    STANDBY = "{target} is a standby: nothing can be changed here; connect to its primary"
    ANSI_DRIVER = (
        "{target}: the ANSI driver of psqlODBC loses characters; use its Unicode driver, such as Driver={driver}"
    )
    OLD_VERSION = "{target}: PostgreSQL {version} is too old; qmon needs {minimum} or later"
    UNKNOWN_SSLMODE = "{target}: the sslmode {mode!r} is unknown{hint}"
    CONN_SETTINGS = (
        "{target}: qmon does not run ConnSettings; give pqopt=options='-c name=value' instead, or an "
        "empty ConnSettings= in the connection string to connect without it"
    )
    BAD_TIMEOUT = "{target}: connect_timeout takes whole seconds, such as 10, not {value!r}"
    NO_DRIVER = "the ODBC driver for PostgreSQL is not installed: {hint}"


T = TypeVar("T")

DRIVER_NAMES: Final = ("PostgreSQL Unicode", "PostgreSQL Unicode(x64)", "PostgreSQL")
DRIVER_LIBRARY: Final = "psqlodbcw.so"

# Where distributions install the driver's library.
DRIVER_FOLDERS: Final = (
    "/usr/lib/x86_64-linux-gnu/odbc",
    "/usr/lib/aarch64-linux-gnu/odbc",
    "/usr/lib64",
    "/usr/lib/psqlodbc",
    "/usr/lib",
    "/usr/local/lib",
    "/opt/homebrew/lib",
)

# The oldest supported version. It is the first version with `pg_stat_activity.leader_pid`.
MIN_MAJOR: Final = 13

# A session that began more than this many seconds before we connected belongs to a pooler.
_AGE_SLACK_S: Final = 1.0

# Pauses in seconds before retries if the server has no free connection. The server may still count a connection that we
# just closed.
_RETRY_PAUSES_S: Final = (0.05, 0.2, 0.5)

_SSL_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_MAX_NAME: Final = 63

# In a database with this encoding, the server does not check texts, so texts may contain any bytes.
_UNCHECKED_ENCODING: Final = "SQL_ASCII"

# Settings of psqlODBC that change what we read. If a setting is given twice, the last value takes effect, even if only
# one of the two has the short name. Our settings are therefore given last.
DRIVER_SETTINGS: Final = {
    "BoolsAsChar": "0",  # real booleans instead of the texts 1 and 0
    "TrueIsMinus1": "0",  # otherwise pyodbc reads true as False
    "BI": "0",  # otherwise bigint arrives as text, or cut to 1 byte
    "NumericAs": "-101",
    "LFConversion": "0",  # otherwise a line feed in a text becomes two characters
    "UseServerSidePrepare": "1",  # values are sent without a type and separately from the text
    "UseDeclareFetch": "0",  # a cursor does not accept a data-modifying WITH
    "Protocol": "7.4-0",  # no savepoint around each statement of a transaction
    "ReadOnly": "0",  # the driver would refuse everything but SELECT, including the setup of a session that only reads
    "KeepaliveTime": "-1",  # qmon passes keepalive settings to libpq, and the driver does not accept both
    "KeepaliveInterval": "-1",
    "ConnSettings": "",
}
_KEEPALIVES: Final = {"keepalives_idle": ("KeepaliveTime", "D1"), "keepalives_interval": ("KeepaliveInterval", "D2")}
_ANSI_DRIVER: Final = re.compile(r"psqlodbc(?:30)?a\b", re.I)

# After about ten seconds without an answer to a keepalive probe, the connection counts as lost.
_LIBPQ_SETTINGS: Final = {
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}

# The search_path of our sessions. pg_temp is last, so that temporary objects hide no other objects.
SEARCH_PATH: Final = "pg_catalog, pg_temp"

# These settings are given at the start of a connection, so that they apply before its first statement.
#
# `row_security` is not set, because qmon reports if a role sees only some rows of a table. `role` is not set, because
# administrators set it on purpose. Settings that only a superuser may change are not set either.
_PINNED_SETTINGS: Final = {
    # With another search_path, a better match in another schema could run code of that schema's owner as our role, even
    # in psqlODBC's first query.
    "search_path": SEARCH_PATH,
    # These settings change the meaning of a statement. The database's owner can set them by ALTER DATABASE.
    "standard_conforming_strings": "on",  # otherwise \\ in a literal begins an escape
    "transform_null_equals": "off",  # otherwise "x = NULL" finds rows
    "array_nulls": "on",
    # These settings change the text of values. qmon compares such texts, and stores them for an undo.
    "bytea_output": "hex",
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "quote_all_identifiers": "off",
    # Actions lock rows and read them again, which only READ COMMITTED allows.
    "default_transaction_isolation": "read committed",
    # The server would load such a library into our session.
    "local_preload_libraries": "",
}


@dataclass(frozen=True, slots=True)
class _Introduction:
    major: int
    minor: int
    session_id: int
    role: str
    application: str
    source: str
    age_s: float
    standby: bool
    search_path: str
    encoding: str


_TEXT_TYPES: Final = ("text", "character varying", "character", "bpchar")

# To read a part of a compressed value, the value is unpacked completely if its stored size is at most this many bytes.
_MAX_UNPACKED: Final = 16 << 20


class Postgres:
    """The engine of PostgreSQL 13 and later."""

    name: Final[EngineName] = "postgres"
    types_without_text: Final = frozenset[str]()
    # Every statement is a transaction, and every transaction is counted.
    counts_reads: Final = True
    # Statements are prepared one by one.
    caches_plans_by_text: Final = False
    # A deleted row stays visible until its transaction commits.
    shows_deleted: Final = True

    def quote(self, parts: Sequence[str]) -> str:
        """Put the parts in double quotes. Raises ``BadInput`` for names that PostgreSQL would refuse or truncate."""
        if not parts:
            raise BadInput(PostgresText.NO_PARTS)
        for part in parts:
            if not part or "\0" in part:
                raise BadInput(PostgresText.BAD_IDENTIFIER.render(name=part))
            if len(part.encode("utf-8", "surrogatepass")) > _MAX_NAME:
                raise BadInput(PostgresText.LONG_IDENTIFIER.render(name=part, limit=_MAX_NAME))
        return ".".join('"' + part.replace('"', '""') + '"' for part in parts)

    def literal(self, text: str) -> str:
        """Return a string literal with the same meaning under all server settings."""
        if "\0" in text:
            raise BadInput(PostgresText.NUL_CHARACTER)
        quoted = "'" + text.replace("'", "''") + "'"
        return " E" + quoted.replace("\\", "\\\\") if "\\" in text else quoted

    def ids_value(self, ids: Sequence[int]) -> str:
        """Return an array: ``{1,2}``."""
        return "{" + ",".join(map(str, ids)) + "}"

    def texts_value(self, texts: Iterable[str]) -> str:
        """Return an array. The parameter to which it is bound determines the element type."""
        return array_literal(texts)

    def utc_expression(self, expression: str, zone: Zone) -> str:
        """Return a ``timestamptz``. Our sessions are in UTC, so a time without a zone is read as UTC.

        Numbers outside the years 1 to 9999 become the first or the last second of this range.
        """
        if zone.name == UTC_ZONE.name:
            return f"CAST({expression} AS timestamptz)"
        if (count := zone.count) is not None:
            time = f"to_timestamp(({expression}) / CAST({count.per_s} AS float8) - {count.zero_days * 86_400})"
            never = f"WHEN ({expression}) < {count.min_number} THEN CAST('0001-01-01 00:00:00Z' AS timestamptz)"
            never += f" WHEN ({expression}) > {count.max_number} THEN CAST('9999-12-31 23:59:59Z' AS timestamptz)"
            return f"CASE {never} ELSE {time} END"
        return f"({expression} AT TIME ZONE {self.literal(zone.name)})"

    def clock_expression(self, zone: Zone) -> str:
        """Return ``clock_timestamp()``, converted to the zone."""
        return "clock_timestamp()" if zone.name == UTC_ZONE.name else self.utc_expression("clock_timestamp()", zone)

    def now_minus(self, zone: Zone, seconds: str) -> str:
        """Return ``statement_timestamp()`` in the zone."""
        if (count := zone.count) is not None:
            now = f"extract(epoch FROM statement_timestamp()) + {count.zero_days * 86_400}"
            less = f" - CAST({seconds} AS float8)" if seconds else ""
            return f"CAST(floor(({now}{less}) * {count.per_s}) AS bigint)"
        now = f"statement_timestamp() - make_interval(secs => CAST({seconds} AS float8))" if seconds else ""
        now = now or "statement_timestamp()"
        return now if zone.name == UTC_ZONE.name else self.utc_expression(f"({now})", zone)

    def shifted_time(self, utc: str, seconds: str) -> str:
        """Add an interval."""
        return f"{utc} + make_interval(secs => CAST({seconds} AS float8))"

    def latest_time(self, times: Sequence[str]) -> str:
        """Use ``GREATEST``, which ignores NULL."""
        return f"GREATEST({', '.join(times)})"

    def seconds_expression(self, column: str) -> str:
        """Read the value's text as an interval. A number without a unit is a number of seconds."""
        return f"extract(epoch FROM CAST(CAST({column} AS text) AS interval))"

    def json_value(self, expression: str, path: Sequence[str], *, is_number: bool) -> str:
        """Use ``#>>``. The column has the type ``json`` or ``jsonb``."""
        value = f"({expression} #>> ARRAY[{', '.join(map(self.literal, path))}])"
        if not is_number:
            return value
        number = f"CAST(trunc(CAST({value} AS numeric)) AS bigint)"
        return f"CASE WHEN {value} ~ '^-{{0,1}}[0-9]{{1,18}}([.][0-9]*){{0,1}}$' THEN {number} END"

    def renamed_case(self, text: str, pattern: str, name: str) -> str:
        """See ``name_pattern.renamed_case``."""
        return name_pattern.renamed_case(text, pattern, name, self.literal, f"length({text})")

    def advisory_lock_condition(self, key: str) -> str:
        """Use ``pg_locks``, which is read once per statement. Two columns contain a 64-bit key (manual: pg_locks)."""
        mine = "SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()"
        keys = "(CAST(CAST(classid AS bigint) << 32 AS bigint) | CAST(objid AS bigint))"
        held = f"locktype = 'advisory' AND objsubid = 1 AND granted AND database = ({mine})"
        return f"{key} IN (SELECT {keys} FROM pg_catalog.pg_locks WHERE {held})"  # noqa: S608 - quoted

    def text_type(self, kind: str) -> str:
        """Return ``text`` for every column, because values are bound without a type."""
        return "text"

    def readable_expression(self, column: str, kind: str) -> str:
        """Return the column, because every type has a text."""
        return column

    def newest(self, expression: str, kind: str) -> str:
        r"""Do not read elements of ``json``, because the server fails if any text in the list contains ``\u0000``."""
        value, most = "e.qmon_value", MOST_OF_AN_ERROR
        text, end, size = f"CAST({value} AS text)", "", f"pg_column_size({value})"
        if kind == "array" or kind.endswith("[]"):
            text = f"CAST({value}[array_upper({value}, 1)] AS text)"
        elif kind == "jsonb":
            last = f"CASE jsonb_typeof({value}) WHEN 'array' THEN {value} -> -1 ELSE {value} END"
            text = f"({last}) #>> CAST(ARRAY[] AS text[])"
        else:
            is_list = f"left({text}, 1) = '[' AND right({text}, 1) = ']'"
            end = f" WHEN {text} = '[]' THEN NULL WHEN {is_list} THEN right({text}, {most})"
        large = f"WHEN {size} > 65536 THEN pg_size_pretty(CAST({size} AS bigint)) || ' stored'"
        cases = f"{large}{end} ELSE nullif(left({text}, {most}), '')"
        return f"(SELECT CASE {cases} END FROM (SELECT {expression} AS qmon_value) AS e)"  # noqa: S608 - quoted

    def text_expression(self, columns: Sequence[str]) -> str:
        r"""Join the texts of several columns by ``/``. A ``/`` or ``\`` in a text gets a ``\`` in front."""
        if len(columns) == 1:
            return f"CAST({columns[0]} AS text)"
        escaped = (rf"replace(replace(CAST({each} AS text), '\', '\\'), '/', '\/')" for each in columns)
        return f"concat_ws('/', {', '.join(escaped)})"

    def equals_condition(self, column: str, type_name: str, kind: str) -> str:
        """Compare with a value of the column's own type."""
        return f"{column} = CAST(? AS {type_name})"

    def compare_condition(self, column: str, operator: str, kind: str, value: str) -> str:
        """Compare with an untyped value."""
        return f"{column} {operator} {value}"

    def byte_order_expression(self, text: str, operator: str = "", value: str = "") -> str:
        """Compare the bytes in the encoding of the database."""
        right = f" {operator} CAST({value} AS text)" if operator else ""
        return f'({text}) COLLATE "C"{right}'

    def contains_condition(self, expression: str, text: str, *, binary: bool) -> str:
        """Compare bytes as their escaped text, in which only letters without accents have a case."""
        if binary:
            wanted = f"encode(convert_to(CAST({text} AS text), 'UTF8'), 'escape')"
            return f"strpos(lower(encode({expression}, 'escape')), lower({wanted})) > 0"
        return f"strpos(lower(CAST({expression} AS text)), lower(CAST({text} AS text))) > 0"

    def sized_text_expressions(self, column: str, kind: str, max_chars: int) -> tuple[str, str]:
        """Of bytes and texts, unpack only the part to read. Do not unpack very large values of other types."""
        size = f"CAST(octet_length({column}) AS bigint)"
        if kind == "bytea":
            return size, f"'\\x' || encode(substring({column} FROM 1 FOR {max_chars}), 'hex')"
        if kind in _TEXT_TYPES:
            return size, f"left({column}, {max_chars})"
        large, text = f"pg_column_size({column}) > {_MAX_UNPACKED}", f"CAST({column} AS text)"
        size = f"CASE WHEN {large} THEN pg_column_size({column}) ELSE octet_length({text}) END"
        return f"CAST({size} AS bigint)", f"CASE WHEN {large} THEN NULL ELSE left({text}, {max_chars}) END"

    def bytes_value(self, text: str) -> Value:
        """Return the text itself. The parameter to which it is bound determines the type."""
        return text

    def grant_to_see(self, role: str, version: tuple[int, int]) -> str:
        """Return the statement that grants the role ``pg_read_all_stats``."""
        return f"GRANT pg_read_all_stats TO {role}"

    def connect(self, target: Target, session: Session) -> OdbcConnection:
        """Connect and set up the session.

        Behind a pooler, settings last for one transaction, so that other clients do not get a session with our
        settings. Raises ``BadInput`` before anything is set if a pooler gives each transaction another session.
        """

        def second() -> OdbcConnection:
            made = self._open_connection(target, session)[0]
            _reset_driver_settings(made)
            return made

        began = time.monotonic()
        connection, found, application = self._open_connection(target, session)
        try:
            if session.writes and found.standby:
                raise BadInput(PostgresText.STANDBY.render(target=target.name))
            if not _is_direct(found, application, time.monotonic() - began):
                _reset_driver_settings(connection)
                pooler.check_session_mode(connection, second, Bound(_catalog_statement("own_process")), target.name)
                connection.mark_pooled()
            connection.set_up_session(Bound(_catalog_statement("session"), _session_settings(target, session)))
            connection.configure_deadline(session)
        except BaseException:
            connection.close()
            raise
        connection.timeout_statement = lambda seconds: Bound(
            _catalog_statement("session"), _session_settings(target, replace(session, statement_timeout_s=seconds))
        )
        if session.repeats and not connection.is_pooled:  # prepared statements would stay in a pooled session
            connection.prepared = PreparedStatements()
        return connection

    def _open_connection(self, target: Target, session: Session) -> tuple[OdbcConnection, _Introduction, str]:
        """Return a connection without our settings, the server's introduction, and the application name we sent."""
        from qmon.engines import odbc

        keywords = self.odbc_keywords(target, session)
        timeout_s = float(parse_conninfo(keywords["pqopt"])["connect_timeout"])
        session = replace(session, login_timeout_s=timeout_s)
        raw = _retry_for_room(lambda: _connect_driver(keywords, target, timeout_s))
        if _ANSI_DRIVER.search(odbc.driver_name(raw)):
            raw.close()
            raise BadInput(PostgresText.ANSI_DRIVER.render(target=target.name, driver=DRIVER_NAMES[0]))
        major = int(odbc.server_version(raw).split(".")[0])
        if major < MIN_MAJOR:
            raw.close()
            raise BadInput(PostgresText.OLD_VERSION.render(target=target.name, version=major, minimum=MIN_MAJOR))
        role = lookup_keyword(target.parameters, "UID") or ""
        connection = odbc.OdbcConnection(
            raw,
            lambda fault, name: errors.statement_error(fault, name, role, connection.last_sql),
            nul_allowed=False,
            login=session,
        )
        connection.set_raised_hidden(target.raised_hidden)
        try:
            (found,) = to_records(_Introduction, connection.fetch(Bound(_catalog_statement("introduction"))))
        except BaseException:
            connection.close()
            raise
        if found.search_path != SEARCH_PATH:
            connection.close()
            raise BadInput(f"{target.name}: {errors.NO_SEARCH_PATH}")
        role = found.role
        connection.set_identity((found.major, found.minor), found.session_id)
        if found.encoding == _UNCHECKED_ENCODING:
            connection.use_any_bytes()
        return connection, found, parse_conninfo(keywords.get("pqopt", "")).get("application_name", "")

    def odbc_keywords(self, target: Target, session: Session) -> dict[str, str]:
        """Return the ODBC keywords to connect with, without the password.

        The driver settings that qmon depends on override the settings of the user and the DSN. Raises
        ``MissingDriver``. Raises ``BadInput`` for an unknown sslmode, because psqlODBC would ignore the mode and
        connect without TLS.
        """
        given = dict(target.parameters)
        mode = lookup_keyword(given, "SSLmode", "CA")
        if mode is not None and mode not in _SSL_MODES:
            raise BadInput(
                PostgresText.UNKNOWN_SSLMODE.render(
                    target=target.name, mode=mode, hint=suggest_nearest(mode, _SSL_MODES)
                )
            )
        libpq = _LIBPQ_SETTINGS | {"application_name": application_name(session)}
        # psqlODBC does not unquote a name in a keyword, so a keyword cannot contain a name with ; or braces.
        for setting, keyword in (("host", "Server"), ("port", "Port"), ("user", "UID"), ("dbname", "Database")):
            if value := lookup_keyword(given, keyword, *(["Servername"] if keyword == "Server" else ["Username"])):
                libpq[setting] = value
        for setting, names in _KEEPALIVES.items():
            if (value := _keyword_value(given, *names)).isdigit() and value != "0":
                libpq[setting] = value
        # If pqopt is given twice, the driver uses only one value, so our value includes the DSN's settings.
        for text in _keyword_values(given, "pqopt"):
            libpq |= parse_conninfo(text)
        libpq["connect_timeout"] = _login_timeout(target.name, libpq.get("connect_timeout", ""), session)
        # libpq reads PGOPTIONS only if no options are given.
        given_options = libpq.get("options", os.environ.get("PGOPTIONS", ""))
        # If a setting is given twice, the last value takes effect.
        libpq["options"] = f"{given_options} {_server_options(_PINNED_SETTINGS)}".strip()
        ours = {**DRIVER_SETTINGS, "pqopt": format_conninfo(libpq)}
        # ConnSettings may change what we read, and these settings stay in the sessions of a pooler. An empty value
        # replaces the DSN's ConnSettings.
        if lookup_keyword(given, "ConnSettings", "A6") != "" and _keyword_value(given, "ConnSettings", "A6"):
            raise BadInput(PostgresText.CONN_SETTINGS.render(target=target.name))
        rest = without_keywords(given, ("Server", "Servername", "Port", "UID", "Username", "Database", "A6", *ours))
        if lookup_keyword(rest, "DSN", "FILEDSN", "Driver") is None:
            rest = {"DRIVER": find_driver()} | rest
        return rest | ours


def _keyword_values(keywords: Mapping[str, str], *names: str) -> list[str]:
    """Return the values of a keyword with these names, from the file DSN, the DSN and the user, in this order.

    The last value takes effect.
    """
    file = lookup_keyword(keywords, "FILEDSN")
    dsn = lookup_keyword(keywords, "DSN")
    found: list[str] = []
    if file is not None:
        found += (drivers.read_file_dsn_keyword(file, name) for name in names)
        dsn = dsn or drivers.read_file_dsn_keyword(file, "DSN") or None
    if dsn is not None:
        found += (drivers.read_dsn_keyword(dsn, name) for name in names)
    return [value for value in (*found, lookup_keyword(keywords, *names)) if value]


def _keyword_value(keywords: Mapping[str, str], *names: str) -> str:
    """Return the value that takes effect for a keyword with any of these names, or an empty text."""
    return (_keyword_values(keywords, *names) or [""])[-1]


def _login_timeout(target: str, stated: str, session: Session) -> str:
    """Return the login timeout in seconds for libpq: the user's timeout if it is positive, else the session's."""
    if not stated:
        return _whole_seconds(session.login_timeout_s)
    try:
        seconds = int(stated)
    except ValueError:
        raise BadInput(PostgresText.BAD_TIMEOUT.render(target=target, value=stated)) from None
    return str(seconds) if seconds > 0 else _whole_seconds(session.login_timeout_s)


def _server_options(settings: Mapping[str, str]) -> str:
    """Format settings for the server's command line, where a backslash escapes a space."""
    escaped = {name: value.replace("\\", "\\\\").replace(" ", "\\ ") for name, value in settings.items()}
    return " ".join(f"-c {name}={value}" for name, value in escaped.items())


def _connect_driver(keywords: Mapping[str, str], target: Target, login_timeout_s: float) -> pyodbc.Connection:
    """Connect with a deadline, because psqlODBC sends its first queries without a deadline after libpq's login."""
    from qmon.engines import odbc

    def explain(fault: DriverFault) -> QmonError:
        return errors.connecting_error(fault, target)

    return log_in(
        target.name,
        login_timeout_s,
        lambda: odbc.connect(keywords, target.password, login_timeout_s, explain),
        lambda late: late.close(),
    )


def _catalog_statement(name: str) -> Statement:
    return render(load_query("postgres", f"catalog/{name}", (MIN_MAJOR, 0)), {}, Postgres())


def _is_direct(introduction: _Introduction, application: str, took_s: float) -> bool:
    """Return whether the session began with our connection, which took ``took_s`` seconds, and has our name.

    A pooler starts its sessions earlier and sets our name later.
    """
    plain = application.isascii() and application.isprintable()  # the server changes names with other characters
    same = introduction.application == application[:_MAX_NAME] or not (plain and application)
    return introduction.source == "client" and same and introduction.age_s <= took_s + _AGE_SLACK_S


def _retry_for_room(connect: Callable[[], T]) -> T:
    """Connect, and retry if the server has no free connection."""
    for pause_s in _RETRY_PAUSES_S:
        try:
            return connect()
        except NoConnectionLeft:
            time.sleep(pause_s)
    return connect()


def _reset_driver_settings(connection: OdbcConnection) -> None:
    """Reset the settings that the driver has changed."""
    connection.execute(Bound(_catalog_statement("unset")))


def application_name(session: Session) -> str:
    """Return the application name that the server shows."""
    return session.application or f"qmon {session.purpose}".strip()


def find_driver() -> str:
    """Return the driver's name or the path of its library. Raises ``MissingDriver`` with the package to install."""
    from qmon.engines import odbc

    installed = odbc.installed_drivers()
    for name in DRIVER_NAMES:
        if name in installed:
            return name
    for folder in DRIVER_FOLDERS:
        if (library := Path(folder, DRIVER_LIBRARY)).is_file():
            return str(library)
    raise MissingDriver(PostgresText.NO_DRIVER.render(hint=drivers.POSTGRES_HINT))


def _session_settings(target: Target, session: Session) -> Mapping[str, Value]:
    return {
        "statement_timeout": _milliseconds_text(session.statement_timeout_s),
        "lock_timeout": _milliseconds_text(session.lock_timeout_s),
        "transaction_timeout": _milliseconds_text(session.idle_transaction_timeout_s),
        "read_only": "on" if session.read_only else "off",
        "application": application_name(session),
        "schema_owner": target.schema_owner,
        "repeats": session.repeats,
    }


def _milliseconds_text(seconds: float | None) -> str | None:
    return None if seconds is None else str(max(1, round(seconds * 1000)))


def _whole_seconds(seconds: float) -> str:
    """Return the time in whole seconds, rounded up. libpq treats 1 as 2."""
    return str(max(1, -int(-seconds // 1)))
