"""Assembles the commands of the program."""

from __future__ import annotations

import gc
import inspect
import os
import re
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.main import get_group
from typer.models import TyperPath

from qmon import __version__, files
from qmon.cli.console import prepare_streams
from qmon.cli.guard import GuardedGroup, is_target
from qmon.cli.guesses import ALIASES, hint_for, rewrite_arguments
from qmon.cli.shared_options import share_options
from qmon.errors import BadInput

# The groups of `qmon --help`, in order, with their commands.
PANELS: Final = {
    "Watch": ("connect", "status", "check", "queues", "demo"),
    "Act": ("requeue", "purge", "pause", "resume", "undo", "repair", "end-session", "operations", "trash"),
    "Set up": ("init", "doctor", "setup", "targets"),
    "Remember": ("serve", "record", "replay", "export", "report", "pipeline"),
    "Lab": ("design",),
    "Help": ("help",),
}
# The commands, keyed by their module in `qmon.cli.commands`.
COMMANDS: Final = {
    "connect": ("connect", "demo"),
    "status": ("status",),
    "check": ("check",),
    "queues": ("queues", "init"),
    "act.act": ("requeue", "purge", "pause", "resume", "undo", "repair", "end-session"),
    "act.operations": ("operations", "trash"),
    "doctor.doctor": ("doctor",),
    "setup": ("setup",),
    "targets": ("targets",),
    "serve": ("serve",),
    "record": ("record",),
    "replay": ("replay", "export"),
    "report": ("report",),
    "pipeline.pipeline": ("pipeline",),
    "design.design": ("design",),
    "help": ("help",),
}
_PANEL_OF: Final = {name: panel for panel, names in PANELS.items() for name in names}
# Number of new objects between two runs of Python's cycle collector. Imports and polls create many objects, but hardly
# any cycles.
_GARBAGE: Final = 20_000
_HAS_COLOURS: Final = sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
_MARKUP: Final = "rich" if _HAS_COLOURS else None


class LazyCommands(GuardedGroup):
    """Imports a command's module when the command is used.

    All modules are imported to list the commands, and to handle an unknown name.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, in the order of the help."""
        if len(self.commands) < len(_PANEL_OF):
            self._import_modules(*COMMANDS)
        return list(_PANEL_OF)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands:
            self._import_modules(*([module for module, names in COMMANDS.items() if cmd_name in names] or COMMANDS))
        return super().get_command(ctx, cmd_name)

    def _import_modules(self, *modules: str) -> None:
        made = typer.Typer(rich_markup_mode=_MARKUP)
        for module in modules:
            import_module(f"qmon.cli.commands.{module}").register_commands(made)
        self.commands = get_group(made).commands
        for name, command in self.commands.items():
            _use_plain_metavars(command)
            _resolve_home_folders(command)
            share_options(command, {"qmon": [option for option in self.params if option.name == "config"]})
            command.rich_help_panel = _PANEL_OF[name]  # type: ignore[attr-defined]
            command.short_help = first_sentence(command.help or "")

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Rewrite other spellings of options and commands, then parse the options before the command."""
        _resolve_home_folders(self)
        return super().make_context(info_name, rewrite_arguments(args), parent, **extra)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command by its name or an alias. A target alone opens the dashboard.

        Raises ``BadInput`` for an unknown command or option, if qmon can name the command or option to use instead.
        """
        if is_target(args[0]):
            args = ["connect", *args]
        elif args[0] in ALIASES:
            args = [*ALIASES[args[0]], *args[1:]]
        if args[0] == "--version":
            _print_version(requested=True)
        if hint := hint_for(args[0], args[1:]):
            raise BadInput(hint)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands in groups, each with its whole first sentence."""
        rows = {name: command for name in self.list_commands(ctx) if (command := self.get_command(ctx, name))}
        width = max(map(len, rows))
        for panel, names in PANELS.items():
            with formatter.section(panel):
                formatter.write_dl([(name.ljust(width), rows[name].short_help or "") for name in names])


def _use_plain_metavars(command: Any) -> None:
    """Show arguments by their plain names, ``TARGET`` or ``[QUEUE]``, in a command and its subcommands."""
    for parameter in command.params:
        if parameter.param_type_name == "argument" and parameter.metavar:
            parameter.make_metavar = partial(_plain_metavar, parameter.metavar)
    for below in getattr(command, "commands", {}).values():
        _use_plain_metavars(below)


def _resolve_home_folders(command: Any) -> None:
    """Let all path options and arguments of a command accept ``~`` and ``~name``, even in ``--to=~/rec``."""
    for parameter in command.params:
        if isinstance(parameter.type, TyperPath) and "convert" not in vars(parameter.type):
            vars(parameter.type)["convert"] = partial(_convert_path, parameter.type.convert)
    for below in getattr(command, "commands", {}).values():
        _resolve_home_folders(below)


def _convert_path(convert: Any, value: Any, parameter: Any, ctx: Any) -> Any:
    try:
        return convert(files.expand_home(value) if isinstance(value, str) else value, parameter, ctx)
    except BadInput as problem:
        raise typer.BadParameter(str(problem), ctx, parameter) from None


def _plain_metavar(metavar: str, ctx: Any, *, usage: bool = False) -> str:
    return metavar


def first_sentence(text: str) -> str:
    """Return the first sentence of a help text, on one line."""
    line = " ".join(inspect.cleandoc(text).partition("\n\n")[0].split())
    found = re.match(r".*?[.](?= [A-Z`-]|$)", line)
    return line if found is None else found[0]


app = typer.Typer(
    name="qmon",
    cls=LazyCommands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=_MARKUP,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A terminal dashboard for message queues kept in database tables.",
    epilog="Start with: qmon demo, or: qmon connect postgresql://user@host/database. Manual: qmon help",
)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"qmon {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="PATH",
            help="Configuration file. Default: your qmon.toml. Also accepted after the command.",
            dir_okay=False,
            show_default=False,
        ),
    ] = None,
    log_file: Annotated[
        Path | None,
        typer.Option(
            "--log-file", metavar="FILE", help="Write the log to this file.", dir_okay=False, show_default=False
        ),
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
    from qmon.cli.command_log import start_log

    start_log(context, log_file, log_level)


def main() -> None:
    """Run the program ``qmon``.

    Exit codes: 0; 1 unreachable or failed; 2 bad input; 3 partly done; 130 interrupted.
    """
    gc.set_threshold(_GARBAGE)
    prepare_streams()
    app()
