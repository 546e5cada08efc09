"""Events of each kind for the timeline."""

from __future__ import annotations

from qmon.model.alerts.latches import Alert, AlertEvent, Change
from qmon.model.figure import Severity, Verdict
from qmon.model.operation_records import Operation, OperationKind, OperationState, UndoState
from qmon.monitor.source import Phase, SourceState
from qmon.recording.history.in_memory import InMemoryHistory
from tests.tui.scripted import NASTY, SAMPLED_AT, queue, view

STUCK = Verdict("stuck_in_progress", "7 in progress for more than 5 m 00 s", Severity.CRITICAL)
PAUSED = Verdict("paused", "by anna@ops-1 until 10:20: deploy", Severity.NOTICE)
FINE = Verdict("healthy", "")
NOW = SAMPLED_AT


def happened(memory: InMemoryHistory) -> None:
    """Record an event of each kind, in the half hour before now."""

    def at(minutes: float) -> None:
        memory.clock = lambda: NOW - 60 * minutes

    def polled(minutes: float, mails: Verdict, orders: Verdict) -> None:
        at(minutes)
        memory.record_view(view([queue("mails", verdict=mails), queue("orders", verdict=orders)], at=-60 * minutes))

    at(31)
    memory.begins_at = NOW - 31 * 60
    memory.record_state(SourceState("orders-prod", Phase.LIVE))
    polled(30, FINE, FINE)
    polled(20, STUCK, FINE)
    memory.record_alert(
        Change(AlertEvent.RAISED, Alert("someone must look", "mails", Severity.CRITICAL, 0.0, STUCK.proof))
    )
    polled(15, STUCK, PAUSED)
    polled(9, FINE, PAUSED)
    memory.record_alert(
        Change(AlertEvent.CLEARED, Alert("someone must look", "mails", Severity.CRITICAL, 0.0, STUCK.proof))
    )
    at(4)
    memory.record_state(SourceState("orders-prod", Phase.LOST, "server closed the connection"))
    at(3)
    memory.record_state(SourceState("orders-prod", Phase.LIVE))
    reason = f"worker died {NASTY}"
    memory.record_operations(
        [
            Operation(
                "op-1",
                OperationKind.REQUEUE,
                "mails",
                OperationState.DONE,
                "anna@ops-1",
                reason,
                40,
                40,
                0,
                0,
                NOW - 600,
                NOW - 599,
                UndoState.POSSIBLE,
            ),
        ]
    )
    at(0)
