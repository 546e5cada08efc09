"""The wording of the screens of sessions: lock chains and consumers."""

from __future__ import annotations

from typing import Any, Final

from qmon.texts import Text
from qmon.tui.blocking.blocking_screen import BlockedReportText, BlockingScreenText
from qmon.tui.blocking.tree import BlockingText
from qmon.tui.consumers.consumer_rows import ConsumerText
from qmon.tui.consumers.consumers_screen import ConsumersText
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    BlockingScreenText.NO_SESSION: ({}, "no session is selected"),
    BlockingScreenText.OVER: ({}, "no longer waits or blocks; these are its last figures"),
    BlockingScreenText.REPORTS: ({}, "reported by the server"),
    BlockingScreenText.DETAIL_KEYS: ({}, "E ends the session · esc closes"),
    BlockedReportText.THE_LAST: ({"count": 3}, "the last 3"),
    BlockedReportText.WAITED: ({"duration": "20 s"}, "waited 20 s for"),
    BlockingText.SEE_ABOVE: ({}, "see above"),
    BlockingText.DEPTH: ({"levels": 7}, "  7 deep"),
    BlockingText.NOT_VISIBLE: ({}, "not visible"),
    BlockingText.TWO_PHASE_COMMIT: ({}, "two-phase commit"),
    BlockingText.TWO_PHASE_COMMIT_BY: ({"login": "shop"}, "two-phase commit · shop"),
    BlockingText.HOLDS: ({"rows": "≥200 rows of orders"}, "holds ≥200 rows of orders"),
    BlockingText.LOCK: ({"object": "table dbo.orders", "mode": "Exclusive"}, "table dbo.orders (Exclusive)"),
    BlockingText.LOCK_AND_BLOCKERS: (
        {"lock": "table dbo.orders (Exclusive)", "count": 2},
        "table dbo.orders (Exclusive), 2 blockers",
    ),
    BlockingText.HELD_ROWS: ({"rows": "≥200 rows", "queue": "orders"}, "≥200 rows of orders"),
    BlockingText.WAITS_FOR: ({"sessions": "61, 84"}, "waits for 61, 84"),
    BlockingText.WAITS_FOR_MORE: ({"sessions": "61, 84", "count": 3}, "waits for 61, 84 and 3 more"),
    BlockingText.BEHIND_MORE: (
        {"waits": "waits for 61, 84", "count": 2},
        "waits for 61, 84, behind 2 more in the lock queue",
    ),
    BlockingText.IN_LOCK_QUEUE: ({"sessions": "61, 84"}, "waits in the lock queue behind 61, 84"),
    BlockingText.IN_LOCK_QUEUE_OF: (
        {"sessions": "61, 84", "count": 5},
        "waits in the lock queue behind 61, 84 (5 in all)",
    ),
    BlockingText.CLIENT: (
        {"client": "mailer · shop@10.0.0.7", "database": "shop"},
        "mailer · shop@10.0.0.7 · database shop",
    ),
    BlockingText.IDLE: (
        {"state": "idle in transaction", "time": " for 2 h 03 m"},
        "idle in transaction for 2 h 03 m: the session runs no statement and keeps its locks",
    ),
    BlockingText.PREPARED: (
        {},
        "a transaction without a session, prepared for a two-phase commit: holds its locks until commit or rollback",
    ),
    BlockingText.CYCLE: (
        {},
        "part of a cycle (deadlock): the server will cancel one of the sessions to end the deadlock",
    ),
    BlockingText.RUNNING: (
        {"state": "running", "time": " for 12 s", "rollback": ", 35 % of its rollback is done"},
        "running for 12 s, 35 % of its rollback is done",
    ),
    BlockingText.FOR_TIME: ({"duration": "12 s"}, " for 12 s"),
    BlockingText.ROLLED_BACK: ({"share": "35 %"}, "35 % of its rollback is done"),
    BlockingText.AND_ROLLED_BACK: ({"share": "35 %"}, ", 35 % of its rollback is done"),
    BlockingText.TO_LOCK: (
        {"waits": "waits for 61, 84", "time": " for 12 s", "object": "table dbo.orders", "mode": "Exclusive"},
        "waits for 61, 84 for 12 s, to lock table dbo.orders as Exclusive",
    ),
    BlockingText.TRANSACTION_OPEN: ({"duration": "5 m 00 s"}, "transaction open 5 m 00 s"),
    BlockingText.BLOCKS: (
        {"sessions": "14 sessions", "directly": 2, "longest": ", the longest for 1 m 04 s"},
        "blocks 14 sessions, 2 directly, the longest for 1 m 04 s",
    ),
    BlockingText.BLOCKED_SESSIONS: (
        {"sessions": "14 sessions", "directly": 2, "longest": ", the longest for 1 m 04 s"},
        "14 sessions, 2 directly, the longest for 1 m 04 s",
    ),
    BlockingText.LONGEST: ({"duration": "1 m 04 s"}, ", the longest for 1 m 04 s"),
    BlockingText.SESSION: ({"session": 61, "state": "waiting"}, "session 61, waiting"),
    BlockingText.PREPARED_TRANSACTION: (
        {"session": "pay-7731", "state": "prepared"},
        "prepared transaction pay-7731, prepared",
    ),
    BlockingText.OPEN_FOR: ({"duration": "5 m 00 s"}, "open for 5 m 00 s"),
    BlockingText.TRANSACTIONS: ({"transactions": "2 transactions"}, "2 transactions open"),
    BlockingText.LAST_BATCH: ({"duration": "2 h 03 m"}, "last batch began 2 h 03 m ago"),
    BlockingText.WAITS: (
        {"waits": "waits for 61, 84", "time": " for 12 s", "threads": " (4 of its threads)"},
        "waits for 61, 84 for 12 s (4 of its threads)",
    ),
    BlockingText.THREADS: ({"count": 4}, " (4 of its threads)"),
    BlockingText.NO_WAIT: ({}, "for no session"),
    BlockingText.LOCKS: ({"mode": "Exclusive", "object": "table dbo.orders"}, "Exclusive on table dbo.orders"),
    BlockingText.BLOCKS_NONE: ({}, "none"),
    BlockingText.BEGAN: ({"process": "client backend", "time": "14:20:07"}, "client backend, began 14:20:07"),
    BlockingText.READ: ({"pages": "1,204 pages"}, "1,204 pages read"),
    BlockingText.WRITTEN: ({"pages": "1 page"}, "1 page written"),
    BlockingText.MEMORY: ({"size": "4.0 MB"}, "4.0 MB granted for sorts and hashes"),
    BlockingText.SUMMARY: ({"count": 13, "heads": "2 head blockers"}, "13 waiting · 2 head blockers"),
    BlockingText.NONE_WAITS: ({}, "no session waits for a lock"),
    ConsumerText.GONE: ({}, "gone"),
    ConsumerText.WAITS: ({"wait": "Lock"}, "waits: Lock"),
    ConsumerText.SENDS_NOTHING: ({}, "its program, which sends no statement"),
    ConsumerText.LOCK: ({}, "a lock"),
    ConsumerText.SLEEPS: ({}, "time to pass, because it sleeps"),
    ConsumerText.DATA_FILES: ({}, "reading or writing of data files"),
    ConsumerText.INTERNAL_LOCK: ({}, "an internal lock of the server"),
    ConsumerText.SESSION: ({"session": 61, "who": "mailer, shop, app-7"}, "61 (mailer, shop, app-7)"),
    ConsumerText.FOR_TIME: ({"what": "active", "duration": "12 s"}, "active for 12 s"),
    ConsumerText.TRANSACTION: ({"duration": "12 s"}, "transaction for 12 s"),
    ConsumerText.UNKNOWN: ({"reason": "the table has no owner column"}, "unknown: the table has no owner column"),
    ConsumerText.NO_MESSAGE: ({}, "no message"),
    ConsumerText.MORE_MESSAGES: ({"count": 12}, "and 12 more"),
    ConsumerText.HOLDER: ({"session": 61}, "session 61"),
    ConsumerText.PREPARED_HOLDER: ({"name": "pay-7731"}, "prepared transaction pay-7731"),
    ConsumerText.LOCKED_BY: ({"holders": "session 61, session 84"}, "session 61, session 84; 4 shows the chain"),
    ConsumerText.LOCKED_BY_WITH: (
        {"holders": "session 61, session 84", "lock": "ExclusiveLock table dbo.orders"},
        "session 61, session 84 (ExclusiveLock table dbo.orders); 4 shows the chain",
    ),
    ConsumersText.POP_RATE: ({"rate": "4.0"}, "pop rate 4.0/s"),
    ConsumersText.IN_PROGRESS: ({"count": "7"}, "in progress 7"),
    ConsumersText.NO_CONSUMER: ({}, "no consumer is connected, and no message is in progress"),
    ConsumersText.NONE_KNOWN: (
        {"count": "3"},
        "no consumer is connected; qmon does not know who holds the messages in progress (3)",
    ),
    ConsumersText.BY_STATEMENT: ({}, "recognized by their last statement"),
    ConsumersText.ENTER_READS: ({"session": 4711}, "4711; enter reads its statement"),
    ConsumersText.SELECTED: ({}, "selected consumer"),
    ConsumersText.MAY_BE_MORE: (
        {"why": "only the first 50 messages in progress were read"},
        "there may be more: only the first 50 messages in progress were read",
    ),
    ConsumersText.READING: ({}, "reading the session"),
    ConsumersText.NOT_LIVE: ({"session": 61}, "61; its statement is read only from a live target"),
    ConsumersText.ENDED: ({"session": 61}, "61 has ended, or your role may not see it"),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
