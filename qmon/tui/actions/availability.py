"""From a key to what is asked for; and why a key that acts can do nothing here."""

from __future__ import annotations

from typing import Final

from qmon.model.operations import Choice, Kind, Side
from qmon.model.samples.polled import BlockedSample
from qmon.model.view import QueueView, View
from qmon.operate.plan import allowed
from qmon.tui.actions.request import ActionRequest
from qmon.tui.actions.runner import ActionRunner

WORDS: Final[dict[str, tuple[Kind, Side]]] = {
    "requeue": (Kind.REQUEUE, Side.PUSHERS),
    "purge": (Kind.PURGE, Side.PUSHERS),
    "pause": (Kind.PAUSE, Side.PUSHERS),
    "pause-poppers": (Kind.PAUSE, Side.POPPERS),
    "undo": (Kind.UNDO, Side.PUSHERS),
    "repair": (Kind.REPAIR, Side.PUSHERS),
    "end-blocker": (Kind.END_BLOCKER, Side.PUSHERS),
}
"""What the keys' actions are called; each is also the id of its key."""


def why_off(runner: ActionRunner | None, view: View | None, queue: QueueView | None, word: str) -> str | None:
    """Why a key can do nothing here, in one line; ``None``: it can be asked for."""
    for_all = why_all_off(runner, view)
    if for_all is not None:
        return for_all
    kind = WORDS[word][0]
    if kind is Kind.END_BLOCKER:
        return None if head_blocker(view) is not None else "no session blocks another one now"
    if queue is None:
        return "no queue is chosen"
    return None if kind is Kind.UNDO else allowed.why_not(queue.layout, kind)


def why_all_off(runner: ActionRunner | None, view: View | None) -> str | None:
    """Why nothing at all may be changed here."""
    if runner is None:
        return "these figures are only looked at: there is nothing to act on"
    if runner.read_only is not None:
        return runner.read_only
    if view is not None and view.server.in_recovery:
        return "the server is a standby: nothing can be changed there"
    return None


def off_word(runner: ActionRunner | None, view: View | None) -> str:
    """The same in a word, for where there is little room; empty where something may be changed."""
    if runner is None:
        return "only looked at"
    if runner.read_only is not None:
        return "read-only"
    return "standby" if view is not None and view.server.in_recovery else ""


def ask_for(word: str, view: View | None, queue: QueueView | None, choice: Choice) -> ActionRequest:
    """What a key asks for."""
    kind, side = WORDS[word]
    if kind is Kind.END_BLOCKER:
        session = head_blocker(view)
        found = view.server.blocking if view is not None else None
        place = found.find((session or 0, "")) if found is not None else None
        began = place.session.started_at if place is not None else None
        return ActionRequest(kind, f"session {session}", session=session, started_at=began)
    name = queue.name if queue is not None else ""
    return ActionRequest(kind, name, queue.layout if queue is not None else None, choice, side)


def head_blocker(view: View | None) -> int | None:
    """The session at the head of the longest queue of waiting sessions, where one is seen."""
    pairs: tuple[BlockedSample, ...] = (view.server.blocked or ()) if view is not None else ()
    waiting: dict[int, set[int]] = {}
    for pair in pairs:
        waiting.setdefault(pair.blocker, set()).add(pair.waiter)
    waiters = {pair.waiter for pair in pairs}
    heads = [session for session in waiting if session > 0 and session not in waiters]
    return max(heads, key=lambda head: (len(_behind(head, waiting)), -head), default=None)


def _behind(head: int, waiting: dict[int, set[int]]) -> set[int]:
    """Everybody who waits for ``head``, directly or for somebody who does."""
    found: set[int] = set()
    looking = [head]
    while looking:
        for waiter in waiting.get(looking.pop(), set()) - found:
            found.add(waiter)
            looking.append(waiter)
    return found
