"""``qmon targets``: lists the known targets, and shows which targets answer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Final

import typer

from qmon.cli import options
from qmon.cli.output import clean_text, print_output, print_report, print_table
from qmon.cli.target_prompt import TARGET_HEADERS, PromptText, target_choice_row
from qmon.errors import BadInput, ConnectionFailed, MissingDriver, QmonError
from qmon.model.formatting import duration, milliseconds

if TYPE_CHECKING:
    from qmon.cli.reports.target_reports import NamedTarget
    from qmon.cli.target_session import ChosenTarget
    from qmon.config.config_file import Config

# Maximum seconds to wait for each target.
WAIT_S: Final = 10.0


def register_commands(app: typer.Typer) -> None:
    app.command("targets", epilog="Example: qmon targets --output json")(targets)


def targets(
    context: typer.Context,
    output: options.Output = "table",
    connect: Annotated[bool, typer.Option(help="Connect to each target.")] = True,
) -> None:
    """List targets and ODBC DSNs, and show which can be reached.

    qmon connects to all targets of qmon.toml and all DSNs at the same time, and waits up to 10 s. It does not ask for
    passwords.
    """
    from qmon.cli.reports.target_reports import NamedTarget
    from qmon.config.config_file import read_config
    from qmon.config.known_targets import known_targets
    from qmon.model.report_shapes import fill

    config = options.config_path(context)
    read = read_config(config)
    known = known_targets(read)
    rows = [fill(NamedTarget, each, reachable=None, answered_s=None, server_version=None) for each in known]
    if connect:
        _connect_targets(rows, read)
    drivers = _installed_drivers()
    if output != "table":
        from qmon.cli.reports.target_reports import TargetsReport

        print_report(output, {"schema": 1, "targets": rows, "drivers": drivers}, TargetsReport, "targets")
        return
    if known:
        cells = [
            (*target_choice_row(each), _answer_time_text(row), row["server_version"] or row["problem"] or "–")
            for each, row in zip(known, rows, strict=True)
        ]
        print_table((*TARGET_HEADERS, "ANSWERED", "SERVER VERSION"), cells, wrap=5)
    else:
        print_output(PromptText.NONE_KNOWN.render(path=clean_text(read.path)))
    listed = clean_text(", ".join(drivers)) or PromptText.NO_DRIVERS
    print_output(PromptText.DRIVERS.render(drivers=listed))


def _installed_drivers() -> list[str]:
    try:
        from qmon.engines import odbc
    except MissingDriver:
        return []
    from qmon.engines.sqlserver import driver_wheel

    return sorted({*odbc.installed_drivers(), *driver_wheel.known_names()})


def _answer_time_text(row: NamedTarget) -> str:
    if row["answered_s"] is not None:
        return milliseconds(row["answered_s"] * 1000)
    return "–" if row["reachable"] is None else "no"


def _connect_targets(rows: list[NamedTarget], config: Config) -> None:
    """Fill in the version of each server, or why the version is unknown."""
    from qmon.cli.several_targets import collect_answers, failure_reason
    from qmon.cli.target_session import ChosenTarget, connect_target
    from qmon.config.chosen_target import find_target
    from qmon.engines.bounded_calls import BoundedCalls, CallTimeoutError

    calls = BoundedCalls()

    def ask(chosen: ChosenTarget, may_ask: bool) -> tuple[str, float] | QmonError:
        """Return the version and the seconds, or the error.

        The error is not raised, because raising it would cause a password prompt.
        """

        def log_in() -> tuple[str, float]:
            began = time.perf_counter()
            with connect_target(chosen, "targets", may_ask=False) as at:
                return ".".join(map(str, at.connection.version)), time.perf_counter() - began

        try:
            return calls.run_within(WAIT_S, log_in, lambda _: None, chosen.target.name)
        except CallTimeoutError:
            return ConnectionFailed(PromptText.NO_ANSWER.render(target=chosen.target.name, duration=duration(WAIT_S)))
        except QmonError as problem:
            return problem

    asked: list[tuple[NamedTarget, ChosenTarget]] = []
    for row in rows:
        try:
            found = find_target(row["name"], config)
        except BadInput as problem:
            row["problem"] = row["problem"] or failure_reason(problem)
        else:
            asked.append((row, ChosenTarget(found.target, found.queues, config)))
    answers = collect_answers([chosen for _, chosen in asked], ask)
    for (row, _), answer in zip(asked, answers, strict=True):
        row["reachable"] = not isinstance(answer, Exception)
        if isinstance(answer, Exception):
            row["problem"] = failure_reason(answer)
        else:
            row["server_version"], row["answered_s"] = answer
