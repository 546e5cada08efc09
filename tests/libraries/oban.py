"""Oban: one table ``oban_jobs`` for all queues; its times are UTC without a zone.

Claims: makes ``available`` rows of its queue ``executing``, attempt + 1, ``attempted_at``, ``attempted_by`` = node and
    producer (lowest priority number, then scheduled_at, then id). ``oban_producers`` has a row for each queue of each
    worker, refreshed every 15 s; the leader deletes it after 60 s without. The fetch locks rows whose attempt is not
    below their max_attempts, and leaves them.
Retries: ``retryable`` with scheduled_at. Once a second, its stager makes due rows ``available``, both these and
    ``scheduled`` ones.
Ends: ``completed``, ``cancelled``, ``discarded`` (no attempt left), each with its own time column. The pruner deletes
    by that time (a day), and never if it is NULL. The end is written only while the row is ``executing`` with the
    worker's own ``attempted_at``: a worker writes nothing if its job was requeued in the meantime.
Stuck: after 5 minutes its lifeline makes ``executing`` rows ``available``, or ``discarded`` if no attempt is left,
    whether or not their worker is alive. It also discards ``available`` rows without an attempt left.
Functions, all SQL of the client: retry (all but available and executing: available, max_attempts at least attempt + 1,
    due now, the three times NULL, meta.uniq_bmp empty); cancel; delete (not executing). No function requeues a single
    executing job; the lifeline's statement is the nearest.
Pause: NOTIFY ``"public.oban_signal"`` with the action; each producer keeps it in memory and in ``oban_producers.meta``.
    A producer that starts later is not paused.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Final

from tests.libraries.actions import Actions
from tests.libraries.library import Library
from tests.libraries.python import PythonLibrary

COUNTS: Final = """
SELECT queue,
       CASE state
           WHEN 'available' THEN 'ready'
           WHEN 'executing' THEN 'in_progress'
           WHEN 'retryable' THEN 'retry'
           WHEN 'completed' THEN 'done'
           WHEN 'discarded' THEN 'dead'
           ELSE state::text
       END AS state,
       count(*)
FROM oban_jobs
GROUP BY 1, 2
"""
HOLDERS: Final = "SELECT id, attempted_by[2] FROM oban_jobs WHERE state = 'executing'"
# The library's own rule is five minutes in progress, alive or not. Its producers must send a heartbeat every minute.
ORPHANS: Final = """
SELECT j.id
FROM oban_jobs AS j
LEFT JOIN oban_producers AS p
    ON p.uuid::text = j.attempted_by[2] AND p.updated_at >= timezone('UTC', now()) - interval '60 s'
WHERE j.state = 'executing' AND p.uuid IS NULL
"""
BROKEN: Final = """
SELECT id, state, attempt, max_attempts, completed_at, discarded_at, cancelled_at
FROM oban_jobs
WHERE (state = 'completed') <> (completed_at IS NOT NULL)
   OR (state = 'discarded') <> (discarded_at IS NOT NULL)
   OR (state = 'cancelled') <> (cancelled_at IS NOT NULL)
   OR (state = 'available' AND attempt >= max_attempts)
   OR (state IN ('executing', 'completed', 'retryable', 'discarded') AND attempted_at IS NULL)
"""
_SIGNAL: Final = """
SELECT pg_notify('public.oban_signal', json_build_object('action', '{}', 'queue', ?::text, 'ident', 'any')::text)
"""
ACTIONS: Final = Actions(
    # Its lifeline discards jobs without an attempt left. A requeue must not do that.
    requeue="""
UPDATE oban_jobs
SET state = 'available',
    max_attempts = greatest(max_attempts, attempt + 1),
    meta = meta || jsonb_build_object('rescued', coalesce((meta ->> 'rescued')::int, 0) + 1)
WHERE id = ? AND state = 'executing'
RETURNING id
""",
    retry="""
UPDATE oban_jobs
SET state = 'available',
    max_attempts = greatest(max_attempts, attempt + 1),
    scheduled_at = timezone('UTC', now()),
    completed_at = NULL,
    cancelled_at = NULL,
    discarded_at = NULL,
    meta = jsonb_set(meta, '{uniq_bmp}', '[]')
WHERE id = ? AND state = 'discarded'
RETURNING id
""",
    discard="""
UPDATE oban_jobs
SET state = 'cancelled',
    cancelled_at = timezone('UTC', now()),
    meta = meta || jsonb_build_object('cancel_attempted_at', timezone('UTC', now()))
WHERE id = ? AND state IN ('available', 'scheduled', 'retryable', 'suspended')
RETURNING id
""",
    pause=_SIGNAL.format("pause"),
    resume=_SIGNAL.format("resume"),
    # The state that its producers store. A producer that starts now is not included.
    paused="SELECT queue FROM oban_producers GROUP BY 1 HAVING bool_and((meta ->> 'paused')::boolean) ORDER BY 1",
)


def oban() -> Library:
    """Return the installed library."""
    return PythonLibrary(
        "Oban",
        version("oban"),
        program="oban",
        counts=COUNTS,
        holders=HOLDERS,
        broken=BROKEN,
        actions=ACTIONS,
        orphans=ORPHANS,
        fenced=True,
        prunes=True,
    )
