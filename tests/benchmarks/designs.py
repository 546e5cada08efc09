"""Designs: ``qmon design bench`` on its own server with durable commits, compared with the figures of the articles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median
from typing import Any, Final

from qmon.demo.embedded_server import EmbeddedServer
from qmon.engines.base import Target
from qmon.engines.registry import engine_named
from qmon.operate.install.install_queue import available_designs, install_trial
from qmon.workload.bench.bench_plan import DEQUEUE_DESIGNS, REFERENCE, BenchPlan, Part, choose_designs
from qmon.workload.bench.bench_results import BenchResults, CaseResult, Latency
from qmon.workload.bench.bench_site import new_schema_name
from qmon.workload.bench.dequeue_part import ARTICLE_READS
from qmon.workload.bench.run_bench import run_bench
from tests.benchmarks.queues import bench_target
from tests.benchmarks.results import Bound
from tests.benchmarks.results import Part as Found
from tests.facts import known

# Slots: a lap must take longer than the held transaction, so that no slot collects old versions to skip.
RING: Final = 100_000
# Half a million operations a minute (Rusanu).
FLAG_PER_S: Final = 8_400.0
# Messages in and out per second (Kejser).
HEADLINE_PER_S: Final = 90_000.0
_CURVE: Final = (1, 2, 4, 8, 16, 32, 64)
_NOT_DURABLE: Final = {"synchronous_commit": "off"}


def _server(**settings: str) -> EmbeddedServer:
    """Durable commits, memory for all tables, and an autovacuum run every five seconds."""
    base = {"shared_buffers": "1GB", "max_wal_size": "8GB", "autovacuum_naptime": "5s", "max_connections": "300"}
    return EmbeddedServer(settings=base | settings)


def _bench(target: Target, plan: BenchPlan, times: int = 1) -> list[BenchResults]:
    return [run_bench(target, plan, new_schema_name(), install_trial) for _ in range(times)]


def run(*, quick: bool = False) -> Found:
    """Run all designs without faults.

    Then ring and naive for a minute with a transaction held open, and without durable commits; flag with a rising
    number of sessions; batches of 100.
    """
    seconds, minute, times = (0.5, 1.0, 1) if quick else (10.0, 60.0, 3)
    plan = BenchPlan(
        choose_designs((), available_designs(engine_named("postgres"))),
        seconds=seconds,
        batches=(1,),
        ring_size=RING,
        parts=(Part.HEALTHY,),
    )
    pair = replace(plan, designs=(REFERENCE, "ring"))
    part = Found("designs", {"sessions": "8 + 8", "message_bytes": plan.message_bytes, "ring_slots": RING})
    with _server() as server:
        target = bench_target(server.url())
        part.rows += _rows("durable", _bench(target, plan))
        healthy = _bench(target, pair, times)
        part.rows += _rows("durable, again", healthy)
        held = _bench(target, replace(pair, seconds=minute, parts=(Part.OPEN_TRANSACTION,)))
        part.rows += _rows("a transaction held open", held)
        curve = [
            report
            for sessions in _CURVE[: 3 if quick else None]
            for report in _bench(target, replace(plan, designs=("flag",), producers=sessions, consumers=sessions))
        ]
        part.rows += _rows("durable", curve)
        many = replace(plan, designs=tuple(d for d in plan.designs if not d.startswith("ring")), batches=(100,))
        batches = _bench(target, many)
        part.rows += _rows("durable", batches)
    with _server(**_NOT_DURABLE) as server:
        relaxed = _bench(bench_target(server.url()), pair, times)
        part.rows += _rows("synchronous_commit off", relaxed)
    ring, alive = _rate(held, "ring"), _rate(healthy, "ring")
    relaxed_ratio = _rate(relaxed, "ring") / _rate(relaxed, REFERENCE)
    part.conditions |= healthy[0].conditions.settings
    part.bounds = [
        Bound("ring over naive, a transaction held open", ring / _rate(held, REFERENCE), 5.0, at_most=False),
        Bound("ring, a transaction held open, over its own healthy rate", ring / alive, 0.8, at_most=False),
        Bound("flag, most cycles per second", max(map(_best, curve)), FLAG_PER_S, at_most=False),
        Bound("messages per second in batches of 100", max(map(_best, batches)), HEADLINE_PER_S, at_most=False),
        Bound("ring over naive, synchronous_commit off", relaxed_ratio, 1.5, at_most=False),
    ]
    return part


def run_dequeue(*, quick: bool = False) -> Found:
    """Measure the reads of one batch: 40,000 messages with payloads up to 16 KB, popped until the queue is empty."""
    plan = BenchPlan(DEQUEUE_DESIGNS, parts=(Part.DEQUEUE,), rows=1_000 if quick else 40_000)
    part = Found("dequeue", {"rows": plan.rows, "payload_bytes": plan.payload_bytes})
    with _server() as server:
        (report,) = _bench(bench_target(server.url()), plan)
    for each in report.dequeues:
        batch, reads, lob = ARTICLE_READS[each.design]
        part.rows.append(
            {
                "design": each.design,
                "batch": each.batch,
                "buffers": each.whole.total,
                "tables": each.whole.table,
                "indexes": each.whole.index,
                "payloads": each.whole.payload,
                "of the first batches": each.first.total,
                "buffers a message": known(each.whole.total) / each.batch,
                "ms": each.mean_ms,
                "article": f"{reads} + {lob} LOB, batch of {batch}",
                "article, a message": (reads + lob) / batch,
            }
        )
    reads_of = {(each.design, each.batch): known(each.whole.total) for each in report.dequeues}
    as_published = (reads_of["batch_fast", 100] / 100) / (reads_of["batch_single", 10] / 10)
    tens = reads_of["batch_fast", 10] / reads_of["batch_single", 10]
    part.bounds = [
        Bound("batch_fast over batch_single, batches of 10", tens, 1 / 3),
        Bound("batch_fast of 100 over batch_single of 10, a message, as the article has them", as_published, 1 / 3),
    ]
    return part


def _rows(conditions: str, reports: Sequence[BenchResults]) -> list[dict[str, Any]]:
    return [
        {
            "load": conditions,
            "design": each.case.design,
            "sessions": f"{report.plan.producers}+{report.plan.consumers}",
            "batch": each.case.batch,
            "cycles/s": each.cycles_per_s,
            "× naive": report.ratio(each) or "–",
            "push ms": _ms(each.push),
            "pop ms": _ms(each.pop),
            "buffers": each.buffers_per_cycle or 0.0,
            "log bytes": each.wal_per_cycle or 0.0,
            "dead": each.dead_rows,
            "HOT": "–" if each.hot_share is None else f"{each.hot_share:.0%}",
            "deadlocks": each.deadlocks,
            "waits": ", ".join(f"{wait.name} {wait.share:.0%}" for wait in each.waits[:3]),
        }
        for report in reports
        for each in report.outcomes
    ]


def _rate(reports: Sequence[BenchResults], design: str) -> float:
    return median(_each(reports, lambda each: each.case.design == design))


def _best(report: BenchResults) -> float:
    return max(_each([report], lambda _: True))


def _each(reports: Sequence[BenchResults], wanted: Callable[[CaseResult], bool]) -> list[float]:
    return [each.cycles_per_s for report in reports for each in report.outcomes if wanted(each)]


def _ms(latency: Latency | None) -> str:
    return "–" if latency is None else f"{latency.p50_ms:.2f}/{latency.p99_ms:.1f}"
