"""What polls, which read the probes, and the fold of snapshots must agree on: names, limits and intervals of probes.

Intervals are in seconds. Probes without an interval are read in each poll. Expensive probes run less often.
"""

from __future__ import annotations

from typing import Final

from qmon.model.layout.layout import Layout

# Interval of scheduled and dead messages.
COUNTING_S: Final = 10.0

# Interval of scheduled and dead messages of a queue that is only checked for messages.
COUNTING_BRIEF_S: Final = 30.0

# Interval of statistics and sizes of tables.
STATISTICS_S: Final = 10.0

# Interval of sizes, if the queues are read in turns because there are many.
SIZES_TURN_S: Final = 60.0

# Interval of the locks of all queues (SQL Server).
LOCKS_S: Final = 15.0

# Ready, in-progress and dead messages are counted exactly up to this number in each poll.
COUNT_LIMIT: Final = 1000

# At least this many rows, from the head on, are checked for transactions that hold rows.
HELD_AT_LEAST: Final = 200

# The probe that counts blocked messages of a table with a state column: `in_state` with another value.
BLOCKED_PROBE: Final = "blocked"

# The probe that reads counters and usage of tables with a single statement (SQL Server).
TABLE_COUNTERS_PROBE: Final = "table_counters"


def ring_probe(layout: Layout) -> str:
    """Return the probe that reads the positions of a ring. A separate probe sweeps its slots."""
    ring = layout.ring
    if ring is not None and ring.subscribers and ring.unread is not None:
        return "ring_subscribers"
    return "ring" if ring is not None and ring.turn is not None else "ring_classic"
