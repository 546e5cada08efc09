"""The wording of proofs of verdicts."""

from __future__ import annotations

from typing import Any, Final

from qmon.model.service_broker import BrokerText
from qmon.model.texts import Text
from qmon.model.verdicts.access_verdicts import AccessText
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.model.verdicts.judge import JudgeText
from qmon.model.verdicts.message_verdicts import MessageText
from qmon.model.verdicts.server_health_verdicts import ServerHealthText
from qmon.model.verdicts.server_verdicts import ServerText
from qmon.model.verdicts.server_warnings import WarningText
from qmon.model.waits.queue_lock import QueueLockText
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    JudgeText.IS: ({"figures": "stuck", "why": "no order"}, "stuck is no order"),
    JudgeText.ARE: ({"figures": "stuck", "why": "no order"}, "stuck are no order"),
    JudgeText.UNKNOWN: ({"reason": "not read"}, "unknown: not read"),
    JudgeText.PARTLY_KNOWN: ({"reason": "not read"}, "only partly known: not read"),
    JudgeText.MAY_BE_MORE: ({}, "there may be more"),
    JudgeText.RATES_UNKNOWN: ({}, "rates unknown"),
    JudgeText.NO_POP_RATE: ({}, "no pop rate"),
    JudgeText.UNMOVED: (
        {"ready": 1234, "reason": "not read"},
        "1,234 ready, but qmon cannot tell whether messages leave the queue: not read",
    ),
    JudgeText.IF_THIS_LASTS: (
        {"proof": "3 ready", "verdict": "no pops", "age": "5m"},
        "3 ready; no pops if this lasts 5m more",
    ),
    JudgeText.READ_AGO: ({"proof": "3 ready", "age": "5m"}, "3 ready; read 5m ago"),
    JudgeText.NO_MESSAGE: ({"states": "ready or in progress"}, "no message is ready or in progress"),
    JudgeText.AND_BLOCKED: ({"flow": "push 8.0/s, pop 0.5/s", "blocked": "3"}, "push 8.0/s, pop 0.5/s; 3 blocked"),
    JudgeText.READY: ({"ready": 1234, "reason": "not read"}, "1,234 ready; not read"),
    JudgeText.RATES: ({"push": 8.0, "pop": 1234.0}, "push 8.0/s, pop 1,234.0/s"),
    FlowText.NEVER_ARCHIVED: (
        {"done": 12000},
        "~12,000 done messages not archived; no row was ever deleted from the table",
    ),
    FlowText.LONGEST_BREAK: ({"usual": "13 s"}, ", longest break before 13 s"),
    FlowText.NOT_ARCHIVED: (
        {"done": 12000, "silent": "40 s", "before": ", longest break before 13 s"},
        "~12,000 done messages not archived; nothing archived for 40 s, longest break before 13 s",
    ),
    FlowText.AGE: ({"age": "5m"}, " (5m old)"),
    FlowText.STARVED: (
        {"priority": "9", "message": "812", "age": " (5m old)", "still": "20 s", "pops": 1234.0},
        "priority 9 is not popped: message 812 (5m old) has been first for at least 20 s; other priorities are "
        "popped at 1,234.0/s",
    ),
    FlowText.LATE_BY_OWN_TIMEOUT: ({}, "longer than their own timeout"),
    FlowText.LATE_BY_TIMEOUT: ({"timeout": "5 m 00 s"}, "more than 5 m 00 s"),
    FlowText.LATE: ({"count": "1,200", "longer": "more than 5 m 00 s"}, "1,200 in progress for more than 5 m 00 s"),
    FlowText.AT_LEAST: ({}, "at least "),
    FlowText.DEAD_OWNER: (
        {"more": "at least ", "count": 1234, "owner": " (61/5 has message 7)"},
        "at least 1,234 with a dead owner (61/5 has message 7)",
    ),
    FlowText.LIVE_OWNER: (
        {"more": "at least ", "count": 1234, "owner": " (61/5 has message 7)"},
        "at least 1,234 with a live owner (61/5 has message 7)",
    ),
    FlowText.UNKNOWN_OWNER: (
        {"more": "at least ", "count": 1234, "owner": " (61/5 has message 7)", "why": ": the owner is a name"},
        "at least 1,234 with an unknown owner (61/5 has message 7): the owner is a name",
    ),
    FlowText.NO_OWNER: (
        {"more": "at least ", "count": 1234, "owner": " (61/5 has message 7)"},
        "at least 1,234 without a recorded owner (61/5 has message 7)",
    ),
    FlowText.MESSAGE_OF_OWNER: (
        {"whose": "61/5 has ", "message": "812", "since": " for 5m"},
        " (61/5 has message 812 for 5m)",
    ),
    FlowText.FOR: ({"age": "5m"}, " for 5m"),
    FlowText.AND_MORE: ({"count": "1,200"}, " and 1,200 more"),
    FlowText.PREPARED_HOLDER: (
        {"transaction": "pay 7", "age": "5m"},
        "the prepared transaction pay 7 has held them for 5m",
    ),
    FlowText.SESSION_HOLDER: (
        {"session": 61, "text": "idle in transaction, app", "age": "5m"},
        "session 61 (idle in transaction, app) has held them for 5m",
    ),
    FlowText.OLDEST_FOR: ({"age": "5m"}, ", the oldest for 5m"),
    FlowText.MORE_BLOCKERS: ({"count": 1234}, " and 1,234 more"),
    FlowText.WAIT_FOR: ({"blockers": "lock 0", "more": "at least "}, "; they wait for lock 0at least "),
    FlowText.BLOCKED: (
        {
            "more": "at least ",
            "count": 1234.0,
            "oldest": ", the oldest for 12 s",
            "why": "no order",
            "waits": "; they wait for lock 0",
        },
        "at least 1,234 blocked, the oldest for 12 sno order; they wait for lock 0",
    ),
    FlowText.HELD_BY: ({"holder": "session 61"}, ", held by session 61"),
    FlowText.LAST_LEFT: ({"age": "5m"}, "; the last consumer left 5m ago"),
    FlowText.READY_BUT: (
        {"ready": 1234, "why": "no order", "gone": "; the last consumer left 40 s ago"},
        "1,234 ready, but no order; the last consumer left 40 s ago",
    ),
    FlowText.IN_SETTING: ({"setting": "application mailer-*"}, "matches the consumers setting (application mailer-*)"),
    FlowText.NO_LIBRARY_WORKER: ({}, "no worker of the library has reported for this queue"),
    FlowText.HAS_CALLED: ({"pop": "dbo.Pop"}, "has called dbo.Pop"),
    FlowText.HAS_TAKEN: ({"table": "public.t"}, "has taken rows from public.t"),
    FlowText.NO_SESSION: ({"consumer": "has called dbo.Pop"}, "no connected session has called dbo.Pop"),
    FlowText.CONNECTED_SESSION: ({}, "connected session"),
    FlowText.OWNER_HAS_HAD: ({"owner": " (61/5 has message 7)"}, " (61/5 has message 7) has had "),
    FlowText.OWNER_HAS: ({"owner": " (61/5 has message 7)"}, " (61/5 has message 7) has "),
    FlowText.NONE_OF_THE_SESSIONS: (
        {"sessions": "session 21", "consumer": "has called dbo.Pop"},
        "none of the session 21 has called dbo.Pop",
    ),
    FlowText.ONE_DOES_NOT_POP: ({}, "the connected consumer does not pop"),
    FlowText.NONE_POPS: ({"count": 1234}, "none of the 1,234 connected consumers pops"),
    FlowText.NOT_CLAIMING: (
        {"ready": 1234, "none": "the connected consumer does not pop", "one": ": session 71"},
        "1,234 ready, but the connected consumer does not pop: session 71",
    ),
    FlowText.SESSION: ({"session": 61}, "session 61"),
    FlowText.WAITING: ({"kind": "a number"}, ", waiting for a number"),
    FlowText.RING_FULL: ({"share": "98 %"}, "98 % of the slots hold messages, so producers wait"),
    FlowText.OLDEST_OF_READY: ({"count": 1234.0, "age": "5m"}, "1,234 ready, the oldest for 5m"),
    FlowText.NONE_IN_PROGRESS: ({"ready": 1234}, "1234, but none is in progress"),
    FlowText.NONE_POPPED: ({"ready": 1234, "age": "5m"}, "1234, but none was popped for 5m"),
    FlowText.LOCK_UNKNOWN: ({}, "; it is unknown whether a session has locked it"),
    FlowText.MESSAGE: ({"message": "812"}, "message 812"),
    FlowText.SAME_MESSAGE: ({}, "the same message"),
    FlowText.HEAD_STILL: (
        {"ready": 1234, "which": "the same message", "age": "5m", "still": "20 s", "unseen": ""},
        "1,234 ready, but the same message5m has been first in the queue for 20 s",
    ),
    FlowText.NO_POPS: ({"ready": 1234, "push": 8.0}, "1,234 ready, but no pops; push 8.0/s"),
    FlowText.AGES: (
        {"before": ", longest break before 13 s", "now": "2.5 s"},
        ", the age of the oldest from , longest break before 13 s to 2.5 s",
    ),
    FlowText.READY_ROSE: (
        {"before": 1234.0, "now": 1234.0, "ages": "the ages", "over": "1 h 00 m"},
        "ready rose from 1,234 to 1,234the ages, within 1 h 00 m",
    ),
    FlowText.FALLS_BEHIND: ({"push": 8.0, "pop": 1234.0, "net": 7.5}, "push 8.0/s, pop 1,234.0/s: growing 7.5/s"),
    FlowText.ROLLBACKS: ({"rate": 76.0}, "; 76.0 rollbacks/s in this database"),
    FlowText.NO_PUSHES: (
        {"silent": "40 s", "before": ", longest break before 13 s", "rollbacks": "; 7.2 rollbacks/s in this database"},
        "no pushes for 40 s, , longest break before 13 s/s before; 7.2 rollbacks/s in this database",
    ),
    FlowText.MANY_LATER: (
        {"later": 57, "pushed": 60, "since": "04:12:00 UTC"},
        "~57 of 60 messages pushed since 04:12:00 UTC are due later",
    ),
    FlowText.DUE_LATER: (
        {"many": "~57 of 60 messages pushed since 04:12:00 UTC are due later", "share": "98 %"},
        "~57 of 60 messages pushed since 04:12:00 UTC are due later; before, 98 % were",
    ),
    MessageText.ATTEMPTS: ({"count": 1234}, ", 1,234 attempts in total"),
    MessageText.GIVEN_BACK: (
        {"message": "812", "failures": 4, "time": "04:12:00 UTC", "tries": ", 4 attempts in total"},
        "message 812 was popped and given back 4 times in 04:12:00 UTC, 4 attempts in total",
    ),
    MessageText.CRASHES: (
        {"count": 3, "time": "14 s", "which": "always message 7"},
        "3 consumers died one after the other, each with a message in progress, within 14 s: always message 7",
    ),
    MessageText.ALWAYS_ONE: ({"message": "7", "owner": "61/5"}, "always message 7, the last one 61/5"),
    MessageText.SEVERAL: (
        {"count": 2, "message": "7", "owner": "61/5"},
        "2 different messages, the last one 61/5 with message 7",
    ),
    MessageText.ALSO_MORE: ({"count": 1234}, "; also 1,234 more"),
    MessageText.POPPED_TWICE: (
        {"message": "812", "second": "62/5", "first": "ready", "age": "5m", "more": "at least "},
        "message 812 was popped by 62/5 while ready, which popped it 5m ago, is still working on itat least ",
    ),
    MessageText.NUMBER_WITHOUT_MESSAGE: (
        {"number": 1234, "age": "5m"},
        "number 1,234 has no message; a consumer took it at least 5m ago",
    ),
    MessageText.NO_TRANSACTION: (
        {"waited": "number 80 has no message"},
        "number 80 has no message; no open transaction has it",
    ),
    MessageText.MAY_PUSH: (
        {"waited": "number 80 has no message", "drawer": "session 61"},
        "number 80 has no message; session 61 has taken a number and may still push it",
    ),
    MessageText.SESSION: ({"session": 61}, "session 61"),
    MessageText.PREPARED: ({}, "a prepared transaction"),
    MessageText.PUSHED: ({"age": "5m"}, ", pushed 5m ago"),
    MessageText.ONE_MESSAGE: ({}, "1 message was"),
    MessageText.MESSAGES: ({"count": 1234}, "1,234 messages were"),
    MessageText.SLOTS_READ: ({"share": 1234.0}, " (123400% of the slots read)"),
    MessageText.MAY_POP: (
        {"drawer": "session 61"},
        "; session 61 may still pop them, otherwise consumers do when it ends",
    ),
    MessageText.ORPHANS: (
        {"count": "1,200", "number": 1234, "age": "5m", "swept": "the swept", "waits": "; they wait for lock 0"},
        "1,200 taken by consumers but not popped: number 1,2345mthe swept; they wait for lock 0",
    ),
    ServerHealthText.LOG_BACKUP: ({}, "back up the log to free it"),
    ServerHealthText.ACTIVE_TRANSACTION: ({}, "it is free when the oldest transaction ends"),
    ServerHealthText.AVAILABILITY_REPLICA: ({}, "a secondary has not received or redone it yet"),
    ServerHealthText.DATABASE_MIRRORING: ({}, "the mirror has not received it yet"),
    ServerHealthText.REPLICATION: ({}, "replication or change data capture has not read it yet"),
    ServerHealthText.BACKUP_OR_RESTORE: ({}, "it is free when the running backup or restore ends"),
    ServerHealthText.CHECKPOINT: ({}, "it is free after the next checkpoint"),
    ServerHealthText.MEMORY_CHECKPOINT: ({}, "it is free after the next checkpoint of memory-optimized tables"),
    ServerHealthText.SNAPSHOT_CREATION: ({}, "a database snapshot is being created"),
    ServerHealthText.LOG_USED: (
        {"share": "98 %", "used": "3.9 GB", "most": "4.0 GB"},
        "98 % of the log is used (3.9 GB of 4.0 GB)",
    ),
    ServerHealthText.LOG_FREE: ({"text": "idle in transaction, app"}, "idle in transaction, app; nothing holds it"),
    ServerHealthText.LOG_HELD: (
        {"text": "idle in transaction, app", "holder": "session 61", "freed": ": back up the log to free it"},
        "idle in transaction, app, held by session 61: back up the log to free it",
    ),
    ServerHealthText.LAST_BACKUP: ({"age": "5m"}, ", last backup 5m ago"),
    ServerHealthText.OLDEST_WRITER: (
        {"session": 61, "age": "5m"},
        ", oldest writer in this database: session 61 for 5m",
    ),
    ServerHealthText.NOT_SYNCHRONIZING: ({}, "not synchronizing"),
    ServerHealthText.SUSPENDED: ({"reason": "not read"}, "suspended (not read)"),
    ServerHealthText.NOT_SENT: ({}, "not sent"),
    ServerHealthText.NOT_REDONE: ({}, "not redone"),
    ServerHealthText.SYNCHRONOUS: ({"replica": "SQL2"}, "SQL2 (synchronous)"),
    ServerHealthText.ASYNCHRONOUS: ({"replica": "SQL2"}, "SQL2 (asynchronous)"),
    ServerHealthText.A_SECONDARY: ({}, "a secondary"),
    ServerHealthText.ALSO: ({"others": "1 other"}, "; also 1 other"),
    ServerHealthText.REPLICA_NOT_SYNCHRONIZED: (
        {"replica": "SQL2", "why": "no order", "missing": "; 5.0 MB not sent", "more": "at least "},
        "SQL2 is no order; 5.0 MB not sentat least ; a failover to it would lose the missing changes",
    ),
    ServerHealthText.REPLICA_BEHIND: (
        {"replica": "SQL2", "age": "5m", "missing": "; 5.0 MB not sent"},
        "SQL2 is 5m behind; 5.0 MB not sent",
    ),
    ServerHealthText.ROW_VERSIONS: ({}, "row versions"),
    ServerHealthText.SORTS_AND_JOINS: ({}, "sorts and joins"),
    ServerHealthText.TEMPORARY_TABLES: ({}, "temporary tables"),
    ServerHealthText.TEMPDB_SESSION: ({"session": 61, "size": "1.0 GB"}, "; session 61 holds 1.0 GB"),
    ServerHealthText.TEMPDB_USED: (
        {"share": "98 %", "used": "3.9 GB", "most": "4.0 GB", "parts": "5.0 GB row versions", "who": "session 61"},
        "98 % of tempdb is used (3.9 GB of 4.0 GB): 5.0 GB row versionssession 61",
    ),
    ServerHealthText.PROCESSOR_TIME: ({}, "processor time"),
    ServerHealthText.READS_AND_WRITES: ({}, "reads and writes"),
    ServerHealthText.LOG_WRITES: ({}, "log writes"),
    ServerHealthText.POOL: ({"pool": " shops"}, "the elastic pool shops"),
    ServerHealthText.DATABASE: ({}, "the database"),
    ServerHealthText.LIMIT_REACHED: (
        {"parts": "5.0 GB row versions", "limited": "the database"},
        "5.0 GB row versions of the limit of the database; the server slows statements down",
    ),
    ServerHealthText.KEPT_AWAKE: (
        {"objective": "GP_S_Gen5_2"},
        "only qmon is connected to GP_S_Gen5_2; qmon's polls keep it from pausing and are billed",
    ),
    ServerHealthText.OF_PROCEDURE: ({"routine": "dbo.Take"}, " of dbo.Take"),
    ServerHealthText.CREATED: ({"age": "5m"}, " (created 5m ago)"),
    ServerHealthText.PAGES_NOW: (
        {"pages": "1,204", "plan": "77", "made": " (created 2 h 00 m ago)"},
        "1,204 pages per call with plan 77 (created 2 h 00 m ago)",
    ),
    ServerHealthText.PAGES_BEFORE: ({"pages": "1,204", "plan": "77"}, "1,204 in the days before with plan 77"),
    ServerHealthText.PLAN_WORSE: (
        {"statement": "42", "where": "qmon.toml: target.shop", "now": "2.5 s", "before": ", longest break before 13 s"},
        "statement 42qmon.toml: target.shop reads 2.5 s; , longest break before 13 s",
    ),
    ServerHealthText.FAILED_OVER: (
        {"age": "5m", "before": ", longest break before 13 s", "now": "2.5 s"},
        "failed over 5m ago from , longest break before 13 s to 2.5 s; counters started at 0 again",
    ),
    ServerText.SERVER_LOG: ({}, "the server's log"),
    ServerText.EVENT_SESSION: ({}, "the event session system_health"),
    ServerText.STATISTICS_UPDATED_OFTEN: (
        {"table": "public.t", "times": 5},
        "the statistics of public.t were updated 5 times in the last 20 s",
    ),
    ServerText.STATISTICS_NEVER_UPDATED: ({}, "statistics never updated"),
    ServerText.STATISTICS_UPDATED: ({"age": "5m"}, "statistics updated 5m ago"),
    ServerText.NO_ROWS: ({}, "no rows"),
    ServerText.ROWS: ({"rows": 40112}, "40,112 rows"),
    ServerText.PLANS_ASSUME: (
        {
            "believed": "12 rows",
            "table": "public.t",
            "rows": 40112,
            "when": "statistics never updated",
            "command": "ANALYZE",
        },
        "plans assume 12 rows in public.t, which has 40,112 (statistics never updated): run ANALYZE",
    ),
    ServerText.QUEUE_TABLE: ({}, "the queue's table"),
    ServerText.DEADLOCKS: ({"count": "1,200"}, "1,200 deadlocks in the last minute"),
    ServerText.DEADLOCKED_SESSIONS: (
        {"text": "idle in transaction, app", "sessions": "session 21"},
        "idle in transaction, app; these sessions waited for each other just before one: session 21",
    ),
    ServerText.DEADLOCK_REPORTS: (
        {"text": "idle in transaction, app", "place": "the server's log"},
        "idle in transaction, app; their statements are in the server's log",
    ),
    ServerText.DEADLOCK_SESSION: ({"session": 61, "who": "session 61", "statement": "42"}, "session 61session 61: 42"),
    ServerText.COMMITS_WAIT: (
        {"sessions": 1234.0, "busy": 24.0, "names": "orders_id_seq"},
        "1234.0 of 24.0 active sessions wait for the log (orders_id_seq)",
    ),
    ServerText.PER_COMMIT: ({"time": "04:12:00 UTC"}, "04:12:00 UTC per commit"),
    ServerText.COMMITS: ({"rate": 76.0}, "76 commits/s"),
    ServerText.MESSAGES_PER_COMMIT: (
        {"messages": 1.3, "batch": 10, "rate": 76.0},
        "1.3 messages per commit; batches of 10 would allow 76 messages/s",
    ),
    ServerText.PAGES_WAIT: (
        {"sessions": 1234.0, "busy": 24.0, "place": "the server's log", "names": "orders_id_seq"},
        "1234.0 of 24.0 active sessions wait for a page of the server's log (orders_id_seq)",
    ),
    ServerText.INDEX: (
        {"index": "an index on (`id`) would help", "table": "public.t"},
        "index an index on (`id`) would help of public.t",
    ),
    ServerText.MOST_FOR_PAGE: ({"page": "1:4711"}, ", most sessions for page 1:4711"),
    ServerText.HOT_PLACE: (
        {
            "place": "the server's log",
            "share": "98 %",
            "page": "1:4711",
            "sequential": "; OPTIMIZE_FOR_SEQUENTIAL_KEY is on",
        },
        "the server's log, which has 98 % of these waits1:4711; OPTIMIZE_FOR_SEQUENTIAL_KEY is on",
    ),
    ServerText.SEQUENTIAL_KEY: ({"state": "on"}, "; OPTIMIZE_FOR_SEQUENTIAL_KEY is on"),
    ServerText.MOST_FOR: ({"page": "1:4711"}, ", most for page 1:4711"),
    ServerText.TABLE_OR_INDEXES: (
        {"table": "public.t", "plural": "s", "names": "orders_id_seq"},
        "public.t or its indexs orders_id_seq",
    ),
    ServerText.DEAD_ROWS: ({"count": 1234, "plural": "s"}, "1,234 dead rows"),
    ServerText.ROWS_BEFORE: ({"count": 1234.0}, ", 1,234.0 before"),
    ServerText.VACUUM_HELD_BACK_PER_POP: (
        {"holder": "session 61", "dead": "5,361 dead rows", "rows": 40112, "before": ", longest break before 13 s"},
        "session 61 keeps vacuum from removing 5,361 dead rows: 40,112 rows touched per pop, longest break before 13 s",
    ),
    ServerText.VACUUM_HELD_BACK: (
        {"holder": "session 61", "dead": "5,361 dead rows"},
        "session 61 keeps vacuum from removing 5,361 dead rows",
    ),
    ServerText.OF_ALL_DATABASES: ({}, " of all databases"),
    ServerText.VERSIONS_KEPT: (
        {"holder": "session 61", "size": "1.0 GB", "whose": "61/5 has "},
        "session 61 keeps 1.0 GB of row versions61/5 has ",
    ),
    ServerText.READS_PER_POP: (
        {"kept": "session 61 keeps 300 MB of row versions", "reads": 412, "before": 1234.0},
        "session 61 keeps 300 MB of row versions: 412 logical reads per pop, 1,234.0 before",
    ),
    ServerText.PER_POPPED_MESSAGE: ({"rows": 40112}, "40,112 per popped message"),
    ServerText.NO_MESSAGE_POPPED: ({}, "and no message is popped"),
    ServerText.GHOSTS_SKIPPED: (
        {"rate": 76.0, "each": "500 per popped message", "made": 1234.0},
        "scans skip 76 ghost records/s on this server, 500 per popped message; this queue makes 1,234/s",
    ),
    AccessText.NO_CONNECTION: ({}, "no connection"),
    AccessText.LAST_SEEN: (
        {"text": "idle in transaction, app", "time": "04:12:00 UTC"},
        "idle in transaction, app; last seen at 04:12:00 UTC",
    ),
    WarningText.REFUSES_NOW: ({}, "refuses new sessions now"),
    WarningText.REFUSES_AFTER: ({"count": 1234}, "refuses new sessions after 1,234 more"),
    WarningText.SESSIONS_USED: (
        {"used": 1234, "limit": 1000, "share": "98 %", "then": "refuses new sessions now"},
        "1,234 of 1,000 sessions are used (98 %): the server refuses new sessions now",
    ),
    WarningText.DEADLOCKS: ({"count": "1,200"}, "1,200 deadlocks in the last minute"),
    WarningText.DEADLOCK_REPORTS: (
        {"text": "idle in transaction, app", "place": "the server's log"},
        "idle in transaction, app; the tables are unknown, and the statements are in the server's log",
    ),
    WarningText.DEADLOCKED_SESSIONS: (
        {"text": "idle in transaction, app", "sessions": "session 21"},
        "idle in transaction, app on tables that are not queues; these sessions waited for each other: session 21",
    ),
    BrokerText.TURN_ON: ({}, "run ALTER QUEUE … WITH STATUS = ON"),
    BrokerText.BROKER_IS_OFF: ({}, "Service Broker is off"),
    BrokerText.ENABLE: ({}, "run ALTER DATABASE CURRENT SET ENABLE_BROKER"),
    BrokerText.MONITORS_UNREAD: ({}, "the queue monitors that activate it could not be read"),
    BrokerText.HALF_OFF: ({}, "half off"),
    BrokerText.NO_ACTIVATION: ({}, "no activation"),
    BrokerText.NO_MONITOR: ({}, "no monitor"),
    BrokerText.NOT_SEEN: ({}, "not seen"),
    BrokerText.QUEUED: ({"depth": 1234}, "; 1,234 messages are queued"),
    BrokerText.POISON: ({}, " (poison message handling turns receive off after five rollbacks in a row)"),
    BrokerText.OFF: (
        {"what": "receive", "are": "is", "cause": "lock", "depth": "; 5 messages are queued", "command": "ANALYZE"},
        "receive is offlock; 5 messages are queued; ANALYZE",
    ),
    BrokerText.ACTIVATION_WITHOUT_BROKER: (
        {"depth": "; 5 messages are queued", "command": "ANALYZE"},
        "activation is on, but Service Broker is off in this database; 5 messages are queued; ANALYZE",
    ),
    BrokerText.ACTIVATION_WITHOUT_MONITOR: (
        {"procedure": "dbo.Take", "depth": "; 5 messages are queued"},
        "activation is on, but the server has no monitor for it, so dbo.Take is not started; 5 messages are queued",
    ),
    BrokerText.DOES_NOT_RECEIVE: (
        {"procedure": "dbo.Take", "age": "5m", "depth": "; 5 messages are queued"},
        "dbo.Take was started 5m ago but does not receive; 5 messages are queued; see the server's error log",
    ),
    BrokerText.AT_LEAST: ({}, "at least "),
    BrokerText.CONVERSATIONS: ({"more": "at least ", "count": 1234}, "at least 1,234 conversations"),
    BrokerText.ENDED_BY_OTHER: ({}, "ended only by the other side"),
    BrokerText.ENDED_BY_THIS: ({}, "only by this side"),
    BrokerText.ENDED_BY_NEITHER: ({}, "by neither side"),
    BrokerText.END_CONVERSATIONS: (
        {"conversations": "5 conversations", "sides": "3 by neither side"},
        "5 conversations: 3 by neither side; run END CONVERSATION on both sides",
    ),
    BrokerText.MESSAGES: ({"more": "at least ", "count": 1234, "plural": "s"}, "at least 1,234 messages"),
    BrokerText.GROWTH: ({"rate": 76.0}, "; 76.0 more per second"),
    BrokerText.WAITS: ({"age": "5m"}, "; one waits for 5m"),
    BrokerText.NOT_DELIVERED: ({"messages": 1.3}, "1.3 not delivered"),
    BrokerText.BROKER_OFF_HERE: ({"command": "ANALYZE"}, "Service Broker is off in this database; ANALYZE"),
    QueueLockText.BLOCKS: (
        {"who": "session 61", "sessions": "session 21", "table": "public.t"},
        "session 61 blocks session 21 waiting to lock public.t",
    ),
    QueueLockText.ONLY_BEHIND: (
        {"blocks": "session 61 blocks 3 sessions", "count": 2, "session": "session 71", "statement": ": ALTER"},
        "session 61 blocks 3 sessions; 2 of them would not wait without session 71, which waits ahead of them: ALTER",
    ),
    QueueLockText.STATEMENT: ({"statement": "ALTER TABLE t"}, ": ALTER TABLE t"),
    QueueLockText.SESSION: ({"session": 61}, "session 61"),
    QueueLockText.PREPARED: ({"transaction": "pay 7"}, "prepared transaction pay 7"),
    QueueLockText.THE_PREPARED: ({"transaction": "pay 7"}, "the prepared transaction pay 7"),
    QueueLockText.A_PREPARED: ({}, "a prepared transaction"),
    QueueLockText.SINCE: ({"age": "5m"}, " (since 5m)"),
    QueueLockText.OPEN: ({"age": "5m"}, "transaction open 5m"),
    QueueLockText.HOLDS_ALL: ({"who": "session 61", "rows": 40112}, "session 61 holds all 40,112 messages"),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
