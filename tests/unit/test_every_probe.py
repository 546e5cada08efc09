"""Doctor, status and polls give each probe exactly the values it takes: every engine, version and edition."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest

from qmon.engines.base import Bound, Connection, Engine, Rows, Session, Target, ordered_values
from qmon.engines.postgres.postgres_engine import Postgres
from qmon.engines.sql import queries
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.model.layout.layout import Layout
from qmon.model.layout.table_facts import TableFacts
from qmon.model.probe_table import TARGET_PROBES
from qmon.monitor import one_shot, probe_checks
from qmon.monitor.background.slow_reads import SlowReads
from qmon.monitor.catalog.resolve import Resolved
from qmon.monitor.poll.collector import Collector
from qmon.monitor.source import ReadScope
from tests.polled import queue
from tests.replayed import VERSIONS as SQLSERVER
from tests.replayed import Driver, connection, steady
from tests.unit.sqlserver_queues import FACTS, LAYOUTS

POSTGRES: Final = tuple((version, 0) for version in (13, 14, 15, 16, 17, 18))
SERVERS: Final[tuple[tuple[Engine, tuple[int, int]], ...]] = (
    *((Postgres(), version) for version in POSTGRES),
    *((SqlServer(), version) for version in SQLSERVER),
)
SERVER: Final[dict[str, object]] = {
    "now_at": 1.75e9,
    "started_at": 1.7e9,
    "sessions": 3,
    "in_recovery": False,
    "sees_sessions": True,
    "untracked": 0,
    "counts": True,
    "role": "me",
    "replay_paused": False,
    "readable": True,
    "kept": True,
    "operations": True,
    "read_at": 1.75e9,
    "why": "",
    "home": "public",
    "counted": 0,
}
ONE_ROW: Final = frozenset(
    f"probe/{name}"
    for name in ("server", "clock", "pauses_known", "plan_history", "in_state", "scheduled", "scheduled_state")
)
LOCKED: Final[dict[str, object]] = {"kind": "Lock", "event": "relation", "sessions": 2}


class Answering:
    """A connection to PostgreSQL that checks each statement's values and answers with few rows."""

    session_id, is_pooled, commits = 61, False, 0

    def __init__(self, version: tuple[int, int]) -> None:
        self.version = version
        self.asked: list[str] = []

    def fetch(self, bound: Bound) -> Rows:
        ordered_values(bound, nul_allowed=False)
        name, columns = bound.statement.name, bound.statement.columns
        self.asked.append(name)
        if name == "probe/waits":
            return Rows(columns, (tuple(LOCKED[each] for each in columns),))
        return Rows(columns, (tuple(SERVER.get(each) for each in columns),) if name in ONE_ROW else ())

    def fetch_batch(self, bounds: Sequence[Bound]) -> list[Rows]:
        return [self.fetch(each) for each in bounds]

    def fetch_list(self, bounds: Sequence[Bound], asked: Sequence[bool]) -> list[Rows | None]:
        return [self.fetch(each) if wanted else None for each, wanted in zip(bounds, asked, strict=True)]

    def set_up_session(self, bound: Bound) -> None:
        ordered_values(bound, nul_allowed=False)

    def limit_statements(self, statement_s: float) -> None: ...

    def execute(self, bound: Bound) -> int:
        raise AssertionError(f"{bound.statement.name} changes something")

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        yield

    def cancel(self) -> None: ...

    def abandon(self) -> None: ...

    def close(self) -> None: ...


def rows_of(name: str, columns: Any, poll: int) -> Sequence[tuple[object, ...]]:
    """Typed rows of SQL Server; a session waits for a lock."""
    if name == "probe/waits":
        return [tuple(LOCKED[each] for each, _ in columns)]
    return steady(name, columns, poll)


def server(engine: Engine, version: tuple[int, int]) -> tuple[Connection, list[str]]:
    """A connection to such a server, and the names of the statements that it was asked."""
    if engine.name == "postgres":
        answering = Answering(version)
        return answering, answering.asked
    driver = Driver(rows_of)
    return connection(driver, version), driver.asked


def queues() -> Resolved:
    """Queues of several designs, with every index, and the facts about them."""
    named: dict[str, tuple[Layout, TableFacts]] = {each.queue: (each, FACTS[each.queue]) for each in LAYOUTS}
    named |= {layout.queue: (layout, facts) for layout, facts in (queue(1, "fifo"), queue(2, "status"))}
    return Resolved(tuple(layout for layout, _ in named.values()), {name: facts for name, (_, facts) in named.items()})


every = pytest.mark.parametrize(("engine", "version"), SERVERS, ids=lambda each: str(getattr(each, "name", each)))


@every
def test_the_doctor_gives_each_probe_its_values(
    engine: Engine, version: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    at, asked = server(engine, version)
    monkeypatch.setattr(probe_checks, "resolve_queues", lambda *_: queues())
    checks = probe_checks.run_checkup(at, engine, ()).checks
    # checks in brackets are findings, such as a security policy, and no probe has failed
    assert not [each for each in checks if each.problem and not each.probe.startswith("(")]
    there = {f"probe/{name}" for name, probe in TARGET_PROBES.items() if not probe.only_if}
    assert {name for name in there if queries.has_query(engine.name, name, version)} <= set(asked)


@every
@pytest.mark.parametrize("blocking", [True, False], ids=["shown", "not shown"])
def test_polls_give_each_probe_its_values(engine: Engine, version: tuple[int, int], blocking: bool) -> None:
    at, asked = server(engine, version)
    now = 0.0
    slow = SlowReads(engine, lambda session: at, lambda: now)
    collector = Collector("shop", engine, at, slow, lambda: now)
    collector.watch_queues(queues())
    for layout in queues().layouts * 2:
        now += 700.0
        collector.collect(int(now), 2.0, ReadScope(rows_of=layout.queue, blocking=blocking, closely=True))
    assert {"probe/blocking", "probe/clients", "probe/waits"} <= set(asked)


@every
def test_status_gives_each_probe_its_values(
    engine: Engine, version: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(_: object, target: Target, session: Session) -> Connection:
        return server(engine, version)[0]

    monkeypatch.setattr(type(engine), "connect", connect)
    monkeypatch.setattr("qmon.monitor.open.resolve_queues", lambda *_, **__: queues())
    view = one_shot.view_over(Target("shop", engine.name, {}), over_s=0.0)
    assert {each.layout.queue for each in view.queues} == set(queues().facts)
    assert view.server.blocking is not None
