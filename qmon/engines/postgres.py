"""PostgreSQL over psqlODBC: quoting, connecting, and what a session of qmon is set to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from qmon.engines import postgres_errors as errors
from qmon.engines.arrays import array
from qmon.engines.base import Bound, EngineName, Session, Target, Value
from qmon.engines.faults import Fault
from qmon.engines.keywords import format_conninfo, lookup, parse_conninfo, without
from qmon.engines.prepared import Prepared
from qmon.engines.queries import load, render
from qmon.engines.rows import records
from qmon.errors import BadInput, MissingDriver, QmonError
from qmon.model.keys import nearest

if TYPE_CHECKING:
    from qmon.engines.odbc import OdbcConnection

DRIVER_NAMES: Final = ("PostgreSQL Unicode", "PostgreSQL Unicode(x64)", "PostgreSQL")
LIBRARY: Final = "psqlodbcw.so"
FOLDERS: Final = (
    "/usr/lib/x86_64-linux-gnu/odbc",
    "/usr/lib/aarch64-linux-gnu/odbc",
    "/usr/lib64",
    "/usr/lib/psqlodbc",
    "/usr/lib",
    "/usr/local/lib",
    "/opt/homebrew/lib",
)
"""Where distributions put the driver's library."""

MIN_MAJOR: Final = 12
"""The oldest version with ``plan_cache_mode``; older ones are out of support anyway."""

_SSL_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_MAX_NAME: Final = 63
_QUIRKS: Final = {
    "BoolsAsChar": "0",  # real booleans instead of the texts 1 and 0
    "UseServerSidePrepare": "1",  # values travel apart from the text, and untyped
    "Protocol": "7.4-0",  # no savepoint around each statement of a transaction
}
_LIBPQ: Final = {
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
"""After some ten seconds without an answer to a probe the network counts as gone."""


@dataclass(frozen=True, slots=True)
class _Introduction:
    major: int
    minor: int
    session_id: int
    role: str


class Postgres:
    """The engine of PostgreSQL 12 and later."""

    @property
    def name(self) -> EngineName:
        """``postgres``."""
        return "postgres"

    def quote(self, parts: Sequence[str]) -> str:
        """Parts in double quotes. Raises ``BadInput`` for what PostgreSQL would refuse or cut short."""
        if not parts:
            raise BadInput("a name without any part cannot be an identifier")
        for part in parts:
            if not part or "\0" in part:
                raise BadInput(f"{part!r} cannot be an identifier: it is empty or holds a NUL character")
            if len(part.encode("utf-8", "surrogatepass")) > _MAX_NAME:
                raise BadInput(f"{part!r} cannot be an identifier: PostgreSQL cuts names after {_MAX_NAME} bytes")
        return ".".join('"' + part.replace('"', '""') + '"' for part in parts)

    def literal(self, text: str) -> str:
        """A string that no setting of the server reads otherwise."""
        if "\0" in text:
            raise BadInput("a text with a NUL character cannot be sent to PostgreSQL")
        quoted = "'" + text.replace("'", "''") + "'"
        return " E" + quoted.replace("\\", "\\\\") if "\\" in text else quoted

    def ids(self, ids: Sequence[int]) -> str:
        """An array: ``{1,2}``."""
        return "{" + ",".join(map(str, ids)) + "}"

    def texts(self, texts: Iterable[str]) -> str:
        """An array; the elements' type is that of the parameter it is bound to."""
        return array(texts)

    def binary(self, text: str) -> Value:
        """The text itself: its type is that of the parameter it is bound to."""
        return text

    @property
    def counts_reads(self) -> bool:
        """Every statement is a transaction, and every transaction is counted."""
        return True

    @property
    def shows_deleted(self) -> bool:
        """A deleted row stays until its transaction commits."""
        return True

    def grant_to_see(self, role: str, version: tuple[int, int]) -> str:
        """Membership in the role that sees all statistics."""
        return f"GRANT pg_read_all_stats TO {role}"

    def connect(self, target: Target, session: Session) -> OdbcConnection:
        """Connect and set up the session, each in one round trip of ours."""
        from qmon.engines import odbc

        def explain(fault: Fault) -> QmonError:
            return errors.connecting(fault, target)

        raw = odbc.connect(self.keywords(target, session), target.password, session.login_timeout_s, explain)
        major = int(odbc.server_version(raw).split(".")[0])
        if major < MIN_MAJOR:
            raw.close()
            raise BadInput(f"{target.name}: PostgreSQL {major} is too old; qmon needs {MIN_MAJOR} or later")
        role = lookup(target.parameters, "UID") or ""
        connection = odbc.OdbcConnection(raw, lambda fault, name: errors.running(fault, name, role), nul_allowed=False)
        try:
            statement = render(load("postgres", "catalog/session", (major, 0)), {}, self)
            (found,) = records(_Introduction, connection.fetch(Bound(statement, _settings(session))))
        except BaseException:
            connection.close()
            raise
        role = found.role
        connection.introduce((found.major, found.minor), found.session_id)
        if session.repeats:
            connection.prepared = Prepared()
        return connection

    def keywords(self, target: Target, session: Session) -> dict[str, str]:
        """The ODBC keywords to connect with, without the password.

        Raises ``BadInput`` for an unknown sslmode, which psqlODBC would pass over and connect without TLS, and
        ``MissingDriver``.
        """
        given = dict(target.parameters)
        mode = lookup(given, "SSLmode")
        if mode is not None and mode not in _SSL_MODES:
            raise BadInput(f"{target.name}: the sslmode {mode!r} is unknown{nearest(mode, _SSL_MODES)}")
        if lookup(given, "DSN", "FILEDSN") is not None:
            # What its section of odbc.ini says about pqopt would be lost if we sent our own.
            return _QUIRKS | {"KeepaliveTime": "5", "KeepaliveInterval": "2"} | given
        libpq = _LIBPQ | {"application_name": application(session), "connect_timeout": _whole(session.login_timeout_s)}
        # psqlODBC takes a name in a keyword as it stands, so that one with ; or braces cannot be written there.
        for setting, keyword in (("host", "Server"), ("port", "Port"), ("user", "UID"), ("dbname", "Database")):
            if value := lookup(given, keyword, *(["Servername"] if keyword == "Server" else ["Username"])):
                libpq[setting] = value
        libpq |= parse_conninfo(lookup(given, "pqopt") or "")
        rest = without(given, ("Server", "Servername", "Port", "UID", "Username", "Database", "pqopt"))
        if lookup(rest, "Driver") is None:
            rest = {"DRIVER": find_driver()} | rest
        return _QUIRKS | rest | {"pqopt": format_conninfo(libpq)}


def application(session: Session) -> str:
    """What the server shows as our application name."""
    return session.application or f"qmon {session.purpose}".strip()


def find_driver() -> str:
    """The driver's name, or the path of its library; raises ``MissingDriver`` naming the package to install."""
    from qmon.engines import odbc

    installed = odbc.installed_drivers()
    for name in DRIVER_NAMES:
        if name in installed:
            return name
    for folder in FOLDERS:
        if (library := Path(folder, LIBRARY)).is_file():
            return str(library)
    raise MissingDriver("the ODBC driver for PostgreSQL is not installed: apt install odbc-postgresql")


def _settings(session: Session) -> Mapping[str, Value]:
    return {
        "statement_timeout": _milliseconds(session.statement_timeout_s),
        "lock_timeout": _milliseconds(session.lock_timeout_s),
        "transaction_timeout": _milliseconds(session.idle_transaction_timeout_s),
        "read_only": "on" if session.read_only else "off",
        "application": application(session),
    }


def _milliseconds(seconds: float | None) -> str | None:
    return None if seconds is None else str(max(1, round(seconds * 1000)))


def _whole(seconds: float) -> str:
    """Seconds for libpq, which takes whole ones and raises 1 to 2."""
    return str(max(1, -int(-seconds // 1)))
