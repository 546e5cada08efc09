"""Lock chains of many sessions, polled repeatedly: every edge is right, and the duration of a poll is measured."""

from __future__ import annotations

import random
import statistics
import time
from typing import Final

from qmon.demo.embedded_server import EmbeddedServer
from qmon.engines.registry import engine_for
from qmon.engines.result_records import to_records
from qmon.model.samples.polled_samples import BlockingSample
from qmon.model.waits.lock_chains import build_lock_chains
from qmon.monitor.probes.probe_statements import StatementCache
from tests.contract.sessions import open_sessions, stand
from tests.contract.watching import connect, target_of
from tests.facts import query, wait_until

_POLLS: Final = 20


def stood(count: int) -> str:
    """Build one tree with one or two blockers per session, and one line for a single row.

    Return the duration of the polls.
    """
    settings = {"max_connections": str(count + 40), "deadlock_timeout": "10min", "fsync": "off"}
    with EmbeddedServer(settings=settings) as server:
        url = server.url()
        return f"{_tree(url, count)}\n{_line(url, count)}"


def _tree(url: str, count: int) -> str:
    chance = random.Random(count)
    blockers = {n: sorted(chance.sample(range(n), min(n, chance.choice((1, 1, 2))))) for n in range(count)}
    with open_sessions(url) as s:
        stand(s, blockers)
        waiting = sum(1 for held in blockers.values() if held)
        wait_until(lambda: _waits(url) == waiting, what="all wait")
        rows, told = _polled(url)
        found = build_lock_chains(rows)
        for number, held in blockers.items():
            place = found.find_line((s.pids[str(number)], ""))
            assert place is not None or not held, f"{number} is not in the tree"
            if place is not None:
                assert {pid for pid, _ in place.blockers} == {s.pids[str(n)] for n in held}
        return f"tree of {count}: {len(found.places)} lines, {told}"


def _line(url: str, count: int) -> str:
    query(url, "CREATE TABLE one (i int); INSERT INTO one VALUES (1)")
    with open_sessions(url) as s:
        s.open("holder", "SELECT * FROM one FOR UPDATE")
        for n in range(1, count):
            s.open(str(n))
            s.go(str(n), "SELECT * FROM one FOR UPDATE")
        wait_until(lambda: _waits(url) == count - 1, what="all wait")
        rows, told = _polled(url)
        found = build_lock_chains(rows)
        assert [head.session.session for head in found.heads] == [s.pids["holder"]]
        assert found.heads[0].blocks == count - 1
        return f"line of {count}: {len(found.places)} lines, {told}"


def _waits(url: str) -> object:
    return query(url, "SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted")[0][0]


def _polled(url: str) -> tuple[list[BlockingSample], str]:
    connection = connect(url)
    try:
        job = StatementCache(engine_for(target_of(url)), connection.version).statement_for(
            "blocking", {"limit": 200, "chars": 1000}
        )
        rows: list[BlockingSample] = []
        asked, drawn = [], []
        for _ in range(_POLLS):
            began = time.perf_counter()
            rows = to_records(BlockingSample, connection.fetch(job.bound))
            asked.append(time.perf_counter() - began)
            began = time.perf_counter()
            build_lock_chains(rows)
            drawn.append(time.perf_counter() - began)
        return (
            rows,
            f"asked in {statistics.median(asked) * 1000:.1f} ms, arranged in {statistics.median(drawn) * 1000:.1f} ms",
        )
    finally:
        connection.close()
