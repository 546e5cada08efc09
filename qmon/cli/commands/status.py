"""``qmon status``: prints the figures of targets once, as a table, JSON or CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from qmon.cli import options
from qmon.cli.guard import PARTLY
from qmon.cli.output import Format, clean_text, print_note, print_output, print_table
from qmon.errors import BadInput
from qmon.model.combined_figures import group_views
from qmon.model.figure import Figure
from qmon.model.formatting import UNKNOWN, count, duration
from qmon.model.layout.layout import LayoutSource
from qmon.model.queue_figures import FIGURES_BY_FIELD
from qmon.model.service_broker import CONVERSATIONS, TRANSMISSION, queue_state
from qmon.texts import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qmon.cli.target_session import ChosenTarget
    from qmon.model.figure import Verdict
    from qmon.model.service_broker import BrokerView
    from qmon.model.view import QueueView, View


class StatusText(Text):
    """Texts about queues that are not shown."""

    INSTALLED_ONLY = "only queues that qmon installed are shown; qmon queues lists tables that look like queues"
    NO_QUEUE = "no queue {queues}; to list the queues: qmon status {targets}"
    NO_QUEUE_KNOWN = "no queue is known; qmon queues lists tables that look like queues"
    QUEUES = "{count} queues"
    SENDING = "sent but not yet delivered"


_DEFAULT_OVER_S: Final = 2.0
_FIGURES: Final = tuple(
    FIGURES_BY_FIELD[field]
    for field in ("ready", "in_progress", "stuck", "scheduled", "dead", "oldest", "push_rate", "pop_rate", "gap")
)
_HEADERS: Final = ("QUEUE", "DESIGN", *(figure.column_title for figure in _FIGURES), "VERDICT")
_NONE: Final = Figure()


def register_commands(app: typer.Typer) -> None:
    app.command("status", epilog="Example: qmon status orders-prod --output json --over 10s")(status)


def status(
    context: typer.Context,
    targets: options.Targets = None,
    all_targets: options.AllTargets = False,
    output: options.Output = "table",
    queues: options.Queues = None,
    over: Annotated[
        float, options.duration_option("--over", help="Measure rates over this time.", default="2s")
    ] = _DEFAULT_OVER_S,
) -> None:
    """Print the figures of every queue once.

    An unknown figure is – in text, null in JSON, and empty in CSV.
    """
    from qmon.cli.several_targets import ask_targets, exit_unless_all
    from qmon.cli.target_session import log_in_for_polling, resolve_targets
    from qmon.monitor.one_shot import view_over

    config = options.config_path(context)
    known = resolve_targets(targets or (), config, all_targets=all_targets)
    alone = len(known) == 1

    def ask(each: ChosenTarget, may_ask: bool) -> View:
        found, connection = log_in_for_polling(each, may_ask=may_ask)
        where = "" if alone else f"{each.target.name}: "
        view = view_over(
            found.target,
            found.configured,
            over_s=over,
            report=lambda what: print_note(f"qmon: {where}{clean_text(what)}"),
            first=connection,
        )
        if not found.configured and any(queue.layout.source is LayoutSource.REGISTRY for queue in view.queues):
            print_note(f"qmon: {where}{StatusText.INSTALLED_ONLY}")
        return view

    views = [view.only_queues(queues) if queues else view for view in ask_targets(known, ask)]
    unseen = set(queues or ()) - {queue.name for view in views for queue in view.queues}
    if unseen:
        names = ", ".join(sorted(unseen))
        raise BadInput(StatusText.NO_QUEUE.render(queues=names, targets=" ".join(targets or ())))
    print_status(views, output, with_target=not alone)
    exit_unless_all(known, views)
    if any(is_unwatchable(queue) for view in views for queue in view.queues):
        raise typer.Exit(PARTLY)


def is_unwatchable(queue: QueueView) -> bool:
    """Return true if a configured queue cannot be watched: its table is missing or may not be read."""
    return queue.layout.source is not LayoutSource.DISCOVERY and any(failure.gone for failure in queue.failures)


def print_status(views: Sequence[View], output: Format, *, with_target: bool = False) -> None:
    """Print the figures of views. ``with_target``: also print the target of each view."""
    if output != "table":
        from qmon.cli.output import print_reports
        from qmon.model.report_shapes import StatusReport
        from qmon.model.status_report import status_object

        print_reports(output, [status_object(view) for view in views], StatusReport, "queues")
        for view in views if output == "csv" else ():
            _print_failures(view, print_note, with_target=with_target)
        return
    headers, rows = _HEADERS, [(view.target, row) for view in views for row in status_rows(view)[1]]
    if rows and with_target:
        print_table(("TARGET", *headers), [(target, *row) for target, row in rows], wrap=len(headers))
    elif rows:
        print_table(headers, [row for _, row in rows], wrap=len(headers) - 1)
    for view in views:
        if not status_rows(view)[1]:
            where = f"{clean_text(view.target)}: " if with_target else ""
            print_note(f"{where}{StatusText.NO_QUEUE_KNOWN}")
        _print_failures(view, print_output, with_target=with_target)


def _print_failures(view: View, tell: Callable[[str], None], *, with_target: bool) -> None:
    where = f"{clean_text(view.target)}: " if with_target else ""
    for failure in (*view.failures, *(f for q in view.queues for f in q.failures)):
        probe = "" if failure.queue or failure.probe in failure.reason else f"{failure.probe}: "
        tell(f"{where}{clean_text(failure.queue or 'target')}: {clean_text(probe + failure.reason)}")
        if failure.grant:
            tell(f"  {clean_text(failure.grant)}")


def status_rows(view: View) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return headers, and one row per queue. Tables with several queues also get a row with their totals."""
    above = {group.queues[0]: group for group in group_views(view.queues)}
    rows: list[tuple[str, ...]] = []
    for queue in view.queues:
        if (group := above.get(queue.name)) is not None:
            together = [figure_text(group.figures.get(each.field, _NONE), each.value_text) for each in _FIGURES]
            rows.append((group.name, "table", *together, StatusText.QUEUES.render(count=len(group.queues))))
        verdict = f"{queue.verdict.code}: {queue.verdict.proof}" if queue.verdict.proof else queue.verdict.code
        figures = [figure_text(each.figure_for(queue), each.value_text) for each in _FIGURES]
        rows.append((queue.name, queue.layout.design, *figures, verdict))
    if view.server.broker is not None:
        rows += _broker_rows(view.server.broker)
    return _HEADERS, rows


def _broker_rows(broker: BrokerView) -> list[tuple[str, ...]]:
    """Return one row per queue of Service Broker. If messages are undelivered, also return a row for these messages."""

    def row(name: str, depth: Figure, verdict: Verdict | None, otherwise: str) -> tuple[str, ...]:
        verdict_text = otherwise if verdict is None else f"{verdict.code}: {verdict.proof}"
        return (name, "service_broker", figure_text(depth, count), *[UNKNOWN] * (len(_FIGURES) - 1), verdict_text)

    rows = [row(q.name, q.depth, q.verdict, queue_state(q, monitored=broker.monitored)) for q in broker.queues]
    if broker.sending.value:
        rows.append(row(TRANSMISSION, broker.sending, broker.verdict, StatusText.SENDING))
    if broker.leak is not None and broker.conversations is not None:
        counted = Figure(float(broker.conversations.counted), at_least=True)
        rows.append(row(CONVERSATIONS, counted, broker.leak, ""))
    return rows


def figure_text(figure: Figure, write: Callable[[float], str]) -> str:
    """Return a figure with its symbol: ``~`` estimated, ``≥`` at least, ``–`` unknown.

    Old figures and estimates also show their age.
    """
    if figure.value is None:
        return UNKNOWN
    symbol = "≥" if figure.at_least else "~" if figure.estimated else ""
    return symbol + write(figure.value) + (f" ({duration(figure.age_s)} ago)" if figure.shows_age else "")
