"""``qmon operations`` and ``qmon trash``: list past operations on queues, and list or delete purged rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from qmon.cli import completion, options
from qmon.cli.commands.act import act
from qmon.cli.output import print_note, print_report, print_table
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.cli.target_session import ChosenTarget
    from qmon.model.operation_records import Operation


class HistoryText(Text):
    """Texts in place of an empty list."""

    LOCAL_AUDIT = "; {path} contains the operations of this machine"
    NO_RECORD = "the database has no record of operations{here}"
    EMPTY_TRASH = "the trash is empty"


_ALL: Final = 10_000
_DAY_S: Final = 86_400.0


def register_commands(app: typer.Typer) -> None:
    app.command("operations", epilog="Example: qmon operations orders-prod --output csv")(operations)
    trash = typer.Typer(help="List or empty the trash, which contains purged messages.", no_args_is_help=True)
    trash.command("list", epilog="Example: qmon trash list orders-prod")(show)
    trash.command("empty", epilog="Example: qmon trash empty orders-prod mails --older-than 30d")(
        options.expand_options(empty)
    )
    app.add_typer(trash, name="trash")


def operations(
    context: typer.Context,
    targets: options.Targets = None,
    all_targets: options.AllTargets = False,
    limit: Annotated[
        int, typer.Option("--max", metavar="N", min=1, max=10_000, help="Maximum number of operations per target.")
    ] = 100,
    output: options.Output = "table",
) -> None:
    """List past operations, and show which can be undone.

    The newest operation comes first.
    """
    from qmon.cli.commands.act.run_action import run_attended
    from qmon.cli.several_targets import ask_targets, exit_unless_all
    from qmon.cli.target_session import connect_for_action, resolve_targets

    config = options.config_path(context)
    known = resolve_targets(targets or (), config, all_targets=all_targets)

    def ask(each: ChosenTarget, may_ask: bool) -> tuple[str, tuple[Operation, ...]]:
        with connect_for_action(each, "operations", may_ask=may_ask) as at:
            return each.target.name, run_attended(lambda: at.create_operator().read_operations(limit), at.connections)

    found = ask_targets(known, ask)
    if output != "table":
        from qmon.cli.output import print_reports
        from qmon.cli.reports.target_reports import OperationsReport

        told = [{"schema": 1, "target": target, "operations": done} for target, done in found]
        print_reports(output, told, OperationsReport, "operations")
    elif any(done for _, done in found):
        headings = (*_HEADINGS, "DONE", "SKIPPED", "CHANGED", "REFUSED", "UNDO", "BY", "REASON")
        rows = [(target, each) for target, done in found for each in done]
        if len(known) == 1:
            print_table(headings, [_operation_row(each) for _, each in rows], wrap=11)
        else:
            rows.sort(key=lambda row: -row[1].started_at)
            print_table(("TARGET", *headings), [(target, *_operation_row(each)) for target, each in rows], wrap=12)
    else:
        from qmon.operate.audit import default_path

        here = HistoryText.LOCAL_AUDIT.render(path=default_path()) if default_path().exists() else ""
        print_note(HistoryText.NO_RECORD.render(here=here))
    exit_unless_all(known, found)


_HEADINGS: Final = ("OPERATION", "WHEN", "WHAT", "QUEUE", "STATE")


def _operation_row(operation: Operation) -> tuple[object, ...]:
    from qmon.cli.commands.act.run_action import local_moment

    counts = (f"{operation.done:,}", f"{operation.skipped:,}", f"{operation.changed:,}", f"{operation.refused:,}")
    return (
        operation.id,
        local_moment(operation.started_at),
        operation.kind,
        operation.queue,
        operation.state,
        *counts,
        operation.undo_state.label,
        operation.by,
        operation.reason,
    )


def show(
    context: typer.Context,
    target: options.Target,
    output: options.Output = "table",
) -> None:
    """List purges that can still be undone, and show until when."""
    from qmon.cli.commands.act.run_action import local_moment, run_attended
    from qmon.cli.target_session import open_for_action
    from qmon.model.operation_records import OperationKind

    config = options.config_path(context)
    with open_for_action(target, config, "trash") as at:
        all_done = run_attended(lambda: at.create_operator().read_operations(_ALL), at.connections)
        keep_s = at.connected.config.settings.trash_days * _DAY_S
    found = [o for o in all_done if o.kind is OperationKind.PURGE and o.undo_state.can_undo]
    until = {o.id: (o.ended_at or o.started_at) + keep_s for o in found}
    if output != "table":
        from qmon.cli.reports.target_reports import TrashReport

        listed = [{"operation": each, "kept_until": until[each.id]} for each in found]
        print_report(output, {"schema": 1, "trash": listed}, TrashReport, "trash")
    elif found:
        print_table(
            ("OPERATION", "QUEUE", "PURGED", "WHEN", "KEPT UNTIL", "UNDO", "BY", "REASON"),
            [
                (
                    o.id,
                    o.queue,
                    f"{o.done:,}",
                    local_moment(o.started_at),
                    local_moment(until[o.id]),
                    o.undo_state.label,
                    o.by,
                    o.reason,
                )
                for o in found
            ],
            wrap=7,
        )
    else:
        print_note(HistoryText.EMPTY_TRASH)


def empty(
    context: typer.Context,
    target: options.Target,
    queue: Annotated[
        str | None,
        typer.Argument(
            metavar="[QUEUE]", help="Only this queue.", show_default=False, autocompletion=completion.complete_queues
        ),
    ] = None,
    older_than: act.OlderThan = None,
    *,
    confirmation: options.ActionOptions,
) -> None:
    """Delete purged messages permanently.

    By default, qmon deletes messages that were purged longer ago than the retention time of qmon.toml (7 days).
    """
    from qmon.cli.commands.act.run_action import run_action
    from qmon.cli.target_session import open_for_action

    config = options.config_path(context)
    with open_for_action(target, config, "trash") as at:
        usual = at.connected.config.settings.trash_days * _DAY_S
        older_s = usual if older_than is None else older_than
        run_action(lambda: at.create_operator().empty_trash(queue, older_s), at.connections, confirmation)
