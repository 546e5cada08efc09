"""Describe tables whose states need a list of conditions, because times or several values give the states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from qmon.model.layout.layout import Layout
from qmon.model.layout.layout_io import table_to_text
from qmon.monitor.catalog.catalog import TableDetails
from qmon.monitor.catalog.column_names import Role, column_for_role

Toml = dict[str, object]
_ENDED: Final[tuple[tuple[Role, str], ...]] = (("failed_at", "dead"), ("finished_at", "done"))

# The column with the time at which a message came into a state.
_SINCE: Final[Mapping[str, Role]] = {"in_progress": "started_at", "dead": "failed_at", "done": "finished_at"}


def states_by_times(details: TableDetails, layout: Layout) -> tuple[Toml, str, bool] | None:
    """Return the queue in the form of ``qmon.toml``, the evidence for its states, and whether a time marks the end.

    The table has no state column. Returns ``None`` if times do not give the states. An end is the time at which a
    message became done or dead. The column of a pop or an end must be nullable, because it is NULL until the message is
    popped or ends. A lease alone is not enough, because it is unknown whether a message is popped again after its lease
    ends.
    """
    may_be_null = _name_type_pairs(details, nullable=True)
    started = column_for_role("started_at", may_be_null)
    ended = [(kind, column) for role, kind in _ENDED if (column := column_for_role(role, may_be_null)) is not None]
    if layout.id is None or not (started or ended):
        return None
    due = column_for_role("due_at", _name_type_pairs(details))
    due = due if due not in (started, *(column for _, column in ended)) else None
    still: Toml = {column: {"null": True} for _, column in ended}
    free = still | ({started: {"null": True}} if started else {})
    states = _waiting_states(details, due, free)
    if started:
        states.append({"name": "in_progress", "when": still | {started: {"null": False}}, "since": started})
    for place, (kind, column) in enumerate(ended):
        before: Toml = {other: {"null": True} for _, other in ended[:place]}
        states.append({"name": kind, "when": before | {column: {"null": False}}, "since": column})
    told = [f"`{started}` (in progress)"] if started else []
    told += [f"`{column}` ({kind})" for kind, column in ended]
    return (
        _queue_entry(details, layout, states, may_be_overdue=started is not None),
        "states come from times; a message is ready while none of these is set: " + ", ".join(told),
        bool(ended),
    )


def states_by_values(details: TableDetails, layout: Layout, words: Mapping[str, Sequence[str]]) -> tuple[Toml, str]:
    """Return the queue in the form of ``qmon.toml``, and the evidence for its states.

    If the table has a due time, a message with a value for scheduled messages (``retry``) is ready when it is due.

    Args:
        details: the table.
        layout: the table's layout. It has a state column and a one-column id.
        words: the values of each state; see ``words_by_state``. There is a value for ready messages.
    """
    assert layout.state is not None  # noqa: S101 - see above
    column, due = layout.state.column, layout.due_at
    later = list(words.get("scheduled", ()))
    waits: Toml = {column: [*words["ready"], *(later if due is not None else ())]}
    states = _waiting_states(details, due, waits)
    if later and due is None:
        states.append({"name": "scheduled", "when": {column: later}})
    for kind in ("in_progress", "blocked", "dead", "done"):
        if values := words.get(kind):
            state: Toml = {"name": kind, "when": {column: list(values)}}
            since = column_for_role(_SINCE[kind], _name_type_pairs(details)) if kind in _SINCE else None
            states.append(state if since is None else state | {"since": since})
    meant = "; ".join(f"{kind.replace('_', ' ')}: {', '.join(values)}" for kind, values in words.items())
    entry = _queue_entry(details, layout, states, may_be_overdue="in_progress" in words)
    deletes = details.activity is not None and details.activity.rows_are_deleted
    # If a completion deletes its row, the server's counters show the flow.
    entry |= {"counters": True} if deletes and "done" not in words else {}
    return entry, f"`{column}`: {meant}"


def _waiting_states(details: TableDetails, due: str | None, waits: Toml) -> list[Toml]:
    """Return the states of ready and scheduled messages. ``waits``: their condition, without the due time."""
    pushed = column_for_role("enqueued_at", _name_type_pairs(details))
    if due is None:
        return [{"name": "ready", "when": waits, **({"since": pushed} if pushed else {})}]
    may_be_null = due in dict(_name_type_pairs(details, nullable=True))
    since = pushed if pushed and may_be_null else due  # a message without a due time has no age since then
    now: list[Toml] = [{due: {"null": True}}, {due: {"past": True}}]
    return [
        {"name": "ready", "when": waits | {"any": now}, "since": since},
        {"name": "scheduled", "when": waits | {due: {"future": True}}, "since": due},
    ]


def _queue_entry(details: TableDetails, layout: Layout, states: Sequence[Toml], *, may_be_overdue: bool) -> Toml:
    entry: Toml = {"name": layout.queue, "table": table_to_text(layout.table), "id": layout.id, "state": list(states)}
    lease = column_for_role("lease", _name_type_pairs(details, nullable=True))
    entry |= {"overdue": {lease: {"past": True}}} if lease and may_be_overdue else {}
    columns = _name_type_pairs(details)
    shown = {"owner": column_for_role("owner_name", columns), "attempts": layout.attempts, "payload": layout.payload}
    shown["error"] = column_for_role("error", columns)
    return entry | {key: column for key, column in shown.items() if column is not None}


def _name_type_pairs(details: TableDetails, *, nullable: bool = False) -> list[tuple[str, str]]:
    return [(c.column_name, c.type_name) for c in details.columns if not (nullable and c.not_null)]
