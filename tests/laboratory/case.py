"""A case of the fault laboratory: what is injected into which queue, and what has to be said about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from qmon.model.layout.layout import Layout
from qmon.model.verdicts import EMPTY, HEALTHY, RULES

if TYPE_CHECKING:
    from tests.laboratory.laboratory import Laboratory

FINE: Final = frozenset({HEALTHY, EMPTY})
# A queue that keeps up, with little work for the machine: its consumers ask a dozen times a second.
LOAD: Final[Mapping[str, Any]] = {
    "producers": 1,
    "consumers": 1,
    "rate": 8.0,
    "pop_rate": 60.0,
    "message_bytes": 100,
    "own_processes": False,
    "idle_s": 0.1,
}
# The hold times, in seconds, of the verdicts that there are; they are the product's.
HOLDS: Final = {rule.code: rule.hold_s for rule in RULES}

# What says that a queue does not move looks back four seconds, on counters that come up to one late: the consumers of a
# case that take nothing go on asking, so their sessions are not idle (see `probes/counters.sql`).
LATELY_S: Final = 5.0

# Injects on entry, once it is there; gives what the proof must name; cures on exit, once it is gone.
Fault = Callable[["Laboratory", Layout], AbstractContextManager[Sequence[str]]]


@dataclass(frozen=True)
class Case:
    """One cause, injected into a queue of its own under live load.

    ``verdict``: what has to be said. ``reads_s``: so many seconds the readings behind it look back, as the product
    says (rates: their window); ``clears_s``: the same when the fault has gone. ``true_too``: what
    may be said besides, since it is true; ``load``: what differs from ``LOAD``; ``own_processes``: its consumers have a
    load of their own, that can be ended; ``everywhere``: it reaches the whole server, and may be said of every queue;
    ``priority``: the table gets a column of that name, with an index, 1 in every message that is pushed;
    ``configured``: the queue stands in the user's configuration, too.
    """

    cause: str
    verdict: str
    design: str
    fault: Fault
    reads_s: float = 0.0
    clears_s: float = 0.0
    true_too: frozenset[str] = frozenset()
    load: Mapping[str, Any] = field(default_factory=dict)
    ring_size: int = 1000
    timeout_s: float = 60.0
    own_processes: bool = False
    everywhere: bool = False
    priority: str = ""
    configured: bool = False

    @property
    def queue(self) -> str:
        """The queue's name."""
        return self.cause.replace(" ", "_").replace(",", "")

    @property
    def hold_s(self) -> float:
        """How long the sign has to last before it is said, in seconds."""
        return HOLDS[self.verdict]


@dataclass(frozen=True)
class Outcome:
    """What became of a case. ``said``: the code at the last poll that was allowed; ``faults``: all that was wrong.

    ``named_after_s``: from the fault to the poll that named it, on the server's clock.
    """

    cause: str
    verdict: str
    said: str
    proof: str = ""
    named_after_s: float | None = None
    late_polls: int = 0
    besides: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
