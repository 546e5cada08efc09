"""``qmon targets``: the targets that can be named, and which of them answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from qmon.cli import options
from qmon.cli.choosing import TARGET_HEADERS, target_row
from qmon.cli.output import clean, report, say, table
from qmon.errors import BadInput, QmonError

if TYPE_CHECKING:
    from qmon.cli.reports.target import NamedTarget
    from qmon.cli.session import Chosen
    from qmon.config.file import Config
    from qmon.config.known import KnownTarget


def add_to(app: typer.Typer) -> None:
    """Add this command."""
    app.command("targets", epilog="Example: qmon targets --output json")(targets)


def targets(
    config: options.ConfigPath = None,
    output: options.Output = "table",
    connect: Annotated[bool, typer.Option(help="Connect to each, to see which can be reached.")] = True,
) -> None:
    """List the targets of qmon.toml and the ODBC DSNs, and which of them can be reached. Asks for no password."""
    from qmon.config.file import read_config
    from qmon.config.known import known_targets

    read = read_config(config)
    known = known_targets(read)
    rows = [_row(each) for each in known]
    if connect:
        _connect(rows, read)
    if output != "table":
        from qmon.cli.reports.target import TargetsReport

        report(output, {"schema": 1, "targets": rows}, TargetsReport, "targets")
        return
    if not known:
        say(f"No target is configured in {clean(read.path)}, and the driver manager knows no DSN.")
        return
    cells = [
        (*target_row(each), row["server_version"] or row["problem"] or "–")
        for each, row in zip(known, rows, strict=True)
    ]
    table((*TARGET_HEADERS, "SERVER VERSION"), cells, wrap=4)


def _row(known: KnownTarget) -> NamedTarget:
    return {
        "name": known.name, "engine": known.engine, "place": known.place, "dsn": known.dsn,
        "environment": known.environment, "prod": known.prod, "read_only": known.read_only, "queues": known.queues,
        "reachable": None, "server_version": None, "problem": known.problem or None,
    }  # fmt: skip


def _connect(rows: list[NamedTarget], config: Config) -> None:
    """Fill in the version of each server, or why there is none."""
    from qmon.cli.session import Chosen, connected
    from qmon.cli.several import each_answer, reason
    from qmon.config.targets import choose

    def ask(chosen: Chosen, may_ask: bool) -> str | QmonError:
        """The version, or why it is not known, as a value: nobody is to be asked for a password."""
        try:
            with connected(chosen, "targets", may_ask=False) as at:
                return ".".join(map(str, at.connection.version))
        except QmonError as problem:
            return problem

    asked: list[tuple[NamedTarget, Chosen]] = []
    for row in rows:
        try:
            found = choose(row["name"], config)
        except BadInput as problem:
            row["problem"] = row["problem"] or reason(problem)
        else:
            asked.append((row, Chosen(found.target, found.queues, config)))
    answers = each_answer([chosen for _, chosen in asked], ask)
    for (row, _), answer in zip(asked, answers, strict=True):
        row["reachable"] = isinstance(answer, str)
        if isinstance(answer, str):
            row["server_version"] = answer
        else:
            row["problem"] = reason(answer)
