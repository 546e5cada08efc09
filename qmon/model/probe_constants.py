"""Names and limits of probes, on which polls, which read the probes, and the fold of snapshots must agree."""

from __future__ import annotations

from typing import Final

from qmon.model.layout.layout import Layout

# Maximum seconds between two readings of the locks of all queues (SQL Server).
LOCKS_S: Final = 15.0

# Ready, in-progress and dead messages are counted exactly up to this number in each poll.
COUNT_LIMIT: Final = 1000

# At least this many rows, from the head on, are checked for transactions that hold rows.
HELD_AT_LEAST: Final = 200

# The probe that reads counters and usage of tables with a single statement (SQL Server).
TABLE_COUNTERS_PROBE: Final = "table_counters"


def ring_probe(layout: Layout) -> str:
    """Return the probe that reads the positions of a ring. A separate probe sweeps its slots."""
    ring = layout.ring
    if ring is not None and ring.subscribers and ring.unread is not None:
        return "ring_subscribers"
    return "ring" if ring is not None and ring.turn is not None else "ring_classic"
