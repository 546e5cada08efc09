"""``qmon design load``: runs test producers and consumers on a queue."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Annotated, Final

import typer

from qmon.cli import options
from qmon.cli.guard import FAILED
from qmon.cli.output import Meter, clean_text, print_note, print_output
from qmon.cli.signals import stop_on_signals
from qmon.model.formatting import duration
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.workload.run_load import LoadProgress

_PIPED_EVERY_S: Final = 5.0


class LoadResultText(Text):
    """Progress and result of a load."""

    PROGRESS = (
        "{elapsed} of {length}   push {push_rate:,.0f}/s   pop {pop_rate:,.0f}/s   ready {ready:,.0f}   "
        "connected {connected}"
    )
    RESULT = (
        "{queue}: pushed {pushed:,} ({push_rate:,.1f}/s), popped {popped:,} ({pop_rate:,.1f}/s), "
        "completed {completed:,}, ready at the end {ready:,.0f}"
    )
    FAILED = "{count:,} statements or connections failed"
    NOTHING_PUSHED = "qmon: {queue}: nothing was pushed"


def register_commands(app: typer.Typer) -> None:
    epilog = "Example: qmon design load shop ring --producers 4 --consumers 4 --rate 500 --for 1m"
    app.command("load", epilog=epilog)(load)


def load(
    context: typer.Context,
    target: options.Target,
    queue: options.InstalledQueue,
    producers: Annotated[
        int, typer.Option("--producers", metavar="N", min=0, max=200, help="Number of producer processes.")
    ] = 2,
    consumers: Annotated[
        int,
        typer.Option("--consumers", metavar="M", min=0, max=200, help="Number of consumer processes per subscriber."),
    ] = 2,
    rate: Annotated[
        float,
        typer.Option(
            "--rate",
            metavar="R",
            min=0,
            max=10_000_000,
            callback=options.reject_nan,
            help="Total messages per second of all producers.",
        ),
    ] = 100.0,
    length: Annotated[float, options.duration_option("--for", help="Length of the load.", default="10s")] = 10.0,
) -> None:
    """Put load on an installed queue, and count the messages.

    The load comes from real processes. Only committed messages count. Ctrl-C ends the load early without a result.
    SIGTERM ends the load early with a result. The exit code is 1 if there were producers and nothing was pushed.
    """
    from qmon.cli.target_session import check_not_read_only, open_target
    from qmon.workload.load_plan import QueueLoad
    from qmon.workload.run_load import run_load

    config = options.config_path(context)
    with open_target(target, config, "load", needs_primary=True) as at:
        check_not_read_only(at.target)
        wanted = QueueLoad(at.installed_layout(queue), producers=producers, consumers=consumers, rate=rate)
        connected = at.target
    meter = Meter(_PIPED_EVERY_S)
    with stop_on_signals(signal.SIGTERM) as (stop, _):
        result = run_load(
            connected,
            wanted,
            length,
            lambda now: meter.show_progress(_progress_line(now), now.elapsed_s),
            stopped=stop.is_set,
        )
    meter.clear_line()
    flow, totals = result.flow, result.totals
    print_output(
        LoadResultText.RESULT.render(
            queue=clean_text(queue),
            pushed=totals.pushed,
            push_rate=flow.push_rate,
            popped=totals.popped,
            pop_rate=flow.pop_rate,
            completed=totals.completed,
            ready=result.depth,
        )
    )
    if totals.errors:
        print_output(LoadResultText.FAILED.render(count=totals.errors))
    if producers and not totals.pushed:
        print_note(LoadResultText.NOTHING_PUSHED.render(queue=queue))
        raise typer.Exit(FAILED)


def _progress_line(now: LoadProgress) -> str:
    return LoadResultText.PROGRESS.render(
        elapsed=duration(now.elapsed_s),
        length=duration(now.seconds),
        push_rate=now.flow.push_rate,
        pop_rate=now.flow.pop_rate,
        ready=now.depth,
        connected=now.connected,
    )
