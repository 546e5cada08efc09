"""Compare the pops counted from updates with the number of messages that left ``ready``."""

from __future__ import annotations

from collections import deque
from typing import Final

from qmon.model.rates.committed_rows import CommittedWork
from qmon.model.rates.flow import Flow, moves_of_state
from qmon.model.snapshot import QueueSamples
from qmon.monitor.state.rates.standing_counters import RECENT_S, ready_rows

# A session that works reports its counters within this many seconds.
_REPORTED_S: Final = 2.5

# At most this number of messages, plus this share of the counted pops, may leave without a counted pop.
_LEAST: Final = 5.0
_SHARE: Final = 0.25


class ReadyBalance:
    """The pops of one queue with states, counted in two ways.

    ``table_flow`` assumes that every update is a pop or the end of a pop. If a consumer finishes a ready message with a
    single update, that update counts as half a pop. The number of ready messages reveals this error, because more
    messages leave than are popped.
    """

    def __init__(self) -> None:
        # Per poll: server clock (s), messages that left ready, counted pops.
        self._polls: deque[tuple[float, float, float]] = deque()

    def start_over(self) -> None:
        """Start over after a gap or a counter reset."""
        self._polls.clear()

    def record_flow(
        self, before: QueueSamples, samples: QueueSamples, work: CommittedWork, flow: Flow, at: float
    ) -> None:
        """Record one poll, at ``at`` (server clock, seconds).

        After a poll without exact figures, earlier polls are forgotten.
        """
        then, now, layout = ready_rows(before), ready_rows(samples), samples.layout
        exact = work.exact and layout.due_at is None and moves_of_state(work, layout) is not None
        if then is None or now is None or flow.popped is None or not exact:
            self._polls.clear()
            return
        # Deleted rows may have been ready. Messages given back are ready again, so they reduce the number that left.
        self._polls.append((at, work.inserted - (now - then) - work.deleted, flow.popped))

    def has_uncounted_pops(self, at: float) -> bool:
        """Return whether more messages have left ``ready`` in the last seconds than were popped or deleted."""
        while self._polls and at - self._polls[0][0] > RECENT_S:
            self._polls.popleft()
        left = sum(left for polled_at, left, _ in self._polls if at - polled_at >= _REPORTED_S)
        popped = sum(popped for _, _, popped in self._polls)
        return left > popped * (1 + _SHARE) + _LEAST
