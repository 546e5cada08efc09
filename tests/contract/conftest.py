"""Where the contract is tested: a fresh PostgreSQL database, and fresh ones on a SQL Server that somebody names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

import pytest

from tests.contract.anywhere import Place
from tests.contract.anywhere_server import Server

SQLSERVER: Final = "QMON_TEST_SQLSERVER"
"""The variable that names a SQL Server, as the URL of a login that may do everything there."""
POSTGRES: Final = "QMON_TEST_POSTGRES"
"""The variable that names a PostgreSQL, as that of a superuser; without it one is started."""
KINDS: Final = ("postgres", "sqlserver", "sqlserver with row versions")


@pytest.fixture(scope="session")
def postgres_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """Where databases of PostgreSQL are made."""
    yield from _tidy(os.environ.get(POSTGRES) or request.getfixturevalue("server").url("postgres"))


@pytest.fixture(scope="session")
def sqlserver_server() -> Iterator[Server]:
    """Where databases of SQL Server are made."""
    yield from _tidy(os.environ[SQLSERVER])


def _tidy(url: str) -> Iterator[Server]:
    found = Server(url)
    yield found
    found.sweep()


@pytest.fixture(params=KINDS)
def anywhere(request: pytest.FixtureRequest) -> Server:
    """Each server that there is; SQL Server comes twice, see ``place``."""
    name = "postgres_server" if request.param == "postgres" else "sqlserver_server"
    if name == "sqlserver_server" and not os.environ.get(SQLSERVER):
        pytest.skip(f"no SQL Server at hand: {SQLSERVER} names one, such as mssql://sa:password@localhost/?trust=yes")
    found: Server = request.getfixturevalue(name)
    return found


@pytest.fixture
def place(anywhere: Server, request: pytest.FixtureRequest) -> Iterator[Place]:
    """A fresh database on each of them; on SQL Server without row versions, and with them."""
    with anywhere.database(row_versions="row versions" in request.node.callspec.params["anywhere"]) as found:
        yield found
