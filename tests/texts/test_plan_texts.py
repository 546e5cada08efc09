"""The wording of choices of messages and of refusals."""

from __future__ import annotations

from typing import Any, Final

from qmon.operate.libraries.chosen_messages import LibraryChoiceText
from qmon.operate.libraries.declared_requeue import DeclaredText
from qmon.operate.libraries.library_actions import LibraryActionText
from qmon.operate.libraries.library_pause import LibraryPauseText
from qmon.operate.libraries.library_plan import LibraryPlanText
from qmon.operate.plan.allowed_actions import NotAllowed
from qmon.operate.plan.exclusions import ExclusionText
from qmon.operate.plan.library_queue import NoGate
from qmon.operate.plan.plan_description import PlanText
from qmon.operate.plan.preview import PreviewText
from qmon.operate.plan.required_rights import RightsText
from qmon.operate.plan.selection import ChoiceText
from qmon.operate.plan.transitions import TransitionText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    LibraryChoiceText.WRONG_STATE: (
        {"state": "done", "verb": "requeued", "states": "in_progress or dead"},
        "messages that are done cannot be requeued: choose in_progress or dead",
    ),
    LibraryChoiceText.NO_SUCH_MESSAGES: (
        {"queue": "orders", "states": "ready or dead"},
        "queue 'orders' has no messages that are ready or dead",
    ),
    LibraryChoiceText.NONE_TO_CHOOSE: (
        {
            "problem": "queue 'orders' has no messages that are dead",
            "advice": "choose a state, such as ready, or give ids",
        },
        "queue 'orders' has no messages that are dead: choose a state, such as ready, or give ids",
    ),
    LibraryChoiceText.NO_RETRY: (
        {"library": "oban"},
        "qmon does not retry dead messages of oban: use the library's own tools",
    ),
    LibraryChoiceText.NO_OWNER: ({"queue": "orders"}, "queue 'orders' has no column for the consumer of a message"),
    LibraryChoiceText.ONE_STATE: ({}, "the age of a message is its time in one state: choose one state, or give ids"),
    LibraryChoiceText.NO_STATE_TIME: (
        {"queue": "orders"},
        "queue 'orders' has no column for the time of this state; give ids",
    ),
    LibraryChoiceText.NAME_PROVES_NOTHING: ({}, "the owner's name proves nothing"),
    LibraryChoiceText.NOT_BY_RULES: ({"library": "oban"}, "the rules of oban do not allow this action"),
    LibraryChoiceText.MORE: ({"count": 3}, " and 3 more"),
    LibraryChoiceText.IDS: ({"ids": "1, 2, 3, 4, 5", "more": " and 2 more"}, "id 1, 2, 3, 4, 5 and 2 more"),
    LibraryChoiceText.OR_MORE: ({"duration": "5 m 00 s"}, "for 5 m 00 s or more"),
    LibraryChoiceText.LESS_THAN: ({"duration": "5 m 00 s"}, "for less than 5 m 00 s"),
    LibraryChoiceText.OWN_TIMEOUT: ({}, "longer than the message's own timeout"),
    LibraryChoiceText.MORE_THAN: ({"duration": "5 m 00 s"}, "more than 5 m 00 s"),
    LibraryChoiceText.FOR_LONG: ({"duration": "more than 5 m 00 s"}, "for more than 5 m 00 s"),
    LibraryChoiceText.UNLESS_GONE: ({}, " unless the worker is gone"),
    LibraryChoiceText.OWNER: ({"owner": "worker-3"}, "owner worker-3"),
    LibraryChoiceText.WORKER_ALIVE: ({}, "a worker that is alive"),
    LibraryChoiceText.WORKER_UNSEEN: ({}, "a worker that qmon cannot see"),
    LibraryChoiceText.OWNER_WORKS: (
        {"who": "a worker that is alive"},
        "a worker that is alive may still be working on the messages, and the messages may be processed twice",
    ),
    DeclaredText.NOT_ON_ENGINE: ({}, "qmon acts on queues with states by conditions only on PostgreSQL"),
    DeclaredText.NO_COLUMN: (
        {"table": "public.jobs", "column": "worker"},
        "public.jobs has no column worker, which the configuration of the queue names",
    ),
    DeclaredText.NOT_UTC: (
        {"column": "public.jobs.taken_at"},
        "public.jobs.taken_at has no time zone: qmon acts on this queue only if these times are UTC and"
        ' times = "utc" is set',
    ),
    DeclaredText.NO_KEY: (
        {"id": "number", "table": "public.jobs"},
        "number does not identify a row of public.jobs: it needs a primary key or a unique index",
    ),
    DeclaredText.WRITES_KEY: (
        {"id": "id"},
        "writes.ready: id identifies a message, so it cannot be written",
    ),
    DeclaredText.BAD_VALUE: (
        {"problem": 'invalid input syntax for type integer: "x"'},
        'writes.ready: invalid input syntax for type integer: "x"',
    ),
    DeclaredText.NOT_READY: (
        {"count": 2, "total": 1000},
        "writes.ready: 2 of 1,000 messages would not be ready with these values",
    ),
    DeclaredText.NOT_READY_NOW: ({}, "the written values do not make the message ready"),
    LibraryActionText.TITLE_ALL: ({"kind": "Purge", "queue": "orders"}, "Purge messages of orders"),
    LibraryActionText.NOT_A_LIBRARY: ({"queue": "orders"}, "orders is not a library queue"),
    LibraryActionText.SEVERAL_QUEUES: (
        {"queue": "orders"},
        "orders is a table with several queues; name one of these queues",
    ),
    LibraryActionText.NOT_ON_ENGINE: (
        {"kind": "requeue", "library": "oban"},
        "qmon does not requeue messages of oban on this engine: use the library's own tools",
    ),
    LibraryActionText.TAKEN_AT_ONCE: ({}, "the library's workers take the messages immediately"),
    LibraryPlanText.TITLE: (
        {"kind": "Purge", "messages": "3 dead messages", "queue": "orders"},
        "Purge 3 dead messages of orders",
    ),
    LibraryActionText.NO_UNDO_TABLES: (
        {"tables": "public.lines"},
        "no undo is possible: rows of public.lines change with the messages",
    ),
    LibraryActionText.NO_UNDO_WIDE: (
        {"why": "its 1599 columns and 3 of the trash are more than the 1600 that a table can have"},
        "no undo is possible: the table is too wide for the trash: its 1599 columns and 3 of the "
        "trash are more than the 1600 that a table can have",
    ),
    LibraryPauseText.PAUSE: ({"side": "consumers", "queue": "orders"}, "Pause the consumers of orders"),
    LibraryPauseText.RESUME: ({"side": "consumers", "queue": "orders"}, "Resume the consumers of orders"),
    LibraryPauseText.NOT_A_LIBRARY: ({"queue": "orders"}, "orders is not a library queue"),
    LibraryPauseText.SEVERAL_QUEUES: (
        {"queue": "orders"},
        "orders is a table with several queues; name one of these queues",
    ),
    LibraryPauseText.NO_QUEUE_YET: (
        {"library": "oban", "queue": "orders"},
        "oban has no queue 'orders' yet: no worker has popped a message",
    ),
    LibraryPauseText.UNCHANGED: (
        {"side": "consumers", "queue": "orders", "state": "not paused"},
        "the consumers of orders are not paused",
    ),
    LibraryPauseText.UNTIL_RESUMED: (
        {"title": "Pause the consumers of orders"},
        "Pause the consumers of orders until you resume them?",
    ),
    LibraryPauseText.SIDE: ({"side": "consumers", "queue": "orders"}, "the consumers of orders"),
    LibraryPauseText.RESUME_ENDS: ({}, "resume ends the pause"),
    LibraryPauseText.STOPS_AGAIN: ({"side": "consumers"}, "pause stops the consumers again"),
    LibraryPauseText.NO_END: ({"side": "consumers"}, "the pause does not end by itself: you must resume the consumers"),
    NotAllowed.ONLY_GUESSED: ({}, "qmon only guessed that this table is a queue; confirm it first: qmon init TARGET"),
    NotAllowed.SERVICE_BROKER: ({}, "queues of Service Broker hold conversations, which qmon does not move"),
    NotAllowed.NO_DEAD_STATE: ({}, "this table has no state for dead messages"),
    NotAllowed.RING_PURGE: ({}, "only pops free the slots of a ring: pop the messages instead"),
    NotAllowed.RING_WITHOUT_TURN: ({}, "qmon can repair a ring only if its slots have a turn column"),
    NotAllowed.CONDITIONS: (
        {"verb": "redrive"},
        "qmon only watches this queue: it cannot redrive queues whose states are defined by conditions",
    ),
    NotAllowed.NO_WRITES: (
        {"verb": "requeue messages of", "key": "writes.ready"},
        "qmon only watches this queue; to requeue messages of it, add writes.ready to its configuration",
    ),
    NotAllowed.LIBRARY: (
        {"verb": "pause", "library": "oban", "file": ", which your own file describes"},
        "qmon does not pause oban's queues, which your own file describes: use the library's own tools",
    ),
    NotAllowed.OWN_FILE: ({}, ", which your own file describes"),
    NotAllowed.RING_REQUEUE: (
        {},
        "the messages of a ring stay in their slots; repair fills the ring's holes and requeues its orphans",
    ),
    NotAllowed.NO_STATE: ({}, "this table has no state column"),
    NoGate.RETURNS_BY_INSERT: (
        {"library": "oban"},
        "oban returns failed messages by INSERT, like a push: a pause would lose these messages",
    ),
    NoGate.OTHER_VERSION: (
        {"version": "9", "library": "pg-boss"},
        "qmon does not know how version 9 of pg-boss returns failed messages",
    ),
    NoGate.NO_QUEUE_COLUMN: (
        {"table": "public.orders"},
        "no column of public.orders contains the queue of a pushed message",
    ),
    PreviewText.MASKED: ({}, "masked for your role"),
    PreviewText.NO_ID: ({}, "a message without an id"),
    RightsText.MISSING: (
        {"grants": "GRANT DELETE ON public.orders TO anna"},
        "your role lacks a right; this helps: GRANT DELETE ON public.orders TO anna",
    ),
    RightsText.COLUMN: (
        {"column": "body", "why": "it is masked for your role (anon)"},
        "body: it is masked for your role (anon)",
    ),
    RightsText.NOT_KEEPABLE: (
        {
            "table": "public.orders",
            "why": "body: it is masked for your role (anon)",
            "helps": "use a role without masks",
        },
        "qmon cannot move or save rows of public.orders unchanged (body: it is masked for your role "
        "(anon)); this helps: use a role without masks",
    ),
    RightsText.MASKED_COPIES: (
        {"table": "public.orders", "columns": "body, customer"},
        "public.orders masks body, customer, but every operator can read the values that qmon saves",
    ),
    RightsText.NO_RECORD: (
        {"advice": "the database's owner can grant this: qmon setup TARGET --role operator"},
        "your role may not record operations in this database; the database's owner can grant this: "
        "qmon setup TARGET --role operator",
    ),
    ChoiceText.CHOOSE_STATE: ({}, "choose a state, such as ready, or give ids"),
    ChoiceText.IN_PROGRESS: ({"messages": "3 messages"}, "3 messages in progress"),
    ChoiceText.IN_STATE: ({"count": 1204, "state": "dead"}, "1,204 dead"),
    ChoiceText.MESSAGES: ({"listed": "2 ready and 1 dead", "unit": "messages"}, "2 ready and 1 dead messages"),
    ChoiceText.NOT_A_STATE: (
        {"state": "dea", "states": "ready, in_progress, done, dead"},
        "'dea' is not a state: choose ready, in_progress, done, dead",
    ),
    ChoiceText.NO_STATE_COLUMN: ({"queue": "orders"}, "queue 'orders' has no state column: all its messages are ready"),
    ChoiceText.NO_SUCH_STATE: ({"queue": "orders", "state": "done"}, "queue 'orders' has no messages that are done"),
    ChoiceText.NO_OWNER: ({"queue": "orders"}, "queue 'orders' has no column for the consumer of a message"),
    ChoiceText.AN_AGE: ({}, "an age"),
    ChoiceText.A_LIMIT: ({}, "a limit"),
    ChoiceText.NOT_A: ({"value": -1.0, "what": "an age"}, "-1 is not an age"),
    ChoiceText.EMPTY_RANGE: (
        {"older": "5 m 00 s", "newer": "1 m 00 s"},
        "no message is older than 5 m 00 s and newer than 1 m 00 s",
    ),
    ChoiceText.ZERO_LIMIT: ({}, "the limit must be at least 1"),
    ChoiceText.ERROR: ({}, "the error of a message"),
    ChoiceText.PAYLOAD: ({}, "the payload of a message"),
    ChoiceText.EMPTY_TEXT: ({"what": "the error of a message"}, "the text to find in the error of a message is empty"),
    ChoiceText.NO_COLUMN: (
        {"queue": "orders", "what": "the error of a message", "key": "error"},
        "queue 'orders' has no column for the error of a message; set error = \"…\" in the configuration",
    ),
    ChoiceText.NO_PUSH_TIME: (
        {"queue": "orders"},
        "queue 'orders' has no column for the time at which a message was pushed; give ids",
    ),
    ChoiceText.PUSH_TIME_ZONE: (
        {
            "queue": "orders",
            "advice": 'created_at has no time zone; set one in the configuration: times = "utc", "local" or, say, '
            '"Europe/Berlin"',
        },
        "queue 'orders': created_at has no time zone; set one in the configuration: times = \"utc\", "
        '"local" or, say, "Europe/Berlin"; or give ids',
    ),
    ChoiceText.NO_ZONE: (
        {"column": "created_at"},
        'created_at has no time zone; set one in the configuration: times = "utc", "local" or, say, "Europe/Berlin"',
    ),
    ChoiceText.NO_IDS: ({}, "messages of this queue have no ids; choose messages by state instead"),
    ChoiceText.ID_FORM: (
        {"form": "tenant/seq"},
        "ids of this queue have the form tenant/seq; write a / within a part as \\/",
    ),
    ChoiceText.NOT_IDS: (
        {"queue": "orders", "problem": 'action/choose: invalid input syntax for type bigint: "…"'},
        "these are not ids of queue 'orders': action/choose: invalid input syntax for type bigint: \"…\"",
    ),
    ChoiceText.WRITE_IDS: ({"form": "tenant/seq"}, "; write ids as tenant/seq"),
    ChoiceText.NO_KEY: ({}, ", and the table has no key"),
    ChoiceText.AMBIGUOUS_ID: (
        {"columns": "seq", "advice": "; write ids as tenant/seq"},
        "seq does not identify messages here: one of these ids belongs to several messages; write ids as tenant/seq",
    ),
    ChoiceText.NO_OWNER_STATE: ({}, "no owner state was given: choose dead, alive or unknown"),
    ChoiceText.MORE: ({"count": 3}, " and 3 more"),
    ChoiceText.IDS: ({"ids": "1, 2, 3, 4, 5 and 3 more"}, "id 1, 2, 3, 4, 5 and 3 more"),
    ChoiceText.BEFORE: ({"time": "2026-11-21 07:14:02.120"}, "since before 2026-11-21 07:14:02.120Z"),
    ChoiceText.AFTER: ({"time": "2026-11-21 07:14:02.120"}, "since after 2026-11-21 07:14:02.120Z"),
    ChoiceText.LONGER: ({"duration": "5 m 00 s"}, "for more than 5 m 00 s"),
    ChoiceText.LONGER_UNLESS_DEAD: ({"duration": "5 m 00 s"}, "for more than 5 m 00 s unless the owner is dead"),
    ChoiceText.OWNER: ({"owner": "worker-3"}, "owner worker-3"),
    ChoiceText.CONTAINS: ({"column": "error", "text": "timeout"}, "error contains 'timeout'"),
    TransitionText.WRITE: ({"column": "priority", "value": "3"}, "priority = 3"),
    TransitionText.WRITES: (
        {"state": "dead", "writes": "finalized_at = the current time"},
        "messages that become dead get: finalized_at = the current time",
    ),
    TransitionText.CONSTRAINT: (
        {"constraint": "orders_check", "other": "finished_at", "column": "status"},
        "the constraint orders_check checks finished_at together with status",
    ),
    TransitionText.END_TIME: ({"column": "finished_at"}, "finished_at looks like the time at which a message ended"),
    TransitionText.NO_VALUE: (
        {"column": "finished_at", "why": "finished_at looks like the time at which a message ended", "state": "dead"},
        "finished_at prevents this: finished_at looks like the time at which a message ended, and no "
        "value is configured for messages that become dead; set one in the configuration: writes = { "
        'dead = { "finished_at" = "null" } }. Instead of "null", you can write "now", "keep" or a '
        "value",
    ),
    TransitionText.COMPUTED_STATE: (
        {"column": "status", "state": "ready"},
        "the server computes status from other columns, so qmon cannot make a message ready: use the "
        "application's own means",
    ),
    TransitionText.DOES_NOT_EXIST: ({}, "does not exist"),
    TransitionText.IS_COMPUTED: ({}, "is computed by the server"),
    TransitionText.COLUMN_FAULT: (
        {"state": "dead", "column": "finished", "fault": "does not exist"},
        "writes.dead: the column finished does not exist",
    ),
    TransitionText.NOT_NULL: (
        {"state": "ready", "column": "owner"},
        "writes.ready: the column owner does not allow NULL",
    ),
    TransitionText.WRONG_TYPE: (
        {"state": "dead", "write": "now", "column": "note", "type": "text"},
        "writes.dead: now is only for times and numbers, but note has the type text",
    ),
    TransitionText.NOT_UTC: (
        {"state": "dead", "column": "finished_at"},
        "writes.dead: qmon writes the time in UTC, but finished_at does not contain UTC",
    ),
    TransitionText.OLD_PLACE: (
        {},
        "the messages keep their old place; qmon does not know when consumers take them, because no order is"
        " configured (set order in the configuration)",
    ),
    TransitionText.TO_FRONT: ({}, "the messages go to the front: consumers take them next"),
    TransitionText.TO_FRONT_OF: (
        {"columns": "priority"},
        "the messages go to the front of all messages with the same priority",
    ),
    TransitionText.NEW_PLACE: (
        {"column": "priority", "value": "7", "order": "priority (largest first), id"},
        "the new place of the messages depends on priority, which becomes 7: consumers take messages "
        "in the order of priority (largest first), id",
    ),
    TransitionText.NOT_BEFORE: ({"column": "run_at"}, ", not before their run_at"),
    TransitionText.OLD_PLACE_BEFORE: (
        {"column": "id", "later": ", not before their run_at"},
        "the messages return to their old place by id, before messages that were pushed later, not before their run_at",
    ),
    TransitionText.OLD_PLACE_BY: (
        {"columns": "priority, id", "later": ", not before their run_at"},
        "the messages return to their old place by priority, id, not before their run_at",
    ),
    TransitionText.LARGEST_FIRST: ({}, " (largest first)"),
    TransitionText.BEFORE_FIRST: ({}, "a value before that of the first message never popped"),
    TransitionText.CURRENT_TIME: ({}, "the current time"),
    PlanText.UNDER_A_SECOND: ({}, "less than a second"),
    PlanText.ABOUT: ({"duration": "2.4 s"}, "about 2.4 s"),
    PlanText.NO_UNDO: ({}, "cannot be undone"),
    PlanText.NO_UNDO_BECAUSE: (
        {"notes": "repeat the operation instead"},
        "cannot be undone: repeat the operation instead",
    ),
    PlanText.UNDO: ({"until": " until 14:20"}, "can be undone until 14:20"),
    PlanText.PARTLY_UNDO: (
        {"until": " until 14:20", "notes": "an undo only restores messages that have not been popped again"},
        "can be partly undone until 14:20: an undo only restores messages that have not been popped again",
    ),
    PlanText.UNTIL: ({"time": "14:20"}, " until 14:20"),
    ExclusionText.LOCKED: ({}, "locked"),
    ExclusionText.NOT_STUCK: ({}, "not stuck yet"),
    ExclusionText.OWNER_ALIVE: ({}, "owner alive"),
    ExclusionText.OWNER_DEAD: ({}, "owner dead"),
    ExclusionText.OWNER_UNKNOWN: ({}, "owner unknown"),
    ExclusionText.OWNER_NONE: ({}, "owner none"),
    ExclusionText.OVER_LIMIT: ({}, "over the limit of one plan; plan again for the rest"),
    ExclusionText.NOT_FOUND: ({}, "not found, or in another state"),
    ExclusionText.CHANGED: ({}, "popped again, or changed since"),
    ExclusionText.AMBIGUOUS: ({}, "cannot be told apart from other messages"),
    ExclusionText.ID_TAKEN: ({}, "id taken again"),
    ExclusionText.OWNER_UNKNOWN_BECAUSE: (
        {"reason": "no heartbeat was written"},
        "owner unknown: no heartbeat was written",
    ),
    ExclusionText.NOT_STUCK_FOR: ({"duration": "5 m 00 s"}, "in progress for less than 5 m 00 s"),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
