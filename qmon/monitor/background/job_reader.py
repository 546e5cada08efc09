"""Read which jobs of SQL Server Agent work on queues. One occasional reading covers all queues."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from typing import Final
from xml.sax.saxutils import escape

from qmon.engines.base import Connection, Engine, Value
from qmon.engines.result_records import to_records
from qmon.engines.sql import queries
from qmon.errors import PermissionMissing
from qmon.model.samples.job_samples import Jobs, JobStepSample, QueueJob
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.queue_probes import QueueSpec

# Minimum seconds between two readings, because jobs rarely change. The pause is longer if a reading took long.
EVERY_S: Final = 600.0
_CHARS: Final = 4_000
_NEWEST: Final = (10_000, 0)
_POPS: Final = ("pop", "pop_batch")


class JobReader:
    """The jobs read so far. The background reader's thread reads them, and the poll uses them."""

    def __init__(self, engine: Engine) -> None:
        # Whether this engine has such jobs.
        self.is_supported = queries.has_query(engine.name, "probe/jobs", _NEWEST)
        self._known: Jobs | None = None
        self._lock = threading.Lock()

    def latest_jobs(self) -> Jobs | None:
        """Return the jobs; ``None`` before the first reading."""
        with self._lock:
            return self._known

    def read_jobs(self, connection: Connection, statements: StatementCache, specs: Iterable[QueueSpec]) -> None:
        """Read the jobs of all queues. A missing permission is not a failure, because few roles may see jobs.

        Raises the errors of ``Connection.fetch`` in all other cases.
        """
        queues = _queues_by_name(specs)
        names = "".join(f"<i>{escape(name)}</i>" for name in queues)
        values: dict[str, Value] = {"names": names, "chars": _CHARS}
        try:
            rows = to_records(JobStepSample, connection.fetch(statements.statement_for("jobs", values).bound))
            found = Jobs(tuple(dict.fromkeys(job for row in rows for job in _jobs_in_step(row, queues))))
        except PermissionMissing as problem:
            found = Jobs(unread=str(problem))
        with self._lock:
            self._known = found


def _queues_by_name(specs: Iterable[QueueSpec]) -> dict[str, list[str]]:
    """Return the names of queues, keyed by the names of their tables and of the procedures that pop from the queues."""
    out: dict[str, list[str]] = {}
    for spec in specs:
        routines = [spec.layout.routine_for(verb) for verb in _POPS]
        for name in (spec.layout.table.name, *(each.name for each in routines if each is not None)):
            out.setdefault(name.lower(), []).append(spec.layout.queue)
    return out


def _jobs_in_step(row: JobStepSample, queues: dict[str, list[str]]) -> Iterable[QueueJob]:
    """Return the queues that a step works on: the command of the step contains their key of ``queues`` as a word."""
    word = re.compile(rf"(?<!\w){re.escape(row.name)}(?!\w)", re.IGNORECASE)
    if not word.search(row.command):
        return ()
    return [
        QueueJob(queue, row.job, row.step, row.enabled, row.outcome, row.ran_s)
        for queue in queues.get(row.name.lower(), ())
    ]
