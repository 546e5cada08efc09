"""Opens what watches a target: the poller with its connections, for the dashboard, the commands and the demo alike."""

from __future__ import annotations

from collections.abc import Sequence

from qmon.engines.base import Connection, Engine, Session, Target
from qmon.engines.registry import engine_for
from qmon.model.budget import Budget
from qmon.model.groups.configured import ConfiguredQueue
from qmon.monitor.background.catalog_reading import Resolve
from qmon.monitor.catalog.resolve import Resolved, resolve
from qmon.monitor.poll.poller import POLL, Poller


def open_poller(
    target: Target,
    layouts: Sequence[ConfiguredQueue] = (),
    *,
    interval_s: float = 2.0,
    budget: Budget | None = None,
    within_s: float | None = None,
    first: Connection | None = None,
) -> Poller:
    """A poller for a target, not started yet.

    ``layouts``: the queues of the user's configuration; those of the registry, or found by shape, are added.
    ``budget``: what polling may cost the server; without one that of the target. ``within_s``: it is closed after
    so many seconds, in which nothing is begun that takes longer.
    ``first``: a connection for the session ``POLL``, which becomes the poller's first.
    Raises ``BadInput`` for an interval outside 0.5 to 60 seconds or a target of an unknown kind, and where only the
    server can tell its kind (a DSN) what connecting raises.
    """
    engine = engine_for(target)

    open_already = [first] if first is not None else []

    def connect(session: Session) -> Connection:
        return open_already.pop() if session is POLL and open_already else engine.connect(target, session)

    budget = budget or target.budget
    find = resolving(engine, layouts)
    return Poller(target.name, engine, connect, find, interval_s, budget=budget, within_s=within_s)


def resolving(engine: Engine, layouts: Sequence[ConfiguredQueue]) -> Resolve:
    """How a poller finds its queues where the configuration names these."""

    def find(connection: Connection, before: Resolved) -> Resolved:
        return resolve(connection, engine, layouts, before=before)

    return find
