"""The wording of the overview and of the screens of queues and messages."""

from __future__ import annotations

from typing import Any, Final

from qmon.texts import Text
from qmon.tui.figures import UnreadText
from qmon.tui.message.message_panel import MessagePanelText
from qmon.tui.message.message_screen import MessageScreenText
from qmon.tui.overview.broker_panel import BrokerPanelText
from qmon.tui.overview.causes import CauseText
from qmon.tui.overview.column_choice import ColumnsText
from qmon.tui.overview.overview_lines import TargetLineText
from qmon.tui.overview.overview_screen import OverviewText
from qmon.tui.overview.summary import SummaryText
from qmon.tui.overview.trend_panel import TrendsText
from qmon.tui.queue.message_lists import ListsText
from qmon.tui.queue.message_rows import ListTitle, MessageRowText, OneMessage
from qmon.tui.queue.queue_panel import QueuePanelText
from qmon.tui.queue.queue_screen import QueueScreenText
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    UnreadText.THROTTLED: (
        {"what": "blocking", "duration": "8.0 s"},
        "blocking is read only every 8.0 s to stay within the cost budget; n reads now",
    ),
    UnreadText.NOT_READ: ({"what": "server health"}, "server health was not read in this poll; a later poll reads it"),
    BrokerPanelText.READ_AGO: ({"queues": "2 queues", "age": "14 s"}, "2 queues · read 14 s ago"),
    BrokerPanelText.TASKS: ({"running": 2, "maximum": 5}, "2 of 5"),
    BrokerPanelText.NOT_DELIVERED: ({"count": "12"}, "12 sent and not delivered yet"),
    CauseText.QUEUES: ({"count": 11, "total": 12}, "11 of 12 queues"),
    CauseText.OTHER: ({"verdict": "cleanup held back", "count": 3}, "cleanup held back: 3"),
    ColumnsText.REQUIRED: ({}, "the queue column cannot be hidden, because it identifies the rows"),
    OverviewText.GUESSED: ({"count": 1}, "1 only guessed"),
    OverviewText.ONE_CANDIDATE: ({}, "1 more table may be a queue"),
    OverviewText.CANDIDATES: ({"count": 3}, "3 more tables may be queues"),
    OverviewText.PROPOSE_KEY: (
        {"queues": "1 only guessed, 1 more table may be a queue"},
        "W: 1 only guessed, 1 more table may be a queue",
    ),
    OverviewText.NO_QUEUE: ({}, "no queue is known on this target"),
    OverviewText.NO_QUEUE_PRESS_W: ({}, "no queue is known on this target; W lists tables that may be queues"),
    TargetLineText.FAILING: ({"probes": "2 probes"}, "▲ 2 probes failing"),
    TargetLineText.NO_WAITS: ({}, "none"),
    TargetLineText.HELD_FOR: ({"duration": "5 m 00 s"}, " for 5 m 00 s"),
    SummaryText.ONE_CRITICAL: ({}, "is critical"),
    SummaryText.CRITICAL: ({}, "are critical"),
    SummaryText.ONE_WARNING: ({}, "has a warning"),
    SummaryText.WARNING: ({}, "have a warning"),
    SummaryText.ONE_FINE: ({}, "is fine"),
    SummaryText.FINE: ({}, "are fine"),
    SummaryText.ONE_NOTICE: ({}, "has a notice"),
    SummaryText.NOTICE: ({}, "have a notice"),
    SummaryText.ONE_PAUSED: ({}, "is paused on purpose"),
    SummaryText.PAUSED: ({}, "are paused on purpose"),
    SummaryText.ONE_UNKNOWN: ({}, "is unknown"),
    SummaryText.UNKNOWN: ({}, "are unknown"),
    SummaryText.NO_QUEUE: ({}, "no queue is known"),
    SummaryText.AS_OF: ({"age": "14 s"}, "As of 14 s ago: "),
    SummaryText.ONLY_QUEUE: ({"state": "is critical"}, "The only queue is critical"),
    SummaryText.BOTH_QUEUES: ({"state": "are critical"}, "Both queues are critical"),
    SummaryText.ALL_QUEUES: ({"count": 12, "state": "are fine"}, "All 12 queues are fine"),
    SummaryText.SOME_QUEUES: ({"count": 2, "total": 12, "state": "are critical"}, "2 of 12 queues are critical"),
    SummaryText.ALSO: ({"count": 1, "state": "has a warning"}, ", 1 has a warning"),
    SummaryText.NAME: ({}, ": "),
    SummaryText.WORST: ({}, "; worst: "),
    SummaryText.READY: ({"count": "1,204"}, ", 1,204 ready"),
    SummaryText.OLDEST: ({"age": "14m"}, ", oldest 14m"),
    SummaryText.NO_RATES: ({}, "; no rates yet"),
    SummaryText.BROKER: ({}, "; Service Broker has a problem"),
    SummaryText.SERVER: ({}, "; the server has a problem"),
    SummaryText.END: ({}, "."),
    TrendsText.SPAN: ({"duration": "10 m 00 s"}, "last 10 m 00 s"),
    TrendsText.LABEL: ({"figure": "depth", "value": "31", "peak": "40"}, "depth 31, peak 40"),
    ListsText.NO_LIST: (
        {"states": "scheduled", "why": "this table has no column for the due time"},
        "no list of scheduled: this table has no column for the due time",
    ),
    ListsText.FIRST_PAGE: ({}, "this is the first page"),
    ListsText.LAST_PAGE: ({}, "this is the last page"),
    ListsText.OPEN_LIST_FIRST: ({}, "press l to open a list with pages"),
    ListsText.PART: ({"first": "101", "last": "200"}, "101–200"),
    ListsText.SHOWN_OF: ({"shown": "9", "count": "131"}, "9 of 131"),
    ListsText.FIRST_SHOWN: ({"shown": "50"}, "the first 50"),
    ListsText.FIRST_SHOWN_OF: ({"shown": "50", "count": "~1,204"}, "the first 50 of ~1,204"),
    ListsText.PAGE: ({"messages": "100 of 12,431", "number": 2}, "100 of 12,431, page 2"),
    ListsText.THE_LAST_PAGE: ({"messages": "100 of 12,431", "number": 2}, "100 of 12,431, page 2, the last"),
    ListsText.HIGHEST_FIRST: ({}, ", highest first"),
    ListsText.BY: ({"order": "`queue_id`", "direction": ", highest first"}, "by `queue_id`, highest first"),
    ListsText.NO_INDEX: (
        {"count": "2,000", "order": "`queue_id`", "direction": ", highest first"},
        "no index for this list: 2,000 rows read by `queue_id`, highest first",
    ),
    ListsText.MANY_SHARE: (
        {"order": "`queue_id`"},
        "too many messages share one `queue_id`: some messages are missing",
    ),
    ListsText.UNSORTED: ({"count": "2,000"}, "unsorted, because no index gives an order: only 2,000 rows read"),
    ListsText.COUNTED_AGO: ({"count": "~50", "age": "14 s"}, "~50 counted 14 s ago"),
    ListsText.NONE: ({"message": "dead message"}, "no dead message"),
    ListsText.NONE_ANY_MORE: ({"message": "dead message"}, "no dead message here any more"),
    ListsText.NONE_ON_PAGE: (
        {"message": "dead message", "count": "2,000"},
        "no dead message among these 2,000 rows; . continues",
    ),
    ListsText.FOUND: (
        {"shown": "3", "texts": "payloads and errors", "count": "812"},
        "3 found in the payloads and errors of 812 rows",
    ),
    ListsText.FOUND_AND_MORE: (
        {"shown": "3", "texts": "payloads", "count": "2,000"},
        "3 found in the payloads of 2,000 rows; . searches on",
    ),
    ListsText.NOT_FOUND: (
        {"message": "dead message", "count": "812"},
        "no dead message with this text among these 812 rows",
    ),
    ListsText.NOT_FOUND_YET: (
        {"message": "dead message", "count": "2,000"},
        "no dead message with this text among these 2,000 rows; . searches on",
    ),
    ListsText.ONLY_READ: (
        {"shown": "3", "count": "100", "characters": 200},
        "3 of the 100 rows on this page match, payloads to 200 characters",
    ),
    ListsText.SEARCHES_READ_ROWS: (
        {"why": "the messages of a ring cannot be searched"},
        "only the rows on screen are searched: the messages of a ring cannot be searched",
    ),
    ListsText.NONE_AMONG_FIRST: (
        {"message": "dead message", "count": "2,000"},
        "no dead message among these 2,000 rows; l lists all, page by page",
    ),
    ListTitle.READY: ({}, "ready messages"),
    ListTitle.SCHEDULED: ({}, "scheduled messages"),
    ListTitle.IN_PROGRESS: ({}, "messages in progress"),
    ListTitle.STUCK: ({}, "stuck messages"),
    ListTitle.BLOCKED: ({}, "blocked messages"),
    ListTitle.DEAD: ({}, "dead messages"),
    ListTitle.DONE: ({}, "done messages"),
    ListTitle.AT_HEAD: ({}, "messages at the head"),
    OneMessage.READY: ({}, "ready message"),
    OneMessage.SCHEDULED: ({}, "scheduled message"),
    OneMessage.IN_PROGRESS: ({}, "message in progress"),
    OneMessage.STUCK: ({}, "stuck message"),
    OneMessage.BLOCKED: ({}, "blocked message"),
    OneMessage.DEAD: ({}, "dead message"),
    OneMessage.DONE: ({}, "message that is done"),
    MessageRowText.NO_AGE: ({}, "this table has no start time, so the age of a row is unknown"),
    QueuePanelText.PEAK: ({"plot": "▁▃▇", "value": "40"}, "▁▃▇ peak 40"),
    QueuePanelText.WAITING: ({"count": "3"}, "(3 waiting)"),
    QueuePanelText.DEPTH_COUNTED_AGO: ({"age": "14 s"}, "depth counted 14 s ago"),
    QueuePanelText.THROTTLED: ({"figures": "depth and oldest, stuck"}, "throttled: depth and oldest, stuck"),
    QueuePanelText.READ_EVERY: (
        {"duration": "8.0 s", "usual": "2.0 s"},
        "read every 8.0 s instead of 2.0 s to stay within the cost budget",
    ),
    QueuePanelText.UNKNOWN: (
        {"figure": "ready, stuck", "reason": "permission denied for table payroll"},
        "ready, stuck: permission denied for table payroll",
    ),
    QueuePanelText.ALL_KNOWN: ({}, "every figure is known"),
    QueuePanelText.MORE_LINES: ({"count": 4}, "… 4 more lines"),
    QueuePanelText.MORE_VERDICTS: ({"verdicts": "2 more verdicts"}, "and 2 more verdicts"),
    QueuePanelText.PAST_VERDICT: (
        {"symbol": "■", "verdict": "everything locked", "time": "20:21:40", "duration": "5 m 00 s"},
        "■ everything locked at 20:21:40 UTC for 5 m 00 s",
    ),
    QueuePanelText.PAST_PROOF: (
        {"verdict": "■ everything locked at 20:21:40 UTC for 5 m 00 s", "proof": "session 3 holds all"},
        "■ everything locked at 20:21:40 UTC for 5 m 00 s: session 3 holds all",
    ),
    QueuePanelText.PUSHED_NOT_POPPED: ({}, "pushed, not popped"),
    QueuePanelText.GAP: ({}, "gap"),
    QueuePanelText.GAP_BY_STATE: ({}, "the gap, by state"),
    QueueScreenText.ROWS_NOT_READ: ({}, "the next poll reads the rows"),
    QueueScreenText.PAGE_NOT_READ: ({}, "the next poll reads this page"),
    QueueScreenText.NONE_IN_PROGRESS: ({}, "no message is in progress"),
    QueueScreenText.NONE_STUCK: ({}, "no message is stuck"),
    QueueScreenText.PLOT: ({}, "throughput and depth"),
    QueueScreenText.PEAK_DEPTH: ({"time": "last 10 m 00 s", "count": "40"}, "last 10 m 00 s, peak depth 40"),
    QueueScreenText.MARKED: ({"count": 2}, "2 marked, esc clears"),
    QueueScreenText.MARKED_GONE: ({"messages": "1 marked message"}, "1 marked message no longer listed"),
    QueueScreenText.SORTED_BY: (
        {"messages": "100 of 12,431", "column": "age"},
        "100 of 12,431 · this page sorted by age",
    ),
    QueueScreenText.FILTER_KEYS: ({}, "enter searches all messages of the list · !text excludes · esc clears"),
    QueueScreenText.GO_BACK: (
        {"why": "orders is no longer among the queues"},
        "orders is no longer among the queues; esc goes back to the overview",
    ),
    MessagePanelText.NO_PAYLOAD_COLUMN: ({}, "this queue has no payload column; see the columns"),
    MessagePanelText.OF_QUEUE: ({"queue": "orders"}, "of orders"),
    MessagePanelText.NO_OWNER: ({}, "none"),
    MessagePanelText.NO_OWNER_COLUMN: ({}, "unknown: the table has no owner column"),
    MessagePanelText.OWNER: (
        {"owner": "app-7/61", "activity": "session 61 (mailer, shop, app-7): active"},
        "app-7/61: session 61 (mailer, shop, app-7): active",
    ),
    MessagePanelText.CUT: ({}, ", cut: only the beginning is shown"),
    MessagePanelText.PAYLOAD: ({}, "the payload"),
    MessagePanelText.NOT_ALLOWED: (
        {"grant": "GRANT SELECT ON public.orders TO anna"},
        "your role may not read this column; to fix: GRANT SELECT ON public.orders TO anna",
    ),
    MessagePanelText.TOO_LARGE: ({"size": "4.0 MB"}, "4.0 MB: too large to show"),
    MessageScreenText.GONE: ({}, "the message is gone (popped, moved or deleted); this is the data from the last list"),
    MessageScreenText.IN_REPLAY: (
        {},
        "a replay: messages are read only from a live target; this is the data from the list",
    ),
    MessageScreenText.VIEW_ONLY: (
        {},
        "view only: messages are read only from a live target; this is the data from the list",
    ),
    MessageScreenText.READING: ({}, "reading the message"),
    MessageScreenText.POSITION: ({"number": 2, "count": 7}, "2 of 7 listed"),
    MessageScreenText.AS_LISTED: ({}, "as listed"),
    MessageScreenText.FOUND: ({"number": 2, "count": 12}, "2 of 12 found"),
    MessageScreenText.SEARCH_KEYS: ({}, "> next match · < previous match · esc clears"),
    MessageScreenText.FIRST: ({}, "this is the first message of the list"),
    MessageScreenText.LAST: ({}, "this is the last message of the list"),
    MessageScreenText.NO_PAYLOAD: ({}, "there is no payload to copy"),
    MessageScreenText.ID: ({"id": "9120311"}, "id 9120311"),
    MessageScreenText.PAYLOAD: ({}, "the payload"),
    MessageScreenText.PART_OF_PAYLOAD: ({}, "the payload, only the part that was read"),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
