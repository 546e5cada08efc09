"""Complete a layout from the catalog: find omitted columns by keys, types and common names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Final

from qmon.errors import BadInput
from qmon.model.config_reader import suggest_nearest
from qmon.model.layout.layout import Layout, ObjectName, OwnerColumn
from qmon.monitor.catalog.catalog import ColumnRow, SequenceRows, TableDetails
from qmon.monitor.catalog.column_names import WHOLE_TYPES, ColumnRole, column_for_role, normalize_name
from qmon.monitor.catalog.state_values import KnownValues, find_queue_state_column, state_meanings
from qmon.texts import Text


class CompletionText(Text):
    """How missing parts of a layout were found, and why the layout cannot be used."""

    NO_COLUMN = "{table} has no column {column!r} ({key}){hint}"
    NO_SEQUENCE = "there is no sequence {sequence}{hint}"
    NO_SEQUENCE_FOR = "there is no sequence {sequence} ({key}){hint}"
    NEEDS_SEQUENCES = (
        "design {design} needs a size and sequences: "
        'ring = {{ size = 1024, push_sequence = "dbo.PushSequence", pop_sequence = "dbo.PopSequence" }}'
    )
    NEEDS_STATE = 'design {design} needs a state column: state = {{ column = "Status", ready = 1, in_progress = 2 }}'
    NEEDS_DUE_TIME = 'design pending needs the column with the due time: due_at = "DueTime"'
    WRITE_STATE = '{reason}: write state = {{ column = "{column}", ready = 1, in_progress = 2 }}'
    LOOKS_LIKE_STATE = '`{column}` looks like a state column, which {design} does not use; set design = "{other}"'
    FILLED = "`{column}`: filled by the sequence {sequence}"
    FILLED_BY_NAME = "`{column}`: filled by the sequence {sequence}, judging by its name"
    WHOLE_KEY = "`{column}` alone does not identify a message; {columns} together identify it"
    TEXTLESS = "`{column}` is {type}, which has no exact text form and cannot identify a message"
    NO_ID = "{column}: messages have no id"
    OTHER_ID = "{column}: name another column as the id"
    ID_NUMBERED = "id `{column}`: numbered by the server"
    ID_PRIMARY = "id `{column}`: the primary key"
    ID_WHOLE = "id `{column}`: the whole number in the primary key"
    BY_NAME = "{role} `{column}`: recognized by its name"


NEEDS_STATE: Final = frozenset({"status", "flag", "batch_single", "batch_split", "batch_fast"})
RINGS: Final = frozenset({"ring", "ring_classic", "ring_pointer", "ring_subscribers"})
_TIMES: Final = ("started_at", "enqueued_at", "due_at")
_COLUMN_ROLES: Final = ("id", *_TIMES, "attempts", "priority", "payload", "error")

# Returns the known values of a column.
Values = Callable[[str], KnownValues]


def complete_layout(
    layout: Layout,
    details: TableDetails,
    sequences: SequenceRows,
    values: Values,
    textless: Collection[str] = (),
) -> tuple[Layout, tuple[str, ...]]:
    """Return the layout with its table's real name and the missing columns, and a reason for each finding.

    ``textless``: types of the engine whose values have no exact text form. Columns of these types cannot identify a
    message. Raises ``BadInput`` if a named column does not exist, or if the design needs a column that was not found.
    """
    layout = _spell_columns(replace(layout, table=details.table.name), details)
    if layout.design in RINGS:
        return _with_ring(layout, sequences), ()
    reasons: list[str] = []
    layout = _with_state(layout, details, values, reasons)
    layout = _with_id(layout, details, sequences, reasons, textless)
    layout = _with_columns(layout, details, reasons)
    return layout, tuple(reasons)


def _spell_columns(layout: Layout, details: TableDetails) -> Layout:
    """Spell every column of the layout as the table does. The names may differ only in case."""

    def existing_column(name: str, key: str) -> str:
        names = [c.column_name for c in details.columns]
        if name in names:
            return name
        if len(near := [known for known in names if known.lower() == name.lower()]) == 1:
            return near[0]
        raise BadInput(
            CompletionText.NO_COLUMN.render(table=layout.table, column=name, key=key, hint=suggest_nearest(name, names))
        )

    changes: dict[str, object] = {}
    for role in _COLUMN_ROLES:
        if (name := getattr(layout, role)) is not None:
            changes[role] = existing_column(name, role)
    if layout.state is not None:
        changes["state"] = replace(layout.state, column=existing_column(layout.state.column, "state"))
    if layout.owner is not None:
        changes["owner"] = replace(layout.owner, column=existing_column(layout.owner.column, "owner"))
    if isinstance(layout.max_attempts, str):
        changes["max_attempts"] = existing_column(layout.max_attempts, "max_attempts")
    changes["order"] = tuple(replace(each, column=existing_column(each.column, "order")) for each in layout.order)
    changes["writes"] = tuple(replace(each, column=existing_column(each.column, "writes")) for each in layout.writes)
    changes["key"] = tuple(existing_column(name, "id") for name in layout.key)
    if (ring := layout.ring) is not None:
        if ring.turn is not None and layout.design == "ring_classic":
            ring = replace(ring, turn=None)
        changes["ring"] = replace(
            ring,
            slot=existing_column(ring.slot, "slot"),
            turn=ring.turn and existing_column(ring.turn, "turn"),
            message_id=existing_column(ring.message_id, "message_id"),
            reference_count=existing_column(ring.reference_count, "reference_count"),
        )
    return replace(layout, **changes)  # type: ignore[arg-type]


def _with_ring(layout: Layout, sequences: SequenceRows) -> Layout:
    ring = layout.ring
    if ring is None:
        raise BadInput(CompletionText.NEEDS_SEQUENCES.render(design=layout.design))

    def existing_sequence(sequence_name: ObjectName, role: str) -> ObjectName:
        sequence = sequences.find(sequence_name)
        if sequence is None:
            raise BadInput(
                CompletionText.NO_SEQUENCE_FOR.render(
                    sequence=sequence_name,
                    key=role,
                    hint=suggest_nearest(str(sequence_name), _sequence_names(sequences)),
                )
            )
        return sequence.name

    push, pop = (
        existing_sequence(ring.push_sequence, "push_sequence"),
        existing_sequence(ring.pop_sequence, "pop_sequence"),
    )
    readers = tuple(existing_sequence(each, "subscribers") for each in ring.subscribers)
    return replace(layout, ring=replace(ring, push_sequence=push, pop_sequence=pop, subscribers=readers))


def _sequence_names(sequences: SequenceRows) -> list[str]:
    return [str(sequence.name) for sequence in sequences]


def _with_state(layout: Layout, details: TableDetails, values: Values, reasons: list[str]) -> Layout:
    if layout.state is not None:
        return layout
    found = find_queue_state_column(details, layout.design)
    if layout.design not in NEEDS_STATE:
        if found is not None and layout.design in ("fifo", "heap", "lifo", "naive"):
            name, wanted = found[0].column_name, "flag" if found[1] else "status"
            reasons.append(CompletionText.LOOKS_LIKE_STATE.render(column=name, design=layout.design, other=wanted))
        return layout
    if found is None:
        raise BadInput(CompletionText.NEEDS_STATE.render(design=layout.design))
    column, flag = found
    state, why = state_meanings(column, values(column.column_name), layout.design, flag=flag)
    if state is None:
        raise BadInput(CompletionText.WRITE_STATE.render(reason=why[0], column=column.column_name))
    reasons.extend(why)
    return replace(layout, state=state)


def _with_id(
    layout: Layout,
    details: TableDetails,
    sequences: SequenceRows,
    reasons: list[str],
    textless: Collection[str],
) -> Layout:
    check_ids(details, (*layout.key, layout.id), textless)
    name = layout.id or _choose_id(layout, details, reasons)
    column = details.column(name)
    if column is None:
        return layout
    if column.type_name in textless:
        reasons.append(CompletionText.NO_ID.render(column=_describe_textless(column)))
        return layout
    sequence = layout.sequence
    if sequence is not None:
        if (there := sequences.find(sequence)) is None:
            raise BadInput(
                CompletionText.NO_SEQUENCE.render(
                    sequence=sequence, hint=suggest_nearest(str(sequence), _sequence_names(sequences))
                )
            )
        sequence = there.name
    elif column.sequence_name is not None:
        sequence = ObjectName(column.sequence_schema or "", column.sequence_name)
        reasons.append(CompletionText.FILLED.render(column=name, sequence=sequence))
    elif column.type_name in WHOLE_TYPES and not column.is_identity:
        sequence = unowned_sequence(layout.table, column.column_name, sequences)
        if sequence is not None:
            reasons.append(CompletionText.FILLED_BY_NAME.render(column=name, sequence=sequence))
    key = layout.key or _key_columns(column.column_name, details, textless)
    if key and not layout.key:
        whole = " and ".join(f"`{each}`" for each in key)
        reasons.append(CompletionText.WHOLE_KEY.render(column=name, columns=whole))
    return replace(layout, id=name, key=key, sequence=sequence)


def check_ids(details: TableDetails, names: Iterable[str | None], textless: Collection[str]) -> None:
    """Raise ``BadInput`` if one of these columns cannot identify a message. ``textless``: see ``complete_layout``."""
    for name in names:
        if (found := details.column(name)) is not None and found.type_name in textless:
            raise BadInput(CompletionText.OTHER_ID.render(column=_describe_textless(found)))


def _describe_textless(column: ColumnRow) -> str:
    return CompletionText.TEXTLESS.render(column=column.column_name, type=column.type_name)


def _key_columns(name: str, details: TableDetails, textless: Collection[str]) -> tuple[str, ...]:
    """Return the columns that identify a message, the id last; empty if the id is enough or no key contains it."""
    taken = {c.column_name for c in details.columns if c.not_null and c.type_name not in textless}
    keys = [each.keys for each in details.indexes if each.whole and set(each.keys) <= taken]
    keys = [each for each in keys if name in each]
    if (name,) in keys or not keys:
        return ()
    primary = details.primary
    best = primary.keys if primary is not None and primary.keys in keys else min(keys, key=len)
    return (*(each for each in best if each is not None and each != name), name)


def _choose_id(layout: Layout, details: TableDetails, reasons: list[str]) -> str | None:
    state = layout.state.column if layout.state else None
    for column in details.columns:
        if (column.is_identity or column.sequence_id is not None) and column.column_name != state:
            reasons.append(CompletionText.ID_NUMBERED.render(column=column.column_name))
            return column.column_name
    if (primary := details.primary) is not None and len(primary.keys) == 1 and primary.keys[0]:
        reasons.append(CompletionText.ID_PRIMARY.render(column=primary.keys[0]))
        return primary.keys[0]
    if primary is not None and (whole := [each for each in primary.keys if _is_whole(each, details)]):
        reasons.append(CompletionText.ID_WHOLE.render(column=whole[-1]))
        return whole[-1]
    name = column_for_role("id", [(c.column_name, c.type_name) for c in details.columns if c.column_name != state])
    if name is not None:
        reasons.append(CompletionText.BY_NAME.render(role="id", column=name))
    return name


def _is_whole(name: str | None, details: TableDetails) -> bool:
    column = details.column(name)
    return column is not None and column.type_name in WHOLE_TYPES


def unowned_sequence(table: ObjectName, column: str, sequences: SequenceRows) -> ObjectName | None:
    """Return a sequence without an owner, named after the table or the id: ``MessageSequence``, ``message_id``."""
    stems = {normalize_name(table.name), normalize_name(column), normalize_name(column).removesuffix("id")} - {""}
    near = sequences.unowned_in(table.schema)
    found = [s for s in near if any(normalize_name(s.sequence_name).startswith(stem) for stem in stems)]
    return found[0].name if len(found) == 1 else None


def _with_columns(layout: Layout, details: TableDetails, reasons: list[str]) -> Layout:
    used = {getattr(layout, role) for role in _COLUMN_ROLES} | {None}
    used |= {layout.state.column if layout.state else None, layout.owner.column if layout.owner else None}

    def by_name(role: ColumnRole) -> str | None:
        found = column_for_role(
            role, [(c.column_name, c.type_name) for c in details.columns if c.column_name not in used]
        )
        if found is not None:
            used.add(found)
            words = role.replace("_name", "").replace("_", " ")
            reasons.append(CompletionText.BY_NAME.render(role=words, column=found))
        return found

    changes: dict[str, object] = {}
    if layout.owner is None and not layout.deletes_on_pop:
        changes["owner"] = _choose_owner(by_name)
    roles: tuple[ColumnRole, ...] = ("due_at", "started_at", "attempts", "priority", "enqueued_at", "payload", "error")
    for role in roles:
        if getattr(layout, role) is None and not (role == "started_at" and layout.state is None):
            changes[role] = by_name(role)
    completed = replace(layout, **changes)  # type: ignore[arg-type]
    if completed.design == "pending" and completed.due_at is None:
        raise BadInput(CompletionText.NEEDS_DUE_TIME)
    return completed


def _choose_owner(by_name: Callable[[ColumnRole], str | None]) -> OwnerColumn | None:
    """Return the column that shows most about the owner: a lease, a heartbeat, a session, or else a name."""
    if (lease := by_name("lease")) is not None:
        return OwnerColumn(lease, "lease")
    if (heartbeat := by_name("heartbeat")) is not None:
        return OwnerColumn(heartbeat, "heartbeat")
    if (session := by_name("session")) is not None:
        return OwnerColumn(session, "session")
    name = by_name("owner_name")
    return None if name is None else OwnerColumn(name, "name")
