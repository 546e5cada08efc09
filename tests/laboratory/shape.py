"""Faults of queues found by their shape, each in its own database. qmon learns their states while it watches."""

from __future__ import annotations

import contextlib
import secrets
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

from qmon.demo.embedded_server import EmbeddedServer
from qmon.model.layout.layout import Layout, StateColumn
from qmon.model.samples.polled_samples import SampleText
from qmon.model.verdicts.judge import CANNOT_TELL
from tests.contract.watching import watching
from tests.facts import query
from tests.laboratory.case import Case, Outcome
from tests.laboratory.laboratory import Laboratory
from tests.wordings import has

_TABLE: Final = (
    "CREATE TABLE {table} (id bigserial PRIMARY KEY, status text NOT NULL, body text, started_at timestamptz,"
    " created_at timestamptz NOT NULL DEFAULT now(), attempts int NOT NULL DEFAULT 0)"
)
_INDEX: Final = "CREATE INDEX ON {table} (status, id)"
_ROWS: Final = (
    "INSERT INTO {table} (status) SELECT value FROM generate_series(1, 60), (VALUES ('new'), ('done')) v (value)"
)
_READY, _TAKEN = 60, 50
_TAKE: Final = (
    "UPDATE {table} SET status = 'processing', started_at = now() - interval '20 m'"
    " WHERE id IN (SELECT id FROM {table} WHERE status = 'new' ORDER BY id LIMIT ?)"
)
# Without an index on the states, a scan runs every five seconds: the first finds the value, the next the figures.
_SCAN_S: Final = 5.0


@contextlib.contextmanager
def left_behind(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """Consumers popped messages 20 minutes ago, set a state that no row had before, and are gone."""
    assert layout.state == StateColumn("status", "new", done="done", learnt=True), layout.state
    began = time.time()
    query(lab.url, _TAKE.format(table=layout.queue), _TAKEN)
    yield (f"{_TAKEN}",)
    since = [queue for view in lab.since(began) if (queue := view.queue(layout.queue)) is not None]
    learnt = next((n for n, queue in enumerate(since) if queue.layout.state != layout.state), len(since))
    assert any(
        has(queue.in_progress.reason, SampleText.UNKNOWN_VALUES, listed="`processing`") for queue in since[:learnt]
    )
    assert all(queue.in_progress.value is None for queue in since[:learnt]), "unknown, not zero"
    query(lab.url, f"UPDATE {layout.queue} SET status = 'done'")  # all rows: no consumer pops the ready ones


CASES: Final = tuple(
    Case(cause, "stuck in progress", "status", left_behind, reads_s=2 * scan_s, clears_s=scan_s)
    for cause, scan_s in (("unknown state indexed", 0.0), ("unknown state scanned", _SCAN_S))
)


class ShapeLaboratory(Laboratory):
    """An application's table used as a queue: qmon knows it only by its shape, and nothing moves."""

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Create the table in its own database and watch it."""
        (case,) = self.cases
        database = f"shape_{secrets.token_hex(4)}"
        self.server.create_database(database)
        self.url = self.server.url(database)
        for statement in (_TABLE, *(() if case.clears_s else (_INDEX,)), _ROWS, "ANALYZE {table}"):
            query(self.url, statement.format(table=case.queue))
        with watching(self.url, interval_s=self.interval_s, budget=self.budget) as self.watched:
            found = self.watched.queue(case.queue, lambda queue: queue.ready.value == _READY)
            self.layouts = {case.queue: found.layout}
            self.began = len(self.watched.views)
            # Nothing moves, so this holds until qmon knows which value means in progress.
            self._storms.append((0.0, float("inf"), CANNOT_TELL))
            yield


def outcomes(server: EmbeddedServer, cases: Sequence[Case] = CASES, *, again: bool = False) -> list[Outcome]:
    """Inject each case into its own table at the same time. ``again``: see ``Laboratory.run``."""
    with ThreadPoolExecutor(len(cases), thread_name_prefix="shape") as pool:
        return list(pool.map(partial(_outcome, server, again=again), cases))


def _outcome(server: EmbeddedServer, case: Case, *, again: bool) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        lab = ShapeLaboratory(server, Path(folder), (case,), ())
        with lab.running():
            outcome = lab.one(case)
    # qmon does not forget the states it learned from a table, so a second try needs another table.
    return _outcome(server, case, again=False) if outcome.faults and again else outcome
