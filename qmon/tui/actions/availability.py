"""Maps keys to requests, and explains why a key is disabled."""

from __future__ import annotations

from typing import Final

from qmon.model.layout.layout import Layout
from qmon.model.operation_records import Choice, OperationKind, Side
from qmon.model.samples.polled_samples import BlockingSample
from qmon.model.view import QueueView, View
from qmon.operate.plan import allowed_actions
from qmon.texts import Text
from qmon.tui import keys
from qmon.tui.action_runner import ActionRunner
from qmon.tui.actions.request import ActionRequest, end_session_request
from qmon.tui.screen_texts import ScreenText


class DisabledText(Text):
    """Why an action is disabled."""

    ONLY_GUESSED = "qmon only guessed that this table is a queue; press W to confirm it first"
    NO_BLOCKER = "no session blocks another session"
    VIEW_ONLY = "view only: actions are disabled"
    STANDBY = "the server is a standby: it accepts no changes"


# The operation that each key requests, keyed by binding id.
ACTIONS: Final[dict[str, tuple[OperationKind, Side]]] = {
    "requeue": (OperationKind.REQUEUE, Side.PRODUCERS),
    "redrive": (OperationKind.REDRIVE, Side.PRODUCERS),
    "purge": (OperationKind.PURGE, Side.PRODUCERS),
    "pause": (OperationKind.PAUSE, Side.PRODUCERS),
    "pause-consumers": (OperationKind.PAUSE, Side.CONSUMERS),
    "undo": (OperationKind.UNDO, Side.PRODUCERS),
    "repair": (OperationKind.REPAIR, Side.PRODUCERS),
    "end-session": (OperationKind.END_SESSION, Side.PRODUCERS),
}

_BY_KEY: Final = {each.key: ACTIONS[each.id] for each in keys.bindings_in(keys.QUEUE_ACTIONS) if each.id in ACTIONS}


def verdict_keys(queue: QueueView, *, current: str = "") -> str:
    """Return the keys that act on the cause of the verdict and are enabled for this queue.

    ``current``: the key of the current screen, which is left out.
    """
    return " ".join(key for key in queue.verdict.key.split() if key != current and _can_act(queue.layout, key))


def _can_act(layout: Layout, key: str) -> bool:
    return key not in _BY_KEY or allowed_actions.why_not_allowed(layout, *_BY_KEY[key]) is None


def disabled_reason(
    runner: ActionRunner | None, view: View | None, queue: QueueView | None, action: str, *, can_propose: bool
) -> str | None:
    """Return why an action is disabled here, in one line; ``None`` if it can be requested.

    ``can_propose``: the user can confirm a guessed queue with a key.
    """
    for_all = read_only_reason(runner, view)
    if for_all is not None:
        return for_all
    kind, side = ACTIONS[action]
    if kind is OperationKind.END_SESSION:
        return None if head_blocker(view) is not None else DisabledText.NO_BLOCKER
    if queue is None:
        return ScreenText.NO_QUEUE_SELECTED
    if can_propose and allowed_actions.needs_confirmed_queue(queue.layout, kind):
        return DisabledText.ONLY_GUESSED
    return None if kind is OperationKind.UNDO else allowed_actions.why_not_allowed(queue.layout, kind, side)


def read_only_reason(runner: ActionRunner | None, view: View | None) -> str | None:
    """Return why nothing may be changed here, or ``None``."""
    if runner is None:
        return DisabledText.VIEW_ONLY
    if runner.read_only_reason is not None:
        return runner.read_only_reason
    if view is not None and view.server.in_recovery:
        return DisabledText.STANDBY
    return None


def read_only_word(runner: ActionRunner | None, view: View | None) -> str:
    """Return ``read_only_reason`` as one word; empty if changes are allowed."""
    if runner is None:
        return "view only"
    if runner.read_only_reason is not None:
        return "read-only"
    return "standby" if view is not None and view.server.in_recovery else ""


def action_request_for(action: str, view: View | None, queue: QueueView | None, choice: Choice) -> ActionRequest | None:
    """Return the request of an action, or ``None`` if there is nothing to act on."""
    kind, side = ACTIONS[action]
    if kind is OperationKind.END_SESSION:
        blocker = head_blocker(view)
        return end_session_request(blocker.session, blocker.started_at) if blocker is not None else None
    name = queue.name if queue is not None else ""
    return ActionRequest(kind, name, queue.layout if queue is not None else None, choice, side)


def head_blocker(view: View | None) -> BlockingSample | None:
    """Return the session that blocks the most sessions and waits for no session, if there is one."""
    blocking = view.server.blocking if view is not None else None
    heads = blocking.heads if blocking is not None else ()
    return next((each.session for each in heads if each.session.session > 0 and not each.blockers), None)
