"""The wording of parts of reasons and lines about figures."""

from __future__ import annotations

from typing import Any, Final

from qmon.model.baseline_bands import UsualText
from qmon.model.combined_figures import CombinedText
from qmon.model.consumer_list import Unknown
from qmon.model.forecast import ForecastText
from qmon.model.layout.list_states import ListText
from qmon.model.operation_records import OperationText
from qmon.model.samples.polled_samples import SampleText
from qmon.model.sessions.owners import OwnerText
from qmon.model.settings import HarmText
from qmon.model.standby import StandbyText
from qmon.model.trend import TrendText
from qmon.model.waits.horizon_holders import HolderText
from qmon.model.waits.lock_holders import LockHolderText
from qmon.monitor.catalog.access_paths import IndexText
from qmon.monitor.probes.message_pages import RingPageText
from qmon.monitor.state.sample_figures import FigureText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    FigureText.INCLUDES_LOST: ({"count": 3}, "includes 3 with a dead owner, in progress for less than the timeout"),
    FigureText.NOT_STUCK_AT_SCAN: ({"age": "5 m 00 s"}, "no message was stuck when the table was scanned 5 m 00 s ago"),
    FigureText.SHARE_WATCHED: ({"seen": "1 m 00 s", "timeout": "5 m 00 s"}, "1 m 00 s of 5 m 00 s"),
    FigureText.WATCHED_WITHOUT_START: (
        {"watched": "1 m 00 s of 5 m 00 s"},
        "watched for 1 m 00 s of 5 m 00 s: no start time",
    ),
    FigureText.READ_TOO_RARELY: ({}, "no start time, and the interval between reads is longer than the timeout"),
    FigureText.NO_START_AND: (
        {"reason": "more messages than one poll counts"},
        "no start time, and more messages than one poll counts",
    ),
    FigureText.WATCHED_NO_START: ({}, "watched: no start time"),
    FigureText.NO_PUSH_TIME: ({}, "no push time"),
    FigureText.NO_USABLE_TIME: ({"column": "created_at"}, "no usable time in `created_at`"),
    FigureText.PUSH_TIME: ({}, "the push time"),
    IndexText.PARTITIONED: (
        {"columns": "`region`", "column": "id"},
        "partitions by `region` divide each index on (`id`)",
    ),
    IndexText.WHERE: ({"column": "status", "value": "queued"}, " where `status` = queued"),
    IndexText.INDEX_WOULD_HELP: (
        {"column": "id", "where": " where `status` = queued"},
        "an index on (`id`) where `status` = queued would help",
    ),
    IndexText.FINISHED_ROWS_STAY: ({}, "finished rows stay in the index on the id"),
    IndexText.NOT_IN_ORDER: ({"column": "id"}, "the index on `id` is not read in its order"),
    IndexText.NO_INDEX_LEADS: ({"column": "id"}, "no index leads with `id`"),
    CombinedText.UNKNOWN_FOR: ({"missing": 2, "count": 7}, "unknown for 2 of 7 queues"),
    CombinedText.QUEUES_LIMITED: ({"limit": 500}, "qmon reads only 500 queues of a table"),
    ListText.RING_HAS_NO_DUE_TIME: ({}, "a ring has no due time"),
    ListText.RING_HAS_NO_POP_TIME: ({}, "a ring does not record when a message was popped"),
    ListText.RING_HAS_NO_BLOCKED: ({}, "a ring has no blocked messages"),
    ListText.RING_HAS_NO_DEAD: ({}, "a ring has no dead messages"),
    ListText.RING_HAS_NO_DONE: ({}, "a pop frees the slot, so a ring keeps no done messages"),
    ListText.RING_HAS_NO_ERRORS: ({}, "a ring has no column for errors"),
    ListText.LIBRARY_HAS_NO_ERRORS: (
        {"library": "pgmq"},
        "the tables of pgmq have no column for the error of a message",
    ),
    ListText.NO_ERROR_COLUMN: (
        {},
        'no column for the last error is configured; if the table has one, set error = "…" in qmon.toml',
    ),
    ListText.NO_COLUMN_FOR_STATE: (
        {"state": "in progress"},
        "no column of this table shows that a message is in progress",
    ),
    ListText.NO_ID: ({}, "the messages have no id"),
    ListText.NO_DUE_TIME: ({}, "this table has no column for the due time"),
    ListText.NO_PROGRESS: ({}, "the state column has no value for messages in progress"),
    ListText.NO_START_TIME: ({}, "no column for the start time"),
    ListText.NO_SEARCH_OF_RING: ({}, "the messages of a ring cannot be searched"),
    ListText.NO_TEXT: ({}, "no column for the message or its error"),
    ListText.NO_STATE: ({"state": "dead"}, "this table has no state for dead messages"),
    SampleText.AT_LEAST: ({"rows": "1,001 rows"}, "at least 1,001 rows"),
    SampleText.IN_UNKNOWN_STATE: ({"rows": "2 rows"}, "2 rows in no state that qmon knows"),
    SampleText.UNKNOWN_VALUES: (
        {
            "rows": "12 rows",
            "listed": "`7`, `8`, `9`",
            "more": ", …",
            "column": "state",
            "remedy": "; name them in qmon.toml",
        },
        "12 rows in states that qmon does not know: `7`, `8`, `9`, … in `state`; name them in qmon.toml",
    ),
    SampleText.NAME_STATES: ({}, "; name them in qmon.toml"),
    StandbyText.REPLAY_PAUSED: ({}, "replay paused"),
    StandbyText.DELAY_UNKNOWN: ({}, "not known how far behind"),
    StandbyText.BEHIND: ({"age": "5 m 00 s"}, "5 m 00 s behind"),
    TrendText.EACH_TAKES: (
        {"now": "2.5 s", "since": "04:12:00 UTC", "before": "120 ms"},
        "each message takes ~2.5 s since 04:12:00 UTC, ~120 ms before",
    ),
    OwnerText.OWNER_IS_A_NAME: ({}, "the owner is a name, which cannot be checked"),
    OwnerText.NO_TIME_ZONE: ({"column": "heartbeat_at"}, "heartbeat_at has no time zone"),
    OwnerText.NO_HEARTBEAT: ({}, "the column with its heartbeat or lease is empty"),
    OwnerText.SESSIONS_UNSEEN: ({}, "your role cannot see other sessions"),
    OwnerText.NOT_HELD_WHILE_WORKING: ({}, "`held_while_working` is not set for the owner column"),
    OwnerText.SHARED_SESSIONS: ({}, "clients share sessions through a connection pool"),
    OwnerText.UNKNOWN_TIME: ({}, "an unknown time"),
    OwnerText.SERVER_RESTARTED: (
        {"time": "2026-11-28 04:12:00 UTC"},
        "the server started at 2026-11-28 04:12:00 UTC, less than one timeout before the last poll",
    ),
    OwnerText.NO_SESSION: ({}, "the owner column does not contain a session"),
    HolderText.SESSION: ({"session": 61}, "session 61"),
    HolderText.PREPARED: ({"name": "pay 7"}, "prepared transaction pay 7"),
    HolderText.SLOT: ({"name": "reports"}, "replication slot reports"),
    HolderText.STANDBY: ({"name": "db2"}, "standby db2"),
    LockHolderText.SESSION: ({"session": 61}, "session 61"),
    LockHolderText.PREPARED: ({"transaction": "pay 7"}, "prepared transaction pay 7"),
    LockHolderText.SINCE: ({"time": "04:12:00 UTC"}, "in a transaction since 04:12:00 UTC"),
    LockHolderText.WAITS: (
        {"who": "session 61 (anna, app-7, in a transaction since 04:12:00 UTC)"},
        "session 61 (anna, app-7, in a transaction since 04:12:00 UTC) waits to lock the table, and readers wait "
        "for that session",
    ),
    LockHolderText.LOCKED_BY: (
        {"who": "session 61 (anna, app-7, in a transaction since 04:12:00 UTC)"},
        "locked by session 61 (anna, app-7, in a transaction since 04:12:00 UTC)",
    ),
    OperationText.NO_MESSAGE: ({}, "no message matches: nothing to do"),
    OperationText.NO_OLD_MESSAGE: ({}, "the trash has no messages that old: nothing to do"),
    OperationText.PAUSED: (
        {"side": "producers", "who": "anna@app-7", "time": "04:12:00 UTC", "reason": ": deploy"},
        "producers paused by anna@app-7 until 04:12:00 UTC: deploy",
    ),
    ForecastText.EMPTY: ({}, "empty"),
    ForecastText.NOT_MOVING: ({}, "not moving"),
    ForecastText.DRAINS_IN: ({"time": "8 m 20 s"}, "drains in 8 m 20 s"),
    ForecastText.DRAINS_ABOUT: ({"time": "1 m 40 s", "share": "2 %"}, "drains in 1 m 40 s ± 2 %"),
    ForecastText.DRAINS_WITHIN: ({"time": "3.0 s"}, "drains within 3.0 s"),
    ForecastText.GROWING: ({"rate": "12.0"}, "growing 12.0/s"),
    ForecastText.NEEDS_CONSUMERS: (
        {"growing": "growing 12.0/s", "more": "3 more consumers"},
        "growing 12.0/s: needs ≥ 3 more consumers",
    ),
    UsualText.MEDIAN: ({"hour": "Tue 14:00", "median": "1,200"}, "usual Tue 14:00: 1,200"),
    UsualText.MULTIPLE: ({"times": "3.1", "hour": "Tue 14:00"}, "3.1× the usual Tue 14:00"),
    UsualText.TIMES: ({"times": "3.1"}, "3.1×"),
    UsualText.UNUSUALLY_MUCH: ({}, "unusually much"),
    UsualText.UNUSUALLY_LITTLE: ({}, "unusually little"),
    HarmText.LOCKS_KEPT: ({}, "a pop without BEGIN TRANSACTION keeps its locks until the program commits"),
    HarmText.WRITES_FAIL: ({}, "writes to tables with filtered indexes fail"),
    HarmText.COUNT_UNSEEN: ({}, "consumers cannot see how many rows their UPDATE changed"),
    HarmText.RARE_STATISTICS: (
        {},
        "statistics are updated only after 20 % of a table has changed, so pops run with outdated plans",
    ),
    HarmText.COMMITS_LOST: (
        {},
        "a crash loses the last commits: pushed messages are lost, popped messages become ready again",
    ),
    HarmText.DEAD_ROWS: ({}, "dead rows of popped messages are not removed, so each pop reads more of them"),
    HarmText.REPORTS_WAIT: ({}, "reports wait for rows that consumers have changed, and consumers wait for reports"),
    HarmText.LONG_ROLLBACK: ({}, "the rollback of a large batch takes as long as the batch and keeps its locks"),
    HarmText.NO_ROW_LOCKS: (
        {},
        "a DELETE without UPDLOCK leaves no lock on the row: in progress and stuck are lower bounds",
    ),
    HarmText.OUTDATED_PLANS: ({}, "pops run with outdated plans unless a job updates the statistics"),
    HarmText.POPS_WAIT: ({}, "a pop that needs outdated statistics waits until they are updated"),
    HarmText.LOCK_ESCALATION: (
        {},
        "a statement that locks about 5,000 rows locks the whole table or partition, so consumers wait",
    ),
    HarmText.POPS_FAIL: ({}, "a pop fails (40001) if another consumer took the message in the meantime"),
    HarmText.DATABASE_LOST: ({}, "a crash of the machine can destroy the database"),
    HarmText.SESSIONS_UNKNOWN: ({}, "states and statements of sessions are unknown, so blockers have no statement"),
    HarmText.ROWS_UNCOUNTED: ({}, "the server counts no rows: rates are unknown, and autovacuum does not start"),
    HarmText.MESSAGES_KEPT: ({}, "a consumer that hangs in a transaction keeps its messages until its connection ends"),
    HarmText.TABLE_EMPTIED: ({}, "a crash empties the table"),
    HarmText.OPTION: (
        {"option": "NOCOUNT", "harm": "consumers cannot see how many rows their UPDATE changed"},
        "NOCOUNT: consumers cannot see how many rows their UPDATE changed",
    ),
    HarmText.NO_OPTIONS: ({}, "none"),
    HarmText.OF_TABLES: (
        {"setting": "autovacuum_enabled", "tables": "public.orders"},
        "autovacuum_enabled of public.orders",
    ),
    HarmText.NOT_REPORTED: ({}, "this version does not report it for other sessions, or not at all"),
    Unknown.NO_SESSION: ({}, "the tables of the library do not contain the worker's session"),
    Unknown.OWNER_IS_NAME: ({}, "messages contain the consumer's name, which does not show its session"),
    Unknown.NO_HOST: ({}, "the server does not show the host, or the session uses a local socket"),
    Unknown.NO_HOST_COLUMN: ({}, "the table has no column for the consumer's host"),
    Unknown.NO_START: ({}, "the table has no column for the consumer's start"),
    Unknown.NO_OWNER: ({}, "no column shows which consumer holds a message"),
    Unknown.NOT_READ: ({}, "the messages in progress have not been read yet"),
    Unknown.NO_TIME: ({}, "no column shows when the message was taken"),
    Unknown.HOLDS_NONE: ({}, "the consumer holds no message"),
    Unknown.NO_RATE_YET: (
        {},
        "qmon counts the messages of this consumer since this screen was opened; wait a few seconds",
    ),
    Unknown.SESSIONS_UNSEEN: ({}, "qmon cannot see the sessions of this queue's consumers"),
    Unknown.NO_STATE: ({}, "the activity of a session is not visible, or the session is unknown"),
    RingPageText.POSITIONS_UNREADABLE: ({}, "the positions of this ring cannot be read"),
    RingPageText.POSITIONS_UNKNOWN: ({}, "the positions of this ring are unknown"),
    IndexText.NO_INDEX_LEADS_EITHER: ({"column": "status", "id": "id"}, "no index leads with `status` or `id`"),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
