"""Where the contract is tested: a fresh PostgreSQL database, and fresh ones on a SQL Server that somebody names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from qmon.engines.base import Connection
from qmon.operate.operator import Operator
from tests.contract.anywhere import Place
from tests.contract.anywhere_server import Server

# The variable that names a SQL Server, as the URL of a login that may do everything there: see docs/sql-server.md.
SQLSERVER: Final = "QMON_TEST_SQLSERVER"
# The variable that names a PostgreSQL, as that of a superuser; without it one is started, and what is heavy is left
# out: other tests have it.
POSTGRES: Final = "QMON_TEST_POSTGRES"
KINDS: Final = ("postgres", "sqlserver", "sqlserver with row versions")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is ``heavy`` on our own PostgreSQL, what is ``once`` in the second kind of SQL Server, and where
    there is no SQL Server its tests."""
    left = [item for item in items if _left_out(item)]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]


def _left_out(item: pytest.Item) -> bool:
    kind = (
        item.callspec.params.get("anywhere") if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ""
    )
    if kind == "postgres":
        return item.get_closest_marker("heavy") is not None and not os.environ.get(POSTGRES)
    again = kind == KINDS[2] and item.get_closest_marker("once") is not None
    return again or (kind in KINDS and not os.environ.get(SQLSERVER))


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
    found: Server = request.getfixturevalue("postgres_server" if request.param == "postgres" else "sqlserver_server")
    return found


@pytest.fixture
def place(anywhere: Server, request: pytest.FixtureRequest) -> Iterator[Place]:
    """A fresh database on each of them; on SQL Server without row versions, and with them."""
    with anywhere.database(row_versions=request.node.callspec.params["anywhere"] == KINDS[2]) as found:
        yield found


@pytest.fixture
def whole(request: pytest.FixtureRequest) -> bool:
    """Whether a test takes every design, and not some of each kind."""
    return request.node.callspec.params["anywhere"] != "postgres" or bool(os.environ.get(POSTGRES))


@pytest.fixture
def operator(place: Place, tmp_path: Path) -> Operator:
    """Who acts there."""
    return Operator(place.context(tmp_path))


@pytest.fixture
def connection(place: Place) -> Iterator[Connection]:
    """A connection there."""
    with place.opened() as opened:
        yield opened
