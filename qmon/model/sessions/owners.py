"""Owners: what proves that the popper of a message is dead or alive, and how many messages in progress lost theirs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qmon.model.layout.layout import Layout
from qmon.model.samples.messages import MessageDiagnostics, OwnerSample
from qmon.model.text import moment


@dataclass(frozen=True, slots=True)
class Owners:
    """Messages in progress by what is known of their owner, of those read.

    ``dead`` counts all whose owner is dead, ``alive``, ``unknown`` and ``none`` those beyond the timeout. The rows are
    one of each, the longest-running; ``why``: why an owner is unknown. ``at_least``: there are more.
    ``lost``: of the dead those that are not beyond the timeout yet. ``dead_ids``: the messages whose owner is dead.
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


def owners_of(found: MessageDiagnostics, timeout_s: float) -> Owners | None:
    """The owners of one poll; ``None`` where they were not read."""
    if found.owners is None:
        return None
    late = [o for o in found.owners if o.age_s is not None and o.age_s > timeout_s]
    dead = [o for o in found.owners if o.owner_state == "dead"]
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
        why=found.proof,
        at_least=len(found.owners) >= found.owners_limit > 0,
        lost=sum(1 for o in dead if o.age_s is None or o.age_s <= timeout_s),
        dead_ids=frozenset(o.id for o in dead),
    )


def _longest(rows: Iterable[OwnerSample]) -> OwnerSample | None:
    return max(rows, key=lambda o: o.age_s or 0.0, default=None)


@dataclass(frozen=True, slots=True)
class OwnerFacts:
    """What a server lets us say of owners: see ``action/operate/facts``. Times in seconds since the epoch."""

    clock: str
    epoch: float
    sees_others: bool
    up_since: float | None
    pooled: bool


@dataclass(frozen=True, slots=True)
class Proof:
    """How far an owner proves something.

    ``kind``: of the owner column, ``none`` without one. ``sees``: the sessions of others can be seen. ``vanished``: a
    session that is gone proves its popper dead. ``why``: why an owner may be unknown, empty where it never is.
    """

    kind: str
    sees: bool
    vanished: bool
    why: str


def proof(layout: Layout, facts: OwnerFacts) -> Proof:
    """What the owner column of this layout proves now.

    A session that has vanished proves nothing where poppers commit first and work outside it, where a pool hands
    sessions on, where our role may not see the sessions of others, or within one timeout after the server came up: the
    sessions of before went with it, and their poppers may be at work still.
    """
    if layout.owner is None:
        return Proof("none", False, False, "")
    kind = layout.owner.kind
    if kind == "name":
        return Proof(kind, False, False, "the owner is a name, which proves nothing")
    if kind != "session" and not layout.tells(layout.owner.column):
        return Proof("name", False, False, f"{layout.owner.column} has no time zone")
    if kind != "session":
        return Proof(kind, False, False, "no time is written down")
    why = ""
    if not facts.sees_others:
        why = "this role may not see the sessions of others"
    elif not layout.owner.held_while_working:
        why = "the layout does not say that poppers hold their session while they work"
    elif facts.pooled:
        why = "a connection pool hands sessions on"
    elif facts.up_since is None or facts.epoch - facts.up_since < layout.timeout_s:
        # A moment and no age: the words may be shown for longer than until they are read again.
        at = "a time unknown" if facts.up_since is None else moment(facts.up_since)
        why = f"the server came up at {at}, less than one timeout before"
    return Proof(kind, facts.sees_others, not why, why or "what is written there is no session")
