"""Prints the output of ``qmon design bench``: a line per result during the bench, then tables and bars, or JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from qmon.cli.output import print_output, print_table
from qmon.cli.target_prompt import ENGINES
from qmon.model.formatting import milliseconds
from qmon.texts import Text
from qmon.workload.bench.bench_results import BenchResults, CaseResult, Dequeue, Latency
from qmon.workload.bench.dequeue_part import ARTICLE_READS


class BenchLineText(Text):
    """Lines about the results of a bench."""

    DEQUEUE = "{design}, dequeue of {batch}: {buffers} buffers a batch ({payload} of payloads), {duration}"
    LOAD = "{design}, {batch} at a time{held}: {cycles:,.0f} cycles/s, push {push}, pop {pop} ms (p50/p99)"
    HELD = ", a transaction held open"
    TRANSACTION_HELD = "with a transaction held open"
    HEALTHY = "healthy"
    ONE_MESSAGE = "1 message"
    MESSAGES = "{count} messages"
    HEADING = "{messages} at a time, {condition}: {producers} producers, {consumers} consumers"
    WITHOUT_BATCHES = "These designs have no batches and were measured with single messages: {designs}"
    BUFFERS = "Buffers read per batch, without other sessions, until a queue of {messages:,} messages is empty"
    SERVER = "{engine} {version}; {settings}"
    CONDITIONS = (
        "messages of {size} bytes, ring of {slots:,} slots, producers at most about {ahead:,} messages ahead; times "
        "are measured by the server and include the commit; for comparison, an empty loop in as many sessions makes "
        "{loops:,.0f} rounds per second"
    )
    CLOCK_STEP = "the server's clock has steps of {step}: qmon cannot distinguish shorter times"
    FAILED = " {count} failed: {error}"
    COUNTERS = "Server counters per 1,000 cycles; transactions, lock timeouts and batches are per second"


_BAR_CELLS = 40
_BAR_EIGHTHS = "▏▎▍▌▋▊▉█"


def result_line(result: CaseResult | Dequeue) -> str:
    """Return one result as one line, for progress output."""
    if isinstance(result, Dequeue):
        return BenchLineText.DEQUEUE.render(
            design=result.design,
            batch=result.batch,
            buffers=_number_text(result.whole.total),
            payload=_number_text(result.whole.payload),
            duration=milliseconds(result.mean_ms),
        )
    return BenchLineText.LOAD.render(
        design=result.case.design,
        batch=result.case.batch,
        held=BenchLineText.HELD if result.case.held else "",
        cycles=result.cycles_per_s,
        push=_latency_text(result.push),
        pop=_latency_text(result.pop),
    )


def print_bench(report: BenchResults) -> None:
    """Print the report."""
    _print_conditions(report)
    for held in (False, True):
        for batch in report.plan.batches:
            found = [each for each in report.outcomes if each.case.held is held and each.case.batch == batch]
            if found:
                print_output()
                print_output(
                    BenchLineText.HEADING.render(
                        messages=BenchLineText.ONE_MESSAGE
                        if batch == 1
                        else BenchLineText.MESSAGES.render(count=batch),
                        condition=BenchLineText.TRANSACTION_HELD if held else BenchLineText.HEALTHY,
                        producers=report.plan.producers,
                        consumers=report.plan.consumers,
                    )
                )
                _print_loads(report, found, held=held)
                print_output()
                print_bars(found, max(each.cycles_per_s for each in report.outcomes if each.case.batch == batch))
                _print_server_counts(found)
    if report.without_batches:
        print_output()
        print_output(BenchLineText.WITHOUT_BATCHES.render(designs=", ".join(report.without_batches)))
    if report.dequeues:
        print_output()
        print_output(BenchLineText.BUFFERS.render(messages=report.plan.rows))
        _print_dequeues(report)


def _print_conditions(report: BenchResults) -> None:
    known = report.conditions
    settings = ", ".join(f"{name} {value}" for name, value in known.settings.items())
    print_output(BenchLineText.SERVER.render(engine=ENGINES[known.engine], version=known.version, settings=settings))
    print_output(
        BenchLineText.CONDITIONS.render(
            size=report.plan.message_bytes,
            slots=report.plan.ring_size,
            ahead=report.plan.ahead,
            loops=known.empty_loops_per_s,
        )
    )
    if known.clock_step_us is not None:
        step = milliseconds(known.clock_step_us / 1000)
        print_output(BenchLineText.CLOCK_STEP.render(step=step))


def _print_loads(report: BenchResults, results: list[CaseResult], *, held: bool) -> None:
    headers = ["DESIGN", "CYCLES/s", "× NAIVE", "PUSH ms", "POP ms", "COMPLETE ms", "BUFFERS", "LOG B", "DEAD"]
    hot = report.conditions.engine == "postgres"
    headers += ["HOT"] * hot + ["KEPT"] * held
    headers += ["DEADLOCKS", "WAITS"]
    rows = []
    for each in results:
        row = [
            each.case.design,
            f"{each.cycles_per_s:,.0f}",
            _ratio_text(report.ratio(each)),
            _latency_text(each.push),
            _latency_text(each.pop),
            _latency_text(each.complete),
            "–" if each.buffers_per_cycle is None else f"{each.buffers_per_cycle:,.1f}",
            "–" if each.wal_per_cycle is None else f"{each.wal_per_cycle:,.0f}",
            f"{each.dead_rows:,}",
        ]
        row += [_share_text(each.hot_share)] * hot + [_share_text(report.held_share(each))] * held
        waits = ", ".join(f"{wait.name} {wait.share:.0%}" for wait in each.waits[:3])
        errors = BenchLineText.FAILED.render(count=each.errors, error=each.last_error) if each.errors else ""
        rows.append([*row, _number_text(each.deadlocks), f"{waits} (n={each.samples}){errors}"])
    print_table(headers, rows, wrap=len(headers) - 1)


def _print_server_counts(results: list[CaseResult]) -> None:
    """Print the additional counters of SQL Server. Prints nothing for PostgreSQL."""
    counted = [(each.case.design, each.server) for each in results if each.server is not None]
    if not counted:
        return
    print_output()
    print_output(BenchLineText.COUNTERS)
    headers = (
        "DESIGN",
        "PAGES",
        "SPLITS",
        "PAGE LATCHES",
        "ms",
        "ROOT LATCHES",
        "LOCKS",
        "ms",
        "LOG WAITS",
        "TRANSACTIONS",
        "LOCK TIMEOUTS",
        "BATCHES",
    )
    rows = []
    for design, each in counted:
        by_cycle = (
            each.allocations_per_cycle,
            each.page_splits_per_cycle,
            each.page_latches_per_cycle,
            each.page_latch_ms_per_cycle,
            each.root_latches_per_cycle,
            each.locks_per_cycle,
            each.lock_ms_per_cycle,
            each.log_flush_waits_per_cycle,
        )
        by_second = (each.transactions_per_s, each.lock_timeouts_per_s, each.batches_per_s)
        thousand = (None if value is None else value * 1000 for value in by_cycle)
        rows.append((design, *map(_number_text, (*thousand, *by_second))))
    print_table(headers, rows)


def print_bars(results: list[CaseResult], top: float) -> None:
    """Print cycles per second as bars of block characters. ``top``: value of a full bar."""
    name = max(len(each.case.design) for each in results)
    for each in results:
        print_output(
            f"{each.case.design:<{name}}  {bar_text(each.cycles_per_s / (top or 1.0), _BAR_CELLS)} "
            f"{each.cycles_per_s:,.0f}"
        )


def bar_text(share: float, cells: int) -> str:
    """Return a bar that is drawn in eighths of cells and is at least one eighth long."""
    eighths = max(1, round(share * cells * 8))
    whole, rest = divmod(eighths, 8)
    return _BAR_EIGHTHS[7] * whole + (_BAR_EIGHTHS[rest - 1] if rest else "")


def _print_dequeues(report: BenchResults) -> None:
    rows = []
    for each in report.dequeues:
        base = next((b for b in report.dequeues if b.design == "batch_single" and b.batch == each.batch), None)
        batch, reads, lob = ARTICLE_READS[each.design]
        rows.append(
            (
                each.design,
                each.batch,
                _number_text(each.whole.total),
                _ratio_text(_ratio(each.whole.total, None if base is None else base.whole.total)),
                _number_text(each.whole.table),
                _number_text(each.whole.index),
                _number_text(each.whole.payload),
                _number_text(each.first.total),
                f"{each.mean_ms:,.1f}",
                f"{reads:,} + {lob:,} LOB of {batch}",
            )
        )
    headers = ("DESIGN", "BATCH", "BUFFERS", "× SINGLE", "TABLE", "INDEX", "PAYLOAD", "FRESH", "ms", "ARTICLE")
    print_table(headers, rows)


def bench_object(report: BenchResults) -> dict[str, Any]:
    """Return the report as one JSON object. Unknown values are null."""
    plan = asdict(report.plan)
    loads = []
    for each in report.outcomes:
        found = asdict(each)
        found |= {"design": each.case.design, "batch": each.case.batch, "held": each.case.held}
        del found["case"]
        loads.append(found | {"times_naive": report.ratio(each), "kept": report.held_share(each)})
    dequeues = []
    for every in report.dequeues:
        batch, reads, lob = ARTICLE_READS[every.design]
        article = {"batch": batch, "logical_reads": reads, "lob_logical_reads": lob}
        totals = {"first_total": every.first.total, "whole_total": every.whole.total}
        dequeues.append(asdict(every) | totals | {"article": article})
    return {
        "schema": 1,
        "target": report.conditions.target,
        "engine": report.conditions.engine,
        "server_version": report.conditions.version,
        "settings": report.conditions.settings,
        "empty_loops_per_s": report.conditions.empty_loops_per_s,
        "clock_step_us": report.conditions.clock_step_us,
        "plan": plan,
        "loads": loads,
        "dequeues": dequeues,
    }


def _latency_text(latency: Latency | None) -> str:
    return "–" if latency is None else f"{_figure_text(latency.p50_ms)}/{_figure_text(latency.p99_ms)}"


def _number_text(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value == 0 or value >= 10 else f"{value:.2g}"


def _ratio(value: float | None, other: float | None) -> float | None:
    return value / other if value is not None and other else None


def _figure_text(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def _ratio_text(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _share_text(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"
