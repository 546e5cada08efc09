"""Describe tables whose states need a list of conditions, because times, flags or several values give the states."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from qmon.model.layout.layout import Layout, StateValue
from qmon.model.layout.layout_io import table_to_text
from qmon.monitor.catalog.catalog import TableDetails
from qmon.monitor.catalog.column_names import BOOLEAN_TYPES, ColumnRole, column_for_role, queue_suffix
from qmon.texts import Text


class StateListText(Text):
    """How the states of a table without a usual state column were found."""

    TIMES_AND_FLAGS = "states come from times and flags; a message is ready while none of these is set: {columns}"
    DUE = "a message is ready when it is due (`{column}`)"
    MEANINGS = "`{column}`: {meanings}"
    OTHER_QUEUES = "`{column}`: queues named {patterns} have the {kind} messages of the other queues"


Toml = dict[str, object]

# A due time that is further away than this means "never", or that a message has no due time.
FAR: Final = "1826d"

# The meaning of a due time in more than five years: the message is due, or the rows do not show the meaning.
Never = Literal["now", "unknown"]

# The name of the value that is a suffix such as ``.DQ`` for messages in such a queue.
_SUFFIX_VALUE: Final = "queue_suffix"

# The kinds of states that a time or a flag marks: the columns are set when a message comes into the state.
_MARKS: Final[tuple[tuple[str, ColumnRole, ColumnRole], ...]] = (
    ("in_progress", "started_at", "taken_flag"),
    ("dead", "failed_at", "failed_flag"),
    ("done", "finished_at", "flag"),
)

# The types of times with a time zone.
_ZONED_TYPES: Final = frozenset({"timestamp with time zone", "datetimeoffset"})

# The column with the time at which a message came into a state.
_SINCE: Final[Mapping[str, ColumnRole]] = {kind: time for kind, time, _ in _MARKS}


@dataclass(frozen=True, slots=True)
class _Mark:
    """How rows show that they are in a state: a nullable time that is set, or a boolean column that is true.

    ``inverted``: the boolean column is true for the rows that are not in the state.
    """

    kind: str
    column: str
    is_flag: bool
    since: str | None
    inverted: bool = False

    @property
    def is_set(self) -> Toml:
        return {self.column: self._flag(not self.inverted) if self.is_flag else {"null": False}}

    @property
    def is_unset(self) -> Toml:
        return {self.column: self._flag(self.inverted) if self.is_flag else {"null": True}}

    @staticmethod
    def _flag(value: bool) -> object:
        return True if value else {"not": True}


def states_by_marks(details: TableDetails, layout: Layout) -> tuple[Toml, str, bool] | None:
    """Return the queue in the form of ``qmon.toml``, the evidence for its states, and whether a column marks done ones.

    The table has no state column with more than two values. Times or booleans show that a message was popped, or that
    it ended: that it is done or dead. Such a time must be nullable, because it is NULL until then. Returns ``None`` if
    no column shows a state. A lease alone is not enough, because it is unknown whether a message is popped again after
    its lease ends.
    """
    marks = [mark for kind, time, flag in _MARKS if (mark := _find_mark(details, kind, time, flag)) is not None]
    visible = column_for_role("ready_flag", _name_type_pairs(details))
    if visible is not None and not any(mark.kind == "in_progress" for mark in marks):
        marks.insert(0, _Mark("in_progress", visible, is_flag=True, since=None, inverted=True))
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
        any(mark.kind == "done" for mark in ended),
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
    values_by_state: Mapping[str, Sequence[StateValue]],
    *,
    never: Never | None = None,
    other_queues: OtherQueues | None = None,
) -> tuple[Toml, str]:
    """Return the queue in the form of ``qmon.toml``, and the evidence for its states.

    If the table has a due time, a message with a value for scheduled messages (``retry``) is ready when it is due.

    Args:
        details: the table.
        layout: the table's layout. It has a state column and a one-column id.
        values_by_state: the values of each state; see ``words_by_state``. There is a value for ready messages.
        never: what a due time in more than five years means; ``None`` if rows have no such due time.
        other_queues: queues whose names show that their messages are not ready. The table then has no due time.
    """
    assert layout.state is not None  # noqa: S101 - see above
    column, due = layout.state.column, layout.due_at
    later = list(values_by_state.get("scheduled", ()))
    waits: Toml = {column: [*values_by_state["ready"], *(later if due is not None else ())]}
    states = _waiting_states(details, due, waits, never=never)
    values: Toml = {}
    if other_queues is not None:
        ready = states[0]
        states[0] = {**ready, "when": {**waits, _SUFFIX_VALUE: {"not": list(other_queues.suffixes)}}}
        for kind, suffixes in other_queues.by_kind.items():
            states.append({"name": f"{kind}_queue", "kind": kind, "when": {**waits, _SUFFIX_VALUE: list(suffixes)}})
        names = {f"*{suffix}": suffix for suffix in other_queues.suffixes}
        values = {"values": {_SUFFIX_VALUE: {"column": other_queues.column, "names": names}}}
    if later and due is None:
        states.append({"name": "scheduled", "when": {column: later}})
    for kind in ("in_progress", "blocked", "dead", "done"):
        if meant := values_by_state.get(kind):
            state: Toml = {"name": kind, "when": {column: list(meant)}}
            since = column_for_role(_SINCE[kind], _name_type_pairs(details)) if kind in _SINCE else None
            states.append(state if since is None else state | {"since": since})
    told = "; ".join(f"{kind.replace('_', ' ')}: {', '.join(map(str, each))}" for kind, each in values_by_state.items())
    entry = _queue_entry(details, layout, states, may_be_overdue="in_progress" in values_by_state) | values
    means = [StateListText.MEANINGS.render(column=column, meanings=told)]
    return entry, "; ".join((*means, *(() if other_queues is None else other_queues.describe())))


@dataclass(frozen=True, slots=True)
class OtherQueues:
    """Queues of a table whose messages are not ready, although their state is that of ready messages.

    ``column``: the column with the name of the queue. ``by_kind``: for each kind of state, the suffixes of the names.
    """

    column: str
    by_kind: Mapping[str, tuple[str, ...]]

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of the names."""
        return tuple(suffix for suffixes in self.by_kind.values() for suffix in suffixes)

    @property
    def names(self) -> Toml:
        """The value for ``queue`` that counts these messages in the queues to which they belong."""
        return {"column": self.column, "names": {f"*{suffix}": "*" for suffix in self.suffixes}}

    def describe(self) -> list[str]:
        """Return a line for each kind."""
        return [
            StateListText.OTHER_QUEUES.render(
                column=self.column, patterns=", ".join(f"*{suffix}" for suffix in suffixes), kind=kind
            )
            for kind, suffixes in self.by_kind.items()
        ]


def find_other_queues(column: str, names: Iterable[str]) -> OtherQueues | None:
    """Return the queues that belong to another of the named queues, such as ``mails.DQ`` to ``mails``.

    ``column``: the column with the name of the queue. Returns ``None`` if there is no such queue.
    """
    known, found = set(names), dict[str, set[str]]()
    for name in known:
        if (suffix := queue_suffix(name)) is not None and name.removesuffix(suffix[0]) in known:
            found.setdefault(suffix[1], set()).add(suffix[0])
    return OtherQueues(column, {kind: tuple(sorted(found[kind])) for kind in sorted(found)}) if found else None


def steps_by_time(details: TableDetails, states: Iterable[Toml], queue: str | Toml) -> list[Toml]:
    """Return the steps that the times of the rows show, for a table whose done messages stay.

    ``states``: the states of the table. ``queue``: the column with the queue. The result is empty if the table does not
    record when messages are pushed, or numbers its rows: the numbers show pushes sooner.
    """
    by_kind = {str(state.get("kind", state["name"])): state for state in states}
    pairs = [(name, kind) for name, kind in _name_type_pairs(details) if kind in _ZONED_TYPES]
    pushed = column_for_role("enqueued_at", pairs)
    if pushed is None or "done" not in by_kind or not isinstance(queue, str):
        return []
    found: list[Toml] = [{"at": pushed, "pushed": True}]
    if "in_progress" in by_kind and (started := column_for_role("started_at", pairs)) is not None:
        found.append({"at": started, "popped": True})
        if (ended := column_for_role("finished_at", pairs)) is not None:
            found.append({"at": ended, "completed": by_kind["done"]["when"]})
    return [{"table": details.table.table_name, "queue": queue} | step for step in found]


def _is_numbered(details: TableDetails, id_column: str | None) -> bool:
    column = details.column(id_column)
    return column is not None and (column.is_identity or column.sequence_id is not None)


def _waiting_states(details: TableDetails, due: str | None, waits: Toml, *, never: Never | None = None) -> list[Toml]:
    """Return the states of ready and scheduled messages. ``waits``: their condition, without the due time."""
    pushed = column_for_role("enqueued_at", _name_type_pairs(details))
    if due is None:
        return [{"name": "ready", "when": waits, **({"since": pushed} if pushed else {})}]
    may_have_none = never == "now" or due in dict(_name_type_pairs(details, nullable=True))
    since = pushed if pushed and may_have_none else due  # a message without a due time has no age since then
    now: list[Toml] = [{due: {"null": True}}, {due: {"past": True}}]
    soon: Toml = {}
    if never is not None:
        now += [{due: {"future": True, "plus": f"-{FAR}"}}] if never == "now" else []
        soon = {"any": [{due: {"past": True, "plus": f"-{FAR}"}}]}
    return [
        {"name": "ready", "when": waits | {"any": now}, "since": since},
        {"name": "scheduled", "when": waits | {due: {"future": True}} | soon, "since": due},
    ]


def _queue_entry(details: TableDetails, layout: Layout, states: Sequence[Toml], *, may_be_overdue: bool) -> Toml:
    entry: Toml = {"name": layout.queue, "table": table_to_text(layout.table), "id": layout.id, "state": list(states)}
    lease = column_for_role("lease", _name_type_pairs(details, nullable=True))
    entry |= {"overdue": {lease: {"past": True}}} if lease and may_be_overdue else {}
    kinds = {str(state.get("kind", state["name"])) for state in states}
    entry |= {"counters": True} if _counters_show_flow(details, layout, kinds) else {}
    columns = _name_type_pairs(details)
    shown = {"owner": column_for_role("owner_name", columns), "attempts": layout.attempts, "payload": layout.payload}
    shown["error"] = column_for_role("error", columns)
    return entry | {key: column for key, column in shown.items() if column is not None}


def _counters_show_flow(details: TableDetails, layout: Layout, kinds: Collection[str]) -> bool:
    """Return whether the server's counters show pops and ends, because each of them updates or deletes its row.

    If done messages stay, the numbers of the rows show pushes better than the counters.
    """
    if "in_progress" not in kinds:
        return False
    deletes = details.activity is not None and details.activity.rows_are_deleted
    return not _is_numbered(details, layout.id) if "done" in kinds else deletes


def _name_type_pairs(details: TableDetails, *, nullable: bool = False) -> list[tuple[str, str]]:
    return [(c.column_name, c.type_name) for c in details.columns if not (nullable and c.not_null)]
