"""Databases and logins that tests make on a server that may be in use. All are dropped, even if a test fails."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Final, TypeVar
from urllib.parse import quote, urlsplit, urlunsplit

from qmon.engines.base import Connection, EngineName
from qmon.errors import ConnectionFailed, QmonError, QueryFailed
from tests.contract.anywhere import Place, execute, rows
from tests.contract.watching import target_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of database that the contract is tested on. ``engine``: its engine.

    ``options``: settings of the new database, each as in ``ALTER DATABASE … SET``. ``since``: the first version of SQL
    Server with them. ``lacks``: the reason to skip the form on earlier versions.
    """

    engine: EngineName
    options: tuple[str, ...] = ()
    since: int = 0
    lacks: str = ""


# Forms by their names in tests. The first of each engine has all tests; see ``conftest.py`` for the others.
FORMS: Final = {
    "postgres": Form("postgres"),
    "sqlserver": Form("sqlserver", ("READ_COMMITTED_SNAPSHOT OFF",)),
    "sqlserver with row versions": Form("sqlserver", ("READ_COMMITTED_SNAPSHOT ON",)),
    "sqlserver with optimized locking": Form(
        "sqlserver",
        ("READ_COMMITTED_SNAPSHOT ON", "ACCELERATED_DATABASE_RECOVERY = ON", "OPTIMIZED_LOCKING = ON"),
        since=17,
        lacks="optimized locking came with SQL Server 2025",
    ),
    "sqlserver at level 100": Form("sqlserver", ("READ_COMMITTED_SNAPSHOT OFF", "COMPATIBILITY_LEVEL = 100")),
}

# The prefix of the names of all databases and logins of tests.
SIGN: Final = "qmon_test_"
# Roles that `qmon setup` makes for a whole server: one server role on SQL Server, both roles on PostgreSQL.
ROLES: Final = ("qmon_operator", "qmon_monitor")
_NUMBERS: Final = count(1)
# A container that has just been started does not accept connections, or this login, at once.
_STARTING_S: Final = 60.0
# Ended sessions take a moment to go, and databases and logins cannot be dropped before that.
_WITHIN_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class _Ways:
    """Statements of one engine. ``{0}``: a name of ours, so simple quotes are enough; ``{1}``: a password;
    ``{bracketed}``: the name for use in brackets.

    ``home``: the database to run them in. ``schema``: the schema of queues in a new database. ``forget``: removes the
    objects of a login or role from a database.
    """

    home: str
    schema: str
    create: str
    alter: str
    drop: str
    login: str
    enter: str
    forget: str
    drop_login: str
    drop_role: str
    there: str


WAYS: Final = {
    "postgres": _Ways(
        home="postgres",
        schema="public",
        create='CREATE DATABASE "{0}"',
        alter="",
        drop='DROP DATABASE IF EXISTS "{0}" WITH (FORCE)',
        login="CREATE ROLE \"{0}\" LOGIN PASSWORD '{1}'",
        enter="",
        forget='DROP OWNED BY "{0}"',
        drop_login='DROP ROLE IF EXISTS "{0}"',
        drop_role='DROP ROLE IF EXISTS "{0}"',
        there="SELECT datname FROM pg_database UNION ALL SELECT rolname FROM pg_roles",
    ),
    "sqlserver": _Ways(
        home="master",
        schema="dbo",
        create="CREATE DATABASE [{bracketed}]",
        alter="ALTER DATABASE [{bracketed}] SET {1}",
        # In one batch, so that no other session becomes the single user in between.
        drop="""
            IF DB_ID(N'{0}') IS NOT NULL
            BEGIN
                ALTER DATABASE [{bracketed}] SET SINGLE_USER WITH ROLLBACK IMMEDIATE;
                DROP DATABASE [{bracketed}];
            END""",
        login="CREATE LOGIN [{0}] WITH PASSWORD = N'{1}'",
        enter="CREATE USER [{0}] FOR LOGIN [{0}]",
        forget="",
        drop_login="""
            DECLARE @kill nvarchar(max);
            SET @kill = (
                SELECT N'KILL ' + CONVERT(nvarchar(11), s.session_id) + N'; '
                FROM sys.dm_exec_sessions AS s
                WHERE s.login_name = N'{0}'
                FOR XML PATH(N'')
            );
            IF @kill IS NOT NULL EXEC sys.sp_executesql @kill;
            IF SUSER_ID(N'{0}') IS NOT NULL DROP LOGIN [{0}];""",
        drop_role="IF SUSER_ID(N'{0}') IS NOT NULL DROP SERVER ROLE [{0}]",
        there="SELECT name FROM sys.databases UNION ALL SELECT name FROM sys.server_principals",
    ),
}


@dataclass(frozen=True, slots=True)
class Login:
    """A login. ``name``: also that of its user or role in the database. ``place``: the database as this login."""

    name: str
    place: Place


class Server:
    """A server, by the URL of a login that may create databases and logins there."""

    def __init__(self, url: str) -> None:
        self.sign = f"{SIGN}{secrets.token_hex(4)}_"
        self._url = url
        self._ways = WAYS[str(target_of(url).engine)]
        self._roles: frozenset[str] = frozenset()
        _again(self._there, ConnectionFailed, _STARTING_S)

    @contextlib.contextmanager
    def database(self, options: Sequence[str] = (), ending: str = "") -> Iterator[Place]:
        """Yield a fresh database and drop it afterwards, even if sessions are connected to it.

        ``options``: see ``Form``. ``ending``: the end of its name.
        """
        ways, name = self._ways, f"{self.sign}{next(_NUMBERS)}{ending}"
        try:
            with self._opened() as connection:
                execute(connection, named(ways.create, name))
                for option in options:
                    execute(connection, named(ways.alter, name, option))
            yield self._place(name)
        finally:
            self.run_until_dropped(named(ways.drop, name))

    @contextlib.contextmanager
    def login(self, place: Place) -> Iterator[Login]:
        """Yield a new login that may only connect to this database; drop it afterwards."""
        ways, name, password = self._ways, f"{self.sign}{next(_NUMBERS)}", f"Aa1-{secrets.token_hex(16)}"
        try:
            with self._opened() as connection:
                execute(connection, ways.login.format(name, password))
            if ways.enter:
                place.run(ways.enter.format(name))
            yield Login(name, place.seen_by(name, password))
        finally:
            self._forget(place, name)
            self.run_until_dropped(ways.drop_login.format(name))

    @contextlib.contextmanager
    def roles(self, place: Place) -> Iterator[None]:
        """Drop the server-wide roles that ``qmon setup`` creates from this database during the block."""
        self._roles |= frozenset(ROLES) - self._there()
        try:
            yield
        finally:
            for name in sorted(self._roles & self._there()):
                self._forget(place, name)
                self.run_until_dropped(self._ways.drop_role.format(name))

    @property
    def is_sqlserver(self) -> bool:
        """Whether this is SQL Server."""
        return target_of(self._url).engine == "sqlserver"

    @cached_property
    def version(self) -> int:
        """The major version."""
        with self._opened() as connection:
            return connection.version[0]

    def run(self, text: str) -> None:
        """Run a statement for the whole server, as its administrator."""
        with self._opened() as connection:
            execute(connection, text)

    def sweep(self) -> None:
        """Drop everything made here that is left, for example because a test was stopped during its clean-up."""
        # Roles last: they own nothing once the databases are gone.
        for name in sorted(self.left(), key=lambda name: name in ROLES):
            if name in ROLES:
                self.run_until_dropped(self._ways.drop_role.format(name))
            else:
                self.run_until_dropped(named(self._ways.drop, name))
                self.run_until_dropped(self._ways.drop_login.format(name))

    def left(self) -> list[str]:
        """Return the names of everything made here that still exists."""
        return sorted(name for name in self._there() if name in self._roles or name.startswith(self.sign))

    def _place(self, database: str) -> Place:
        return Place(urlunsplit(urlsplit(self._url)._replace(path=f"/{quote(database, safe='')}")), self._ways.schema)

    def _opened(self) -> contextlib.AbstractContextManager[Connection]:
        return self._place(self._ways.home).opened()

    def _there(self) -> frozenset[str]:
        with self._opened() as connection:
            return frozenset(str(row[0]) for row in rows(connection, self._ways.there))

    def _forget(self, place: Place, name: str) -> None:
        if self._ways.forget:
            # The database may not have been created.
            with contextlib.suppress(QueryFailed), place.opened() as connection:
                execute(connection, self._ways.forget.format(name))

    def run_until_dropped(self, text: str) -> None:
        _again(lambda: self.run(text), QmonError, _WITHIN_S)


def named(text: str, name: str, *more: str) -> str:
    """Return the statement for this name."""
    return text.format(name, *more, bracketed=name.replace("]", "]]"))


def _again(do: Callable[[], T], problem: type[QmonError], within_s: float) -> T:
    """Call ``do``, and repeat the call while it fails with these errors, for at most ``within_s`` seconds."""
    until = time.monotonic() + within_s
    while True:
        try:
            return do()
        except problem:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
