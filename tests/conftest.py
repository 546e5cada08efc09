"""Fixtures for all tests: a real PostgreSQL, started once, and a fresh database on it for each test that asks."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from qmon.demo.server import EmbeddedServer


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedServer]:
    """One server for the whole run, with pg_stat_statements preloaded and the times of commits kept.

    It is shared: a test that kills, freezes or reconfigures a server starts one of its own.
    """
    settings = {"shared_preload_libraries": "pg_stat_statements", "max_connections": "200"}
    settings["track_commit_timestamp"] = "on"  # the order of commits is what tests of order compare with
    with EmbeddedServer(settings=settings) as running:
        yield running


@pytest.fixture
def database(server: EmbeddedServer) -> Iterator[str]:
    """The URL of a fresh, empty database; dropped afterwards, whoever is still connected to it."""
    name = f"test_{secrets.token_hex(6)}"
    server.create_database(name)
    yield server.url(name)
    server.drop_database(name)
