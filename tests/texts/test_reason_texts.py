"""The wording of reasons."""

from __future__ import annotations

from typing import Any, Final

from qmon.model.reasons import Reason
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    Reason.NOT_READ: ({}, "not read"),
    Reason.NOT_READ_YET: ({}, "not read yet"),
    Reason.NOT_READ_IN_THIS_POLL: ({}, "not read in this poll"),
    Reason.READ_IN_TURNS: ({}, "not read yet: queues take turns"),
    Reason.LAST_READ: ({"age": "5 m 00 s"}, "last read 5 m 00 s ago"),
    Reason.LAST_READ_BECAUSE: (
        {"age": "5 m 00 s", "reason": "a session has locked the table so that readers wait; qmon will try again later"},
        "last read 5 m 00 s ago: a session has locked the table so that readers wait; qmon will try again later",
    ),
    Reason.LAST_READ_AND_NOT_POPPED: ({"age": "5 m 00 s"}, "last read 5 m 00 s ago; not popped since"),
    Reason.NOT_READ_SINCE: (
        {"time": "04:12:00 UTC"},
        "not read since 04:12:00 UTC (throttled); press n to read it now",
    ),
    Reason.THROTTLED: ({}, "read less often to stay within the cost budget"),
    Reason.WATCHED: ({"reason": "no push time"}, "watched: no push time"),
    Reason.MASKED: (
        {"column": "payload", "grant": "GRANT UNMASK TO anna"},
        "column payload is masked for your role: GRANT UNMASK TO anna",
    ),
    Reason.SEQUENCE_UNREADABLE: (
        {"names": "public.jobs_id_seq", "sequences": "public.jobs_id_seq"},
        "your role may not read public.jobs_id_seq: run GRANT SELECT ON SEQUENCE public.jobs_id_seq",
    ),
    Reason.SESSIONS_UNSEEN: ({}, "your role cannot see sessions or their statements"),
    Reason.HOLDERS_AGE_UNSEEN: ({}, "the age of the transactions that hold the messages is unknown"),
    Reason.TABLE_UNSEEN: ({}, "your role cannot see the table that holds the messages"),
    Reason.ROWS_HIDDEN: ({}, "with optimized locking, the server shows no locks on changed rows"),
    Reason.SERVER_DOES_NOT_COUNT: ({}, "this server does not have this counter, or your role cannot see it"),
    Reason.SERVER_DOES_NOT_COUNT_ROWS: ({}, "this server does not count rows read"),
    Reason.SERVER_DOES_NOT_SAY: ({}, "this server does not report this figure"),
    Reason.LIBRARY_WORKERS: ({}, "sessions of library workers do not show which queue they serve"),
    Reason.STANDBY_COUNTERS: ({}, "standby: the primary's counters are not available here"),
    Reason.STANDBY_SESSIONS: ({}, "standby: the primary's sessions are not available here"),
    Reason.STANDBY_SEQUENCES: ({}, "standby: the primary's sequences are not available here"),
    Reason.STANDBY_IDS: ({}, "standby: computed from the ids of the rows"),
    Reason.STANDBY_BEHIND: ({"delay": "replay paused"}, "standby: replay paused"),
    Reason.LOCKED: ({}, "a session has locked the table so that readers wait; qmon will try again later"),
    Reason.DEADLINE: ({}, "the probe took too long and was canceled; qmon will try again later"),
    Reason.CONNECTION_LOST: ({}, "the connection was lost each time this probe ran; qmon will try again later"),
    Reason.RATES_FOLLOW: ({}, "rates need a second poll"),
    Reason.FOLLOWS_WITH_SECOND_POLL: ({}, "needs a second poll"),
    Reason.FOLLOWS_WITH_NEXT_READING: ({}, "needs another reading"),
    Reason.COUNTERS_BROKEN: ({}, "the counters were interrupted"),
    Reason.COUNTERS_UNREAD: ({}, "the counters were not read in this poll"),
    Reason.OWN_OPERATION: ({}, "a qmon operation is changing messages of this queue, or has just ended"),
    Reason.COUNTERS_RESET: ({}, "the counters of this table were reset, or may have been"),
    Reason.COUNTERS_STAND_STILL: (
        {},
        "rows move without the table's counters: sessions report late, or have turned track_counts off",
    ),
    Reason.DELETES_UNCLEAR: ({}, "rows are deleted, and the server cannot tell whether that pops or removes messages"),
    Reason.UPDATES_ARE_NO_POPS: (
        {},
        "rows are updated, but fewer messages left ready: workers may report progress, or messages may be given back",
    ),
    Reason.UPDATES_UNCLEAR: (
        {},
        "more messages left ready than updates show: consumers may finish a ready message in one step",
    ),
    Reason.COUNTERS_OFF: (
        {},
        "track_counts is off on this server, so the server does not count pushed and popped rows",
    ),
    Reason.NOTHING_COUNTED: ({}, "the server has no counters for this table"),
    Reason.NOTHING_COUNTED_SINCE: ({"age": "5 m 00 s"}, "the server has had no counters for this table for 5 m 00 s"),
    Reason.PARTITIONED_BY_STATE: (
        {"column": "status"},
        "partitioned by status: the server counts a changed status as a delete and an insert",
    ),
    Reason.MIXED_QUEUES: ({}, "several queues may share the table, and deleted rows cannot be assigned to one"),
    Reason.NO_LOG_OF_STEPS: ({}, "the queue's tables do not record pushes and pops"),
    Reason.RETRIES_UNSEEN: ({}, "failed attempts that were retried are not counted"),
    Reason.POPS_ARE_COMPLETIONS: ({}, "a pop of this design completes its message"),
    Reason.POPS_AS_COMPLETIONS: ({}, "the server cannot distinguish pops from completions"),
    Reason.COMPLETIONS_AS_POPS: ({}, "the server cannot distinguish completions from pops"),
    Reason.UPDATES_ONLY: (
        {"reason": "the state column has no value for messages in progress"},
        "the state column has no value for messages in progress: the server counts only updates, not pops and "
        "completions",
    ),
    Reason.NOTHING_POPPED: ({}, "nothing was popped"),
    Reason.NO_POP_ENDED: ({}, "no pop has ended in the last minute"),
    Reason.NOTHING_UPDATED: ({}, "nothing was updated"),
    Reason.NO_POP_PROCEDURE: ({}, 'no known pop procedure has run: set consumers = { procedure = "…" }'),
    Reason.PROCEDURES_NOT_RUN: ({}, "no procedure has run, or your role cannot see it: GRANT VIEW DEFINITION"),
    Reason.USE_UNREAD: ({}, "the usage of the queue's tables was not read"),
    Reason.NOTHING_READY: ({}, "no message is ready"),
    Reason.NOT_PUSHED_YET: ({}, "the next numbers have no message yet"),
    Reason.NO_GAP: ({}, "only rings and tables with ordered ids have a gap"),
    Reason.NO_ID: ({}, "the table has no id"),
    Reason.IDS_NOT_NUMBERS: ({"type": "uuid"}, "ids are uuid, not numbers"),
    Reason.NO_SEQUENCE: ({"column": "id"}, "no known sequence issues `id`"),
    Reason.HEAD_BY_TIME: ({}, "this queue is ordered by time, not by id"),
    Reason.NO_SLOTS: ({}, "only a ring has slots to fill"),
    Reason.RING_HAS_NO_DUE_TIME: ({}, "a ring has no due time"),
    Reason.RING_HAS_NO_DEAD: ({}, "a ring has no dead messages"),
    Reason.RING_HAS_NO_PROGRESS: ({}, "a ring has no messages in progress"),
    Reason.DONE_NOT_KEPT: ({}, "done messages do not stay in the table"),
    Reason.OTHERS_UNCOUNTED: ({}, "the other states are not counted yet"),
    Reason.NO_DUE_TIME: ({}, "this table has no column for the due time"),
    Reason.NO_DEAD_STATE: ({}, "this table has no state for dead messages"),
    Reason.NO_PROGRESS_STATE: ({}, "the state column has no value for messages in progress"),
    Reason.NOT_IN_TABLE: ({}, "this table has no such figure"),
    Reason.NO_VALUE: ({}, "this table has no message with this figure"),
    Reason.NO_BLOCKED_STATE: ({}, "this table has no state for blocked messages"),
    Reason.NOTHING_BLOCKED: ({}, "no message is blocked"),
    Reason.NO_BLOCKED_TIME: ({}, "no column for the time when a message was blocked"),
    Reason.NO_PUSH_TIME: ({}, "no column for the push time"),
    Reason.NO_START_TIME: ({}, "no column for the start time"),
    Reason.UNTIMED_ROWS: (
        {"untimed": 3, "count": 1200},
        "no start time in 3 of 1,200 messages in progress",
    ),
    Reason.CLIENTS_UNSEEN: ({}, "no session was seen at work on this queue"),
    Reason.UNTIMED: (
        {"column": "started_at", "untimed": 3, "count": 1200},
        "no start time in started_at for 3 of 1,200 messages in progress",
    ),
    Reason.NO_TIME_ZONE: (
        {"column": "created_at"},
        '`created_at` has no time zone: set times = "utc", "local" or a zone such as "Europe/Berlin"',
    ),
    Reason.CLOCK_BEHIND: (
        {"age": "3 h 00 m"},
        "3 h 00 m by its push time, but a producer's clock is behind",
    ),
    Reason.CLOCK_AHEAD: (
        {"column": "`created_at`", "lead": "2 m 00 s"},
        "`created_at` is 2 m 00 s ahead of the server's clock: check the time zone and the producer's clock",
    ),
    Reason.NO_INDEX_FOR_READY: (
        {"why": "no index leads with `id`", "index": "an index on (`id`) where `status` = queued would help"},
        "no index finds the ready rows (no index leads with `id`), so qmon scans the table; an index on (`id`) "
        "where `status` = queued would help",
    ),
    Reason.NO_INDEX_FOR_DUE: (
        {"index": "an index on (`run_at`) where `status` = queued would help"},
        "no index finds the due rows, so qmon scans the table; an index on (`run_at`) where `status` = queued "
        "would help",
    ),
    Reason.NO_INDEX_FOR_PROGRESS: (
        {"index": "an index on (`started_at`) where `status` = running would help"},
        "no index finds the rows in progress, so qmon scans the table; an index on (`started_at`) where `status` "
        "= running would help",
    ),
    Reason.NO_INDEX_FOR_DEAD: (
        {"index": "an index on (`id`) where `status` = failed would help"},
        "no index finds the dead rows, so qmon scans the table; an index on (`id`) where `status` = failed would help",
    ),
    Reason.NO_INDEX_FOR_BLOCKED: (
        {"index": "an index on (`id`) where `status` = waiting would help"},
        "no index finds the blocked rows; an index on (`id`) where `status` = waiting would help",
    ),
    Reason.NO_INDEX_FOR_FIGURE: ({}, "no index supports this figure"),
    Reason.NO_INDEX_FOR_STATES: (
        {"column": "status"},
        "no index finds the values of `status`, so qmon scans the table",
    ),
    Reason.NO_INDEX_FOR_SLOT: (
        {"column": "slot"},
        "no index starts with the slot `slot`, so qmon does not read the slots",
    ),
    Reason.DUE_MAY_BE_NULL: (
        {"column": "run_at"},
        "`run_at` may be NULL, so no single seek finds the due rows and qmon scans the table",
    ),
    Reason.IDS_IN_NO_ORDER: ({"type": "uuid"}, "ids are uuid without order, and no index starts with the push time"),
    Reason.NO_ORDER: ({}, "the table has no column that orders its messages"),
    Reason.SCANNED_INSTEAD: (
        {"reason": "ids are uuid without order, and no index starts with the push time"},
        "ids are uuid without order, and no index starts with the push time; qmon scans the table",
    ),
    Reason.SCANNED_UNLESS_SMALL: (
        {"reason": "the table has no column that orders its messages"},
        "the table has no column that orders its messages; qmon scans the table unless it is small",
    ),
    Reason.NOT_SOUGHT: (
        {"reason": "ids are uuid without order, and no index starts with the push time"},
        "ids are uuid without order, and no index starts with the push time; qmon does not search for the oldest "
        "message",
    ),
    Reason.FOUND_WHILE_SMALL: (
        {"reason": "the table has no column that orders its messages"},
        "the table has no column that orders its messages; known only while the table is small",
    ),
    Reason.POP_DELETES: ({}, "a pop deletes its row, and no index finds the rows that consumers hold"),
    Reason.POP_FINISHES: (
        {},
        "a pop marks its message as done at once, and no index finds the rows that consumers hold",
    ),
    Reason.UNLESS_SMALL: (
        {"reason": "a pop deletes its row, and no index finds the rows that consumers hold"},
        "a pop deletes its row, and no index finds the rows that consumers hold, unless the table is small",
    ),
    Reason.WALKING: ({}, "qmon is still searching behind finished rows for the oldest ready message"),
    Reason.SCANNED: ({}, "counted by a table scan"),
    Reason.SCANNED_IN: ({"time": "4.0 s"}, "counted by a table scan that took 4.0 s"),
    Reason.MORE_THAN_COUNTED: ({}, "more messages than one poll counts"),
    Reason.COUNT_UNDER_WAY: ({}, "more messages than one poll counts; a full count is running"),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
