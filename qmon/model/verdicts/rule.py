"""Rules: each rule defines a verdict by data and a pure function of a ``RuleInput``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from qmon.model.baseline_bands import Band, UsualBacklog
from qmon.model.evidence import NO_QUEUE_EVIDENCE, NO_TARGET_EVIDENCE, QueueEvidence, TargetEvidence
from qmon.model.figure import Figure, Severity
from qmon.model.layout.layout import Layout
from qmon.model.operation_records import Side
from qmon.model.rates.flow import pops_in_transaction
from qmon.model.reasons import Reason
from qmon.model.samples.polled_samples import PauseSample
from qmon.model.sessions.owners import Owners
from qmon.model.snapshot import ProbeFailure, QueueSamples, Snapshot
from qmon.model.waits.queue_lock import QueueLock

_HOUR_S: Final = 3600.0
_UNREAD: Final = Figure.unknown(Reason.NOT_READ)
_NONE: Final = Figure(0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleInput:
    """The current figures of one queue, the samples behind these figures, and evidence from earlier polls.

    Rates are messages per second over the window of the screens.

    Attributes:
        recent_pop_rate: pops per second over the last few seconds, so that a verdict ends soon after a fix.
        in_unknown_states: messages in states that qmon does not know.
        completes: completions per second over the last few seconds.
        net_rate: change of ``ready`` in messages per second.
        locked: the session that locks the whole queue.
        last_seen_at: when a queue that is gone was last read, server clock, seconds since the epoch.
        rates_follow: true if rates are unknown in this poll, but will be known in the next poll.
        pops_unseen: true if messages that no rate shows were popped, or may have been popped. Either rows left in the
            last few seconds while the counters of their table did not change, or this is the first poll after a break.
        samples: samples of the queue in this poll.
        snapshot: the whole poll.
        target: evidence about the target.
        queue: evidence about the queue that needs more than one poll.
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
    in_unknown_states: Figure = _NONE
    timeout_s: float
    failures: tuple[ProbeFailure, ...] = ()
    pauses: tuple[PauseSample, ...] = ()
    locked: QueueLock | None = None
    last_seen_at: float | None = None
    rates_follow: bool = False
    pops_unseen: bool = False
    layout: Layout | None = None
    samples: QueueSamples | None = None
    snapshot: Snapshot | None = None
    target: TargetEvidence = NO_TARGET_EVIDENCE
    queue: QueueEvidence = NO_QUEUE_EVIDENCE

    @property
    def usual_backlog(self) -> UsualBacklog | None:
        """The usual backlog at this hour of the week, if no more messages are ready and the queue usually drains."""
        if self.snapshot is None or self.layout is None or self.ready.value is None or self.ready.at_least:
            return None
        target, at = self.snapshot.target, self.snapshot.sampled_at
        return self.target.baselines.usual_backlog(target, self.layout.queue, self.ready.value, at)

    @property
    def usual_standstill(self) -> UsualBacklog | None:
        """The usual backlog, if messages are usually not popped at this hour of the week."""
        if self.snapshot is None or self.layout is None or (backlog := self.usual_backlog) is None:
            return None
        target, at = self.snapshot.target, self.snapshot.sampled_at
        pops = self.target.baselines.band_at(target, self.layout.queue, "pop_rate", at)
        return backlog if pops is not None and pops.median * _HOUR_S < 1 else None

    @property
    def usual_pushes(self) -> Band | None:
        """The usual push rate at this hour of the week, or ``None`` if it is unknown."""
        if self.snapshot is None or self.layout is None:
            return None
        target, at = self.snapshot.target, self.snapshot.sampled_at
        return self.target.baselines.band_at(target, self.layout.queue, "push_rate", at)

    @property
    def pops(self) -> float | None:
        """Current pops per second: the rate over the last few seconds or, if it is unknown, the rate of the window."""
        return self.pop_rate.value if self.recent_pop_rate.value is None else self.recent_pop_rate.value

    @property
    def outflow_rate(self) -> float | None:
        """Messages per second that currently leave ``ready`` or the table: the maximum of pops and completes."""
        known = [rate for rate in (self.pops, self.completes) if rate is not None]
        return max(known) if self.pops is not None else None

    @property
    def active_count(self) -> float:
        """The number of messages in progress that are not stuck and have no owner that is known to be dead."""
        return count_active(self.in_progress, self.stuck, self.queue.owners)

    @property
    def is_popped_in_transaction(self) -> bool:
        """True if a message is in progress only while the transaction of its consumer is open."""
        return self.layout is not None and pops_in_transaction(self.layout)

    def has_figure(self, figure: str) -> bool:
        """Return whether the layout has this figure."""
        return self.layout is None or self.layout.has_figure(figure)

    @property
    def may_block(self) -> bool:
        """True if the layout can mark messages as blocked."""
        return self.layout is not None and self.layout.has_figure("blocked")

    def is_paused(self, side: Side) -> bool:
        """Return whether this side is paused, so that its inactivity is not a problem."""
        return any(pause.side == side for pause in self.pauses)


def count_active(in_progress: Figure, stuck: Figure, owners: Owners | None) -> float:
    """Return the number of messages in progress that are not stuck and have no owner that is known to be dead."""
    if not in_progress.value:
        return 0.0
    return max(0.0, in_progress.value - (stuck.value or 0.0) - (owners.lost if owners is not None else 0))


Condition = Callable[[RuleInput], bool]


def holds_always(_: RuleInput) -> bool:
    """Always return true: the condition of a key that fixes the verdict with any evidence."""
    return True


def holds_never(_: RuleInput) -> bool:
    """Always return false."""
    return False


@dataclass(frozen=True, slots=True)
class Rule:
    """The definition of one verdict, except its text in the manual and its place in ``RULES``.

    Attributes:
        proof: returns the line that proves the verdict; ``None`` without evidence.
        hold_s: seconds that the evidence must last.
        explains: codes of verdicts that merely follow from this verdict. These verdicts are not raised while this
            verdict is raised. Their hold times start when this verdict is over.
        cause: returns the cause, as in ``Verdict``.
        keys: screen keys that may fix the problem, each with its condition. The first key that applies is shown.
        probes: the probes or families of probes that provide the evidence. If one of these probes failed and the
            evidence is gone, the verdict is undecided instead of over.
        unread: returns true if this poll read nothing that shows whether the verdict holds. The verdict is then
            undecided.
        refuted: returns true if this poll shows the opposite or interrupts the hold time. The verdict is then over
            immediately, and returns only after its whole hold time.
        of_target: true if the verdict is about the whole target. It is judged once for all queues.
    """

    code: str
    severity: Severity
    hold_s: float
    proof: Callable[[RuleInput], str | None]
    explains: tuple[str, ...] = ()
    cause: Callable[[RuleInput], str] = lambda _: ""
    keys: Mapping[str, Condition] = field(default_factory=dict)
    probes: tuple[str, ...] = ()
    unread: Condition = holds_never
    refuted: Condition = holds_never
    of_target: bool = False

    def key_for(self, context: RuleInput) -> str:
        """Return the keys that fix the problem with this evidence, separated by spaces, or an empty text."""
        return next((key for key, fits in self.keys.items() if fits(context)), "")


def may_have_popped(context: RuleInput) -> bool:
    """Return whether messages left, or may have left, ``ready`` or the table in the last few seconds."""
    return context.pops_unseen or bool(context.outflow_rate)


def is_uncounted(context: RuleInput) -> bool:
    """Return whether the counters of the queue's table, which also contain the table's id, were not read."""
    return context.samples is not None and context.samples.counters is None
