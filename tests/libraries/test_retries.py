"""What is tried again is not pushed again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.watching import watching
from tests.libraries.library import QUEUES, Library
from tests.libraries.pgboss import PgBoss
from tests.libraries.pgqueuer import pgqueuer
from tests.libraries.procrastinate import procrastinate
from tests.libraries.test_figures import of_queue

pytestmark = pytest.mark.server

JOBS = 10


@pytest.fixture(params=[procrastinate, pgqueuer, PgBoss])
def library(request: pytest.FixtureRequest, database: str) -> Library:
    """Libraries whose retries insert rows, as a push does; tables made in a fresh database."""
    made: Library = request.param()
    made.install(database)
    return made


def test_a_retry_is_no_push(library: Library, database: str, tmp_path: Path) -> None:
    mails = QUEUES[0]
    for name in QUEUES:
        library.push(database, name, ["first"])
    with (
        library.start(database, tmp_path, "worker", QUEUES) as worker,
        watching(database, interval_s=0.5) as watched,
    ):
        worker.wait(2, "completed")
        watched.view(lambda view: len(view.queues) >= len(QUEUES), polls=4)
        library.push(database, mails, ["again"] * JOBS, fails=1)
        last = worker.wait(JOBS, "retried")[-1].at
        queue = of_queue(watched.view(lambda view: view.sampled_at > last + 1), mails)
    assert queue.push_rate.value is not None
    assert queue.push_rate.value * (queue.window_s or 0.0) < 1.5 * JOBS
