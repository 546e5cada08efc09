"""``qmon libraries``: the queue libraries whose tables qmon knows."""

from __future__ import annotations

import typer

from qmon.cli import options
from qmon.cli.output import json_object, note, on_terminal, table


def add_to(app: typer.Typer) -> None:
    """Add this command."""
    app.command("libraries", epilog="Example: qmon libraries --json")(libraries)


def libraries(json: options.Json = False) -> None:
    """List the queue libraries that qmon recognises by their tables, and with which versions that was tested."""
    from qmon.libraries import catalogue

    known = catalogue.libraries()
    if json:
        found = [{"name": k.name, "engine": k.engine, "tested": k.tested, "docs": k.docs} for k in known]
        json_object({"schema": 1, "libraries": found})
        return
    table(("LIBRARY", "ENGINE", "TESTED WITH", "DOCUMENTATION"), [(k.name, k.engine, k.tested, k.docs) for k in known])
    if on_terminal():
        note(f"a file in {catalogue.own_folder()} adds one, or changes one of these")
