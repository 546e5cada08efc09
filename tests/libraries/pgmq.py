"""pgmq: a table ``pgmq.q_<queue>`` and an archive ``pgmq.a_<queue>`` for each queue, and functions in SQL.

Claims: ``pgmq.read(queue, seconds, number)`` takes the lowest ids with ``vt <= clock_timestamp()``. It moves vt that
    many seconds ahead (a lease) and sets read_ct + 1 and ``last_read_at``. After the lease, any consumer may read the
    message again. ``pop`` deletes at once.
Retries: no own ones: read_ct counts the reads. A consumer may end its lease with ``set_vt(queue, id, 0)``.
Ends: ``delete`` or ``archive`` (moves the row to the archive, with ``archived_at``). The application decides what
    archived means: here, that every attempt has failed. Nothing prunes the archive, unless it is partitioned.
Scheduled: ``send(…, delay)``: vt in the future, read_ct 0.
Functions: requeue ``pgmq.set_vt``; discard ``delete``, ``archive``, ``purge_queue`` (truncates). No pause. No column
    names the consumer of a message.
``pgmq.metrics(queue)`` counts: ``queue_length`` is all rows, ``queue_visible_length`` those with ``vt <= now()``.
"""

from __future__ import annotations

from typing import Final

from tests.libraries.actions import Actions
from tests.libraries.library import QUEUES, Library
from tests.libraries.programs.pgmq import folder
from tests.libraries.python import PythonLibrary

COUNTS: Final = " UNION ALL ".join(
    f"""
    SELECT '{queue}',
           CASE WHEN vt <= now() THEN 'ready' WHEN read_ct > 0 THEN 'in_progress' ELSE 'scheduled' END,
           count(*)
    FROM pgmq.q_{queue}
    GROUP BY 2
    UNION ALL SELECT '{queue}', 'dead', count(*) FROM pgmq.a_{queue}
    """
    for queue in QUEUES
)
HOLDERS: Final = " UNION ALL ".join(
    f"SELECT '{queue}/' || msg_id, NULL FROM pgmq.q_{queue} WHERE vt > now() AND read_ct > 0" for queue in QUEUES
)
BROKEN: Final = " UNION ALL ".join(
    f"SELECT '{queue}', msg_id FROM pgmq.q_{queue} AS q JOIN pgmq.a_{queue} AS a USING (msg_id)" for queue in QUEUES
)
_MESSAGE: Final = """
(
    SELECT split_part(name, '/', 1) AS queue, split_part(name, '/', 2)::bigint AS id FROM (SELECT ?::text AS name) AS n
) AS m
"""
ACTIONS: Final = Actions(
    # A consumer that is alive after all deletes or archives the message when it ends.
    requeue=f"SELECT r.msg_id FROM {_MESSAGE}, pgmq.set_vt(m.queue, m.id, 0) AS r",
    discard=f"SELECT m.id FROM {_MESSAGE} WHERE pgmq.delete(m.queue, m.id)",
)


def pgmq() -> Library:
    """Return the installed library."""
    return PythonLibrary(
        "pgmq",
        (folder() / "VERSION").read_text().strip(),
        frozenset({"retry", "done"}),
        names_workers=False,
        program="pgmq",
        counts=COUNTS,
        holders=HOLDERS,
        broken=BROKEN,
        actions=ACTIONS,
    )
