"""pg-boss, for Node: queues by name in one partitioned table, each job with a state and the rules for its retries.

Claims: ``state = 'active'``, ``started_on`` and ``heartbeat_on``, ``retry_count + 1`` if it was claimed before. Takes
jobs with ``state < 'active' AND NOT blocked AND start_after <= job_now()`` (``created`` and ``retry``), highest
priority and oldest first, FOR UPDATE SKIP LOCKED. No row names the process of a claim. ``instance`` has the
processes with their heartbeats and, for the last one, the number of claimed jobs by queue.
Fails: DELETE and INSERT of the same id, as ``retry`` (due after its delay) or as ``failed``. A failed job stays in
its queue, and a copy with a new id and the state ``created`` goes to the queue that ``dead_letter`` names.
Times out: any process's supervisor fails jobs active longer than ``expire_seconds`` (15 m) or without a heartbeat.
Prunes: ``deletion_seconds`` (7 d) after ``completed_on``, and jobs waiting beyond ``keep_until`` (14 d after sending).
Its own functions: ``retry`` (failed), ``cancel``, ``resume`` (cancelled), ``deleteJob``, ``fail``, ``redrive`` (from a
dead letter queue), and for active jobs an inner ``restore``. It cannot pause a queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.facts import query
from tests.libraries import node
from tests.libraries.actions import Actions
from tests.libraries.library import ATTEMPTS, QUEUES, Counts, Event, Library, State, Worker, pushed

PROGRAM: Final = "pgboss.js"
# Receives copies of the dead jobs of the second queue.
DEAD_LETTERS: Final = "dead-letters"

_TRUTH: Final = """
    SELECT q.name,
           count(*) FILTER (WHERE j.state < 'active' AND NOT j.blocked AND j.start_after <= now()),
           count(*) FILTER (WHERE j.state = 'created' AND NOT j.blocked AND j.start_after > now()),
           count(*) FILTER (WHERE j.state = 'retry' AND NOT j.blocked AND j.start_after > now()),
           count(*) FILTER (WHERE j.state < 'active' AND j.blocked),
           count(*) FILTER (WHERE j.state = 'active'),
           count(*) FILTER (WHERE j.state = 'completed'),
           count(*) FILTER (WHERE j.state = 'failed'),
           count(*) FILTER (WHERE j.state = 'cancelled')
    FROM pgboss.queue AS q LEFT JOIN pgboss.job AS j ON j.name = q.name
    GROUP BY q.name"""
_STATES: Final[tuple[State, ...]] = (
    *("ready", "scheduled", "retry", "blocked", "in_progress", "done", "dead", "cancelled"),
)

# Its supervisor deletes jobs waiting beyond `keep_until`, even just after the library's own `retry`.
_KEPT: Final = "greatest(j.keep_until, now() + q.retention_seconds * interval '1 second')"
_WORKED_ON_AGAIN: Final = f"""
UPDATE pgboss.job AS j
SET state = 'retry',
    retry_limit = j.retry_limit + 1,
    heartbeat_on = NULL,
    completed_on = NULL,
    start_after = greatest(j.start_after, now()),
    keep_until = {_KEPT}
FROM pgboss.queue AS q
WHERE q.name = j.name AND j.id = CAST(? AS uuid) AND j.state = {{}}
RETURNING j.id
"""
ACTIONS: Final = Actions(
    # The same as its own ``fail`` and ``retry``. Its inner ``restore`` clears ``started_on``: then the next claim does
    # not count as an attempt, and a worker that is alive after all could end the job while another works on it.
    requeue=_WORKED_ON_AGAIN.format("'active'"),
    # Its copy in a dead letter queue stays.
    retry=_WORKED_ON_AGAIN.format("'failed'"),
    # The same as its own ``cancel``; ``resume`` reverses it.
    discard="""
UPDATE pgboss.job SET state = 'cancelled', completed_on = now()
WHERE id = CAST(? AS uuid) AND state < 'active'
RETURNING id
""",
)
RESUME_CANCELLED: Final = f"""
UPDATE pgboss.job AS j
SET state = 'created',
    completed_on = NULL,
    upsert_by_key = NULL,
    start_after = greatest(j.start_after, now()),
    keep_until = {_KEPT}
FROM pgboss.queue AS q
WHERE q.name = j.name AND j.id = CAST(? AS uuid) AND j.state = 'cancelled'
RETURNING j.id
"""


class PgBoss(Library):
    """pg-boss. Its second queue has its own table and a dead letter queue."""

    def __init__(self) -> None:
        super().__init__("pg-boss", node.version("pg-boss"), names_workers=False, actions=ACTIONS, prunes=True)

    def install(self, url: str) -> None:
        node.ask(PROGRAM, "install", url=url, queues=QUEUES, attempts=ATTEMPTS, dead_letters=DEAD_LETTERS)

    def start(
        self, url: str, folder: Path, name: str, queues: Sequence[str], *, seconds_per_job: float = 0.0
    ) -> Worker:
        return node.start(PROGRAM, folder, name, queues, url, seconds_per_job)

    def push(
        self, url: str, queue: str, payloads: Sequence[str], *, due_in_s: float = 0.0, fails: int = 0
    ) -> list[Event]:
        asked = {"queue": queue, "payloads": payloads, "due_in_s": due_in_s, "fails": fails}
        return pushed(queue, node.ask(PROGRAM, "push", url=url, **asked), due_in_s)

    def push_flow(self, url: str) -> None:
        """Push a job to the second queue, and two to the first that wait for it; one of these is due tomorrow."""
        node.ask(PROGRAM, "flow", url=url, queues=QUEUES)

    def check(self, url: str) -> None:
        """Run its supervisor, check the schema with its doctor, and compare its counts with ``truth``."""
        query(
            url, "UPDATE pgboss.queue SET monitor_claim_on = NULL, monitor_on = NULL, maintain_on = NULL"
        )  # makes the supervisor due
        found = node.ask(PROGRAM, "check", url=url)
        assert found["drift"]["ok"], found["drift"]
        counted = {name: _theirs(counts) for name, counts in self.truth(url).items()}
        assert {
            each["name"]: {word: each[word] for word in counted[each["name"]]} for each in found["queues"]
        } == counted

    def prune(self, url: str) -> None:
        """Let its supervisor delete done jobs, after backdating them."""
        query(
            url,
            "UPDATE pgboss.job SET completed_on = now() - deletion_seconds * interval '2 seconds'"
            " WHERE state = 'completed'",
        )
        self.check(url)

    def truth(self, url: str) -> dict[str, Counts]:
        return {
            str(name): dict(zip(_STATES, map(int, map(str, counts)), strict=True))
            for name, *counts in query(url, _TRUTH)
        }

    def held(self, url: str) -> dict[str, str]:
        return {str(id): "" for (id,) in query(url, "SELECT id::text FROM pgboss.job WHERE state = 'active'")}


def _theirs(counts: Counts) -> dict[str, int]:
    """Return the counts by the library's names."""
    return {
        "readyCount": counts["ready"],
        "deferredCount": counts["scheduled"] + counts["retry"],
        "blockedCount": counts["blocked"],
        "activeCount": counts["in_progress"],
        "failedCount": counts["dead"],
        "totalCount": sum(counts.values()),
    }
