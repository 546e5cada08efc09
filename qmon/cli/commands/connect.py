"""``qmon connect`` and ``qmon demo``: open the dashboard on targets or on demo queues."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qmon.cli import completion, options
from qmon.cli.output import Format, print_report
from qmon.cli.signals import exit_on_signals
from qmon.errors import BadInput
from qmon.system import require_posix
from qmon.texts import Text


class ConnectText(Text):
    """Options that do not go together."""

    POLLED_BY_SERVE = "qmon serve polls this target: give --every and --record to qmon serve, not to qmon connect"
    URL_AND_OTHERS = (
        "the URL of a qmon serve cannot be combined with other targets: name only that URL, or only databases"
    )
    CA_NEEDS_URL = "--ca is for the https:// URL of a qmon serve"
    ONE_TARGET = "--queue needs a single target"
    OUTPUT_NEEDS_FOR = "--output needs --for, such as --for 20s"
    TOUR_NEEDS_SCREEN = "--tour needs the screen: leave out --output"
    WITHOUT_TERMINAL = "`--for 20s --output table` runs without a terminal"


def register_commands(app: typer.Typer) -> None:
    app.command("connect", epilog="Example: qmon connect postgresql://me@db1/shop --interval 1s --read-only")(connect)
    app.command("demo", epilog="Example: qmon demo --for 20s --output json")(demo)


def connect(
    context: typer.Context,
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET]...",
            help=f"{options.TARGET} A fleet of qmon.toml and the URL of a `qmon serve` "
            "also work. Without a target, qmon asks for one.",
            show_default=False,
            autocompletion=completion.complete_targets,
        ),
    ] = None,
    all_targets: options.AllTargets = False,
    queue: Annotated[
        str | None,
        typer.Option(
            "--queue",
            "-q",
            metavar="QUEUE",
            help="Open the screen of this queue.",
            show_default=False,
            autocompletion=completion.complete_queues,
        ),
    ] = None,
    interval: Annotated[
        float | None,
        options.duration_option("--interval", "-i", help="Poll interval, 500ms to 1m."),
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse every action.")] = False,
    record: Annotated[
        Path | None, typer.Option("--record", metavar="DIR", help="Record to this folder, for `qmon replay`.")
    ] = None,
    ca: Annotated[
        Path | None,
        typer.Option(
            "--ca", metavar="FILE", help="PEM file of certificates to trust for an https:// URL.", dir_okay=False
        ),
    ] = None,
) -> None:
    """Open the dashboard on one or several targets.

    `https://ops-1:9777/orders-prod` opens the target orders-prod of a `qmon serve`. That server polls the database once
    for all dashboards. A dashboard on a `qmon serve` cannot act on queues.
    """
    from qmon.cli.polled_dashboard import show_fleet, show_target
    from qmon.cli.served_dashboard import is_served, show_served
    from qmon.cli.target_prompt import ask_target
    from qmon.cli.target_session import resolve_targets
    from qmon.config.preferences import read_preferences

    config = options.config_path(context)
    named = targets or ([] if all_targets else [ask_target(config)])
    if any(map(is_served, named)):
        if interval is not None or record is not None:
            raise BadInput(ConnectText.POLLED_BY_SERVE)
        if len(named) > 1:
            raise BadInput(ConnectText.URL_AND_OTHERS)
        raise typer.Exit(show_served(named[0], config, ca))
    if ca is not None:
        raise BadInput(ConnectText.CA_NEEDS_URL)

    known = resolve_targets(named, config, all_targets=all_targets)
    preferences = read_preferences()
    if len(known) > 1 and queue is not None:
        raise BadInput(ConnectText.ONE_TARGET)
    if len(known) > 1:
        raise typer.Exit(show_fleet(known, interval, read_only, record, preferences))
    typed = named[0] if named and named[0] not in known[0].config.fleets else known[0].target.name
    raise typer.Exit(show_target(known[0], typed, interval, read_only, record, preferences, queue or ""))


def demo(
    length: Annotated[float | None, options.duration_option("--for", help="End after this time.")] = None,
    tour: Annotated[
        bool,
        typer.Option("--tour", help="Show one problem at a time, and the key that fixes it."),
    ] = False,
    output: Annotated[
        Format | None,
        typer.Option("--output", "-o", help="Run without a screen, and print the figures at the end. Needs --for."),
    ] = None,
) -> None:
    """Open the dashboard on live demo queues.

    qmon starts its own PostgreSQL with one queue of every installable design, and causes faults. At the end, qmon stops
    and removes everything, even after Ctrl-C or if the terminal closes.
    """
    require_posix("qmon demo")
    from qmon.cli.commands.status import print_status
    from qmon.demo import demo_runner

    if output is not None and length is None:
        raise BadInput(ConnectText.OUTPUT_NEEDS_FOR)
    if output is not None and tour:
        raise BadInput(ConnectText.TOUR_NEEDS_SCREEN)
    with exit_on_signals():
        if output is None:
            raise typer.Exit(_run_demo(length, tour=tour))
        view, found = demo_runner.run_headless(length or 0.0)
    if output == "json":
        from qmon.model.report_shapes import DemoReport

        print_report(output, found, DemoReport)
    else:
        print_status([view], output)


def _run_demo(length: float | None, *, tour: bool) -> int:
    """Run the demo with the dashboard for ``length`` seconds or until the user quits. Returns the exit code."""
    from qmon.config.config_file import Settings
    from qmon.demo import demo_runner
    from qmon.demo.scene import BUDGET
    from qmon.monitor.open import open_poller
    from qmon.monitor.state.target_history import TargetHistory
    from qmon.operate.operator_context import create_context
    from qmon.tui import ActionRunner, DashboardTarget, require_terminal, run

    require_terminal(ConnectText.WITHOUT_TERMINAL)
    with demo_runner.run_scene(tour=tour) as (target, _, story):
        poller = open_poller(target, interval_s=Settings().interval_s, budget=BUDGET)
        fold = story.wrap_fold(TargetHistory(BUDGET.share).record_snapshot)
        acting = ActionRunner(create_context(target))
        return run(
            [DashboardTarget(poller, fold, environment=target.environment, runner=acting)],
            for_s=length,
            tour_step=story.current_step if tour else None,
        )
