"""Cases of the fault laboratory: which fault is injected into which queue, and the verdict qmon must raise."""

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
# A queue that keeps up and costs the machine little: its consumers poll a dozen times a second.
LOAD: Final[Mapping[str, Any]] = {
    "producers": 1,
    "consumers": 1,
    "rate": 8.0,
    "pop_rate": 60.0,
    "message_bytes": 100,
    "own_processes": False,
    "idle_s": 0.1,
}
# The hold times of the product's verdicts, in seconds.
HOLDS: Final = {rule.code: rule.hold_s for rule in RULES}

# The evidence that a queue does not move covers the last four seconds, and the counters lag by up to one second. Idle
# consumers of a case keep polling, so their sessions are not idle (see `probes/counters.sql`).
LATELY_S: Final = 5.0

# Injects the fault on entry and returns once it is in place. Yields regular expressions that the proof must match.
# Cures the fault on exit and returns once it is gone.
Fault = Callable[["Laboratory", Layout], AbstractContextManager[Sequence[str]]]


@dataclass(frozen=True)
class Case:
    """One cause, injected into a queue of its own under live load.

    ``verdict``: the verdict that must be raised. ``reads_s``: how far back its readings look, in seconds (for rates:
    their window). ``clears_s``: the same after the fault is gone. ``true_too``: other verdicts that may be raised
    because they are true. ``load``: what differs from ``LOAD``. ``own_processes``: its consumers have a load of their
    own that the fault can stop. ``everywhere``: it affects the whole server and may be reported for every queue.
    ``priority``: the table gets an indexed column of this name, with the value 1 in every pushed message.
    ``error``: the table gets a column of this name for the last error of a message.
    ``max_attempts``: pops after which a failed message is dead; ``None``: the default of the design.
    ``alone``: it affects other queues or takes much time, so it runs on a server of its own.
    ``configured``: the queue is also in the user's configuration.
    ``patient``: its readings cover minutes, so a machine with other work does not change its outcome.
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
    error: str = ""
    configured: bool = False
    max_attempts: int | None = None
    alone: bool = False
    patient: bool = False

    @property
    def queue(self) -> str:
        return self.cause.replace(" ", "_").replace(",", "")

    @property
    def hold_s(self) -> float:
        """How long the evidence must last before the verdict is raised, in seconds."""
        return HOLDS[self.verdict]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case. ``said``: the verdict at the last poll allowed. ``faults``: everything that was wrong.

    ``named_after_s``: from the fault to the first poll with the verdict, by the server's clock.
    """

    cause: str
    verdict: str
    said: str
    proof: str = ""
    named_after_s: float | None = None
    late_polls: int = 0
    besides: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
