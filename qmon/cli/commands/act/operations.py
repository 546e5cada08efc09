"""``qmon operations`` and ``qmon trash``: past operations on the queues of a target, and purged rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from qmon.cli import completion, options
from qmon.cli.commands.act import act
from qmon.cli.output import note, report, table

if TYPE_CHECKING:
    from qmon.cli.session import Chosen
    from qmon.model.operations import Operation

_ALL: Final = 10_000
_DAY_S: Final = 86_400.0


def add_to(app: typer.Typer) -> None:
    app.command("operations", epilog="Example: qmon operations orders-prod --output csv")(operations)
    trash = typer.Typer(help="List what purges have put into the trash, or empty it.", no_args_is_help=True)
    trash.command("list", epilog="Example: qmon trash list orders-prod")(show)
    trash.command("empty", epilog="Example: qmon trash empty orders-prod mails --older-than 30d")(options.spread(empty))
    app.add_typer(trash, name="trash")


def operations(
    targets: options.Targets = None,
    all_targets: options.AllTargets = False,
    config: options.ConfigPath = None,
    limit: Annotated[
        int, typer.Option("--max", metavar="N", min=1, max=10_000, help="So many of each target at most.")
    ] = 100,
    output: options.Output = "table",
) -> None:
    """List what was done to the queues, the newest first, with who did it, why, and whether it can be undone."""
    from qmon.cli.commands.act.run import attended
    from qmon.cli.session import acting_on, chosen_each
    from qmon.cli.several import ask_each, fail_unless_all

    known = chosen_each(targets or (), config, all_targets=all_targets)

    def ask(each: Chosen, may_ask: bool) -> tuple[str, tuple[Operation, ...]]:
        with acting_on(each, "operations", may_ask=may_ask) as at:
            return each.target.name, attended(lambda: at.operator.operations(limit), at.connections)

    found = ask_each(known, ask)
    if output != "table":
        from qmon.cli.output import report_each
        from qmon.cli.reports.target import OperationsReport

        told = [{"schema": 1, "target": target, "operations": done} for target, done in found]
        report_each(output, told, OperationsReport, "operations")
    elif any(done for _, done in found):
        headings = (*_HEADINGS, "DONE", "SKIPPED", "CHANGED", "REFUSED", "UNDO", "BY", "REASON")
        rows = [(target, each) for target, done in found for each in done]
        if len(known) == 1:
            table(headings, [_row(each) for _, each in rows], wrap=11)
        else:
            rows.sort(key=lambda row: -row[1].started_at)
            table(("TARGET", *headings), [(target, *_row(each)) for target, each in rows], wrap=12)
    else:
        from qmon.operate.audit import default_path

        here = f"; {default_path()} has the operations from this machine" if default_path().exists() else ""
        note(f"the database has no operation on record{here}")
    fail_unless_all(known, found)


_HEADINGS: Final = ("OPERATION", "WHEN", "WHAT", "QUEUE", "STATE")


def _row(each: Operation) -> tuple[object, ...]:
    from qmon.cli.commands.act.run import moment

    counts = (f"{each.done:,}", f"{each.skipped:,}", f"{each.changed:,}", f"{each.refused:,}")
    return (
        each.id,
        moment(each.started_at),
        each.kind,
        each.queue,
        each.state,
        *counts,
        each.undo_state,
        each.by,
        each.reason,
    )


def show(target: options.Target, config: options.ConfigPath = None, output: options.Output = "table") -> None:
    """List the purges whose rows are still in the trash, the newest first, and until when they are kept."""
    from qmon.cli.commands.act.run import attended, moment
    from qmon.cli.session import acting
    from qmon.model.operations import Kind

    with acting(target, config, "trash") as at:
        all_done = attended(lambda: at.operator.operations(_ALL), at.connections)
        keep_s = at.at.config.settings.trash_days * _DAY_S
    found = [o for o in all_done if o.kind is Kind.PURGE and o.undo_state in ("possible", "partly undone")]
    until = {o.id: (o.ended_at or o.started_at) + keep_s for o in found}
    if output != "table":
        from qmon.cli.reports.target import TrashReport

        listed = [{"operation": each, "kept_until": until[each.id]} for each in found]
        report(output, {"schema": 1, "trash": listed}, TrashReport, "trash")
    elif found:
        table(
            ("OPERATION", "QUEUE", "PURGED", "WHEN", "KEPT UNTIL", "UNDO", "BY", "REASON"),
            [
                (o.id, o.queue, f"{o.done:,}", moment(o.started_at), moment(until[o.id]), o.undo_state, o.by, o.reason)
                for o in found
            ],
            wrap=7,
        )
    else:
        note("the trash is empty")


def empty(
    target: options.Target,
    queue: Annotated[
        str | None,
        typer.Argument(
            metavar="[QUEUE]", help="Of this queue only.", show_default=False, autocompletion=completion.queues
        ),
    ] = None,
    config: options.ConfigPath = None,
    older_than: act.OlderThan = None,
    *,
    given: options.Given,
) -> None:
    """Delete purged rows for good. By default those that were kept for as long as the configuration says (7 days)."""
    from qmon.cli.commands.act.run import carry_out
    from qmon.cli.session import acting

    with acting(target, config, "trash") as at:
        usual = at.at.config.settings.trash_days * _DAY_S
        older_s = usual if older_than is None else older_than
        carry_out(lambda: at.operator.empty_trash(queue, older_s), at.connections, given)
