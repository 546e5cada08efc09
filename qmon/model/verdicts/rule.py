"""Rule: what makes a verdict, as data and one pure function; ``RuleInput``: all that the function may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from qmon.model.evidence import NO_QUEUE_EVIDENCE, NO_TARGET_EVIDENCE, QueueEvidence, TargetEvidence
from qmon.model.figure import Figure, Severity
from qmon.model.layout.layout import Layout
from qmon.model.operations import Pause, Side
from qmon.model.rates.flow import pops_in_transaction
from qmon.model.reasons import Reason
from qmon.model.snapshot import ProbeFailure, QueueSamples, Snapshot
from qmon.model.waits.locked import Locked

_UNREAD: Final = Figure.unknown(Reason.NOT_READ)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleInput:
    """The figures of one queue now, the samples behind them, and what was learnt over time.

    Rates are messages per second over the window of the screens; ``net_rate`` is the change of ``ready``.
    ``recent_pop_rate`` and ``completes`` are over the last few seconds, so that a remedy shows at once. ``locked``:
    the session that locks it all. ``samples`` and ``snapshot``: those of this poll; ``target`` and ``queue``: evidence
    that needs more than one poll or is about more than one queue. ``last_seen_at``: of a queue that is gone, when it
    was last read, server clock, seconds. ``rates_follow``: rates are not known in this poll, and will be in the next.
    ``pops_unseen``: messages were popped, or may have been, without a rate: in the last few seconds rows left while
    the counters of their table stood still, or this poll is the first after a break.
    """

    ready: Figure = _UNREAD
    in_progress: Figure = _UNREAD
    stuck: Figure = _UNREAD
    oldest: Figure = _UNREAD
    push_rate: Figure = _UNREAD
    pop_rate: Figure = _UNREAD
    recent_pop_rate: Figure = _UNREAD
    completes: float | None = None
    net_rate: float | None = None
    fill: Figure = _UNREAD
    blocked: Figure = _UNREAD
    blocked_oldest: Figure = _UNREAD
    timeout_s: float
    failures: tuple[ProbeFailure, ...] = ()
    pauses: tuple[Pause, ...] = ()
    locked: Locked | None = None
    last_seen_at: float | None = None
    rates_follow: bool = False
    pops_unseen: bool = False
    layout: Layout | None = None
    samples: QueueSamples | None = None
    snapshot: Snapshot | None = None
    target: TargetEvidence = NO_TARGET_EVIDENCE
    queue: QueueEvidence = NO_QUEUE_EVIDENCE

    @property
    def pops(self) -> float | None:
        """Pops per second now: of the last few seconds where that is known."""
        return self.pop_rate.value if self.recent_pop_rate.value is None else self.recent_pop_rate.value

    @property
    def moved(self) -> float | None:
        """Messages per second that left ``ready`` or the table now, as far as is known: pops or completes."""
        known = [rate for rate in (self.pops, self.completes) if rate is not None]
        return max(known) if self.pops is not None else None

    @property
    def at_work(self) -> float:
        """Messages in progress that somebody works on: as far as is known neither stuck nor without an owner."""
        if not self.in_progress.value:
            return 0.0
        lost = self.queue.owners.lost if self.queue.owners is not None else 0
        return max(0.0, self.in_progress.value - (self.stuck.value or 0.0) - lost)

    @property
    def in_transaction(self) -> bool:
        """A message is in progress only while the transaction of its popper is open."""
        return self.layout is not None and pops_in_transaction(self.layout)

    def has(self, figure: str) -> bool:
        """Whether the layout has such a figure at all."""
        return self.layout is None or self.layout.has(figure)

    @property
    def may_block(self) -> bool:
        """Whether the layout says that messages are blocked."""
        return self.layout is not None and self.layout.has("blocked")

    def paused(self, side: Side) -> bool:
        """Whether somebody has paused them: that they do nothing is then no trouble."""
        return any(pause.side is side for pause in self.pauses)


Condition = Callable[[RuleInput], bool]


def always(_: RuleInput) -> bool:
    """Of a key that answers the verdict whatever the evidence is."""
    return True


@dataclass(frozen=True, slots=True)
class Rule:
    """One verdict, all of it but its words in the manual and its place among the ``RULES``.

    Attributes:
        proof: the line that proves it; ``None`` without evidence.
        hold_s: seconds that the evidence must last.
        explains: codes of verdicts that merely follow from this one. They are not raised while it is, and their hold
            times begin when it has gone.
        cause: as of ``Verdict``.
        keys: the keys of the screens that may answer it, each with its condition; the first that fits is shown.
        probes: names, or beginnings of names, of the probes that give its evidence. Where one has failed, a verdict
            that holds no longer is undecided rather than over.
        unread: whether nothing was read that it could be judged by; then it is undecided, too.
        refuted: whether this poll shows the opposite, or breaks the time that it must hold; then it is over at once,
            and returns after its whole hold time.
    """

    code: str
    severity: Severity
    hold_s: float
    proof: Callable[[RuleInput], str | None]
    explains: tuple[str, ...] = ()
    cause: Callable[[RuleInput], str] = lambda _: ""
    keys: Mapping[str, Condition] = field(default_factory=dict)
    probes: tuple[str, ...] = ()
    unread: Condition = lambda _: False
    refuted: Condition = lambda _: False

    def key(self, given: RuleInput) -> str:
        """The key that answers it with this evidence, or keys with a space between them; empty where none does."""
        return next((key for key, fits in self.keys.items() if fits(given)), "")


def may_have_popped(given: RuleInput) -> bool:
    """Whether messages have left ``ready`` or the table in the last few seconds, or may have."""
    return given.pops_unseen or bool(given.moved)


def uncounted(given: RuleInput) -> bool:
    """Whether the counters of the queue's table were not read, which also tell its number."""
    return given.samples is not None and given.samples.counters is None
