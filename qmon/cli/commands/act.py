"""``qmon requeue``, ``purge``, ``pause``, ``resume``, ``repair``, ``undo``, ``end-blocker``: the keys as commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

import typer

from qmon.cli import options
from qmon.cli.commands import act_options as act

_EXAMPLES: Final = {
    "requeue": "qmon requeue orders-prod invoices --older-than 10m --dry-run",
    "purge": "qmon purge orders-prod mails --state dead --reason 'ticket 4711'",
    "pause": "qmon pause orders-prod orders --for 30m --reason 'mailer is down'",
    "resume": "qmon resume orders-prod orders",
    "repair": "qmon repair orders-prod ring",
    "undo": "qmon undo orders-prod 261121-071402-k7qd",
    "end-blocker": "qmon end-blocker orders-prod 61",
}


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    commands: tuple[Callable[..., None], ...] = (requeue, purge, pause, resume, repair, undo, end_blocker)
    for name, command in zip(_EXAMPLES, commands, strict=True):
        app.command(name, epilog=f"Example: {_EXAMPLES[name]}")(command)


def requeue(
    target: options.Target,
    queue: act.Queue = None,
    config: options.ConfigPath = None,
    ids: act.Ids = None,
    older_than: act.OlderThan = None,
    state: act.State = None,
    owner: act.Owner = None,
    owners: act.Owners = "dead",
    limit: act.Max = None,
    dry_run: act.DryRun = False,
    yes: act.Yes = False,
    reason: act.Reason = "",
    confirm: act.Confirm = None,
    json: options.Json = False,
) -> None:
    """Make messages that are stuck in progress ready again, at the front. By default those of dead owners only."""
    from qmon.cli.commands.act_run import on_queue
    from qmon.model.operations import Kind

    given = act.Given(dry_run, yes, reason, confirm, json)
    choice = act.choice(ids, older_than, state, owner, owners, limit)
    on_queue(target, config, queue, Kind.REQUEUE, lambda acts, layout: acts.requeue(layout, choice), given)


def purge(
    target: options.Target,
    queue: act.Queue = None,
    config: options.ConfigPath = None,
    ids: act.Ids = None,
    older_than: act.OlderThan = None,
    state: act.State = None,
    owner: act.Owner = None,
    owners: act.Owners = "dead",
    limit: act.Max = None,
    dry_run: act.DryRun = False,
    yes: act.Yes = False,
    reason: act.Reason = "",
    confirm: act.Confirm = None,
    json: options.Json = False,
) -> None:
    """Move messages to the trash, from where qmon undo brings them back."""
    from qmon.cli.commands.act_run import on_queue
    from qmon.model.operations import Kind

    given = act.Given(dry_run, yes, reason, confirm, json)
    choice = act.choice(ids, older_than, state, owner, owners, limit)
    on_queue(target, config, queue, Kind.PURGE, lambda acts, layout: acts.purge(layout, choice), given)


def pause(
    target: options.Target,
    queue: act.Queue = None,
    config: options.ConfigPath = None,
    side: act.Side = act.SideChoice.PUSHERS,
    length: Annotated[
        float, typer.Option("--for", parser=options.seconds, metavar="TIME", help="It lifts itself after so long.")
    ] = 900.0,
    dry_run: act.DryRun = False,
    yes: act.Yes = False,
    reason: act.Reason = "",
    confirm: act.Confirm = None,
    json: options.Json = False,
) -> None:
    """Pause the pushers of a queue, or its poppers, for a while; the pause lifts itself, also with qmon gone."""
    from qmon.cli.commands.act_run import on_queue
    from qmon.model.operations import Kind, Side

    given = act.Given(dry_run, yes, reason, confirm, json)
    on_queue(
        target,
        config,
        queue,
        Kind.PAUSE,
        lambda acts, layout: acts.pause(layout, Side(side.value), for_s=length),
        given,
    )


def resume(
    target: options.Target,
    queue: act.Queue = None,
    config: options.ConfigPath = None,
    side: act.Side = act.SideChoice.PUSHERS,
    dry_run: act.DryRun = False,
    yes: act.Yes = False,
    reason: act.Reason = "",
    confirm: act.Confirm = None,
    json: options.Json = False,
) -> None:
    """Lift a pause before its end."""
    from qmon.cli.commands.act_run import on_queue
    from qmon.model.operations import Kind, Side

    given = act.Given(dry_run, yes, reason, confirm, json)
    on_queue(target, config, queue, Kind.RESUME, lambda acts, layout: acts.resume(layout, Side(side.value)), given)


def repair(
    target: options.Target,
    queue: act.Queue = None,
    config: options.ConfigPath = None,
    dry_run: act.DryRun = False,
    yes: act.Yes = False,
    reason: act.Reason = "",
    confirm: act.Confirm = None,
    json: options.Json = False,
) -> None:
    """Repair a ring: fill its proven holes and requeue its orphans."""
    from qmon.cli.commands.act_run import on_queue
    from qmon.model.operations import Kind

    given = act.Given(dry_run, yes, reason, confirm, json)
    on_queue(target, config, queue, Kind.REPAIR, lambda acts, layout: acts.repair(layout), given)


def undo(
    target: options.Target,
    operation: Annotated[
        str, typer.Argument(metavar="OPERATION", help="The operation to take back, as qmon operations lists it.")
    ],
    config: options.ConfigPath = None,
    ids: act.Ids = None,
    limit: act.Max = None,
    dry_run: act.DryRun = False,
    yes: act.Yes = False,
    reason: act.Reason = "",
    confirm: act.Confirm = None,
    json: options.Json = False,
) -> None:
    """Take back an operation, or with --ids a part of it."""
    from qmon.cli.commands.act_run import carry_out
    from qmon.cli.operator import acting

    given = act.Given(dry_run, yes, reason, confirm, json)
    choice = act.choice(ids, limit=limit)
    with acting(target, config, "undo") as at:
        carry_out(lambda: at.operator.undo(operation, choice), at.connections, given)


def end_blocker(
    target: options.Target,
    session: Annotated[
        int,
        typer.Argument(
            metavar="SESSION",
            min=0,
            max=2**31 - 1,
            help="The session that blocks others, by the server's number; 0: a prepared transaction.",
        ),
    ],
    config: options.ConfigPath = None,
    dry_run: act.DryRun = False,
    yes: act.Yes = False,
    reason: act.Reason = "",
    confirm: act.Confirm = None,
    json: options.Json = False,
) -> None:
    """End a session that blocks a queue: exactly the one that the plan shows, or none."""
    from qmon.cli.commands.act_run import carry_out
    from qmon.cli.operator import acting

    given = act.Given(dry_run, yes, reason, confirm, json)
    with acting(target, config, "end-blocker") as at:
        carry_out(lambda: at.operator.end_blocker(session, None), at.connections, given)
