"""A place to run the same test on either engine: a fresh database, and how a queue is pushed to and popped from there.

SQL Server takes part where ``QMON_TEST_SQLSERVER`` names one, as a URL of a login that may create databases.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from qmon.engines.base import Bound, Connection, Engine, Session, Statement, Target
from qmon.engines.registry import engine_for
from qmon.model.layout import Layout
from qmon.operate.acting import Desk, Who
from tests.contract.watching import target_of
from tests.queues import BYTES

VARIABLE = "QMON_TEST_SQLSERVER"
SERVER = os.environ.get(VARIABLE, "")


@dataclass(frozen=True, slots=True)
class Place:
    """A database of its own on one engine. ``url``: where it is; ``schema``: where queues go."""

    url: str
    schema: str

    @property
    def target(self) -> Target:
        return target_of(self.url)

    @property
    def engine(self) -> Engine:
        return engine_for(self.target)

    @contextlib.contextmanager
    def opened(self, purpose: str = "test", *, watch: bool = False, application: str = "") -> Iterator[Connection]:
        """A connection as qmon opens it; ``watch``: one that only reads.

        ``application``: it goes by this name instead, and waits for a lock as long as it takes.
        """
        session = Session(purpose, statement_timeout_s=60, lock_timeout_s=10, read_only=watch)
        if application:
            session = Session(idle_transaction_timeout_s=None, application=application)
        connection = self.engine.connect(self.target, session)
        try:
            yield connection
        finally:
            connection.close()

    def desk(self, folder: Path) -> Desk:
        """Where a test acts from."""

        def connect(purpose: str) -> Connection:
            return self.engine.connect(self.target, Session(purpose, statement_timeout_s=60, lock_timeout_s=5))

        return Desk(connect, self.engine, self.target, Who("anna@app-7"), audit=folder / "operations.jsonl")

    def called(self, layout: Layout, verb: str, *literals: str) -> str:
        """The statement that calls a routine of an installed design with these literals."""
        name = layout.routine(verb)
        assert name is not None, f"{layout.design} has no {verb}"
        quoted, arguments = self.engine.quote(name.parts), ", ".join(literals)
        if self.engine.name == "sqlserver":
            return f"EXEC {quoted} {arguments}"
        return f"SELECT * FROM {quoted}({arguments}) AS r"

    def push(self, connection: Connection, layout: Layout, count: int) -> None:
        """Push so many messages, each in a transaction of its own."""
        for number in range(count):
            text = f"m{number}"
            if layout.design not in BYTES:
                literal = self.engine.literal(text)
            else:
                hexed = text.encode().hex()
                literal = f"0x{hexed}" if self.engine.name == "sqlserver" else f"'\\x{hexed}'::bytea"
            rows(connection, self.called(layout, "push", literal))

    def pop(self, connection: Connection, layout: Layout) -> Sequence[object] | None:
        """Pop one message: its row, or nothing."""
        subscriber = ("1",) if layout.ring is not None and layout.ring.subscribers else ()
        found = rows(connection, self.called(layout, "pop", *subscriber))
        return next((row for row in found if any(value is not None for value in row)), None)


def rows(connection: Connection, text: str) -> tuple[tuple[object, ...], ...]:
    """What a statement without values returns."""
    return connection.fetch(Bound(Statement("test/statement", text, (), ()))).rows


@contextlib.contextmanager
def sqlserver_database(*, row_versions: bool = False) -> Iterator[Place]:
    """A fresh database on the server of ``QMON_TEST_SQLSERVER``; dropped afterwards, whoever is connected to it.

    ``row_versions``: readers see row versions there (READ_COMMITTED_SNAPSHOT), as they always do in Azure SQL Database.
    """
    name = f"qmon_test_{secrets.token_hex(6)}"
    parts = urlsplit(SERVER)
    master = Place(urlunsplit(parts._replace(path="/master")), "dbo")
    with master.opened() as connection:
        for text in (
            f"CREATE DATABASE [{name}]",
            f"ALTER DATABASE [{name}] SET READ_COMMITTED_SNAPSHOT {'ON' if row_versions else 'OFF'}",
        ):
            connection.execute(Bound(Statement("test/create", text, (), ())))
    try:
        yield Place(urlunsplit(parts._replace(path=f"/{name}")), "dbo")
    finally:
        with master.opened() as connection:
            for text in (f"ALTER DATABASE [{name}] SET SINGLE_USER WITH ROLLBACK IMMEDIATE", f"DROP DATABASE [{name}]"):
                connection.execute(Bound(Statement("test/drop", text, (), ())))


def held_by_popper(layout: Layout) -> Layout:
    """The layout, said to keep its session while it works."""
    return layout if layout.owner is None else replace(layout, owner=replace(layout.owner, held_while_working=True))
