"""Opens what watches a target: the poller with its connections, for the dashboard, the commands and the demo alike."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from qmon.engines.base import Connection, Session, Target
from qmon.engines.registry import engine_for
from qmon.errors import Unreachable
from qmon.model.layout import Layout
from qmon.model.view import View
from qmon.monitor.history import History
from qmon.monitor.poller import Poller
from qmon.monitor.resolve import Resolved, resolve
from qmon.monitor.source import Event, Phase, SourceState

_ANSWER_S = 15.0


def open_poller(target: Target, layouts: Sequence[Layout] = (), *, interval_s: float = 2.0) -> Poller:
    """A poller for a target, not started yet.

    ``layouts``: the queues of the user's configuration; those of the registry, or found by shape, are added.
    Raises ``BadInput`` for an interval outside 0.5 to 60 seconds or a target of an unknown kind, and where only the
    server can tell its kind (a DSN) what connecting raises.
    """
    engine = engine_for(target)

    def connect(session: Session) -> Connection:
        return engine.connect(target, session)

    def find(connection: Connection) -> Resolved:
        return resolve(connection, engine, layouts)

    return Poller(target.name, engine, connect, find, interval_s, layouts)


def look(target: Target, layouts: Sequence[Layout] = (), *, over_s: float = 2.0) -> View:
    """The figures of a target, with rates over at least ``over_s`` seconds: what ``qmon status`` prints.

    Raises ``Unreachable`` where the target cannot be reached or does not answer in time.
    """
    history = History()
    done = threading.Event()
    views: list[View] = []
    problems: list[str] = []
    first_at: list[float] = []

    def sink(event: Event) -> None:
        if isinstance(event, SourceState):
            if event.phase is Phase.LOST:
                problems.append(event.reason)
                done.set()
            return
        first_at.append(event.sampled_at)
        views.append(history.add(event))
        if event.sampled_at - first_at[0] >= over_s - 0.05:
            done.set()

    poller = open_poller(target, layouts, interval_s=min(max(over_s / 2, 0.5), 2.0))
    poller.start(sink)
    try:
        done.wait(over_s + _ANSWER_S)
    finally:
        poller.close()
    if problems:
        raise Unreachable(problems[0])
    if not views:
        raise Unreachable(f"{target.name} does not answer")
    return views[-1]
