"""Probe cost: server time of a poll of twelve queues, at any depth and with any number of dead rows."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from statistics import median

from qmon.model.layout.layout import Layout
from tests.benchmarks.queues import bench_server, bench_target, install_queues, middle, polled
from tests.benchmarks.results import Bound, Part
from tests.facts import connected

FLAT = 1.2
MOST_MS = 10.0
CHEAPER = 50.0


def run(*, quick: bool = False) -> Part:
    """Use 10 k, 1 M and 5 M rows in each of the twelve queues; then 500 k dead rows in each under a pinned horizon."""
    depths = (1_000, 10_000, 50_000) if quick else (10_000, 1_000_000, 5_000_000)
    dead = 20_000 if quick else 500_000
    polls = 8 if quick else 30
    part = Part("probe cost", {"queues": 12, "polls": polls, "interval_s": 1.0})
    costs: dict[int, float] = {}
    naive_ms: dict[int, float] = {}
    for depth in depths:
        with bench_server() as server:
            target = bench_target(server.url())
            layouts = install_queues(target)
            _fill(server.url(), layouts, depth)
            snapshots = polled(target, polls)
            costs[depth] = middle(snapshots)
            naive_ms[depth] = _grouped(server.url(), layouts)
            anchors = _anchors(server.url())
        part.rows.append(_row(f"{depth:,} ready each", costs[depth], naive_ms[depth], anchors))
    with bench_server() as server:
        target = bench_target(server.url())
        layouts = install_queues(target)
        _fill(server.url(), layouts, depths[0] + dead)
        with connected(server.url(), autocommit=False) as pin:
            pin.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            pin.execute("SELECT count(*) FROM pg_class").fetchall()
            _kill_rows(server.url(), layouts, dead)
            pinned = middle(polled(target, polls))
            grouped = _grouped(server.url(), layouts)
            anchors = _anchors(server.url())
    part.rows.append(_row(f"{depths[0]:,} ready, {dead:,} dead each, horizon pinned", pinned, grouped, anchors))
    small, million = costs[depths[0]], costs[depths[1]]
    worst = max(*costs.values(), pinned)
    part.bounds = [
        Bound("dearest poll over the poll at the least depth", worst / small, FLAT),
        Bound("dearest poll, ms of server time", worst, MOST_MS),
        Bound(
            "GROUP BY of all queues over one poll, second depth", naive_ms[depths[1]] / million, CHEAPER, at_most=False
        ),
    ]
    return part


def _row(what: str, poll_ms: float, grouped_ms: float, anchors: tuple[int, float]) -> dict[str, object]:
    return {
        "tables": what,
        "poll ms (server, median)": poll_ms,
        "GROUP BY of all queues ms": grouped_ms,
        "ratio": grouped_ms / poll_ms,
        "exact counts": anchors[0],
        "exact counts ms each": anchors[1],
        "exact counts ms per minute at most": min(300.0, anchors[1] * 12),
    }


def _fill(url: str, layouts: list[Layout], rows: int) -> None:
    """Put this many ready messages into each queue, two queues at a time; rings get as many as they can hold."""

    def fill(layout: Layout) -> None:
        table = f'bench."{layout.table.name}"'
        with connected(url) as connection:
            series = f"FROM generate_series(1, {rows}) AS n"
            if layout.ring is not None:
                push = f'bench."{layout.queue}_push"'
                connection.execute(
                    f"SELECT count({push}('x', 0)) FROM generate_series(1, {min(rows, 10_000)})"
                ).fetchall()
            elif layout.design == "naive":
                push = f"nextval('bench.\"{layout.queue}_seq\"')"
                connection.execute(f"INSERT INTO {table} (message_id, message) SELECT {push}, 'x' {series}")
            elif layout.data_table is not None:
                push = f'bench."{layout.queue}_push"'
                _split(connection, layout, rows)
            else:
                connection.execute(f"INSERT INTO {table} ({layout.payload}) SELECT 'x'::bytea {series}")
            connection.execute(f"VACUUM ANALYZE {table}")

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(fill, layouts))


def _split(connection: object, layout: Layout, rows: int) -> None:
    table, data = f'bench."{layout.table.name}"', f'bench."{layout.data_table.name}"' if layout.data_table else ""
    execute = connection.execute  # type: ignore[attr-defined]
    made = f"INSERT INTO {table} (title) SELECT 'x' FROM generate_series(1, {rows}) RETURNING {layout.id} AS id"
    execute(f"WITH m AS ({made}) INSERT INTO {data} ({layout.data_id}, text_data) SELECT id, 'x' FROM m")


def _kill_rows(url: str, layouts: list[Layout], rows: int) -> None:
    """Pop and complete this many of the oldest messages at once. They stay as dead rows while the horizon is pinned."""
    with connected(url) as connection:
        for layout in layouts:
            if layout.ring is None:
                table = f'bench."{layout.table.name}"'
                if layout.state is not None and layout.state.done is not None:
                    done = f"SET {layout.state.column} = {layout.state.done}"
                    connection.execute(f"UPDATE {table} {done} WHERE {layout.id} <= {rows}")
                else:
                    connection.execute(f"DELETE FROM {table} WHERE {layout.id} <= {rows}")


def _grouped(url: str, layouts: list[Layout]) -> float:
    """Return the milliseconds of SELECT state, count(*) … GROUP BY over all queues: the median of three rounds."""
    rounds = []
    with connected(url) as connection:
        for _ in range(3):
            began = time.perf_counter()
            for layout in layouts:
                state = layout.state.column if layout.state is not None else "1"
                state = layout.ring.reference_count if layout.ring is not None else state
                connection.execute(f'SELECT {state}, count(*) FROM bench."{layout.table.name}" GROUP BY 1').fetchall()
            rounds.append((time.perf_counter() - began) * 1000)
    return median(rounds)


def _anchors(url: str) -> tuple[int, float]:
    """Return the number of exact counts qmon made since, and the server time of each in milliseconds."""
    with connected(url) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        count, total = connection.execute(
            "SELECT coalesce(sum(calls), 0)::int, coalesce(sum(total_exec_time), 0)::float8 "
            "FROM pg_stat_statements WHERE query LIKE '%AS counted_at%'"
        ).fetchone()
        return count, total / count if count else 0.0
