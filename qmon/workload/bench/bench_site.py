"""The schema in which a bench works: creates and removes this schema."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Mapping
from typing import Final

from qmon.engines.base import Bound, Connection, Engine, Session, Statement, Target, Value
from qmon.engines.registry import engine_for
from qmon.engines.sql import queries
from qmon.engines.sql.queries import Name
from qmon.errors import BadInput, QueryFailed
from qmon.texts import Text


class SiteText(Text):
    """Why a server cannot run a bench."""

    NO_SEQUENCES = (
        "the bench needs sequences, which SQL Server has since 2012 (version 11), but this server has version"
        " {major}.{minor}; nothing was created"
    )


_LOCK_WAIT_S: Final = 2.0
_DROP_WITHIN_S: Final = 30.0


def new_schema_name() -> str:
    """Return a new, random schema name."""
    return f"qmon_bench_{secrets.token_hex(5)}"


def check_version(engine: Engine, version: tuple[int, int]) -> None:
    """Raise ``BadInput`` if the server is too old for the bench.

    Every server that the bench supports can run all designs.
    """
    if not queries.has_query(engine.name, "action/bench/gate", version):
        raise BadInput(SiteText.NO_SEQUENCES.render(major=version[0], minor=version[1]))


def bench_statement(
    engine: Engine, name: str, version: tuple[int, int], names: Mapping[str, Name] | None = None
) -> Statement:
    """Render a statement of the bench."""
    return queries.render(queries.load_query(engine.name, f"action/bench/{name}", version), names or {}, engine)


class BenchSite:
    """The schema of one bench, seen from one connection."""

    def __init__(self, connection: Connection, engine: Engine, target: Target, schema: str) -> None:
        check_version(engine, connection.version)
        self.connection = connection
        self.engine = engine
        self.target = target
        self.schema = schema
        self._known: dict[str, Statement] = {}

    @property
    def prefix(self) -> str:
        """The prefix of the application names of the bench's sessions."""
        return f"qmon {self.schema} "

    @property
    def load_prefix(self) -> str:
        """The prefix of the application names of producers and consumers."""
        return f"{self.prefix}load "

    def statement(self, name: str, names: Mapping[str, Name] | None = None) -> Statement:
        """Return a statement of the bench.

        Statements without names are rendered only once, because some of these statements are used often.
        """
        if names:
            return bench_statement(self.engine, name, self.connection.version, names)
        if name not in self._known:
            self._known[name] = bench_statement(self.engine, name, self.connection.version)
        return self._known[name]

    def has_statement(self, name: str) -> bool:
        """Return whether this statement exists for this server."""
        return queries.has_query(self.engine.name, f"action/bench/{name}", self.connection.version)

    @property
    def salvage_statement(self) -> Statement | None:
        """The statement that reads the counts of a slice that failed; ``None`` if loops continue after an error."""
        return self.statement("salvage") if self.has_statement("salvage") else None

    def statement_with(self, name: str, names: Mapping[str, Name]) -> Statement:
        """Return a statement of the bench with the names that it uses. Names that are missing become ``None``."""
        query = queries.load_query(self.engine.name, f"action/bench/{name}", self.connection.version)
        return queries.render(query, {slot: names.get(slot) for slot in query.names}, self.engine)

    def run_statement(self, name: str, names: Mapping[str, Name] | None = None) -> None:
        """Run a statement of the bench that returns no rows."""
        self.connection.execute(Bound(self.statement(name, names)))

    def fetch_rows(self, name: str, values: Mapping[str, Value] | None = None) -> tuple[tuple[object, ...], ...]:
        """Return the rows of a statement of the bench."""
        return self.connection.fetch(Bound(self.statement(name), values or {})).rows

    def create_schema(self) -> None:
        """Create the schema, with a comment that explains its purpose."""
        with self.connection.transaction():
            self.run_statement("create_schema", {"schema": self.schema})
            self.run_statement("comment", {"schema": self.schema})

    def drop_schema(self) -> None:
        """Drop the schema with all its contents.

        Raises ``QueryFailed`` if other sessions hold locks on the schema for too long.
        """
        deadline = time.monotonic() + _DROP_WITHIN_S
        while True:
            try:
                self.run_statement("drop_schema", {"schema": self.schema})
            except QueryFailed:
                if time.monotonic() > deadline:
                    raise
                threading.Event().wait(0.2)
            else:
                return

    def qualified_name(self, name: str) -> Name:
        """Return the qualified name of an object in the schema."""
        return (self.schema, name)

    def connect_load(self, role: str) -> Connection:
        """Open a session of the load. It uses plans like an application, and has no deadline."""
        # Threads that do not end are abandoned, so a call needs no separate thread. The bench would also measure the
        # time of such a thread.
        session = Session(
            idle_transaction_timeout_s=86_400.0, application=f"{self.prefix}{role}", writes=True, silence_s=None
        )
        connection = self.engine.connect(self.target, session)
        query = queries.load_query(self.engine.name, "action/workload/session", connection.version)
        connection.set_up_session(Bound(queries.render(query, {}, self.engine)))
        return connection


def sweep_schema(target: Target, schema: str) -> None:
    """End the remaining sessions of a bench and drop its schema. Does nothing if the schema is gone.

    Raises ``QmonError`` if the connection fails, and ``QueryFailed`` if the schema cannot be dropped.
    """
    engine = engine_for(target)
    session = Session("bench sweep", lock_timeout_s=_LOCK_WAIT_S, writes=True)
    with contextlib.closing(engine.connect(target, session)) as connection:
        site = BenchSite(connection, engine, target, schema)
        site.fetch_rows("end_sessions", {"prefix": site.prefix})
        site.drop_schema()
