"""``qmon design bench``: measures queue designs on your own server."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from qmon.cli import options
from qmon.cli.output import clean_text, print_note, print_report
from qmon.cli.signals import exit_on_signals
from qmon.errors import BadInput
from qmon.model.formatting import duration
from qmon.texts import Text


class BenchText(Text):
    """Why a bench does not run."""

    BATCHES = "--batch needs whole numbers separated by commas, such as 1,10,100, not {text!r}"
    READ_ONLY = "{target} is marked read_only, but a bench writes; nothing was created"
    PROD = "{target} is marked prod, and a bench loads the server fully: add --yes; nothing was created"
    NOTHING_CREATED = "nothing was created"


class BenchStartText(Text):
    """The announcement and the question before a bench."""

    LEFTOVER = "qmon: an interrupted bench left the unused schema {schema}; drop this schema"
    SCHEMA = "qmon: creates the schema {schema} in {target}, works only in this schema, and drops it at the end"
    LOADS = (
        "  {count} runs of {duration} with {producers} producers and {consumers} consumers, as fast as the server lets "
        "them: {designs}"
    )
    DEQUEUES = (
        "  {count} queues of {messages:,} messages, emptied in batches: each queue temporarily needs {megabytes:,} MB"
    )
    LENGTH = "  about {duration}; Ctrl-C ends the bench and cleans up"
    CONFIRM = "{target} is marked prod. Run the bench at full load?"
    NO_CSV = "qmon: CSV does not contain the batch dequeues; use --output json"


if TYPE_CHECKING:
    from qmon.engines.base import Target
    from qmon.workload.bench.bench_plan import BenchPlan
    from qmon.workload.bench.bench_results import CaseResult, Dequeue
    from qmon.workload.bench.run_bench import BenchProgress

_BETWEEN_S: Final = 2.0
_DEQUEUE_S: Final = 40.0


def register_commands(app: typer.Typer) -> None:
    epilog = "Example: qmon design bench postgresql://me@db1/scratch --designs naive,ring --for 20s"
    app.command("bench", epilog=epilog)(bench)


def bench(
    context: typer.Context,
    target: options.Target,
    designs: Annotated[
        str, typer.Option("--designs", metavar="A,B", help="Designs to measure, from `qmon design list`. Default: all.")
    ] = "",
    producers: Annotated[
        int, typer.Option("--producers", metavar="N", min=1, max=499, help="Number of producer sessions.")
    ] = 8,
    consumers: Annotated[
        int, typer.Option("--consumers", metavar="M", min=1, max=499, help="Number of consumer sessions.")
    ] = 8,
    length: Annotated[float, options.duration_option("--for", help="Length of each run.", default="10s")] = 10.0,
    batch: Annotated[str, typer.Option("--batch", metavar="1,10", help="Messages per pop.")] = "1,10,100",
    output: options.Output = "table",
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask for confirmation on a target marked prod.")
    ] = False,
) -> None:
    """Measure queue designs on your server, at full load.

    qmon works in its own schema, and drops the schema at the end. For each design, qmon measures push and pop cycles
    per second, latencies, buffers and log per cycle, waits, and dead rows; on SQL Server also page splits, latch waits
    and lock waits. Then qmon repeats the measurement with a transaction held open, and counts the buffers that a batch
    dequeue reads.
    """
    from qmon.cli.commands.design.bench_text import bench_object, print_bench
    from qmon.cli.target_session import open_target
    from qmon.operate.install.install_queue import available_designs, install_trial
    from qmon.workload.bench.bench_plan import BenchPlan, choose_designs
    from qmon.workload.bench.bench_site import check_version, new_schema_name
    from qmon.workload.bench.run_bench import find_leftovers, run_bench

    config = options.config_path(context)
    with open_target(target, config, "bench", needs_primary=True) as at:
        plan = BenchPlan(
            choose_designs(_split_list(designs), available_designs(at.engine)),
            producers=producers,
            consumers=consumers,
            seconds=length,
            batches=_parse_batches(batch),
        )
        plan.check_possible()
        check_version(at.engine, at.connection.version)
        schema = new_schema_name()
        _announce_bench(at.target, plan, schema)
        for left in find_leftovers(at.connection, at.engine):
            print_note(BenchStartText.LEFTOVER.render(schema=clean_text(left)))
        _check_bench_allowed(at.target, yes=yes)
        known = at.target
    with exit_on_signals(), _show_progress() as (show_progress, show_result):
        found = run_bench(known, plan, schema, install_trial, show_progress, show_result)
    if output == "table":
        print_bench(found)
    else:
        from qmon.cli.reports.bench_reports import BenchReport

        print_report(output, bench_object(found), BenchReport, "loads")
        if output == "csv" and found.dequeues:
            print_note(BenchStartText.NO_CSV)


def _split_list(text: str) -> tuple[str, ...]:
    return tuple(word for each in text.split(",") if (word := each.strip()))


def _parse_batches(text: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(word) for word in _split_list(text)))
    except ValueError:
        raise BadInput(BenchText.BATCHES.render(text=text)) from None


def _announce_bench(target: Target, plan: BenchPlan, schema: str) -> None:
    """Print what the bench will do before it starts."""
    loads, dequeues = plan.cases_under_load(), plan.cases_of_dequeue_part()
    seconds = len(loads) * (plan.warm_up_s + plan.seconds + _BETWEEN_S) + len(dequeues) * _DEQUEUE_S
    print_note(BenchStartText.SCHEMA.render(schema=schema, target=clean_text(target.name)))
    print_note(
        BenchStartText.LOADS.render(
            count=len(loads),
            duration=duration(plan.seconds),
            producers=plan.producers,
            consumers=plan.consumers,
            designs=", ".join(plan.designs),
        )
    )
    if dequeues:
        megabytes = plan.rows * plan.payload_bytes // 2_000_000
        print_note(BenchStartText.DEQUEUES.render(count=len(dequeues), messages=plan.rows, megabytes=megabytes))
    print_note(BenchStartText.LENGTH.render(duration=duration(seconds)))


def _check_bench_allowed(target: Target, *, yes: bool) -> None:
    """Raise ``BadInput`` if the target is read-only, or is marked prod and not confirmed."""
    if target.read_only:
        raise BadInput(BenchText.READ_ONLY.render(target=target.name))
    if not target.prod or yes:
        return
    if not sys.stdin.isatty():
        raise BadInput(BenchText.PROD.render(target=target.name))
    if not typer.confirm(BenchStartText.CONFIRM.render(target=clean_text(target.name)), default=False):
        print_note(BenchText.NOTHING_CREATED)
        raise typer.Exit(1)


@contextmanager
def _show_progress() -> Iterator[tuple[_ShowProgress, _ShowResult]]:
    """Show progress on standard error: on a terminal a bar below the results, otherwise one line per result."""
    from qmon.cli.commands.design.bench_text import result_line

    if not sys.stderr.isatty():
        yield lambda _: None, lambda found: print_note(result_line(found))
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("connecting", total=None)

        def progress(now: BenchProgress) -> None:
            rate = "" if now.cycles_per_s is None else f"  {now.cycles_per_s:,.0f}/s"
            text = f"{now.number}/{now.total} {now.description}{rate}"
            bar.update(task, total=now.total, completed=now.number - 1 + now.share, description=text)

        yield progress, lambda found: bar.console.print(Text(result_line(found)))


if TYPE_CHECKING:
    from collections.abc import Callable

    _ShowProgress = Callable[[BenchProgress], None]
    _ShowResult = Callable[[CaseResult | Dequeue], None]
