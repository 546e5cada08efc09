"""``qmon design install`` and ``qmon design uninstall``: install and remove queues of qmon's designs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from qmon.cli import completion, options
from qmon.cli.output import clean_text, print_note, print_output
from qmon.errors import BadInput
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.cli.target_session import ConnectedTarget
    from qmon.model.layout.layout import Layout


class DesignText(Text):
    """Errors and results of installing and uninstalling designs."""

    ONE_DESIGN = "--queue works with only one design: install several designs one by one"
    NO_TERMINAL = "stdin is not a terminal: add --yes"
    NOTHING_CHANGED = "nothing was changed"
    NOT_GRANTED = "qmon: not done: {step}: {problem}"
    CONFIRM = "{target}: remove {queues} and all messages? This cannot be undone"
    REMOVED = "{queue}: {count} objects removed"


def register_commands(app: typer.Typer) -> None:
    app.command("install", epilog="Example: qmon design install shop ring --schema public --ring-size 4096")(install)
    app.command("uninstall", epilog="Example: qmon design uninstall shop ring --yes")(uninstall)


def install(
    context: typer.Context,
    target: options.Target,
    design: Annotated[list[str], typer.Argument(metavar="DESIGN...", help="Designs, from `qmon design list`.")],
    schema: Annotated[str, typer.Option("--schema", metavar="NAME", help="Schema to create the queues in.")],
    queue: Annotated[
        str | None, typer.Option("--queue", metavar="NAME", help="Queue name. Default: the name of the design.")
    ] = None,
    ring_size: options.RingSize = None,
    subscribers: options.Subscribers = None,
    max_attempts: Annotated[
        int | None,
        typer.Option(
            "--max-attempts",
            metavar="N",
            min=1,
            max=1_000_000,
            help="Attempts after which a failed message is dead. Default: 5.",
        ),
    ] = None,
) -> None:
    """Install queues, and record the queues in the database."""
    from qmon.cli.target_session import open_target
    from qmon.operate.install.install_queue import DEFAULT_RING_SIZE, install_queue

    config = options.config_path(context)
    if queue is not None and len(design) > 1:
        raise BadInput(DesignText.ONE_DESIGN)
    with open_target(target, config, "install", read_only=False) as at:
        for each in design:
            size = DEFAULT_RING_SIZE if ring_size is None else ring_size
            made = install_queue(
                at.connection,
                at.engine,
                each,
                schema=schema,
                queue=each if queue is None else queue,
                ring_size=size,
                subscribers=subscribers,
                max_attempts=max_attempts,
            )
            print_output(
                f"{clean_text(made.layout.queue)}: {each} as {clean_text(made.layout.table)}, "
                f"{len(made.created)} objects"
            )
            _grant_qmon_roles(at, made.layout)


def _grant_qmon_roles(at: ConnectedTarget, layout: Layout) -> None:
    """Grant qmon's roles, if they exist, access to the new queue."""
    from qmon.monitor.catalog.resolve import resolve_queues
    from qmon.operate.install.control_setup import plan_missing_grants, run_setup

    facts = resolve_queues(at.connection, at.engine, [layout], by_shape=False).facts.get(layout.queue)
    steps = plan_missing_grants(at.connection, at.engine, facts.object_ids if facts else (), [layout])
    for outcome in run_setup(at.connection, steps):
        if outcome.problem:
            print_note(DesignText.NOT_GRANTED.render(step=outcome.step.purpose, problem=outcome.problem))


def uninstall(
    context: typer.Context,
    target: options.Target,
    queue: Annotated[
        list[str],
        typer.Argument(metavar="QUEUE...", help="Queues installed by qmon.", autocompletion=completion.complete_queues),
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove installed queues with all their messages.

    This cannot be undone.
    """
    from qmon.cli.target_session import open_target
    from qmon.operate.install.install_queue import uninstall_queue

    config = options.config_path(context)
    with open_target(target, config, "uninstall", read_only=False) as at:
        layouts = [at.installed_layout(name) for name in queue]
        if not yes:
            _confirm_removal(at, layouts)
        for name in queue:
            gone = uninstall_queue(at.connection, at.engine, name)
            print_output(DesignText.REMOVED.render(queue=clean_text(name), count=len(gone.removed)))


def _confirm_removal(at: ConnectedTarget, layouts: list[Layout]) -> None:
    """Ask for confirmation. Raises ``typer.Exit`` if the user refuses."""
    import sys

    if not sys.stdin.isatty():
        raise BadInput(DesignText.NO_TERMINAL)
    names = ", ".join(f"{clean_text(layout.queue)} ({clean_text(layout.table)})" for layout in layouts)
    question = DesignText.CONFIRM.render(target=clean_text(at.target.name), queues=names)
    if not typer.confirm(question, default=False):
        print_note(DesignText.NOTHING_CHANGED)
        raise typer.Exit(1)
