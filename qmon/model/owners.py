"""What can be known of the poppers that hold messages: dead, alive, or honestly unknown."""

from __future__ import annotations

from dataclasses import dataclass

from qmon.model.layout.layout import Layout
from qmon.model.pauses import clock


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
        at = "a time unknown" if facts.up_since is None else clock(facts.up_since)
        why = f"the server came up at {at}, less than one timeout before"
    return Proof(kind, facts.sees_others, not why, why or "what is written there is no session")
