"""A pytest plug-in for ``make sqlserver``: reports the servers that the contract ran on, and the SQL files run there.

Each server must have run every SQL file for its version at least once, except those it cannot use. A run with ``-k
sqlserver`` or ``-k postgres`` alone is a complete run, which fails if a file was not run. SIGTERM and SIGHUP end the
run as ctrl-c does: everything it has made is dropped.
"""

from __future__ import annotations

import re
import signal
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final
from weakref import WeakKeyDictionary

import pytest

from qmon.engines.base import Bound, EngineName
from qmon.engines.odbc import OdbcConnection
from qmon.engines.postgres.postgres_engine import Postgres
from qmon.engines.sql import queries
from qmon.engines.sqlserver.sqlserver_engine import SqlServer

Version = tuple[int, int]

# Names, or prefixes of names, of files that no contract test runs, with the reason or the place that uses them.
SPARED: Final[dict[EngineName, dict[str, str]]] = {
    "postgres": {
        "action/bench/": "qmon design bench has tests of its own",
        "action/operate/still_at": "rows without a key have tests of their own",
        "action/pause/attempt": "it is refused, as it should be",
        "action/pause/gate_trigger_rows": "partitions have tests of their own",
        "action/repair/repair": "full rings have tests of their own",
        "action/sessions/cancel": "only what is running is cancelled",
        "catalog/own_process": "behind a pooler",
        "catalog/unset": "behind a pooler",
        "control/create_schema": "for the demo",
        "control/grant_table": "shown, and run by the DBA",
        "control/index_": "shown, and run by the DBA",
        "library/": "libraries have tests with workers of their own",
        "probe/group_": "the same",
        "probe/newest_id": "on a standby",
    },
    "sqlserver": {
        "action/pause/attempt": "it is refused, as it should be",
        "catalog/columns_plain": "on a server that only speaks like SQL Server",
        "catalog/indexes_plain": "on a server that only speaks like SQL Server",
        "catalog/tables_plain": "on a server that only speaks like SQL Server",
        "control/grant_table": "shown, and run by the DBA",
        "control/index_": "shown, and run by the DBA",
        "probe/group_": "libraries have tests of their own, on PostgreSQL",
        "probe/replica": "on a readable secondary",
    },
}

# By engine and version: the names of the statements that a server has run without an error.
SENT: Final[defaultdict[tuple[EngineName, Version], set[str]]] = defaultdict(set)
# The header of each statement; see `sql/README.md`.
_HEAD: Final = re.compile(r"/\* qmon (\S+) \*/")
_engines: Final[WeakKeyDictionary[OdbcConnection, EngineName]] = WeakKeyDictionary()
_first: Final[WeakKeyDictionary[OdbcConnection, set[str]]] = WeakKeyDictionary()


def left_out(engine: EngineName, version: Version, sent: Iterable[str]) -> list[str]:
    """Return the names of files for this version that should have run but did not."""
    wanted = {file.name for file in queries.all_files() if file.engine == engine and file.since <= version[0]}
    spared = tuple(SPARED[engine])
    return sorted(name for name in wanted - set(sent) if not name.startswith(spared))


def chosen(engine: EngineName, version: Version, sent: Iterable[str]) -> list[str]:
    """Return the paths of the ``since_`` files that were run."""
    names = set(sent)
    newest: dict[str, tuple[int, str]] = {}
    for file in queries.all_files():
        if file.engine == engine and file.since <= version[0] and file.name in names:
            newest[file.name] = max(newest.get(file.name, (0, "")), (file.since, file.path))
    return sorted(path for since, path in newest.values() if since)


def _note(connection: OdbcConnection, bounds: Sequence[Bound]) -> None:
    names = {name for bound in bounds for name in _HEAD.findall(bound.statement.text)}
    engine = _engines.get(connection)
    if engine is None:  # still connecting, so its version is not known yet
        _first.setdefault(connection, set()).update(names)
    else:
        SENT[engine, connection.version] |= names


@contextmanager
def noted() -> Iterator[None]:
    """Record everything that qmon's connections run in this process during the block."""
    with pytest.MonkeyPatch.context() as patch:
        for engine in (Postgres, SqlServer):
            patch.setattr(engine, "connect", _known(engine.connect))
        for name in ("fetch", "execute", "set_up_session"):
            patch.setattr(OdbcConnection, name, _one(getattr(OdbcConnection, name)))
        patch.setattr(OdbcConnection, "fetch_batch", _many(OdbcConnection.fetch_batch))
        yield


def _known(connect: Callable[..., OdbcConnection]) -> Callable[..., OdbcConnection]:
    def connected(self: Postgres | SqlServer, *given: Any) -> OdbcConnection:
        connection = connect(self, *given)
        _engines[connection] = self.name
        SENT[self.name, connection.version] |= _first.pop(connection, set())
        return connection

    return connected


def _one(run: Callable[..., Any]) -> Callable[..., Any]:
    def ran(self: OdbcConnection, bound: Bound) -> Any:
        out = run(self, bound)
        _note(self, [bound])
        return out

    return ran


def _many(run: Callable[..., Any]) -> Callable[..., Any]:
    def ran(self: OdbcConnection, bounds: Sequence[Bound]) -> Any:
        out = run(self, bounds)
        _note(self, bounds)
        return out

    return ran


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Iterator[None]:
    """Record the statements that run. A complete run fails if it leaves out a file."""
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def end(number: int, frame: object) -> None:
        """Stop once, ignoring signals in the clean-up. If the driver swallows the exception, stop after this test."""
        session.shouldstop = f"ended by {signal.Signals(number).name}"
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    for each in signals:
        signal.signal(each, end)
    with noted():
        result = yield
    if _whole(session.config) and any(left_out(*server, sent) for server, sent in SENT.items()):
        session.testsfailed += 1
    return result


def _whole(config: pytest.Config) -> bool:
    """Return whether all tests of one engine were requested."""
    return config.getoption("keyword") in queries.ENGINES


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the report, server by server."""
    for (engine, version), sent in SENT.items():
        later = chosen(engine, version, sent)
        names = {file.name for file in queries.all_files() if file.engine == engine} & sent
        terminalreporter.section(f"{engine} {version[0]}.{version[1]}")
        terminalreporter.write_line(f"{len(names)} SQL files were run, {len(later)} of them for versions from some on")
        for beginning, why in SPARED[engine].items():
            terminalreporter.write_line(f"  not run: {beginning}{'…' if beginning[-1] in '/_' else ''}: {why}")
        for name in left_out(engine, version, sent) if _whole(config) else ():
            terminalreporter.write_line(f"  NOT RUN: {name}", red=True)
