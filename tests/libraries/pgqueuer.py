"""PgQueuer: ``pgqueuer`` has the jobs that are not done, ``pgqueuer_log`` has a row for each change of status.

Claims: makes due ``queued`` rows of its entrypoints ``picked``, with ``queue_manager_id``, ``updated`` and
    ``heartbeat`` (highest priority, then lowest id); due is ``execute_after < now()``. Any worker with room takes a
    ``picked`` row again if its heartbeat is older than 30 s (the worker sets the limit and beats at half of it). If an
    entrypoint has a limit over all workers, each ``picked`` row has its own ``slot``. Rows of dead workers occupy their
    slots until they are taken again.
Retries: ``queued`` again, attempts + 1, execute_after, ``queue_manager_id`` NULL. ``slot`` keeps its old value, which
    means nothing.
Ends: the row is deleted and the log has its end: ``successful``, ``exception``, ``canceled``, ``deleted``. Entrypoints
    with ``on_failure='hold'`` keep the row as ``failed``. No limit of attempts in the row.
Functions, all SQL of the client and each with a row in the log: ``pgq requeue`` (``failed``: queued, attempts 0, due
    now); cancel (delete, and NOTIFY to the worker); clear the queue of an entrypoint (delete all, also ``picked``).
No pause.
Nothing prunes the log. ``pgqueuer_statistics`` has its sums by the second, which a worker adds up every 30 s.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Final

from tests.libraries.actions import Actions
from tests.libraries.library import Library
from tests.libraries.python import PythonLibrary

COUNTS: Final = """
SELECT entrypoint,
       CASE status
           WHEN 'queued' THEN
               CASE WHEN execute_after <= now() THEN 'ready'
                    WHEN attempts > 0 THEN 'retry'
                    ELSE 'scheduled' END
           WHEN 'picked' THEN 'in_progress'
           WHEN 'failed' THEN 'dead'
           ELSE status::text
       END AS state,
       count(*)
FROM pgqueuer
GROUP BY 1, 2
UNION ALL
SELECT entrypoint, 'done', count(*) FROM pgqueuer_log WHERE status = 'successful' GROUP BY 1
"""
HOLDERS: Final = "SELECT id, queue_manager_id::text FROM pgqueuer WHERE status = 'picked'"
ORPHANS: Final = "SELECT id FROM pgqueuer WHERE status = 'picked' AND heartbeat < now() - interval '30 s'"
BROKEN: Final = """
WITH last AS (
    SELECT DISTINCT ON (job_id) job_id, status FROM pgqueuer_log ORDER BY job_id, id DESC
)
SELECT job_id, last.status, q.status
FROM last
FULL JOIN pgqueuer AS q ON q.id = last.job_id
WHERE (last.status IN ('queued', 'picked', 'failed')) IS DISTINCT FROM (q.id IS NOT NULL)
   OR q.status <> last.status
"""
_LOGGED: Final = """
INSERT INTO pgqueuer_log (job_id, status, entrypoint, priority)
SELECT id, '{}', entrypoint, priority FROM changed
RETURNING job_id
"""
_CHANGED: Final = "RETURNING id, entrypoint, priority"
ACTIONS: Final = Actions(
    # A worker that is alive usually claims it again and continues. In the end it deletes the row, even if another
    # claimed it.
    requeue=f"""
WITH changed AS (
    UPDATE pgqueuer
    SET status = 'queued', execute_after = now(), attempts = attempts + 1, updated = now(), queue_manager_id = NULL
    WHERE id = ? AND status = 'picked'
    {_CHANGED}
){_LOGGED.format("queued")}""",
    retry=f"""
WITH changed AS (
    UPDATE pgqueuer
    SET status = 'queued', execute_after = now(), attempts = 0, updated = now(), queue_manager_id = NULL
    WHERE id = ? AND status = 'failed'
    {_CHANGED}
){_LOGGED.format("queued")}""",
    # To discard a job in progress, its worker would also have to be notified.
    discard=f"""
WITH changed AS (
    DELETE FROM pgqueuer WHERE id = ? AND status IN ('queued', 'failed') {_CHANGED}
){_LOGGED.format("canceled")}""",
)


def pgqueuer() -> Library:
    """Return the installed library."""
    return PythonLibrary(
        "PgQueuer",
        version("pgqueuer"),
        program="pgqueuer",
        counts=COUNTS,
        holders=HOLDERS,
        broken=BROKEN,
        actions=ACTIONS,
        orphans=ORPHANS,
    )
