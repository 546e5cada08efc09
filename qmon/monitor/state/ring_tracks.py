"""Find the messages that a ring has lost, from many partial sweeps, and compute the ledger of its numbers."""

from __future__ import annotations

from typing import Final

from qmon.model.evidence import RingLoss
from qmon.model.figure import Figure
from qmon.model.gap_ledger import Ledger, ring_ledger, span_ledger
from qmon.model.samples.message_samples import DrawerSample, MessageDiagnostics, SweepSample
from qmon.model.snapshot import QueueSamples

# A message that has not moved for this many seconds is orphaned, unless a consumer's transaction is as old.
_OLD_S: Final = 1.0


class LedgerTrack:
    """The ledger of one queue. Not thread-safe."""

    def __init__(self) -> None:
        # The last number taken, if the last poll found no open transaction that had taken numbers; otherwise `None`.
        self._free_up_to: int | None = None

    def record_poll(
        self, samples: QueueSamples, ready: Figure, held: int | None, span: Figure, orphans: int, *, unbroken: bool
    ) -> Ledger | None:
        """Return the ledger of this poll; ``None`` if it is not known.

        Args:
            samples: the samples of the queue. After the samples, the same poll reads the transactions that have taken
                numbers.
            ready: messages ready now.
            held: messages that running pops hold; ``None`` if unknown.
            span: for queues that are not rings, the id span from the oldest ready message to the last issued id.
            orphans: messages known to be orphaned.
            unbroken: this poll follows the previous one without a gap or a restart.
        """
        last = samples.ring.push_last if samples.ring is not None else samples.last_id
        settled = unbroken and last is not None and last == self._free_up_to
        drawers = samples.diagnostics.push_drawers
        self._free_up_to = last if drawers is not None and not drawers else None
        if samples.ring is not None:
            return ring_ledger(samples.ring, 0 if _may_be_held(samples) else orphans, no_open_pushes=settled)
        if span.value is None or ready.value is None or ready.at_least or held is None or samples.left_out:
            return None
        return span_ledger(round(span.value), ready.value, held, estimated=ready.estimated, no_open_pushes=settled)


def _may_be_held(samples: QueueSamples) -> bool:
    """Return whether a consumer whose transaction has been open for a long time may hold an apparent orphan."""
    drawers = samples.diagnostics.pop_drawers
    return drawers is None or any(d.transaction_s is None or d.transaction_s >= _OLD_S for d in drawers)


_SWEPT: Final = 1000


class RingTrack:
    """The sweeps of one ring. Not thread-safe."""

    def __init__(self) -> None:
        self._sweeps: dict[int, SweepSample] = {}
        self._before: dict[int, SweepSample] = {}
        self._hole: tuple[int, float] | None = None

    def record_poll(self, messages: MessageDiagnostics, size: int, at: float) -> RingLoss | None:
        """Record one poll at ``at`` (server clock, seconds) and return the losses; ``None`` without a sweep."""
        sweep = messages.sweep
        if sweep is None:
            return None
        if sweep.from_slot in self._sweeps:
            self._before[sweep.from_slot] = self._sweeps[sweep.from_slot]
        self._sweeps[sweep.from_slot] = sweep
        orphans, orphan, orphan_s = self._find_orphans()
        hole = self._first_hole(at)
        since = hole[1] if hole is not None else at
        return RingLoss(
            hole[0] if hole is not None else None,
            at - since,
            _oldest_drawer(messages.push_drawers, at - since),
            orphans,
            orphan,
            orphan_s,
            min(1.0, len(self._sweeps) * _SWEPT / size),
            _oldest_drawer(messages.pop_drawers, 0.0) if orphans else None,
        )

    def _first_hole(self, at: float) -> tuple[int, float] | None:
        """Return the first number that consumers have taken and that has no message, and the time when it was found."""
        found = [s.hole for s in self._sweeps.values() if s.hole is not None and s.hole <= s.pop_last]
        first = min(found, default=None)
        if first is None:
            self._hole = None
        elif self._hole is None or self._hole[0] != first:
            self._hole = (first, at)
        return self._hole

    def _find_orphans(self) -> tuple[int, int | None, float | None]:
        """Return the number of orphans in slots that were swept twice, and the first orphan with its age in seconds."""
        count, first, age = 0, None, None
        for start, now in self._sweeps.items():
            before = self._before.get(start)
            if before is None or not before.orphans or not now.orphans or before.orphan != now.orphan:
                continue
            count += min(before.orphans, now.orphans)
            if now.orphan is not None and (first is None or now.orphan < first):
                first, age = now.orphan, now.orphan_s
        return count, first, age


def _oldest_drawer(drawers: tuple[DrawerSample, ...] | None, seen_s: float) -> DrawerSample | None:
    """Return the oldest transaction that has taken a number and began before the hole appeared.

    This transaction may have taken the missing number.
    """
    older = [d for d in drawers or () if d.transaction_s is None or d.transaction_s >= seen_s]
    return max(
        older, key=lambda drawer: float("inf") if drawer.transaction_s is None else drawer.transaction_s, default=None
    )
