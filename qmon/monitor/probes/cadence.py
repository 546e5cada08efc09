"""Intervals, in seconds, of probes that do not run in each poll. Expensive probes run even less often."""

from __future__ import annotations

from typing import Final

# Scheduled and dead messages.
COUNTING_S: Final = 10.0

# Scheduled and dead messages of a queue that is only checked for messages.
COUNTING_BRIEF_S: Final = 30.0

# Statistics and sizes of tables.
STATISTICS_S: Final = 10.0

# Sizes, if the queues are read in turns because there are many.
SIZES_TURN_S: Final = 60.0
