"""Count the recorded steps of a group's messages. The rates of the group's queues are computed from these counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from qmon.engines.base import Value
from qmon.engines.sql.condition_sql import GroupNames
from qmon.engines.sql.queries import Name
from qmon.model.groups.conditions import ALWAYS
from qmon.model.groups.group import Group, StepTable
from qmon.model.rates.flow import STEPS_LAG_S
from qmon.model.samples.group_samples import GroupLastSample, GroupStepsSample, StepTotals
from qmon.monitor.probes.probe_statements import PART, ProbeStatement, Results, StatementCache

# A step and a queue.
Key = tuple[str, str | None]


class GroupStatements:
    """Build the statements of one group. ``names``: the identifiers that the statements may use."""

    def __init__(self, statements: StatementCache, group: Group) -> None:
        self.group = group
        self.cache = statements
        self.names = GroupNames(group)

    def statement_for(
        self, probe: str, part: str, values: Mapping[str, Value], names: Mapping[str, Name]
    ) -> ProbeStatement:
        """Return one statement. The results are stored under the key ``probe:part``."""
        statement = self.cache.statement_for(probe, values, names, f"{PART}{self.group.name}{PART}{part}")
        return replace(statement, probe=f"{probe}:{part}" if part else probe, queue=self.group.name)


@dataclass(slots=True)
class _StepProgress:
    """How far the steps of one table have been counted.

    ``before``: the table's last number in earlier polls, newest last. ``after_s``, ``until_s``: the time range of steps
    to read now; server clock, seconds since the epoch.
    """

    after: int | None = None
    before: list[int] = field(default_factory=list)
    settled: dict[Key, int] = field(default_factory=dict)
    totals: dict[Key, int] = field(default_factory=dict)
    after_s: float | None = None
    until_s: float = 0.0


class StepCounts:
    """The step counts of one group on one connection."""

    def __init__(self, statements: GroupStatements) -> None:
        self._statements = statements
        self._group = statements.group
        self._logs = [_StepProgress() for _ in self._group.steps]
        self._server_at: float | None = None
        # True if the last poll has read all steps that were due.
        self.is_complete = True

    def statements_for_poll(self, queues: Iterable[str]) -> list[ProbeStatement]:
        """Return the statements of this poll. ``queues``: the known queues."""
        asked: list[ProbeStatement] = []
        known = sorted(queues)
        for number, (steps, log) in enumerate(zip(self._group.steps, self._logs, strict=True)):
            if steps.id is not None:
                asked += self._statements_by_id(number, steps, steps.id, log)
            elif steps.at is not None and self._server_at is not None:
                asked += self._statements_by_time(number, steps, steps.at, log, known)
        return asked

    def _statements_by_id(self, number: int, steps: StepTable, id_: str, log: _StepProgress) -> list[ProbeStatement]:
        names: dict[str, Name] = {"log": (self._group.schema, steps.table), "id": id_}
        asked = [self._statements.statement_for("group_last", str(number), {}, names)]
        if log.after is None:
            return asked
        for step, condition in steps.steps:
            of_step = names | {
                "queue": self._statements.names.column(steps.queue, steps.table),
                "rows": self._statements.names.condition(condition or ALWAYS, table=steps.table),
            }
            values: dict[str, Value] = {"step": step, "after": log.after, "settled": log.before[0]}
            asked.append(self._statements.statement_for("group_steps", f"{number}:{step}", values, of_step))
        return asked

    def _statements_by_time(
        self, number: int, steps: StepTable, at: str, log: _StepProgress, queues: Sequence[str]
    ) -> list[ProbeStatement]:
        log.until_s = (self._server_at or 0.0) - STEPS_LAG_S
        after_s = log.until_s if log.after_s is None else log.after_s
        asked = []
        for step, condition in steps.steps:
            names: dict[str, Name] = {
                "log": (self._group.schema, steps.table),
                "at": at,
                "queue": None if steps.queue is None else steps.queue.name,
                "rows": self._statements.names.condition(condition or ALWAYS, table=steps.table),
            }
            values: dict[str, Value] = {
                "step": step,
                "queues": self._statements.cache.engine.texts_value(queues),
                "after_ms": round(after_s * 1000),
                "until_ms": round(max(after_s, log.until_s) * 1000),
            }
            asked.append(self._statements.statement_for("group_steps_at", f"{number}:{step}", values, names))
        return asked

    def record_results(self, results: Results, server_at: float) -> frozenset[str | None]:
        """Record the results of a poll; return the queues in the results. ``server_at``: server clock, seconds."""
        met: set[str | None] = set()
        self.is_complete = True
        for number, (steps, log) in enumerate(zip(self._group.steps, self._logs, strict=True)):
            probe = "group_steps" if steps.id is not None else "group_steps_at"
            counts = [results.get((self._group.name, f"{probe}:{number}:{step}")) for step, _ in steps.steps]
            rows = None if None in counts else [row for each in counts for row in each or ()]
            self.is_complete = self.is_complete and (rows is not None or (log.after is None and log.after_s is None))
            if steps.id is not None:
                self._record_by_id(log, results.get((self._group.name, f"group_last:{number}")), rows)
                met |= {row.queue for row in rows or ()}
            elif rows is not None:
                for row in rows:
                    log.totals[row.step, row.queue] = log.totals.get((row.step, row.queue), 0) + row.counted
                # The messages that this first poll counts include those that were pushed shortly before it.
                log.after_s = server_at if log.after_s is None else max(log.after_s, log.until_s)
        self._server_at = server_at
        return frozenset(met)

    def retain_only(self, queues: Collection[str | None]) -> None:
        """Forget the counts of other queues. A table with a queue for each tenant would add names for ever."""
        for log in self._logs:
            for counts in (log.settled, log.totals):
                for key in [key for key in counts if key[1] not in queues]:
                    del counts[key]

    @staticmethod
    def _record_by_id(
        log: _StepProgress, last_rows: Sequence[GroupLastSample] | None, rows: Sequence[GroupStepsSample] | None
    ) -> None:
        """Add up the steps of one poll.

        Steps up to the last id that was read two polls ago are final, because their transactions have ended.
        """
        if not last_rows:
            return
        last = last_rows[0].last_id or 0
        if log.after is None or last < log.after:
            log.after, log.before = last, [last]
        elif rows is not None:
            log.totals = dict(log.settled)
            for row in rows:
                key = (row.step, row.queue)
                log.totals[key] = log.settled.get(key, 0) + row.counted
                log.settled[key] = log.settled.get(key, 0) + row.settled
            log.after, log.before = log.before[0], [*log.before[-1:], last]

    def totals(self, queue: str | None) -> StepTotals | None:
        """Return the step counts of a queue so far; ``None`` if no table records steps or no steps were read yet."""
        counted: dict[str, int] = {}
        for steps, log in zip(self._group.steps, self._logs, strict=True):
            if log.after is None and log.after_s is None:
                return None
            for step, _ in steps.steps:
                counted[step] = counted.get(step, 0) + log.totals.get((step, queue), 0)
        return StepTotals(**counted) if counted else None
