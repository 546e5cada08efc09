"""The plan of a bench: designs, sessions, duration and parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from qmon.errors import BadInput
from qmon.model.layout.designs import TRAITS
from qmon.model.layout.layout import Layout
from qmon.texts import Text


class BenchPlanText(Text):
    """Why a bench is not possible."""

    NOTHING = "a bench needs at least one design and one part"
    SESSIONS = "a bench needs at least 1 producer and 1 consumer, and at most {limit} in total"
    SECONDS = "a run must last more than 0 seconds and at most one day, not {seconds:g} s"
    MESSAGE_BYTES = "a message must have 1 to 1,000,000 bytes, not {bytes:,}"
    BATCH = "a batch must have 1 to 10,000 messages"
    NO_DESIGN = "cannot measure the design {design!r} here; available: {designs}"


MAX_SESSIONS: Final = 500
MAX_SECONDS: Final = 24 * 3600.0
DEQUEUE_DESIGNS: Final = ("batch_single", "batch_split", "batch_fast")
DEQUEUE_BATCHES: Final = (10, 100)
REFERENCE: Final = "naive"


class Part(StrEnum):
    """The parts of a bench."""

    HEALTHY = "healthy"
    # The same load while one transaction is open from beginning to end, so that the server can remove no dead row.
    OPEN_TRANSACTION = "held"
    # Buffers per batch of the three batch designs, without other load.
    DEQUEUE = "dequeue"


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """A whole bench. Times are in seconds.

    - ``ahead``: how many messages producers may be ahead of consumers at batch size one, so that every design works at
      the same depth.
    - ``rows``: messages in the queue of the dequeue part.
    - ``payload_bytes``: the largest message of the dequeue part.
    """

    designs: tuple[str, ...]
    producers: int = 8
    consumers: int = 8
    seconds: float = 10.0
    warm_up_s: float = 1.0
    message_bytes: int = 300
    batches: tuple[int, ...] = (1, 10, 100)
    ring_size: int = 10_000
    ahead: int = 2_000
    rows: int = 40_000
    payload_bytes: int = 16_000
    parts: tuple[Part, ...] = tuple(Part)

    def check_possible(self) -> None:
        """Raise ``BadInput`` if the plan is not possible."""
        if not self.designs or not self.parts:
            raise BadInput(BenchPlanText.NOTHING)
        if self.producers < 1 or self.consumers < 1 or self.producers + self.consumers > MAX_SESSIONS:
            raise BadInput(BenchPlanText.SESSIONS.render(limit=MAX_SESSIONS))
        if not 0 < self.seconds <= MAX_SECONDS:
            raise BadInput(BenchPlanText.SECONDS.render(seconds=self.seconds))
        if not 1 <= self.message_bytes <= 1_000_000:
            raise BadInput(BenchPlanText.MESSAGE_BYTES.render(bytes=self.message_bytes))
        if not self.batches or any(not 1 <= batch <= 10_000 for batch in self.batches):
            raise BadInput(BenchPlanText.BATCH)

    def cases_under_load(self) -> tuple[Case, ...]:
        """Return the runs under load, part by part.

        Runs with batches are included for all designs. They are skipped when the installed design has no batches.
        """
        return tuple(
            Case(design, batch, part is Part.OPEN_TRANSACTION)
            for part in self.parts
            if part is not Part.DEQUEUE
            for batch in self.batches
            for design in self.designs
        )

    def cases_of_dequeue_part(self) -> tuple[tuple[str, int], ...]:
        """Return design and batch of each run of the dequeue part."""
        if Part.DEQUEUE not in self.parts:
            return ()
        return tuple(
            (design, batch) for batch in DEQUEUE_BATCHES for design in DEQUEUE_DESIGNS if design in self.designs
        )


@dataclass(frozen=True, slots=True)
class Case:
    """One run under load: the design, the messages per call, and whether a transaction is open during the whole run."""

    design: str
    batch: int
    held: bool

    def is_possible(self, layout: Layout) -> bool:
        """Return whether the design has the routines that the run calls."""
        return self.batch == 1 or bool(layout.routine_for("push_batch") and layout.routine_for("pop_batch"))

    @property
    def completes(self) -> bool:
        """Whether popped messages are completed by a separate call."""
        return TRAITS[self.design].completes


class ProducerLead(NamedTuple):
    """How far producers may be ahead of consumers, in steps of ``messages_per_step`` messages."""

    messages_per_step: int
    max_steps_ahead: int


def producer_lead_limit(plan: BenchPlan, batch: int, ring_size: int | None) -> ProducerLead:
    """Return the messages per step of the gate, and how many steps producers may be ahead of consumers.

    The number of steps is at least one for each session, so that each session may have an unfinished step. The steps
    cover at most half of a ring with ``ring_size`` slots.
    """
    unit = max(16, batch)
    messages = plan.ahead + (50 * batch if batch > 1 else 0)
    if ring_size is not None:
        unit = max(1, min(unit, ring_size // 64))
        messages = min(messages, ring_size // 2)
    return ProducerLead(unit, max(1, messages // unit))


def choose_designs(requested: Sequence[str], available: Sequence[str]) -> tuple[str, ...]:
    """Return the designs that the user named, or all designs if the user named none.

    Raises ``BadInput`` for a design that does not exist.
    """
    for design in requested:
        if design not in available:
            raise BadInput(BenchPlanText.NO_DESIGN.render(design=design, designs=", ".join(available)))
    names = dict.fromkeys(requested or available)
    return tuple(sorted(names, key=lambda name: (name != REFERENCE, tuple(names).index(name))))
