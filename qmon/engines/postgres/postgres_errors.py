"""Convert errors of PostgreSQL and psqlODBC to one line with the cause and the fix.

While connecting, psqlODBC reports SQLSTATE 08001 for all errors, so only the texts of libpq and of the server show the
cause. The message contains texts in other languages unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from qmon.engines import drivers
from qmon.engines.base import Target
from qmon.engines.driver_faults import DriverFault
from qmon.engines.odbc_keywords import lookup_keyword
from qmon.errors import (
    BadInput,
    ConnectionFailed,
    ConnectionLost,
    LockTimeout,
    MissingDriver,
    NoConnectionLeft,
    PasswordNeeded,
    PermissionMissing,
    QmonError,
    QueryFailed,
    StatementStopped,
    WrongPassword,
)
from qmon.texts import Text

_COMMENT: Final = re.compile(r"--[^\n]*|/\*.*?\*/", re.S)
_READ_STATEMENT: Final = re.compile(r"\s*(SELECT|WITH|EXECUTE|PREPARE|TABLE|DECLARE)\b", re.I)
_GRANT_WORDS: Final = {
    "table": "",
    "view": "",
    "materialized view": "",
    "sequence": "SEQUENCE ",
    "schema": "SCHEMA ",
    "function": "FUNCTION ",
    "procedure": "PROCEDURE ",
    "database": "DATABASE ",
}
OBJECT_KINDS: Final = tuple(_GRANT_WORDS)
_CREATED: Final = r"CREATE\s+(?:OR\s+REPLACE\s+)?(?:UNLOGGED\s+)?"
_IN_A_SCHEMA: Final = r"(?:TABLE|VIEW|MATERIALIZED\s+VIEW|SEQUENCE|FUNCTION|PROCEDURE|TYPE|DOMAIN)\s+"
_ONLY: Final = r"(?:ONLY\s+)?"
_READ: Final = rf"(?<!DELETE )(?:FROM|JOIN|USING|,)\s+{_ONLY}{{name}}"

# Each way to use a table, with the needed rights. UPDATE and DELETE also read the columns of their WHERE.
_TABLE_USES: Final = (
    (r"INSERT\s+INTO\s+{name}(?=[^;]*\b(?:RETURNING|ON\s+CONFLICT)\b)", ("SELECT",)),
    (r"INSERT\s+INTO\s+{name}(?=[^;]*\bDO\s+UPDATE\b)", ("UPDATE",)),
    (r"INSERT\s+INTO\s+{name}", ("INSERT",)),
    (rf"(?<!FOR )UPDATE\s+{_ONLY}{{name}}", ("SELECT", "UPDATE")),
    (rf"DELETE\s+FROM\s+{_ONLY}{{name}}", ("SELECT", "DELETE")),
    (rf"TRUNCATE\s+(?:TABLE\s+)?{_ONLY}{{name}}", ("TRUNCATE",)),
    (r"CREATE\s+(?:OR\s+REPLACE\s+)?(?:CONSTRAINT\s+)?TRIGGER\b[^;]*?\bON\s+{name}", ("TRIGGER",)),
    (r"REFERENCES\s+{name}", ("REFERENCES",)),
    (rf"{_READ}(?=[^;]*\bFOR\s+(?:NO\s+KEY\s+)?(?:UPDATE|SHARE)\b)", ("UPDATE",)),
    (_READ, ("SELECT",)),
)
_RIGHTS_ORDER: Final = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")


def grant_for(kind: str, object_name: str, role: str, text: str) -> str:
    """Return the GRANT that lets ``role`` run the statement ``text``, or an empty string if it is unknown.

    ``kind`` and ``object_name``: the server's words for the object, such as ``table`` and ``jobs``.
    """
    sql = " ".join(_COMMENT.sub(" ", text).split())
    rights, name = _needed_rights(kind, object_name, sql)
    return f"GRANT {', '.join(rights)} ON {_GRANT_WORDS[kind]}{name} TO {quote_name(role)}" if rights else ""


def quote_name(name: str) -> str:
    """Quote a name if needed. A name that is already quoted stays unchanged."""
    if name.startswith('"') or re.fullmatch(r"[a-z_][a-z0-9_$]*", name):
        return name
    return '"' + name.replace('"', '""') + '"'


def _needed_rights(kind: str, object_name: str, sql: str) -> tuple[tuple[str, ...], str]:
    name = quote_name(object_name)
    if kind == "database":
        return _database_rights(sql), name
    if kind == "schema":
        return _schema_rights(object_name, sql), name
    if kind in ("function", "procedure"):
        return ("EXECUTE",), _qualified_name(object_name, sql)
    if kind == "sequence":
        return _sequence_rights(object_name, sql), _qualified_name(object_name, sql)
    return _table_rights(object_name, sql), _qualified_name(object_name, sql)


def _database_rights(sql: str) -> tuple[str, ...]:
    if not sql:  # while connecting
        return ("CONNECT",)
    if re.search(r"CREATE\s+(?:SCHEMA|EXTENSION|PUBLICATION)\b", sql, re.I):
        return ("CREATE",)
    return ("TEMPORARY",) if re.search(r"\bTEMP(?:ORARY)?\b|pg_temp", sql, re.I) else ()


def _schema_rights(object_name: str, sql: str) -> tuple[str, ...]:
    schema = rf"{_bare_name_pattern(object_name)}\s*\."
    made = rf"{_CREATED}{_IN_A_SCHEMA}(?:IF\s+NOT\s+EXISTS\s+)?{schema}"
    indexed = rf"CREATE\s+(?:UNIQUE\s+)?INDEX\b[^;]*?\bON\s+{_ONLY}{schema}"
    return ("USAGE", "CREATE") if re.search(f"{made}|{indexed}", sql, re.I) else ("USAGE",)


def _sequence_rights(object_name: str, sql: str) -> tuple[str, ...]:
    if re.search(r"\bsetval\s*\(", sql, re.I):
        return ("UPDATE",)
    if re.search(rf"\b(?:FROM|JOIN)\s+{_qualified_name_pattern(object_name)}", sql, re.I) or not re.search(
        r"nextval|INSERT\s+INTO", sql, re.I
    ):
        return ("SELECT",)
    return ("USAGE",)


def _table_rights(object_name: str, sql: str) -> tuple[str, ...]:
    name = _qualified_name_pattern(object_name)
    needed = {
        right for use, rights in _TABLE_USES if re.search(use.replace("{name}", name), sql, re.I) for right in rights
    }
    if not needed and not re.search(name, sql, re.I) and _READ_STATEMENT.match(sql) and not _calls_function(sql):
        needed = {"SELECT"}  # the object belongs to a view or a partition, or the statement is prepared
    return tuple(right for right in _RIGHTS_ORDER if right in needed)


def _calls_function(sql: str) -> bool:
    """Return whether a statement calls a user-defined function, which may do anything."""
    return bool(re.match(r'\s*SELECT\b[^;]*?(?:"[^"]+"|\w+)\s*\.\s*(?:"[^"]+"|\w+)\s*\(', sql, re.I))


def _qualified_name(object_name: str, sql: str) -> str:
    """Return the name with its schema, if the statement contains it."""
    before = re.findall(rf'("[^"]+"|[\w$]+)\s*\.\s*{_bare_name_pattern(object_name)}', sql, re.I)
    schemas = {quote_name(each.strip('"')) for each in before}
    return f"{schemas.pop()}.{quote_name(object_name)}" if len(schemas) == 1 else quote_name(object_name)


def _qualified_name_pattern(object_name: str) -> str:
    return rf'(?:(?:"[^"]+"|[\w$]+)\s*\.\s*)?{_bare_name_pattern(object_name)}'


def _bare_name_pattern(object_name: str) -> str:
    """Return a pattern for the name with or without quotes."""
    bare = object_name.strip('"')
    return rf'(?:"{re.escape(bare)}"|\b{re.escape(bare)}\b(?!"))'


class PostgresErrorText(Text):
    """Errors of PostgreSQL and psqlODBC."""

    BAD_CREDENTIALS = "wrong password{origin} for user {user}, or no such user"
    CREDENTIALS_NEEDED = "the server asks for the password{user}, but none is set"
    DATABASE_CLOSED = "no permission to connect to database {database}; this helps: {grant}"
    NO_SEARCH_PATH = (
        "the pooler in between does not pass on qmon's search_path, so functions of other roles "
        "could run with your rights: connect to the server itself, or see docs/connecting.md, Poolers"
    )
    NO_ROLE = "there is no role {role} on the server; check the user name"
    ROLE_CANNOT_LOG_IN = "role {role} may not log in; ALTER ROLE {role} LOGIN allows it"
    NO_DATABASE = "there is no database {database} on the server"
    ACCESS_RULES = "the server's access rules reject the connection: {text}"
    AUTHENTICATION_FAILED = "{text}; the server's pg_hba.conf decides how that user may log in"
    NO_TLS = "the server offers no TLS, but sslmode requires it"
    TLS_FAILED = "TLS failed: {text}; set sslrootcert to the certificate to trust"
    NOT_READY = "not ready yet: {text}"
    NO_CONNECTION_LEFT = "the server has no connection left: {text}"
    NO_ANSWER = "no answer from {where} in time; is a firewall in between, or does the server hang?"
    REFUSED = "nothing listens on {where}: connection refused; is the server running?"
    NO_SOCKET = "there is no socket {where}; is the server running, and is the folder right?"
    UNKNOWN_HOST = "the host name {host} is unknown"
    NO_ROUTE = "there is no network route to {where}"
    SOCKET_CLOSED = "your account may not open the socket {where}"
    NOT_POSTGRESQL = "the service on {where} is not PostgreSQL"
    CLOSED_AT_ONCE = "{where} closed the connection immediately; is it a PostgreSQL server, and is it healthy?"
    FROM = " (from {origin})"
    OF_USER = " of user {user!r}"
    THE_SERVER = "the server"
    HOST_PORT = "{host} port {port}"
    CANNOT_BE_USED = "{where} cannot be used: {text}"
    NO_DSN = "there is no DSN {dsn!r}; {hint}"
    NO_DRIVER = "the connection string has no driver; add DRIVER={{PostgreSQL Unicode}}"
    DRIVER_NOT_LOADED = "the ODBC driver cannot be loaded: {text}; {hint}"
    CONNECTION_LOST = "the connection was lost: {text}"
    LOCK_TIMEOUT = "{query}: could not get a lock in time"


_SERVER_ADDRESS: Final = re.compile(
    r'connection to server (?:at|on socket) "([^"]*)"(?: \([^)]*\))?(?:, port (\d+))? failed: '
)
_DENIED: Final = re.compile(rf"permission denied for ({'|'.join(OBJECT_KINDS)}) (.+?)$")

_NO_TEMPORARY: Final = re.compile(r'permission denied to create temporary tables in database "(.+)"')

_ErrorFactory = Callable[[re.Match[str], str, Target], QmonError]


def _connection_error_factory(text: PostgresErrorText, *, retryable: bool) -> _ErrorFactory:
    """Return a function that renders ``text`` with the named groups of its pattern and, if needed, ``where``."""

    def make(match: re.Match[str], where: str, target: Target) -> QmonError:
        place = {"where": where} if "where" in text.fields else {}
        return ConnectionFailed(text.render(**match.groupdict(), **place), retryable=retryable)

    return make


def _retryable_error(text: PostgresErrorText) -> _ErrorFactory:
    return _connection_error_factory(text, retryable=True)


def _permanent_error(text: PostgresErrorText) -> _ErrorFactory:
    return _connection_error_factory(text, retryable=False)


def _wrong_password_error(match: re.Match[str], where: str, target: Target) -> QmonError:
    origin = (
        PostgresErrorText.FROM.render(origin=target.password.origin)
        if target.password and target.password.origin
        else ""
    )
    return WrongPassword(PostgresErrorText.BAD_CREDENTIALS.render(origin=origin, user=match[1]))


def _no_password_error(match: re.Match[str], where: str, target: Target) -> QmonError:
    user = lookup_keyword(target.parameters, "UID", "Username")
    return PasswordNeeded(
        PostgresErrorText.CREDENTIALS_NEEDED.render(user=PostgresErrorText.OF_USER.render(user=user) if user else "")
    )


def _no_connect_right_error(match: re.Match[str], where: str, target: Target) -> QmonError:
    grant = grant_for("database", match[1], lookup_keyword(target.parameters, "UID", "Username") or "the_role", "")
    return ConnectionFailed(PostgresErrorText.DATABASE_CLOSED.render(database=match[1], grant=grant), retryable=False)


NO_SEARCH_PATH: Final = PostgresErrorText.NO_SEARCH_PATH


_CONNECTING_ERRORS: Final[tuple[tuple[str, _ErrorFactory], ...]] = (
    (r"no password supplied", _no_password_error),
    (r'password authentication failed for user ("[^"]*")', _wrong_password_error),
    (r'role (?P<role>"[^"]*") does not exist', _permanent_error(PostgresErrorText.NO_ROLE)),
    (
        r'role (?P<role>"[^"]*") is not permitted to log in',
        _permanent_error(PostgresErrorText.ROLE_CANNOT_LOG_IN),
    ),
    (r'database (?P<database>"[^"]*") does not exist', _permanent_error(PostgresErrorText.NO_DATABASE)),
    (r'permission denied for database ("[^"]*")', _no_connect_right_error),
    (
        r"(?P<text>no pg_hba\.conf entry for .*|pg_hba\.conf rejects connection for .*)$",
        _permanent_error(PostgresErrorText.ACCESS_RULES),
    ),
    (
        r'(?P<text>(?:Peer|Ident|GSSAPI|LDAP|PAM|RADIUS|certificate) authentication failed for user "[^"]*")',
        _permanent_error(PostgresErrorText.AUTHENTICATION_FAILED),
    ),
    (r"unsupported startup parameter", lambda found, where, target: BadInput(NO_SEARCH_PATH)),
    (r"server does not support SSL", _permanent_error(PostgresErrorText.NO_TLS)),
    (
        r"(?:SSL error: )?"
        r"(?P<text>(?:certificate verify failed|server certificate for|root certificate file|SSL error:).*)$",
        _permanent_error(PostgresErrorText.TLS_FAILED),
    ),
    (
        r"(?P<text>the database system is .*?|Hot standby mode is disabled.*?)\.?(?: DETAIL:.*)?$",
        _retryable_error(PostgresErrorText.NOT_READY),
    ),
    (
        r"(too many clients already|remaining connection slots are reserved.*|too many connections for .*)$",
        lambda found, where, target: NoConnectionLeft(PostgresErrorText.NO_CONNECTION_LEFT.render(text=found[1])),
    ),
    (
        r"timeout expired",
        _retryable_error(PostgresErrorText.NO_ANSWER),
    ),
    (
        r"Connection refused",
        _retryable_error(PostgresErrorText.REFUSED),
    ),
    (
        r"No such file or directory",
        _retryable_error(PostgresErrorText.NO_SOCKET),
    ),
    (r"could not translate host name (?P<host>\"[^\"]*\")", _retryable_error(PostgresErrorText.UNKNOWN_HOST)),
    (
        r"(?:No route to host|Network is unreachable)",
        _retryable_error(PostgresErrorText.NO_ROUTE),
    ),
    (r"Permission denied", _permanent_error(PostgresErrorText.SOCKET_CLOSED)),
    (
        r"expected authentication request|received invalid response|invalid length of startup packet",
        _permanent_error(PostgresErrorText.NOT_POSTGRESQL),
    ),
    (
        r"server closed the connection unexpectedly|Connection reset by peer",
        _retryable_error(PostgresErrorText.CLOSED_AT_ONCE),
    ),
)


def connecting_error(fault: DriverFault, target: Target) -> QmonError:
    """Return the error for a fault while connecting. The message begins with the target's name."""
    problem = _classify_connecting(fault, target)
    problem.args = (f"{target.name}: {problem}",)
    return problem


def _classify_connecting(fault: DriverFault, target: Target) -> QmonError:
    if fault.sqlstate in ("IM002", "IM003", "IM004") or "Can't open lib" in fault.text:
        return _driver_or_dsn_error(fault, target)
    address = _SERVER_ADDRESS.search(fault.text)
    where: str = PostgresErrorText.THE_SERVER
    if address is not None:
        where = (
            address[1]
            if address[1].startswith("/")
            else PostgresErrorText.HOST_PORT.render(host=address[1], port=address[2])
        )
    words = re.sub(r"^.*?(?:FATAL|ERROR):\s*", "", _SERVER_ADDRESS.sub("", fault.text))
    for pattern, make in _CONNECTING_ERRORS:
        if found := re.search(pattern, words):
            return make(found, where, target)
    return ConnectionFailed(PostgresErrorText.CANNOT_BE_USED.render(where=where, text=words))


def _driver_or_dsn_error(fault: DriverFault, target: Target) -> QmonError:
    if (driver := lookup_keyword(target.parameters, "Driver")) is not None:
        from qmon.engines import odbc

        if (problem := drivers.unknown_driver_error(driver, odbc.installed_drivers())) is not None:
            return problem
    if fault.sqlstate == "IM002":
        dsn = lookup_keyword(target.parameters, "DSN")
        if dsn is not None:
            return BadInput(PostgresErrorText.NO_DSN.render(dsn=dsn, hint=drivers.DSN_HINT))
        return MissingDriver(PostgresErrorText.NO_DRIVER.render())
    return MissingDriver(PostgresErrorText.DRIVER_NOT_LOADED.render(text=fault.text, hint=drivers.POSTGRES_HINT))


def statement_error(fault: DriverFault, name: str, role: str, text: str) -> QmonError:
    """Return the error for a fault of the statement ``name``, run as ``role``. ``text``: the SQL that was sent."""
    words = re.sub(r"^(?:ERROR|FATAL):\s*", "", fault.text)
    if fault.is_lost or (fault.sqlstate == "HY000" and "connection" in words.lower()):
        return ConnectionLost(PostgresErrorText.CONNECTION_LOST.render(text=words))
    line, state = f"{name}: {words}", fault.sqlstate
    if state == "57014":
        return StatementStopped(line, sqlstate=state, query=name)
    if state == "55P03":
        return LockTimeout(PostgresErrorText.LOCK_TIMEOUT.render(query=name), sqlstate=state, query=name)
    if state == "42501":
        grant = ""
        if denied := _DENIED.search(words):
            grant = grant_for(denied[1], denied[2], role, text)
        elif denied := _NO_TEMPORARY.search(words):
            grant = grant_for("database", denied[1], role, text)
        return PermissionMissing(line, sqlstate=state, query=name, grant=grant)
    return QueryFailed(line, sqlstate=state, query=name)
