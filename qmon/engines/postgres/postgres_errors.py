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
from qmon.engines.postgres.missing_rights import OBJECT_KINDS, grant_for
from qmon.errors import (
    BadInput,
    ConnectionLost,
    DeadlineExceeded,
    LockTimeout,
    MissingDriver,
    NoConnectionLeft,
    PasswordNeeded,
    PermissionMissing,
    QmonError,
    QueryFailed,
    Unreachable,
    WrongPassword,
)

_SERVER_ADDRESS: Final = re.compile(
    r'connection to server (?:at|on socket) "([^"]*)"(?: \([^)]*\))?(?:, port (\d+))? failed: '
)
_DENIED: Final = re.compile(rf"permission denied for ({'|'.join(OBJECT_KINDS)}) (.+?)$")

_NO_TEMPORARY: Final = re.compile(r'permission denied to create temporary tables in database "(.+)"')

_MakeError = Callable[[re.Match[str], str, Target], QmonError]


def _retryable_error(text: str) -> _MakeError:
    return lambda found, where, target: Unreachable(text.format(*found.groups(), where=where))


def _permanent_error(text: str) -> _MakeError:
    return lambda found, where, target: Unreachable(text.format(*found.groups(), where=where), retryable=False)


def _wrong_password_error(found: re.Match[str], where: str, target: Target) -> QmonError:
    origin = f" (from {target.password.origin})" if target.password and target.password.origin else ""
    return WrongPassword(f"wrong password{origin} for user {found[1]}, or no such user")


def _no_password_error(found: re.Match[str], where: str, target: Target) -> QmonError:
    user = lookup_keyword(target.parameters, "UID", "Username")
    return PasswordNeeded(f"the server asks for the password{(f' of user {user!r}' if user else '')}, but none is set")


def _closed_database_error(found: re.Match[str], where: str, target: Target) -> QmonError:
    grant = grant_for("database", found[1], lookup_keyword(target.parameters, "UID", "Username") or "the_role", "")
    return Unreachable(f"no permission to connect to database {found[1]}; this helps: {grant}", retryable=False)


NO_SEARCH_PATH: Final = (
    "the pooler in between does not pass on qmon's search_path, so functions of other roles could run with your"
    " rights: connect to the server itself, or see docs/connecting.md, Poolers"
)


_CONNECTING_ERRORS: Final[tuple[tuple[str, _MakeError], ...]] = (
    (r"no password supplied", _no_password_error),
    (r'password authentication failed for user ("[^"]*")', _wrong_password_error),
    (r'role ("[^"]*") does not exist', _permanent_error("there is no role {0} on the server; check the user name")),
    (
        r'role ("[^"]*") is not permitted to log in',
        _permanent_error("role {0} may not log in; ALTER ROLE {0} LOGIN allows it"),
    ),
    (r'database ("[^"]*") does not exist', _permanent_error("there is no database {0} on the server")),
    (r'permission denied for database ("[^"]*")', _closed_database_error),
    (
        r"(no pg_hba\.conf entry for .*|pg_hba\.conf rejects connection for .*)$",
        _permanent_error("the server's access rules reject the connection: {0}"),
    ),
    (
        r'((?:Peer|Ident|GSSAPI|LDAP|PAM|RADIUS|certificate) authentication failed for user "[^"]*")',
        _permanent_error("{0}; the server's pg_hba.conf decides how that user may log in"),
    ),
    (r"unsupported startup parameter", lambda found, where, target: BadInput(NO_SEARCH_PATH)),
    (r"server does not support SSL", _permanent_error("the server offers no TLS, but sslmode requires it")),
    (
        r"(?:SSL error: )?((?:certificate verify failed|server certificate for|root certificate file|SSL error:).*)$",
        _permanent_error("TLS failed: {0}; set sslrootcert to the certificate to trust"),
    ),
    (
        r"(the database system is .*?|Hot standby mode is disabled.*?)\.?(?: DETAIL:.*)?$",
        _retryable_error("not ready yet: {0}"),
    ),
    (
        r"(too many clients already|remaining connection slots are reserved.*|too many connections for .*)$",
        lambda found, where, target: NoConnectionLeft(f"the server has no connection left: {found[1]}"),
    ),
    (
        r"timeout expired",
        _retryable_error("no answer from {where} in time; is a firewall in between, or does the server hang?"),
    ),
    (
        r"Connection refused",
        _retryable_error("nothing listens on {where}: connection refused; is the server running?"),
    ),
    (
        r"No such file or directory",
        _retryable_error("there is no socket {where}; is the server running, and is the folder right?"),
    ),
    (r"could not translate host name (\"[^\"]*\")", _retryable_error("the host name {0} is unknown")),
    (
        r"(?:No route to host|Network is unreachable)",
        _retryable_error("there is no network route to {where}"),
    ),
    (r"Permission denied", _permanent_error("your account may not open the socket {where}")),
    (
        r"expected authentication request|received invalid response|invalid length of startup packet",
        _permanent_error("the service on {where} is not PostgreSQL"),
    ),
    (
        r"server closed the connection unexpectedly|Connection reset by peer",
        _retryable_error("{where} closed the connection immediately; is it a PostgreSQL server, and is it healthy?"),
    ),
)


def connecting_error(fault: DriverFault, target: Target) -> QmonError:
    """Return the error for a fault while connecting. The message begins with the target's name."""
    problem = _classify_connecting(fault, target)
    problem.args = (f"{target.name}: {problem}",)
    return problem


def _classify_connecting(fault: DriverFault, target: Target) -> QmonError:
    if fault.sqlstate in ("IM002", "IM003", "IM004") or "Can't open lib" in fault.text:
        return _missing_driver_error(fault, target)
    address = _SERVER_ADDRESS.search(fault.text)
    where = "the server"
    if address is not None:
        where = address[1] if address[1].startswith("/") else f"{address[1]} port {address[2]}"
    words = re.sub(r"^.*?(?:FATAL|ERROR):\s*", "", _SERVER_ADDRESS.sub("", fault.text))
    for pattern, make in _CONNECTING_ERRORS:
        if found := re.search(pattern, words):
            return make(found, where, target)
    return Unreachable(f"{where} cannot be used: {words}")


def _missing_driver_error(fault: DriverFault, target: Target) -> QmonError:
    if (driver := lookup_keyword(target.parameters, "Driver")) is not None:
        from qmon.engines import odbc

        if (problem := drivers.unknown_driver_error(driver, odbc.installed_drivers())) is not None:
            return problem
    if fault.sqlstate == "IM002":
        dsn = lookup_keyword(target.parameters, "DSN")
        if dsn is not None:
            return BadInput(f"there is no DSN {dsn!r}; {drivers.DSN_HINT}")
        return MissingDriver("the connection string has no driver; add DRIVER={PostgreSQL Unicode}")
    return MissingDriver(f"the ODBC driver cannot be loaded: {fault.text}; {drivers.POSTGRES_HINT}")


def statement_error(fault: DriverFault, name: str, role: str, text: str) -> QmonError:
    """Return the error for a fault of the statement ``name``, run as ``role``. ``text``: the SQL that was sent."""
    words = re.sub(r"^(?:ERROR|FATAL):\s*", "", fault.text)
    if fault.is_lost or (fault.sqlstate == "HY000" and "connection" in words.lower()):
        return ConnectionLost(f"the connection was lost: {words}")
    line, state = f"{name}: {words}", fault.sqlstate
    if state == "57014":
        return DeadlineExceeded(line, sqlstate=state, query=name)
    if state == "55P03":
        return LockTimeout(f"{name}: could not get a lock in time", sqlstate=state, query=name)
    if state == "42501":
        grant = ""
        if denied := _DENIED.search(words):
            grant = grant_for(denied[1], denied[2], role, text)
        elif denied := _NO_TEMPORARY.search(words):
            grant = grant_for("database", denied[1], role, text)
        return PermissionMissing(line, sqlstate=state, query=name, grant=grant)
    return QueryFailed(line, sqlstate=state, query=name)
