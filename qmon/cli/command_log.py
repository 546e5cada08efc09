"""Writes the log of a command: applies the log options, and logs when the command starts and ends."""

from __future__ import annotations

import logging
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from qmon import __version__, log
from qmon.cli.guard import CODE_KEY
from qmon.cli.output import print_note

_LOG = logging.getLogger(__name__)

# Commands that run every minute. Routine entries of these commands would push important entries out of the log.
_FREQUENT_COMMANDS = ("check",)


def start_log(context: typer.Context, file: Path | None, level: str | None) -> None:
    """Write a log until the command ends.

    Raises ``BadInput`` for an unknown level. If the requested file cannot be written, prints a note on standard error.
    """
    command = context.invoked_subcommand or ""
    chosen = log.parse_level(level or ("warning" if command in _FREQUENT_COMMANDS else "info"))
    context.with_resource(log.log_to_file(file, chosen))
    context.with_resource(_log_begin_and_end(context, command))
    if file is not None and log.write_problem():
        print_note(f"qmon: {log.log_location()}")


@contextmanager
def _log_begin_and_end(context: typer.Context, command: str) -> Iterator[None]:
    began = time.monotonic()
    system = f"{platform.system()} {platform.release()}"
    _LOG.info("qmon %s begins: %s; Python %s, %s", __version__, command, platform.python_version(), system)
    try:
        yield
    finally:
        _LOG.info("qmon ends: %s, code %s, after %.1f s", command, context.meta.get(CODE_KEY), time.monotonic() - began)
