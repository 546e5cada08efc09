"""Servers for the contract: our own PostgreSQL, and a SQL Server if its URL is given. Tests get fresh databases."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from qmon.engines.base import Connection
from qmon.operate.operator import Operator
from tests.contract.anywhere import Place
from tests.contract.anywhere_server import FORMS, Server

# The variable with the URL of a SQL Server, for a login with all rights there: see docs/sql-server.md.
SQLSERVER: Final = "QMON_TEST_SQLSERVER"
# The variable with the URL of a PostgreSQL, for a superuser. Without it the tests start one and skip the heavy tests,
# because other tests cover those.
POSTGRES: Final = "QMON_TEST_POSTGRES"
KINDS: Final = tuple(FORMS)
# Forms that run only the tests marked ``each_form``: those that depend on the locking or the level of the database.
FEW: Final = KINDS[3:]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect ``heavy`` tests on our own PostgreSQL and ``once`` tests in the second form of SQL Server.

    The other forms run only ``each_form`` tests. Without a SQL Server, its tests are deselected.
    """
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
    again = again or (kind in FEW and item.get_closest_marker("each_form") is None)
    return again or (kind in KINDS and not os.environ.get(SQLSERVER))


@pytest.fixture(scope="session")
def postgres_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """Yield the server for databases of PostgreSQL."""
    yield from _tidy(os.environ.get(POSTGRES) or request.getfixturevalue("server").url("postgres"))


@pytest.fixture(scope="session")
def sqlserver_server() -> Iterator[Server]:
    """Yield the server for databases of SQL Server."""
    yield from _tidy(os.environ[SQLSERVER])


def _tidy(url: str) -> Iterator[Server]:
    found = Server(url)
    yield found
    found.sweep()


@pytest.fixture(params=KINDS)
def anywhere(request: pytest.FixtureRequest) -> Server:
    """Return each available server. SQL Server comes once for each form of database, see ``place``."""
    form = FORMS[request.param]
    found: Server = request.getfixturevalue(f"{form.engine}_server")
    if form.since and found.version < form.since:
        pytest.skip(f"{form.lacks}; this is version {found.version}")
    return found


@pytest.fixture
def place(anywhere: Server, request: pytest.FixtureRequest) -> Iterator[Place]:
    """Yield a fresh database of this form on each server."""
    with anywhere.database(FORMS[request.node.callspec.params["anywhere"]].options) as found:
        yield found


@pytest.fixture
def whole(request: pytest.FixtureRequest) -> bool:
    """Return whether a test runs with every design, instead of some of each kind."""
    return request.node.callspec.params["anywhere"] != "postgres" or bool(os.environ.get(POSTGRES))


@pytest.fixture
def operator(place: Place, tmp_path: Path) -> Operator:
    """Return an operator on the database of ``place``."""
    return Operator(place.context(tmp_path))


@pytest.fixture
def connection(place: Place) -> Iterator[Connection]:
    """Yield a connection to the database of ``place``."""
    with place.opened() as opened:
        yield opened
