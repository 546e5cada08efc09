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
from tests.contract.anywhere_server import FORMS, Server

# The variable that names a SQL Server, as the URL of a login that may do everything there: see docs/sql-server.md.
SQLSERVER: Final = "QMON_TEST_SQLSERVER"
# The variable that names a PostgreSQL, as that of a superuser; without it one is started, and what is heavy is left
# out: other tests have it.
POSTGRES: Final = "QMON_TEST_POSTGRES"
KINDS: Final = tuple(FORMS)
# Those that have only the tests marked ``each_form``: what depends on how the database locks, or on its level.
FEW: Final = KINDS[3:]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is ``heavy`` on our own PostgreSQL, what is ``once`` in the second kind of SQL Server, what is not
    for ``each_form`` in the others, and where there is no SQL Server its tests."""
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
    """Each server that there is; SQL Server comes once for each form of database, see ``place``."""
    form = FORMS[request.param]
    found: Server = request.getfixturevalue(f"{form.engine}_server")
    if form.since and found.version < form.since:
        pytest.skip(f"{form.lacks}; this is version {found.version}")
    return found


@pytest.fixture
def place(anywhere: Server, request: pytest.FixtureRequest) -> Iterator[Place]:
    """A fresh database of this form on each of them."""
    with anywhere.database(FORMS[request.node.callspec.params["anywhere"]].options) as found:
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
