"""A queue for a trial: a design's objects in a schema of its own, known to no registry."""

from __future__ import annotations

from qmon.engines.base import Bound, Connection, Engine
from qmon.engines.sql import queries
from qmon.model.layout.layout import Layout
from qmon.operate.install.install import DEFAULT_RING_SIZE, SUBSCRIBED, prepare


def place(
    connection: Connection,
    engine: Engine,
    design: str,
    *,
    schema: str,
    queue: str,
    ring_size: int = DEFAULT_RING_SIZE,
) -> Layout:
    """Create what a design consists of in a schema that is there, in one transaction, and return its layout.

    Nothing is registered: whoever drops the schema has taken the queue away. ``ring_size`` is in slots; a ring has one
    subscriber.
    Raises ``BadInput`` for a design or a name that is not possible, and what the server raises.
    """
    readers = 1 if design == SUBSCRIBED else None
    ready = prepare(
        engine, connection.version, design, schema=schema, queue=queue, ring_size=ring_size, subscribers=readers
    )
    with connection.transaction():
        for file in ready.files:
            connection.execute(Bound(queries.render(file, ready.names(file), engine)))
    return ready.layout
