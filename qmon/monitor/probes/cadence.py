"""How often, in seconds, what is not part of each poll is read; less often still where it costs too much."""

from __future__ import annotations

from typing import Final

# Scheduled and dead messages.
COUNTING_S: Final = 10.0
# The same of a queue that is only asked whether it has messages.
COUNTING_BRIEF_S: Final = 30.0
# Statistics and sizes of tables.
STATISTICS_S: Final = 10.0
# Sizes, where queues are so many that they are read in turns.
SIZES_TURN_S: Final = 60.0
