"""The wording of the dialog of actions."""

from __future__ import annotations

from typing import Any, Final

from qmon.texts import Text
from qmon.tui.action_runner import EndedText
from qmon.tui.actions.action_dialog import ConfirmationText
from qmon.tui.actions.availability import DisabledText
from qmon.tui.actions.dialog_text import KeyHint, StepText
from qmon.tui.actions.plan_text import PlanDialogText
from qmon.tui.actions.request import ActionRequestText
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    ConfirmationText.REASON: ({}, "why; written to the audit log"),
    ConfirmationText.REASON_REQUIRED: ({}, "required: why; written to the audit log"),
    ConfirmationText.NAME: ({}, "exact name"),
    ConfirmationText.TYPE_NAME: ({"name": "invoices"}, "type the queue's name exactly: invoices"),
    ConfirmationText.ENTER_REASON: ({}, "enter a reason; it is written to the audit log"),
    DisabledText.ONLY_GUESSED: ({}, "qmon only guessed that this table is a queue; press W to confirm it first"),
    DisabledText.NO_BLOCKER: ({}, "no session blocks another session"),
    DisabledText.VIEW_ONLY: ({}, "view only: actions are disabled"),
    DisabledText.STANDBY: ({}, "the server is a standby: it accepts no changes"),
    StepText.COUNTING: ({"waited": " for 3 s"}, "counting for 3 s; nothing is changed yet"),
    StepText.FOR_TIME: ({"duration": "3 s"}, " for 3 s"),
    StepText.PARTLY_DONE: (
        {"done": 602, "key": "key 6 lists operations"},
        "602 are done and are not rolled back; repeat the action to finish the rest; key 6 lists operations",
    ),
    StepText.STOPPING: ({}, "stopping after this batch; press esc again to cancel this batch too and close"),
    StepText.SKIPPED: ({}, "locked by other sessions; not changed"),
    StepText.CHANGED: ({}, "changed after planning; not changed by qmon"),
    StepText.REFUSED: ({}, "refused by the server; not changed"),
    StepText.OPERATION: (
        {"operation": "261121-071402-k7qd", "undo": "; u undoes the operation", "key": "key 6 lists operations"},
        "operation 261121-071402-k7qd; u undoes the operation; key 6 lists operations",
    ),
    StepText.CAN_UNDO: ({}, "; u undoes the operation"),
    StepText.WAITING_FOR_POLL: ({}, "waiting for the next poll"),
    StepText.FIGURE: ({"figure": "ready", "now": "7", "before": "4"}, "ready 7 (was 4)"),
    StepText.FIGURE_NOT_READ: ({"figure": "ready", "before": "4"}, "ready not read again yet (was 4)"),
    KeyHint.CANCEL: ({}, "esc cancels"),
    KeyHint.CLOSE: ({}, "esc closes"),
    KeyHint.CONFIRM: ({}, "← then enter · s SQL · esc cancels"),
    KeyHint.STOP: ({}, "b continues in the background · esc stops"),
    KeyHint.CHOICE: ({}, "← → choose · tab next · s SQL · esc cancels"),
    KeyHint.FIELD: ({}, "tab next · esc cancels"),
    PlanDialogText.PLANNED_AGO: ({"age": "1 m 05 s"}, "1 m 05 s ago"),
    PlanDialogText.MORE_ROWS: ({"count": 1199}, "… and 1,199 more"),
    PlanDialogText.IN_BATCHES: ({"count": "1,204 messages", "batch": 500}, "1,204 messages in batches of 500"),
    ActionRequestText.CHOOSE_MESSAGES: ({}, "press tab, then → to choose the messages"),
    ActionRequestText.NOTHING_TO_UNDO: ({}, "no operation on this queue can be undone; press 6 to list the operations"),
    ActionRequestText.ERROR_FIELD: ({}, "only messages whose last error contains this text"),
    ActionRequestText.PAYLOAD_FIELD: ({}, "only messages that contain this text"),
    EndedText.WHAT: (
        {"operation": "Requeue 1,204 messages of invoices", "target": "orders-prod"},
        "Requeue 1,204 messages of invoices on orders-prod",
    ),
    EndedText.PROBLEM: (
        {"what": "Requeue 1,204 messages of invoices on orders-prod", "problem": "the server closed the connection"},
        "Requeue 1,204 messages of invoices on orders-prod: the server closed the connection",
    ),
    EndedText.RESULT: (
        {
            "what": "Requeue 1,204 messages of invoices on orders-prod",
            "state": "unknown",
            "done": 602,
            "count": 1204,
            "why": ": the server closed the connection",
            "key": "key 6 lists operations",
        },
        "Requeue 1,204 messages of invoices on orders-prod: unknown, 602 of 1,204: the server closed the"
        " connection; key 6 lists operations",
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
