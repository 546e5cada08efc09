"""Connecting as the product does, and statements of one line for the tests of the engines."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from qmon.config.chosen_target import find_target
from qmon.config.config_file import Config
from qmon.engines.base import Bound, Connection, Session, Statement, Target, Value
from qmon.engines.registry import engine_for


def target(text: str) -> Target:
    """The target that a user means by ``text``, with no configuration and an empty environment."""
    return find_target(text, Config(Path("qmon.toml")), {}).target


def open_target(text: str, session: Session | None = None) -> Connection:
    """A connection to it, left open."""
    found = target(text)
    return as_application(engine_for(found).connect(found, session or Session("test")))


def as_application(connection: Connection) -> Connection:
    """The same connection, which finds what is in the schema public, as the sessions of applications do."""
    if not connection.pooled:
        connection.execute(sql("SET search_path = public"))
    return connection


@contextlib.contextmanager
def opened(text: str, session: Session | None = None) -> Iterator[Connection]:
    """A connection to it, closed at the end."""
    connection = open_target(text, session)
    try:
        yield connection
    finally:
        connection.close()


def sql(text: str, columns: str = "", **values: Value) -> Bound:
    """A statement with its values, in the order of its question marks."""
    return Bound(Statement("test/statement", text, tuple(values), tuple(columns.split())), values)
