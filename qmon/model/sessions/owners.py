"""Owners: find out whether a message's consumer is dead or alive, and count the messages whose owner is dead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from qmon.model.formatting import date_and_time
from qmon.model.layout.layout import Layout
from qmon.model.samples.message_samples import MessageDiagnostics, OwnerSample
from qmon.texts import Text


class OwnerText(Text):
    """Why it is unknown whether an owner is alive."""

    OWNER_IS_A_NAME = "the owner is a name, which cannot be checked"
    NO_TIME_ZONE = "{column} has no time zone"
    NO_HEARTBEAT = "the column with its heartbeat or lease is empty"
    SESSIONS_UNSEEN = "your role cannot see other sessions"
    NOT_HELD_WHILE_WORKING = "`held_while_working` is not set for the owner column"
    SHARED_SESSIONS = "clients share sessions through a connection pool"
    UNKNOWN_TIME = "an unknown time"
    SERVER_RESTARTED = "the server started at {time}, less than one timeout before the last poll"
    NO_SESSION = "the owner column does not contain a session"


NAME_ONLY: Final = OwnerText.OWNER_IS_A_NAME


@dataclass(frozen=True, slots=True)
class Owners:
    """The messages in progress that were read, counted by the state of their owner.

    Attributes:
        dead: number of messages whose owner is dead.
        alive: number of messages beyond the timeout whose owner is alive.
        unknown: number of messages beyond the timeout whose owner's state is unknown.
        none: number of messages beyond the timeout without an owner.
        dead_one: the longest-running message whose owner is dead. ``alive_one``, ``unknown_one`` and ``none_one`` are
            the longest-running messages of the other states.
        why: why an owner's state is unknown.
        at_least: true if not all owners were read, so that there may be more messages of each state.
        lost: number of messages with a dead owner that have not exceeded the timeout yet.
        dead_ids: ids of the messages whose owner is dead.
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
    dead_ids: frozenset[str] = frozenset()


def count_owners(diagnostics: MessageDiagnostics, timeout_s: float) -> Owners | None:
    """Return the owners of one poll, or ``None`` if owners were not read."""
    if diagnostics.owners is None:
        return None
    late = [o for o in diagnostics.owners if o.age_s is not None and o.age_s > timeout_s]
    dead = [o for o in diagnostics.owners if o.owner_state == "dead"]
    alive, unknown, none = ([o for o in late if o.owner_state == state] for state in ("alive", "unknown", "none"))
    return Owners(
        len(dead),
        len(alive),
        len(unknown),
        len(none),
        _longest(dead),
        _longest(alive),
        _longest(unknown),
        _longest(none),
        why=diagnostics.proof,
        at_least=len(diagnostics.owners) >= diagnostics.owners_limit > 0,
        lost=sum(1 for o in dead if o.age_s is None or o.age_s <= timeout_s),
        dead_ids=frozenset(o.id for o in dead),
    )


def _longest(rows: Iterable[OwnerSample]) -> OwnerSample | None:
    return max(rows, key=lambda owner: owner.age_s or 0.0, default=None)


@dataclass(frozen=True, slots=True)
class OwnerFacts:
    """The server's facts about owners, see ``action/operate/facts``. Times are seconds since the epoch."""

    clock: str
    epoch: float
    sees_others: bool
    up_since: float | None
    pooled: bool


@dataclass(frozen=True, slots=True)
class OwnerProof:
    """The conclusions that an owner column allows.

    Attributes:
        kind: kind of the owner column; ``none`` if there is no owner column.
        sees: true if our role can see the sessions of other roles.
        vanished: true if a missing session proves that its consumer is dead.
        why: why an owner may be unknown; empty if owners are always known.
    """

    kind: str
    sees: bool
    vanished: bool
    why: str


def owner_proof(layout: Layout, facts: OwnerFacts) -> OwnerProof:
    """Return the current proof of the layout's owner column.

    In these cases a consumer may be alive although its session is gone: consumers commit first and work outside the
    session; a pool shares sessions; our role may not see the sessions of other roles; or the server started less than
    one timeout ago. A restart ends all sessions, but their consumers may still be working.
    """
    if layout.owner is None:
        return OwnerProof("none", False, False, "")
    kind = layout.owner.kind
    if kind == "name":
        return OwnerProof(kind, False, False, NAME_ONLY)
    if kind != "session" and not layout.has_known_time(layout.owner.column):
        return OwnerProof("name", False, False, OwnerText.NO_TIME_ZONE.render(column=layout.owner.column))
    if kind != "session":
        return OwnerProof(kind, False, False, OwnerText.NO_HEARTBEAT)
    why = ""
    if not facts.sees_others:
        why = OwnerText.SESSIONS_UNSEEN
    elif not layout.owner.held_while_working:
        why = OwnerText.NOT_HELD_WHILE_WORKING
    elif facts.pooled:
        why = OwnerText.SHARED_SESSIONS
    elif facts.up_since is None or facts.epoch - facts.up_since < layout.timeout_s:
        # The text contains a time and not an age: the text stays on the screen, so an age would soon be wrong.
        at = OwnerText.UNKNOWN_TIME if facts.up_since is None else date_and_time(facts.up_since)
        why = OwnerText.SERVER_RESTARTED.render(time=at)
    return OwnerProof(kind, facts.sees_others, not why, why or OwnerText.NO_SESSION)
