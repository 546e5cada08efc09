"""Ledger of the gap: the state of the numbers that producers have drawn and consumers have not finished.

The parts always add up to the total, because one statement counts the parts and the total. A drawn number has no
message if its push is not committed yet or was rolled back, or if a sequence cache or a restart skipped the number.
While a transaction that has drawn numbers is open, qmon cannot distinguish these cases, so they are one part of the
ledger. If no such transaction was open when qmon read the transactions, and no number has been drawn since, the numbers
without a message will never get a message.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from qmon.model.samples.polled_samples import RingSample

READY: Final = "ready"

# Numbers taken by a consumer that has not committed.
IN_FLIGHT: Final = "in flight"

# Numbers drawn by a consumer that is gone.
ORPHANED: Final = "orphaned"
UNCLEAR: Final = "uncommitted or skipped"
SKIPPED: Final = "rolled back or skipped"

# If the queue is not a ring, the last part includes messages that were popped before an older message.
POPPED_UNCLEAR: Final = "popped, uncommitted or skipped"
POPPED_SKIPPED: Final = "popped, rolled back or skipped"


@dataclass(frozen=True, slots=True)
class LedgerPart:
    """One part of the gap: the number of drawn numbers in one state."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Ledger:
    """The parts of the gap in order, including parts of 0.

    ``estimated``: true if the number of ready messages was not counted exactly.
    """

    parts: tuple[LedgerPart, ...]
    estimated: bool = False

    @property
    def total(self) -> int:
        """How many numbers producers have drawn and consumers have not finished."""
        return sum(part.count for part in self.parts)

    def count_for(self, name: str) -> int | None:
        """Return the count of one part, or ``None`` if this ledger does not have it."""
        return next((part.count for part in self.parts if part.name == name), None)


def ring_ledger(ring: RingSample, orphan_count: int = 0, *, no_open_pushes: bool = False) -> Ledger:
    """Return the ledger of a ring.

    Numbers beyond the pop position are ready or have no message. Numbers up to the pop position are in flight, are
    orphaned or have no message. If consumers have drawn more numbers than producers, these numbers are left out.

    Args:
        ring: positions and slots, from one statement.
        orphan_count: messages known to be orphaned.
        no_open_pushes: true if no drawn number can be pushed any more.
    """
    beyond = max(0, ring.span)
    early = max(0, ring.pop_last - ring.push_last)
    ready = max(0, beyond - ring.push_open_ahead)
    without = beyond - ready + max(0, ring.pop_waiting - early)
    return Ledger(
        (
            LedgerPart(READY, ready),
            LedgerPart(IN_FLIGHT, max(0, ring.pop_held - orphan_count)),
            LedgerPart(ORPHANED, max(0, orphan_count)),
            LedgerPart(SKIPPED if no_open_pushes else UNCLEAR, without),
        )
    )


def span_ledger(
    drawn_count: int, ready: float, held: int, *, estimated: bool = False, no_open_pushes: bool = False
) -> Ledger:
    """Return the ledger of a queue with ids: the numbers from the oldest ready message to the last number issued.

    Args:
        drawn_count: how many numbers there are from the oldest ready message to the last number issued.
        ready: messages that are ready and not held by a consumer.
        held: messages held by running pops.
        estimated: true if ``ready`` is extrapolated from an earlier count.
        no_open_pushes: true if no transaction that has drawn a number was open when transactions were read, and no
            number was drawn since then.
    """
    in_flight = min(max(0, held), drawn_count)
    known = min(max(0, round(ready)), drawn_count - in_flight)
    rest = drawn_count - in_flight - known
    return Ledger(
        (
            LedgerPart(READY, known),
            LedgerPart(IN_FLIGHT, in_flight),
            LedgerPart(POPPED_SKIPPED if no_open_pushes else POPPED_UNCLEAR, rest),
        ),
        estimated,
    )
