"""Chooses the messages of a library's queue for an action, freezes and locks them, and runs the library's statement."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from qmon.engines.base import Value
from qmon.engines.postgres.arrays import array_literal
from qmon.engines.sql.queries import Name
from qmon.errors import BadInput
from qmon.model.formatting import duration, holds_bytes
from qmon.model.groups.conditions import NEVER, AnyOf, Condition, Contains
from qmon.model.groups.group import State
from qmon.model.layout.layout import ObjectName
from qmon.model.operation_records import MAX_PLAN_ROWS, Choice, LeftOut, OwnerState, PlanRow
from qmon.operate.context import OperatorContext
from qmon.operate.plan.exclusions import Exclusion, left_out_messages
from qmon.operate.plan.library_queue import DISCARDABLE_KINDS, LibraryQueue, Verb
from qmon.operate.plan.preview import payload_shower
from qmon.operate.plan.required_rights import PURGE_PRIVILEGES, REQUEUE_PRIVILEGES
from qmon.operate.plan.selection import (
    ChoiceText,
    check_choice_numbers,
    check_texts,
    reject_bad_ids,
    state_counts_text,
    state_text,
    text_criteria,
)
from qmon.operate.plan.text_condition import read_column_type
from qmon.operate.row_set import Mark
from qmon.operate.run.batches import MoveBatch, RowRefused, lock_rows
from qmon.operate.run.failure_watch import FailureWatch, Outcome
from qmon.operate.run.running_operation import Tally
from qmon.operate.run.verification import TriggerWatch
from qmon.operate.sql import Sql, Values
from qmon.operate.table_structure import read_structure
from qmon.texts import Text


class LibraryChoiceText(Text):
    """Faults of a choice of messages of a library, and descriptions of a choice."""

    WRONG_STATE = "messages that are {state} cannot be {verb}: choose {states}"
    NO_SUCH_MESSAGES = "queue {queue!r} has no messages that are {states}"
    NONE_TO_CHOOSE = "{problem}: {advice}"
    NO_RETRY = "qmon does not retry dead messages of {library}: use the library's own tools"
    NO_OWNER = "queue {queue!r} has no column for the consumer of a message"
    ONE_STATE = "the age of a message is its time in one state: choose one state, or give ids"
    NO_STATE_TIME = "queue {queue!r} has no column for the time of this state; give ids"
    NAME_PROVES_NOTHING = "the owner's name proves nothing"
    NOT_BY_RULES = "the rules of {library} do not allow this action"
    MORE = " and {count:,} more"
    IDS = "id {ids}{more}"
    OR_MORE = "for {duration} or more"
    LESS_THAN = "for less than {duration}"
    OWN_TIMEOUT = "longer than the message's own timeout"
    MORE_THAN = "more than {duration}"
    FOR_LONG = "for {duration}"
    UNLESS_GONE = " unless the worker is gone"
    OWNER = "owner {owner}"
    WORKER_ALIVE = "a worker that is alive"
    WORKER_UNSEEN = "a worker that qmon cannot see"
    OWNER_WORKS = "{who} may still be working on the messages, and the messages may be processed twice"


# Maximum number of messages of one plan. The plan contains the oldest messages. Further messages need another plan.
MAX_MESSAGES: Final = 100_000


@dataclass(frozen=True, slots=True)
class ChosenRow:
    """A row of ``library/choose``: a message."""

    id: str
    version: str
    owner: str | None
    owner_state: str
    attempts: int | None
    age_s: float | None
    late: bool
    payload: str | None
    error: str | None
    total: int


@dataclass(frozen=True, slots=True)
class _DoneRow:
    id: str


class ChosenMessages:
    """The chosen messages, and the action on them."""

    def __init__(self, queue: LibraryQueue, choice: Choice, verb: Verb) -> None:
        self._queue, self._choice, self._verb = queue, choice, verb
        self._is_requeue = verb == "requeue"
        self._states = queue.states_of(*_state_kinds(choice, verb))
        self._proves_owners = queue.group.gone is not None and self._is_requeue
        self._text_conditions: tuple[Condition, ...] = ()
        # True if the choice contains only messages over their timeout and messages whose worker is known to be gone.
        self._by_age = self._is_requeue and not choice.ids and not choice.has_age_limit

    @property
    def statement_name(self) -> str:
        """The name of the library's statement."""
        found = self._queue.statement_name(self._verb)
        assert found is not None  # noqa: S101 - see ``why_impossible``
        return found

    def needed_privileges(self, sql: Sql) -> dict[ObjectName, str]:
        """Return the privileges needed on each table."""
        needs, table = self._queue.needed_privileges(sql, self.statement_name), self._queue.group.table
        own = PURGE_PRIVILEGES if self._verb == "discard" else REQUEUE_PRIVILEGES
        return needs | {table: ",".join(sorted({*own.split(","), *needs.get(table, own).split(",")}))}

    def why_impossible(self) -> str | None:
        """Return why the action is impossible for this queue, or ``None``.

        Raises ``BadInput`` for a choice that makes no sense.
        """
        choice, layout = self._choice, self._queue.layout
        kinds = _state_kinds(choice, self._verb)
        possible = DISCARDABLE_KINDS if self._verb == "discard" else ("in_progress", "dead")
        if not set(kinds) <= set(possible):
            verb = "purged" if self._verb == "discard" else "requeued"
            return LibraryChoiceText.WRONG_STATE.render(
                state=state_text(str(choice.state)), verb=verb, states=" or ".join(possible)
            )
        check_choice_numbers(choice)
        check_texts(choice, layout.queue, layout.error, layout.payload)
        if not self._states:
            none = LibraryChoiceText.NO_SUCH_MESSAGES.render(
                queue=layout.queue, states=" or ".join(map(state_text, kinds))
            )
            raise BadInput(
                LibraryChoiceText.NONE_TO_CHOOSE.render(problem=none, advice=ChoiceText.CHOOSE_STATE)
                if choice.state is None and self._verb == "discard"
                else none
            )
        if not self._queue.allows(self._verb):
            return LibraryChoiceText.NO_RETRY.render(library=self._queue.group.library)
        if choice.owner is not None and self._queue.group.owner is None:
            raise BadInput(LibraryChoiceText.NO_OWNER.render(queue=layout.queue))
        if choice.has_age_limit and len(self._states) > 1:
            raise BadInput(LibraryChoiceText.ONE_STATE)
        if choice.has_age_limit and self._states[0].since is None:
            raise BadInput(LibraryChoiceText.NO_STATE_TIME.render(queue=layout.queue))
        return None

    def _names(self, *, late: bool, states: tuple[State, ...] = ()) -> dict[str, Name]:
        group, names = self._queue.group, self._queue.names
        of_rows: dict[str, Name] = {**names.row_names(states or self._states), "key": group.id}
        if not late:
            return of_rows | {"still": names.condition(*self._still_conditions())}
        gone = names.condition((group.gone if self._proves_owners else None) or NEVER)
        return of_rows | {"gone": gone, "holds": names.condition(*self._text_conditions)}

    def _read_text_columns(self, sql: Sql) -> None:
        """Build the conditions for the searched texts. Reads from the catalog whether the columns contain bytes."""
        group, found = self._queue.group, []
        for column, text in ((group.error, self._choice.error), (group.payload, self._choice.payload)):
            if column is not None and text is not None:
                table = group.table.name if column.lookup is None else column.lookup.table
                kind = read_column_type(sql, ObjectName(group.schema, table), column.name)
                found.append(Contains(column, text, holds_bytes(kind)))
        self._text_conditions = tuple(found)

    def _still_conditions(self) -> tuple[Condition, ...]:
        """Return the conditions that must still be true when the action runs, in addition to the row version."""
        group = self._queue.group
        gone = group.gone if self._proves_owners else None
        if gone is not None and self._has_only_dead_owners:
            return (gone,)
        return (AnyOf((group.late_condition(self._states), gone or NEVER)),) if self._by_age else ()

    def values_for(self, ids: Sequence[str]) -> dict[str, Value]:
        """Return the values that select messages of the queue by their ids."""
        key = self._queue.group.id
        return {"queue": self._queue.value, "ids": json.dumps([{key: id} for id in ids], ensure_ascii=False)}

    def _read_rows(self, sql: Sql, ids: Sequence[str] | None, state: State | None = None) -> list[ChosenRow]:
        """Read the messages in one state with payloads, or the messages in all chosen states without payloads."""
        names = self._names(late=True, states=() if state is None else (state,))
        values = self.values_for(ids or ())
        values |= {"proves": self._proves_owners, "payloads": state is not None, "limit": MAX_MESSAGES}
        if ids is None:
            values["ids"] = None
        with reject_bad_ids(self._queue.layout):
            return sql.fetch(ChosenRow, "library/choose", names, values)

    def choose_rows(self, sql: Sql) -> tuple[list[ChosenRow], tuple[LeftOut, ...]]:
        """Return the chosen messages, and why other messages in the same state are left out."""
        choice = self._choice
        self._read_text_columns(sql)
        found = self._read_rows(sql, choice.ids or None)
        left: Counter[Exclusion] = Counter()
        chosen: list[ChosenRow] = []
        for row in filter(self._is_meant, found):
            why = self._exclusion(row)
            if why is None and choice.limit is not None and len(chosen) >= choice.limit:
                why = Exclusion.OVER_LIMIT
            if why is None:
                chosen.append(row)
            else:
                left[why] += 1
        if found and (more := found[0].total - len(found)) > 0:
            left[Exclusion.OVER_LIMIT] += more
        if choice.ids and (gone := len(set(choice.ids)) - len(found)) > 0:
            left[Exclusion.NOT_FOUND] = gone
        return chosen, left_out_messages(left, unproven=LibraryChoiceText.NAME_PROVES_NOTHING)

    def _is_meant(self, row: ChosenRow) -> bool:
        """Return whether a message has the owner and the age of the operator's choice."""
        choice, age_s = self._choice, row.age_s
        if choice.owner is not None and row.owner != choice.owner:
            return False
        if choice.older_than_s is not None and not (age_s is not None and age_s >= choice.older_than_s):
            return False
        return choice.newer_than_s is None or (age_s is not None and age_s < choice.newer_than_s)

    def _exclusion(self, row: ChosenRow) -> Exclusion | None:
        """Return why a message is left out, or ``None`` if it is chosen."""
        if not self._is_requeue:
            return None
        if row.owner_state not in (*self._choice.owner_states, OwnerState.NONE):
            return Exclusion(f"owner_{row.owner_state}")
        if self._by_age and row.owner_state != OwnerState.DEAD and not row.late:
            return Exclusion.NOT_STUCK
        return None

    @property
    def _has_only_dead_owners(self) -> bool:
        return self._choice.owner_states == {OwnerState.DEAD}

    def read_first_rows(self, context: OperatorContext, sql: Sql, chosen: Sequence[ChosenRow]) -> tuple[PlanRow, ...]:
        """Return the first messages as a plan shows them."""
        if not chosen:
            return ()
        payload = self._queue.group.payload
        show = payload_shower(context, sql, self._queue.layout.table, None if payload is None else payload.name)

        def error(text: str | None) -> str | None:
            return None if text is None else context.redact(text)

        ids = [row.id for row in chosen[:MAX_PLAN_ROWS]]
        rows = (
            PlanRow(
                row.id,
                state.kind,
                row.age_s,
                row.owner,
                OwnerState(row.owner_state) if self._is_requeue else OwnerState.NONE,
                row.attempts,
                show(row.payload),
                error(row.error),
            )
            for state in self._states
            for row in self._read_rows(sql, ids, state)
        )
        return tuple(sorted(rows, key=lambda row: ids.index(row.id)))

    def lock_text(self, sql: Sql) -> str:
        """Return the text of the statement that locks the messages."""
        return sql.statement("library/lock", self._names(late=False)).text

    def lock_marks(self, sql: Sql, marks: Sequence[Mark], tally: Tally) -> tuple[list[Mark], list[Mark]]:
        """Lock the messages that have not changed since the plan. See ``lock_rows``."""
        ids = [id for id, _ in marks]
        values = self.values_for(ids)
        values |= {"keys": array_literal(ids), "versions": array_literal(version for _, version in marks)}
        return lock_rows(sql, "library/lock", self._names(late=False), values, marks, tally)

    def create_mover(
        self, sql: Sql, keep: Callable[[Values], None] | None = None, watch: FailureWatch | None = None
    ) -> MoveBatch:
        """Return the function that processes one batch.

        ``keep`` is called before the statement, with the values of the rows. If ``keep`` is given and the statement
        does not process all rows, ``RowRefused`` is raised. ``watch`` receives the ids.
        """
        own = self._queue.names_for(sql, self.statement_name)
        table = read_structure(sql, self._queue.group.table) if self._verb == "discard" else None

        def move(marks: Sequence[Mark], tally: Tally) -> list[Mark]:
            ours, held = self.lock_marks(sql, marks, tally)
            if ours:
                done_to = [id for id, _ in ours]
                if keep is not None:
                    keep(self.values_for(done_to))
                given: dict[str, Value] = {"ids": array_literal(done_to), "queue": self._queue.library_name}
                given["rows"] = self.values_for(done_to)["ids"]
                triggers = TriggerWatch(sql, "delete", table)
                done = sql.fetch(_DoneRow, self.statement_name, own, given)
                triggers.check_no_inserts()
                if keep is not None and len(done) != len(ours):
                    raise RowRefused(LibraryChoiceText.NOT_BY_RULES.render(library=self._queue.group.library))
                if watch is not None:
                    watch.record_batch(lambda: [each.id for each in done])
                tally.done = len(done)
                tally.changed += len(ours) - tally.done
            return held

        return move

    def read_outcomes(self, sql: Sql, ids: Sequence[str]) -> list[Outcome]:
        """Return which of these messages are dead again. Messages that are not returned count as waiting."""
        of_any_error = ChosenMessages(self._queue, Choice(state="dead"), self._verb)
        dead = {row.id for row in of_any_error._read_rows(sql, ids)}
        return [Outcome(id, "failed" if id in dead else "waiting") for id in ids]

    def predicate_text(self) -> str:
        """Describe the chosen messages in words, for the plan."""
        choice, group = self._choice, self._queue.group
        parts = [" or ".join(state_text(state.name) for state in self._states)]
        if choice.ids:
            more = LibraryChoiceText.MORE.render(count=len(choice.ids) - 5) if len(choice.ids) > 5 else ""
            parts.append(LibraryChoiceText.IDS.render(ids=", ".join(choice.ids[:5]), more=more))
        if choice.older_than_s is not None:
            parts.append(LibraryChoiceText.OR_MORE.render(duration=duration(choice.older_than_s)))
        if choice.newer_than_s is not None:
            parts.append(LibraryChoiceText.LESS_THAN.render(duration=duration(choice.newer_than_s)))
        parts += text_criteria(choice)
        if self._by_age and not (self._proves_owners and self._has_only_dead_owners):
            most = duration(group.timeout_s)
            long = (
                LibraryChoiceText.OWN_TIMEOUT
                if group.overdue is not None
                else LibraryChoiceText.MORE_THAN.render(duration=most)
            )
            parts.append(
                LibraryChoiceText.FOR_LONG.render(duration=long)
                + (LibraryChoiceText.UNLESS_GONE if self._proves_owners else "")
            )
        if choice.owner is not None:
            parts.append(LibraryChoiceText.OWNER.render(owner=choice.owner))
        if self._is_requeue and (self._proves_owners or group.owner is not None):
            parts.append("owner " + " or ".join(sorted(choice.owner_states)))
        return ", ".join(parts)

    def counts_text(self, chosen: Sequence[ChosenRow]) -> str:
        """Return the number of messages and their state for a title.

        If several states are possible, all states are listed.
        """
        kinds = list(dict.fromkeys(state.kind for state in self._states))
        if len(kinds) == 1:
            return state_counts_text({kinds[0]: len(chosen)})
        return state_counts_text({" or ".join(filter(None, (", ".join(kinds[:-1]), kinds[-1]))): len(chosen)})

    def describe_risks(self, chosen: Sequence[ChosenRow]) -> tuple[str, ...]:
        """Describe the risks."""
        if not self._is_requeue or not (risky := {row.owner_state for row in chosen} - {OwnerState.DEAD}):
            return ()
        who = LibraryChoiceText.WORKER_ALIVE if OwnerState.ALIVE in risky else LibraryChoiceText.WORKER_UNSEEN
        return (LibraryChoiceText.OWNER_WORKS.render(who=who),)


def _state_kinds(choice: Choice, verb: Verb) -> tuple[str, ...]:
    """Return the kinds of the chosen states."""
    if choice.state is not None:
        return (choice.state,)
    if verb != "discard":
        return ("in_progress",)
    return DISCARDABLE_KINDS if choice.ids else ("dead",)


def name_row(sql: Sql, mark: Mark) -> str:
    """Return the name of a message in the audit."""
    return mark[0]
