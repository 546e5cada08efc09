"""Describe tables whose states need a list of conditions, because times, flags or several values give the states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from qmon.model.layout.layout import Layout, StateValue
from qmon.model.layout.layout_io import table_to_text
from qmon.monitor.catalog.catalog import TableDetails
from qmon.monitor.catalog.column_names import BOOLEAN_TYPES, ColumnRole, column_for_role
from qmon.texts import Text


class StateListText(Text):
    """How the states of a table without a usual state column were found."""

    TIMES_AND_FLAGS = "states come from times and flags; a message is ready while none of these is set: {columns}"
    DUE = "a message is ready when it is due (`{column}`)"
    MEANINGS = "`{column}`: {meanings}"


Toml = dict[str, object]

# A due time that is further away than this means "never", or that a message has no due time.
FAR: Final = "1826d"

# The kinds of states that a time or a flag marks: the columns are set when a message comes into the state.
_MARKS: Final[tuple[tuple[str, ColumnRole, ColumnRole], ...]] = (
    ("in_progress", "started_at", "taken_flag"),
    ("dead", "failed_at", "failed_flag"),
    ("done", "finished_at", "flag"),
)

# The column with the time at which a message came into a state.
_SINCE: Final[Mapping[str, ColumnRole]] = {kind: time for kind, time, _ in _MARKS}


@dataclass(frozen=True, slots=True)
class _Mark:
    """How rows show that they are in a state: a nullable time that is set, or a boolean column that is true."""

    kind: str
    column: str
    is_flag: bool
    since: str | None

    @property
    def is_set(self) -> Toml:
        return {self.column: True if self.is_flag else {"null": False}}

    @property
    def is_unset(self) -> Toml:
        return {self.column: {"not": True} if self.is_flag else {"null": True}}


def states_by_marks(details: TableDetails, layout: Layout) -> tuple[Toml, str, bool] | None:
    """Return the queue in the form of ``qmon.toml``, the evidence for its states, and whether a column marks the end.

    The table has no state column with more than two values. Times or booleans show that a message was popped, or that
    it ended: that it is done or dead. Such a time must be nullable, because it is NULL until then. Returns ``None`` if
    no column shows a state. A lease alone is not enough, because it is unknown whether a message is popped again after
    its lease ends.
    """
    marks = [mark for kind, time, flag in _MARKS if (mark := _find_mark(details, kind, time, flag)) is not None]
    if layout.id is None or not marks:
        return None
    ended = [mark for mark in marks if mark.kind != "in_progress"]
    started = next((mark for mark in marks if mark.kind == "in_progress"), None)
    due = layout.due_at if layout.due_at not in [mark.column for mark in marks] else None
    still: Toml = {}
    for mark in ended:
        still |= mark.is_unset
    states = _waiting_states(details, due, still | (started.is_unset if started else {}))
    if started:
        states.append(_marked_state(started, still))
    before: Toml = {}
    for mark in ended:
        states.append(_marked_state(mark, before))
        before |= mark.is_unset
    told = ", ".join(f"`{mark.column}` ({mark.kind.replace('_', ' ')})" for mark in marks)
    return (
        _queue_entry(details, layout, states, may_be_overdue=started is not None),
        StateListText.TIMES_AND_FLAGS.render(columns=told),
        bool(ended),
    )


def states_by_due_time(details: TableDetails, layout: Layout) -> tuple[Toml, str]:
    """Return the queue in the form of ``qmon.toml``, if the due time alone shows whether a message is ready."""
    entry = _queue_entry(details, layout, _waiting_states(details, layout.due_at, {}), may_be_overdue=False)
    return entry | {"counters": True}, StateListText.DUE.render(column=layout.due_at)


def has_flag_of_state(details: TableDetails) -> bool:
    """Return whether a boolean column shows that a message was popped or failed."""
    pairs = _name_type_pairs(details)
    return any(column_for_role(role, pairs) is not None for role in ("taken_flag", "failed_flag"))


def _find_mark(details: TableDetails, kind: str, time: ColumnRole, flag: ColumnRole) -> _Mark | None:
    booleans = [(name, type_name) for name, type_name in _name_type_pairs(details) if type_name in BOOLEAN_TYPES]
    since = column_for_role(time, _name_type_pairs(details, nullable=True))
    if (column := column_for_role(flag, booleans)) is not None:
        return _Mark(kind, column, is_flag=True, since=since)
    return None if since is None else _Mark(kind, since, is_flag=False, since=since)


def _marked_state(mark: _Mark, others: Toml) -> Toml:
    state: Toml = {"name": mark.kind, "when": others | mark.is_set}
    return state if mark.since is None else state | {"since": mark.since}


def states_by_values(
    details: TableDetails,
    layout: Layout,
    words: Mapping[str, Sequence[StateValue]],
    *,
    never_means_now: bool = False,
) -> tuple[Toml, str]:
    """Return the queue in the form of ``qmon.toml``, and the evidence for its states.

    If the table has a due time, a message with a value for scheduled messages (``retry``) is ready when it is due.

    Args:
        details: the table.
        layout: the table's layout. It has a state column and a one-column id.
        words: the values of each state; see ``words_by_state``. There is a value for ready messages.
        never_means_now: a due time in more than five years means that a message has no due time.
    """
    assert layout.state is not None  # noqa: S101 - see above
    column, due = layout.state.column, layout.due_at
    later = list(words.get("scheduled", ()))
    waits: Toml = {column: [*words["ready"], *(later if due is not None else ())]}
    states = _waiting_states(details, due, waits, never_means_now=never_means_now)
    if later and due is None:
        states.append({"name": "scheduled", "when": {column: later}})
    for kind in ("in_progress", "blocked", "dead", "done"):
        if values := words.get(kind):
            state: Toml = {"name": kind, "when": {column: list(values)}}
            since = column_for_role(_SINCE[kind], _name_type_pairs(details)) if kind in _SINCE else None
            states.append(state if since is None else state | {"since": since})
    meant = "; ".join(f"{kind.replace('_', ' ')}: {', '.join(map(str, values))}" for kind, values in words.items())
    entry = _queue_entry(details, layout, states, may_be_overdue="in_progress" in words)
    deletes = details.activity is not None and details.activity.rows_are_deleted
    # If a completion deletes its row, the server's counters show the flow.
    entry |= {"counters": True} if deletes and "done" not in words else {}
    return entry, StateListText.MEANINGS.render(column=column, meanings=meant)


def _waiting_states(
    details: TableDetails, due: str | None, waits: Toml, *, never_means_now: bool = False
) -> list[Toml]:
    """Return the states of ready and scheduled messages. ``waits``: their condition, without the due time."""
    pushed = column_for_role("enqueued_at", _name_type_pairs(details))
    if due is None:
        return [{"name": "ready", "when": waits, **({"since": pushed} if pushed else {})}]
    may_be_null = due in dict(_name_type_pairs(details, nullable=True))
    since = pushed if pushed and may_be_null else due  # a message without a due time has no age since then
    now: list[Toml] = [{due: {"null": True}}, {due: {"past": True}}]
    soon: Toml = {}
    if never_means_now:
        now.append({due: {"future": True, "plus": f"-{FAR}"}})
        soon = {"any": [{due: {"past": True, "plus": f"-{FAR}"}}]}
    return [
        {"name": "ready", "when": waits | {"any": now}, "since": since},
        {"name": "scheduled", "when": waits | {due: {"future": True}} | soon, "since": due},
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
