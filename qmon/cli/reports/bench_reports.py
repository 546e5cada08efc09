"""Types for the output of ``bench``."""

from __future__ import annotations

from typing import Final, Literal, TypedDict, get_type_hints

from qmon.engines.base import EngineName
from qmon.model.report_shapes import with_fields
from qmon.workload.bench.bench_plan import BenchPlan
from qmon.workload.bench.bench_results import CaseResult, Dequeue

_LOAD_FIELDS: Final = {name: hint for name, hint in get_type_hints(CaseResult).items() if name != "case"}


@with_fields(_LOAD_FIELDS, after="kept")
class BenchLoad(TypedDict):
    """One run under load; see ``CaseResult``. ``times_naive``: cycles relative to the cycles of the naive design."""

    design: str
    batch: int
    held: bool
    times_naive: float | None
    kept: float | None


class ArticleReads(TypedDict):
    """The reads that the article reports for a batch of this size."""

    batch: int
    logical_reads: int
    lob_logical_reads: int


@with_fields(get_type_hints(Dequeue), after="")
class BenchDequeue(TypedDict):
    """The reads of a batch dequeue; see ``Dequeue``."""

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
