"""Repeats an article's comparison of batch dequeues: the pages that one batch reads, without other load."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Final

from qmon.engines.base import Bound
from qmon.model.layout.layout import Layout
from qmon.workload.bench.bench_counters import BenchCounters, growth, read_counters, wait_until_sessions_end
from qmon.workload.bench.bench_plan import BenchPlan
from qmon.workload.bench.bench_results import Dequeue, Reads
from qmon.workload.bench.bench_site import BenchSite
from qmon.workload.bench.loops import routine_or_type

# Batch, logical reads and LOB logical reads in the article (Al Zabir 2010, SQL Server; 40,000 rows, 500 MB).
ARTICLE_READS: Final[dict[str, tuple[int, int, int]]] = {
    "batch_single": (10, 1695, 675),
    "batch_split": (10, 1546, 380),
    "batch_fast": (100, 553, 56),
}

_FIRST_BATCHES: Final = 20
_FILL_ROWS: Final = 200

# Called with the share of the run that is finished (0 to 1).
OnProgress = Callable[[float], None]


def measure_dequeue(
    site: BenchSite, plan: BenchPlan, design: str, batch: int, layout: Layout, on_progress: OnProgress
) -> Dequeue:
    """Fill a newly installed queue, then pop all messages in batches, with one session after another.

    Payloads are read completely. As in the article, popped messages stay in the table and are not archived.
    """
    _fill_queue(site, plan, layout, on_progress)
    before = read_counters(site, layout, batch)
    firsts = _pop_batches(site, layout, batch, _FIRST_BATCHES)
    middle = read_counters(site, layout, batch)
    began = time.perf_counter()
    rest = _pop_batches(
        site, layout, batch, None, lambda done: on_progress(0.5 + min(plan.rows, firsts * batch + done) / plan.rows / 2)
    )
    spent = time.perf_counter() - began
    after = read_counters(site, layout, batch)
    return Dequeue(
        design,
        batch,
        plan.rows,
        first=_reads_per_batch(before, middle, firsts),
        whole=_reads_per_batch(before, after, firsts + rest),
        batches=firsts + rest,
        mean_ms=spent * 1000 / rest if rest else 0.0,
    )


def _fill_queue(site: BenchSite, plan: BenchPlan, layout: Layout, on_progress: OnProgress) -> None:
    bound = site.statement_with("fill", {slot: routine_or_type(layout, slot) for slot in ("push_batch", "messages")})
    with contextlib.closing(site.connect_load("load fill")) as connection:
        done = 0
        while done < plan.rows:
            rows = min(_FILL_ROWS, plan.rows - done)
            connection.fetch(Bound(bound, {"rows": rows, "bytes": plan.payload_bytes}))
            done += rows
            on_progress(done / plan.rows / 2)
    wait_until_sessions_end(site)


def _pop_batches(
    site: BenchSite, layout: Layout, batch: int, max_batches: int | None, on_progress: OnProgress | None = None
) -> int:
    """Pop ``max_batches`` batches, or all batches, in a separate session. Return the number of batches."""
    statement = site.statement_with("dequeue", {"pop_batch": routine_or_type(layout, "pop_batch")})
    batches = messages = 0
    with contextlib.closing(site.connect_load("load dequeue")) as connection:
        while max_batches is None or batches < max_batches:
            found = len(connection.fetch(Bound(statement, {"limit": batch})).rows)
            if not found:
                break
            batches += 1
            messages += found
            if on_progress is not None:
                on_progress(messages)
    wait_until_sessions_end(site)
    return batches


def _reads_per_batch(before: BenchCounters, after: BenchCounters, batches: int) -> Reads:
    def mean_reads(name: str) -> float | None:
        found = growth(getattr(before.reads, name), getattr(after.reads, name))
        return None if found is None else found / max(1, batches)

    return Reads(mean_reads("total"), mean_reads("table"), mean_reads("index"), mean_reads("payload"))
