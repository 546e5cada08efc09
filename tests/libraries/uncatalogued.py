"""Libraries that are not in qmon's catalogue, with the lines that a user edits in what ``qmon init`` writes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, cast

from tests.cli.calling import surroundings
from tests.facts import query
from tests.libraries.library import State, Worker

# Queue, state, number of messages, age of the oldest one in seconds.
Row = tuple[str, State, int, float | None]


class Push(Protocol):
    """Pushes jobs."""

    def __call__(self, queue: str, payloads: Sequence[str], due_in_s: float = 0.0, fails: int = 0) -> None:
        """Push one job for each payload. ``fails``: how many attempts fail."""


@dataclass(frozen=True)
class Uncatalogued:
    """A library without a file in the catalogue.

    Attributes:
        program: its module in ``tests.libraries.programs``.
        truth: SQL, based on the library's source, for queue, state, number of messages, and age in seconds of the
            oldest ready message.
        edits: for a line that contains the first text, the line that replaces it; ``""`` removes it.
        found: whether qmon watches its table unaided.
        uncommented: whether the user removes the comment signs in front of the proposed queue.
        added: lines that the user adds at the end. ``{target}`` is the name of the target.
        fails: whether jobs can fail.
        due: whether its table has messages that are due later.
    """

    program: str
    truth: str
    edits: tuple[tuple[str, str], ...] = ()
    found: bool = True
    uncommented: bool = False
    added: tuple[str, ...] = ()
    fails: bool = True
    due: bool = True

    @property
    def edited_lines(self) -> int:
        """The number of edits."""
        return len(self.edits) + len(self.added) + self.uncommented

    def edit(self, text: str) -> str:
        """Return a configuration with the user's edits."""
        if self.uncommented:
            comments, mark, proposed = text.partition("\n# [[")
            text = comments + (mark + proposed).replace("\n# ", "\n")
        lines = text.splitlines()
        (target,) = re.findall(r"^\[target\.(.+)\]$", text, re.MULTILINE)
        for old, new in self.edits:
            (at,) = [number for number, line in enumerate(lines) if old in line and not line.startswith("#")]
            lines[at] = new
        return "\n".join((*lines, *(line.replace("{target}", target) for line in self.added)))

    @contextmanager
    def client(self, url: str, folder: Path) -> Iterator[Push]:
        """Create the tables in a separate process, which pushes jobs until the block ends."""
        words = [sys.executable, "-m", "tests.libraries.programs.client", self.program, url]
        with (folder / "client.txt").open("w+") as said:
            process = subprocess.Popen(
                words, env=surroundings(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True
            )
            assert process.stdin is not None
            assert process.stdout is not None
            answers, orders = process.stdout, process.stdin

            def answered() -> None:
                if not answers.readline():
                    said.seek(0)
                    raise AssertionError(said.read()[-2000:])

            def push(queue: str, payloads: Sequence[str], due_in_s: float = 0.0, fails: int = 0) -> None:
                orders.write(json.dumps([queue, list(payloads), due_in_s, fails, 1]) + "\n")
                orders.flush()
                answered()

            try:
                answered()
                yield push
            finally:
                process.kill()
                process.communicate()

    def start(self, url: str, folder: Path, queue: str, seconds_per_job: float, name: str = "worker") -> Worker:
        """Start a worker of one queue, whose jobs run once."""
        words = [self.program, url, str(seconds_per_job), "1", queue]
        return Worker.start([sys.executable, "-m", "tests.libraries.programs", *words], folder, name)

    def read_truth(self, url: str) -> list[Row]:
        """Return the rows of ``truth``."""
        return [
            (str(queue), cast(State, state), int(str(count)), None if oldest is None else float(str(oldest)))
            for queue, state, count, oldest in query(url, self.truth)
        ]


CHANCY: Final = Uncatalogued(
    "chancy_jobs",
    """
SELECT queue,
       CASE WHEN state = 'running' THEN 'in_progress'
            WHEN state = 'failed' THEN 'dead'
            WHEN state = 'succeeded' THEN 'done'
            WHEN scheduled_at > now() THEN 'scheduled'
            ELSE 'ready' END,
       count(*),
       extract(epoch FROM now() - min(scheduled_at))
FROM chancy_jobs
GROUP BY 1, 2
""",
)
PQ: Final = Uncatalogued(
    "pq_queue",
    """
SELECT q_name,
       CASE WHEN dequeued_at IS NOT NULL THEN 'done' WHEN schedule_at > now() THEN 'scheduled' ELSE 'ready' END,
       count(*),
       extract(epoch FROM now() - min(enqueued_at))
FROM queue
GROUP BY 1, 2
""",
    # The library has no state for messages in progress.
    edits=(
        ('name = "in_progress"', '{ name = "taken", kind = "done", when = { dequeued_at = { null = false } } },'),
        ('payload = "data"', 'payload = "data"\nqueue = "q_name"'),
    ),
    found=False,
    uncommented=True,
    fails=False,
)
DRAMATIQ: Final = Uncatalogued(
    "dramatiq_jobs",
    """
SELECT replace(queue_name, '.DQ', ''),
       CASE WHEN state = 'consumed' THEN 'in_progress'
            WHEN state = 'rejected' THEN 'dead'
            WHEN state = 'done' THEN 'done'
            WHEN queue_name LIKE '%.DQ' THEN 'scheduled'
            ELSE 'ready' END,
       count(*),
       extract(epoch FROM now() - min(mtime))
FROM dramatiq.queue
GROUP BY 1, 2
""",
    edits=(
        (
            'name = "ready"',
            '{ name = "ready", when = { state = ["queued"], queue_suffix = { not = [".DQ"] } }, since = "mtime" },',
        ),
        ('name = "in_progress"', '{ name = "in_progress", when = { state = ["consumed"] }, since = "mtime" },'),
        # Its rows do not record when messages were pushed. The server's counters show the flow of the whole table.
        ("queue = {", ""),
    ),
)
DJANGO_DBQ: Final = Uncatalogued(
    "django_dbq_jobs",
    """
SELECT queue_name,
       CASE WHEN state = 'PROCESSING' THEN 'in_progress'
            WHEN state = 'FAILED' THEN 'dead'
            WHEN state = 'COMPLETE' THEN 'done'
            WHEN run_after > now() THEN 'scheduled'
            ELSE 'ready' END,
       count(*),
       extract(epoch FROM now() - min(created))
FROM django_dbq_job
GROUP BY 1, 2
""",
    # Its rows do not record when messages were popped.
    edits=(("queue = ", ""),),
)
DJANGO_TASKS: Final = Uncatalogued(
    "django_tasks_jobs",
    """
SELECT queue_name,
       CASE WHEN status = 'RUNNING' THEN 'in_progress'
            WHEN status = 'FAILED' THEN 'dead'
            WHEN status = 'SUCCESSFUL' THEN 'done'
            WHEN run_after > now() AND run_after < '9999-01-01' THEN 'scheduled'
            ELSE 'ready' END,
       count(*),
       extract(epoch FROM now() - min(enqueued_at))
FROM django_tasks_database_dbtaskresult
GROUP BY 1, 2
""",
)
HUEY: Final = Uncatalogued(
    "huey_tasks",
    "SELECT queue, 'ready', count(*), NULL FROM task GROUP BY 1",
    added=("[[target.{target}.queue]]", 'name = "huey"', 'table = "public.task"', 'id = "id"'),
    found=False,
    fails=False,
    due=False,
)
_KOMBU_TRUTH: Final = """
SELECT q.name, CASE WHEN m.visible THEN 'ready' ELSE 'done' END, count(*), NULL
FROM {messages} AS m
JOIN {queues} AS q ON q.id = m.queue_id
GROUP BY 1, 2
"""
_LANE: Final = 'queue = { table = "shop_lanes", key = "id", by = "queue_id", column = "name" }'
# Its tables have names of the application's own. The catalogue knows the usual names.
KOMBU_RENAMED: Final = Uncatalogued(
    "celery_renamed",
    _KOMBU_TRUTH.format(messages="shop_jobs", queues="shop_lanes"),
    edits=(
        ('name = "ready"', '{ name = "ready", when = { visible = true } },'),
        # The library does not record when a worker has finished a message.
        ('name = "in_progress"', '{ name = "taken", kind = "done", when = { visible = false } },'),
        ('payload = "payload"', f'payload = "payload"\n{_LANE}'),
    ),
    added=(f'steps = [{{ table = "shop_jobs", id = "id", pushed = true, {_LANE} }}]',),
    found=False,
    uncommented=True,
    due=False,
)
KOMBU: Final = Uncatalogued(
    "celery_kombu", _KOMBU_TRUTH.format(messages="kombu_message", queues="kombu_queue"), due=False
)
DJANGO_Q2: Final = Uncatalogued(
    "django_q2",
    """
SELECT key, CASE WHEN lock > now() THEN 'in_progress' ELSE 'ready' END, count(*), extract(epoch FROM now() - min(lock))
FROM django_q_ormq
GROUP BY 1, 2
""",
    due=False,
)
# The catalogue has these two. Their workers prove its entries.
CATALOGUED: Final = (KOMBU, DJANGO_Q2)
UNCATALOGUED: Final = (CHANCY, PQ, DRAMATIQ, DJANGO_DBQ, DJANGO_TASKS, HUEY, KOMBU_RENAMED)
