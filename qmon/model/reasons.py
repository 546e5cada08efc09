"""Texts of all reasons why a figure is unknown, a lower bound, an estimate or old.

``format`` fills the fields of a text: ``Reason.NO_SEQUENCE.render(column="id")``. The section "Why a figure is unknown"
of the manual explains each reason. Code and tests compare members, never their wording.
"""

from __future__ import annotations

from qmon.texts import Text


class Reason(Text):
    """The reasons, in the order of the manual."""

    # Any figure.
    NOT_READ = "not read"
    NOT_READ_YET = "not read yet"
    NOT_READ_IN_THIS_POLL = "not read in this poll"
    READ_IN_TURNS = "not read yet: queues take turns"
    LAST_READ = "last read {age} ago"
    LAST_READ_BECAUSE = "last read {age} ago: {reason}"
    LAST_READ_AND_NOT_POPPED = "last read {age} ago; not popped since"
    NOT_READ_SINCE = "not read since {time} (throttled); press n to read it now"
    THROTTLED = "read less often to stay within the cost budget"
    WATCHED = "watched: {reason}"

    # The role, the settings or the server hide a value.
    MASKED = "column {column} is masked for your role: {grant}"
    SEQUENCE_UNREADABLE = "your role may not read {names}: run GRANT SELECT ON SEQUENCE {sequences}"
    SESSIONS_UNSEEN = "your role cannot see sessions or their statements"
    HOLDERS_AGE_UNSEEN = "the age of the transactions that hold the messages is unknown"
    TABLE_UNSEEN = "your role cannot see the table that holds the messages"
    ROWS_HIDDEN = "with optimized locking, the server shows no locks on changed rows"
    SERVER_DOES_NOT_COUNT = "this server does not have this counter, or your role cannot see it"
    SERVER_DOES_NOT_COUNT_ROWS = "this server does not count rows read"
    SERVER_DOES_NOT_SAY = "this server does not report this figure"
    LIBRARY_WORKERS = "sessions of library workers do not show which queue they serve"
    STANDBY_COUNTERS = "standby: the primary's counters are not available here"
    STANDBY_SESSIONS = "standby: the primary's sessions are not available here"
    STANDBY_SEQUENCES = "standby: the primary's sequences are not available here"
    STANDBY_IDS = "standby: computed from the ids of the rows"
    STANDBY_BEHIND = "standby: {delay}"

    # Probes that could not read.
    LOCKED = "a session has locked the table so that readers wait; qmon will try again later"
    DEADLINE = "the probe took too long and was canceled; qmon will try again later"
    CONNECTION_LOST = "the connection was lost each time this probe ran; qmon will try again later"

    # Rates.
    RATES_FOLLOW = "rates need a second poll"
    FOLLOWS_WITH_SECOND_POLL = "needs a second poll"
    FOLLOWS_WITH_NEXT_READING = "needs another reading"
    COUNTERS_BROKEN = "the counters were interrupted"
    COUNTERS_UNREAD = "the counters were not read in this poll"
    OWN_OPERATION = "a qmon operation is changing messages of this queue, or has just ended"
    COUNTERS_RESET = "the counters of this table were reset, or may have been"
    COUNTERS_STAND_STILL = (
        "rows move without the table's counters: sessions report late, or have turned track_counts off"
    )
    DELETES_UNCLEAR = "rows are deleted, and the server cannot tell whether that pops or removes messages"
    UPDATES_UNCLEAR = "more messages left ready than updates show: consumers may finish a ready message in one step"
    UPDATES_ARE_NO_POPS = (
        "rows are updated, but fewer messages left ready: workers may report progress, or messages may be given back"
    )
    COUNTERS_OFF = "track_counts is off on this server, so the server does not count pushed and popped rows"
    NOTHING_COUNTED = "the server has no counters for this table"
    NOTHING_COUNTED_SINCE = "the server has had no counters for this table for {age}"
    PARTITIONED_BY_STATE = "partitioned by {column}: the server counts a changed {column} as a delete and an insert"
    MIXED_QUEUES = "several queues may share the table, and deleted rows cannot be assigned to one"
    NO_LOG_OF_STEPS = "the queue's tables do not record pushes and pops"
    RETRIES_UNSEEN = "failed attempts that were retried are not counted"
    POPS_ARE_COMPLETIONS = "a pop of this design completes its message"
    POPS_AS_COMPLETIONS = "the server cannot distinguish pops from completions"
    COMPLETIONS_AS_POPS = "the server cannot distinguish completions from pops"
    UPDATES_ONLY = "{reason}: the server counts only updates, not pops and completions"
    NOTHING_POPPED = "nothing was popped"
    NO_POP_ENDED = "no pop has ended in the last minute"
    NOTHING_UPDATED = "nothing was updated"
    NO_POP_PROCEDURE = 'no known pop procedure has run: set consumers = {{ procedure = "…" }}'
    PROCEDURES_NOT_RUN = "no procedure has run, or your role cannot see it: GRANT VIEW DEFINITION"
    USE_UNREAD = "the usage of the queue's tables was not read"

    # A table or a design has no such figure.
    NOTHING_READY = "no message is ready"
    NOT_PUSHED_YET = "the next numbers have no message yet"
    NO_GAP = "only rings and tables with ordered ids have a gap"
    NO_ID = "the table has no id"
    IDS_NOT_NUMBERS = "ids are {type}, not numbers"
    NO_SEQUENCE = "no known sequence issues `{column}`"
    HEAD_BY_TIME = "this queue is ordered by time, not by id"
    NO_SLOTS = "only a ring has slots to fill"
    RING_HAS_NO_DUE_TIME = "a ring has no due time"
    RING_HAS_NO_DEAD = "a ring has no dead messages"
    RING_HAS_NO_PROGRESS = "a ring has no messages in progress"
    DONE_NOT_KEPT = "done messages do not stay in the table"
    OTHERS_UNCOUNTED = "the other states are not counted yet"
    NO_DUE_TIME = "this table has no column for the due time"
    NO_DEAD_STATE = "this table has no state for dead messages"
    NO_PROGRESS_STATE = "the state column has no value for messages in progress"
    NOT_IN_TABLE = "this table has no such figure"
    NO_VALUE = "this table has no message with this figure"
    NO_BLOCKED_STATE = "this table has no state for blocked messages"
    NOTHING_BLOCKED = "no message is blocked"
    NO_BLOCKED_TIME = "no column for the time when a message was blocked"
    NO_PUSH_TIME = "no column for the push time"
    NO_START_TIME = "no column for the start time"
    UNTIMED = "no start time in {column} for {untimed:,} of {count:,} messages in progress"
    UNTIMED_ROWS = "no start time in {untimed:,} of {count:,} messages in progress"
    CLIENTS_UNSEEN = "no session was seen at work on this queue"
    NO_TIME_ZONE = '`{column}` has no time zone: set times = "utc", "local" or a zone such as "Europe/Berlin"'
    CLOCK_BEHIND = "{age} by its push time, but a producer's clock is behind"
    CLOCK_AHEAD = "{column} is {lead} ahead of the server's clock: check the time zone and the producer's clock"

    # Indexes, scans and counts.
    NO_INDEX_FOR_READY = "no index finds the ready rows ({why}), so qmon scans the table; {index}"
    NO_INDEX_FOR_DUE = "no index finds the due rows, so qmon scans the table; {index}"
    NO_INDEX_FOR_PROGRESS = "no index finds the rows in progress, so qmon scans the table; {index}"
    NO_INDEX_FOR_DEAD = "no index finds the dead rows, so qmon scans the table; {index}"
    NO_INDEX_FOR_BLOCKED = "no index finds the blocked rows; {index}"
    NO_INDEX_FOR_FIGURE = "no index supports this figure"
    NO_INDEX_FOR_STATES = "no index finds the values of `{column}`, so qmon scans the table"
    NO_INDEX_FOR_SLOT = "no index starts with the slot `{column}`, so qmon does not read the slots"
    DUE_MAY_BE_NULL = "`{column}` may be NULL, so no single seek finds the due rows and qmon scans the table"
    IDS_IN_NO_ORDER = "ids are {type} without order, and no index starts with the push time"
    NO_ORDER = "the table has no column that orders its messages"
    SCANNED_INSTEAD = "{reason}; qmon scans the table"
    SCANNED_UNLESS_SMALL = "{reason}; qmon scans the table unless it is small"
    NOT_SOUGHT = "{reason}; qmon does not search for the oldest message"
    FOUND_WHILE_SMALL = "{reason}; known only while the table is small"
    POP_DELETES = "a pop deletes its row, and no index finds the rows that consumers hold"
    POP_FINISHES = "a pop marks its message as done at once, and no index finds the rows that consumers hold"
    UNLESS_SMALL = "{reason}, unless the table is small"
    WALKING = "qmon is still searching behind finished rows for the oldest ready message"
    SCANNED = "counted by a table scan"
    SCANNED_IN = "counted by a table scan that took {time}"
    MORE_THAN_COUNTED = "more messages than one poll counts"
    COUNT_UNDER_WAY = "more messages than one poll counts; a full count is running"
