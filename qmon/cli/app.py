"""Assembles the commands."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.main import get_group

from qmon import __version__
from qmon.cli.console import prepare
from qmon.cli.guard import Guarded

# Commands by module of `qmon.cli.commands`, in the order of the help.
COMMANDS: Final = {
    "connect": ("connect", "demo"),
    "status": ("status",),
    "record": ("record",),
    "serve": ("serve",),
    "replay": ("replay", "export"),
    "check": ("check",),
    "notify": ("notify",),
    "act.act": ("requeue", "redrive", "purge", "pause", "resume", "repair", "undo", "end-blocker", "gate"),
    "act.operations": ("operations", "trash"),
    "targets": ("targets",),
    "queues": ("queues", "init"),
    "doctor.doctor": ("doctor",),
    "setup": ("setup",),
    "designs": ("designs",),
    "libraries": ("libraries",),
    "install": ("install", "uninstall"),
    "load": ("load",),
    "archive": ("archive",),
    "bench.bench": ("bench",),
    "pipeline.pipeline": ("pipeline",),
    "help": ("help",),
}

# Objects allocated between two garbage collections. Imports and polls allocate many objects but hardly any cycles.
_GARBAGE: Final = 20_000
_FANCY: Final = sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
_MARKUP: Final = "rich" if _FANCY else None


class Commands(Guarded):
    """Imports a command's module when the command is used. A list of commands, or an unknown name, imports all."""

    def list_commands(self, ctx: Any) -> list[str]:
        if len(self.commands) < sum(map(len, COMMANDS.values())):
            self._import(*COMMANDS)
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands:
            self._import(*([module for module, names in COMMANDS.items() if cmd_name in names] or COMMANDS))
        return super().get_command(ctx, cmd_name)

    def _import(self, *modules: str) -> None:
        made = typer.Typer(rich_markup_mode=_MARKUP)
        for module in modules:
            import_module(f"qmon.cli.commands.{module}").add_to(made)
        self.commands = get_group(made).commands


app = typer.Typer(
    name="qmon",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=_MARKUP,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A terminal dashboard for message queues kept in database tables.",
    epilog="Begin with: qmon demo, or: qmon connect postgresql://user@host/database. The manual: qmon help",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"qmon {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", callback=_version, is_eager=True)
    ] = False,
    log_file: Annotated[
        Path | None,
        typer.Option("--log-file", metavar="FILE", help="Write the log there.", dir_okay=False, show_default=False),
    ] = None,
    log_level: Annotated[
        str | None,
        typer.Option(
            "--log-level", metavar="LEVEL", envvar="QMON_LOG", help="debug, info (the default), warning, error, or off."
        ),
    ] = None,
) -> None:
    """A terminal dashboard for message queues kept in database tables.

    A TARGET is a name from qmon.toml, a URL (postgresql://… or mssql://…), an ODBC connection string, or a DSN.
    """
    from qmon.cli.logged import keep_log

    keep_log(context, log_file, log_level)


def main() -> None:
    """Run the program ``qmon``.

    Exit codes: 0; 1 unreachable or failed; 2 bad input; 3 partly done; 130 interrupted.
    """
    gc.set_threshold(_GARBAGE)
    prepare()
    app()
