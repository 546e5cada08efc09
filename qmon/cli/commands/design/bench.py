"""``qmon design bench``: the queue designs side by side on your own server."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from qmon.cli import options
from qmon.cli.output import clean, note, report
from qmon.cli.signals import exit_on_signals
from qmon.errors import BadInput
from qmon.model.text import duration

if TYPE_CHECKING:
    from qmon.engines.base import Target
    from qmon.workload.bench.cases import BenchPlan, Part
    from qmon.workload.bench.results import CaseResult, Dequeue
    from qmon.workload.bench.run import BenchProgress

_BETWEEN_S: Final = 2.0
_DEQUEUE_S: Final = 40.0


def add_to(app: typer.Typer) -> None:
    epilog = "Example: qmon design bench postgresql://me@db1/scratch --designs naive,ring --for 20s"
    app.command("bench", epilog=epilog)(bench)


def bench(
    target: options.Target,
    config: options.ConfigPath = None,
    designs: Annotated[
        str, typer.Option("--designs", metavar="A,B", help="Which designs; see: qmon design list. Default: all.")
    ] = "",
    pushers: Annotated[int, typer.Option("--pushers", metavar="N", min=1, max=499, help="Pushing sessions.")] = 8,
    poppers: Annotated[int, typer.Option("--poppers", metavar="M", min=1, max=499, help="Popping sessions.")] = 8,
    length: Annotated[float, typer.Option("--for", parser=options.seconds, metavar="S", help="How long a run.")] = 10.0,
    message_bytes: Annotated[
        int, typer.Option("--message-bytes", metavar="B", min=1, max=1_000_000, help="Size of a message.")
    ] = 300,
    batch: Annotated[str, typer.Option("--batch", metavar="1,10", help="Messages at a time.")] = "1,10,100",
    ring_size: Annotated[
        int, typer.Option("--ring-size", metavar="N", min=2, max=10_000_000, help="Slots of a ring.")
    ] = 10_000,
    parts: Annotated[
        str,
        typer.Option(
            "--parts",
            metavar="P,Q",
            help="healthy; held: the same with a transaction held open; dequeue: buffers per batch. Default: all.",
        ),
    ] = "",
    output: options.Output = "table",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask on a target marked prod.")] = False,
) -> None:
    """Measure queue designs on a server: in a schema of its own that is gone afterwards, with all the load it takes.

    Per design: cycles of push and pop per second, latencies, buffers and log per cycle, waits, dead rows; on SQL Server
    page splits, waits for latches and locks, and its other counters. Then the same with a transaction held open for the
    whole run, and what a batch dequeue reads.
    """
    from qmon.cli.commands.design.bench_text import as_object, tell
    from qmon.cli.session import opened
    from qmon.operate.install.install import available, install_trial
    from qmon.workload.bench.cases import BenchPlan, chosen
    from qmon.workload.bench.run import leftovers, run_bench
    from qmon.workload.bench.site import check, new_schema

    with opened(target, config, "bench", writes=True) as at:
        plan = BenchPlan(
            chosen(_words(designs), available(at.engine)),
            pushers=pushers,
            poppers=poppers,
            seconds=length,
            message_bytes=message_bytes,
            batches=_numbers(batch),
            ring_size=ring_size,
            parts=_parts(parts),
        )
        plan.check()
        check(at.engine, at.connection.version)
        schema = new_schema()
        _announce(at.target, plan, schema)
        for left in leftovers(at.connection, at.engine):
            note(f"qmon: a bench that was cut off left the schema {clean(left)}; nobody uses it: drop it")
        _allowed(at.target, yes=yes)
        known = at.target
    with exit_on_signals(), _meter() as (progress, finished):
        found = run_bench(known, plan, schema, install_trial, progress, finished)
    if output == "table":
        tell(found)
    else:
        from qmon.cli.reports.bench import BenchReport

        report(output, as_object(found), BenchReport, "loads")
        if output == "csv" and found.dequeues:
            note("qmon: what batch dequeues read is not in the CSV: --output json has it")


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for each in text.split(",") if (word := each.strip()))


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(word) for word in _words(text)))
    except ValueError:
        raise BadInput(
            f"--batch takes whole numbers with commas between them, such as 1,10,100, not {text!r}"
        ) from None


def _parts(text: str) -> tuple[Part, ...]:
    from qmon.workload.bench.cases import Part

    known = {part.value: part for part in Part}
    for word in _words(text):
        if word not in known:
            raise BadInput(f"there is no part {word!r}; there are: {', '.join(known)}")
    return tuple(part for name, part in known.items() if not text or name in _words(text))


def _announce(target: Target, plan: BenchPlan, schema: str) -> None:
    """Print what the bench will do before it starts."""
    loads, dequeues = plan.loads(), plan.dequeues()
    seconds = len(loads) * (plan.warm_up_s + plan.seconds + _BETWEEN_S) + len(dequeues) * _DEQUEUE_S
    note(f"qmon: creates the schema {schema} in {clean(target.name)}, works in it alone, and drops it at the end")
    note(
        f"  {len(loads)} runs of {duration(plan.seconds)} with {plan.pushers} pushers and {plan.poppers} poppers, as"
        f" fast as the server lets them: {', '.join(plan.designs)}"
    )
    if dequeues:
        megabytes = plan.rows * plan.payload_bytes // 2_000_000
        note(
            f"  {len(dequeues)} queues of {plan.rows:,} messages popped empty: about {megabytes:,} MB each, in passing"
        )
    note(f"  about {duration(seconds)}; Ctrl-C ends it and cleans up")


def _allowed(target: Target, *, yes: bool) -> None:
    """Raise ``BadInput`` if the target is read-only, or is marked prod and not confirmed."""
    if target.read_only:
        raise BadInput(f"{target.name} is marked read_only: a bench writes; nothing was created")
    if not target.prod or yes:
        return
    if not sys.stdin.isatty():
        raise BadInput(f"{target.name} is marked prod, and a bench takes all it has: add --yes; nothing was created")
    if not typer.confirm(f"{clean(target.name)} is marked prod. Load it with all it takes?", default=False):
        note("nothing was created")
        raise typer.Exit(1)


@contextmanager
def _meter() -> Iterator[tuple[_Tell, _Finish]]:
    """A bar on a terminal with each result above it; elsewhere a line for each result; all on standard error."""
    from qmon.cli.commands.design.bench_text import one_line

    if not sys.stderr.isatty():
        yield lambda _: None, lambda found: note(one_line(found))
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
            text = f"{now.number}/{now.total} {now.what}{rate}"
            bar.update(task, total=now.total, completed=now.number - 1 + now.share, description=text)

        yield progress, lambda found: bar.console.print(Text(one_line(found)))


if TYPE_CHECKING:
    from collections.abc import Callable

    _Tell = Callable[[BenchProgress], None]
    _Finish = Callable[[CaseResult | Dequeue], None]
