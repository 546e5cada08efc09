"""Types for the output of ``bench``."""

from __future__ import annotations

from typing import Literal, TypedDict

from qmon.engines.base import EngineName
from qmon.workload.bench.bench_plan import BenchPlan
from qmon.workload.bench.bench_results import Latency, Reads, ServerCounts, Wait


class BenchLoad(TypedDict):
    """One run under load; see ``CaseResult``. ``times_naive``: cycles relative to the cycles of the naive design."""

    design: str
    batch: int
    held: bool
    seconds: float
    cycles_per_s: float
    times_naive: float | None
    kept: float | None
    pushed_per_s: float
    push: Latency | None
    pop: Latency | None
    complete: Latency | None
    buffers_per_cycle: float | None
    wal_per_cycle: float | None
    waits: list[Wait]
    samples: int
    dead_rows: int
    hot_share: float | None
    vacuums: int | None
    bytes: int
    deadlocks: int | None
    missed: int
    errors: int
    last_error: str
    timeline: list[float]
    slice_s: float
    server: ServerCounts | None


class ArticleReads(TypedDict):
    """The reads that the article reports for a batch of this size."""

    batch: int
    logical_reads: int
    lob_logical_reads: int


class BenchDequeue(TypedDict):
    """The reads of a batch dequeue; see ``Dequeue``."""

    design: str
    batch: int
    rows: int
    first: Reads
    whole: Reads
    batches: int
    mean_ms: float
    first_total: float | None
    whole_total: float | None
    article: ArticleReads


class BenchReport(TypedDict):
    """The output of ``qmon design bench``."""

    schema: Literal[1]
    target: str
    engine: EngineName
    server_version: str
    settings: dict[str, str]
    empty_loops_per_s: float
    clock_step_us: float | None
    plan: BenchPlan
    loads: list[BenchLoad]
    dequeues: list[BenchDequeue]
