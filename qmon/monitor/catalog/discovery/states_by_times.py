"""A table without a column of states, whose rows tell by times that are set when a message is taken, or done."""

from __future__ import annotations

from typing import Final

from qmon.model.layout.io import table_to_text
from qmon.model.layout.layout import Layout
from qmon.monitor.catalog.catalog import TableDetails
from qmon.monitor.catalog.column_names import Role, pick

Toml = dict[str, object]
_ENDED: Final[tuple[tuple[Role, str], ...]] = (("failed_at", "dead"), ("finished_at", "done"))


def states_by_times(details: TableDetails, layout: Layout) -> tuple[Toml, str, bool] | None:
    """The queue as ``qmon.toml`` would have it, by what its states are told, and whether a time tells that a message is
    done or dead; ``None`` where no time tells its states.

    A time that says when a message is taken or done can be NULL: until then it is neither. A lease alone tells nothing,
    since nobody says whether a message whose lease is over is taken again.
    """
    may_be_null = [(c.column_name, c.type_name) for c in details.columns if not c.not_null]
    started = pick("started_at", may_be_null)
    ended = [(kind, column) for role, kind in _ENDED if (column := pick(role, may_be_null)) is not None]
    if layout.id is None or not (started or ended):
        return None
    everything = [(c.column_name, c.type_name) for c in details.columns]
    due, pushed = pick("due_at", everything), pick("enqueued_at", everything)
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
    lease = pick("lease", may_be_null)
    queue |= {"overdue": {lease: {"past": True}}} if started and lease else {}
    shown = {"owner": pick("owner_name", everything), "attempts": layout.attempts, "payload": layout.payload}
    shown["error"] = pick("error", everything)
    queue |= {key: column for key, column in shown.items() if column is not None}
    told = [f"`{started}` is set while it is in progress"] if started else []
    told += [f"`{column}` is set once it is {kind}" for kind, column in ended]
    return queue, "a message is ready while none of these is set: " + ", ".join(told), bool(ended)
