"""Retries do not count as pushes, only as pops."""

from __future__ import annotations

from pathlib import Path

import pytest

from qmon.model.view import QueueView
from tests.contract.watching import watching
from tests.libraries.figures import of_queue
from tests.libraries.library import QUEUES, Library
from tests.libraries.oban import oban
from tests.libraries.pgboss import PgBoss
from tests.libraries.pgqueuer import pgqueuer
from tests.libraries.procrastinate import procrastinate

pytestmark = pytest.mark.soak  # tests only the libraries; other tests cover qmon

JOBS = 10


@pytest.fixture(params=[procrastinate, pgqueuer, PgBoss])
def library(request: pytest.FixtureRequest, database: str) -> Library:
    """Libraries whose retries insert rows, as a push does; with their tables in a fresh database."""
    made: Library = request.param()
    made.install(database)
    return made


def retried(library: Library, url: str, folder: Path) -> QueueView:
    """Return the first queue, after qmon has watched jobs in it fail and run again."""
    mails = QUEUES[0]
    for name in QUEUES:
        library.push(url, name, ["first"])
    with (
        library.start(url, folder, "worker", QUEUES) as worker,
        watching(url, interval_s=0.5) as watched,
    ):
        worker.wait(2, "completed")
        watched.view(lambda view: len(view.queues) >= len(QUEUES), polls=4)
        library.push(url, mails, ["again"] * JOBS, fails=1)
        last = worker.wait(JOBS, "retried")[-1].at
        return of_queue(watched.view(lambda view: view.sampled_at > last + 1), mails)


def test_a_retry_is_no_push(library: Library, database: str, tmp_path: Path) -> None:
    queue = retried(library, database, tmp_path)
    assert queue.push_rate.value is not None
    assert queue.push_rate.value * (queue.window_s or 0.0) < 1.5 * JOBS


@pytest.mark.parametrize(("library", "told"), [(procrastinate, True), (oban, False)], indirect=["library"])
def test_a_retry_is_a_pop_or_there_may_be_more(library: Library, database: str, tmp_path: Path, told: bool) -> None:
    queue = retried(library, database, tmp_path)
    assert queue.pop_rate.value is not None
    assert queue.pop_rate.at_least is not told
