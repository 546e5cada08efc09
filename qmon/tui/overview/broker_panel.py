"""The Service Broker panel: one line per queue, and one line about messages that were sent but not delivered."""

from __future__ import annotations

from typing import Final

from qmon.model import formatting
from qmon.model.figure import Verdict
from qmon.model.service_broker import BrokerQueue, BrokerView, queue_state
from qmon.model.view import View
from qmon.texts import Text
from qmon.tui import figures
from qmon.tui.sanitize import clean, shorten_words
from qmon.tui.spans import Line, Span, cut_line, entry_lines
from qmon.tui.widgets.grid_table import Cell, GridColumn, GridRow, table_lines


class BrokerPanelText(Text):
    """The texts of the panel."""

    READ_AGO = "{queues} · read {age} ago"
    TASKS = "{running} of {maximum}"
    NOT_DELIVERED = "{count} sent and not delivered yet"


# Panels of at least this many cells show each queue's proof in its line. Narrower panels only show the proof of the
# worst queue, below the lines.
_WIDE: Final = 150
COLUMNS: Final = (
    GridColumn("queue", "QUEUE", least=8, most=30, shrinks_to=12, about="name of the queue in the database"),
    GridColumn("depth", "DEPTH", True, 1, most=12, about="messages in the queue, counted by the server"),
    GridColumn("state", "STATE", rank=2, least=9, most=13, about="off, or the state of its queue monitor"),
    GridColumn("tasks", "TASKS", True, 4, least=5, most=9, about="activation procedures: number running, and maximum"),
    GridColumn("waiting", "WAITING", True, 5, least=7, most=7, about="sessions that wait for messages of the queue"),
    GridColumn("empty", "EMPTY", True, 6, least=6, most=10, about="time since the last empty RECEIVE"),
    GridColumn("verdict", "VERDICT", rank=0, least=18, most=20, about="problem of the queue"),
    GridColumn(
        "proof",
        "BECAUSE",
        rank=3,
        least=30,
        shorten=shorten_words,
        grows=True,
        from_width=_WIDE,
        about="figures that show the problem",
    ),
)


def broker_summary(broker: BrokerView) -> str:
    """Return the text for the panel's title: the number of queues and the age of the figures."""
    count = formatting.count_text(len(broker.queues), "queue")
    if broker.age_s < 1:
        return count
    return BrokerPanelText.READ_AGO.render(queues=count, age=formatting.whole_seconds(broker.age_s))


def broker_lines(view: View | None, cells: int, rows: int) -> list[Line]:
    """Return the panel in at most ``rows`` lines; empty without Service Broker queues."""
    found = view.server.broker if view is not None else None
    if found is None:
        return []
    below = [
        *_proof_lines(found, cells, 2 if rows > 4 else 1),
        *_transmission_lines(found, cells),
        *_leak_lines(found, cells),
    ]
    listed = found.queues[: max(1, rows - 1 - len(below))]
    table = table_lines(COLUMNS, [_row(queue, found) for queue in listed], cells - 1)
    return [*(((" ", "text"), *line) for line in table), *below][:rows]


def _row(queue: BrokerQueue, broker: BrokerView) -> GridRow:
    monitor, sample, severity = queue.monitor, queue.sample, _severity_for(queue.verdict)
    word = queue_state(queue, monitored=broker.monitored)
    tasks = "" if monitor is None else BrokerPanelText.TASKS.render(running=monitor.tasks, maximum=sample.max_readers)
    empty = "" if monitor is None or monitor.empty_s is None else formatting.duration(monitor.empty_s)
    proof = "" if queue.verdict is None else clean(queue.verdict.proof)
    return GridRow(
        queue.name,
        (
            (clean(queue.name), "strong" if severity > 1 else "text"),
            figures.figure_cell(queue.depth),
            (word, "text" if sample.receives and sample.enqueues else "alarm"),
            (tasks if sample.activates else "", "text"),
            ("" if monitor is None else str(monitor.waiting), "text"),
            (empty, "muted"),
            _verdict_cell(queue.verdict),
            (proof, "text" if severity > 1 else "muted"),
        ),
    )


def _verdict_cell(verdict: Verdict | None) -> Cell:
    if verdict is None:
        return ("", "muted")
    return (f"{figures.SYMBOLS[verdict.severity]} {verdict.code}", figures.TONES[verdict.severity])


def _proof_lines(broker: BrokerView, cells: int, most: int) -> list[Line]:
    """Return the proof of the worst queue's verdict, unless the table has a column for it."""
    worst = broker.queues[0].verdict
    if worst is None or cells > _WIDE:
        return []
    return entry_lines("because", worst.proof, cells, figures.TONES[worst.severity], most=most)


def _transmission_lines(broker: BrokerView, cells: int) -> list[Line]:
    """Return a line about messages that were sent and not delivered, if there are any."""
    if not broker.sending.value:
        return []
    if broker.verdict is not None:
        severity = broker.verdict.severity
        line: Span = (f"{figures.SYMBOLS[severity]} {clean(broker.verdict.proof)}", figures.TONES[severity])
    else:
        line = (BrokerPanelText.NOT_DELIVERED.render(count=broker.sending.text()), "text")
    return [cut_line(((" transmission  ", "muted"), line), cells)]


def _leak_lines(broker: BrokerView, cells: int) -> list[Line]:
    """Return a line about conversations that are never ended, if a verdict reports such conversations."""
    if broker.leak is None:
        return []
    words = f"{figures.SYMBOLS[broker.leak.severity]} {clean(broker.leak.proof)}"
    return [cut_line(((" conversations ", "muted"), (words, figures.TONES[broker.leak.severity])), cells)]


def _severity_for(verdict: Verdict | None) -> int:
    return -1 if verdict is None else verdict.severity
