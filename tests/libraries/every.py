"""The libraries whose real workers these tests run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.libraries.firm_queue import firm_queue
from tests.libraries.graphile import Graphile
from tests.libraries.library import Library
from tests.libraries.oban import oban
from tests.libraries.pgboss import PgBoss
from tests.libraries.pgmq import pgmq
from tests.libraries.pgqueuer import pgqueuer
from tests.libraries.procrastinate import procrastinate

LIBRARIES: Final[list[Callable[[], Library]]] = [procrastinate, pgqueuer, oban, firm_queue, pgmq, PgBoss, Graphile]


# Their tables do not show the queue of a done job.
MIXED: Final = frozenset({"graphile-worker"})
