"""procrastinate: one table ``procrastinate_jobs`` for all queues, and one with every change of status.

Claims: ``procrastinate_fetch_job_v2`` makes the first due ``todo`` of its queues ``doing`` with the worker's id
    (highest priority, then lowest id; jobs with the same ``lock`` run one at a time, in order).
    ``procrastinate_workers`` has the worker's heartbeat, every 10 s. The next worker that starts deletes rows without
    one for 30 s, which makes ``worker_id`` of their jobs NULL. No worker claims such a job again by itself.
Retries: ``procrastinate_retry_job_v2(id, at, priority, queue, lock)`` of a ``doing`` or ``failed`` job: ``todo``, due
    at that time, attempts + 1; the worker stays in the row. ``doing`` with ``abort_requested``: ``failed``.
Ends: ``succeeded``, ``failed``, ``aborted``, ``cancelled``, kept until its task ``remove_old_jobs`` deletes them by the
    time of their last event. Workers can also be set to delete them at once. No limit of attempts in the row.
Functions: retry and requeue ``procrastinate_retry_job_v2``; discard ``procrastinate_cancel_job_v1(id, abort, delete)``
    of ``todo`` (of ``doing`` it can only ask the worker). No pause.
Notifies workers of new jobs (NOTIFY on INSERT only). Requeued jobs are found at the next poll, 5 s apart.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Final

from tests.libraries.actions import Actions
from tests.libraries.library import Library
from tests.libraries.python import PythonLibrary

COUNTS: Final = """
SELECT queue_name,
       CASE status
           WHEN 'todo' THEN
               CASE WHEN scheduled_at IS NULL OR scheduled_at <= now() THEN
                        CASE WHEN lock IN (SELECT lock FROM procrastinate_jobs WHERE status = 'doing') THEN 'blocked'
                             ELSE 'ready' END
                    WHEN attempts > 0 THEN 'retry'
                    ELSE 'scheduled' END
           WHEN 'doing' THEN 'in_progress'
           WHEN 'succeeded' THEN 'done'
           WHEN 'failed' THEN 'dead'
           ELSE status::text
       END AS state,
       count(*)
FROM procrastinate_jobs
GROUP BY 1, 2
"""
HOLDERS: Final = "SELECT id, worker_id FROM procrastinate_jobs WHERE status = 'doing'"
ORPHANS: Final = """
SELECT j.id
FROM procrastinate_jobs AS j
LEFT JOIN procrastinate_workers AS w ON w.id = j.worker_id AND w.last_heartbeat >= now() - interval '30 s'
WHERE j.status = 'doing' AND w.id IS NULL
"""
BROKEN: Final = """
WITH last AS (
    SELECT DISTINCT ON (job_id) job_id, type
    FROM procrastinate_events
    WHERE type NOT IN ('scheduled', 'abort_requested')
    ORDER BY job_id, id DESC
)
SELECT j.id, j.status, l.type
FROM procrastinate_jobs AS j
LEFT JOIN last AS l ON l.job_id = j.id
WHERE l.type IS NULL
   OR NOT CASE j.status
              WHEN 'todo' THEN l.type IN ('deferred', 'deferred_for_retry', 'retried')
              WHEN 'doing' THEN l.type = 'started'
              ELSE l.type::text = j.status::text
          END
"""
_RETRY: Final = """
SELECT id, procrastinate_retry_job_v2(id, now(), NULL, NULL, NULL) FROM procrastinate_jobs WHERE id = ? AND status = {}
"""
ACTIONS: Final = Actions(
    # A worker that is alive after all marks the job as done when it ends, even while another works on it.
    requeue=_RETRY.format("'doing'"),
    retry=_RETRY.format("'failed'"),
    discard="SELECT id FROM procrastinate_cancel_job_v1(?, false, false) AS id WHERE id IS NOT NULL",
)


def procrastinate() -> Library:
    """Return the installed library."""
    return PythonLibrary(
        "procrastinate",
        version("procrastinate"),
        program="procrastinate",
        counts=COUNTS,
        holders=HOLDERS,
        broken=BROKEN,
        actions=ACTIONS,
        orphans=ORPHANS,
        prunes=True,
    )
