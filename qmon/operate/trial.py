"""A queue for a trial: a design's objects in a schema of its own, known to no registry."""

from __future__ import annotations

from qmon.engines import queries
from qmon.engines.base import Bound, Connection, Engine
from qmon.model.layout import DEFAULT_TIMEOUT_S, Layout
from qmon.operate import naming
from qmon.operate.install import DEFAULT_RING_SIZE, SUBSCRIBED, numbers
from qmon.operate.shapes import layout_of


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
    files = queries.design_files(engine.name, design, connection.version)
    objects = naming.slots(files)
    readers = 1 if design == SUBSCRIBED else 0
    objects += naming.subscriber_sequences(readers)
    naming.check(engine.name, design, schema, queue, objects)
    with connection.transaction():
        for file in files:
            names = naming.names(file, schema, queue, numbers(ring_size, readers))
            connection.execute(Bound(queries.render(file, names, engine)))
    return layout_of(
        design,
        schema,
        queue,
        objects=objects,
        size=ring_size,
        subscribers=readers,
        timeout_s=DEFAULT_TIMEOUT_S,
        owner_held_while_working=False,
    )
