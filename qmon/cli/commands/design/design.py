"""``qmon design``: lists the queue designs that qmon can install, and contains the commands for installed queues."""

from __future__ import annotations

import typer

from qmon.cli.commands.design import archive, bench, install, listing, load


def register_commands(app: typer.Typer) -> None:
    group = typer.Typer(help="Try queue designs: list, install, load and measure them.", no_args_is_help=True)
    for module in (listing, install, load, bench, archive):
        module.register_commands(group)
    app.add_typer(group, name="design", epilog="Example: qmon design list")
