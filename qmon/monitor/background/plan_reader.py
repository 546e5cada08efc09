"""Read the plans of the statements that pop, one queue at a time.

SQL Server records the plans (Query Store). PostgreSQL only counts the reads of each statement (pg_stat_statements).
"""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from typing import Final

from qmon.engines.base import Connection, Engine, Value
from qmon.engines.result_records import to_records
from qmon.engines.sql import queries
from qmon.model.samples.plan_samples import PlanHistorySample, PlanSample, QueuePlans
from qmon.model.samples.polled_samples import ClockSample
from qmon.model.statement_use import statement_uses as statements_of
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.queue_probes import QueueSpec
from qmon.redact import hide_passwords
from qmon.texts import Text


class PlanReaderText(Text):
    """Why the server has no history of plans."""

    NO_QUERY_STORE = "this version has no Query Store, which records plans; SQL Server 2016 and later have it"


_MAX_PLANS: Final = 40
_CHARS: Final = 400

# Maximum number of statements kept per queue.
_MAX_STATEMENTS: Final = 3
_POPS: Final = ("pop", "pop_batch")
_NEWEST: Final = (10_000, 0)


class PlanReader:
    """The plans read so far. The background reader's thread reads them, and the poll uses them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # Whether this engine has such a probe.
        self.is_supported = queries.has_query(engine.name, "probe/plans", _NEWEST)
        self._read: dict[str, QueuePlans] = {}
        self._lock = threading.Lock()
        # The totals at the last reading, keyed by queue and statement. Used for servers that report only totals.
        self._totals: dict[str, dict[str, PlanSample]] = {}

    def retain_only(self, queues: frozenset[str]) -> None:
        """Forget the queues that are not listed."""
        with self._lock:
            self._read = {name: found for name, found in self._read.items() if name in queues}
            self._totals = {name: found for name, found in self._totals.items() if name in queues}

    def take_new_plans(self) -> tuple[QueuePlans, ...]:
        """Return the plans of each queue that was read since the last call, or the reason why its plans are unknown."""
        with self._lock:
            found, self._read = self._read, {}
            return tuple(found.values())

    def read_plans(self, connection: Connection, statements: StatementCache, spec: QueueSpec) -> None:
        """Read the plans of one queue. Raises the errors of ``Connection.fetch``."""
        found = self._read_pop_plans(connection, statements, spec)
        with self._lock:
            self._read[spec.layout.queue] = found

    def _read_pop_plans(self, connection: Connection, statements: StatementCache, spec: QueueSpec) -> QueuePlans:
        queue, table = spec.layout.queue, spec.layout.table.name
        if not statements.has_probe("plans"):
            now = to_records(ClockSample, connection.fetch(statements.statement_for_target("clock").bound))[0]
            return QueuePlans(queue, now.now_at, unread=PlanReaderText.NO_QUERY_STORE)
        asked = statements.statement_for("plan_history")
        history = to_records(PlanHistorySample, connection.fetch(asked.bound))[0]
        if not history.kept:
            return QueuePlans(queue, history.read_at, unread=history.why)
        pops = [found.name for verb in _POPS if (found := spec.layout.routine_for(verb)) is not None]
        values: dict[str, Value] = {
            "name": table,
            "pops": self._engine.texts_value(pops),
            "limit": _MAX_PLANS,
            "chars": _CHARS,
        }
        names = {"counts": (history.home, "pg_stat_statements")}
        plans = to_records(PlanSample, connection.fetch(statements.statement_for("plans", values, names).bound))
        words = "|".join(map(re.escape, (table, *pops)))
        word = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)
        mine = self._change_since_last(queue, [plan for plan in plans if word.search(plan.statement)])
        kept = {use.plan.statement_id for use in statements_of(mine)[:_MAX_STATEMENTS]}
        return QueuePlans(
            queue,
            history.read_at,
            tuple(replace(p, statement=hide_passwords(p.statement)) for p in mine if p.statement_id in kept),
        )

    def _change_since_last(self, queue: str, samples: list[PlanSample]) -> list[PlanSample]:
        """Replace totals by their change since the last reading and set ``…_before`` fields.

        Samples of single plans stay unchanged.
        """
        totals = {each.statement_id: each for each in samples if not each.plan_id}
        with self._lock:
            before, self._totals[queue] = self._totals.get(queue, {}), totals
        return [_difference(before.get(each.statement_id), each) if not each.plan_id else each for each in samples]


def _difference(before: PlanSample | None, now: PlanSample) -> PlanSample:
    """Return the difference between two samples.

    Returns ``now`` unchanged if there is no earlier sample or the server has reset its counters.
    """
    if before is None or now.calls < before.calls or now.reads < before.reads:
        return now
    return replace(
        now,
        calls=now.calls - before.calls,
        reads=now.reads - before.reads,
        spent_s=now.spent_s - before.spent_s,
        calls_before=before.calls,
        reads_before=before.reads,
        spent_before_s=before.spent_s,
    )
