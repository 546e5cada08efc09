"""Why messages that match the operator's choice are left out of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from qmon.model.formatting import duration
from qmon.model.operation_records import LeftOut
from qmon.texts import Text


class Exclusion(StrEnum):
    """The reasons, with the codes that the statements ``choose``, ``choose_kept`` and ``choose_trash`` return."""

    LOCKED = "locked"
    NOT_STUCK = "not_stuck"
    OWNER_ALIVE = "owner_alive"
    OWNER_DEAD = "owner_dead"
    OWNER_UNKNOWN = "owner_unknown"
    OWNER_NONE = "owner_none"
    OVER_LIMIT = "over_limit"
    NOT_FOUND = "not_found"
    # An undo does not restore these messages.
    CHANGED = "changed"
    AMBIGUOUS = "ambiguous"
    ID_TAKEN = "id_taken"


class ExclusionText(Text):
    """The reasons in words, with the names of ``Exclusion``."""

    LOCKED = "locked"
    NOT_STUCK = "not stuck yet"
    OWNER_ALIVE = "owner alive"
    OWNER_DEAD = "owner dead"
    OWNER_UNKNOWN = "owner unknown"
    OWNER_NONE = "owner none"
    OVER_LIMIT = "over the limit of one plan; plan again for the rest"
    NOT_FOUND = "not found, or in another state"
    CHANGED = "popped again, or changed since"
    AMBIGUOUS = "cannot be told apart from other messages"
    ID_TAKEN = "id taken again"
    OWNER_UNKNOWN_BECAUSE = "owner unknown: {reason}"
    NOT_STUCK_FOR = "in progress for less than {duration}"


def exclusion_text(exclusion: Exclusion, *, unproven: str = "", stuck_s: float | None = None) -> str:
    """Return the reason as text.

    ``unproven``: why owners are unknown. ``stuck_s``: seconds in progress after which a message counts as stuck.
    """
    if exclusion is Exclusion.OWNER_UNKNOWN and unproven:
        return ExclusionText.OWNER_UNKNOWN_BECAUSE.render(reason=unproven)
    if exclusion is Exclusion.NOT_STUCK and stuck_s is not None:
        return ExclusionText.NOT_STUCK_FOR.render(duration=duration(stuck_s))
    return ExclusionText[exclusion.name].render()


def left_out_messages(
    counts: Mapping[Exclusion, int], *, unproven: str = "", stuck_s: float | None = None
) -> tuple[LeftOut, ...]:
    """Return the reasons that concern at least one message, sorted. For the other arguments see ``exclusion_text``."""
    return tuple(
        LeftOut(exclusion_text(exclusion, unproven=unproven, stuck_s=stuck_s), count)
        for exclusion, count in sorted(counts.items())
        if count
    )
