"""Requeue on a library's queue, as the library itself does it: of messages in progress, or of dead ones."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from qmon.engines.base import Value
from qmon.engines.postgres.arrays import array
from qmon.engines.sql import queries
from qmon.engines.sql.queries import Name
from qmon.errors import BadInput
from qmon.model.groups.conditions import NEVER, Condition, Some
from qmon.model.groups.group import State
from qmon.model.layout.io import table_to_text
from qmon.model.layout.layout import Layout
from qmon.model.operations import MAX_FIRST, Choice, Kind, LeftOut, OwnerState, Plan, PlanRow, Undo
from qmon.model.text import counted, duration
from qmon.operate.context import OperatorContext
from qmon.operate.plan import allowed
from qmon.operate.plan.library_queue import LibraryQueue, Verb, library_queue
from qmon.operate.plan.preview import estimated_s, shown
from qmon.operate.plan.rights import REQUEUE, lacking, why_not
from qmon.operate.plan.selection import as_ids
from qmon.operate.row_set import Mark, frozen
from qmon.operate.run.batches import BatchWork, Move, lock
from qmon.operate.run.operation import Record, Running, Tally
from qmon.operate.run.pacing import LARGEST
from qmon.operate.run.prepared import PreparedAction, refused
from qmon.operate.sql import Sql

MOST: Final = 100_000
"""Messages that one plan looks at, the oldest; more are done by planning again."""
_IDS: Final = 100
"""So many ids are written into the audit."""


@dataclass(frozen=True, slots=True)
class ChosenRow:
    """A message as ``library/choose`` reads it."""

    id: str
    version: str
    owner: str | None
    owner_state: str
    attempts: int | None
    age_s: float | None
    late: bool
    payload: str | None
    total: int


@dataclass(frozen=True, slots=True)
class _Done:
    id: str


def prepare_library_requeue(context: OperatorContext, layout: Layout, choice: Choice) -> PreparedAction:
    """Read and freeze. Raises ``BadInput`` for a choice that makes no sense, and what the server says."""
    deny = partial(refused, context, Kind.REQUEUE, layout.queue, f"Requeue messages of {layout.queue}")
    queue = library_queue(layout)
    if (why := allowed.why_not(layout, Kind.REQUEUE)) is not None or queue is None:
        return deny(why or f"{layout.queue} is no queue of a library")
    rows = _Rows(queue, choice)
    if (why := rows.impossible()) is not None:
        return deny(why)
    with context.sql("requeue plan") as sql:
        chosen, left_out = rows.choose(sql)
        count = len(chosen)
        needed = {layout.table: REQUEUE} | queue.writes(sql, rows.statement)
        why = why_not(context, sql) or lacking(sql, needed)
        plan = Plan(
            Kind.REQUEUE,
            context.target.name,
            layout.queue,
            title=f"Requeue {counted(count, 'message')} of {layout.queue}",
            count=count,
            predicate=rows.words(),
            sql=(rows.lock(sql), sql.statement(rows.statement, queue.names_for(sql, rows.statement)).text),
            first=rows.first(context, sql, chosen),
            left_out=left_out,
            batch=LARGEST,
            seconds=estimated_s(sql, Kind.REQUEUE, layout, count),
            undo=Undo(possible=False, notes=("the library's workers take them at once",)),
            consequences=(queries.load(sql.engine.name, rows.statement, sql.connection.version).purpose,),
            risks=rows.risks(chosen),
            consent=context.consent(count),
            refused=why or (None if count else "no message matches: nothing to do"),
        )
    shown_ids = [row.id for row in chosen[:_IDS]]
    record = Record(table_to_text(layout.table), {"statement": rows.statement, "ids": shown_ids})
    marks = frozen((row.id, row.version) for row in chosen)
    return PreparedAction(context, plan, BatchWork(marks, rows.begin, _named) if count else None, record)


class _Rows:
    """The messages that are meant, and what is done to them."""

    def __init__(self, queue: LibraryQueue, choice: Choice) -> None:
        self._queue, self._choice = queue, choice
        self._dead = choice.state == "dead"
        self._verb: Verb = "retry" if self._dead else "requeue"
        self._states: tuple[State, ...] = queue.states("dead" if self._dead else "in_progress")
        self._proves = queue.group.gone is not None and not self._dead
        self._by_age = not (self._dead or choice.ids or choice.older_than_s is not None)
        """Only what has taken too long, unless its worker is known to be gone."""

    @property
    def statement(self) -> str:
        """The name of the library's statement."""
        found = self._queue.statement(self._verb)
        assert found is not None  # noqa: S101 - see ``impossible``
        return found

    def impossible(self) -> str | None:
        """The reason why this cannot be done here. Raises ``BadInput`` for what makes no sense."""
        choice, layout = self._choice, self._queue.layout
        if choice.state not in (None, "in_progress", "dead"):
            return f"messages that are {choice.state} are not requeued: choose in_progress or dead"
        for value, what in ((choice.older_than_s, "an age"), (choice.limit, "a limit")):
            if value is not None and not (value >= 0 and math.isfinite(value)):
                raise BadInput(f"{value} is not {what}")
        if choice.limit == 0:
            raise BadInput("a limit of 0 leaves nothing to do")
        if not self._states:
            raise BadInput(f"queue {layout.queue!r} has no messages that are {choice.state or 'in_progress'}")
        if self._queue.statement(self._verb) is None:
            return f"qmon does not retry dead messages of {self._queue.group.library}: use its own tools"
        if choice.owner is not None and self._queue.group.owner is None:
            raise BadInput(f"queue {layout.queue!r} has no column that says who popped a message")
        if choice.older_than_s is not None and (len(self._states) != 1 or self._states[0].since is None):
            raise BadInput(f"queue {layout.queue!r} has no column that says since when; give ids")
        return None

    def _names(self, *, late: bool) -> dict[str, Name]:
        group, names = self._queue.group, self._queue.names
        of_rows: dict[str, Name] = {**names.rows(self._states), "key": group.id}
        if not late:
            return of_rows | {"still": names.where(*self._still())}
        return of_rows | {"gone": names.where((group.gone if self._proves else None) or NEVER)}

    def _still(self) -> tuple[Condition, ...]:
        """What must be true when it is done besides the version that the plan saw."""
        group = self._queue.group
        gone = group.gone if self._proves else None
        if gone is not None and self._only_dead:
            return (gone,)
        return (Some((group.late(self._states), gone or NEVER)),) if self._by_age else ()

    def _values(self, ids: Sequence[str]) -> dict[str, Value]:
        key = self._queue.group.id
        return {"queue": self._queue.value, "ids": json.dumps([{key: id} for id in ids])}

    def _read(self, sql: Sql, ids: Sequence[str] | None, *, payloads: bool = False) -> list[ChosenRow]:
        names = self._names(late=True)
        values = self._values(ids or ())
        values |= {"proves": self._proves, "payloads": payloads, "limit": MOST}
        if ids is None:
            values["ids"] = None
        with as_ids(self._queue.layout):
            return sql.fetch(ChosenRow, "library/choose", names, values)

    def choose(self, sql: Sql) -> tuple[list[ChosenRow], tuple[LeftOut, ...]]:
        """Those that are meant, and why others of the same state are not."""
        choice = self._choice
        found = self._read(sql, choice.ids or None)
        left: Counter[str] = Counter()
        chosen: list[ChosenRow] = []
        for row in found:
            why = self._why_left(row)
            if why is None and choice.limit is not None and len(chosen) >= choice.limit:
                why = "more than are done at once; plan again for the rest"
            if why is None:
                chosen.append(row)
            elif why:
                left[why] += 1
        if found and (more := found[0].total - len(found)) > 0:
            left["more than are looked at at once; plan again for the rest"] += more
        if choice.ids and (gone := len(set(choice.ids)) - len(found)) > 0:
            left["not there, or in another state"] = gone
        return chosen, tuple(LeftOut(why, count) for why, count in sorted(left.items()))

    def _why_left(self, row: ChosenRow) -> str | None:
        """Why a message is left out; empty where it was not asked for at all, ``None`` where it is meant."""
        choice = self._choice
        if choice.owner is not None and row.owner != choice.owner:
            return ""
        if choice.older_than_s is not None and not (row.age_s is not None and row.age_s >= choice.older_than_s):
            return ""
        if self._dead:
            return None
        if row.owner_state not in (*choice.owner_states, OwnerState.NONE):
            proof = ": its name proves nothing" if row.owner_state == OwnerState.UNKNOWN else ""
            return f"owner {row.owner_state}{proof}"
        if self._by_age and row.owner_state != OwnerState.DEAD and not row.late:
            return "not stuck yet"
        return None

    @property
    def _only_dead(self) -> bool:
        return self._choice.owner_states == {OwnerState.DEAD}

    def first(self, context: OperatorContext, sql: Sql, chosen: Sequence[ChosenRow]) -> tuple[PlanRow, ...]:
        """The first of them, as a plan shows them."""
        if not chosen:
            return ()
        payload = self._queue.group.payload
        show = shown(context, sql, self._queue.layout.table, None if payload is None else payload.name)
        return tuple(
            PlanRow(
                row.id, self._states[0].kind, row.age_s, row.owner,
                OwnerState.NONE if self._dead else OwnerState(row.owner_state), row.attempts, show(row.payload),
            )
            for row in self._read(sql, [row.id for row in chosen[:MAX_FIRST]], payloads=True)
        )  # fmt: skip

    def lock(self, sql: Sql) -> str:
        """The statement that locks them, as the server sees it."""
        return sql.statement("library/lock", self._names(late=False)).text

    def begin(self, sql: Sql, operation: Running) -> Move:
        """What requeues one batch."""
        names = self._names(late=False)
        own = self._queue.names_for(sql, self.statement)

        def move(marks: Sequence[Mark], tally: Tally) -> list[Mark]:
            ids = [id for id, _ in marks]
            values = self._values(ids)
            values |= {"keys": array(ids), "versions": array(version for _, version in marks)}
            ours, held = lock(sql, "library/lock", names, values, marks, tally)
            if ours:
                given: dict[str, Value] = {"ids": array(id for id, _ in ours), "queue": self._queue.called}
                tally.done = len(sql.fetch(_Done, self.statement, own, given))
                tally.changed += len(ours) - tally.done
            return held

        return move

    def words(self) -> str:
        """Which they are, for people."""
        choice, group = self._choice, self._queue.group
        parts = [" or ".join(state.name.replace("_", " ") for state in self._states)]
        if choice.ids:
            more = f" and {len(choice.ids) - 5} more" if len(choice.ids) > 5 else ""
            parts.append(f"id {', '.join(choice.ids[:5])}{more}")
        if choice.older_than_s is not None:
            parts.append(f"for {duration(choice.older_than_s)} or more")
        if self._by_age and not (self._proves and self._only_dead):
            most = duration(group.timeout_s)
            long = "longer than each may take" if group.overdue is not None else f"more than {most}"
            parts.append(f"for {long}" + (" unless the worker is gone" if self._proves else ""))
        if choice.owner is not None:
            parts.append(f"owner {choice.owner}")
        if not self._dead and (self._proves or group.owner is not None):
            parts.append("owner " + " or ".join(sorted(choice.owner_states)))
        return ", ".join(parts)

    def risks(self, chosen: Sequence[ChosenRow]) -> tuple[str, ...]:
        """The risks."""
        if self._dead or not (risky := {row.owner_state for row in chosen} - {OwnerState.DEAD}):
            return ()
        who = "a worker that is alive" if OwnerState.ALIVE in risky else "a worker that nothing is known of"
        return (f"{who} may be at work on them still: then they are worked on twice",)


def _named(sql: Sql, mark: Mark) -> str:
    return mark[0]
