"""The key of the screens that answers a verdict, and where its evidence decides whether one does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from qmon.model.figure import NOT_SINCE
from qmon.model.operations import Side
from qmon.model.verdicts.rule import RuleInput
from qmon.model.waits.horizon_holders import culprit, name_of


@dataclass(frozen=True, slots=True)
class Answer:
    """The keys that may answer a verdict, each with what must be seen for it; the first that fits is shown."""

    keys: Mapping[str, Callable[[RuleInput], bool]]

    def to(self, given: RuleInput) -> str:
        """The key, or keys with a space between them; empty where none answers."""
        return next((key for key, fits in self.keys.items() if fits(given)), "")


def _always(_: RuleInput) -> bool:
    return True


def _paused(*sides: Side) -> Callable[[RuleInput], bool]:
    return lambda s: {pause.side for pause in s.pauses} == set(sides)


def _waited_for(s: RuleInput) -> bool:
    return s.locked is not None and s.locked.waited_for


def _holds_horizon(s: RuleInput) -> bool:
    """The session that locks it holds the horizon, too, where it can be ended."""
    holder = culprit(s.snapshot.horizon) if s.snapshot is not None else None
    return holder is not None and s.locked is not None and name_of(holder) == s.locked.by


def _nobody_may_push(s: RuleInput) -> bool:
    return s.queue.ring_loss is not None and s.queue.ring_loss.drawer is None


def _nobody_may_pop(s: RuleInput) -> bool:
    return s.queue.ring_loss is not None and s.queue.ring_loss.popper is None


def _waits_for_lock(s: RuleInput) -> bool:
    one = s.queue.poppers.one if s.queue.poppers is not None else None
    return one is not None and one.wait_kind == "Lock"


def _owners_live(s: RuleInput) -> bool:
    """All owners are alive: requeued at once, their messages would be worked on twice."""
    owners = s.queue.owners
    return owners is not None and owners.alive > 0 and not (owners.dead or owners.unknown or owners.none)


def _throttled(s: RuleInput) -> bool:
    return any(figure.reason.startswith(NOT_SINCE) for figure in (s.ready, s.in_progress, s.stuck))


ANSWERS: Final[Mapping[str, Answer]] = {
    "everything locked": Answer({"4": _waited_for, "3": _holds_horizon}),
    "poison message at the head": Answer({"2": _always}),
    "ring hole": Answer({"R": _nobody_may_push}),
    "ring orphans": Answer({"R": _nobody_may_pop}),
    "poppers not claiming": Answer({"4": _waits_for_lock}),
    "stuck in progress": Answer({"2": _owners_live, "r": _always}),
    "vacuum held back": Answer({"3": _always}),
    "log-bound": Answer({"3": _always}),
    "latch-bound": Answer({"3": _always}),
    "deadlocks": Answer({"4": _always}),
    "paused": Answer(
        {"p": _paused(Side.PUSHERS), "P": _paused(Side.POPPERS), "p P": _paused(Side.PUSHERS, Side.POPPERS)}
    ),
    "cannot tell": Answer({"n": _throttled}),
}
"""By code. A verdict that is not here has no key: what helps is done elsewhere."""


def key_for(code: str, given: RuleInput) -> str:
    """The key that answers a verdict with this evidence."""
    return ANSWERS[code].to(given) if code in ANSWERS else ""
