"""Helpers for several tests: wait for a condition, and run SQL on a server without qmon."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

import pyodbc

if TYPE_CHECKING:
    from qmon.demo.embedded_server import EmbeddedServer

pyodbc.pooling = False  # a closed session must end, because its database is copied and dropped

T = TypeVar("T")
# How long a test waits before it fails: long enough for a machine with many busy processes.
PATIENCE_S: Final = 120.0


def wait_until(ask: Callable[[], T], timeout: float = PATIENCE_S, *, what: str | Callable[[], str] = "") -> T:
    """Repeat a question until the answer is true, and return the answer.

    Raises ``AssertionError`` with ``what`` and the last answer after ``timeout`` seconds. If ``what`` is a function, it
    is called then.
    """
    deadline = time.monotonic() + timeout
    pause = 0.002
    while not (answer := ask()):
        if time.monotonic() > deadline:
            expected = what() if callable(what) else what
            raise AssertionError(f"not within {timeout:g} s: {expected or ask}; last answer: {answer!r}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)
    return answer


def odbc(url: str) -> str:
    """Return the ODBC connection string for a ``postgresql://`` URL of the embedded server."""
    parts = urlsplit(url)
    options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    words = {
        "Driver": "PostgreSQL Unicode",
        "Server": options.get("host") or parts.hostname or "",
        "Port": options.get("port") or str(parts.port or 5432),
        "Database": unquote(parts.path.removeprefix("/")),
        "UID": unquote(parts.username or ""),
        "PWD": _braced(unquote(parts.password or "")),
        "BoolsAsChar": "0",
    }
    return ";".join(f"{name}={value}" for name, value in words.items() if value)


def _braced(value: str) -> str:
    return "{" + value.replace("}", "}}") + "}" if value else ""


@contextlib.contextmanager
def connected(url: str, *, autocommit: bool = True) -> Iterator[pyodbc.Connection]:
    """Open a plain connection to the database of the URL. An open transaction is rolled back at the end."""
    connection = pyodbc.connect(odbc(url), autocommit=autocommit)
    try:
        yield connection
    finally:
        with contextlib.suppress(pyodbc.Error):  # the test may have stopped the server
            connection.close()


def query(url: str, sql: str, *values: object) -> list[tuple[object, ...]]:
    """Run one statement in a separate session, commit, and return its rows (an empty list without a result)."""
    with connected(url) as connection:
        cursor = connection.execute(sql, *values)
        return [tuple(row) for row in cursor.fetchall()] if cursor.description else []


def drop_roles(url: str) -> None:
    """Drop the roles that ``qmon setup`` created on this server, with their objects and grants in this database."""
    for role in ("qmon_operator", "qmon_monitor"):
        if query(url, "SELECT 1 FROM pg_roles WHERE rolname = ?", role):
            query(url, f"DROP OWNED BY {role}")
            query(url, f"DROP ROLE {role}")


@contextlib.contextmanager
def fresh_database(server: EmbeddedServer) -> Iterator[str]:
    """Return the URL of a new database, which is dropped afterwards even if sessions are still connected."""
    name = f"test_{secrets.token_hex(6)}"
    query(server.url("postgres"), f"CREATE DATABASE {name} STRATEGY file_copy")
    try:
        yield server.url(name)
    finally:
        query(server.url("postgres"), f"DROP DATABASE {name} WITH (FORCE)")


def known(value: float | None) -> float:
    """Return the value of a figure; fail if it is unknown."""
    assert value is not None
    return value
