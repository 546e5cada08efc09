"""graphile-worker, for Node: jobs by task in one table, without a state column. Done jobs are deleted.

A logical queue is a task: workers claim only the tasks they know. The library uses the word queue for a lock that makes
its jobs run one after the other.
Claims: ``attempts + 1``, ``locked_by`` and ``locked_at``, in the job and in its queue if it has one. Takes jobs with
``is_available AND run_at <= now()``, lowest priority number first, then earliest ``run_at``, FOR UPDATE SKIP
LOCKED. ``locked_by`` names the pool of workers; a process usually has one.
Fails: unlocked, ``last_error``, ``run_at`` later by e^attempts seconds. Dead: ``attempts`` has reached ``max_attempts``
(25). The row stays; its ``run_at`` is later than its death, and no other column has that time.
Every 8 to 10 minutes, any pool unlocks jobs locked for 4 h; before that nothing frees the jobs of a killed pool.
Its own functions, also in SQL: ``complete_jobs`` (deletes), ``permanently_fail_jobs``, ``reschedule_jobs``, which all
leave locked jobs alone; ``force_unlock_workers`` (all jobs and queues of a pool), ``remove_job`` (by key). ``cleanup``,
in JavaScript, deletes dead jobs and unused queues and tasks. It cannot pause a task.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.facts import query
from tests.libraries import node
from tests.libraries.actions import Actions
from tests.libraries.library import ATTEMPTS, Counts, Event, Library, State, Worker, pushed

PROGRAM: Final = "graphile.js"

_TRUTH: Final = """
    SELECT t.identifier,
           count(*) FILTER (WHERE j.waits AND j.run_at <= now() AND j.queue_lock IS NULL),
           count(*) FILTER (WHERE j.waits AND j.run_at > now() AND j.attempts = 0),
           count(*) FILTER (WHERE j.waits AND j.run_at > now() AND j.attempts > 0),
           count(*) FILTER (WHERE j.waits AND j.run_at <= now() AND j.queue_lock IS NOT NULL),
           count(*) FILTER (WHERE j.locked_at IS NOT NULL),
           count(*) FILTER (WHERE j.locked_at IS NULL AND j.attempts >= j.max_attempts)
    FROM graphile_worker._private_tasks AS t
    LEFT JOIN (SELECT jobs.*, queues.locked_at AS queue_lock,
                      jobs.locked_at IS NULL AND attempts < max_attempts AS waits
               FROM graphile_worker._private_jobs AS jobs
               LEFT JOIN graphile_worker._private_job_queues AS queues ON queues.id = job_queue_id
              ) AS j ON j.task_id = t.id
    GROUP BY t.identifier"""
_STATES: Final[tuple[State, ...]] = ("ready", "scheduled", "retry", "blocked", "in_progress", "dead")
_BROKEN: Final = """
    SELECT 'job ' || id FROM graphile_worker._private_jobs
    WHERE (locked_at IS NULL) <> (locked_by IS NULL) OR attempts > max_attempts
       OR is_available <> (locked_at IS NULL AND attempts < max_attempts)
    UNION ALL
    SELECT 'queue ' || q.queue_name FROM graphile_worker._private_job_queues AS q
    WHERE (q.locked_at IS NULL) <> (q.locked_by IS NULL)
       OR (SELECT count(*) FROM graphile_worker._private_jobs AS j
           WHERE j.job_queue_id = q.id AND j.locked_by IS NOT DISTINCT FROM q.locked_by AND j.locked_at IS NOT NULL)
          <> (q.locked_at IS NOT NULL)::int"""

ACTIONS: Final = Actions(
    # The same as returning a job that a pool claimed and did not begin: the attempt no longer counts.
    # ``force_unlock_workers`` would release all jobs of the pool, and a job on its last attempt would be dead.
    requeue="""
WITH held AS (
    SELECT id, job_queue_id, locked_by
    FROM graphile_worker._private_jobs
    WHERE id = ? AND locked_at IS NOT NULL
    FOR UPDATE
), unlocked AS (
    UPDATE graphile_worker._private_job_queues AS q
    SET locked_by = NULL, locked_at = NULL
    FROM held
    WHERE q.id = held.job_queue_id AND q.locked_by = held.locked_by
)
UPDATE graphile_worker._private_jobs AS j
SET attempts = greatest(0, j.attempts - 1), locked_by = NULL, locked_at = NULL
FROM held
WHERE j.id = held.id
RETURNING j.id
""",
    retry="""
SELECT done.id
FROM graphile_worker._private_jobs AS j
CROSS JOIN LATERAL
    graphile_worker.reschedule_jobs(ARRAY[j.id], run_at := now(), max_attempts := j.max_attempts + 1) AS done
WHERE j.id = ? AND j.locked_at IS NULL AND j.attempts >= j.max_attempts
""",
    # complete_jobs also deletes jobs locked for 4 h.
    discard="""
SELECT done.id
FROM graphile_worker._private_jobs AS j
CROSS JOIN LATERAL graphile_worker.complete_jobs(ARRAY[j.id]) AS done
WHERE j.id = ? AND j.locked_at IS NULL AND j.attempts < j.max_attempts
""",
)

# Workers skip a locked queue. A lock that never gets old is never removed.
PAUSE_SERIAL: Final = """
UPDATE graphile_worker._private_job_queues
SET locked_at = 'infinity', locked_by = 'paused'
WHERE queue_name = ? AND locked_by IS DISTINCT FROM 'paused'
RETURNING id
"""
# A job that was in progress and still is gets its lock back.
RESUME_SERIAL: Final = """
UPDATE graphile_worker._private_job_queues AS q
SET (locked_at, locked_by) = (
    SELECT j.locked_at, j.locked_by
    FROM graphile_worker._private_jobs AS j
    WHERE j.job_queue_id = q.id AND j.locked_at IS NOT NULL
)
WHERE q.queue_name = ? AND q.locked_by = 'paused'
RETURNING q.id
"""


class Graphile(Library):
    def __init__(self) -> None:
        super().__init__("graphile-worker", node.version("graphile-worker"), frozenset({"done"}), actions=ACTIONS)

    def install(self, url: str) -> None:
        node.ask(PROGRAM, "install", url=url)

    def start(
        self, url: str, folder: Path, name: str, queues: Sequence[str], *, seconds_per_job: float = 0.0
    ) -> Worker:
        return node.start(PROGRAM, folder, name, queues, url, seconds_per_job)

    def push(
        self,
        url: str,
        queue: str,
        payloads: Sequence[str],
        *,
        due_in_s: float = 0.0,
        fails: int = 0,
        serial: str = "",
    ) -> list[Event]:
        """Push jobs. Jobs with the same ``serial`` run one after the other."""
        asked = {"queue": queue, "payloads": payloads, "due_in_s": due_in_s, "fails": fails, "serial": serial}
        return pushed(queue, node.ask(PROGRAM, "push", url=url, attempts=ATTEMPTS, **asked), due_in_s)

    def check(self, url: str) -> None:
        """The library has no checks. Check that locks are complete and that a locked queue has the job of its lock."""
        assert query(url, _BROKEN) == []

    def prune(self, url: str) -> None:
        """Let it delete dead jobs, and queues without jobs."""
        node.ask(PROGRAM, "prune", url=url)

    def truth(self, url: str) -> dict[str, Counts]:
        found = query(url, _TRUTH)
        return {str(name): dict(zip(_STATES, map(int, map(str, counts)), strict=True)) for name, *counts in found}

    def held(self, url: str) -> dict[str, str]:
        found = query(url, "SELECT id, locked_by FROM graphile_worker._private_jobs WHERE locked_at IS NOT NULL")
        return {str(id): str(worker) for id, worker in found}
