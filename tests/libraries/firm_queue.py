"""firm-queue, Solid Queue in Python: ``firm_queue_jobs`` has every job, and each state has a table with its jobs.

Claims: moves rows of ``_ready_executions`` to ``_claimed_executions`` with the id of its process (lowest priority
    number, then job_id), skipping the queues in ``_pauses``. ``_processes`` has heartbeats, every 60 s. If a process
    has sent none for 300 s, a supervisor deletes its row and moves its jobs back to ready. When it starts, it also
    moves back the jobs of processes without a row.
Retries: adds 1 to ``attempts`` in the job, and a row to ``_scheduled_executions``. Its dispatcher moves due jobs to
    ready.
Ends: ``finished_at`` in the job and no other row; with a row in ``_failed_executions`` it is dead. Finished jobs are
    deleted if the application says so, else by ``clear_finished``. The limit of attempts is in the code, not in the
    row.
Functions, all SQL of the client: requeue (``recover_orphaned_claims``: INSERT into ready, DELETE of the claim); retry
    of failed jobs (DELETE of the failure, attempts 0, finished_at NULL, INSERT into ready); discard (DELETE of the job,
    refused while it is claimed; gives the job's place in its semaphore to the next blocked job); clear (all ready jobs
    of a queue).
Pause: a row in ``_pauses`` for the queue; resume deletes it.
Time columns have no defaults: ``created_at`` must be given, in UTC without a zone.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Final

from tests.libraries.actions import Actions
from tests.libraries.library import Library
from tests.libraries.python import PythonLibrary

_EACH: Final = """
SELECT j.id, j.queue_name, j.finished_at, s.state, s.states
FROM firm_queue_jobs AS j
LEFT JOIN (
    SELECT job_id, min(state) AS state, count(*) AS states
    FROM (
        SELECT job_id, 'ready' AS state FROM firm_queue_ready_executions
        UNION ALL SELECT job_id, 'in_progress' FROM firm_queue_claimed_executions
        UNION ALL SELECT job_id, 'dead' FROM firm_queue_failed_executions
        UNION ALL SELECT job_id, 'blocked' FROM firm_queue_blocked_executions
        UNION ALL
        SELECT e.job_id, CASE WHEN k.attempts > 0 THEN 'retry' ELSE 'scheduled' END
        FROM firm_queue_scheduled_executions AS e JOIN firm_queue_jobs AS k ON k.id = e.job_id
    ) AS executions
    GROUP BY job_id
) AS s ON s.job_id = j.id
"""
COUNTS: Final = f"SELECT queue_name, coalesce(state, 'done'), count(*) FROM ({_EACH}) AS e GROUP BY 1, 2"
HOLDERS: Final = """
SELECT c.job_id, p.name
FROM firm_queue_claimed_executions AS c LEFT JOIN firm_queue_processes AS p ON p.id = c.process_id
"""
ORPHANS: Final = """
SELECT c.job_id
FROM firm_queue_claimed_executions AS c
LEFT JOIN firm_queue_processes AS p
    ON p.id = c.process_id AND p.last_heartbeat_at >= timezone('UTC', now()) - interval '300 s'
WHERE p.id IS NULL
"""
BROKEN: Final = f"""
SELECT * FROM ({_EACH}) AS e
WHERE (finished_at IS NULL) <> (state IS NOT NULL) OR states > 1
"""
_READY: Final = """
INSERT INTO firm_queue_ready_executions (job_id, queue_name, priority, created_at)
SELECT id, queue_name, priority, timezone('UTC', now()) FROM job
RETURNING job_id
"""
ACTIONS: Final = Actions(
    # A worker that is alive after all writes nothing when it ends, because its claim is gone.
    requeue=f"""
WITH claim AS (
    DELETE FROM firm_queue_claimed_executions WHERE job_id = ? RETURNING job_id
), job AS (
    SELECT j.id, j.queue_name, j.priority FROM claim AS c JOIN firm_queue_jobs AS j ON j.id = c.job_id
){_READY}""",
    retry=f"""
WITH failure AS (
    DELETE FROM firm_queue_failed_executions WHERE job_id = ? RETURNING job_id
), job AS (
    UPDATE firm_queue_jobs AS j
    SET attempts = 0, finished_at = NULL, updated_at = timezone('UTC', now())
    FROM failure AS f
    WHERE j.id = f.job_id
    RETURNING j.id, j.queue_name, j.priority
){_READY}""",
    # A job with a concurrency_key may hold a place in its semaphore, which would have to go to another job.
    discard="""
WITH job AS (
    SELECT id FROM firm_queue_jobs WHERE id = ? AND concurrency_key IS NULL
), ready AS (
    DELETE FROM firm_queue_ready_executions AS e USING job WHERE e.job_id = job.id RETURNING e.job_id
), scheduled AS (
    DELETE FROM firm_queue_scheduled_executions AS e USING job WHERE e.job_id = job.id RETURNING e.job_id
), failed AS (
    DELETE FROM firm_queue_failed_executions AS e USING job WHERE e.job_id = job.id RETURNING e.job_id
), waiting AS (
    TABLE ready UNION ALL TABLE scheduled UNION ALL TABLE failed
)
DELETE FROM firm_queue_jobs AS j USING waiting AS w WHERE j.id = w.job_id RETURNING j.id
""",
    pause="""
INSERT INTO firm_queue_pauses (queue_name, created_at) VALUES (?, timezone('UTC', now()))
ON CONFLICT (queue_name) DO NOTHING
RETURNING queue_name
""",
    resume="DELETE FROM firm_queue_pauses WHERE queue_name = ? RETURNING queue_name",
    paused="SELECT queue_name FROM firm_queue_pauses ORDER BY 1",
)


def firm_queue() -> Library:
    """Return the installed library."""
    return PythonLibrary(
        "firm-queue",
        version("firm-queue"),
        program="firm_queue",
        counts=COUNTS,
        holders=HOLDERS,
        broken=BROKEN,
        actions=ACTIONS,
        orphans=ORPHANS,
        fenced=True,
        prunes=True,
    )
