"""``qmon setup``: creates qmon's own schema and roles, or prints a script with the SQL for the DBA."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from qmon.cli import completion, options
from qmon.cli.output import clean_text, print_note, print_output
from qmon.errors import BadInput
from qmon.texts import Text

if TYPE_CHECKING:
    from pathlib import Path

    from qmon.cli.target_session import ConnectedTarget
    from qmon.monitor.catalog.resolve import Resolved
    from qmon.operate.install.control_setup import SetupResult, SetupStep


class SetupText(Text):
    """Options and results of a setup."""

    REMOVE_NEEDS_GATE = "--remove needs --gate QUEUE"
    NOTHING_TO_DO = "nothing to do: everything exists already"
    REFUSED = (
        "{failed} of {steps} steps need a role with more rights; the first: {step}: {problem}. Get the script for your"
        " DBA: qmon setup {target} --role {role} --print > for-the-dba.sql"
    )
    FOR_A_USER = "to grant the role to a database user: ALTER ROLE {role} ADD MEMBER [user]"
    FOR_A_LOGIN = (
        "to end sessions, also grant the role to the login: ALTER SERVER ROLE qmon_operator ADD MEMBER [login]"
    )
    FOR_A_ROLE = "to grant the role to a login role: GRANT {role} TO their_role"
    LEFT_OUT = "qmon: left out: {queue}: {reason}"
    TO_DO = "to do     {step}"
    DONE = "done      {step}"


class RoleChoice(StrEnum):
    """The role to set up."""

    MONITOR = "monitor"
    OPERATOR = "operator"


def register_commands(app: typer.Typer) -> None:
    epilog = "Example: qmon setup orders-prod --print --role operator > for-the-dba.sql"
    app.command("setup", epilog=epilog)(options.expand_options(setup))


def setup(
    context: typer.Context,
    target: options.Target,
    show: Annotated[bool, typer.Option("--print", help="Print the SQL and change nothing.")] = False,
    role: Annotated[
        RoleChoice,
        typer.Option("--role", help="Rights to grant: monitor to watch queues, operator to also act on queues."),
    ] = RoleChoice.MONITOR,
    gate: Annotated[
        str | None,
        typer.Option(
            "--gate",
            metavar="QUEUE",
            help="Only install an insert trigger on this queue, which lets qmon pause the producers.",
            show_default=False,
            autocompletion=completion.complete_queues,
        ),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the trigger. Needs --gate.")] = False,
    *,
    setup_options: options.ConfirmationOptions,
) -> None:
    """Create qmon's schema and roles in a database.

    Watching queues needs neither the schema nor the roles. The roles get rights on the queues of the database. qmon
    does not change existing objects. If your role may not run a statement, qmon prints the command that writes a script
    for your DBA.
    """
    config = options.config_path(context)
    if gate is not None:
        shown = {"dry_run": setup_options.dry_run or show, "sql": show}
        _gate(target, config, gate, options.ActionOptions(**asdict(setup_options) | shown), remove=remove)
        return
    if remove:
        raise BadInput(SetupText.REMOVE_NEEDS_GATE)
    from qmon.cli.target_session import open_target
    from qmon.operate.install import control_setup as steps

    with open_target(target, config, "setup", read_only=show or setup_options.dry_run) as at:
        resolved = _find_queues(at)
        ids = [i for facts in resolved.facts.values() for i in facts.object_ids]
        ids += steps.read_object_ids(at.connection, at.engine, resolved.of_libraries)
        ids += [found.table_id for found in resolved.groups if found.group.writes is not None]
        watched = [table_id for found in resolved.groups for _, table_id in found.tables]
        planned = steps.plan_control_setup(at.connection, at.engine, role.value, ids, resolved.layouts, watched)
        if not planned:
            print_note(SetupText.NOTHING_TO_DO)
        elif show:
            print(steps.setup_script(at.engine, planned), end="")
        elif setup_options.dry_run:
            for step in planned:
                print_output(SetupText.TO_DO.render(step=_summary_text(step)))
        else:
            _print_results(steps.run_setup(at.connection, planned), target, role)
    name = f"qmon_{role.value}"
    if at.engine.name == "sqlserver":
        print_note(SetupText.FOR_A_USER.render(role=name))
        if role is RoleChoice.OPERATOR:
            print_note(SetupText.FOR_A_LOGIN)
    else:
        print_note(SetupText.FOR_A_ROLE.render(role=name))


def _gate(target: str, config: Path | None, queue: str, confirmation: options.ActionOptions, *, remove: bool) -> None:
    from qmon.cli.commands.act.run_action import act_on_queue
    from qmon.model.operation_records import OperationKind

    kind = OperationKind.REMOVE_GATE if remove else OperationKind.INSTALL_GATE
    act_on_queue(
        target,
        config,
        queue,
        kind,
        lambda at, layout: at.remove_gate(layout) if remove else at.install_gate(layout),
        confirmation,
    )


def _find_queues(at: ConnectedTarget) -> Resolved:
    """Return the queues, including queues that our role may not read."""
    from qmon.monitor.catalog.resolve import resolve_queues

    resolved = resolve_queues(
        at.connection,
        at.engine,
        at.configured,
        by_shape=False,
        by_library=not at.configured or None,
        readable_only=False,
    )
    for problem in resolved.problems:
        print_note(SetupText.LEFT_OUT.render(queue=problem.queue, reason=problem.reason))
    return resolved


def _print_results(outcomes: tuple[SetupResult, ...], target: str, role: RoleChoice) -> None:
    """Print the steps that were done, and one line about the steps that need a role with more rights."""
    failed = [outcome for outcome in outcomes if outcome.problem]
    for outcome in outcomes:
        if not outcome.problem:
            print_output(SetupText.DONE.render(step=_summary_text(outcome.step)))
    if failed:
        refused = SetupText.REFUSED.render(
            failed=len(failed),
            steps=len(outcomes),
            step=_summary_text(failed[0].step),
            problem=clean_text(failed[0].problem),
            target=clean_text(target),
            role=role.value,
        )
        print_note(refused)
        raise typer.Exit(1)


def _summary_text(step: SetupStep) -> str:
    """Return the first sentence of a step's purpose, and the step's object."""
    first = step.purpose.partition(". ")[0].rstrip(".")
    return clean_text(first + step.object_suffix)
