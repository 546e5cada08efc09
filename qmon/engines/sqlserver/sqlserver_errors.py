"""Convert errors of SQL Server and its drivers to one line with the cause and the fix, by error number.

The numbers are from Microsoft's list of database engine errors. Negative and small numbers come from the drivers.
"""

from __future__ import annotations

import errno
import re
import socket
from dataclasses import replace
from typing import Final

from qmon.engines import drivers
from qmon.engines.base import Target
from qmon.engines.driver_faults import DriverFault
from qmon.engines.odbc_keywords import lookup_keyword
from qmon.engines.sqlserver import driver_wheel
from qmon.engines.sqlserver.login_methods import password_missing_for
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
from qmon.system import choose_for_system
from qmon.texts import Text


class SqlServerErrorText(Text):
    """Errors of SQL Server and its drivers."""

    NOT_HOST_PORT = "{server} is not host,port"
    NO_INSTANCE = "no instance {instance} answered on {host}; SQL Browser (UDP 1434) may be off there: give host,port"
    UNKNOWN_HOST = "the host name {host!r} is unknown"
    NO_ANSWER = "no answer from {host} port {port} in time; is a firewall in between?"
    REFUSED = "nothing listens on {host} port {port}: connection refused; is the server running?"
    CANNOT_BE_REACHED = "{host} port {port} cannot be reached: {problem}"
    NO_SQL_SERVER = "{host} port {port} accepts connections, but no SQL Server answered in time"
    KINIT = "kinit gets a ticket, klist lists the existing tickets"
    DOMAIN = "the account must belong to the domain, and the server's name (SPN) must be registered in the domain"
    YES_OR_NO = "yes or no"
    ENCRYPT_VALUES = "yes, no or strict (also mandatory for yes, optional for no)"
    INTENT_VALUES = "ReadOnly or ReadWrite"
    CLOSED_CONNECTION = "the server closed the connection"
    NETWORK_SILENT = "the network did not answer in time"
    CONNECTION_REFUSED = "connection refused"
    NO_ROUTE = "no route to the server"
    FROM = " (from {origin})"
    THIS_ACCOUNT = "this account"
    THE_SERVER = "the server"
    LOGIN_HANGS = "the login to {server} does not finish; is it a SQL Server, and does it support this encryption?"
    NOT_READY = "not ready yet: {text}"
    NO_CONNECTION_LEFT = "the server has no connection left: {text}"
    UNTRUSTED = (
        "TLS failed: this machine does not trust the server's certificate; install its CA "
        "certificate, or trust the certificate without a check with trust=yes in the URL "
        "(TrustServerCertificate=yes)"
    )
    TLS_FAILED = "TLS failed: {text}"
    NOT_SQL_SERVER = "the service on {server} is not SQL Server"
    CLOSED_AT_ONCE = "{server} closed the connection immediately; is it a SQL Server, and is it healthy?"
    NO_CREDENTIALS = "the server does not accept login {user!r} without a password, and none is set: {text}"
    CANNOT_CONNECT = "cannot connect: {text}"
    NO_TICKET = "this account has no usable Kerberos ticket: {hint}; {text}"
    VALUE_REFUSED = "{keyword} does not accept this value; use {values}"
    NO_DATABASE = "there is no database {database!r} on the server, or this login may not open it"
    DATABASE_CLOSED = "the login may not open database {database!r}; run CREATE USER in it"
    NO_DSN = "there is no DSN {dsn!r}; {hint}"
    NO_DRIVER = "the connection string has no driver; add DRIVER={{ODBC Driver 18 for SQL Server}}"
    DRIVER_NOT_LOADED = "the ODBC driver cannot be loaded: {text}; {hint}"
    CREDENTIALS_NEEDED = "the server asks for the password of login {user!r}, but none is set"
    LOCKED_OUT = "login {user!r} is locked out; ask a DBA to unlock it"
    DISABLED = "login {user!r} is disabled; ask a DBA to enable it"
    EXPIRED = "the password of login {user!r} has expired; change it first"
    LOGIN_FAILED = "login failed for {user}: no such login, or it may not connect"
    BAD_CREDENTIALS = "login failed: wrong password{origin} for {user}, no such login, or it may not connect"
    CONNECTION_LOST = "the connection was lost: {text}"
    LOCK_TIMEOUT = "{query}: could not get a lock in time"
    DEADLINE = "{query}: no result within the deadline, or cancelled"
    DEADLOCK_VICTIM = "chosen as the victim of a deadlock"
    TRY_AGAIN = "{query}: {text}; try again"
    NO_OBJECT = "{query}: this server has no {object}"


DEFAULT_PORT: Final = 1433
_SERVER: Final = re.compile(r"(?:tcp:)?(?P<host>[^,\\]+)(?:\\(?P<instance>[^,]+))?(?:,\s*(?P<port>\d+))?", re.I)


def why_unreachable(server: str, timeout_s: float = 1.0) -> str:
    """Describe why ``host,port`` does not answer. Takes about ``timeout_s`` seconds at most for each address.

    ``server`` is written as in a connection string: ``host``, ``host,port``, ``host\\instance``, ``tcp:host``.
    """
    found = _SERVER.fullmatch(server.strip())
    if found is None:
        return SqlServerErrorText.NOT_HOST_PORT.render(server=server)
    host, instance = found["host"].strip(), found["instance"]
    port = int(found["port"] or DEFAULT_PORT)
    if instance is not None and found["port"] is None:
        return SqlServerErrorText.NO_INSTANCE.render(instance=instance, host=host)
    try:
        socket.create_connection((host, port), timeout_s).close()
    except socket.gaierror:
        return SqlServerErrorText.UNKNOWN_HOST.render(host=host)
    except TimeoutError:
        return SqlServerErrorText.NO_ANSWER.render(host=host, port=port)
    except ConnectionRefusedError:
        return SqlServerErrorText.REFUSED.render(host=host, port=port)
    except OSError as problem:
        return SqlServerErrorText.CANNOT_BE_REACHED.render(host=host, port=port, problem=problem.strerror or problem)
    return SqlServerErrorText.NO_SQL_SERVER.render(host=host, port=port)


def is_refused(server: str, timeout_s: float = 1.0) -> bool:
    """Return whether every address of the ``server`` refuses connections to the server's port.

    ``server`` is written as for ``why_unreachable``. Takes about ``timeout_s`` seconds at most for each address. The
    result is false for a named instance without a port, because there is no port to try.
    """
    found = _SERVER.fullmatch(server.strip())
    if found is None or (found["instance"] is not None and found["port"] is None):
        return False
    try:
        address = found["host"].strip(), int(found["port"] or DEFAULT_PORT)
        socket.create_connection(address, timeout_s, all_errors=True).close()
    except ExceptionGroup as problems:
        return all(isinstance(each, ConnectionRefusedError) for each in problems.exceptions)
    except OSError:
        return False
    return False


_LOGIN_FAILED: Final = (18456, 18452, 18470, 18486, 18487, 18488)
_NO_DATABASE: Final = (4060, 911)
_CLOSED_DATABASE: Final = (916, 4064)
_NOT_READY: Final = (904, 921, 922, 927, 942, 976, 983, 6005, 17142, 40197, 40501, 40613, 49918, 49919, 49920)
_NO_CONNECTION_LEFT: Final = (10928, 10929, 17809, 17300)
_PERMISSION: Final = (229, 230, 262, 297, 300, 371, 916, 15247, 15562)
_LOCK_TIMEOUT: Final = 1222
_DEADLOCK: Final = 1205

# After these errors, nothing was changed and a retry may succeed. The causes are: our session was the victim of a
# deadlock; rows moved during a read without locks; or snapshots or memory-optimized tables had a conflict.
_RETRYABLE: Final = (_DEADLOCK, 601, 3960, 41302, 41305, 41325)
_LOCKED: Final = re.compile(r"due to lock timeout", re.I)
_DENIED: Final = re.compile(r"permission (?:was )?denied", re.I)
_CLOSED: Final = re.compile(r"Cannot open database", re.I)

# Other servers with SQL Server's protocol use one number for most errors, so only the text shows the cause.
_MISSING_OBJECT: Final = re.compile(r"(?:Invalid object name '|(?:relation|function) \"?)(sys\.\w+)", re.I)
_TIMEOUT_STATES: Final = ("HYT00", "HYT01")
_LOST_STATES: Final = ("08S01", "08003", "08007", "01002")

# Our session was killed during a statement. The driver reports HY000, and the connection is lost.
_KILLED: Final = 596
_TICKET_HINT: Final = choose_for_system(
    linux=SqlServerErrorText.KINIT,
    macos=SqlServerErrorText.KINIT,
    windows=SqlServerErrorText.DOMAIN,
)
_YES_NO: Final = SqlServerErrorText.YES_OR_NO

# Values that Microsoft's driver 18 accepts, by the keyword in the driver's error. All values were tested.
_ACCEPTED_VALUES: Final = {
    "encrypt": SqlServerErrorText.ENCRYPT_VALUES,
    "trustservercertificate": _YES_NO,
    "trusted_connection": _YES_NO,
    "multisubnetfailover": _YES_NO,
    "applicationintent": SqlServerErrorText.INTENT_VALUES,
}

# Socket errors in the driver's texts: the errno or, on Windows, the number of Winsock.
_SOCKET_ERROR: Final = re.compile(
    r"(?:TCP Provider|Named Pipes Provider|SMux Provider): Error code (0x[0-9A-F]+)", re.I
)
_SOCKET_WORDS: Final = {
    **dict.fromkeys(
        (errno.EPIPE, errno.ECONNRESET, errno.ECONNABORTED, 10053, 10054), SqlServerErrorText.CLOSED_CONNECTION
    ),
    **dict.fromkeys((errno.ETIMEDOUT, 10060), SqlServerErrorText.NETWORK_SILENT),
    **dict.fromkeys((errno.ECONNREFUSED, 10061), SqlServerErrorText.CONNECTION_REFUSED),
    **dict.fromkeys((errno.EHOSTUNREACH, errno.ENETUNREACH, 10051, 10065), SqlServerErrorText.NO_ROUTE),
}
_TLS: Final = re.compile(r"certificate|SSL Provider|TLS|encryption", re.I)
_UNTRUSTED: Final = re.compile(r"certificate verify failed|certificate chain|self.signed|local issuer", re.I)
_OBJECT_DENIED: Final = re.compile(
    r"The (\w[\w ]*?) permission was denied on the object '([^']*)', database '[^']*', schema '([^']*)'"
)
_COLUMN_DENIED: Final = re.compile(
    r"The (\w+) permission was denied on the column '([^']*)' of the object '([^']*)', database '[^']*', "
    r"schema '([^']*)'"
)
_DATABASE_DENIED: Final = re.compile(
    r"\b((?:CREATE|ALTER|BACKUP|SHOWPLAN|CONTROL)[A-Z ]*) permission (?:was )?denied (?:in|on) database"
)
_STATE_DENIED: Final = re.compile(r"(VIEW (?:ANY )?(?:SERVER|DATABASE)[\w ]*?) permission (?:was )?denied")


def connecting_error(fault: DriverFault, target: Target) -> QmonError:
    """Return the error for a fault while connecting."""
    return _with_name(_classify_connecting(_with_socket_texts(fault), target, frozenset(fault.numbers)), target)


def hanging_error(target: Target) -> QmonError:
    """Return the error for a login that hung until its deadline."""
    server = lookup_keyword(target.parameters, "Server", "Address") or SqlServerErrorText.THE_SERVER
    if is_refused(server):
        return _with_name(ConnectionFailed(why_unreachable(server)), target)
    problem = ConnectionFailed(SqlServerErrorText.LOGIN_HANGS.render(server=server))
    return _with_name(problem, target)


def _classify_connecting(fault: DriverFault, target: Target, numbers: frozenset[int]) -> QmonError:
    server = lookup_keyword(target.parameters, "Server", "Address") or SqlServerErrorText.THE_SERVER
    text = fault.text
    missing = _driver_or_dsn_error(fault, target)
    if missing is not None:
        return missing
    if refused := _permanent_refusal(fault, target, numbers):
        return refused
    if numbers.intersection(_NOT_READY):
        return ConnectionFailed(SqlServerErrorText.NOT_READY.render(text=text))
    if numbers.intersection(_NO_CONNECTION_LEFT):
        return NoConnectionLeft(SqlServerErrorText.NO_CONNECTION_LEFT.render(text=text))
    if _UNTRUSTED.search(text):
        return ConnectionFailed(
            SqlServerErrorText.UNTRUSTED,
            retryable=False,
        )
    if problem := _refused_by_driver(text):
        return problem
    if _TLS.search(text):
        return ConnectionFailed(SqlServerErrorText.TLS_FAILED.render(text=text), retryable=False)
    if "Protocol error in TDS stream" in text:
        return ConnectionFailed(SqlServerErrorText.NOT_SQL_SERVER.render(server=server), retryable=False)
    if "handshakes before login" in text:
        return ConnectionFailed(SqlServerErrorText.CLOSED_AT_ONCE.render(server=server))
    if fault.sqlstate in _TIMEOUT_STATES or fault.sqlstate.startswith("08"):
        return ConnectionFailed(why_unreachable(server))
    if user := _user_without_credentials(target):
        return PasswordNeeded(SqlServerErrorText.NO_CREDENTIALS.render(user=user, text=text))
    return ConnectionFailed(SqlServerErrorText.CANNOT_CONNECT.render(text=text))


def _with_socket_texts(fault: DriverFault) -> DriverFault:
    """Return the fault with the numbers of socket errors replaced by texts."""

    def socket_text(match: re.Match[str]) -> str:
        return _SOCKET_WORDS.get(int(match[1], 16), match[0])

    return replace(fault, text=_SOCKET_ERROR.sub(socket_text, fault.text))


def _refused_by_driver(text: str) -> QmonError | None:
    """Return the error if the driver refused a value before it contacted the server, else ``None``."""
    if "SSPI Provider" in text:
        return ConnectionFailed(SqlServerErrorText.NO_TICKET.render(hint=_TICKET_HINT, text=text))
    if found := re.search("Invalid value specified for connection string attribute '([^']*)'", text):
        takes = _ACCEPTED_VALUES.get(found[1].lower())
        return BadInput(SqlServerErrorText.VALUE_REFUSED.render(keyword=found[1], values=takes) if takes else text)
    return None


def _permanent_refusal(fault: DriverFault, target: Target, numbers: frozenset[int]) -> QmonError | None:
    database = lookup_keyword(target.parameters, "Database")
    if numbers.intersection(_NO_DATABASE) or _CLOSED.search(fault.text):
        return ConnectionFailed(SqlServerErrorText.NO_DATABASE.render(database=database), retryable=False)
    if numbers.intersection(_LOGIN_FAILED):
        return _login_error(fault, target, lookup_keyword(target.parameters, "UID"))
    if numbers.intersection(_CLOSED_DATABASE):
        return ConnectionFailed(SqlServerErrorText.DATABASE_CLOSED.render(database=database), retryable=False)
    return None


def _driver_or_dsn_error(fault: DriverFault, target: Target) -> QmonError | None:
    if fault.sqlstate not in ("IM002", "IM003", "IM004") and "Can't open lib" not in fault.text:
        return None
    if (driver := lookup_keyword(target.parameters, "Driver")) is not None:
        from qmon.engines import odbc

        names = {*odbc.installed_drivers(), *driver_wheel.known_names()}
        if (problem := drivers.unknown_driver_error(driver, names)) is not None:
            return problem
    if fault.sqlstate == "IM002":
        dsn = lookup_keyword(target.parameters, "DSN")
        if dsn is not None:
            return BadInput(SqlServerErrorText.NO_DSN.render(dsn=dsn, hint=drivers.DSN_HINT))
        return MissingDriver(SqlServerErrorText.NO_DRIVER.render())
    return MissingDriver(
        SqlServerErrorText.DRIVER_NOT_LOADED.render(text=fault.text, hint=drivers.sql_server_load_hint())
    )


def _login_error(fault: DriverFault, target: Target, user: str | None) -> QmonError:
    if user is not None and _user_without_credentials(target):
        return PasswordNeeded(SqlServerErrorText.CREDENTIALS_NEEDED.render(user=user))
    if 18486 in fault.numbers:
        return ConnectionFailed(SqlServerErrorText.LOCKED_OUT.render(user=user), retryable=False)
    if 18470 in fault.numbers:
        return ConnectionFailed(SqlServerErrorText.DISABLED.render(user=user), retryable=False)
    if {18487, 18488}.intersection(fault.numbers):
        return ConnectionFailed(SqlServerErrorText.EXPIRED.render(user=user), retryable=False)
    if target.password is None:
        return ConnectionFailed(
            SqlServerErrorText.LOGIN_FAILED.render(user=user or SqlServerErrorText.THIS_ACCOUNT), retryable=False
        )
    origin = target.password.origin
    return WrongPassword(
        SqlServerErrorText.BAD_CREDENTIALS.render(
            origin=SqlServerErrorText.FROM.render(origin=origin) if origin else "",
            user=user or SqlServerErrorText.THIS_ACCOUNT,
        )
    )


def _user_without_credentials(target: Target) -> str | None:
    """Return the user if neither a password nor another login method is given, else ``None``."""
    return password_missing_for(target.parameters, has_password=target.password is not None)


def _with_name(problem: QmonError, target: Target) -> QmonError:
    problem.args = (f"{target.name}: {problem}",)
    return problem


def statement_error(fault: DriverFault, name: str, login: str, *, restricted: bool = False) -> QmonError:
    """Return the error for a fault of the statement ``name``, run as ``login``.

    ``restricted``: the login has VIEW DATABASE STATE, which is not enough on this tier of Azure SQL Database.
    """
    fault = _with_socket_texts(fault)
    numbers, state = frozenset(fault.numbers), fault.sqlstate
    gone = state in _LOST_STATES or _KILLED in numbers
    if gone or "connection is broken" in fault.text or "connection has been closed" in fault.text:
        return ConnectionLost(SqlServerErrorText.CONNECTION_LOST.render(text=fault.text))
    line = f"{name}: {fault.text}"
    if _LOCK_TIMEOUT in numbers or _LOCKED.search(fault.text):
        return LockTimeout(SqlServerErrorText.LOCK_TIMEOUT.render(query=name), sqlstate=state, query=name)
    if state in _TIMEOUT_STATES or state == "HY008":
        return StatementStopped(SqlServerErrorText.DEADLINE.render(query=name), sqlstate=state, query=name)
    if numbers.intersection(_RETRYABLE):
        text = SqlServerErrorText.DEADLOCK_VICTIM if _DEADLOCK in numbers else fault.text
        return QueryFailed(
            SqlServerErrorText.TRY_AGAIN.render(query=name, text=text),
            sqlstate="40001",
            query=name,
            numbers=fault.numbers,
        )
    if numbers.intersection(_PERMISSION) or _DENIED.search(fault.text):
        grant = _grant_statement(fault.text, login, restricted=restricted)
        return PermissionMissing(line, sqlstate=state, query=name, grant=grant)
    if found := _MISSING_OBJECT.search(fault.text):
        line = SqlServerErrorText.NO_OBJECT.render(query=name, object=found[1])
    return QueryFailed(line, sqlstate=state, query=name, numbers=fault.numbers)


def _grant_statement(text: str, login: str, *, restricted: bool) -> str:
    to = "[" + (login or "the_login").replace("]", "]]") + "]"
    if found := _OBJECT_DENIED.search(text):
        return " ".join(("GRANT", found[1], "ON", f"[{found[3]}].[{found[2].replace(']', ']]')}]", "TO", to))
    if found := _COLUMN_DENIED.search(text):
        column = "[" + found[2].replace("]", "]]") + "]"
        return f"GRANT {found[1]} ON [{found[4]}].[{found[3].replace(']', ']]')}] ({column}) TO {to}"
    if found := _DATABASE_DENIED.search(text):
        return f"GRANT {found[1]} TO {to}"
    if (found := _STATE_DENIED.search(text)) and restricted:
        return f"ALTER SERVER ROLE ##MS_ServerStateReader## ADD MEMBER {to}"
    if found:
        return " ".join(("GRANT", found[1], "TO", to))
    return ""
