"""Owning: how many of the messages in progress have lost their owner, and which of them are in two hands. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qmon.model.samples.messages import MessageDiagnostics, OwnerSample


@dataclass(frozen=True, slots=True)
class Owners:
    """Messages in progress by what is known of their owner, of those looked at.

    ``dead`` counts all whose owner is dead, ``alive``, ``unknown`` and ``none`` those beyond the timeout. The rows are
    one of each, the longest-running; ``why``: why an owner is unknown. ``at_least``: there are more.
    ``lost``: of the dead those that are not beyond the timeout yet.
    """

    dead: int = 0
    alive: int = 0
    unknown: int = 0
    none: int = 0
    dead_one: OwnerSample | None = None
    alive_one: OwnerSample | None = None
    unknown_one: OwnerSample | None = None
    none_one: OwnerSample | None = None
    why: str = ""
    at_least: bool = False
    lost: int = 0


def owners_of(clues: MessageDiagnostics, timeout_s: float) -> Owners | None:
    """The owners of one poll; ``None`` where they were not read."""
    if clues.owners is None:
        return None
    late = [o for o in clues.owners if o.age_s is not None and o.age_s > timeout_s]
    dead = [o for o in clues.owners if o.owner_state == "dead"]
    alive, unknown, none = ([o for o in late if o.owner_state == state] for state in ("alive", "unknown", "none"))
    return Owners(
        len(dead), len(alive), len(unknown), len(none),
        _longest(dead), _longest(alive), _longest(unknown), _longest(none),
        why=clues.proof,
        at_least=len(clues.owners) >= clues.owners_limit > 0,
        lost=sum(1 for o in dead if o.age_s is None or o.age_s <= timeout_s),
    )  # fmt: skip


def _longest(rows: Iterable[OwnerSample]) -> OwnerSample | None:
    return max(rows, key=lambda o: o.age_s or 0.0, default=None)
