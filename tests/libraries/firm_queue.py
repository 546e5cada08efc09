"""firm-queue, Solid Queue in Python: ``firm_queue_jobs`` has every job, and a table for each state has those in it.

Claims: moves rows of ``_ready_executions`` to ``_claimed_executions`` with the id of its process (lowest priority
    number, then job_id), skipping the queues in ``_pauses``. ``_processes`` has heartbeats, every 60 s. A supervisor
    deletes the row of a process without one for 300 s and moves its jobs back to ready; jobs of processes that have
    no row at all it moves back when it starts.
Retries: ``attempts`` + 1 in the job, and ``_scheduled_executions``; its dispatcher moves what is due to ready.
Ends: ``finished_at`` in the job and no other row; with ``_failed_executions`` it is dead. Finished ones are deleted
    where the application says so, else by ``clear_finished``. The limit of attempts is in the code, not in the row.
Functions, all SQL of the client: requeue (``recover_orphaned_claims``: INSERT into ready, DELETE of the claim); retry
    of failed ones (DELETE of the failure, attempts 0, finished_at NULL, INSERT into ready); discard (DELETE of the
    job, refused while it is claimed; gives the job's place in its semaphore to the next blocked one); clear (all
    ready ones of a queue).
Pause: a row in ``_pauses`` for the queue; resume deletes it.
Columns have no defaults for times: ``created_at`` must be given, as UTC without a zone.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Final

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
BROKEN: Final = f"""
SELECT * FROM ({_EACH}) AS e
WHERE (finished_at IS NULL) <> (state IS NOT NULL) OR states > 1
"""


def firm_queue() -> Library:
    """The library, as it is installed."""
    return PythonLibrary(
        "firm-queue", version("firm-queue"), program="firm_queue", counts=COUNTS, holders=HOLDERS, broken=BROKEN
    )
