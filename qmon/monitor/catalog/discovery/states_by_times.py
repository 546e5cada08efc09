"""Describe tables without a state column, in which the times of the pop and of the end give the state of a message."""

from __future__ import annotations

from typing import Final

from qmon.model.layout.layout import Layout
from qmon.model.layout.layout_io import table_to_text
from qmon.monitor.catalog.catalog import TableDetails
from qmon.monitor.catalog.column_names import Role, column_for_role

Toml = dict[str, object]
_ENDED: Final[tuple[tuple[Role, str], ...]] = (("failed_at", "dead"), ("finished_at", "done"))


def states_by_times(details: TableDetails, layout: Layout) -> tuple[Toml, str, bool] | None:
    """Return the queue in the form of ``qmon.toml``, the evidence for its states, and whether a time marks the end.

    Returns ``None`` if times do not give the states. An end is the time at which a message became done or dead. The
    column of a pop or an end must be nullable, because it is NULL until the message is popped or ends. A lease alone is
    not enough, because it is unknown whether a message is popped again after its lease ends.
    """
    may_be_null = [(c.column_name, c.type_name) for c in details.columns if not c.not_null]
    started = column_for_role("started_at", may_be_null)
    ended = [(kind, column) for role, kind in _ENDED if (column := column_for_role(role, may_be_null)) is not None]
    if layout.id is None or not (started or ended):
        return None
    everything = [(c.column_name, c.type_name) for c in details.columns]
    due, pushed = column_for_role("due_at", everything), column_for_role("enqueued_at", everything)
    due = due if due not in (started, *(column for _, column in ended)) else None
    still: Toml = {column: {"null": True} for _, column in ended}
    free = still | ({started: {"null": True}} if started else {})
    states: list[Toml] = []
    if due is None:
        since: Toml = {"since": pushed} if pushed else {}
        states.append({"name": "ready", "when": free, **since})
    else:
        now = [{due: {"null": True}}, {due: {"past": True}}]
        states.append({"name": "ready", "when": free | {"any": now}, "since": due})
        states.append({"name": "scheduled", "when": free | {due: {"future": True}}, "since": due})
    if started:
        states.append({"name": "in_progress", "when": still | {started: {"null": False}}, "since": started})
    for place, (kind, column) in enumerate(ended):
        before: Toml = {other: {"null": True} for _, other in ended[:place]}
        states.append({"name": kind, "when": before | {column: {"null": False}}, "since": column})
    queue: Toml = {"name": layout.queue, "table": table_to_text(layout.table), "id": layout.id, "state": states}
    lease = column_for_role("lease", may_be_null)
    queue |= {"overdue": {lease: {"past": True}}} if started and lease else {}
    shown = {"owner": column_for_role("owner_name", everything), "attempts": layout.attempts, "payload": layout.payload}
    shown["error"] = column_for_role("error", everything)
    queue |= {key: column for key, column in shown.items() if column is not None}
    told = [f"`{started}` (in progress)"] if started else []
    told += [f"`{column}` ({kind})" for kind, column in ended]
    return (
        queue,
        "states come from times; a message is ready while none of these is set: " + ", ".join(told),
        bool(ended),
    )
