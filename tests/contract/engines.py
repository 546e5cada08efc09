"""Helpers for the tests of the engines: connections as qmon opens them, and one-line statements."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from qmon.config.chosen_target import find_target
from qmon.config.config_file import Config
from qmon.engines.base import Bound, Connection, Session, Statement, Target, Value
from qmon.engines.registry import engine_for


def target(text: str) -> Target:
    """Return the target for the user's ``text``, without a configuration and with an empty environment."""
    return find_target(text, Config(Path("qmon.toml")), {}).target


def open_target(text: str, session: Session | None = None) -> Connection:
    """Return an open connection to it."""
    found = target(text)
    return as_application(engine_for(found).connect(found, session or Session("test")))


def as_application(connection: Connection) -> Connection:
    """Return the same connection with the schema public in its path, as applications have it."""
    if not connection.is_pooled:
        connection.execute(sql("SET search_path = public"))
    return connection


@contextlib.contextmanager
def opened(text: str, session: Session | None = None) -> Iterator[Connection]:
    """Yield a connection to it and close it at the end."""
    connection = open_target(text, session)
    try:
        yield connection
    finally:
        connection.close()


def sql(text: str, columns: str = "", **values: Value) -> Bound:
    """Return a statement with its values, in the order of its question marks."""
    return Bound(Statement("test/statement", text, tuple(values), tuple(columns.split())), values)
