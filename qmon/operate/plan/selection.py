"""Selects and counts the rows of the operator's choice, and freezes the rows: records their places and versions."""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, Literal

from qmon.engines.base import Value
from qmon.engines.postgres.arrays import array_literal
from qmon.engines.sql.queries import Name
from qmon.errors import BadInput, PermissionMissing, QueryFailed
from qmon.model.formatting import count_text, duration
from qmon.model.layout.layout import Layout, StateValue
from qmon.model.layout.message_ids import split_id
from qmon.model.operation_records import Choice, LeftOut, OwnerState
from qmon.model.sessions.owners import OwnerFacts, OwnerProof, owner_proof
from qmon.operate.plan.exclusions import Exclusion, left_out_messages
from qmon.operate.plan.required_rights import why_not_keepable
from qmon.operate.plan.text_condition import text_condition_for
from qmon.operate.row_set import CHUNK_ROWS, RowSet, ids_for, pack_rows, parse_marks
from qmon.operate.sql import Sql
from qmon.operate.table_structure import TableStructure, why_truncated
from qmon.texts import Text


class ChoiceText(Text):
    """Faults of a choice of messages, and descriptions of a choice."""

    CHOOSE_STATE = "choose a state, such as ready, or give ids"
    IN_PROGRESS = "{messages} in progress"
    IN_STATE = "{count:,} {state}"
    MESSAGES = "{listed} {unit}"
    NOT_A_STATE = "{state!r} is not a state: choose {states}"
    NO_STATE_COLUMN = "queue {queue!r} has no state column: all its messages are ready"
    NO_SUCH_STATE = "queue {queue!r} has no messages that are {state}"
    NO_OWNER = "queue {queue!r} has no column for the consumer of a message"
    AN_AGE = "an age"
    A_LIMIT = "a limit"
    NOT_A = "{value:g} is not {what}"
    EMPTY_RANGE = "no message is older than {older} and newer than {newer}"
    ZERO_LIMIT = "the limit must be at least 1"
    ERROR = "the error of a message"
    PAYLOAD = "the payload of a message"
    EMPTY_TEXT = "the text to find in {what} is empty"
    NO_COLUMN = 'queue {queue!r} has no column for {what}; set {key} = "…" in the configuration'
    NO_PUSH_TIME = "queue {queue!r} has no column for the time at which a message was pushed; give ids"
    PUSH_TIME_ZONE = "queue {queue!r}: {advice}; or give ids"
    NO_ZONE = '{column} has no time zone; set one in the configuration: times = "utc", "local" or, say, "Europe/Berlin"'
    NO_IDS = "messages of this queue have no ids; choose messages by state instead"
    ID_FORM = "ids of this queue have the form {form}; write a / within a part as \\/"
    NOT_IDS = "these are not ids of queue {queue!r}: {problem}"
    WRITE_IDS = "; write ids as {form}"
    NO_KEY = ", and the table has no key"
    AMBIGUOUS_ID = "{columns} does not identify messages here: one of these ids belongs to several messages{advice}"
    NO_OWNER_STATE = "no owner state was given: choose dead, alive or unknown"
    MORE = " and {count:,} more"
    IDS = "id {ids}"
    BEFORE = "since before {time}Z"
    AFTER = "since after {time}Z"
    LONGER = "for more than {duration}"
    LONGER_UNLESS_DEAD = "for more than {duration} unless the owner is dead"
    OWNER = "owner {owner}"
    CONTAINS = "{column} contains {text!r}"


# Maximum number of messages of one plan. Further messages need another plan.
MAX_MESSAGES: Final = 2_000_000
STATES: Final = ("ready", "in_progress", "done", "dead")

# Advice for a queue without dead messages: a purge without a choice only selects dead messages.
State = Literal["ready", "in_progress", "done", "dead"]


@dataclass(frozen=True, slots=True)
class Criteria:
    """The criteria of an action, in addition to the operator's choice.

    - ``states``: the states to search, in this order. Empty if the layout has no state column.
    - ``age_column``: the time column that the age is computed from.
    - ``older_than_s``: minimum age in seconds of all messages.
    - ``stuck_s``: minimum age in seconds of a message in progress, unless its owner is dead.
    """

    states: tuple[State, ...]
    age_column: str | None
    older_than_s: float | None
    stuck_s: float | None


@dataclass(frozen=True, slots=True)
class Selection:
    """The frozen rows, and everything that the plan shows about these rows."""

    rows: RowSet
    left_out: tuple[LeftOut, ...]
    facts: OwnerFacts
    proof: OwnerProof
    owner_states: frozenset[OwnerState]
    predicate: str
    # Number of messages in each state.
    counts: Mapping[str, int]

    @property
    def counts_text(self) -> str:
        """The number of messages in each state as text: ``262 ready and 38 dead messages``."""
        return state_counts_text(self.counts)


@dataclass(frozen=True, slots=True)
class Matches:
    """A row of ``choose`` and similar queries: how many rows are frozen, or how many are left out and why."""

    # `chosen`, or the code of an `Exclusion`.
    what: str
    count: int
    keys: str | None
    versions: str | None


def count_excluded(matches: Iterable[Matches]) -> Counter[Exclusion]:
    """Return the number of messages that are left out for each reason."""
    return Counter({Exclusion(row.what): row.count for row in matches if row.what != "chosen"})


def state_counts_text(counts: Mapping[str, int]) -> str:
    """Return the numbers of messages by state as text: ``1 dead message``, ``3 messages in progress``.

    States without messages are left out. ``counts``: the number of messages in each state; at least one state.
    """
    found = {state: count for state, count in counts.items() if count} or dict(list(counts.items())[:1])
    if set(found) == {"in_progress"}:
        return ChoiceText.IN_PROGRESS.render(messages=count_text(found["in_progress"], "message"))
    numbers = [ChoiceText.IN_STATE.render(count=count, state=state_text(state)) for state, count in found.items()]
    listed = " and ".join(filter(None, (", ".join(numbers[:-1]), numbers[-1])))
    return ChoiceText.MESSAGES.render(listed=listed, unit="message" if sum(found.values()) == 1 else "messages")


def state_text(state: str) -> str:
    """Return a state as sentences write it: ``in progress``."""
    return state.replace("_", " ")


def check_choice(layout: Layout, choice: Choice) -> None:
    """Raise ``BadInput`` if the choice makes no sense for this layout."""
    if choice.state is not None and choice.state not in STATES:
        raise BadInput(ChoiceText.NOT_A_STATE.render(state=choice.state, states=", ".join(STATES)))
    if choice.state is not None and layout.state is None and choice.state != "ready":
        raise BadInput(ChoiceText.NO_STATE_COLUMN.render(queue=layout.queue))
    if choice.state is not None and layout.state is not None and state_value(layout, choice.state) is None:
        raise BadInput(ChoiceText.NO_SUCH_STATE.render(queue=layout.queue, state=state_text(choice.state)))
    check_choice_numbers(choice)
    if choice.owner is not None and layout.owner is None:
        raise BadInput(ChoiceText.NO_OWNER.render(queue=layout.queue))
    check_texts(choice, layout.queue, layout.error, layout.payload)


def check_choice_numbers(choice: Choice) -> None:
    """Raise ``BadInput`` for ages or a limit that are not valid numbers."""
    ages = (choice.older_than_s, choice.newer_than_s)
    for value, what in (*((age, ChoiceText.AN_AGE) for age in ages), (choice.limit, ChoiceText.A_LIMIT)):
        if value is not None and not (value >= 0 and math.isfinite(value)):
            raise BadInput(ChoiceText.NOT_A.render(value=value, what=what))
    if None not in ages and ages[0] >= ages[1]:  # type: ignore[operator]  # both are there
        raise BadInput(ChoiceText.EMPTY_RANGE.render(older=duration(ages[0]), newer=duration(ages[1])))  # type: ignore[arg-type]
    if choice.limit == 0:
        raise BadInput(ChoiceText.ZERO_LIMIT)


def check_texts(choice: Choice, queue: str, error: str | None, payload: str | None) -> None:
    """Raise ``BadInput`` if a search text is empty, or if the queue has no column to search in."""
    for given, column, name, what in (
        (choice.error, error, "error", ChoiceText.ERROR),
        (choice.payload, payload, "payload", ChoiceText.PAYLOAD),
    ):
        if given is not None and not given:
            raise BadInput(ChoiceText.EMPTY_TEXT.render(what=what))
        if given is not None and column is None:
            raise BadInput(ChoiceText.NO_COLUMN.render(queue=queue, what=what, key=name))


def check_push_time(layout: Layout) -> None:
    """Raise ``BadInput`` if the push time of messages is unknown."""
    if layout.enqueued_at is None:
        raise BadInput(ChoiceText.NO_PUSH_TIME.render(queue=layout.queue))
    if not layout.has_known_time(layout.enqueued_at):
        raise BadInput(ChoiceText.PUSH_TIME_ZONE.render(queue=layout.queue, advice=zone_advice(layout.enqueued_at)))


def zone_advice(column: str) -> str:
    """Return advice for a time column without a known time zone."""
    return ChoiceText.NO_ZONE.render(column=column)


def state_value(layout: Layout, state: str) -> StateValue | None:
    """Return the value of the state column for one of ``STATES``."""
    found: StateValue | None = getattr(layout.state, state, None)
    return found


def column_names(layout: Layout, structure: TableStructure, age_column: str | None) -> dict[str, Name]:
    """Return the names for the statements that read messages."""
    owner = layout.owner
    return {
        "table": layout.table.parts,
        "id": layout.id,
        "key": structure.key or None,
        "called": structure.id_columns(layout) or None,
        "state": None if layout.state is None else layout.state.column,
        "since": layout.time_column(age_column),
        "owner": None if owner is None else owner.column,
        "lease": layout.time_column(owner.column) if owner is not None and owner.kind == "lease" else None,
        "beat": layout.time_column(owner.column) if owner is not None and owner.kind == "heartbeat" else None,
        "attempts": layout.attempts,
        "payload": layout.payload if layout.data_table is None else None,
        "sized": None,
        "error": None,
    }


def columns_for_undo(layout: Layout, structure: TableStructure, age_column: str | None) -> dict[str, object]:
    """Return the columns by which an undo finds and shows messages, in the form that is stored with an operation."""
    names = column_names(layout, structure, age_column) | {"since": age_column}
    return {"columns": {name: names[name] for name in ("called", "state", "since", "owner", "attempts", "payload")}}


def id_columns_for(called: Sequence[str], id: str | None, ids: Sequence[str]) -> tuple[str, ...]:
    """Return the columns whose values make up these ids: ``called``, or only ``id``.

    Raises ``BadInput`` if the number of parts in an id fits neither.
    """
    if not called and id is None:
        raise BadInput(ChoiceText.NO_IDS)
    if not called or all(len(split_id(text, len(called))) == len(called) for text in ids):
        return tuple(called) or ((id,) if id is not None else ())
    if id is not None and all(len(split_id(text, len(called))) == 1 for text in ids):
        return (id,)
    raise BadInput(ChoiceText.ID_FORM.render(form="/".join(called)))


def id_names(ids: Sequence[str]) -> dict[str, Name]:
    """Return the names for ``:ids`` in the statements that choose rows."""
    return {"named": ids or None, "first": ids[0] if ids else None, "last": ids[-1] if ids else None}


def read_owner_facts(sql: Sql) -> OwnerFacts:
    """Read the time on the server's clock, and which facts about owners our role may read."""
    return sql.fetch(OwnerFacts, "facts", {})[0]


def pack_matches(sql: Sql, matches: Iterable[Matches]) -> RowSet:
    """Freeze the chosen rows."""
    engine = sql.engine.name
    return pack_rows(
        mark for row in matches if row.keys is not None for mark in parse_marks(engine, row.keys, row.versions or "")
    )


@contextlib.contextmanager
def reject_bad_ids(layout: Layout) -> Iterator[None]:
    """Convert the server's conversion errors to ``BadInput``, because the operator typed the ids."""
    try:
        yield
    except PermissionMissing:
        raise
    except QueryFailed as problem:
        if problem.sqlstate[:2] == "22":
            raise BadInput(ChoiceText.NOT_IDS.render(queue=layout.queue, problem=problem)) from problem
        raise


@dataclass(frozen=True, slots=True)
class MessageQuery:
    """A query for messages of a queue, by the operator's choice and the criteria of the action."""

    sql: Sql
    layout: Layout
    structure: TableStructure
    choice: Choice
    criteria: Criteria

    def select_messages(self) -> Selection:
        """Count and freeze the rows. Only reads, and takes no locks.

        Raises ``BadInput`` for impossible ids, or for an id that matches several messages.
        """
        self.sql.set_up_session("modest")
        if self.choice.ids:
            self._check_ids_unique()
        return self._select()

    def why_not_decidable(self, needed_columns: Sequence[str]) -> str | None:
        """Return why a needed column cannot be used, or ``None`` if all can be used.

        ``needed_columns``: needed columns, in addition to the columns that decide which rows are chosen. A column
        cannot be used if, for example, the server shows a masked time as a date in 1900.
        """
        layout, choice = self.layout, self.choice
        owner = None if layout.owner is None else layout.owner.column
        error = None if choice.error is None else layout.error
        payload = None if choice.payload is None else layout.payload
        decisive = (*needed_columns, self.criteria.age_column, owner, layout.attempts)
        if layout.data_table is None:
            return why_not_keepable(self.sql, layout.table, decisive, (error, payload))
        why = why_not_keepable(self.sql, layout.table, decisive, (error,))
        return why or why_not_keepable(self.sql, layout.data_table, (), (payload,))

    def owner_states_of(self, chosen: Selection, ids: tuple[str, ...]) -> dict[str, OwnerState]:
        """Return the owner states of a few chosen messages, keyed by the messages' keys."""
        if len(chosen.owner_states) == 1:
            (only,) = chosen.owner_states
            return {key: only for key, _ in chosen.rows.first(len(ids))}
        out: dict[str, OwnerState] = {}
        for state in sorted(chosen.owner_states):
            few = replace(self, choice=replace(self.choice, ids=ids, owner_states=frozenset({state})))
            out |= {key: state for key, _ in few._select().rows}
        return out

    def _id_columns(self) -> tuple[str, ...]:
        """Return the columns of the chosen ids."""
        return id_columns_for(self.structure.id_columns(self.layout), self.layout.id, self.choice.ids)

    def _check_ids_unique(self) -> None:
        """Raise ``BadInput`` if an id matches several messages."""
        sql, structure, named = self.sql, self.structure, self._id_columns()
        if structure.is_identified_by(named):
            return
        names: dict[str, Name] = {"table": self.layout.table.parts, **id_names(named)}
        with reject_bad_ids(self.layout):
            several = sql.fetch_count("several", names, {"ids": ids_for(sql.engine.name, named, self.choice.ids)})
        if several:
            columns = "/".join(structure.id_columns(self.layout))
            known = ChoiceText.WRITE_IDS.render(form=columns) if structure.keys else ChoiceText.NO_KEY
            raise BadInput(ChoiceText.AMBIGUOUS_ID.render(columns="/".join(named), advice=known))

    def _refuse_truncated(self, columns: Sequence[str], texts: Iterable[str]) -> None:
        """Raise ``BadInput`` if the server may have truncated a key or id, which could match another row."""
        if self.sql.engine.name == "sqlserver" and (why := why_truncated(self.structure, columns, texts)):
            raise BadInput(why)

    def _select(self) -> Selection:
        sql, layout, choice, wanted = self.sql, self.layout, self.choice, self.criteria
        # SQL Server's statements need the id columns even if no ids were chosen.
        named = self._id_columns() if choice.ids else self.structure.key
        self._refuse_truncated(named, choice.ids)
        names = column_names(layout, self.structure, wanted.age_column) | id_names(named)
        names["holds"] = text_condition_for(sql, layout, self.structure, choice)
        if layout.state is not None:
            names["state"] = self.structure.typed_column(layout.state.column)
        facts = read_owner_facts(sql)
        known = owner_proof(layout, facts)
        proves = "in_progress" in wanted.states
        states = choice.owner_states if proves and known.kind != "none" else frozenset({OwnerState.NONE})
        if not states:
            raise BadInput(ChoiceText.NO_OWNER_STATE)
        limit = min(choice.limit or MAX_MESSAGES, MAX_MESSAGES)
        marks: list[RowSet] = []
        counts: dict[str, int] = {}
        left: Counter[Exclusion] = Counter()
        for state in wanted.states or (None,):
            values: dict[str, Value] = {
                "ids": ids_for(sql.engine.name, named, choice.ids) if choice.ids else None,
                "some": bool(choice.ids),
                "cutoff": _time_before(facts, wanted.older_than_s),
                "from": _time_before(facts, choice.newer_than_s),
                "stuck": _time_before(facts, wanted.stuck_s),
                "owner": choice.owner,
                "timeout": layout.timeout_s,
                "chunk": CHUNK_ROWS,
                "any_state": state is None,
                "state": None if state is None else state_value(layout, state),
                "kind": known.kind if state == "in_progress" else "none",
                "sees": known.sees,
                "vanished": known.vanished,
                "wanted": array_literal(states if state == "in_progress" else {OwnerState.NONE}),
                "limit": limit - sum(each.count for each in marks),
            }
            with reject_bad_ids(layout):
                found = sql.fetch(Matches, "choose", names, values)
            marks.append(pack_matches(sql, found))
            counts[state or "ready"] = marks[-1].count
            left.update(count_excluded(found))
        self._refuse_truncated(self.structure.key, (key for each in marks for key, _ in each))
        rows = RowSet(sum(each.count for each in marks), tuple(chunk for each in marks for chunk in each.chunks))
        if choice.ids and (gone := len(set(choice.ids)) - rows.count - sum(left.values())) > 0:
            left[Exclusion.NOT_FOUND] = gone
        left_out = left_out_messages(left, unproven=known.why, stuck_s=wanted.stuck_s)
        predicate = _predicate_text(choice, wanted, facts, known, states)
        return Selection(rows, left_out, facts, known, states, predicate, counts)


def _time_before(facts: OwnerFacts, seconds: float | None) -> str | None:
    """Return the moment ``seconds`` ago by the server's clock, as text that the server converts back unchanged."""
    return None if seconds is None else _time_text(facts.epoch - seconds)


def _time_text(epoch: float) -> str:
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d %H:%M:%S.%f+00:00")


def _predicate_text(
    choice: Choice, criteria: Criteria, facts: OwnerFacts, owner_proof: OwnerProof, states: frozenset[OwnerState]
) -> str:
    """Describe the predicate in words, with the frozen values."""
    parts = [" or ".join(map(state_text, criteria.states)) or "ready"]
    if choice.ids:
        shown = ", ".join(choice.ids[:5]) + (
            ChoiceText.MORE.render(count=len(choice.ids) - 5) if len(choice.ids) > 5 else ""
        )
        parts.append(ChoiceText.IDS.render(ids=shown))
    if criteria.older_than_s is not None:
        parts.append(ChoiceText.BEFORE.render(time=_time_text(facts.epoch - criteria.older_than_s)[:-9]))
    if choice.newer_than_s is not None:
        parts.append(ChoiceText.AFTER.render(time=_time_text(facts.epoch - choice.newer_than_s)[:-9]))
    parts += text_criteria(choice)
    if criteria.stuck_s is not None and owner_proof.kind == "none":
        parts.append(ChoiceText.LONGER.render(duration=duration(criteria.stuck_s)))
    elif criteria.stuck_s is not None and states != {OwnerState.DEAD}:  # if the owner is dead, age does not matter
        parts.append(ChoiceText.LONGER_UNLESS_DEAD.render(duration=duration(criteria.stuck_s)))
    if choice.owner is not None:
        parts.append(ChoiceText.OWNER.render(owner=choice.owner))
    if "in_progress" in criteria.states and owner_proof.kind != "none":
        parts.append("owner " + " or ".join(sorted(states)))
    return ", ".join(parts)


def text_criteria(choice: Choice) -> list[str]:
    """Describe which texts the chosen messages contain."""
    texts = (("error", choice.error), ("payload", choice.payload))
    return [ChoiceText.CONTAINS.render(column=name, text=text) for name, text in texts if text is not None]
