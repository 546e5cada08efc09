"""Defines parameters that several commands share."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_type_hints

import typer

from qmon.cli import completion
from qmon.cli.output import Format
from qmon.cli.shared_options import shared_value
from qmon.errors import BadInput


def parse_seconds(text: str | float) -> float:
    """Parse a duration such as ``2s``, ``5m`` or ``500ms`` to seconds. Raises a usage error for any other text.

    A float is the option's default and is returned unchanged.
    """
    if isinstance(text, float):
        return text
    from qmon.model.formatting import parse_duration

    try:
        return parse_duration(text)
    except BadInput as problem:
        raise typer.BadParameter(str(problem)) from None


def duration_option(*names: str, help: str, default: str = "") -> Any:
    """Return an option for a duration. ``default`` is shown in the help as it is typed, such as ``15m``."""
    shown = f"{help} Default: {default}." if default else help
    return typer.Option(*names, parser=parse_seconds, metavar="TIME", help=shown, show_default=False)


def reject_nan(value: float) -> float:
    """Return the value. Raises a usage error for NaN, which option ranges accept."""
    if math.isnan(value):
        raise typer.BadParameter("nan is not a number")
    return value


def expand_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with its option dataclasses replaced by one option per field."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if isinstance(hint, type) and is_dataclass(hint)}
    parameters = []
    for own in inspect.signature(command).parameters.values():
        if own.name in groups:
            types = get_type_hints(groups[own.name], include_extras=True)
            parameters += [
                own.replace(name=field.name, annotation=types[field.name], default=field.default)
                for field in fields(groups[own.name])
            ]
        else:
            parameters.append(own.replace(annotation=hints[own.name]))

    @functools.wraps(command)
    def call(**given: Any) -> None:
        made = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**given, **made)

    vars(call).pop("__wrapped__")
    call.__annotations__ = {}
    vars(call)["__signature__"] = inspect.Signature(parameters)
    return call


def config_path(context: typer.Context) -> Path | None:
    """Return the file given by ``--config``, or ``None`` if the default file applies."""
    found: str | Path | None = shared_value(context, "config")
    return None if found is None else Path(found)


TARGET: Final = "A name from qmon.toml, a postgresql:// or mssql:// URL, an ODBC connection string, or a DSN."
Target = Annotated[
    str, typer.Argument(metavar="TARGET", help=TARGET, show_default=False, autocompletion=completion.complete_targets)
]
Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[TARGET]...",
        help=f"{TARGET} A fleet of qmon.toml also works.",
        show_default=False,
        autocompletion=completion.complete_targets,
    ),
]
Queues = Annotated[
    list[str] | None,
    typer.Option(
        "--queue",
        "-q",
        metavar="QUEUE",
        help="Only this queue. Repeatable.",
        show_default=False,
        autocompletion=completion.complete_queues,
    ),
]
AllTargets = Annotated[bool, typer.Option("--all", help="All targets of qmon.toml.")]
InstalledQueue = Annotated[
    str,
    typer.Argument(metavar="QUEUE", help="A queue that qmon has installed.", autocompletion=completion.complete_queues),
]
Output = Annotated[
    Format,
    typer.Option("--output", "-o", help="Print text, JSON or CSV. `--json` is short for `--output json`."),
]
EngineChoice = Literal["postgres", "sqlserver"]
RingSize = Annotated[
    int | None,
    typer.Option("--ring-size", metavar="N", min=2, max=10_000_000, help="Slots of a ring queue. Default: 10,000."),
]
Subscribers = Annotated[
    int | None,
    typer.Option("--subscribers", metavar="N", min=1, max=16, help="Number of independent consumers of a ring queue."),
]


@dataclass(frozen=True)
class ConfirmationOptions:
    """Options that confirm a plan, for commands that have their own option to print the SQL."""

    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Reason, for the audit.")] = ""
    confirm: Annotated[
        str | None,
        typer.Option("--confirm", metavar="NAME", help="Queue name, for plans that ask you to type the name."),
    ] = None
    output: Output = "table"
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and change nothing.")] = False


@dataclass(frozen=True)
class ActionOptions(ConfirmationOptions):
    """Options that confirm a plan or print its SQL."""

    sql: Annotated[bool, typer.Option("--sql", help="Also print the SQL of the plan.")] = False
