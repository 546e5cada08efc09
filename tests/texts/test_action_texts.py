"""The wording of plans and results of actions."""

from __future__ import annotations

from typing import Any, Final

from qmon.operate.actions.archiver import ArchiveText
from qmon.operate.actions.empty_trash import EmptyTrashText
from qmon.operate.actions.end_session import EndSessionText
from qmon.operate.actions.end_sessions import EndSessionsText
from qmon.operate.actions.gate import GateText
from qmon.operate.actions.pause import PauseText
from qmon.operate.actions.pause_check import PauseCheckText
from qmon.operate.actions.pause_switch import SwitchText
from qmon.operate.actions.purge import PurgeText
from qmon.operate.actions.redrive import RedriveText
from qmon.operate.actions.requeue import RequeueText
from qmon.operate.actions.requeue_sessions import RequeueSessionsText
from qmon.operate.actions.ring_repair import RepairText
from qmon.operate.actions.ring_scan import RingScanText
from qmon.operate.actions.undo import UndoText
from qmon.operate.actions.undo_tables import UndoLossText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    ArchiveText.NO_ARCHIVE_IN_DESIGN: (
        {"queue": "orders", "design": "ring", "others": "batch_fast, batch_single, batch_split, flag"},
        "queue 'orders' has no archive: its design is ring; designs with an archive: batch_fast, "
        "batch_single, batch_split, flag",
    ),
    ArchiveText.CANNOT_ARCHIVE: (
        {
            "queue": "orders",
            "why": "qmon cannot move or save rows of public.orders unchanged (body: it is masked for your role "
            "(anon)); this helps: use a role without masks",
        },
        "cannot archive 'orders': qmon cannot move or save rows of public.orders unchanged (body: it "
        "is masked for your role (anon)); this helps: use a role without masks; nothing was changed",
    ),
    ArchiveText.NOT_ALLOWED_UNCHANGED: (
        {"queue": "orders", "problem": "permission denied for table orders"},
        "not allowed to archive 'orders': permission denied for table orders; nothing was changed",
    ),
    ArchiveText.RIGHTS_MISSING: (
        {"queue": "orders", "grants": "GRANT DELETE ON public.orders TO anna"},
        "not allowed to archive 'orders'; this helps: GRANT DELETE ON public.orders TO anna; nothing was changed",
    ),
    ArchiveText.ROLLED_BACK: (
        {"problem": "archive: could not get a lock in time"},
        "not archived: archive: could not get a lock in time; the batch was rolled back",
    ),
    ArchiveText.NOT_ALLOWED: (
        {"queue": "orders", "problem": "permission denied for table orders"},
        "not allowed to archive 'orders': permission denied for table orders",
    ),
    ArchiveText.NO_ARCHIVE: ({"queue": "orders"}, "queue 'orders' has no archive"),
    EmptyTrashText.NOT_AN_AGE: ({"age": -1.0}, "-1 seconds is not an age"),
    EmptyTrashText.TITLE: ({"count": 1204}, "Permanently delete 1,204 rows of the trash"),
    EmptyTrashText.ROWS: ({}, "rows of trash"),
    EmptyTrashText.OF_QUEUE: ({"queue": "orders"}, ", of orders"),
    EmptyTrashText.PURGED_BEFORE: ({"age": "7 d 00 h"}, "purged more than 7 d 00 h ago"),
    EmptyTrashText.NO_UNDO: ({}, "deleted rows cannot be restored"),
    EmptyTrashText.UNDO_LOST: (
        {"operation": "261121-071402-k7qd"},
        "operation 261121-071402-k7qd can no longer be undone",
    ),
    EndSessionText.NEGATIVE: ({"session": -1}, "a session number cannot be negative: -1"),
    EndSessionText.GONE: ({"session": 61}, "session 61 no longer exists; there is nothing to end"),
    EndSessionText.UNSEEN: (
        {"session": 61, "role": "anna", "grant": "GRANT pg_signal_backend TO anna"},
        "no session 61 is visible to anna; this helps: GRANT pg_signal_backend TO anna",
    ),
    EndSessionText.BLOCKS_NONE: ({"session": 61}, "session 61 blocks no other session and has no open transaction"),
    EndSessionText.MAY_HOLD_CLEANUP: (
        {"kept": "dead rows"},
        "the session now blocks no other session, but may prevent the cleanup of dead rows",
    ),
    EndSessionText.NAMES: (
        {"names": "crm, mails, orders, reports, shop", "more": ", …"},
        ": crm, mails, orders, reports, shop, …",
    ),
    EndSessionText.BLOCKS: (
        {"sessions": "3 sessions", "directly": 2, "names": ": mailer"},
        "the session blocks 3 sessions, 2 directly: mailer",
    ),
    EndSessionText.LONGEST_WAIT: ({"longest": "5 m 00 s"}, "; the longest wait is 5 m 00 s"),
    EndSessionText.NEXT_BLOCKER: (
        {"waiter": 62, "waiting": "2 sessions wait"},
        ". After that, session 62 may block other sessions: 2 sessions wait for 62, too",
    ),
    EndSessionText.TITLE: ({"verb": "End", "session": 61}, "End session 61?"),
    EndSessionText.SESSION: ({"session": 61}, "session 61"),
    EndSessionText.BEGUN: (
        {"name": "session 61", "begun": "2026-11-21 07:14:02.120 UTC"},
        "session 61, begun 2026-11-21 07:14:02.120 UTC",
    ),
    EndSessionText.TRANSACTION_BEGUN: (
        {"begun": "2026-11-21 07:14:02.120 UTC"},
        ", in its transaction begun 2026-11-21 07:14:02.120 UTC",
    ),
    EndSessionText.END: ({"name": "session 61"}, "End session 61?"),
    EndSessionText.ROLLED_BACK: ({}, "the session's transaction is rolled back, and its work must be done again"),
    EndSessionText.NO_APPLICATION: ({}, "an application without a name"),
    EndSessionText.FROM_HOST: ({"host": "app-7"}, " from app-7"),
    EndSessionText.FOR_TIME: ({"duration": "5 m 00 s"}, " for 5 m 00 s"),
    EndSessionText.WHO: (
        {"application": "mailer", "login": "anna", "origin": " from app-7", "database": "shop"},
        "mailer, login anna from app-7, database shop",
    ),
    EndSessionText.TRANSACTION_AGE: ({"duration": "5 m 00 s"}, "; the transaction began 5 m 00 s ago"),
    EndSessionText.LAST_STATEMENT: ({"statement": "SELECT 1"}, "last statement: SELECT 1"),
    EndSessionText.NOTHING_CHANGED: ({}, "the transaction has changed no rows; its locks are released"),
    EndSessionText.LOG_WRITTEN: (
        {"size": "8.0 MB"},
        "the session has written 8.0 MB of log; the rollback may take as long as the writes",
    ),
    EndSessionText.CHANGES_ROLLED_BACK: (
        {},
        "the transaction has changed or locked rows: the changes are rolled back, the locks released immediately",
    ),
    EndSessionText.CANCELLED: (
        {},
        "the statement fails with 57014 (cancelled); the session stays connected and may try again",
    ),
    EndSessionText.CONNECTION_LOST: (
        {},
        "the client loses the connection (57P01), but may reconnect and do the same again",
    ),
    EndSessionText.CONNECTION_LOST_SQLSERVER: (
        {},
        "the client loses the connection; SQL Server cannot cancel a statement of another session",
    ),
    EndSessionText.OF_QMON: (
        {"name": "session 61", "application": "qmon poll"},
        "session 61 belongs to qmon (qmon poll): stop that qmon instead",
    ),
    EndSessionText.START_UNSEEN: (
        {"role": "anna", "name": "session 61", "grant": "GRANT pg_signal_backend TO anna"},
        "anna may not see when session 61 began, so qmon cannot confirm that session 61 is the session that was"
        " shown; this helps: GRANT pg_signal_backend TO anna",
    ),
    EndSessionText.AUTOVACUUM_UNSEEN: (
        {"name": "session 61", "role": "anna", "grant": "GRANT pg_signal_backend TO anna"},
        "session 61 is an autovacuum worker; anna may not see its task; this helps: GRANT pg_signal_backend TO anna",
    ),
    EndSessionText.PREVENTS_WRAPAROUND: (
        {"name": "session 61"},
        "session 61 is an autovacuum that prevents wraparound; the server would start it again",
    ),
    EndSessionText.PROCESS: ({}, "process of the server"),
    EndSessionText.NOT_A_CLIENT: (
        {"name": "session 61", "kind": "walsender"},
        "session 61 is a walsender, not a session of an application",
    ),
    EndSessionText.OTHER_SESSION: (
        {"name": "session 61", "started_at": "2026-11-21 07:14:02.120 UTC", "shown_at": "2026-11-21 07:10:00.000 UTC"},
        "session 61 is a different session now: it began at 2026-11-21 07:14:02.120 UTC, but the "
        "session that was shown began at 2026-11-21 07:10:00.000 UTC",
    ),
    EndSessionText.PERCENT_DONE: ({"percent": 41.6}, ", 42 % done"),
    EndSessionText.ROLLING_BACK: (
        {"name": "session 61", "done": ", 42 % done"},
        "session 61 is already being rolled back, 42 % done; ending it again does not help",
    ),
    EndSessionText.SUPERUSER_ONLY: ({}, "only a superuser may end it"),
    EndSessionText.THIS_HELPS: (
        {"grant": "GRANT pg_signal_backend TO anna"},
        "this helps: GRANT pg_signal_backend TO anna",
    ),
    EndSessionText.MAY_NOT_END: (
        {
            "role": "anna",
            "name": "session 61",
            "login": "postgres",
            "helps": "this helps: GRANT pg_signal_backend TO anna",
        },
        "anna may not end session 61 of postgres; this helps: GRANT pg_signal_backend TO anna",
    ),
    EndSessionText.PREPARED_GONE: ({}, "the prepared transaction no longer exists; there is nothing to end"),
    EndSessionText.AT_UNKNOWN_TIME: ({}, " at an unknown time"),
    EndSessionText.AGO: ({"duration": "5 m 00 s"}, " 5 m 00 s ago"),
    EndSessionText.OWNER_OR_SUPERUSER: ({"owner": "anna"}, "anna or a superuser"),
    EndSessionText.IN_DATABASE: ({"database": "shop"}, " in database shop"),
    EndSessionText.MORE_OPEN: ({"count": 3}, "; 3 more are open"),
    EndSessionText.PREPARED: (
        {
            "since": " 5 m 00 s ago",
            "who": "anna or a superuser",
            "finish": "ROLLBACK PREPARED 'pay'",
            "where": " in database shop",
            "more": "; 2 more are open",
        },
        "a prepared transaction has no session to end; the oldest was prepared 5 m 00 s ago: anna or a superuser"
        " can run ROLLBACK PREPARED 'pay' in database shop if the transaction manager no longer needs the"
        " transaction; 2 more are open",
    ),
    EndSessionsText.ONLY_COUNTED: ({}, "further sessions are only counted"),
    EndSessionsText.ENDED: ({"session": 61}, "session 61 was ended"),
    EndSessionsText.NOT_ENDED: (
        {"session": 61},
        "session 61 was not ended: it is gone, or its transaction or state has changed",
    ),
    EndSessionsText.NAME: ({"session": 61}, "session 61"),
    EndSessionsText.ROLLING_BACK: (
        {"name": "session 61", "percent": 41.6},
        "session 61 is being rolled back (42 % done) and keeps its locks until the rollback has finished",
    ),
    EndSessionsText.CANCELLED: (
        {"name": "session 61", "state": "idle in transaction"},
        "the statement of session 61 has been cancelled, but the transaction is still open (idle in transaction):"
        " the driver may use savepoints; plan again to end the session",
    ),
    EndSessionsText.STILL_EXISTS: (
        {"name": "session 61", "state": "idle in transaction", "locks": 4},
        "session 61 was asked to end but still exists (idle in transaction, 4 locks): check again",
    ),
    EndSessionsText.PROGRESS: ({"percent": 41.6}, "rolling back: 42 %"),
    GateText.RETURNS_FAIL: (
        {},
        "workers that return a failed message by DELETE and INSERT are also refused: the worker's transaction is"
        " rolled back, and the message does not change",
    ),
    GateText.INSTALL: ({"table": "public.orders"}, "Install a gate on public.orders?"),
    GateText.REMOVED_BY: ({}, "remove-gate removes the gate again"),
    GateText.NO_GATE: ({"table": "public.orders"}, "public.orders has no gate"),
    GateText.NOT_OWNER: ({"table": "public.orders"}, "only the owner of public.orders may drop a trigger on it"),
    GateText.REMOVE: ({"table": "public.orders"}, "Remove the gate from public.orders?"),
    GateText.PRODUCERS_CONTINUE: ({}, "producers that the gate pauses continue immediately"),
    GateText.INSTALLED_BY: ({}, "install-gate installs the gate again"),
    GateText.BUSY: ({"attempt": 3}, "the table is busy; attempts: 3"),
    GateText.LOCKED: (
        {"table": "public.orders"},
        "public.orders was locked at every attempt: a long transaction holds the lock (see blocking); nothing was"
        " changed; try again when the transaction has ended",
    ),
    GateText.UNIT: ({"table": "public.orders"}, "a trigger on public.orders"),
    GateText.SEVERAL_QUEUES: (
        {},
        "on SQL Server a gate covers the whole table: it would also stop the producers of other queues",
    ),
    GateText.NOT_NEEDED: ({}, "this queue needs no gate, because its push has a pause switch: pause the queue"),
    GateText.BUT_DISABLED: ({}, ", but it is disabled; remove it first"),
    GateText.HAS_GATE: ({"table": "public.orders"}, "public.orders already has a gate"),
    GateText.COVERED: (
        {"above": "public.events", "table": "public.orders"},
        "the gate of public.events also covers its partition public.orders",
    ),
    GateText.NO_TABLE: ({"table": "public.orders"}, "the table public.orders does not exist"),
    GateText.NOT_A_TABLE: ({"table": "public.orders"}, "public.orders is not a table: a gate is a trigger on a table"),
    GateText.RIGHTS_MISSING: (
        {"table": "public.orders"},
        "a gate needs the right to create a trigger on public.orders, and the right to write to the schema qmon;"
        " your role lacks at least one of them; ask the table's owner",
    ),
    GateText.LOCKS: (
        {"lock": "SHARE ROW EXCLUSIVE", "tries": 25},
        "locks the table (SHARE ROW EXCLUSIVE) for a moment: qmon tries up to 25 times, for 0.2 s each time, and"
        " other sessions never wait longer than 0.2 s; if the table is never free, nothing is changed",
    ),
    GateText.INSERT_FAILS_SQLSERVER: (
        {},
        "during a pause, an INSERT fails with error 770001 (before 2012: 50000) and the producer's whole"
        " transaction is rolled back; the identity value of the refused row is lost",
    ),
    GateText.NUMBER_LOST: ({}, "the sequence number of the refused row is lost"),
    GateText.NO_NUMBER_LOST: ({}, "no sequence number is lost"),
    GateText.EVERY_PARTITION: (
        {},
        "the gate covers every partition, even if a partition is created or attached later; each partition checks"
        " its own inserts",
    ),
    GateText.OF_QUEUE: ({}, " of messages of this queue"),
    GateText.INSERT_FAILS: (
        {"part": " of messages of this queue", "drawn": "the sequence number of the refused row is lost"},
        "during a pause, INSERT and COPY of messages of this queue fail with SQLSTATE QM001 and the "
        "producer's whole transaction is rolled back, unless its session has set qmon.pause_wait_ms; "
        "the sequence number of the refused row is lost",
    ),
    GateText.INSERTED_ROW: ({}, "inserted row"),
    GateText.READS_SEQUENCE: ({"what": "INSERT"}, "each INSERT also reads a sequence, even if the queue is not paused"),
    GateText.OTHER_QUEUES: ({}, "; for rows of other queues, the gate only checks the queue column"),
    GateText.INSTEAD_OF: ({}, "the table has INSTEAD OF triggers: the gate checks the rows that these triggers insert"),
    GateText.OUTPUT_FAILS: (
        {},
        "INSERT … OUTPUT without INTO fails from now on (error 334), even if the queue is not paused: do not"
        " install a gate if producers use this statement",
    ),
    GateText.BULK_LOADS: ({}, "bulk loads and bcp bypass the gate unless they fire triggers (FIRE_TRIGGERS)"),
    GateText.INHERITED: (
        {},
        "tables that inherit from this table have no gate: inserts into such tables are not stopped",
    ),
    GateText.JOBS_REFUSED: ({}, "scheduled jobs and jobs pushed by other jobs are also refused"),
    GateText.REPLICA_ROLE: (
        {},
        "sessions with session_replication_role = replica, such as those of a subscription, bypass the gate",
    ),
    GateText.MOVES_FAIL: (
        {},
        "consumers that move a row into another partition by UPDATE also fail, because the move is an insert",
    ),
    PauseText.NO_PUSH_SWITCH: (
        {},
        "push has no pause switch: qmon did not install this queue, or an older version of qmon did; install a gate"
        " on the table, or reinstall the queue",
    ),
    PauseText.NO_POP_SWITCH: (
        {},
        "pop has no pause switch: qmon can only pause consumers of queues that qmon installed",
    ),
    PauseText.DURATION_RANGE: (
        {"duration": "2d"},
        "a pause lasts from 1s to 24h, not 2d; a running pause can be extended",
    ),
    PauseText.TITLE: ({"side": "producers", "queue": "orders"}, "Pause the producers of orders?"),
    PauseText.TITLE_FOR: (
        {"side": "producers", "queue": "orders", "duration": "1 h 00 m"},
        "Pause the producers of orders for 1 h 00 m?",
    ),
    PauseText.UNTIL: (
        {"side": "producers", "subject": "public.orders", "until": "2026-11-21 08:14:02 UTC"},
        "the producers of public.orders, until 2026-11-21 08:14:02 UTC",
    ),
    PauseText.RESUME_EARLIER: ({}, "resume ends the pause earlier; otherwise, the pause ends by itself"),
    PauseText.NOT_PAUSED: ({"side": "producers", "queue": "orders"}, "the producers of orders are not paused"),
    PauseText.RESUME: ({"side": "producers", "queue": "orders"}, "Resume the producers of orders?"),
    PauseText.SIDE: ({"side": "producers", "subject": "public.orders"}, "the producers of public.orders"),
    PauseText.STOPS_AGAIN: ({"side": "producers"}, "pause stops the producers again"),
    PauseText.PAUSED_BY: (
        {"author": "by anna@app-7 since 2026-11-21 07:14:02 UTC, until 2026-11-21 08:14:02 UTC: deploy"},
        "paused by anna@app-7 since 2026-11-21 07:14:02 UTC, until 2026-11-21 08:14:02 UTC: deploy",
    ),
    PauseText.WERE_PAUSED: ({"side": "producers"}, "the producers were paused"),
    PauseText.CHECKING: ({}, "checking whether the pause works"),
    PauseText.PAUSED_UNTIL: ({"until": "2026-11-21 08:14:02 UTC"}, "paused until 2026-11-21 08:14:02 UTC"),
    PauseText.MORE: ({"count": 1204}, " and 1,204 more"),
    PauseText.GATE_BROKEN: (
        {"partition": "public.orders_2026", "more": " and 2 more"},
        "the gate does not stop an INSERT into public.orders_2026 and 2 more; qmon has ended the "
        "pause: remove the gate and install the gate again",
    ),
    PauseText.OPEN_SESSIONS: (
        {"sessions": "session 61 (mailer)"},
        "sessions that began writing before the pause and are still open: session 61 (mailer)",
    ),
    PauseText.GATE_DISABLED: (
        {},
        "this table has a gate, but the gate is disabled: remove the gate and install it again",
    ),
    PauseText.GRANT_MISSING: (
        {"object": "qmon.gate_5d41402abc4b2a76b9719d911017c592"},
        "your role may not set qmon.gate_5d41402abc4b2a76b9719d911017c592; ask the owner for: GRANT "
        "UPDATE on qmon.gate_5d41402abc4b2a76b9719d911017c592",
    ),
    PauseText.UNRECORDED: (
        {"until": "2026-11-21 08:14:02 UTC", "side": "producers"},
        "until 2026-11-21 08:14:02 UTC; the database does not record who paused the producers",
    ),
    PauseText.ALREADY_PAUSED: (
        {
            "side": "producers",
            "who": "by anna@app-7 since 2026-11-21 07:14:02 UTC, until 2026-11-21 08:14:02 UTC: deploy",
        },
        "the producers are already paused, by anna@app-7 since 2026-11-21 07:14:02 UTC, until "
        "2026-11-21 08:14:02 UTC: deploy; your pause sets a new end and records your name",
    ),
    PauseText.SINCE_UNTIL: (
        {"since": "2026-11-21 07:14:02 UTC", "until": "2026-11-21 08:14:02 UTC"},
        "since 2026-11-21 07:14:02 UTC, until 2026-11-21 08:14:02 UTC",
    ),
    PauseText.AUTHOR: (
        {
            "by": "anna@app-7",
            "since_until": "since 2026-11-21 07:14:02 UTC, until 2026-11-21 08:14:02 UTC",
            "reason": ": deploy",
        },
        "by anna@app-7 since 2026-11-21 07:14:02 UTC, until 2026-11-21 08:14:02 UTC: deploy",
    ),
    PauseText.OF_QUEUE: ({}, " of a message of this queue"),
    PauseText.INSERT_FAILS: (
        {"part": " of a message of this queue", "code": "QM001"},
        "every INSERT and COPY of a message of this queue into the table fails with QM001 and the "
        "whole transaction is rolled back, unless the session has set qmon.pause_wait_ms to wait",
    ),
    PauseText.PUSH_FAILS: (
        {"what": "push", "code": "QM001"},
        "every push fails with QM001, or waits if its session has set qmon.pause_wait_ms; no sequence number is lost",
    ),
    PauseText.OTHERS_CONTINUE: ({}, "complete, fail and archive continue; repairs and undos are not paused"),
    PauseText.DIRECT_NOT_PAUSED: ({}, "statements that use the table directly are not paused"),
    PauseCheckText.UNTRIED: (
        {"why": "permission denied for table orders"},
        "not tested with an INSERT: permission denied for table orders; the trigger exists and is enabled",
    ),
    PauseCheckText.NO_PARTITIONS: ({}, "the table has no partitions yet: new partitions will have the gate"),
    PauseCheckText.REFUSED: ({}, "tested: an INSERT is refused"),
    PauseCheckText.EACH_OF: ({"places": 4}, "each of 4"),
    PauseCheckText.SOME_OF: ({"refused": 3, "places": 4}, "3 of 4"),
    PauseCheckText.REFUSED_IN: ({"partitions": "each of 4"}, "tested: an INSERT is refused, in each of 4 partitions"),
    PauseCheckText.FROM: ({"sessions": "session 61 (mailer)"}, ", from session 61 (mailer)"),
    PauseCheckText.UNCHECKED: ({"messages": "pushes"}, "qmon could not check whether pushes still come"),
    PauseCheckText.SEEN: (
        {"count": 12, "messages": "pushes", "duration": "2.0 s", "sessions": ", from session 61 (mailer)"},
        "12 pushes seen in 2.0 s, from session 61 (mailer)",
    ),
    PauseCheckText.NOT_YET_KNOWN: (
        {"seen": "0 pushes seen in 2.0 s", "duration": "4.0 s", "messages": "pushes"},
        "not yet known whether the pause works: 0 pushes seen in 2.0 s; 4.0 s without pushes would confirm the pause",
    ),
    PauseCheckText.STILL_COME: (
        {
            "messages": "pushes",
            "count": 12,
            "duration": "8.0 s",
            "sessions": ", from session 61 (mailer)",
            "routine": "push",
        },
        "pushes still come: 12 in 8.0 s, from session 61 (mailer); a session uses the table without calling push",
    ),
    PauseCheckText.LATE: ({}, "came earlier or were counted late"),
    PauseCheckText.STARTED_BEFORE: ({}, "started before the pause and ended after it"),
    PauseCheckText.CAME_LATE: (
        {"count": 12, "late": "came earlier or were counted late"},
        "; 12 came earlier or were counted late",
    ),
    PauseCheckText.STILL_OPEN: (
        {"sessions": "session 61 (mailer)"},
        "; sessions from before the pause that are still open: session 61 (mailer)",
    ),
    PauseCheckText.NONE: (
        {
            "messages": "pushes",
            "duration": "8.0 s",
            "before": "; 2 came earlier or were counted late",
            "still": "; sessions from before the pause that are still open: session 61 (mailer)",
        },
        "0 pushes in 8.0 s; 2 came earlier or were counted late; sessions from before the pause that "
        "are still open: session 61 (mailer)",
    ),
    PauseCheckText.PREPARED: ({}, "a prepared transaction"),
    PauseCheckText.SESSION: ({"session": 61, "name": "mailer"}, "session 61 (mailer)"),
    SwitchText.NOT_WRITABLE: (
        {"advice": "the database's owner can grant this: qmon setup TARGET --role operator"},
        "your role may not write the pauses of this database; the database's owner can grant this: "
        "qmon setup TARGET --role operator",
    ),
    SwitchText.ALTERED: (
        {"way": "gate", "object": "qmon.gate_5d41402abc4b2a76b9719d911017c592"},
        "the gate qmon.gate_5d41402abc4b2a76b9719d911017c592 is not as qmon created it; install it again",
    ),
    SwitchText.UNCHANGED: (
        {
            "reason": "your role may not write the pauses of this database; the database's owner can grant this: "
            "qmon setup TARGET --role operator"
        },
        "your role may not write the pauses of this database; the database's owner can grant this: "
        "qmon setup TARGET --role operator; nothing was changed",
    ),
    PurgeText.TITLE_ALL: ({"queue": "orders"}, "Purge messages of orders"),
    PurgeText.TITLE: ({"messages": "3 dead messages", "queue": "orders"}, "Purge 3 dead messages of orders"),
    PurgeText.DATA_KEPT: (
        {"table": "public.order_data"},
        "the triggers or policies of public.order_data prevent the deletion of its row",
    ),
    PurgeText.KEPT: ({}, "the table's triggers or policies prevent the deletion"),
    PurgeText.INSERTED_AGAIN: ({}, "the table's triggers inserted the row again"),
    PurgeText.SKIPPED_REFERRED: (
        {"tables": "public.lines"},
        "messages are skipped if rows of these tables refer to them: public.lines",
    ),
    PurgeText.SKIPPED_TRIGGERS: (
        {"triggers": "orders_audit"},
        "messages are skipped if these triggers do not let qmon delete them: orders_audit",
    ),
    PurgeText.UNWATCHED: (
        {"triggers": "orders_audit"},
        "qmon does not detect rows that these triggers insert under other keys: orders_audit",
    ),
    PurgeText.TWO_TABLES: (
        {"queue": "orders"},
        "queue 'orders': the queue has two tables; to move its rows, qmon needs both `id` and `data_id`",
    ),
    PurgeText.NOT_IDENTIFIED: (
        {"id": "id", "table": "public.order_data"},
        "id alone does not identify a row of public.order_data, so qmon cannot find the second row of a message",
    ),
    PurgeText.CASCADES: (
        {"table": "public.orders", "tables": "public.lines"},
        "deleting rows of public.orders also deletes or changes rows of public.lines, which undo cannot restore",
    ),
    PurgeText.UNCOUNTED: (
        {"table": "public.orders", "triggers": "orders_audit"},
        "track_counts is off, so the effects of the triggers of public.orders are unknown: orders_audit",
    ),
    PurgeText.RULES: (
        {"table": "public.orders", "rules": "keep_rows"},
        "public.orders has rules that may replace qmon's statements: keep_rows",
    ),
    PurgeText.TOO_WIDE: (
        {
            "table": "public.orders",
            "why": "its 1599 columns and 3 of the trash are more than the 1600 that a table can have",
        },
        "public.orders is too wide for the trash: its 1599 columns and 3 of the trash are more than "
        "the 1600 that a table can have",
    ),
    PurgeText.COLUMN_TAKEN: (
        {"table": "public.orders", "column": "qmon_operation"},
        "public.orders has a column qmon_operation, a name that the trash uses",
    ),
    PurgeText.REFERS: (
        {"table": "public.orders", "data_table": "public.order_data"},
        "public.orders refers to public.order_data, so qmon cannot delete rows of the second table",
    ),
    PurgeText.NO_DEAD: (
        {"queue": "orders", "advice": "choose a state, such as ready, or give ids"},
        "queue 'orders' has no dead messages to purge: choose a state, such as ready, or give ids",
    ),
    PurgeText.NOT_DELIVERED: ({}, "consumers no longer get the messages"),
    PurgeText.KEPT_IN_TRASH: ({"duration": "7 d 00 h"}, "the messages are kept in the trash for at least 7 d 00 h"),
    PurgeText.DATA_PURGED: ({"table": "public.order_data"}, "the messages' rows of public.order_data are purged, too"),
    PurgeText.CANNOT_COMPLETE: ({}, "a consumer that is processing one of the messages cannot complete the message"),
    RedriveText.FAILURES_UNSEEN: (
        {},
        "qmon cannot see which messages fail again, because it cannot identify a message after its retry",
    ),
    RedriveText.TITLE_ALL: ({"queue": "orders"}, "Redrive messages of orders"),
    RedriveText.NO_STATE: ({}, "this table has no state column"),
    RedriveText.TITLE: ({"messages": "3 dead messages", "queue": "orders"}, "Redrive 3 dead messages of orders"),
    RedriveText.NOT_DEAD: (
        {"state": "done"},
        "a redrive retries only dead messages, not messages that are done: use qmon requeue",
    ),
    RedriveText.NO_OWNER: ({}, "dead messages have no owner"),
    RedriveText.RATE_RANGE: (
        {"rate": 0.0},
        "the rate must be greater than 0 and at most 1,000,000 messages per second, not 0",
    ),
    RedriveText.FAILURES_RANGE: ({"failures": 0}, "the number of failures to stop at must be at least 1, not 0"),
    RedriveText.NO_RATE: ({}, "without a rate limit, in batches with pauses"),
    RedriveText.AT_RATE: ({"rate": "100"}, "at most 100 per second"),
    RedriveText.NEVER_STOPS: (
        {"pace": "at most 100 per second"},
        "at most 100 per second; the redrive does not stop if messages fail again",
    ),
    RedriveText.STOPS: (
        {"pace": "at most 100 per second", "messages": "3 messages"},
        "at most 100 per second; the redrive stops once 3 messages have failed again",
    ),
    RequeueText.CONSUMER_ALIVE: ({}, "a consumer that is alive"),
    RequeueText.CONSUMER_UNKNOWN: ({}, "a consumer that qmon cannot see"),
    RequeueText.CONSUMER_UNCHECKED: (
        {},
        "a consumer that qmon cannot check (the queue has no owner column, so qmon only knows ages)",
    ),
    RequeueText.TITLE_ALL: ({"queue": "orders"}, "Requeue messages of orders"),
    RequeueText.TITLE: (
        {"messages": "3 messages in progress", "queue": "orders"},
        "Requeue 3 messages in progress of orders",
    ),
    RequeueText.NO_LIMIT_COLUMN: ({"column": "max_tries"}, "max_attempts: the column max_tries does not exist"),
    RequeueText.DEAD_BY_COLUMN: (
        {"column": "max_tries"},
        "messages with as many attempts as their max_tries become dead letters",
    ),
    RequeueText.DEAD_BY_LIMIT: ({"attempts": "3 attempts"}, "messages with 3 attempts or more become dead letters"),
    RequeueText.SKIPPED_UNIQUE: (
        {"indexes": "orders_key"},
        "messages are skipped if their key in a unique index is already taken: orders_key",
    ),
    RequeueText.SKIPPED_BEFORE: (
        {"triggers": "orders_audit"},
        "messages are skipped if these triggers do not let qmon change them: orders_audit",
    ),
    RequeueText.SKIPPED_AFTER: (
        {"triggers": "orders_audit"},
        "messages are skipped if these triggers change them again or delete them: orders_audit",
    ),
    RequeueText.TWICE: ({}, "consumers may process these messages twice: they were popped before"),
    RequeueText.OWNER_WORKS: (
        {"who": "a consumer that is alive"},
        "a consumer that is alive may still be working on the messages, and the messages may be processed twice",
    ),
    RequeueText.KEEP_ATTEMPTS: (
        {"attempts": "attempts"},
        "the messages keep their attempts: a message with too many attempts is dead again after one more failure;"
        " redrive resets the attempts",
    ),
    RequeueText.READY: ({}, "ready messages are already in the queue"),
    RequeueText.NEVER_IN_PROGRESS: (
        {},
        "messages of this queue are never in progress; to process done messages again, give the state: done",
    ),
    RequeueText.NO_ZONE: (
        {
            "advice": 'started_at has no time zone; set one in the configuration: times = "utc", "local" or, say, '
            '"Europe/Berlin"'
        },
        'started_at has no time zone; set one in the configuration: times = "utc", "local" or, say, '
        '"Europe/Berlin"; or give ids (without a time zone, ages are unknown)',
    ),
    RequeueText.NO_START: (
        {},
        "no column contains the time at which messages were popped; give the ids of the messages",
    ),
    RequeueText.NO_START_NO_OWNER: (
        {},
        "no column contains the time at which messages were popped, and no dead owner proves that messages are"
        " stuck; give the ids of the messages",
    ),
    RequeueText.RULES: (
        {"table": "public.orders", "rules": "keep_rows"},
        "public.orders has rules that may replace qmon's statements: keep_rows",
    ),
    RequeueText.UNIDENTIFIED: ({}, "messages cannot be identified: the queue has neither a key nor ids"),
    RequeueText.COLUMN_TAKEN: (
        {"column": "qmon_operation"},
        "the table has a column qmon_operation, a name that qmon's own table uses",
    ),
    RequeueText.CANNOT_STORE: (
        {"advice": "the database's owner can grant this: qmon setup TARGET --role operator"},
        "your role cannot store the data for an undo; the database's owner can grant this: qmon "
        "setup TARGET --role operator",
    ),
    RequeueText.KEY_CHANGES: (
        {"columns": "tenant, seq"},
        "the requeue changes the key, and tenant, seq may not identify a message",
    ),
    RequeueText.NOT_POPPED_AGAIN: ({}, "an undo only restores messages that have not been popped again"),
    RequeueText.UP_TO: ({}, "up to "),
    RequeueText.PARTLY_COUNT: (
        {"up_to": "up to ", "lost": 3, "messages": "120,000 messages"},
        "up to 3 of 120,000 messages cannot be undone",
    ),
    RequeueText.SAME_VALUES: (
        {"columns": "tenant, seq"},
        "other messages have the same tenant, seq, or the value is NULL",
    ),
    RequeueText.PARTLY: (
        {"which": "3 of 5 messages cannot be undone", "why": "other messages have the same id, or the value is NULL"},
        "3 of 5 messages cannot be undone: other messages have the same id, or the value is NULL",
    ),
    RequeueSessionsText.OTHERS_HIDDEN: (
        {},
        "this database has optimized locking, so the server may hide locks: other sessions may also hold messages"
        " of this queue, and the sessions in the plan may hold more messages",
    ),
    RequeueSessionsText.KEEPS_MESSAGES: (
        {"design": "ring"},
        "a ring keeps popped messages; qmon ends sessions only for queues whose pop deletes messages",
    ),
    RequeueSessionsText.NOT_IN_PROGRESS: (
        {"state": "done"},
        "only messages in progress are requeued, not messages that are done",
    ),
    RequeueSessionsText.NO_FILTER: (
        {},
        "sessions hold the messages in progress; a text or a maximum age cannot select sessions",
    ),
    RequeueSessionsText.HOLDERS_HIDDEN: (
        {},
        "this database has optimized locking, so the server does not show which session holds a message, and a"
        " producer looks like a consumer; on screen 4, end the session that you know to be stuck",
    ),
    RequeueSessionsText.PREPARED: ({}, "prepared transactions, which have no session (ROLLBACK PREPARED ends them)"),
    RequeueSessionsText.MAY_BE_PRODUCERS: (
        {},
        "sessions that lock the table but may be producers: qmon cannot prove that they hold one of the rows that"
        " it read",
    ),
    RequeueSessionsText.RUNNING: ({}, "sessions that are running a statement: owner alive"),
    RequeueSessionsText.START_UNSEEN: ({}, "sessions whose start your role may not see"),
    RequeueSessionsText.OVER_LIMIT: ({}, "over the limit"),
    RequeueSessionsText.SUPERUSER_ONLY: ({}, "only a superuser may end it"),
    RequeueSessionsText.THIS_HELPS: (
        {"grant": "GRANT pg_signal_backend TO anna"},
        "this helps: GRANT pg_signal_backend TO anna",
    ),
    RequeueSessionsText.MAY_NOT_END: (
        {"session": 61, "login": "postgres", "helps": "this helps: GRANT pg_signal_backend TO anna"},
        "your role may not end session 61 of postgres; this helps: GRANT pg_signal_backend TO anna",
    ),
    RequeueSessionsText.UNSEEN: (
        {"role": "anna", "grant": "GRANT pg_signal_backend TO anna"},
        "anna may not see what other sessions do; this helps: GRANT pg_signal_backend TO anna",
    ),
    RequeueSessionsText.NO_TRANSACTION: (
        {"queue": "orders", "duration": "5 m 00 s"},
        "no transaction has held messages of orders for more than 5 m 00 s",
    ),
    RequeueSessionsText.NONE_CHOSEN: (
        {"transactions": "2 transactions", "queue": "orders"},
        "none of the 2 transactions that hold a lock on orders was chosen",
    ),
    RequeueSessionsText.PREDICATE: (
        {"table": "public.orders", "duration": "5 m 00 s"},
        "transactions that hold rows of public.orders and began more than 5 m 00 s ago: ",
    ),
    RequeueSessionsText.SESSION: ({"session": 61}, "session 61"),
    RequeueSessionsText.STAY: ({}, "messages that return to the queue stay there"),
    RequeueSessionsText.SESSIONS_ENDED: ({}, "the sessions ended while they were being read; plan again"),
    RequeueSessionsText.OWNER: ({"application": "mailer", "session": 61}, "mailer (61)"),
    RequeueSessionsText.FOR_TIME: ({"duration": "5 m 00 s"}, " for 5 m 00 s"),
    RequeueSessionsText.HOLDS: ({"rows": "3 rows"}, "holds 3 rows"),
    RequeueSessionsText.HOLDS_NONE: ({}, "holds none of the rows that were read"),
    RequeueSessionsText.LOG: ({"size": "8.0 MB"}, ", 8.0 MB of log to roll back"),
    RequeueSessionsText.NO_APPLICATION: ({}, "no application name"),
    RequeueSessionsText.DESCRIPTION: (
        {
            "session": 61,
            "who": "mailer",
            "login": "anna",
            "state": "idle in transaction",
            "since": " for 5 m 00 s",
            "holds": "holds 3 rows",
            "log": ", 8.0 MB of log to roll back",
        },
        "session 61 (mailer, login anna): idle in transaction for 5 m 00 s, holds 3 rows, 8.0 MB of log to roll back",
    ),
    RequeueSessionsText.MORE: ({"count": 3}, "and 3 more"),
    RequeueSessionsText.READY_AGAIN: ({"messages": "3 messages"}, "3 messages will be ready again after the rollback"),
    RequeueSessionsText.CANNOT_COMMIT: (
        {},
        "a consumer that is still working on such a message can no longer commit; its work outside the database may"
        " be done twice",
    ),
    RequeueSessionsText.TITLE_ONE: ({"queue": "orders"}, "End 1 session of orders to requeue its messages?"),
    RequeueSessionsText.TITLE: (
        {"sessions": "3 sessions", "queue": "orders"},
        "End 3 sessions of orders to requeue their messages?",
    ),
    RepairText.RING_FULL: ({"number": 7}, "the ring is full, so consumers read again from number 7"),
    RepairText.NOW: ({"holes": 2, "orphans": 3}, "numbers that now look like holes: 2; like orphans: 3"),
    RepairText.PREPARED: ({}, "a prepared transaction"),
    RepairText.SESSION: ({"session": 61}, "session 61"),
    RepairText.IN_USE: ({"sessions": "session 61"}, "open transactions may still use these numbers (session 61)"),
    RepairText.NOT_PROVEN: ({}, "qmon could not prove in time that these numbers are holes, or the ring stayed full"),
    RepairText.NOT_YET: (
        {"count": "3 numbers", "why": "open transactions may still use these numbers (session 61)"},
        "3 numbers could not be repaired yet: open transactions may still use these numbers (session 61); repair again",
    ),
    RepairText.TITLE_ALL: ({"queue": "orders"}, "Repair orders"),
    RepairText.NOT_A_RING: ({}, "the queue is not a ring"),
    RepairText.NOTHING: ({"queue": "orders"}, "orders has neither holes nor orphans to repair"),
    RepairText.NOT_INSTALLED: (
        {"queue": "orders"},
        "qmon did not install orders: the queue lacks the routines that prove holes and orphans on the server"
        " (fill_hole, requeue_orphan)",
    ),
    RepairText.TITLE: (
        {"holes": "2 holes", "orphans": "1 orphan", "queue": "orders"},
        "Repair 2 holes and 1 orphan of orders?",
    ),
    RepairText.PREDICATE: (
        {"holes": "holes 7, 8", "orphans": "no orphans", "duration": "1.0 s"},
        "holes 7, 8; no orphans; not moved for 1.0 s or longer",
    ),
    RepairText.NO_UNDO: ({}, "filled holes stay filled; requeued messages keep their new numbers"),
    RepairText.TWICE: (
        {},
        "if the consumer of an orphan has already worked on the message, the work may be done again",
    ),
    RepairText.NO_NUMBERS: ({"what": "holes"}, "no holes"),
    RepairText.MORE: ({"count": 12}, " and 12 more"),
    RepairText.NUMBERS: ({"what": "holes", "numbers": "7, 8", "more": ""}, "holes 7, 8"),
    RepairText.OF_SUBSCRIBER: ({"number": "orphan", "subscriber": 2}, "orphan of subscriber 2"),
    RepairText.OVER_LIMIT: ({"limit": 1000}, "beyond the limit of 1,000 repairs"),
    RepairText.UNREAD: ({}, "slots that were not read because time ran out"),
    RepairText.NEW_NUMBER: ({}, "an orphan is delivered under a new number, behind the messages now in the ring"),
    RepairText.REFUSED: (
        {},
        "if the orphan's consumer is still alive, its pop with the old number is refused by the slot's turn",
    ),
    RepairText.HOLES_FILLED: (
        {},
        "consumers that wait for a hole continue; if the producer that took the number pushes later, it gets a new"
        " number",
    ),
    RepairText.NO_APPLICATION: ({}, "no application name"),
    RepairText.FOR_TIME: ({"duration": "5 m 00 s"}, " for 5 m 00 s"),
    RepairText.TOOK_NUMBER: (
        {"who": "session 61 (mailer)", "since": " for 5 m 00 s"},
        "session 61 (mailer) has taken a number and is open for 5 m 00 s: until its transaction "
        "ends, qmon does not repair numbers that it may have taken",
    ),
    RingScanText.NO_HOLES: ({}, "only rings have holes"),
    RingScanText.SEQUENCE_UNREADABLE: (
        {"sequence": "public.orders_seq"},
        "your role may not read the position of public.orders_seq; this helps: GRANT VIEW DEFINITION "
        "on public.orders_seq",
    ),
    UndoText.IN_QUEUE: ({}, "in the queue"),
    UndoText.IDS_ONLY: ({}, "an undo restores all messages, or only messages whose ids you give"),
    UndoText.NO_OPERATION: (
        {"operation": "261121-071402-k7qd"},
        "there is no operation '261121-071402-k7qd'; to list operations: qmon operations TARGET",
    ),
    UndoText.SAVED_GONE: ({}, "the saved messages of the operation no longer exist"),
    UndoText.NOTHING: ({}, "no message can be restored"),
    UndoText.NOT_UNDOABLE: (
        {"kind": "repair", "id": "261121-071402-k7qd"},
        "repair 261121-071402-k7qd cannot be undone",
    ),
    UndoText.RUNNING: ({}, "the operation is still running: stop it first"),
    UndoText.CHANGED_NOTHING: ({}, "the operation changed nothing"),
    UndoText.UNDONE: ({}, "the operation has already been undone"),
    UndoText.TRASH_EMPTIED: ({}, "the operation's trash was emptied"),
    UndoText.CHANGED_AGAIN: ({}, "the table's triggers change the row again, or delete it"),
    UndoText.INSERT_PREVENTED: ({}, "the table's triggers prevent the insertion"),
    UndoText.INSERT_CHANGED: ({}, "the table's triggers change the row during the insert"),
    UndoText.DELETED_AGAIN: ({}, "the table's triggers deleted the row again"),
    UndoText.NO_ID: ({}, "a message without an id"),
    UndoText.COLUMN_GONE: ({"column": "note"}, "the table no longer has the column note"),
    UndoText.TITLE_ALL: (
        {"kind": "purge", "queue": "orders", "by": "anna@app-7"},
        "Undo the purge of orders by anna@app-7",
    ),
    UndoText.PREDICATE: (
        {"id": "261121-071402-k7qd", "predicate": "dead, for more than 5 m 00 s"},
        "operation 261121-071402-k7qd: dead, for more than 5 m 00 s",
    ),
    UndoText.REPEAT: ({}, "repeat the operation instead"),
    UndoText.OLD_STATE: ({}, "with their old state and owner"),
    UndoText.AS_BEFORE: ({"before": "dead"}, "the messages are as they were before the operation: dead"),
    UndoText.TITLE: (
        {"kind": "purge", "messages": "3 messages", "queue": "orders", "by": "anna@app-7"},
        "Undo the purge of 3 messages of orders by anna@app-7",
    ),
    UndoLossText.ROW_VERSIONS: ({}, "row versions: each message is a new row to the server"),
    UndoLossText.RECOMPUTED: (
        {"columns": "total", "table": "public.orders"},
        "recomputed by the server: total of public.orders",
    ),
    UndoLossText.TRIGGERS: (
        {"triggers": "orders_audit", "table": "public.orders"},
        "effects of triggers, which fire again: orders_audit on public.orders",
    ),
    UndoLossText.STAY_IN_TRASH: (
        {"triggers": "orders_audit"},
        "messages stay in the trash if these triggers change them: orders_audit",
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
