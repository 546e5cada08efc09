"""Open a poller with its connections, for the dashboard, the commands and the demo."""

from __future__ import annotations

from collections.abc import Sequence

from qmon.engines.base import Connection, Engine, Session, Target
from qmon.engines.registry import engine_for
from qmon.model.cost_budget import Budget
from qmon.model.groups.configured_queue import ConfiguredQueue
from qmon.monitor.background.catalog_reading import Resolve
from qmon.monitor.catalog.resolve import Resolved, resolve_queues
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
    """Return a poller for a target, without starting it.

    ``layouts``: the queues of the user's configuration. The poller also watches queues of the registry, or tables that
    look like queues. ``budget``: what polling may cost the server; by default the budget of the target. ``within_s``:
    seconds until the poller will be closed; counts that take longer are not started. ``first``: an open connection for
    the session ``POLL``, which the poller uses first. Raises ``BadInput`` for an interval outside 0.5 to 60 seconds or
    a target of unknown kind. If only the server can tell the kind (a DSN), raises the errors of connecting.
    """
    engine = engine_for(target)

    open_already = [first] if first is not None else []

    def connect(session: Session) -> Connection:
        return open_already.pop() if session is POLL and open_already else engine.connect(target, session)

    budget = budget or target.budget
    find = resolver_for(engine, layouts)
    return Poller(target.name, engine, connect, find, interval_s, budget=budget, within_s=within_s)


def resolver_for(engine: Engine, layouts: Sequence[ConfiguredQueue]) -> Resolve:
    """Return the function with which a poller finds its queues. ``layouts``: the queues of the configuration."""

    def find(connection: Connection, before: Resolved) -> Resolved:
        return resolve_queues(connection, engine, layouts, before=before)

    return find
