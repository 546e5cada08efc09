"""The wording of proofs of verdicts."""

from __future__ import annotations

from typing import Any, Final

from qmon.model.service_broker import BrokerText
from qmon.model.verdicts.access_verdicts import AccessVerdictText
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.model.verdicts.judge import JudgeText
from qmon.model.verdicts.message_verdicts import MessageVerdictText
from qmon.model.verdicts.server_health_verdicts import ServerHealthText
from qmon.model.verdicts.server_verdicts import ServerVerdictText
from qmon.model.verdicts.server_warnings import WarningText
from qmon.model.waits.queue_lock import QueueLockText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    JudgeText.IS: (
        {"figures": "ready", "why": "unknown: not read in this poll"},
        "ready is unknown: not read in this poll",
    ),
    JudgeText.ARE: (
        {"figures": "in progress and stuck", "why": "unknown: your role cannot see sessions or their statements"},
        "in progress and stuck are unknown: your role cannot see sessions or their statements",
    ),
    JudgeText.UNKNOWN: ({"reason": "not read in this poll"}, "unknown: not read in this poll"),
    JudgeText.PARTLY_KNOWN: ({"reason": "there may be more"}, "only partly known: there may be more"),
    JudgeText.MAY_BE_MORE: ({}, "there may be more"),
    JudgeText.RATES_UNKNOWN: ({}, "rates unknown"),
    JudgeText.NO_POP_RATE: ({}, "no pop rate"),
    JudgeText.UNMOVED: (
        {"ready": 1234.0, "reason": "rates need a second poll"},
        "1,234 ready, but qmon cannot tell whether messages leave the queue: rates need a second poll",
    ),
    JudgeText.IF_THIS_LASTS: (
        {"proof": "1,234 ready, but no pops; push 8.0/s", "verdict": "no pops", "age": "7.0 s"},
        "1,234 ready, but no pops; push 8.0/s; no pops if this lasts 7.0 s more",
    ),
    JudgeText.READ_AGO: (
        {"proof": "1,234 ready, but no pops; push 8.0/s", "age": "4.0 s"},
        "1,234 ready, but no pops; push 8.0/s; read 4.0 s ago",
    ),
    JudgeText.NO_MESSAGE: ({"states": "ready or in progress"}, "no message is ready or in progress"),
    JudgeText.STATES_READ_AGO: (
        {"proof": "no message is ready or in progress", "age": "22 s"},
        "no message is ready or in progress; qmon last looked for messages in other states 22 s ago",
    ),
    JudgeText.USUAL_BACKLOG: (
        {"flow": "push 8.0/s, pop 0.0/s", "ready": 1234.0, "hour": "Tue 14:00", "drained": "Wed 02:00"},
        "push 8.0/s, pop 0.0/s; 1,234 ready are usual Tue 14:00, and the queue is usually drained Wed 02:00",
    ),
    JudgeText.AND_BLOCKED: ({"flow": "push 8.0/s, pop 0.5/s", "blocked": "3"}, "push 8.0/s, pop 0.5/s; 3 blocked"),
    JudgeText.READY: ({"ready": 1234.0, "reason": "rates need a second poll"}, "1,234 ready; rates need a second poll"),
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
    FlowText.AGE: ({"age": "5 m 00 s"}, " (5 m 00 s old)"),
    FlowText.STARVED: (
        {"priority": "9", "message": "812", "age": " (5 m 00 s old)", "still": "20 s", "pops": 1234.0},
        "priority 9 is not popped: message 812 (5 m 00 s old) has been first for at least 20 s; other priorities "
        "are popped at 1,234.0/s",
    ),
    FlowText.LATE_BY_OWN_TIMEOUT: ({}, "longer than their own timeout"),
    FlowText.LATE_BY_TIMEOUT: ({"timeout": "5 m 00 s"}, "more than 5 m 00 s"),
    FlowText.LATE: ({"count": "1,200", "longer": "more than 5 m 00 s"}, "1,200 in progress for more than 5 m 00 s"),
    FlowText.AT_LEAST: ({}, "at least "),
    FlowText.DEAD_OWNER: (
        {"more": "at least ", "count": 1234, "owner": " (61/5 has had message 7 for 12 m 00 s)"},
        "at least 1,234 with a dead owner (61/5 has had message 7 for 12 m 00 s)",
    ),
    FlowText.LIVE_OWNER: (
        {"more": "at least ", "count": 1234, "owner": " (61/5 has had message 7 for 12 m 00 s)"},
        "at least 1,234 with a live owner (61/5 has had message 7 for 12 m 00 s)",
    ),
    FlowText.UNKNOWN_OWNER: (
        {
            "more": "at least ",
            "count": 1234,
            "owner": " (worker-3 has had message 7 for 12 m 00 s)",
            "why": ": the owner is a name, which cannot be checked",
        },
        "at least 1,234 with an unknown owner (worker-3 has had message 7 for 12 m 00 s): the owner is a name, "
        "which cannot be checked",
    ),
    FlowText.NO_OWNER: (
        {"more": "at least ", "count": 1234, "owner": " (message 7 for 12 m 00 s)"},
        "at least 1,234 without a recorded owner (message 7 for 12 m 00 s)",
    ),
    FlowText.MESSAGE_OF_OWNER: (
        {"whose": "61/5 has had ", "message": "812", "since": " for 12 m 00 s"},
        " (61/5 has had message 812 for 12 m 00 s)",
    ),
    FlowText.FOR: ({"age": "5 m 00 s"}, " for 5 m 00 s"),
    FlowText.AND_MORE: ({"count": 2}, " and 2 more"),
    FlowText.PREPARED_HOLDER: (
        {"transaction": "pay 7", "age": "12 m 00 s"},
        "the prepared transaction pay 7 has held them for 12 m 00 s",
    ),
    FlowText.SESSION_HOLDER: (
        {"session": 61, "text": "idle in transaction, app", "age": "12 m 00 s"},
        "session 61 (idle in transaction, app) has held them for 12 m 00 s",
    ),
    FlowText.OLDEST_FOR: ({"age": "5 m 00 s"}, ", the oldest for 5 m 00 s"),
    FlowText.MORE_BLOCKERS: ({"count": 3}, " and 3 more"),
    FlowText.WAIT_FOR: (
        {"blockers": "account 7, held by worker-2 for 40 s, account 9", "more": " and 3 more"},
        "; they wait for account 7, held by worker-2 for 40 s, account 9 and 3 more",
    ),
    FlowText.BLOCKED: (
        {
            "more": "at least ",
            "count": 1234.0,
            "oldest": ", the oldest for 12 m 00 s",
            "why": ": a job with the same lock is in progress",
            "waits": "; they wait for account 7, held by worker-2 for 12 m 00 s",
        },
        "at least 1,234 blocked, the oldest for 12 m 00 s: a job with the same lock is in progress; they wait "
        "for account 7, held by worker-2 for 12 m 00 s",
    ),
    FlowText.HELD_BY: ({"holder": "worker-2"}, ", held by worker-2"),
    FlowText.LAST_LEFT: ({"age": "5 m 00 s"}, "; the last consumer left 5 m 00 s ago"),
    FlowText.READY_BUT: (
        {
            "ready": 1234.0,
            "why": "no connected session was seen calling dbo.Pop",
            "gone": "; the last consumer left 40 s ago",
        },
        "1,234 ready, but no connected session was seen calling dbo.Pop; the last consumer left 40 s ago",
    ),
    FlowText.IN_SETTING: ({"setting": "application mailer-*"}, "matches the consumers setting (application mailer-*)"),
    FlowText.NO_LIBRARY_WORKER: ({}, "no worker of the library has reported for this queue"),
    FlowText.HAS_CALLED: ({"pop": "dbo.Pop"}, "was seen calling dbo.Pop"),
    FlowText.HAS_TAKEN: ({"table": "public.jobs"}, "was seen taking rows from public.jobs"),
    FlowText.NO_SESSION: ({"consumer": "was seen calling dbo.Pop"}, "no connected session was seen calling dbo.Pop"),
    FlowText.CONNECTED_SESSION: ({}, "connected session"),
    FlowText.OWNER_HAS_HAD: ({"owner": "61/5"}, "61/5 has had "),
    FlowText.OWNER_HAS: ({"owner": "61/5"}, "61/5 has "),
    FlowText.NONE_OF_THE_SESSIONS: (
        {"sessions": "21 connected sessions", "consumer": "was seen calling dbo.Pop"},
        "none of the 21 connected sessions was seen calling dbo.Pop",
    ),
    FlowText.ONE_DOES_NOT_POP: ({}, "the connected consumer does not pop"),
    FlowText.NONE_POPS: ({"count": 4}, "none of the 4 connected consumers pops"),
    FlowText.NOT_CLAIMING: (
        {"ready": 1234.0, "none": "the connected consumer does not pop", "one": ": session 71 (app-7) idle for 40 s"},
        "1,234 ready, but the connected consumer does not pop: session 71 (app-7) idle for 40 s",
    ),
    FlowText.SESSION: ({"session": 61}, "session 61"),
    FlowText.WAITING: ({"kind": "Lock"}, ", waiting for Lock"),
    FlowText.RING_FULL: ({"share": "100 %"}, "100 % of the slots hold messages, so producers wait"),
    FlowText.OLDEST_OF_READY: ({"count": 1234.0, "age": "5 m 00 s"}, "1,234 ready, the oldest for 5 m 00 s"),
    FlowText.NONE_IN_PROGRESS: (
        {"ready": "1,234 ready, the oldest for 5 m 00 s"},
        "1,234 ready, the oldest for 5 m 00 s, but none is in progress",
    ),
    FlowText.NONE_POPPED: (
        {"ready": "1,234 ready, the oldest for 5 m 00 s", "age": "1 m 10 s"},
        "1,234 ready, the oldest for 5 m 00 s, but none was popped for 1 m 10 s",
    ),
    FlowText.LOCK_UNKNOWN: ({}, "; it is unknown whether a session has locked it"),
    FlowText.MESSAGE: ({"message": "812"}, "message 812"),
    FlowText.SAME_MESSAGE: ({}, "the same message"),
    FlowText.HEAD_STILL: (
        {"ready": 1234.0, "which": "message 812", "age": " (5 m 00 s old)", "still": "4 m 10 s", "unseen": ""},
        "1,234 ready, but message 812 (5 m 00 s old) has been first in the queue for 4 m 10 s",
    ),
    FlowText.NO_POPS: ({"ready": 1234.0, "push": 8.0}, "1,234 ready, but no pops; push 8.0/s"),
    FlowText.AGES: ({"before": "2.5 s", "now": "13 s"}, ", the age of the oldest from 2.5 s to 13 s"),
    FlowText.READY_ROSE: (
        {"before": 812.0, "now": 1234.0, "ages": ", the age of the oldest from 2.5 s to 13 s", "over": "1 h 00 m"},
        "ready rose from 812 to 1,234, the age of the oldest from 2.5 s to 13 s, within 1 h 00 m",
    ),
    FlowText.FALLS_BEHIND: ({"push": 8.0, "pop": 0.5, "net": 7.5}, "push 8.0/s, pop 0.5/s: growing 7.5/s"),
    FlowText.ROLLBACKS: ({"rate": 76.0}, "; 76.0 rollbacks/s in this database"),
    FlowText.NO_PUSHES: (
        {"silent": "40 s", "before": "8.0", "rollbacks": "; 7.2 rollbacks/s in this database"},
        "no pushes for 40 s, 8.0/s before; 7.2 rollbacks/s in this database",
    ),
    FlowText.CONSUMERS_NEW: (
        {
            "slower": "each message takes ~2.5 s since 04:12:00 UTC, ~120 ms before",
            "since": "04:12:07 UTC",
        },
        "each message takes ~2.5 s since 04:12:00 UTC, ~120 ms before; "
        "the consumers connected at 04:12:07 UTC or later",
    ),
    FlowText.PUSHES_FAIL: (
        {"time": "15 s", "failed": 148.0, "pushed": 2.0, "rollbacks": "; 9.9 rollbacks/s in this database"},
        "within 15 s, ~148 pushes were rolled back and ~2 succeeded; 9.9 rollbacks/s in this database",
    ),
    FlowText.MANY_LATER: (
        {"later": 57, "pushed": 60, "since": "04:12:00 UTC"},
        "~57 of 60 messages pushed since 04:12:00 UTC are due later",
    ),
    FlowText.DUE_LATER: (
        {"many": "~57 of 60 messages pushed since 04:12:00 UTC are due later", "share": "3 %"},
        "~57 of 60 messages pushed since 04:12:00 UTC are due later; before, 3 % were",
    ),
    MessageVerdictText.ATTEMPTS: ({"count": 4}, ", 4 attempts in total"),
    MessageVerdictText.GIVEN_BACK: (
        {"message": "812", "failures": 3, "time": "14 s", "tries": ", 4 attempts in total"},
        "message 812 was popped and given back 3 times in 14 s, 4 attempts in total",
    ),
    MessageVerdictText.WITH_ERROR: (
        {
            "given_back": "message 812 was popped and given back 3 times in 14 s, 4 attempts in total",
            "error": "timeout after <n> s: no answer for order <id>",
        },
        "message 812 was popped and given back 3 times in 14 s, 4 attempts in total; last error: timeout after <n> s: "
        "no answer for order <id>",
    ),
    MessageVerdictText.CLOCK_BEHIND: (
        {"since": "04:12:00 UTC", "count": 57, "total": 120, "offset": "3 h 00 m"},
        "since 04:12:00 UTC, 57 of the 120 newest messages read have push times 3 h 00 m behind the server's clock",
    ),
    MessageVerdictText.CLOCK_AHEAD: (
        {"since": "04:12:00 UTC", "count": 57, "total": 120, "offset": "3 h 00 m"},
        "since 04:12:00 UTC, 57 of the 120 newest messages read have push times 3 h 00 m ahead of the server's clock",
    ),
    MessageVerdictText.DUPLICATES: (
        {"copies": 57, "total": 120, "first": 812, "second": 815, "share": "2 %"},
        "57 of the 120 newest messages read are equal, for example messages 812 and 815; before, at most 2 % were",
    ),
    MessageVerdictText.CRASHES: (
        {"count": 3, "time": "14 s", "which": "always message 7; the last consumer was 61/5"},
        "3 consumers died one after the other, each with a message in progress, within 14 s: always message 7; "
        "the last consumer was 61/5",
    ),
    MessageVerdictText.ALWAYS_ONE: ({"message": "7", "owner": "61/5"}, "always message 7; the last consumer was 61/5"),
    MessageVerdictText.SEVERAL: (
        {"count": 2, "message": "7", "owner": "61/5"},
        "2 different messages; the last consumer was 61/5 with message 7",
    ),
    MessageVerdictText.ALSO_MORE: ({"count": 2}, "; also 2 more"),
    MessageVerdictText.POPPED_TWICE: (
        {"message": "812", "second": "62/5", "first": "61/5", "age": "5 m 00 s", "more": "; also 2 more"},
        "message 812 was popped by 62/5 while 61/5, which popped it 5 m 00 s ago, is still working on it; also 2 more",
    ),
    MessageVerdictText.NUMBER_WITHOUT_MESSAGE: (
        {"number": 1234, "age": "5 m 00 s"},
        "number 1,234 has no message; a consumer took it at least 5 m 00 s ago",
    ),
    MessageVerdictText.NO_TRANSACTION: (
        {"waited": "number 80 has no message; a consumer took it at least 40 s ago"},
        "number 80 has no message; a consumer took it at least 40 s ago; no open transaction has it",
    ),
    MessageVerdictText.MAY_PUSH: (
        {
            "waited": "number 80 has no message; a consumer took it at least 40 s ago",
            "drawer": "session 61 (idle in transaction, app-7)",
        },
        "number 80 has no message; a consumer took it at least 40 s ago; session 61 (idle in transaction, app-7) "
        "has taken a number and may still push it",
    ),
    MessageVerdictText.SESSION: ({"session": 61}, "session 61"),
    MessageVerdictText.PREPARED: ({}, "a prepared transaction"),
    MessageVerdictText.PUSHED: ({"age": "5 m 00 s"}, ", pushed 5 m 00 s ago"),
    MessageVerdictText.ONE_MESSAGE: ({}, "1 message was"),
    MessageVerdictText.MESSAGES: ({"count": 3}, "3 messages were"),
    MessageVerdictText.SLOTS_READ: ({"share": "40 %"}, " (40 % of the slots read)"),
    MessageVerdictText.MAY_POP: (
        {"drawer": "session 61 (idle in transaction, app-7)"},
        "; session 61 (idle in transaction, app-7) may still pop them, otherwise consumers do when it ends",
    ),
    MessageVerdictText.ORPHANS: (
        {
            "count": "3 messages were",
            "number": 1234,
            "age": ", pushed 5 m 00 s ago",
            "swept": " (40% of the slots read)",
            "waits": "; session 61 may still pop them, otherwise consumers do when it ends",
        },
        "3 messages were taken by consumers but not popped: number 1,234, pushed 5 m 00 s ago (40% of the slots "
        "read); session 61 may still pop them, otherwise consumers do when it ends",
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
    ServerHealthText.LOG_FREE: (
        {"text": "98 % of the log is used (3.9 GB of 4.0 GB)"},
        "98 % of the log is used (3.9 GB of 4.0 GB); nothing holds it",
    ),
    ServerHealthText.LOG_HELD: (
        {
            "text": "98 % of the log is used (3.9 GB of 4.0 GB)",
            "holder": "LOG_BACKUP",
            "freed": ": back up the log to free it, last backup 3 d 04 h ago",
        },
        "98 % of the log is used (3.9 GB of 4.0 GB), held by LOG_BACKUP: back up the log to free it, last backup "
        "3 d 04 h ago",
    ),
    ServerHealthText.LAST_BACKUP: ({"age": "3 d 04 h"}, ", last backup 3 d 04 h ago"),
    ServerHealthText.OLDEST_WRITER: (
        {"session": 61, "age": "12 m 00 s"},
        ", oldest writer in this database: session 61 for 12 m 00 s",
    ),
    ServerHealthText.NOT_SYNCHRONIZING: ({}, "not synchronizing"),
    ServerHealthText.SUSPENDED: ({"reason": "SUSPEND_FROM_USER"}, "suspended (SUSPEND_FROM_USER)"),
    ServerHealthText.NOT_SENT: ({}, "not sent"),
    ServerHealthText.NOT_REDONE: ({}, "not redone"),
    ServerHealthText.SYNCHRONOUS: ({"replica": "SQL2"}, "SQL2 (synchronous)"),
    ServerHealthText.ASYNCHRONOUS: ({"replica": "SQL2"}, "SQL2 (asynchronous)"),
    ServerHealthText.A_SECONDARY: ({}, "a secondary"),
    ServerHealthText.ALSO: ({"others": "1 other"}, "; also 1 other"),
    ServerHealthText.REPLICA_NOT_SYNCHRONIZED: (
        {
            "replica": "SQL2 (synchronous)",
            "why": "not synchronizing",
            "missing": "; 5.0 MB not sent",
            "more": "; also 1 other",
        },
        "SQL2 (synchronous) is not synchronizing; 5.0 MB not sent; also 1 other; a failover to it would lose the "
        "missing changes",
    ),
    ServerHealthText.REPLICA_BEHIND: (
        {"replica": "SQL2 (asynchronous)", "age": "5 m 00 s", "missing": ": 5.0 MB not sent"},
        "SQL2 (asynchronous) is 5 m 00 s behind: 5.0 MB not sent",
    ),
    ServerHealthText.ROW_VERSIONS: ({}, "row versions"),
    ServerHealthText.SORTS_AND_JOINS: ({}, "sorts and joins"),
    ServerHealthText.TEMPORARY_TABLES: ({}, "temporary tables"),
    ServerHealthText.TEMPDB_SESSION: ({"session": 61, "size": "1.0 GB"}, "; session 61 holds 1.0 GB"),
    ServerHealthText.TEMPDB_USED: (
        {
            "share": "98 %",
            "used": "3.9 GB",
            "most": "4.0 GB",
            "parts": "3.5 GB row versions, 410 MB temporary tables",
            "who": "; session 61 holds 1.0 GB",
        },
        "98 % of tempdb is used (3.9 GB of 4.0 GB): 3.5 GB row versions, 410 MB temporary tables; session 61 "
        "holds 1.0 GB",
    ),
    ServerHealthText.PROCESSOR_TIME: ({}, "processor time"),
    ServerHealthText.READS_AND_WRITES: ({}, "reads and writes"),
    ServerHealthText.LOG_WRITES: ({}, "log writes"),
    ServerHealthText.POOL: ({"pool": " shops"}, "the elastic pool shops"),
    ServerHealthText.DATABASE: ({}, "the database"),
    ServerHealthText.LIMIT_REACHED: (
        {"parts": "log writes 100 %, processor time 97 %", "limited": "the database"},
        "log writes 100 %, processor time 97 % of the limit of the database; the server slows statements down",
    ),
    ServerHealthText.KEPT_AWAKE: (
        {"objective": "GP_S_Gen5_2"},
        "only qmon is connected to this serverless database (GP_S_Gen5_2); qmon's polls keep the database from pausing"
        " and are billed",
    ),
    ServerHealthText.OF_PROCEDURE: ({"routine": "dbo.Take"}, " of dbo.Take"),
    ServerHealthText.CREATED: ({"age": "2 h 00 m"}, " (created 2 h 00 m ago)"),
    ServerHealthText.PAGES_NOW: (
        {"pages": "1,204", "plan": 77, "made": " (created 2 h 00 m ago)"},
        "1,204 pages per call with plan 77 (created 2 h 00 m ago)",
    ),
    ServerHealthText.PAGES_BEFORE: ({"pages": "3.1", "plan": 71}, "3.1 in the days before with plan 71"),
    ServerHealthText.PLAN_WORSE: (
        {
            "statement": 42,
            "where": " of dbo.Take",
            "now": "1,204 pages per call with plan 77 (created 2 h 00 m ago)",
            "before": "3.1 in the days before with plan 71",
        },
        "statement 42 of dbo.Take reads 1,204 pages per call with plan 77 (created 2 h 00 m ago); 3.1 in the "
        "days before with plan 71",
    ),
    ServerHealthText.FAILED_OVER: (
        {"age": "1 m 10 s", "before": "SQL1", "now": "SQL2"},
        "failed over 1 m 10 s ago from SQL1 to SQL2; counters started at 0 again",
    ),
    ServerVerdictText.SERVER_LOG: ({}, "the server's log"),
    ServerVerdictText.EVENT_SESSION: ({}, "the event session system_health"),
    ServerVerdictText.STATISTICS_UPDATED_OFTEN: (
        {"table": "public.jobs", "times": 5},
        "the statistics of public.jobs were updated 5 times in the last 20 s",
    ),
    ServerVerdictText.STATISTICS_NEVER_UPDATED: ({}, "statistics never updated"),
    ServerVerdictText.STATISTICS_UPDATED: ({"age": "2 h 00 m"}, "statistics updated 2 h 00 m ago"),
    ServerVerdictText.NO_ROWS: ({}, "no rows"),
    ServerVerdictText.ROWS: ({"rows": 40112}, "40,112 rows"),
    ServerVerdictText.PLANS_ASSUME: (
        {
            "believed": "12 rows",
            "table": "public.jobs",
            "rows": 40112,
            "when": "statistics never updated",
            "command": "ANALYZE",
        },
        "plans assume 12 rows in public.jobs, which has 40,112 (statistics never updated): run ANALYZE",
    ),
    ServerVerdictText.QUEUE_TABLE: ({}, "the queue's table"),
    ServerVerdictText.DEADLOCKS: ({"count": 3}, "3 deadlocks in the last minute"),
    ServerVerdictText.DEADLOCKED_SESSIONS: (
        {
            "text": "3 deadlocks in the last minute",
            "sessions": "session 61 (app-7): UPDATE jobs SET state = 2 and session 62 (app-8): DELETE FROM jobs",
        },
        "3 deadlocks in the last minute; these sessions waited for each other just before one: session 61 "
        "(app-7): UPDATE jobs SET state = 2 and session 62 (app-8): DELETE FROM jobs",
    ),
    ServerVerdictText.DEADLOCK_REPORTS: (
        {"text": "3 deadlocks in the last minute", "place": "the server's log"},
        "3 deadlocks in the last minute; their statements are in the server's log",
    ),
    ServerVerdictText.DEADLOCK_SESSION: (
        {"session": 61, "who": " (app-7)", "statement": "UPDATE jobs SET state = 2"},
        "session 61 (app-7): UPDATE jobs SET state = 2",
    ),
    ServerVerdictText.COMMITS_WAIT: (
        {"sessions": 20.5, "busy": 24.0, "names": "WalSync, WALWrite"},
        "20.5 of 24.0 active sessions wait for the log (WalSync, WALWrite)",
    ),
    ServerVerdictText.PER_COMMIT: ({"time": "28 ms"}, "28 ms per commit"),
    ServerVerdictText.COMMITS: ({"rate": 76.0}, "76 commits/s"),
    ServerVerdictText.MESSAGES_PER_COMMIT: (
        {"messages": 1.3, "batch": 10, "rate": 760.0},
        "1.3 messages per commit; batches of 10 would allow 760 messages/s",
    ),
    ServerVerdictText.PAGES_WAIT: (
        {
            "sessions": 12.5,
            "busy": 24.0,
            "place": "index jobs_pkey of dbo.Jobs, most for page 1:4711",
            "names": "PAGELATCH_EX, PAGELATCH_SH",
        },
        "12.5 of 24.0 active sessions wait for a page of index jobs_pkey of dbo.Jobs, most for page 1:4711 "
        "(PAGELATCH_EX, PAGELATCH_SH)",
    ),
    ServerVerdictText.INDEX: ({"index": "jobs_pkey", "table": "dbo.Jobs"}, "index jobs_pkey of dbo.Jobs"),
    ServerVerdictText.MOST_FOR_PAGE: ({"page": "1:4711"}, ", most sessions for page 1:4711"),
    ServerVerdictText.HOT_PLACE: (
        {
            "place": "index jobs_pkey of dbo.Jobs",
            "share": "98 %",
            "page": ", most sessions for page 1:4711",
            "sequential": "; OPTIMIZE_FOR_SEQUENTIAL_KEY is off",
        },
        "index jobs_pkey of dbo.Jobs, which has 98 % of these waits, most sessions for page 1:4711; "
        "OPTIMIZE_FOR_SEQUENTIAL_KEY is off",
    ),
    ServerVerdictText.SEQUENTIAL_KEY: ({"state": "on"}, "; OPTIMIZE_FOR_SEQUENTIAL_KEY is on"),
    ServerVerdictText.MOST_FOR: ({"page": "1:4711"}, ", most for page 1:4711"),
    ServerVerdictText.TABLE_OR_INDEXES: (
        {"table": "public.jobs", "plural": "es", "names": "jobs_pkey, jobs_ready"},
        "public.jobs or its indexes jobs_pkey, jobs_ready",
    ),
    ServerVerdictText.DEAD_ROWS: ({"count": 1234, "plural": "s"}, "1,234 dead rows"),
    ServerVerdictText.ROWS_BEFORE: ({"count": 4.0}, ", 4.0 before"),
    ServerVerdictText.VACUUM_HELD_BACK_PER_POP: (
        {
            "holder": "session 61 (idle in transaction, 2 m 05 s, app-7)",
            "dead": "5,361 dead rows",
            "rows": 412.0,
            "before": ", 4.0 before",
        },
        "session 61 (idle in transaction, 2 m 05 s, app-7) keeps vacuum from removing 5,361 dead rows: 412 rows "
        "touched per pop, 4.0 before",
    ),
    ServerVerdictText.VACUUM_HELD_BACK: (
        {"holder": "session 61 (idle in transaction, 2 m 05 s, app-7)", "dead": "40,112 dead rows"},
        "session 61 (idle in transaction, 2 m 05 s, app-7) keeps vacuum from removing 40,112 dead rows",
    ),
    ServerVerdictText.OF_ALL_DATABASES: ({}, " of all databases"),
    ServerVerdictText.VERSIONS_KEPT: (
        {"holder": "session 61 (idle in transaction, 2 m 05 s, app-7)", "size": "1.0 GB", "whose": " of all databases"},
        "session 61 (idle in transaction, 2 m 05 s, app-7) keeps 1.0 GB of row versions of all databases",
    ),
    ServerVerdictText.READS_PER_POP: (
        {
            "kept": "session 61 (idle in transaction, 2 m 05 s, app-7) keeps 300 MB of row versions",
            "reads": 412.0,
            "before": 4.0,
        },
        "session 61 (idle in transaction, 2 m 05 s, app-7) keeps 300 MB of row versions: 412 logical reads per "
        "pop, 4.0 before",
    ),
    ServerVerdictText.PER_POPPED_MESSAGE: ({"rows": 500.0}, "500 per popped message"),
    ServerVerdictText.NO_MESSAGE_POPPED: ({}, "and no message is popped"),
    ServerVerdictText.GHOSTS_SKIPPED: (
        {"rate": 38000.0, "each": "500 per popped message", "made": 76.0},
        "scans skip 38,000 ghost records/s on this server, 500 per popped message; this queue makes 76/s",
    ),
    AccessVerdictText.NO_CONNECTION: ({}, "no connection"),
    AccessVerdictText.LAST_SEEN: (
        {"text": "permission denied for table jobs", "time": "04:12:00 UTC"},
        "permission denied for table jobs; last seen at 04:12:00 UTC",
    ),
    WarningText.REFUSES_NOW: ({}, "refuses new sessions now"),
    WarningText.REFUSES_AFTER: ({"count": 20}, "refuses new sessions after 20 more"),
    WarningText.SESSIONS_USED: (
        {"used": 980, "limit": 1000, "share": "98 %", "then": "refuses new sessions after 20 more"},
        "980 of 1,000 sessions are used (98 %): the server refuses new sessions after 20 more",
    ),
    WarningText.DEADLOCKS: ({"count": 3}, "3 deadlocks in the last minute"),
    WarningText.DEADLOCK_REPORTS: (
        {"text": "3 deadlocks in the last minute", "place": "the server's log"},
        "3 deadlocks in the last minute; the tables are unknown, and the statements are in the server's log",
    ),
    WarningText.DEADLOCKED_SESSIONS: (
        {
            "text": "3 deadlocks in the last minute",
            "sessions": "session 61 (app-7): UPDATE stock SET n = 1 and session 62 (app-8): DELETE FROM stock",
        },
        "3 deadlocks in the last minute on tables that are not queues; these sessions waited for each other: "
        "session 61 (app-7): UPDATE stock SET n = 1 and session 62 (app-8): DELETE FROM stock",
    ),
    BrokerText.TURN_ON: ({}, "run ALTER QUEUE … WITH STATUS = ON"),
    BrokerText.BROKER_IS_OFF: ({}, "Service Broker is off"),
    BrokerText.ENABLE: ({}, "run ALTER DATABASE CURRENT SET ENABLE_BROKER"),
    BrokerText.MONITORS_UNREAD: ({}, "the queue monitors that activate it could not be read"),
    BrokerText.HALF_OFF: ({}, "half off"),
    BrokerText.NO_ACTIVATION: ({}, "no activation"),
    BrokerText.NO_MONITOR: ({}, "no monitor"),
    BrokerText.NOT_SEEN: ({}, "not seen"),
    BrokerText.QUEUED: ({"depth": 5}, "; 5 messages are queued"),
    BrokerText.POISON: ({}, " (poison message handling turns receive off after five rollbacks in a row)"),
    BrokerText.OFF: (
        {
            "what": "receive",
            "are": "is",
            "cause": " (poison message handling turns receive off after five rollbacks in a row)",
            "depth": "; 5 messages are queued",
            "command": "run ALTER QUEUE … WITH STATUS = ON",
        },
        "receive is off (poison message handling turns receive off after five rollbacks in a row); 5 messages "
        "are queued; run ALTER QUEUE … WITH STATUS = ON",
    ),
    BrokerText.ACTIVATION_WITHOUT_BROKER: (
        {"depth": "; 5 messages are queued", "command": "run ALTER DATABASE CURRENT SET ENABLE_BROKER"},
        "activation is on, but Service Broker is off in this database; 5 messages are queued; run ALTER DATABASE "
        "CURRENT SET ENABLE_BROKER",
    ),
    BrokerText.ACTIVATION_WITHOUT_MONITOR: (
        {"procedure": "dbo.Take", "depth": "; 5 messages are queued"},
        "activation is on, but the server has no monitor for it, so dbo.Take is not started; 5 messages are queued",
    ),
    BrokerText.DOES_NOT_RECEIVE: (
        {"procedure": "dbo.Take", "age": "5 m 00 s", "depth": "; 5 messages are queued"},
        "dbo.Take was started 5 m 00 s ago but does not receive; 5 messages are queued; see the server's error log",
    ),
    BrokerText.AT_LEAST: ({}, "at least "),
    BrokerText.CONVERSATIONS: ({"more": "at least ", "count": 5000}, "at least 5,000 conversations"),
    BrokerText.ENDED_BY_OTHER: ({}, "ended only by the other side"),
    BrokerText.ENDED_BY_THIS: ({}, "only by this side"),
    BrokerText.ENDED_BY_NEITHER: ({}, "by neither side"),
    BrokerText.END_CONVERSATIONS: (
        {"conversations": "1,234 conversations", "sides": "1,200 ended only by the other side, 34 by neither side"},
        "1,234 conversations: 1,200 ended only by the other side, 34 by neither side; run END CONVERSATION on "
        "both sides",
    ),
    BrokerText.MESSAGES: ({"more": "at least ", "count": 1234, "plural": "s"}, "at least 1,234 messages"),
    BrokerText.GROWTH: ({"rate": 76.0}, "; 76.0 more per second"),
    BrokerText.WAITS: ({"age": "5 m 00 s"}, "; one waits for 5 m 00 s"),
    BrokerText.NOT_DELIVERED: ({"messages": "at least 1,234 messages"}, "at least 1,234 messages not delivered"),
    BrokerText.BROKER_OFF_HERE: (
        {"command": "run ALTER DATABASE CURRENT SET ENABLE_BROKER"},
        "Service Broker is off in this database; run ALTER DATABASE CURRENT SET ENABLE_BROKER",
    ),
    QueueLockText.BLOCKS: (
        {
            "who": "session 61 (idle in transaction, transaction open 2 m 05 s, app-7)",
            "sessions": "3 sessions",
            "table": "public.jobs",
        },
        "session 61 (idle in transaction, transaction open 2 m 05 s, app-7) blocks 3 sessions waiting to lock "
        "public.jobs",
    ),
    QueueLockText.ONLY_BEHIND: (
        {
            "blocks": "session 61 (idle in transaction, transaction open 2 m 05 s) blocks 3 sessions waiting to lock "
            "public.jobs",
            "count": 2,
            "session": "session 71",
            "statement": ": ALTER TABLE jobs ADD note text",
        },
        "session 61 (idle in transaction, transaction open 2 m 05 s) blocks 3 sessions waiting to lock "
        "public.jobs; 2 of them would not wait without session 71, which waits ahead of them: ALTER TABLE jobs "
        "ADD note text",
    ),
    QueueLockText.STATEMENT: ({"statement": "ALTER TABLE jobs ADD note text"}, ": ALTER TABLE jobs ADD note text"),
    QueueLockText.SESSION: ({"session": 61}, "session 61"),
    QueueLockText.PREPARED: ({"transaction": "pay 7"}, "prepared transaction pay 7"),
    QueueLockText.THE_PREPARED: ({"transaction": "pay 7"}, "the prepared transaction pay 7"),
    QueueLockText.A_PREPARED: ({}, "a prepared transaction"),
    QueueLockText.OPEN_FOR: ({"age": "3 d 04 h"}, " (for 3 d 04 h)"),
    QueueLockText.OPEN: ({"age": "2 m 05 s"}, "transaction open 2 m 05 s"),
    QueueLockText.HOLDS_ALL: (
        {"who": "session 61 (idle in transaction, transaction open 2 m 05 s, app-7)", "rows": 812},
        "session 61 (idle in transaction, transaction open 2 m 05 s, app-7) holds all 812 messages",
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
