"""The wording of choices of messages and of refusals."""

from __future__ import annotations

from typing import Any, Final

from qmon.model.texts import Text
from qmon.operate.libraries.chosen_messages import LibraryChoiceText
from qmon.operate.libraries.library_actions import LibraryActionText
from qmon.operate.libraries.library_pause import LibraryPauseText
from qmon.operate.plan.allowed_actions import NotAllowed
from qmon.operate.plan.library_queue import NoGate
from qmon.operate.plan.preview import PreviewText
from qmon.operate.plan.required_rights import RightsText
from qmon.operate.plan.selection import ChoiceText
from qmon.operate.plan.transitions import TransitionText
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    LibraryChoiceText.WRONG_STATE: (
        {"state": "done", "verb": "retried", "states": "ready, dead"},
        "messages that are done cannot be retried: choose ready, dead",
    ),
    LibraryChoiceText.NO_SUCH_MESSAGES: (
        {"queue": "orders", "states": "ready, dead"},
        "queue 'orders' has no messages that are ready, dead",
    ),
    LibraryChoiceText.NONE_TO_CHOOSE: (
        {"problem": "queue 'orders' has no messages that are dead", "advice": "give ids"},
        "queue 'orders' has no messages that are dead: give ids",
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
    LibraryChoiceText.IDS: ({"ids": "1, 2", "more": " and 2 more"}, "id 1, 2 and 2 more"),
    LibraryChoiceText.OR_MORE: ({"duration": "5 m 00 s"}, "for 5 m 00 s or more"),
    LibraryChoiceText.LESS_THAN: ({"duration": "5 m 00 s"}, "for less than 5 m 00 s"),
    LibraryChoiceText.OWN_TIMEOUT: ({}, "longer than the message's own timeout"),
    LibraryChoiceText.MORE_THAN: ({"duration": "5 m 00 s"}, "more than 5 m 00 s"),
    LibraryChoiceText.FOR_LONG: ({"duration": "5 m 00 s"}, "for 5 m 00 s"),
    LibraryChoiceText.UNLESS_GONE: ({}, " unless the worker is gone"),
    LibraryChoiceText.OWNER: ({"owner": "anna"}, "owner anna"),
    LibraryChoiceText.WORKER_ALIVE: ({}, "a worker that is alive"),
    LibraryChoiceText.WORKER_UNSEEN: ({}, "a worker that qmon cannot see"),
    LibraryChoiceText.OWNER_WORKS: (
        {"who": "a worker that is alive"},
        "a worker that is alive may still be working on the messages, and the messages may be processed twice",
    ),
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
    LibraryActionText.TITLE: (
        {"kind": "Purge", "messages": "3 messages", "queue": "orders"},
        "Purge 3 messages of orders",
    ),
    LibraryActionText.NO_UNDO_TABLES: (
        {"tables": "public.lines"},
        "no undo is possible: rows of public.lines change with the messages",
    ),
    LibraryActionText.NO_UNDO_WIDE: (
        {"why": "its 1600 columns are too many"},
        "no undo is possible: the table is too wide for the trash: its 1600 columns are too many",
    ),
    LibraryPauseText.PAUSE: ({"side": "producers", "queue": "orders"}, "Pause the producers of orders"),
    LibraryPauseText.RESUME: ({"side": "producers", "queue": "orders"}, "Resume the producers of orders"),
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
        {"side": "producers", "queue": "orders", "state": "not paused"},
        "the producers of orders are not paused",
    ),
    LibraryPauseText.UNTIL_RESUMED: (
        {"title": "Pause the consumers of orders"},
        "Pause the consumers of orders until you resume them?",
    ),
    LibraryPauseText.SIDE: ({"side": "producers", "queue": "orders"}, "the producers of orders"),
    LibraryPauseText.RESUME_ENDS: ({}, "resume ends the pause"),
    LibraryPauseText.STOPS_AGAIN: ({"side": "producers"}, "pause stops the producers again"),
    LibraryPauseText.NO_END: ({"side": "producers"}, "the pause does not end by itself: you must resume the producers"),
    NotAllowed.ONLY_GUESSED: ({}, "qmon only guessed that this table is a queue; confirm it first: qmon init TARGET"),
    NotAllowed.SERVICE_BROKER: ({}, "queues of Service Broker hold conversations, which qmon does not move"),
    NotAllowed.NO_DEAD_STATE: ({}, "this table has no state for dead messages"),
    NotAllowed.RING_PURGE: ({}, "only pops free the slots of a ring: pop the messages instead"),
    NotAllowed.RING_WITHOUT_TURN: ({}, "qmon can repair a ring only if its slots have a turn column"),
    NotAllowed.CONDITIONS: (
        {"verb": "pause"},
        "qmon only watches this queue: it cannot pause queues whose states are defined by conditions",
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
    NoGate.NO_QUEUE_COLUMN: (
        {"table": "public.orders"},
        "no column of public.orders contains the queue of a pushed message",
    ),
    PreviewText.MASKED: ({}, "masked for your role"),
    PreviewText.NO_ID: ({}, "a message without an id"),
    RightsText.MISSING: (
        {"grants": "GRANT SELECT ON orders TO anna"},
        "your role lacks a right; this helps: GRANT SELECT ON orders TO anna",
    ),
    RightsText.COLUMN: ({"column": "body", "why": "it is masked"}, "body: it is masked"),
    RightsText.NOT_KEEPABLE: (
        {"table": "public.orders", "why": "it is masked", "helps": "GRANT UNMASK TO anna"},
        "qmon cannot move or save rows of public.orders unchanged (it is masked); this helps: GRANT UNMASK TO anna",
    ),
    RightsText.MASKED_COPIES: (
        {"table": "public.orders", "columns": "tenant, seq"},
        "public.orders masks tenant, seq, but every operator can read the values that qmon saves",
    ),
    RightsText.NO_RECORD: (
        {"advice": "run qmon setup"},
        "your role may not record operations in this database; run qmon setup",
    ),
    ChoiceText.CHOOSE_STATE: ({}, "choose a state, such as ready, or give ids"),
    ChoiceText.IN_PROGRESS: ({"messages": "3 messages"}, "3 messages in progress"),
    ChoiceText.IN_STATE: ({"count": 1204, "state": "dead"}, "1,204 dead"),
    ChoiceText.MESSAGES: ({"listed": "2 ready and 1 dead", "unit": "messages"}, "2 ready and 1 dead messages"),
    ChoiceText.NOT_A_STATE: ({"state": "dea", "states": "ready, dead"}, "'dea' is not a state: choose ready, dead"),
    ChoiceText.NO_STATE_COLUMN: ({"queue": "orders"}, "queue 'orders' has no state column: all its messages are ready"),
    ChoiceText.NO_SUCH_STATE: ({"queue": "orders", "state": "done"}, "queue 'orders' has no messages that are done"),
    ChoiceText.NO_OWNER: ({"queue": "orders"}, "queue 'orders' has no column for the consumer of a message"),
    ChoiceText.AN_AGE: ({}, "an age"),
    ChoiceText.A_LIMIT: ({}, "a limit"),
    ChoiceText.NOT_A: ({"value": "-1", "what": "an age"}, "-1 is not an age"),
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
        {"queue": "orders", "advice": "run qmon setup"},
        "queue 'orders': run qmon setup; or give ids",
    ),
    ChoiceText.NO_ZONE: (
        {"column": "status"},
        'status has no time zone; set one in the configuration: times = "utc", "local" or, say, "Europe/Berlin"',
    ),
    ChoiceText.NO_IDS: ({}, "messages of this queue have no ids; choose messages by state instead"),
    ChoiceText.ID_FORM: (
        {"form": "tenant/seq"},
        "ids of this queue have the form tenant/seq; write a / within a part as \\/",
    ),
    ChoiceText.NOT_IDS: (
        {"queue": "orders", "problem": "the server said no"},
        "these are not ids of queue 'orders': the server said no",
    ),
    ChoiceText.WRITE_IDS: ({"form": "tenant/seq"}, "; write ids as tenant/seq"),
    ChoiceText.NO_KEY: ({}, ", and the table has no key"),
    ChoiceText.AMBIGUOUS_ID: (
        {"columns": "seq", "advice": "; write ids as tenant/seq"},
        "seq does not identify messages here: one of these ids belongs to several messages; write ids as tenant/seq",
    ),
    ChoiceText.NO_OWNER_STATE: ({}, "no owner state was given: choose dead, alive or unknown"),
    ChoiceText.MORE: ({"count": 3}, " and 3 more"),
    ChoiceText.IDS: ({"ids": "1, 2"}, "id 1, 2"),
    ChoiceText.BEFORE: ({"time": "2026-11-21 07:14:02.0"}, "since before 2026-11-21 07:14:02.0Z"),
    ChoiceText.AFTER: ({"time": "2026-11-21 07:14:02.0"}, "since after 2026-11-21 07:14:02.0Z"),
    ChoiceText.LONGER: ({"duration": "5 m 00 s"}, "for more than 5 m 00 s"),
    ChoiceText.LONGER_UNLESS_DEAD: ({"duration": "5 m 00 s"}, "for more than 5 m 00 s unless the owner is dead"),
    ChoiceText.OWNER: ({"owner": "anna"}, "owner anna"),
    ChoiceText.CONTAINS: ({"column": "error", "text": "timeout"}, "error contains 'timeout'"),
    TransitionText.WRITE: ({"column": "status", "value": "3"}, "status = 3"),
    TransitionText.WRITES: (
        {"state": "done", "writes": "finalized_at = the current time"},
        "messages that become done get: finalized_at = the current time",
    ),
    TransitionText.CONSTRAINT: (
        {"constraint": "orders_check", "other": "state", "column": "status"},
        "the constraint orders_check checks state together with status",
    ),
    TransitionText.END_TIME: ({"column": "status"}, "status looks like the time at which a message ended"),
    TransitionText.NO_VALUE: (
        {"column": "status", "why": "it is masked", "state": "done"},
        "status prevents this: it is masked, and no value is configured for messages that become done; set one in"
        ' the configuration: writes = { done = { "status" = "null" } }. Instead of "null", you can write "now",'
        ' "keep" or a value',
    ),
    TransitionText.COMPUTED_STATE: (
        {"column": "status", "state": "done"},
        "the server computes status from other columns, so qmon cannot make a message done: use the application's"
        " own means",
    ),
    TransitionText.DOES_NOT_EXIST: ({}, "does not exist"),
    TransitionText.IS_COMPUTED: ({}, "is computed by the server"),
    TransitionText.COLUMN_FAULT: (
        {"state": "done", "column": "status", "fault": "does not exist"},
        "writes.done: the column status does not exist",
    ),
    TransitionText.NOT_NULL: (
        {"state": "done", "column": "status"},
        "writes.done: the column status does not allow NULL",
    ),
    TransitionText.WRONG_TYPE: (
        {"state": "done", "write": "now", "column": "status", "type": "text"},
        "writes.done: now is only for times and numbers, but status has the type text",
    ),
    TransitionText.NOT_UTC: (
        {"state": "done", "column": "status"},
        "writes.done: qmon writes the time in UTC, but status does not contain UTC",
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
        {"column": "status", "value": "7", "order": "due, id"},
        "the new place of the messages depends on status, which becomes 7: consumers take messages in the order of"
        " due, id",
    ),
    TransitionText.NOT_BEFORE: ({"column": "status"}, ", not before their status"),
    TransitionText.OLD_PLACE_BEFORE: (
        {"column": "status", "later": ", not before their due"},
        "the messages return to their old place by status, before messages that were pushed later, not before their"
        " due",
    ),
    TransitionText.OLD_PLACE_BY: (
        {"columns": "tenant, seq", "later": ", not before their due"},
        "the messages return to their old place by tenant, seq, not before their due",
    ),
    TransitionText.LARGEST_FIRST: ({}, " (largest first)"),
    TransitionText.BEFORE_FIRST: ({}, "a value before that of the first message never popped"),
    TransitionText.CURRENT_TIME: ({}, "the current time"),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
