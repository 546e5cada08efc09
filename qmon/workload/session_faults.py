"""Faults caused by a separate session: locks on the oldest messages, and a transaction that holds back VACUUM."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

from qmon.engines.base import Bound, Engine, Target
from qmon.engines.sql import queries
from qmon.errors import QmonError
from qmon.model.layout.layout import Layout
from qmon.workload.member_thread import connect_as
from qmon.workload.workload_statements import WorkloadStatements


def hold_locks(
    engine: Engine, target: Target, stop: threading.Event, layout: Layout, application: str, rows: int, seconds: float
) -> None:
    """Lock the oldest ``rows`` messages for ``seconds`` in an idle open transaction, then roll back."""
    _keep_open(
        target,
        stop,
        application,
        seconds,
        lambda version: WorkloadStatements(engine, layout, version).hold_statement(rows),
    )


def pin_horizon(engine: Engine, target: Target, stop: threading.Event, application: str, seconds: float) -> None:
    """Hold a transaction open for ``seconds``, so that VACUUM cannot remove rows that die in the meantime."""

    def statement(version: tuple[int, int]) -> Bound:
        return Bound(queries.render(queries.load_query(engine.name, "action/workload/pin", version), {}, engine))

    _keep_open(target, stop, application, seconds, statement)


def _keep_open(
    target: Target,
    stop: threading.Event,
    application: str,
    seconds: float,
    statement: Callable[[tuple[int, int]], Bound],
) -> None:
    """Run a statement in a transaction that stays open, then roll back."""
    with (
        contextlib.suppress(QmonError, _RollBackError),
        contextlib.closing(connect_as(target, application)) as connection,
        connection.transaction(),
    ):
        connection.fetch(statement(connection.version))
        stop.wait(seconds)
        raise _RollBackError


class _RollBackError(Exception):
    """Raised to roll back the transaction of a fault."""
