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

if TYPE_CHECKING:
    from qmon.workload.run_load import LoadProgress

_PIPED_EVERY_S: Final = 5.0


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
        f"{clean_text(queue)}: pushed {totals.pushed:,} ({flow.push_rate:,.1f}/s), popped {totals.popped:,} "
        f"({flow.pop_rate:,.1f}/s), completed {totals.completed:,}, ready at the end {result.depth:,.0f}"
    )
    if totals.errors:
        print_output(f"{totals.errors:,} statements or connections failed")
    if producers and not totals.pushed:
        print_note(f"qmon: {queue}: nothing was pushed")
        raise typer.Exit(FAILED)


def _progress_line(now: LoadProgress) -> str:
    return (
        f"{duration(now.elapsed_s)} of {duration(now.seconds)}   push {now.flow.push_rate:,.0f}/s   "
        f"pop {now.flow.pop_rate:,.0f}/s   ready {now.depth:,.0f}   connected {now.connected}"
    )
