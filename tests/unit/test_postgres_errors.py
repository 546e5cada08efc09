"""Messages of PostgreSQL and its driver that tests cannot provoke, as they were observed."""

from __future__ import annotations

import re

import pytest

from qmon.engines.base import Target
from qmon.engines.driver_faults import DriverFault, read_fault
from qmon.engines.postgres import postgres_errors as errors
from qmon.engines.postgres.postgres_errors import PostgresErrorText
from qmon.errors import ConnectionFailed, ConnectionLost, MissingDriver, QueryFailed
from tests.wordings import has, pattern

TARGET = Target("shop", "postgres", {"UID": "me", "Database": "d"})


def fault(sqlstate: str, words: str) -> DriverFault:
    return read_fault((sqlstate, f"[{sqlstate}] {words}\n (101) (SQLDriverConnect)"))


@pytest.mark.parametrize(
    ("words", "part", "retryable"),
    [
        (
            "FATAL:  the database system is starting up",
            pattern(PostgresErrorText.NOT_READY, text="the database system is starting up"),
            True,
        ),
        (
            "FATAL:  the database system is in recovery mode",
            pattern(PostgresErrorText.NOT_READY, text="the database system is in recovery mode"),
            True,
        ),
        (
            "FATAL:  the database system is not yet accepting connections\nDETAIL:  Consistent state not yet reached.",
            pattern(PostgresErrorText.NOT_READY, text="the database system is not yet accepting connections"),
            True,
        ),
        (
            "FATAL:  sorry, too many clients already",
            pattern(PostgresErrorText.NO_CONNECTION_LEFT, text="too many clients already"),
            True,
        ),
        (
            "FATAL:  remaining connection slots are reserved for roles x",
            pattern(PostgresErrorText.NO_CONNECTION_LEFT, text="remaining connection slots are reserved for roles x"),
            True,
        ),
        (
            "SSL error: certificate verify failed",
            pattern(PostgresErrorText.TLS_FAILED, text="certificate verify failed"),
            False,
        ),
        (
            'server certificate for "a" does not match host name "h"',
            pattern(PostgresErrorText.TLS_FAILED, text='server certificate for "a" does not match host name "h"'),
            False,
        ),
        (
            'FATAL:  Peer authentication failed for user "me"',
            pattern(PostgresErrorText.AUTHENTICATION_FAILED, text='Peer authentication failed for user "me"'),
            False,
        ),
        (
            "No route to host\n\tIs the server running on that host and accepting TCP/IP connections?",
            pattern(PostgresErrorText.NO_ROUTE),
            True,
        ),
        (
            "Connection reset by peer",
            pattern(PostgresErrorText.CLOSED_AT_ONCE, where=PostgresErrorText.HOST_PORT.render(host="h", port="5432")),
            True,
        ),
        (
            "FATAL:  Datenbank fehlt",
            pattern(
                PostgresErrorText.CANNOT_BE_USED,
                where=PostgresErrorText.HOST_PORT.render(host="h", port="5432"),
                text="Datenbank fehlt",
            ),
            True,
        ),
    ],
)
def test_while_connecting(words: str, part: str, retryable: bool) -> None:
    said = f'connection to server at "h" (10.0.0.1), port 5432 failed: {words}'
    problem = errors.connecting_error(fault("08001", said), TARGET)
    assert isinstance(problem, ConnectionFailed)
    assert str(problem).startswith("shop: ")
    assert re.search(part, str(problem))
    assert "\n" not in str(problem)
    assert "Is the server running on" not in str(problem)
    assert problem.retryable is retryable


def test_of_several_addresses_the_first_is_named() -> None:
    said = "\n".join(
        f'connection to server at "localhost" ({address}), port 5432 failed: Connection refused\n\tIs the server '
        "running on that host and accepting TCP/IP connections?"
        for address in ("::1", "127.0.0.1")
    )
    problem = errors.connecting_error(fault("08001", said), TARGET)
    assert str(problem) == "shop: " + PostgresErrorText.REFUSED.render(
        where=PostgresErrorText.HOST_PORT.render(host="localhost", port="5432")
    )


def test_without_any_driver_named() -> None:
    problem = errors.connecting_error(fault("IM002", "[unixODBC][Driver Manager]Data source name not found"), TARGET)
    assert isinstance(problem, MissingDriver)
    assert has(str(problem), PostgresErrorText.NO_DRIVER)


@pytest.mark.parametrize(
    ("sqlstate", "words", "kind"),
    [
        ("57P01", "FATAL: terminating connection due to administrator command;\nThe connection has been lost", "lost"),
        ("25P03", "FATAL: terminating connection due to idle-in-transaction timeout", "lost"),
        ("08S01", "SQLExecDirectW unable due to the connection lost", "lost"),
        ("HY000", "server closed the connection unexpectedly", "lost"),
        ("40P01", "ERROR: deadlock detected;\nError while executing the query", "failed"),
    ],
)
def test_while_running(sqlstate: str, words: str, kind: str) -> None:
    problem = errors.statement_error(fault(sqlstate, words), "probe/x", "me", "SELECT 1")
    assert type(problem) is {"lost": ConnectionLost, "failed": QueryFailed}[kind]
    assert "Error while" not in str(problem)
    assert "\n" not in str(problem)
    assert getattr(problem, "sqlstate", sqlstate) == sqlstate
