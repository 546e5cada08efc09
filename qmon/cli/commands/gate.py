"""``qmon gate``: the trigger by which a table that qmon did not install can be paused."""

from __future__ import annotations

import typer

from qmon.cli import options
from qmon.cli.commands import act_options as act


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    gate = typer.Typer(
        help="Install or remove the insert trigger by which the pushers of a table of yours can be paused.",
        no_args_is_help=True,
    )
    gate.command("install", epilog="Example: qmon gate install orders-prod invoices")(install)
    gate.command("remove", epilog="Example: qmon gate remove orders-prod invoices")(remove)
    app.add_typer(gate, name="gate")


def install(
    target: options.Target,
    queue: act.Queue = None,
    config: options.ConfigPath = None,
    dry_run: act.DryRun = False,
    yes: act.Yes = False,
    reason: act.Reason = "",
    confirm: act.Confirm = None,
    json: options.Json = False,
) -> None:
    """Install the gate; its plan says what pushers will feel."""
    from qmon.cli.commands.act_run import on_queue
    from qmon.model.operations import Kind

    given = act.Given(dry_run, yes, reason, confirm, json)
    on_queue(target, config, queue, Kind.INSTALL_GATE, lambda acts, layout: acts.install_gate(layout), given)


def remove(
    target: options.Target,
    queue: act.Queue = None,
    config: options.ConfigPath = None,
    dry_run: act.DryRun = False,
    yes: act.Yes = False,
    reason: act.Reason = "",
    confirm: act.Confirm = None,
    json: options.Json = False,
) -> None:
    """Remove the gate."""
    from qmon.cli.commands.act_run import on_queue
    from qmon.model.operations import Kind

    given = act.Given(dry_run, yes, reason, confirm, json)
    on_queue(target, config, queue, Kind.REMOVE_GATE, lambda acts, layout: acts.remove_gate(layout), given)
