"""Why a figure is unknown, a lower bound, an estimate or old: all texts in one place.

``format`` fills the fields of a text: ``Reason.NO_SEQUENCE.format(column="id")``. The manual explains each under "Why a
figure is unknown". Code and tests compare members, never their wording.
"""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """The reasons, in the order of the manual."""

    # Any figure.
    NOT_READ = "not read"
    NOT_READ_YET = "not read yet"
    NOT_READ_IN_THIS_POLL = "not read in this poll"
    READ_IN_TURNS = "not read yet: many queues are read in turns"
    LAST_READ = "last read {age} ago"
    LAST_READ_BECAUSE = "last read {age} ago: {reason}"
    LAST_READ_AND_NOT_POPPED = "last read {age} ago; not popped since"
    NOT_READ_SINCE = "not read since {time}, throttled; n reads now"
    THROTTLED = "read less often, to stay within the budget"
    WATCHED = "watched: {reason}"

    # What the role, the settings or the server do not show.
    MASKED = "column {column} is masked for our role; this helps: {grant}"
    SEQUENCE_UNREADABLE = "our role may not read {names}: GRANT SELECT on it helps"
    SESSIONS_UNSEEN = "sessions, or what they run, cannot be seen"
    HOLDERS_AGE_UNSEEN = "the age of the transactions that hold them is not visible"
    TABLE_UNSEEN = "our role may not see the table that holds them"
    ROWS_HIDDEN = "with optimized locking the server shows no lock on rows that a transaction has changed"
    SERVER_DOES_NOT_COUNT = "this server does not count them, or does not show us"
    SERVER_DOES_NOT_COUNT_ROWS = "this server does not count rows read"
    SERVER_DOES_NOT_SAY = "this server does not say"
    LIBRARY_WORKERS = "the workers of a library are not told apart by their sessions"
    STANDBY_COUNTERS = "standby: the primary's counters are not here"
    STANDBY_SESSIONS = "standby: the primary's sessions are not here"
    STANDBY_SEQUENCES = "standby: the primary's sequences are not here"
    STANDBY_IDS = "standby: by the ids of its rows"
    STANDBY_BEHIND = "standby: {delay}"

    # Probes that could not read.
    LOCKED = "a session holds a lock on the table that even readers wait for; tried again later"
    DEADLINE = "took longer than the poll may; tried again later"
    CONNECTION_LOST = "the connection was lost each time this ran; tried again later"

    # Rates.
    RATES_FOLLOW = "rates follow with the second poll"
    FOLLOWS_WITH_SECOND_POLL = "follows with the second poll"
    FOLLOWS_WITH_NEXT_READING = "follows with the next reading"
    COUNTERS_BROKEN = "counters were not read without a break"
    COUNTERS_UNREAD = "counters were not read in this poll"
    OWN_OPERATION = "an operation of qmon changes messages of this queue, or has just done so"
    COUNTERS_RESET = "the server began to count this table again, or may have"
    COUNTERS_STAND_STILL = (
        "rows move and their table's counters do not: track_counts may be off in the sessions that move them"
    )
    COUNTERS_OFF = "track_counts is off on this server: nothing counts the rows that are pushed and popped"
    NOTHING_COUNTED = "the server has counted nothing of this table yet, or has forgotten it"
    NOTHING_COUNTED_SINCE = "the server has counted nothing of this table since {age} ago"
    PARTITIONED_BY_STATE = "partitioned by {column}: a message that changes it is counted as deleted and pushed again"
    MIXED_QUEUES = "the table holds several queues, and nothing says of which one a row was that is gone"
    NO_LOG_OF_STEPS = "nothing in its tables says what was pushed and popped"
    RETRIES_UNSEEN = "attempts that fail and are followed by another are not seen"
    POPS_ARE_COMPLETIONS = "a pop of this design completes its message"
    POPS_AS_COMPLETIONS = "pops cannot be told from completions"
    COMPLETIONS_AS_POPS = "cannot be told from pops"
    UPDATES_ONLY = "{reason}: the server counts updates, and pops cannot be told from completions"
    NOTHING_POPPED = "nothing was popped"
    NO_POP_ENDED = "no pop has ended in the last minute"
    NOTHING_UPDATED = "nothing was updated"
    NO_POP_PROCEDURE = 'no procedure that pops is known and has run: consumers = {{ procedure = "…" }} names one'
    PROCEDURES_NOT_RUN = "none of its procedures has run, or our role may not see them: VIEW DEFINITION shows them"
    USE_UNREAD = "the use of its tables was not read"

    # What a table or a design does not have.
    NOTHING_READY = "no message is ready"
    NOT_PUSHED_YET = "the next numbers have no message yet"
    NO_GAP = "only a ring, or a table whose rows come in order, has a gap"
    NO_ID = "the table has no id"
    IDS_NOT_NUMBERS = "ids are {type}, not numbers"
    NO_SEQUENCE = "no sequence is known to issue `{column}`"
    HEAD_BY_TIME = "the head is found by its time, not by its id"
    NO_SLOTS = "only a ring has slots to fill"
    RING_HAS_NO_DUE_TIME = "a ring has no due time"
    RING_HAS_NO_DEAD = "a ring has no dead messages"
    RING_HAS_NO_PROGRESS = "a pop of a ring is one short update: nothing stays in progress"
    DONE_NOT_KEPT = "done messages do not stay in the table"
    OTHERS_UNCOUNTED = "not known before the others are counted"
    NO_DUE_TIME = "this table has no time at which a message is due"
    NO_DEAD_STATE = "this table has no state for dead messages"
    NO_PROGRESS_STATE = "no value of the state column says that a message is in progress"
    NO_BLOCKED_STATE = "nothing in this table says that a message is blocked"
    NOTHING_BLOCKED = "no message is blocked"
    NO_BLOCKED_TIME = "no column says since when a message is blocked"
    NO_PUSH_TIME = "no column says when a message was pushed"
    NO_START_TIME = "nothing says since when a message is in progress"
    NO_TIME_ZONE = '`{column}` has no time zone: say times = "utc", "local" or such as "Europe/Berlin"'
    CLOCK_AHEAD = (
        "{column} is {lead} ahead of the server's clock: its time zone, or the clock that wrote it, is another one"
    )

    # Indexes, scans and counts.
    NO_INDEX_FOR_READY = "no index leads to the ready rows ({why}): the table is scanned for it instead; {index}"
    NO_INDEX_FOR_DUE = "no index leads to what is due: the table is scanned for it instead; {index}"
    NO_INDEX_FOR_PROGRESS = "no index leads to the rows in progress: the table is scanned for it instead; {index}"
    NO_INDEX_FOR_DEAD = "no index leads to the dead rows: the table is scanned for it instead; {index}"
    NO_INDEX_FOR_BLOCKED = "no index leads to the blocked rows; {index}"
    NO_INDEX_FOR_STATES = "no index leads to the values of `{column}`: the table is scanned for it instead"
    NO_INDEX_FOR_SLOT = "no index leads with the slot `{column}`: the slots around the positions are not read"
    DUE_MAY_BE_NULL = (
        "`{column}` may be NULL, and no seek finds what is due when it is: the table is scanned for it instead"
    )
    IDS_IN_NO_ORDER = "ids are {type}, in no order, and no index leads with the time of the push"
    NO_ORDER = "the table has no column that orders its messages"
    SCANNED_INSTEAD = "{reason}: the table is scanned for it instead"
    SCANNED_UNLESS_SMALL = "{reason}: the table is scanned for it instead, unless the table is small"
    NOT_SOUGHT = "{reason}: not sought"
    FOUND_WHILE_SMALL = "{reason}: found only while the table is small"
    POP_DELETES = "a pop deletes its row, and nothing leads to the rows that consumers hold"
    POP_FINISHES = "a pop marks its message as finished at once, and nothing leads to the rows that consumers hold"
    UNLESS_SMALL = "{reason}, unless the table is small"
    WALKING = "finished rows lie before the oldest ready message: it is being looked for"
    SCANNED = "the table was scanned for it"
    SCANNED_IN = "the table was scanned for it, which took {time}"
    MORE_THAN_COUNTED = "more than are counted each poll"
    COUNT_UNDER_WAY = "more than are counted each poll; a count is under way"
