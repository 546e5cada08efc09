"""The wording of the screens of failures, operations, events and history."""

from __future__ import annotations

from typing import Any, Final

from qmon.texts import Text
from qmon.tui.failures.failure_rows import FailureRowText
from qmon.tui.failures.failures_screen import FailuresText
from qmon.tui.history.history_panel import HistoryPanelText
from qmon.tui.history.history_screen import HistoryNotice
from qmon.tui.history.marks import EventsText
from qmon.tui.operations.operation_rows import OperationDetail
from qmon.tui.operations.operations_screen import OperationsText
from qmon.tui.timeline.timeline_screen import TimelineText
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    FailureRowText.NO_TIME: ({}, "no column contains the time at which these messages failed or were pushed"),
    FailuresText.TITLE: ({}, "failed and retried messages by error"),
    FailuresText.NEWEST: ({}, "newest message of this kind"),
    FailuresText.NOT_READ: ({}, "the next poll reads the failed messages"),
    FailuresText.NONE: ({}, "no message has failed"),
    FailuresText.NONE_AMONG: ({"count": "2,000"}, "no message has failed among the newest 2,000 rows"),
    FailuresText.ONLY_NEWEST: ({}, "only the newest were read"),
    FailuresText.NO_FAILURE_SELECTED: ({}, "no failure is selected"),
    FailuresText.NONE_DEAD: ({}, "no message of this kind is dead; consumers retry these messages"),
    FailuresText.IN_PROGRESS: ({}, "all messages of this kind are in progress"),
    OperationDetail.NOT_ENDED: ({"began": "14:32:07"}, "began 14:32:07, has not ended"),
    OperationDetail.ENDED: (
        {"began": "14:32:07", "ended": "14:32:12", "duration": "5.0 s"},
        "began 14:32:07, ended 14:32:12, after 5.0 s",
    ),
    OperationDetail.WHAT: ({"operation": "requeue", "queue": "orders"}, "requeue of orders"),
    OperationDetail.UNDO_ROWS: (
        {"state": "rows saved"},
        "rows saved; the plan of an undo reads how many messages can still be restored",
    ),
    OperationDetail.NO_REASON: ({}, "none was given"),
    OperationDetail.DONE: ({"done": 602, "skipped": 2, "changed": 1}, "602 · skipped 2 · changed 1"),
    OperationDetail.DONE_AND_REFUSED: (
        {"done": 602, "skipped": 2, "changed": 1, "refused": 2},
        "602 · skipped 2 · changed 1 · refused 2",
    ),
    OperationsText.VIEW_ONLY: ({}, "view only: operations are not read"),
    OperationsText.READING: ({}, "reading the operations"),
    OperationsText.NONE: ({}, "no operations yet"),
    OperationsText.UNREADABLE: (
        {"problem": "the server closed the connection"},
        "cannot be read: the server closed the connection",
    ),
    OperationsText.NO_OPERATION_SELECTED: ({}, "no operation is selected"),
    OperationsText.SELECTED: ({}, "selected operation"),
    OperationsText.NO_UNDO: ({"state": "undone"}, "this operation cannot be undone: undone"),
    OperationsText.DETAIL_KEYS: ({}, "u undoes the operation · esc closes"),
    TimelineText.NONE: ({}, "no events yet"),
    TimelineText.READING: ({}, "reading the recordings"),
    TimelineText.IS_READING: ({}, "reading"),
    TimelineText.SELECTED: ({}, "selected event"),
    TimelineText.READ_KEY: ({}, "G reads older events"),
    TimelineText.SINCE: ({"time": "Tue 14:00:00"}, "since Tue 14:00:00"),
    TimelineText.UNREADABLE: (
        {"problem": "the server closed the connection"},
        "operations cannot be read: the server closed the connection",
    ),
    TimelineText.UNREADABLE_OF: (
        {"target": "orders-prod", "problem": "the server closed the connection"},
        "operations of orders-prod cannot be read: the server closed the connection",
    ),
    HistoryPanelText.READING: ({"share": "40 %"}, "reading 40 % · esc stops"),
    HistoryPanelText.STOPPED: ({}, "stopped: part of the range was not read"),
    HistoryPanelText.DAMAGED: ({"problem": "the file ends early"}, "damaged: the file ends early"),
    HistoryPanelText.RECORD_AT_SERVE: (
        {"address": "ops-1:9777"},
        "start qmon serve at ops-1:9777 with --record DIR to record",
    ),
    HistoryPanelText.RECORD_MORE: ({"target": "orders-prod"}, "record more: `qmon connect orders-prod --record DIR`"),
    HistoryPanelText.CLICK: ({}, "or click: figures at one moment"),
    HistoryPanelText.DRAG: ({}, "twice, or drag: zoom into a range"),
    HistoryPanelText.VALUES: ({"least": "3", "most": "31"}, "(3 to 31)"),
    HistoryPanelText.AT: ({"time": "14:20:00"}, "at 14:20:00"),
    HistoryPanelText.NO_USUAL_RANGE: (
        {"reason": "not enough history of orders"},
        "no usual range: not enough history of orders",
    ),
    HistoryPanelText.USUAL: (
        {"hour": "Tue 14–15 h", "low": "2", "high": "40", "weeks": 4},
        "usual Tue 14–15 h: 2 – 40, from 4 weeks",
    ),
    HistoryPanelText.TOO_FEW_WEEKS_OF_HOUR: ({"weeks": 4}, "fewer than 4 weeks of data for this hour"),
    HistoryPanelText.TOO_FEW_WEEKS: ({"weeks": 4}, "fewer than 4 weeks of data for these hours"),
    HistoryPanelText.NO_BASELINES: ({}, "no baselines yet, run qmon pipeline baselines"),
    HistoryPanelText.NOT_IN_BASELINES: ({"figure": "gap"}, "baselines do not include gap"),
    HistoryPanelText.NOT_ENOUGH_HISTORY: ({"queue": "orders"}, "not enough history of orders"),
    HistoryPanelText.NO_DATA_OF_FIGURE: (
        {"figure": "gap", "queue": "orders"},
        "no data for gap of orders in this range",
    ),
    HistoryPanelText.NO_DATA_OF_QUEUE: (
        {"queue": "orders", "queues": "mails, audit"},
        "no data for orders in this range; [ and ] switch to: mails, audit",
    ),
    HistoryPanelText.NOTHING_RECORDED: ({}, "no data is recorded for this target yet"),
    HistoryPanelText.NO_DATA: (
        {"since": "Tue 2026-11-17 07:00", "until": "Tue 2026-11-17 21:00 CET"},
        "no data in this range; there is data from Tue 2026-11-17 07:00 to Tue 2026-11-17 21:00 CET",
    ),
    HistoryPanelText.NO_DATA_HINT: (
        {
            "since": "Tue 2026-11-17 07:00",
            "until": "Tue 2026-11-17 21:00 CET",
            "hint": "record more: `qmon connect shop --record DIR`",
        },
        "no data in this range; there is data from Tue 2026-11-17 07:00 to Tue 2026-11-17 21:00 CET; "
        "record more: `qmon connect shop --record DIR`",
    ),
    HistoryNotice.NO_MORE_EVENTS: ({}, "no more incidents or operations of this queue in this direction"),
    HistoryNotice.NO_REPLAY: ({}, "only a replay can jump to a moment"),
    HistoryNotice.NOT_READ_YET: ({}, "no data has been read yet"),
    HistoryNotice.REPLAY_MOVED: ({}, "replay moved to the cursor; 1 shows all queues at that moment"),
    EventsText.TITLE: ({}, "incidents and operations"),
    EventsText.INCIDENT: (
        {"verdict": "stuck in progress", "proof": "7 in progress for more than 5 m 00 s"},
        "stuck in progress: 7 in progress for more than 5 m 00 s",
    ),
    EventsText.NONE: ({}, "no incident or operation of this queue in this range"),
    EventsText.NONE_LISTED: ({}, "no event in this range"),
    EventsText.POSITION: ({"number": 2, "count": 12}, "2 of 12"),
    EventsText.COUNTS: ({"incidents": "2 incidents", "operations": "1 operation"}, "2 incidents, 1 operation"),
    EventsText.GO_TO_EACH: ({}, "go to each"),
    EventsText.TIME: (
        {"since": "Tue 13:59:00", "until": "14:29:00", "duration": "30 m 00 s"},
        "Tue 13:59:00–14:29:00 (30 m 00 s)",
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
