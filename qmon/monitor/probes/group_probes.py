"""Read the messages of a group by queue and state, its workers, and its recorded steps."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from qmon.engines.base import Connection, Engine, Value
from qmon.engines.result_records import to_records
from qmon.engines.sql.queries import Name
from qmon.model.groups.conditions import NEVER, ends_by_itself
from qmon.model.groups.group import MOST_QUEUES, ResolvedGroup, State, StateKind
from qmon.model.layout.layout import Layout
from qmon.model.probe_constants import COUNT_LIMIT
from qmon.model.reasons import Reason
from qmon.model.samples.group_samples import (
    BlockedMessages,
    GroupBlockerSample,
    GroupListedSample,
    GroupOwnerSample,
    GroupStateSample,
    GroupWorkersSample,
    WorkerSample,
)
from qmon.model.samples.listing_samples import PageRequest, PageSample
from qmon.model.samples.message_samples import MessageDiagnostics, OwnerSample
from qmon.model.samples.polled_samples import CounterSample, HeadSample, ProgressSample
from qmon.model.sessions.owners import NAME_ONLY
from qmon.model.snapshot import ProbeFailure, QueueSamples
from qmon.monitor.probes.group_steps import GroupStatements, StepCounts
from qmon.monitor.probes.group_strange import StrangeMessages
from qmon.monitor.probes.message_diagnostics import MAX_OWNERS
from qmon.monitor.probes.message_pages import group_page_from_results, statements_for_group_page
from qmon.monitor.probes.probe_statements import ProbeStatement, Results, StatementCache

# In tables with more rows than this, finished messages are not counted.
MOST_FINISHED: Final = 100_000
_SELDOM_S: Final = 10.0
# Maximum number of a library's workers that are listed.
MOST_WORKERS: Final = 200
_FINISHED_S: Final = 60.0

# Seconds between readings of states of these kinds. Blocked messages are read in each poll unless that costs too much.
_USUAL_S: Final[Mapping[StateKind, float]] = {"blocked": 0.0, "done": _FINISHED_S}
_FORGOTTEN_S: Final = 3 * _FINISHED_S

# Maximum share of a processor for reading a state that is not read in each poll. Such a state may have no index.
_SHARE: Final = 0.002
Cost = Callable[[tuple[str, str]], float]
_EACH_POLL: Final[frozenset[StateKind]] = frozenset({"ready", "scheduled", "in_progress"})


def _no_cost(_: tuple[str, str]) -> float:
    return 0.0


@dataclass(slots=True)
class _StateReading:
    """The last reading of a state, keyed by queue.

    ``at``: our clock; ``server_at``: server clock; both in seconds. ``whole``: the reading covers every queue.
    ``cost_s``: the last known cost of a reading in seconds.
    """

    at: float = float("-inf")
    server_at: float = 0.0
    rows: Mapping[str | None, GroupStateSample] = field(default_factory=dict)
    whole: bool = False
    now: bool = False
    cost_s: float = 0.0
    blockers: tuple[GroupBlockerSample, ...] = ()


class GroupProbes:
    """The probes of one group on one connection."""

    def __init__(self, statements: StatementCache, resolved: ResolvedGroup, cost_s: Cost = _no_cost) -> None:
        """Create the probes.

        ``cost_s``: returns the seconds that the statement of a queue and probe costs the server.
        """
        self._cost_s = cost_s
        self.group = group = resolved.group
        self.found_group = resolved
        self._statements = GroupStatements(statements, group)
        self._names = self._statements.names
        self._steps = StepCounts(self._statements)
        self._strange = StrangeMessages(self._statements)
        self._readings = {state.name: _StateReading() for state in group.states}
        # How many queues the list of queues contained in the last poll, at most 2. Unknown if there is no list.
        self._listed: int | None = None
        # When each queue was last seen, by our clock.
        self._queues: dict[str | None, float] = {}
        self._layouts: dict[str | None, Layout] = {}
        # The queue and the page of messages requested in this poll.
        self._page_request: tuple[str, PageRequest] | None = None

    def statements_for_poll(
        self,
        now: float,
        shown: str | None,
        rows: int,
        listing: PageRequest | None = None,
        *,
        workers: bool = False,
    ) -> list[ProbeStatement]:
        """Return the statements of this poll.

        ``now``: our clock, seconds. ``shown``: the queue whose messages are listed. ``listing``: the page to list;
        ``None``: up to ``rows`` messages in progress. ``workers``: also list the workers.
        """
        self._page_request = None if listing is None or shown is None else (shown, listing)
        due = [state for state in self.group.states if self._is_due(state, now)]
        asked = [self._state_statement(state) for state in due]
        asked += [each for state in due if self._readings[state.name].rows for each in self._blocker_statements(state)]
        asked += self._strange.statements_for_poll(self.found_group, now, lambda key: self._cost_s(key) / _SHARE)
        asked += self._owner_statements()
        asked += self._worker_statements()
        asked += self._list_statements()
        asked += self._steps.statements_for_poll(queue for queue in self._queues if queue is not None)
        for value in self._known_queues:
            if self._layout_for(value).queue == shown:
                asked += (
                    self._message_statements(value, rows) if listing is None else self._page_statements(value, listing)
                )
                asked += self._worker_list_statements() if workers else []
        return asked

    def record_results(self, results: Results, now: float, server_at: float) -> None:
        """Record the results of a poll. ``now``: our clock; ``server_at``: server clock; both in seconds."""
        for state in self.group.states:
            read = self._readings[state.name]
            rows = results.get((self.group.name, f"group_states:{state.key}"))
            read.now = rows is not None
            if rows is not None:
                read.at, read.server_at = now, server_at
                read.rows, read.whole = {row.queue: row for row in rows}, len(rows) < MOST_QUEUES
                self._remember_queues(read.rows, now)
            blockers = results.get((self.group.name, f"group_blockers:{state.key}"))
            if blockers is not None or not read.rows:
                read.blockers = blockers or ()
        self._remember_queues(
            self._steps.record_results(results, server_at) | self._strange.record_results(results, now, server_at),
            now,
        )
        self._steps.retain_only(self._known_queues)
        listed: tuple[GroupListedSample, ...] = results.get((self.group.name, "group_listed"), ())
        self._listed = listed[0].counted if listed else None

    def queue_samples(self, results: Results, counters: CounterSample | None) -> tuple[QueueSamples, ...]:
        """Return the queues of the group as read in this poll. ``counters``: the counters of its table."""
        owners: defaultdict[str | None, list[OwnerSample]] = defaultdict(list)
        found: Iterable[GroupOwnerSample] = results.get((self.group.name, "group_owners"), ())
        for row in found:
            owners[row.queue].append(
                OwnerSample(row.id, row.owner, row.owner_state, row.attempts, row.age_s, row.error)
            )
        known = (self.group.name, "group_owners") in results
        return tuple(
            self._samples_for(value, tuple(owners[value]) if known else None, results, counters)
            for value in self._known_queues
        )

    def _samples_for(
        self,
        value: str | None,
        owners: tuple[OwnerSample, ...] | None,
        results: Results,
        counters: CounterSample | None,
    ) -> QueueSamples:
        alone = self._is_alone
        ready, busy = self._sum_states("ready", value), self._sum_states("in_progress", value)
        left_out = [
            probe for probe, kind in (("head", "ready"), ("progress", "in_progress")) if not self._was_read_now(kind)
        ]
        left_out += [] if self._steps.is_complete else ["progress"]
        totals = self._steps.totals(value)
        progress = None if busy is None else self._progress_sample(busy)
        unknown: dict[str, str] = {"gap": Reason.NO_GAP, "fill": Reason.NO_SLOTS}
        if progress is not None and progress.timed < progress.in_progress:
            untimed = progress.in_progress - progress.timed
            unknown["stuck"] = Reason.UNTIMED_ROWS.render(untimed=untimed, count=progress.in_progress)
        if not self.group.steps and not (self.group.counters and alone):
            unknown["rates"] = Reason.MIXED_QUEUES if self.group.counters else Reason.NO_LOG_OF_STEPS
        layout = self._layout_for(value)
        messages: Any = results.get((layout.queue, "group_messages"))
        page: PageSample | None = None
        if self._page_request is not None and self._page_request[0] == layout.queue:
            messages, page = group_page_from_results(self.found_group, layout, self._page_request[1], results) or (
                None,
                None,
            )
        return QueueSamples(
            layout,
            counters=counters if self.group.counters and alone else None,
            head=None if ready is None else HeadSample(None, ready.oldest_s, ready.counted),
            head_limit=COUNT_LIMIT + 1 + (0 if ready is None else ready.counted),
            progress=progress,
            longest_first=True,
            scheduled=_counted_or_none(self._sum_states("scheduled", value, old=True)),
            scheduled_at=self._counted_at("scheduled"),
            dead=_counted_or_none(self._sum_states("dead", value, old=True)),
            dead_at=self._counted_at("dead"),
            blocked=self._blocked_messages(value),
            blocked_at=self._counted_at("blocked"),
            strange=self._strange.strange_states_for(value),
            strange_at=self._strange.searched_at,
            strange_every_s=self._strange.every_s,
            done=_counted_or_none(self._sum_states("done", value, old=True)),
            totals=totals,
            workers=self._live_workers(value, results),
            worker_list=self._listed_workers(value, results),
            messages=messages,
            page=page,
            unknown=unknown,
            diagnostics=MessageDiagnostics(owners=owners, owners_limit=MAX_OWNERS, proof=self._proof),
            left_out=tuple(left_out),
        )

    @property
    def _is_alone(self) -> bool:
        """True if the table can hold rows of only one queue, so that its counters show the flow of this queue.

        A queue without rows is not in any reading. Only a table that lists the queues proves that there is just one.
        """
        return self.group.queue is None or self._listed == 1

    def _progress_sample(self, busy: GroupStateSample) -> ProgressSample:
        states = [state for state in self.group.states if state.kind == "in_progress"]
        # Such a message returns by itself, so that it is never stuck.
        returns = self.group.overdue is None and all(ends_by_itself(state.when) for state in states)
        return ProgressSample(busy.counted, busy.counted if returns else busy.timed, busy.late, busy.oldest_s)

    @property
    def _proof(self) -> str:
        return "" if self.group.gone is not None else NAME_ONLY

    def _was_read_now(self, kind: str) -> bool:
        """Return whether all states of this kind were read in this poll."""
        return all(self._readings[state.name].now for state in self.group.states if state.kind == kind)

    def _counted_at(self, kind: StateKind) -> float | None:
        """Return when states of this kind were counted (server clock, seconds); ``None`` if this poll counted them."""
        reads = [self._readings[state.name] for state in self.group.states if state.kind == kind]
        return None if self._was_read_now(kind) else min((read.server_at for read in reads), default=None)

    def _sum_states(self, kind: StateKind, value: str | None, *, old: bool = False) -> GroupStateSample | None:
        """Return the sum of a queue's messages in all states of one kind; ``None`` if this poll did not read them.

        ``old``: also use earlier readings.
        """
        states = [state for state in self.group.states if state.kind == kind]
        if not states or not all(self._has_count(state, value, old=old) for state in states):
            return None
        rows = [row for state in states if (row := self._readings[state.name].rows.get(value)) is not None]
        ages = [row.oldest_s for row in rows if row.oldest_s is not None]
        counted, late, timed = (sum(getattr(row, name) for row in rows) for name in ("counted", "late", "timed"))
        return GroupStateSample(kind, value, counted, max(ages, default=None), late, timed)

    def _has_count(self, state: State, value: str | None, *, old: bool) -> bool:
        read = self._readings[state.name]
        return (read.now or (old and read.at > float("-inf"))) and (read.whole or value in read.rows)

    def _blocked_messages(self, value: str | None) -> BlockedMessages | None:
        found = self._sum_states("blocked", value, old=True)
        if found is None:
            return None
        reads = {state: self._readings[state.name] for state in self.group.states if state.kind == "blocked"}
        blockers = (each for read in reads.values() for each in read.blockers if each.queue == value)
        why = (state.why for state, read in reads.items() if state.why and value in read.rows)
        every_s = max(read.cost_s for read in reads.values()) / _SHARE
        return BlockedMessages(
            found.counted,
            found.oldest_s,
            tuple(blockers),
            tuple(dict.fromkeys(why)),
            every_s if every_s > _SELDOM_S else 0.0,
        )

    def _remember_queues(self, queues: Collection[str | None], now: float) -> None:
        """Remember the queues that were seen.

        A reading returns only the queues with the most messages in a state. If too many queues are remembered, a new
        queue replaces one that no reading has returned for a long time.
        """
        known = [queue for queue in queues if queue in self._queues]
        new = [queue for queue in queues if queue not in self._queues]
        self._queues |= dict.fromkeys(known, now)
        over = len(self._queues) + len(new) - MOST_QUEUES
        if over > 0:
            gone = [queue for queue, seen in self._queues.items() if now - seen >= _FORGOTTEN_S]
            for queue in gone[:over]:
                del self._queues[queue]
                self._layouts.pop(queue, None)
        self._queues |= dict.fromkeys(new[: MOST_QUEUES - len(self._queues)], now)

    def _is_due(self, state: State, now: float) -> bool:
        if state.kind in _EACH_POLL:
            return True
        if state.kind == "done" and ((self.found_group.rows or 0) > MOST_FINISHED):
            return False
        read = self._readings[state.name]
        read.cost_s = self._cost_s((self.group.name, f"group_states:{state.key}")) or read.cost_s
        usual_s = _USUAL_S.get(state.kind, _SELDOM_S)
        return now - read.at >= max(usual_s, read.cost_s / _SHARE)

    @property
    def _known_queues(self) -> Collection[str | None]:
        """The known queues. If no queue is known, a single entry (``None``) for all rows of the table."""
        return self._queues or (None,)

    def _layout_for(self, value: str | None) -> Layout:
        if value not in self._layouts:
            self._layouts[value] = self.group.queue_layout(value)
        return self._layouts[value]

    @property
    def queues(self) -> frozenset[str]:
        """The names of the known queues."""
        return frozenset(self._layout_for(value).queue for value in self._known_queues)

    def _state_statement(self, state: State) -> ProbeStatement:
        values: dict[str, Value] = {"state": state.name, "limit": MOST_QUEUES}
        by = self._names.reference_names()
        names = {**self._names.row_names((state,)), **by}
        made = self._statements.statement_for("group_states_by" if by else "group_states", state.key, values, names)
        return replace(made, probe=f"group_states:{state.key}")

    def _blocker_statements(self, state: State) -> list[ProbeStatement]:
        """Return the statement that reads the blockers of messages in a blocked state."""
        blocker = state.blocker
        if blocker is None:
            return []
        names = self._names.row_names((state,)) | {
            "blocker": self._names.column(blocker.name),
            "holder": self._names.column(blocker.holder),
            "held": self._names.column(blocker.since),
        }
        values: dict[str, Value] = {"limit": COUNT_LIMIT, "most": MOST_QUEUES}
        return [self._statements.statement_for("group_blockers", state.key, values, names)]

    def _owner_statements(self) -> list[ProbeStatement]:
        busy = [state for state in self.group.states if state.kind == "in_progress"]
        gone = self.group.gone
        if not busy or (self.group.owner is None and gone is None):
            return []
        names = self._names.row_names(busy) | {"gone": self._names.condition(gone or NEVER)}
        values: dict[str, Value] = {"proves": gone is not None, "limit": MAX_OWNERS}
        return [self._statements.statement_for("group_owners", "", values, names)]

    def _worker_statements(self) -> list[ProbeStatement]:
        workers = self.group.workers
        if workers is None:
            return []
        names: dict[str, Name] = {
            "table": (self.group.schema, workers.table),
            "queue": self._names.column(workers.queue, workers.table),
            "rows": self._names.condition(workers.alive, table=workers.table),
        }
        return [self._statements.statement_for("group_workers", "", {}, names)]

    def _list_statements(self) -> list[ProbeStatement]:
        """Return the statement that counts the list of queues, if rates depend on it."""
        lookup = None if self.group.queue is None else self.group.queue.lookup
        if not self.group.counters or lookup is None or lookup.when is not None or lookup.pick is not None:
            return []
        names: dict[str, Name] = {"table": (self.group.schema, lookup.table)}
        return [self._statements.statement_for("group_listed", "", {"limit": 2}, names)]

    def _worker_list_statements(self) -> list[ProbeStatement]:
        workers = self.group.workers
        if workers is None or workers.name is None:
            return []
        columns = {"queue": workers.queue, "name": workers.name, "host": workers.host, "started": workers.started}
        names: dict[str, Name] = {
            "table": (self.group.schema, workers.table),
            "rows": self._names.condition(workers.alive, table=workers.table),
            **{name: self._names.column(column, workers.table) for name, column in columns.items()},
        }
        return [self._statements.statement_for("group_worker_list", "", {"limit": MOST_WORKERS}, names)]

    def _listed_workers(self, value: str | None, results: Results) -> tuple[WorkerSample, ...] | None:
        """Return the workers that serve a queue, or may serve it; ``None`` if they were not read."""
        found: tuple[WorkerSample, ...] | None = results.get((self.group.name, "group_worker_list"))
        return None if found is None else tuple(each for each in found if each.queue in (None, value))

    def _live_workers(self, value: str | None, results: Results) -> int | None:
        """Return the number of a queue's live workers; ``None`` if unknown."""
        workers = self.group.workers
        found: tuple[GroupWorkersSample, ...] | None = results.get((self.group.name, "group_workers"))
        if workers is None or found is None:
            return None
        if workers.queue is None:  # the workers may serve other queues
            return None if any(row.counted for row in found) else 0
        return sum(row.counted for row in found if row.queue == value)

    def _page_statements(self, value: str | None, listing: PageRequest) -> list[ProbeStatement]:
        return statements_for_group_page(self._statements.cache, self.found_group, self._layout_for(value), listing)

    def _message_statements(self, value: str | None, rows: int) -> list[ProbeStatement]:
        state = next((each for each in self.group.states if each.kind == "in_progress"), self.group.states[0])
        values: dict[str, Value] = {"state": state.kind, "queue": value, "limit": rows}
        statement = self._statements.statement_for("group_messages", "", values, self._names.row_names((state,)))
        return [replace(statement, queue=self._layout_for(value).queue)]


def read_queues(connection: Connection, engine: Engine, resolved: ResolvedGroup) -> tuple[Layout, ...]:
    """Return the queues that have messages in the group's table now. Raises the errors of ``Connection.fetch``."""
    probes = GroupProbes(StatementCache(engine, connection.version), resolved)
    asked = [each for each in probes.statements_for_poll(time.monotonic(), None, 0) if each.record is GroupStateSample]
    rows: Results = {each.key: tuple(to_records(GroupStateSample, connection.fetch(each.bound))) for each in asked}
    probes.record_results(rows, time.monotonic(), 0.0)
    return tuple(sample.layout for sample in probes.queue_samples({}, None))


class TargetGroups:
    """The groups of one target on one connection."""

    def __init__(self, statements: StatementCache, cost_s: Cost = _no_cost) -> None:
        """Create an empty set of groups. ``cost_s``: see ``GroupProbes``."""
        self._statements, self._cost_s = statements, cost_s
        self._probes: dict[str, GroupProbes] = {}

    def watch_groups(self, groups: Iterable[ResolvedGroup]) -> frozenset[str]:
        """Watch these groups from the next poll on; return their names. The state of unchanged groups is kept."""
        before = self._probes
        self._probes = {}
        for each in groups:
            name = each.group.name
            known = before.get(name)
            same = known is not None and (known.group, known.found_group.table_id) == (each.group, each.table_id)
            self._probes[name] = (
                known if known is not None and same else GroupProbes(self._statements, each, self._cost_s)
            )
            self._probes[name].found_group = each
        return frozenset(self._probes)

    @property
    def counter_tables(self) -> list[int]:
        """The tables whose counters give the rates."""
        return [probes.found_group.table_id for probes in self._probes.values() if probes.group.counters]

    @property
    def tables(self) -> list[int]:
        """All tables that are read."""
        return [table for probes in self._probes.values() for _, table in probes.found_group.tables]

    def groups_for(self, queues: Iterable[str]) -> frozenset[str]:
        """Return the groups to which these queues belong."""
        wanted = frozenset(queues)
        return frozenset(name for name, probes in self._probes.items() if wanted & probes.queues)

    def statements_for_poll(
        self,
        now: float,
        shown: str | None,
        rows: int,
        listing: PageRequest | None = None,
        *,
        workers: bool = False,
    ) -> list[ProbeStatement]:
        """Return the statements of this poll; see ``GroupProbes``."""
        return [
            each
            for probes in self._probes.values()
            for each in probes.statements_for_poll(now, shown, rows, listing, workers=workers)
        ]

    def queue_samples(
        self, results: Results, now: float, server_at: float, counters: Mapping[int, CounterSample]
    ) -> Iterator[tuple[ResolvedGroup, tuple[QueueSamples, ...]]]:
        """Yield each group with its queues as read in this poll; see ``GroupProbes.record_results``."""
        for probes in self._probes.values():
            probes.record_results(results, now, server_at)
            yield probes.found_group, probes.queue_samples(results, counters.get(probes.found_group.table_id))

    def failures_by_queue(self, failures: Iterable[ProbeFailure]) -> list[ProbeFailure]:
        """Return the failures of a poll. A failure of a group is repeated for each of its queues."""
        out: list[ProbeFailure] = []
        for failure in failures:
            probes = self._probes.get(failure.queue)
            if probes is None:
                out.append(failure)
            else:
                out += [replace(failure, queue=queue) for queue in sorted(probes.queues)]
        return out


def _counted_or_none(sample: GroupStateSample | None) -> int | None:
    return None if sample is None else sample.counted
