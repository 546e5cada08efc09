"""Read a queue of ``qmon.toml``: a layout, a group (several queues or a part of a table), or a library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from qmon.errors import BadInput
from qmon.model.config_reader import Keys
from qmon.model.groups.conditions import ALWAYS, AllOf, AnyOf, ColumnRef, Condition, IsNull, OneOf, Timed
from qmon.model.groups.group import Group, State, StateKind
from qmon.model.groups.group_parser import group_from_dict, parse_column, parse_condition
from qmon.model.layout.layout import Layout, LayoutSource, StateColumn, StateValue
from qmon.model.layout.layout_io import layout_from_dict, parse_required_table, parse_times
from qmon.model.layout.time_zones import NUMBER_ZONES
from qmon.texts import Text


class QueueKeyText(Text):
    """Errors of the keys of a queue."""

    NOT_WITH_GROUP = "{path}: cannot be combined with {keys}"
    NEEDS_ID = "{where}: needs id, the column that identifies messages"


_GROUP_KEYS: Final = ("queue", "where")
# Keys that a queue with ``queue`` or ``where`` cannot have.
LAYOUT_ONLY_KEYS: Final = (
    "ring",
    "data_table",
    "sequence",
    "routines",
    "switch",
    "producers",
    "consumers",
    "writes",
    "order",
)


@dataclass(frozen=True, slots=True)
class NamedLibrary:
    """All queues of a library."""

    library: str


ConfiguredQueue = Layout | Group | NamedLibrary


def configured_name(queue: ConfiguredQueue) -> str:
    """Return the name of a queue. For a group or library, return the prefix of the names of its queues."""
    match queue:
        case Layout():
            return queue.queue
        case Group():
            return queue.name
    return queue.library


def queue_from_dict(raw: Mapping[str, object], *, where: str, libraries: Sequence[str]) -> ConfiguredQueue:
    """Read a queue of the configuration. ``libraries``: names of the known libraries.

    A queue with a list of states, ``queue`` or ``where`` is a group. The message of a ``BadInput`` starts with
    ``where`` and the path of the key.
    """
    keys = Keys(raw, where)
    if "library" in raw:
        named = NamedLibrary(keys.choice("library", libraries) or "")
        keys.reject_unknown_keys()
        return named
    if isinstance(raw.get("state"), list):
        return group_from_dict(raw, parse_required_table(keys, "table"), where=where)
    if not raw.keys() & set(_GROUP_KEYS):
        return layout_from_dict(raw, where=where)
    for name in LAYOUT_ONLY_KEYS:
        if name in raw:
            raise BadInput(QueueKeyText.NOT_WITH_GROUP.render(path=keys.path(name), keys=" or ".join(_GROUP_KEYS)))
    layout = layout_from_dict({name: raw[name] for name in raw if name not in (*_GROUP_KEYS, "times")}, where=where)
    if layout.id is None or layout.key:
        raise BadInput(QueueKeyText.NEEDS_ID.render(where=where))
    part = parse_condition(keys, "where")
    group = group_from_layout(layout, parse_column(keys, "queue"), parse_times(keys, tuple(NUMBER_ZONES)))
    return group if part is None else group.restrict_to(part)


def group_from_layout(layout: Layout, queue: ColumnRef | None, times: str | None) -> Group:
    """Return a layout as a group, with one queue per value of a column. The layout must have a one-column id."""
    owner = layout.owner
    by = None if owner is None else ColumnRef(owner.column)
    lease = by is not None and owner is not None and owner.kind == "lease"
    heartbeat = by is not None and owner is not None and owner.kind == "heartbeat"
    return Group(
        name=layout.queue,
        table=layout.table,
        id=layout.id or "",
        states=tuple(_states(layout)),
        queue=queue,
        overdue=Timed(by, "<=") if lease and by else None,
        gone=Timed(by, "<=", layout.timeout_s) if heartbeat and by else None,
        owner=None if lease or heartbeat else by,
        attempts=_column_ref(layout.attempts),
        payload=_column_ref(layout.payload),
        error=_column_ref(layout.error),
        times=times,
        timeout_s=layout.timeout_s,
        source=LayoutSource.CONFIGURATION,
    )


def _states(layout: Layout) -> Iterator[State]:
    state, due = layout.state, _column_ref(layout.due_at)
    ready = ALWAYS if state is None else _state_condition(state, state.ready)
    if due is None:
        yield State("ready", "ready", ready, _column_ref(layout.enqueued_at))
    else:
        yield State("ready", "ready", AllOf((ready, AnyOf((IsNull(due), Timed(due, "<="))))), due)
        yield State("scheduled", "scheduled", AllOf((ready, Timed(due, ">"))), due)
    if state is None:
        return
    others: tuple[tuple[StateKind, StateValue | None, str | None], ...] = (
        ("in_progress", state.in_progress, layout.started_at),
        ("blocked", state.blocked, None),
        ("dead", state.dead, None),
    )
    for kind, value, since in others:
        if value is not None:
            yield State(kind, kind, _state_condition(state, value), _column_ref(since))
    if state.all_done:
        yield State("done", "done", _state_condition(state, *state.all_done))


def _state_condition(state: StateColumn, *values: StateValue) -> Condition:
    return OneOf(ColumnRef(state.column), values)


def _column_ref(column: str | None) -> ColumnRef | None:
    return None if column is None else ColumnRef(column)
