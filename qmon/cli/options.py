"""The parameters that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from qmon.errors import BadInput


def seconds(text: str | float) -> float:
    """Seconds of ``2s``, ``5m`` or ``500ms``, a default as it is; a usage error for anything else."""
    if isinstance(text, float):
        return text
    from qmon.model.duration import parse_duration

    try:
        return parse_duration(text)
    except BadInput as problem:
        raise typer.BadParameter(str(problem)) from None


Target = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="A name from qmon.toml, a postgresql:// or mssql:// URL, an ODBC connection string, or a DSN.",
        show_default=False,
    ),
]
ConfigPath = Annotated[
    Path | None,
    typer.Option("--config", "-c", metavar="PATH", help="The qmon.toml to read instead of your own.", dir_okay=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
EngineChoice = Literal["postgres", "sqlserver"]
RingSize = Annotated[
    int | None,
    typer.Option("--ring-size", metavar="N", min=2, max=10_000_000, help="Slots of a ring. Default: 10,000."),
]
Subscribers = Annotated[
    int | None,
    typer.Option(
        "--subscribers", metavar="N", min=1, max=16, help="How many read each message of a ring, each at its own pace."
    ),
]
