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
from qmon.system import choose_for_system

DEFAULT_PORT: Final = 1433
_SERVER: Final = re.compile(r"(?:tcp:)?(?P<host>[^,\\]+)(?:\\(?P<instance>[^,]+))?(?:,\s*(?P<port>\d+))?", re.I)


def why_unreachable(server: str, timeout_s: float = 1.0) -> str:
    """Describe why ``host,port`` does not answer. Takes about ``timeout_s`` seconds at most for each address.

    ``server`` is written as in a connection string: ``host``, ``host,port``, ``host\\instance``, ``tcp:host``.
    """
    found = _SERVER.fullmatch(server.strip())
    if found is None:
        return f"{server} is not host,port"
    host, instance = found["host"].strip(), found["instance"]
    port = int(found["port"] or DEFAULT_PORT)
    if instance is not None and found["port"] is None:
        return f"no instance {instance} answered on {host}; SQL Browser (UDP 1434) may be off there: give host,port"
    try:
        socket.create_connection((host, port), timeout_s).close()
    except socket.gaierror:
        return f"the host name {host!r} is unknown"
    except TimeoutError:
        return f"no answer from {host} port {port} in time; is a firewall in between?"
    except ConnectionRefusedError:
        return f"nothing listens on {host} port {port}: connection refused; is the server running?"
    except OSError as problem:
        return f"{host} port {port} cannot be reached: {problem.strerror or problem}"
    return f"{host} port {port} accepts connections, but no SQL Server answered in time"


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
    linux="kinit gets a ticket, klist lists the existing tickets",
    macos="kinit gets a ticket, klist lists the existing tickets",
    windows="the account must belong to the domain, and the server's name (SPN) must be registered in the domain",
)
_YES_NO: Final = "yes or no"

# Values that Microsoft's driver 18 accepts, by the keyword in the driver's error. All values were tested.
_ACCEPTED_VALUES: Final = {
    "encrypt": "yes, no or strict (also mandatory for yes, optional for no)",
    "trustservercertificate": _YES_NO,
    "trusted_connection": _YES_NO,
    "multisubnetfailover": _YES_NO,
    "applicationintent": "ReadOnly or ReadWrite",
}

# Socket errors in the driver's texts: the errno or, on Windows, the number of Winsock.
_SOCKET_ERROR: Final = re.compile(
    r"(?:TCP Provider|Named Pipes Provider|SMux Provider): Error code (0x[0-9A-F]+)", re.I
)
_SOCKET_WORDS: Final = {
    **dict.fromkeys(
        (errno.EPIPE, errno.ECONNRESET, errno.ECONNABORTED, 10053, 10054), "the server closed the connection"
    ),
    **dict.fromkeys((errno.ETIMEDOUT, 10060), "the network did not answer in time"),
    **dict.fromkeys((errno.ECONNREFUSED, 10061), "connection refused"),
    **dict.fromkeys((errno.EHOSTUNREACH, errno.ENETUNREACH, 10051, 10065), "no route to the server"),
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
    server = lookup_keyword(target.parameters, "Server", "Address") or "the server"
    if is_refused(server):
        return _with_name(Unreachable(why_unreachable(server)), target)
    problem = Unreachable(
        f"the login to {server} does not finish; is it a SQL Server, and does it support this encryption?"
    )
    return _with_name(problem, target)


def _classify_connecting(fault: DriverFault, target: Target, numbers: frozenset[int]) -> QmonError:
    server = lookup_keyword(target.parameters, "Server", "Address") or "the server"
    text = fault.text
    missing = _missing_driver_error(fault, target)
    if missing is not None:
        return missing
    if refused := _permanent_refusal(fault, target, numbers):
        return refused
    if numbers.intersection(_NOT_READY):
        return Unreachable(f"not ready yet: {text}")
    if numbers.intersection(_NO_CONNECTION_LEFT):
        return NoConnectionLeft(f"the server has no connection left: {text}")
    if _UNTRUSTED.search(text):
        return Unreachable(
            "TLS failed: this machine does not trust the server's certificate; install its CA certificate, or"
            " trust the certificate without a check with trust=yes in the URL (TrustServerCertificate=yes)",
            retryable=False,
        )
    if problem := _refused_by_driver(text):
        return problem
    if _TLS.search(text):
        return Unreachable(f"TLS failed: {text}", retryable=False)
    if "Protocol error in TDS stream" in text:
        return Unreachable(f"the service on {server} is not SQL Server", retryable=False)
    if "handshakes before login" in text:
        return Unreachable(f"{server} closed the connection immediately; is it a SQL Server, and is it healthy?")
    if fault.sqlstate in _TIMEOUT_STATES or fault.sqlstate.startswith("08"):
        return Unreachable(why_unreachable(server))
    if user := _user_without_credentials(target):
        return PasswordNeeded(f"the server does not accept login {user!r} without a password, and none is set: {text}")
    return Unreachable(f"cannot connect: {text}")


def _with_socket_texts(fault: DriverFault) -> DriverFault:
    """Return the fault with the numbers of socket errors replaced by texts."""

    def socket_text(found: re.Match[str]) -> str:
        return _SOCKET_WORDS.get(int(found[1], 16), found[0])

    return replace(fault, text=_SOCKET_ERROR.sub(socket_text, fault.text))


def _refused_by_driver(text: str) -> QmonError | None:
    """Return the error if the driver refused a value before it contacted the server, else ``None``."""
    if "SSPI Provider" in text:
        return Unreachable(f"this account has no usable Kerberos ticket: {_TICKET_HINT}; {text}")
    if found := re.search("Invalid value specified for connection string attribute '([^']*)'", text):
        takes = _ACCEPTED_VALUES.get(found[1].lower())
        return BadInput(f"{found[1]} does not accept this value; use {takes}" if takes else text)
    return None


def _permanent_refusal(fault: DriverFault, target: Target, numbers: frozenset[int]) -> QmonError | None:
    database = lookup_keyword(target.parameters, "Database")
    if numbers.intersection(_NO_DATABASE) or _CLOSED.search(fault.text):
        return Unreachable(
            f"there is no database {database!r} on the server, or this login may not open it", retryable=False
        )
    if numbers.intersection(_LOGIN_FAILED):
        return _login_error(fault, target, lookup_keyword(target.parameters, "UID"))
    if numbers.intersection(_CLOSED_DATABASE):
        return Unreachable(f"the login may not open database {database!r}; run CREATE USER in it", retryable=False)
    return None


def _missing_driver_error(fault: DriverFault, target: Target) -> QmonError | None:
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
            return BadInput(f"there is no DSN {dsn!r}; {drivers.DSN_HINT}")
        return MissingDriver("the connection string has no driver; add DRIVER={ODBC Driver 18 for SQL Server}")
    return MissingDriver(f"the ODBC driver cannot be loaded: {fault.text}; {drivers.sql_server_load_hint()}")


def _login_error(fault: DriverFault, target: Target, user: str | None) -> QmonError:
    if user is not None and _user_without_credentials(target):
        return PasswordNeeded(f"the server asks for the password of login {user!r}, but none is set")
    if 18486 in fault.numbers:
        return Unreachable(f"login {user!r} is locked out; ask a DBA to unlock it", retryable=False)
    if 18470 in fault.numbers:
        return Unreachable(f"login {user!r} is disabled; ask a DBA to enable it", retryable=False)
    if {18487, 18488}.intersection(fault.numbers):
        return Unreachable(f"the password of login {user!r} has expired; change it first", retryable=False)
    if target.password is None:
        return Unreachable(
            f"login failed for {user or 'this account'}: no such login, or it may not connect", retryable=False
        )
    origin = target.password.origin
    return WrongPassword(
        f"login failed: wrong password{f' (from {origin})' if origin else ''} for {user or 'this account'}, no such "
        "login, or it may not connect"
    )


def _user_without_credentials(target: Target) -> str | None:
    """Return the user if neither a password nor another login method is given, else ``None``."""
    return password_missing_for(target.parameters, given=target.password is not None)


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
        return ConnectionLost(f"the connection was lost: {fault.text}")
    line = f"{name}: {fault.text}"
    if _LOCK_TIMEOUT in numbers or _LOCKED.search(fault.text):
        return LockTimeout(f"{name}: could not get a lock in time", sqlstate=state, query=name)
    if state in _TIMEOUT_STATES or state == "HY008":
        return DeadlineExceeded(f"{name}: no result within the deadline, or cancelled", sqlstate=state, query=name)
    if numbers.intersection(_RETRYABLE):
        text = "chosen as the victim of a deadlock" if _DEADLOCK in numbers else fault.text
        return QueryFailed(f"{name}: {text}; try again", sqlstate="40001", query=name, numbers=fault.numbers)
    if numbers.intersection(_PERMISSION) or _DENIED.search(fault.text):
        grant = _grant_statement(fault.text, login, restricted=restricted)
        return PermissionMissing(line, sqlstate=state, query=name, grant=grant)
    if found := _MISSING_OBJECT.search(fault.text):
        line = f"{name}: this server has no {found[1]}"
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
