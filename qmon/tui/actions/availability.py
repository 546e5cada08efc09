"""Maps keys to requests, and explains why a key is disabled."""

from __future__ import annotations

from typing import Final

from qmon.model.layout.layout import Layout
from qmon.model.operations import Choice, Kind, Side
from qmon.model.samples.polled import BlockingSample
from qmon.model.view import QueueView, View
from qmon.operate.plan import allowed
from qmon.tui import keys
from qmon.tui.action_runner import ActionRunner
from qmon.tui.actions.request import ActionRequest, end_session

# What a key does, by its binding id.
ACTIONS: Final[dict[str, tuple[Kind, Side]]] = {
    "requeue": (Kind.REQUEUE, Side.PUSHERS),
    "redrive": (Kind.REDRIVE, Side.PUSHERS),
    "purge": (Kind.PURGE, Side.PUSHERS),
    "pause": (Kind.PAUSE, Side.PUSHERS),
    "pause-poppers": (Kind.PAUSE, Side.POPPERS),
    "undo": (Kind.UNDO, Side.PUSHERS),
    "repair": (Kind.REPAIR, Side.PUSHERS),
    "end-session": (Kind.END_SESSION, Side.PUSHERS),
}

_BY_KEY: Final = {each.key: ACTIONS[each.id] for each in keys.plain(keys.ACTS) if each.id in ACTIONS}


def hint(queue: QueueView, *, here: str = "") -> str:
    """Return the keys that handle the verdict and can act on this queue.

    ``current``: the screen's own key, left out.
    """
    return " ".join(key for key in queue.verdict.key.split() if key != here and _does(queue.layout, key))


def _does(layout: Layout, key: str) -> bool:
    return key not in _BY_KEY or allowed.why_not(layout, *_BY_KEY[key]) is None


def why_not(runner: ActionRunner | None, view: View | None, queue: QueueView | None, action: str) -> str | None:
    """Return why an action is disabled here, in one line; ``None`` if it can be requested."""
    for_all = why_nothing(runner, view)
    if for_all is not None:
        return for_all
    kind, side = ACTIONS[action]
    if kind is Kind.END_SESSION:
        return None if head_blocker(view) is not None else "no session blocks another one"
    if queue is None:
        return "no queue is chosen"
    return None if kind is Kind.UNDO else allowed.why_not(queue.layout, kind, side)


def why_nothing(runner: ActionRunner | None, view: View | None) -> str | None:
    """Return why nothing may be changed here, or ``None``."""
    if runner is None:
        return "view only: nothing can be changed here"
    if runner.read_only is not None:
        return runner.read_only
    if view is not None and view.server.in_recovery:
        return "the server is a standby: nothing can be changed on it"
    return None


def short_reason(runner: ActionRunner | None, view: View | None) -> str:
    """Return ``read_only_reason`` as one word; empty if changes are allowed."""
    if runner is None:
        return "view only"
    if runner.read_only is not None:
        return "read-only"
    return "standby" if view is not None and view.server.in_recovery else ""


def ask_for(action: str, view: View | None, queue: QueueView | None, choice: Choice) -> ActionRequest | None:
    """Return the request of an action, or ``None`` if there is nothing to act on."""
    kind, side = ACTIONS[action]
    if kind is Kind.END_SESSION:
        blocker = head_blocker(view)
        return end_session(blocker.session, blocker.started_at) if blocker is not None else None
    name = queue.name if queue is not None else ""
    return ActionRequest(kind, name, queue.layout if queue is not None else None, choice, side)


def head_blocker(view: View | None) -> BlockingSample | None:
    """Return the session that blocks the most others and waits for none, if there is one."""
    blocking = view.server.blocking if view is not None else None
    heads = blocking.heads if blocking is not None else ()
    return next((each.session for each in heads if each.session.session > 0 and not each.blockers), None)
