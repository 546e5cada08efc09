"""``qmon operations``: what was done to the queues of a target, by whom, and whether it can be undone."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Final

import typer

from qmon.cli import options
from qmon.cli.output import json_object, note, table

if TYPE_CHECKING:
    from qmon.model.operations import Operation


def add_to(app: typer.Typer) -> None:
    """Add this command."""
    app.command("operations", epilog="Example: qmon operations orders-prod --json")(operations)


def operations(
    target: options.Target,
    config: options.ConfigPath = None,
    limit: Annotated[int, typer.Option("--max", metavar="N", min=1, max=10_000, help="So many at most.")] = 100,
    json: options.Json = False,
) -> None:
    """List what was done to the queues here, the newest first, with who did it, why, and whether it can be undone."""
    from qmon.cli.commands.act_run import attended
    from qmon.cli.operator import acting

    with acting(target, config, "operations") as at:
        found = attended(lambda: at.operator.operations(limit), at.connections.cancel)
    if json:
        json_object({"schema": 1, "operations": [dataclasses.asdict(each) for each in found]})
    elif found:
        table(
            (*_HEADINGS, "DONE", "SKIPPED", "CHANGED", "REFUSED", "UNDO", "BY", "REASON"),
            [_row(each) for each in found],
            wrap=11,
        )
    else:
        note("nothing was done here yet")


_HEADINGS: Final = ("OPERATION", "WHEN", "WHAT", "QUEUE", "STATE")


def _row(each: Operation) -> tuple[object, ...]:
    from qmon.cli.commands.act_text import moment

    counts = (f"{each.done:,}", f"{each.skipped:,}", f"{each.changed:,}", f"{each.refused:,}")
    return (
        each.id, moment(each.started_at), each.kind, each.queue, each.state, *counts, each.undo_state, each.by,
        each.reason,
    )  # fmt: skip
