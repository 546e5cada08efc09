"""Faults of visibility: a permission is revoked."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from qmon.model.layout.layout import Layout
from tests.facts import query
from tests.laboratory.case import Case
from tests.laboratory.laboratory import Laboratory
from tests.queues import ENGINE


@contextlib.contextmanager
def revoked(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """qmon's role may no longer read the queue's table."""
    table = ENGINE.quote(layout.table.parts)
    query(lab.url, f"REVOKE SELECT ON {table} FROM qmon_monitor")
    yield ("GRANT SELECT ON", layout.table.name)
    query(lab.url, f"GRANT SELECT ON {table} TO qmon_monitor")


CASES = (Case("permission revoked", "cannot see", "fifo", revoked, configured=True),)
