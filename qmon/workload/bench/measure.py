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
from qmon.workload.bench.cases import BenchPlan, Case, gate
from qmon.workload.bench.loops import empty_loop, make_loops
from qmon.workload.bench.readings import (
    BenchWaitSampler,
    Counters,
    counters,
    moved,
    server_counts,
    wait_until_gone,
)
from qmon.workload.bench.results import CaseResult, Latency
from qmon.workload.bench.sessions import SLICE_S, LoadSession, LoadSessions, Slice
from qmon.workload.bench.site import Site

SAMPLE_EVERY_S: Final = 0.2

# Seconds for which empty loops are measured.
EMPTY_S: Final = 1.0
_SETTLE_S: Final = 0.2

# Called with the elapsed seconds, and the recent cycles per second.
OnProgress = Callable[[float, float], None]


def measure(site: Site, plan: BenchPlan, case: Case, layout: Layout, on_progress: OnProgress) -> CaseResult:
    """Load one newly installed queue and return the results.

    The loops begin with a warm-up that does not count in rates and latencies. Buffers and log are those of the whole
    load divided by all its cycles. Raises the error of a lost connection.
    """
    loops = make_loops(site, layout, case)
    unit, ahead = gate(plan, case.batch, None if layout.ring is None else layout.ring.size)
    settings: dict[str, Value] = {
        "batch": case.batch,
        "unit": unit,
        "ahead": ahead,
        "bytes": plan.message_bytes,
    }
    warm = math.ceil(plan.warm_up_s / SLICE_S)
    count = warm + max(1, round(plan.seconds / SLICE_S))
    sampler = BenchWaitSampler(site)
    with _held(site, layout) if case.held else contextlib.nullcontext():
        before = counters(site, layout, case.batch)
        with LoadSessions(site.connect, site.salvage) as sessions:
            sessions.add("pusher", plan.pushers, loops.push, settings)
            sessions.add("popper", plan.poppers, loops.pop, settings)
            _watch(site, sessions, count, warm, on_progress, sampler)
            sessions.check()
        wait_until_gone(site)
        after = counters(site, layout, case.batch)
    return _outcome(case, sessions, warm, count, before, after, sampler)


def empty_rate(site: Site, plan: BenchPlan) -> float:
    """Return rounds per second of an empty loop, with as many sessions as the load has."""
    call = empty_loop(site)
    count = round(EMPTY_S / SLICE_S)
    with LoadSessions(site.connect, site.salvage) as sessions:
        sessions.add("pusher", plan.pushers + plan.poppers, call, {"batch": 1, "unit": 16, "ahead": 1, "bytes": 1})
        sessions.start(_clock(site) + _SETTLE_S, count)
        while sessions.working:
            threading.Event().wait(SAMPLE_EVERY_S)
        sessions.check()
    return _messages(sessions.pushers, 1) / ((count - 1) * SLICE_S)


def _watch(
    site: Site, sessions: LoadSessions, count: int, warm: int, on_progress: OnProgress, sampler: BenchWaitSampler
) -> None:
    """Start the sessions, and observe them until they finish."""
    start_at = _clock(site) + _SETTLE_S
    sessions.start(start_at, count)
    pause = threading.Event()
    while sessions.working:
        pause.wait(SAMPLE_EVERY_S)
        now = _clock(site) - start_at
        if now > warm * SLICE_S and now < count * SLICE_S:
            sampler.sample()
        last = int(now / SLICE_S) - 2  # all sessions have finished this slice
        rate = sum(_in_slice(sessions.poppers, last - back) for back in range(2)) / (2 * SLICE_S)
        on_progress(min(max(0.0, now), count * SLICE_S), rate)


@contextlib.contextmanager
def _held(site: Site, layout: Layout) -> Iterator[None]:
    """Keep a transaction open for the whole block."""
    with contextlib.closing(site.connect("holder")) as connection, connection.transaction():
        connection.fetch(Bound(site.named("hold", {"table": layout.table.parts})))
        yield


def _clock(site: Site) -> float:
    ((at,),) = site.rows("clock")
    return float(str(at))


def _slices(sessions: Iterable[LoadSession], first: int) -> list[Slice]:
    return [each for session in sessions for each in tuple(session.slices) if each.number >= first]


def _messages(sessions: Iterable[LoadSession], first: int) -> int:
    return sum(each.messages for each in _slices(sessions, first))


def _in_slice(sessions: Iterable[LoadSession], number: int) -> int:
    """Return the messages of one slice, from the sessions that have finished it."""
    return sum(each.messages for session in sessions for each in tuple(session.slices[-8:]) if each.number == number)


def _latency(histograms: Iterable[Sequence[int]]) -> Latency | None:
    counts = histogram.added(histograms)
    p50, p99 = histogram.percentile(counts, 0.5), histogram.percentile(counts, 0.99)
    return None if p50 is None or p99 is None else Latency(p50, p99)


def _outcome(
    case: Case,
    sessions: LoadSessions,
    warm: int,
    count: int,
    before: Counters,
    after: Counters,
    sampler: BenchWaitSampler,
) -> CaseResult:
    pushes, pops = _slices(sessions.pushers, warm), _slices(sessions.poppers, warm)
    seconds = (count - warm) * SLICE_S
    cycles = _messages(sessions.poppers, 0)
    per_slice = [0] * (count - warm)
    for each in pops:
        per_slice[each.number - warm] += each.messages
    updated, buffers = moved(before.updated, after.updated), moved(before.reads.total, after.reads.total)
    wal, hot, deadlocks = (moved(getattr(before, name), getattr(after, name)) for name in ("wal", "hot", "deadlocks"))
    vacuums = moved(before.vacuums, after.vacuums)
    complaints = [each.last_error for each in sessions.all if each.last_error]
    return CaseResult(
        case,
        seconds,
        cycles_per_s=sum(per_slice) / seconds,
        pushed_per_s=sum(each.messages for each in pushes) / seconds,
        push=_latency(each.spent for each in pushes),
        pop=_latency(each.spent for each in pops),
        complete=_latency(each.completed for each in pops),
        buffers_per_cycle=None if buffers is None or not cycles else buffers / cycles,
        wal_per_cycle=None if wal is None or not cycles else wal / cycles,
        waits=sampler.top(),
        samples=sampler.samples,
        dead_rows=after.dead,
        hot_share=hot / updated if updated and hot is not None else None,
        vacuums=None if vacuums is None else int(vacuums),
        bytes=after.bytes,
        deadlocks=None if deadlocks is None else int(deadlocks),
        missed=sum(each.missed for each in (*pushes, *pops)),
        errors=sum(each.errors for each in sessions.all),
        last_error=complaints[-1] if complaints else "",
        timeline=tuple(number / SLICE_S for number in per_slice),
        slice_s=SLICE_S,
        server=server_counts(before, after, cycles),
    )
