"""Ledger of the gap: what became of the numbers that pushers have drawn and poppers have not finished with.

The parts always add up to the whole, since the whole is what was counted in the same statement. A number that was drawn
and has no message belongs to a push that is not committed yet, was rolled back, or was burnt by a cache or a restart.
Which of them nobody can tell as long as a transaction that has drawn numbers is open: then it is one sum. Once none is,
and nothing was drawn since, what has no message will not get one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from qmon.model.samples.polled import RingSample

READY: Final = "ready"
# Taken by a popper that has not committed.
IN_FLIGHT: Final = "in flight"
# Drawn by a popper that is gone.
ORPHANED: Final = "orphaned"
UNCLEAR: Final = "not committed, or burnt"
BURNT: Final = "rolled back or burnt"
AHEAD_UNCLEAR: Final = "ahead, burnt or not committed"
# Of a queue that is not a ring: also what was popped although an older message is still there.
AHEAD_BURNT: Final = "ahead, or burnt"


@dataclass(frozen=True, slots=True)
class LedgerPart:
    """How many numbers had the same fate, and which."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Ledger:
    """The parts in order, zeros included. ``estimated``: the number of ready messages was not counted exactly."""

    parts: tuple[LedgerPart, ...]
    estimated: bool = False

    @property
    def total(self) -> int:
        """Numbers drawn by pushers that poppers have not finished with."""
        return sum(part.count for part in self.parts)

    def count(self, name: str) -> int | None:
        """The count of one part; ``None`` where this ledger does not have it."""
        return next((part.count for part in self.parts if part.name == name), None)


def ring_ledger(ring: RingSample, orphans: int = 0, *, settled: bool = False) -> Ledger:
    """The ledger of a ring.

    The numbers beyond the pop position are ready or have no message; those up to it are in flight, orphaned, or have no
    message either. Numbers that poppers have drawn ahead of all pushers are no messages and left out.

    Args:
        ring: positions and slots, from one statement.
        orphans: messages known to be orphaned.
        settled: nobody can push any number that has been drawn.
    """
    beyond = max(0, ring.span)
    early = max(0, ring.pop_last - ring.push_last)
    ready = max(0, beyond - ring.push_open_ahead)
    without = beyond - ready + max(0, ring.pop_waiting - early)
    return Ledger(
        (
            LedgerPart(READY, ready),
            LedgerPart(IN_FLIGHT, max(0, ring.pop_held - orphans)),
            LedgerPart(ORPHANED, max(0, orphans)),
            LedgerPart(BURNT if settled else UNCLEAR, without),
        )
    )


def span_ledger(span: int, ready: float, held: int, *, estimated: bool = False, settled: bool = False) -> Ledger:
    """The ledger of a queue with ids: of the numbers from the oldest ready message to the last that was issued.

    Args:
        span: how many numbers these are.
        ready: messages ready and not held by a popper.
        held: messages that running pops hold.
        estimated: ``ready`` was carried on from an earlier count.
        settled: no transaction that has drawn a number is open, and none was drawn since that is known.
    """
    in_flight = min(max(0, held), span)
    known = min(max(0, round(ready)), span - in_flight)
    rest = span - in_flight - known
    return Ledger(
        (
            LedgerPart(READY, known),
            LedgerPart(IN_FLIGHT, in_flight),
            LedgerPart(AHEAD_BURNT if settled else AHEAD_UNCLEAR, rest),
        ),
        estimated,
    )
