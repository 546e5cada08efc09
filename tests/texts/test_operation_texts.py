"""The wording of running operations and of single messages."""

from __future__ import annotations

from typing import Any, Final

from qmon.operate.audit import AuditText
from qmon.operate.context import AccessText
from qmon.operate.message import MessageText
from qmon.operate.operator_context import ContextText
from qmon.operate.run.batches import RowRefusal
from qmon.operate.run.failure_watch import FailureText
from qmon.operate.run.running_operation import ApplyText, RunningOperationText
from qmon.operate.run.table_identity import TableChange
from qmon.operate.run.verification import TriggerText
from qmon.operate.table_structure import StructureText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    AuditText.NOT_WRITTEN: (
        {"path": "/home/anna/.local/state/qmon/operations.jsonl", "why": "No space left on device"},
        "the audit cannot be written to /home/anna/.local/state/qmon/operations.jsonl: No space left "
        "on device; the action was stopped",
    ),
    AccessText.SETUP_ADVICE: ({}, "the database's owner can grant this: qmon setup TARGET --role operator"),
    AccessText.NO_TRASH: (
        {"advice": "the database's owner can grant this: qmon setup TARGET --role operator"},
        "no trash is available: your role may not write to the schema qmon; the database's owner can "
        "grant this: qmon setup TARGET --role operator",
    ),
    MessageText.NO_ID: ({"table": "public.orders"}, "rows of public.orders cannot be identified: the table has no id"),
    MessageText.ID_FORM: ({"form": "tenant/seq"}, "ids of this queue have the form tenant/seq"),
    MessageText.NO_TABLE: ({"table": "public.orders"}, "public.orders does not exist, or your role may not see it"),
    MessageText.NO_COLUMN: ({"table": "public.orders", "column": "note"}, "public.orders has no column note"),
    MessageText.CUT_KEY: (
        {"columns": "tenant", "limit": 450, "table": "public.orders"},
        "tenant has 450 characters or more: qmon cannot name this message of public.orders",
    ),
    MessageText.KEY_UNREADABLE: ({"table": "public.orders"}, "your role may not read the key of public.orders"),
    MessageText.NOT_A_SESSION: (
        {"column": "locked_by", "kind": "lease"},
        "locked_by is a lease: the consumer's session is unknown",
    ),
    MessageText.OWNER_IS_NAME: ({}, "the owner is a name: the consumer's session is unknown"),
    MessageText.ACTIVITY_UNKNOWN: (
        {"session": "61", "problem": "message/session: could not get a lock in time"},
        "the activity of session 61 is unknown: message/session: could not get a lock in time",
    ),
    MessageText.GONE_OR_UNSEEN: ({"session": "61"}, "session 61 is gone, or your role may not see it"),
    MessageText.NUMBER_REUSED: ({"session": "61"}, "session 61 is gone; another session has this number now"),
    MessageText.FOR_TIME: ({"duration": "5 m 00 s"}, " for 5 m 00 s"),
    MessageText.LAST_STATEMENT: ({"statement": "SELECT 1"}, ", last statement: SELECT 1"),
    MessageText.SESSION: (
        {
            "session": "61",
            "who": "mailer, anna, app-7",
            "state": "active",
            "since": " for 5 m 00 s",
            "last": ", last statement: SELECT 1",
        },
        "session 61 (mailer, anna, app-7): active for 5 m 00 s, last statement: SELECT 1",
    ),
    MessageText.STATE_UNKNOWN: ({}, "state unknown"),
    MessageText.LOCKED: ({}, "a session has locked the table, and readers must wait"),
    ContextText.OWN_CONNECTION: (
        {"problem": "the server has no connection left: too many clients already"},
        "the server has no connection left: too many clients already; an action needs its own connection",
    ),
    ContextText.READ_ONLY: ({"target": "shop"}, "shop is read-only: qmon.toml sets read_only = true"),
    RowRefusal.LOCKED: ({}, "another session has locked a row that this change needs, such as a row of another table"),
    RowRefusal.ROW_SECURITY: ({}, "row level security keeps this role from changing the row"),
    RowRefusal.ALL_REFUSED: (
        {"count": 1204, "why": "the table's triggers or policies prevent the change"},
        "the first 1,204 rows were refused; qmon did not try the other rows: the table's triggers or "
        "policies prevent the change",
    ),
    FailureText.STOPPED: ({"messages": "3 messages"}, "stopped: 3 messages failed again"),
    FailureText.UNSEEN: ({}, "qmon cannot see which messages fail again"),
    FailureText.STOPS_AT: ({"count": 10}, "; stops at 10"),
    FailureText.PROGRESS: ({"failed": 2, "stops": "; stops at 10"}, "failed again: 2; stops at 10"),
    FailureText.SUMMARY: ({"failed": 2, "finished": 12, "rest": 3}, "2 failed again, 12 are done or gone, 3 not yet"),
    ApplyText.APPLIED: ({}, "this plan was already applied; plan again; nothing was changed"),
    ApplyText.NOTHING_TO_DO: ({}, "there is nothing to do"),
    ApplyText.UNCHANGED: (
        {"reason": "no message matches: nothing to do"},
        "no message matches: nothing to do; nothing was changed",
    ),
    RunningOperationText.NO_RECORD: (
        {"advice": "the database's owner can grant this: qmon setup TARGET --role operator"},
        "your role may not record operations in this database; nothing was changed; the database's "
        "owner can grant this: qmon setup TARGET --role operator",
    ),
    RunningOperationText.UNCHANGED: (
        {"reason": "no message matches: nothing to do"},
        "no message matches: nothing to do; nothing was changed",
    ),
    RunningOperationText.WRONG_NAME: (
        {"queue": "orders"},
        "the queue's name must be typed exactly: orders; nothing was changed",
    ),
    RunningOperationText.NO_REASON: ({}, "a reason is needed; nothing was changed"),
    RunningOperationText.BATCH_COMMITTED: ({"batch": 1, "done": 3}, "batch 1 (3 done) was committed"),
    RunningOperationText.OTHER_REASONS: ({}, "for other reasons"),
    RunningOperationText.END_UNRECORDED: (
        {"problem": "the connection was lost: server closed the connection unexpectedly"},
        "the database lists the operation as interrupted, because qmon could not record the end: the "
        "connection was lost: server closed the connection unexpectedly",
    ),
    RunningOperationText.SEE_OPERATIONS: (
        {},
        "when the server answers again, run `qmon operations` to see the recorded result",
    ),
    RunningOperationText.SEE_QUEUE: ({}, "this database has no record of operations; check the queue instead"),
    RunningOperationText.UNKNOWN: (
        {
            "step": "batch 1 (3 done) was committed",
            "problem": "the connection was lost: server closed the connection unexpectedly",
        },
        "it is unknown whether batch 1 (3 done) was committed: the connection was lost: server "
        "closed the connection unexpectedly",
    ),
    RunningOperationText.MORE: ({"count": 12}, " and 12 more"),
    RunningOperationText.REFUSED: (
        {"count": 15, "why": "the table's triggers or policies prevent the deletion", "rows": "1, 2, 3 and 12 more"},
        "15 refused: the table's triggers or policies prevent the deletion: 1, 2, 3 and 12 more",
    ),
    RunningOperationText.ALTERED: (
        {"rows": "12 rows"},
        "12 rows restored, but triggers wrote other values into some columns",
    ),
    RunningOperationText.NOT_RUNNING: (
        {"operation": "261121-071402-k7qd"},
        "operation 261121-071402-k7qd was stopped, because the database no longer records it as running",
    ),
    TableChange.GONE: ({"table": "public.orders"}, "public.orders no longer exists; plan again"),
    TableChange.OTHER_TABLE: (
        {"table": "public.orders"},
        "public.orders is no longer the table of the plan; plan again",
    ),
    TableChange.REWRITTEN: ({}, "rewritten (VACUUM FULL, CLUSTER, TRUNCATE, ALTER TABLE, or moved)"),
    TableChange.MOVED: (
        {"table": "public.orders", "why": "rewritten (VACUUM FULL, CLUSTER, TRUNCATE, ALTER TABLE, or moved)"},
        "public.orders was rewritten (VACUUM FULL, CLUSTER, TRUNCATE, ALTER TABLE, or moved) since "
        "the plan, so its rows have moved; plan again",
    ),
    TableChange.STRUCTURE: ({}, "columns, triggers, foreign keys, rules or policies"),
    TableChange.ALTERED: (
        {"table": "public.orders", "why": "columns, triggers, foreign keys, rules or policies"},
        "public.orders was altered since the plan (columns, triggers, foreign keys, rules or policies); plan again",
    ),
    TriggerText.PUT_BACK: (
        {"triggers": "orders_audit"},
        "a trigger puts rows back into the table, or inserts other rows: orders_audit",
    ),
    TriggerText.INSERTED: ({"triggers": "orders_audit"}, "a trigger inserts further rows into the table: orders_audit"),
    TriggerText.UNCOUNTED: (
        {"triggers": "orders_audit"},
        "track_counts is off, so the effects of the table's triggers are unknown: orders_audit",
    ),
    TriggerText.CHANGED_OTHERS: (
        {"triggers": "orders_audit"},
        "a trigger changes or deletes other rows of the table: orders_audit",
    ),
    TriggerText.PREVENTED: ({}, "the table's triggers or policies prevent the change"),
    TriggerText.CHANGED_VALUES: ({"columns": "status, owner"}, "a trigger changed the written values of status, owner"),
    TriggerText.CHANGED_AGAIN: ({}, "a trigger changed the row again, or deleted it"),
    StructureText.ROWS_HIDDEN: (
        {"why": "row-level security: your role sees only some of the rows", "table": "public.orders"},
        "row-level security: your role sees only some of the rows; the other rows of public.orders "
        "are neither counted nor changed",
    ),
    StructureText.NO_KEY: (
        {"table": "public.orders"},
        "rows of public.orders cannot be identified: the table has neither a primary key nor another key",
    ),
    StructureText.LONG_KEY: (
        {"table": "public.orders", "limit": 16},
        "the key of public.orders has more than 16 columns",
    ),
    StructureText.COLUMN: ({"column": "body", "type": "json"}, "body is json"),
    StructureText.INEXACT_KEY: (
        {"table": "public.orders", "columns": "body is json"},
        "the key of public.orders has no exact text form: body is json",
    ),
    StructureText.CUT_VALUE: (
        {"column": "tenant", "table": "public.orders", "limit": 450},
        "tenant of public.orders has a value of 450 characters or more: qmon cannot address this row",
    ),
    StructureText.NOT_A_TABLE: (
        {"table": "public.orders"},
        "public.orders is not a table: qmon acts on ordinary and partitioned tables only",
    ),
    StructureText.REMOTE_PARTITIONS: (
        {"table": "public.orders", "partitions": "orders_2024, orders_2025"},
        "public.orders has partitions on another server: orders_2024, orders_2025; qmon cannot "
        "change the rows of both servers in one transaction",
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
