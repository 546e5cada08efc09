"""Faults that a session of its own causes: locks on the head, and a transaction that pins the horizon."""

from __future__ import annotations

import contextlib
import threading

from qmon.engines.base import Bound, Engine, Target
from qmon.engines.sql import queries
from qmon.errors import QmonError
from qmon.model.layout.layout import Layout
from qmon.workload.member import connect
from qmon.workload.statements import Statements


def hold(
    engine: Engine, target: Target, stop: threading.Event, layout: Layout, application: str, rows: int, seconds: float
) -> None:
    """Lock the oldest ``rows`` messages for ``seconds``, idle in an open transaction; then roll back."""
    with contextlib.suppress(QmonError, _OverError):
        connection = connect(target, application)
        try:
            statements = Statements(engine, layout, connection.version)
            with connection.transaction():
                connection.fetch(statements.hold(rows))
                stop.wait(seconds)
                raise _OverError
        finally:
            connection.close()


def pin(engine: Engine, target: Target, stop: threading.Event, application: str, seconds: float) -> None:
    """Hold a transaction open for ``seconds``: VACUUM can remove nothing that dies meanwhile."""
    with contextlib.suppress(QmonError, _OverError):
        connection = connect(target, application)
        try:
            query = queries.load(engine.name, "action/workload/pin", connection.version)
            with connection.transaction():
                connection.fetch(Bound(queries.render(query, {}, engine)))
                stop.wait(seconds)
                raise _OverError
        finally:
            connection.close()


class _OverError(Exception):
    """Ends the transaction of a fault: nothing of it is kept."""
