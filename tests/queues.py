"""Helpers for tests of queues: a connection that may write, and calls of an installed design's routines."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

from qmon.engines.base import Bound, Connection, Session, Statement, Target
from qmon.engines.postgres.postgres_engine import Postgres
from qmon.engines.urls import read_url
from qmon.model.layout.layout import Layout
from qmon.operate.install.install_queue import install_queue

ENGINE: Final = Postgres()
# All designs.
DESIGNS: Final = (
    "batch_fast",
    "batch_single",
    "batch_split",
    "fifo",
    "flag",
    "heap",
    "lifo",
    "naive",
    "pending",
    "ring",
    "ring_classic",
    "ring_pointer",
    "ring_subscribers",
    "status",
    "strict_fifo",
)
# Designs whose messages are bytes; the others use text.
BYTES: Final = frozenset({"fifo", "heap", "lifo", "pending", "status", "strict_fifo"})

Row = tuple[object, ...]


def target_of(url: str) -> Target:
    """Return the target of a test database's URL."""
    address = read_url(url, "the URL")
    return Target("test", "postgres", address.keywords, password=address.password)


@contextlib.contextmanager
def opened(url: str, purpose: str = "test") -> Iterator[Connection]:
    """Open a connection of qmon that may write."""
    connection = ENGINE.connect(target_of(url), Session(purpose, statement_timeout_s=30))
    connection.execute(Bound(Statement("test", "SET search_path = public", (), ())))  # as applications have it
    try:
        yield connection
    finally:
        connection.close()


def run(connection: Connection, sql: str) -> tuple[Row, ...]:
    """Run one statement on a connection of qmon and return its rows."""
    return connection.fetch(Bound(Statement("test", sql, (), ()))).rows


def routine(layout: Layout, verb: str) -> str:
    """Return the quoted name of an installed design's routine."""
    name = layout.routine_for(verb)
    assert name is not None, f"{layout.design} has no {verb}"
    return ENGINE.quote(name.parts)


def call(connection: Connection, layout: Layout, verb: str, arguments: str = "") -> tuple[Row, ...]:
    """Call a routine of an installed design with arguments in SQL, and return its rows."""
    return run(connection, f"SELECT * FROM {routine(layout, verb)}({arguments}) AS r")


def made(url: str, design: str, queue: str = "orders", *, ring_size: int = 16) -> Layout:
    """Install a queue in the schema public and return its layout."""
    with opened(url) as connection:
        return install_queue(connection, ENGINE, design, schema="public", queue=queue, ring_size=ring_size).layout
