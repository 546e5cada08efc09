"""The commands, put together."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from qmon import __version__
from qmon.cli.commands import (
    archive,
    check,
    connect,
    designs,
    help,
    install,
    libraries,
    load,
    queues,
    record,
    replay,
    setup,
    status,
)
from qmon.cli.commands.act import act, operations
from qmon.cli.commands.bench import bench
from qmon.cli.commands.doctor import doctor
from qmon.cli.commands.pipeline import pipeline
from qmon.cli.guard import Guarded

_FANCY = sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")

app = typer.Typer(
    name="qmon",
    cls=Guarded,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich" if _FANCY else None,
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


for group in (
    connect, status, record, replay, check, act, operations, queues, doctor, setup, designs, libraries, install, load,
    archive,
    bench, pipeline, help,
):  # fmt: skip
    group.add_to(app)


def main() -> None:
    """The program ``qmon``. Exit codes: 0; 1 unreachable or failed; 2 bad input; 3 partly done; 130 interrupted."""
    app()
