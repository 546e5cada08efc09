"""Measures one design under load."""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from qmon.engines.base import Bound, Value
from qmon.model.layout.layout import Layout
from qmon.workload.bench import histogram
from qmon.workload.bench.bench_counters import (
    BenchCounters,
    BenchWaitSampler,
    growth,
    read_counters,
    server_counts_between,
    wait_until_sessions_end,
)
from qmon.workload.bench.bench_plan import BenchPlan, Case, producer_lead_limit
from qmon.workload.bench.bench_results import CaseResult, Latency
from qmon.workload.bench.bench_site import BenchSite
from qmon.workload.bench.load_sessions import SLICE_S, LoadSession, LoadSessions, Slice
from qmon.workload.bench.loops import make_empty_loop, make_loops

SAMPLE_EVERY_S: Final = 0.2

# Seconds for which empty loops are measured.
EMPTY_S: Final = 1.0
_SETTLE_S: Final = 0.2

# Called with the elapsed seconds and the recent number of cycles per second.
OnProgress = Callable[[float, float], None]


def measure_case(site: BenchSite, plan: BenchPlan, case: Case, layout: Layout, on_progress: OnProgress) -> CaseResult:
    """Load one newly installed queue and return the results.

    The loops begin with a warm-up, which rates and latencies do not include. Buffers and log are totals of the whole
    load, divided by the number of all its cycles. If a connection is lost, its error is raised.
    """
    loops = make_loops(site, layout, case)
    unit, ahead = producer_lead_limit(plan, case.batch, None if layout.ring is None else layout.ring.size)
    settings: dict[str, Value] = {
        "batch": case.batch,
        "unit": unit,
        "ahead": ahead,
        "bytes": plan.message_bytes,
    }
    warm = math.ceil(plan.warm_up_s / SLICE_S)
    count = warm + max(1, round(plan.seconds / SLICE_S))
    sampler = BenchWaitSampler(site)
    with _hold_transaction(site, layout) if case.held else contextlib.nullcontext():
        before = read_counters(site, layout, case.batch)
        with LoadSessions(site.connect_load, site.salvage_statement) as sessions:
            sessions.connect_sessions("producer", plan.producers, loops.push, settings)
            sessions.connect_sessions("consumer", plan.consumers, loops.pop, settings)
            _run_sessions(site, sessions, count, warm, on_progress, sampler)
            sessions.raise_broken()
        wait_until_sessions_end(site)
        after = read_counters(site, layout, case.batch)
    return _case_result(case, sessions, warm, count, before, after, sampler)


def measure_empty_loop_rate(site: BenchSite, plan: BenchPlan) -> float:
    """Return rounds per second of an empty loop, with as many sessions as the load has."""
    call = make_empty_loop(site)
    count = round(EMPTY_S / SLICE_S)
    with LoadSessions(site.connect_load, site.salvage_statement) as sessions:
        sessions.connect_sessions(
            "producer", plan.producers + plan.consumers, call, {"batch": 1, "unit": 16, "ahead": 1, "bytes": 1}
        )
        sessions.start(_read_clock(site) + _SETTLE_S, count)
        while sessions.is_working:
            threading.Event().wait(SAMPLE_EVERY_S)
        sessions.raise_broken()
    return _count_messages(sessions.producers, 1) / ((count - 1) * SLICE_S)


def _run_sessions(
    site: BenchSite, sessions: LoadSessions, count: int, warm: int, on_progress: OnProgress, sampler: BenchWaitSampler
) -> None:
    """Start the sessions, and observe the sessions until all have finished."""
    start_at = _read_clock(site) + _SETTLE_S
    sessions.start(start_at, count)
    pause = threading.Event()
    while sessions.is_working:
        pause.wait(SAMPLE_EVERY_S)
        now = _read_clock(site) - start_at
        if now > warm * SLICE_S and now < count * SLICE_S:
            sampler.take_sample()
        last = int(now / SLICE_S) - 2  # all sessions have finished this slice
        rate = sum(_count_in_slice(sessions.consumers, last - back) for back in range(2)) / (2 * SLICE_S)
        on_progress(min(max(0.0, now), count * SLICE_S), rate)


@contextlib.contextmanager
def _hold_transaction(site: BenchSite, layout: Layout) -> Iterator[None]:
    """Keep a transaction open for the whole block."""
    with contextlib.closing(site.connect_load("holder")) as connection, connection.transaction():
        connection.fetch(Bound(site.statement_with("hold", {"table": layout.table.parts})))
        yield


def _read_clock(site: BenchSite) -> float:
    ((at,),) = site.fetch_rows("clock")
    return float(str(at))


def _slices_from(sessions: Iterable[LoadSession], first: int) -> list[Slice]:
    return [each for session in sessions for each in tuple(session.slices) if each.number >= first]


def _count_messages(sessions: Iterable[LoadSession], first: int) -> int:
    return sum(each.messages for each in _slices_from(sessions, first))


def _count_in_slice(sessions: Iterable[LoadSession], number: int) -> int:
    """Return the number of messages in one slice, summed over the sessions that have finished this slice."""
    return sum(each.messages for session in sessions for each in tuple(session.slices[-8:]) if each.number == number)


def _latency_for(histograms: Iterable[Sequence[int]]) -> Latency | None:
    counts = histogram.add_histograms(histograms)
    p50, p99 = histogram.percentile(counts, 0.5), histogram.percentile(counts, 0.99)
    return None if p50 is None or p99 is None else Latency(p50, p99)


def _case_result(
    case: Case,
    sessions: LoadSessions,
    warm: int,
    count: int,
    before: BenchCounters,
    after: BenchCounters,
    sampler: BenchWaitSampler,
) -> CaseResult:
    pushes, pops = _slices_from(sessions.producers, warm), _slices_from(sessions.consumers, warm)
    seconds = (count - warm) * SLICE_S
    cycles = _count_messages(sessions.consumers, 0)
    per_slice = [0] * (count - warm)
    for each in pops:
        per_slice[each.number - warm] += each.messages
    updated, buffers = growth(before.updated, after.updated), growth(before.reads.total, after.reads.total)
    wal, hot, deadlocks = (growth(getattr(before, name), getattr(after, name)) for name in ("wal", "hot", "deadlocks"))
    vacuums = growth(before.vacuums, after.vacuums)
    complaints = [each.last_error for each in sessions.all_sessions if each.last_error]
    return CaseResult(
        case,
        seconds,
        cycles_per_s=sum(per_slice) / seconds,
        pushed_per_s=sum(each.messages for each in pushes) / seconds,
        push=_latency_for(each.spent for each in pushes),
        pop=_latency_for(each.spent for each in pops),
        complete=_latency_for(each.completed for each in pops),
        buffers_per_cycle=None if buffers is None or not cycles else buffers / cycles,
        wal_per_cycle=None if wal is None or not cycles else wal / cycles,
        waits=sampler.top_waits(),
        samples=sampler.sample_count,
        dead_rows=after.dead,
        hot_share=hot / updated if updated and hot is not None else None,
        vacuums=None if vacuums is None else int(vacuums),
        bytes=after.bytes,
        deadlocks=None if deadlocks is None else int(deadlocks),
        missed=sum(each.missed for each in (*pushes, *pops)),
        errors=sum(each.errors for each in sessions.all_sessions),
        last_error=complaints[-1] if complaints else "",
        timeline=tuple(number / SLICE_S for number in per_slice),
        slice_s=SLICE_S,
        server=server_counts_between(before, after, cycles),
    )
