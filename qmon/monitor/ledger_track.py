"""The ledger of one queue over several polls: whether a number that has no message can still get one."""

from __future__ import annotations

from typing import Final

from qmon.model.ledger import Ledger, ring_ledger, span_ledger
from qmon.model.snapshot import QueueSamples
from qmon.model.view import Figure

_OLD_S: Final = 1.0
"""A message that stays where it is for so long, with no popper's transaction as old as that, is nobody's."""


class LedgerTrack:
    """Not thread-safe: one thread folds."""

    def __init__(self) -> None:
        self._free_up_to: int | None = None
        """The last number drawn in a poll after whose reading no open transaction had drawn any; ``None``: some had."""

    def add(
        self, q: QueueSamples, ready: Figure, held: int | None, span: Figure, orphans: int, *, unbroken: bool
    ) -> Ledger | None:
        """The ledger of this poll; ``None`` where it cannot be told.

        Args:
            q: the samples; who has drawn numbers is read after them, in the same poll.
            ready: messages ready now.
            held: messages that running pops hold, ``None`` where nothing tells.
            span: the numbers from the oldest ready message to the last issued, of queues that are no rings.
            orphans: messages known to be orphaned.
            unbroken: this poll follows the one before without a gap or a restart.
        """
        last = q.ring.push_last if q.ring is not None else q.last_id
        settled = unbroken and last is not None and last == self._free_up_to
        drawers = q.clues.push_drawers
        self._free_up_to = last if drawers is not None and not drawers else None
        if q.ring is not None:
            return ring_ledger(q.ring, 0 if _may_be_held(q) else orphans, settled=settled)
        if span.value is None or ready.value is None or ready.at_least or held is None or q.left_out:
            return None
        return span_ledger(round(span.value), ready.value, held, estimated=ready.estimated, settled=settled)


def _may_be_held(q: QueueSamples) -> bool:
    """Whether what looks like an orphan may be in the hands of a popper whose transaction is open for long."""
    drawers = q.clues.pop_drawers
    return drawers is None or any(d.transaction_s is None or d.transaction_s >= _OLD_S for d in drawers)
