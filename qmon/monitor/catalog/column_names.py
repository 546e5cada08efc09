"""Common names of the columns and states of a queue, and the types that these columns must have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal

from qmon.model.layout.time_zones import NUMBER_TYPES, TIME_TYPES

ColumnRole = Literal[
    "id",
    "state",
    "flag",
    "taken_flag",
    "failed_flag",
    "ready_flag",
    "started_at",
    "finished_at",
    "failed_at",
    "enqueued_at",
    "due_at",
    "lease",
    "heartbeat",
    "session",
    "owner_name",
    "attempts",
    "priority",
    "payload",
    "error",
    "slot",
    "message_id",
    "reference_count",
    "turn",
    "queue",
]

WHOLE_TYPES: Final = frozenset({"bigint", "integer", "int", "smallint", "tinyint", "numeric", "decimal"})
TEXT_TYPES: Final = frozenset(
    {
        "text",
        "character varying",
        "character",
        "citext",
        "enum",
        "name",
        "varchar",
        "nvarchar",
        "char",
        "nchar",
        "ntext",
    }
)
BOOLEAN_TYPES: Final = frozenset({"boolean", "bit"})
BLOB_TYPES: Final = frozenset({"bytea", "json", "jsonb", "xml", "varbinary", "image", "hstore"})
RANDOM_ID_TYPES: Final = frozenset({"uuid", "uniqueidentifier"})

_NAMES: Final[dict[ColumnRole, str]] = {
    "id": "id queueid messageid msgid jobid taskid itemid eventid workid rowid queuemessageid seq sequence"
    " sequenceno sequencenumber seqno position pk",
    "state": "status state queuestatus queuestate jobstatus jobstate taskstatus taskstate messagestatus messagestate"
    " itemstatus itemstate statename statusname statusid stateid statuscode processingstatus processingstate",
    "flag": "processed isprocessed dequeued isdequeued handled ishandled consumed isconsumed done isdone published"
    " ispublished sent issent delivered isdelivered dispatched isdispatched completed iscompleted",
    "taken_flag": "picked ispicked pickedup ispickedup claimed isclaimed taken istaken locked islocked reserved"
    " isreserved acquired isacquired leased isleased inprogress isinprogress processing isprocessing running isrunning"
    " started isstarted busy isbusy inflight isinflight",
    "failed_flag": "failed isfailed dead isdead discarded isdiscarded poisoned ispoisoned deadlettered",
    "ready_flag": "visible isvisible available isavailable pending ispending waiting iswaiting queued isqueued"
    " unprocessed isunprocessed",
    "started_at": "startedat starttime startedtime started lockedat lockedon locktime lockedtime pickedat pickedupat"
    " dequeuedat claimedat attemptedat processingstarted processingstartedat processingsince processstart"
    " inprogresssince reservedat takenat acquiredat runningsince fetchedat leasedat pickedup poppedat"
    " begunat beganat activatedat",
    "finished_at": "finishedat completedat processedat doneat endedat succeededat handledat consumedat sentat"
    " deliveredat publishedat dispatchedat finishedon completedon processedon senton publishedon",
    "failed_at": "failedat deadat discardedat rejectedat deadletteredat failedon",
    "enqueued_at": "enqueuedat queuedatetime enqueuetime enqueued queuedat queuetime createdat createdon created"
    " createtime createddate createddatetime createdatetime datecreated insertedat insertedon inserted addedat addedon"
    " submittedat receivedat occurredat occurredon pushedat time timestamp ts",
    "due_at": "dueat duetime due duedate runat runafter scheduledat scheduleat scheduledfor scheduledtime availableat"
    " availablefrom visibleat visibletime vt notbefore nextattemptat nextattempt nextretryat nextrunat retryat"
    " processafter executeat executeafter startafter deliverat deliverafter sendat sendafter eta nextrun"
    " nextruntime nexttry nexttryat delayuntil delayeduntil waituntil scheduled delayed",
    "lease": "leaseuntil leaseexpiresat leaseexpiry leasedeadline lockeduntil lockexpiresat lockexpiry reserveduntil"
    " claimeduntil visibilitydeadline visibilitytimeout visibleafter",
    "heartbeat": "heartbeat heartbeatat lastheartbeat lastheartbeatat lastseen lastseenat",
    "session": "spid sessionid pid backendpid ownerpid ownersession ownersessionid lockedbypid",
    "owner_name": "owner lockedby worker workerid workername claimedby takenby reservedby pickedby consumer consumerid"
    " lockowner leaseowner lockedbyworker processor processorid attemptedby",
    "attempts": "attempts attempt attemptcount attemptno tries trycount retries retrycount retry numattempts numretries"
    " deliverycount receivecount readct failures failurecount failcount errorcount",
    "priority": "priority prio",
    "payload": "payload message body data textdata content args arguments msg event job command params parameters"
    " document messagebody jobdata eventdata",
    "error": "lasterror error errors errormessage lasterrormessage errortext errormsg lasterrormsg exception"
    " lastexception failurereason failedreason",
    "slot": "slot slotid slotno",
    "message_id": "messageid msgid",
    "reference_count": "referencecount refcount",
    "turn": "turn",
    "queue": "queue queuename qname topic topicname channel channelname taskname jobname tasktype jobtype messagetype"
    " eventtype type kind taskkind jobkind",
}
_TYPES: Final[dict[ColumnRole, frozenset[str]]] = {
    "id": WHOLE_TYPES
    | RANDOM_ID_TYPES
    | {"text", "character varying", "varchar", "nvarchar", "char", "character", "binary"},
    "state": WHOLE_TYPES | TEXT_TYPES | BOOLEAN_TYPES,
    "flag": WHOLE_TYPES | BOOLEAN_TYPES,
    "taken_flag": BOOLEAN_TYPES,
    "failed_flag": BOOLEAN_TYPES,
    "ready_flag": BOOLEAN_TYPES,
    "started_at": TIME_TYPES,
    "finished_at": TIME_TYPES,
    "failed_at": TIME_TYPES,
    "enqueued_at": TIME_TYPES,
    "due_at": TIME_TYPES,
    "lease": TIME_TYPES,
    "heartbeat": TIME_TYPES,
    "session": WHOLE_TYPES,
    "owner_name": TEXT_TYPES | WHOLE_TYPES | RANDOM_ID_TYPES,
    "attempts": WHOLE_TYPES,
    "priority": WHOLE_TYPES,
    "payload": TEXT_TYPES - {"enum", "name"} | BLOB_TYPES,
    "error": TEXT_TYPES - {"enum", "name"} | BLOB_TYPES | {"array"},
    "slot": WHOLE_TYPES,
    "message_id": WHOLE_TYPES,
    "reference_count": WHOLE_TYPES,
    "turn": WHOLE_TYPES,
    "queue": TEXT_TYPES,
}
_ORDERED: Final = {role: tuple(names.split()) for role, names in _NAMES.items()}

# The words for each state, the most common first.
_STATES: Final = {
    "ready": "ready new pending queued waiting wait available enqueued open todo created unprocessed idle submitted"
    " notstarted unstarted requested init initial r q n p",
    "scheduled": "scheduled retryable retry retrying sleeping delayed deferred postponed snoozed",
    "in_progress": "inprogress processing running working executing started locked active claimed taken picked pickedup"
    " reserved busy assigned dequeued leased inflight doing handling sending aborting cancelling canceling stopping i",
    "done": "done completed complete finished processed succeeded success successful sent closed handled consumed"
    " delivered acknowledged archived cancelled canceled aborted skipped ignored revoked finalized resolved fulfilled"
    " ok d",
    "dead": "dead failed failure error errored poison poisoned discarded deadletter deadlettered rejected"
    " abandoned expired killed timedout timeout buried terminated crashed exhausted permanentlyfailed f e",
    "blocked": "blocked suspended onhold held hold paused awaiting",
}
# Words for done messages that some applications use for messages in progress.
_TAKEN_OR_DONE: Final = frozenset({"consumed", "delivered"})
_STATE_WORDS: Final = {word: state for state, words in _STATES.items() for word in words.split()}
_WORD_RANKS: Final = {word: rank for words in _STATES.values() for rank, word in enumerate(words.split())}


# Words after the name of a queue, for queues with its messages that are due later, or dead.
_QUEUE_SUFFIXES: Final = {
    **dict.fromkeys(("dq", "delayed", "delay", "scheduled", "deferred"), "scheduled"),
    **dict.fromkeys(("xq", "dlq", "dead", "deadletter", "deadletters", "poison"), "dead"),
}


def queue_suffix(name: str) -> tuple[str, str] | None:
    """Return the suffix of a queue's name and the state of the messages in such a queue.

    ``mails.DQ`` gives ``(".DQ", "scheduled")``. Returns ``None`` if the name ends in no such word.
    """
    found = re.fullmatch(r".+?([._:/-]+([A-Za-z]+))", name)
    kind = None if found is None else _QUEUE_SUFFIXES.get(found[2].lower())
    return None if found is None or kind is None else (found[1], kind)


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DELAYS: Final = _word_set(
    "delay delayby delayfor delayinterval wait backoff retryafter retryin retrydelay dueafter duein"
)
_AFTER_STATE: Final = _word_set("id code name text value")
_KIND_WORDS: Final = _word_set("type kind event action topic name subject operation")
_CLEAR_WORDS: Final = _word_set(
    "queue queues mq fifo lifo outbox inbox jobs job backlog workqueue enqueued deadletter dlq"
)
_WEAK_WORDS: Final = _word_set(
    "task tasks message messages msg msgs event events pending work workitems delivery deliveries mail mails email"
    " emails notification notifications webhook webhooks request requests command commands stack"
)
_ENDING_IN_Q: Final = _word_set("faq seq freq req uniq")
_CONTRARY_WORDS: Final = _word_set(
    "log logs logging history histories audit audits archive archives archived user users account accounts setting"
    " settings config configuration customer customers session sessions migration migrations version versions lookup"
    " type types statistics stats metric metrics report reports snapshot snapshots"
)


def normalize_name(name: str) -> str:
    """Return a name in lower case without separators.

    ``QueueDateTime`` and ``queue_date_time`` give ``queuedatetime``.
    """
    return re.sub(r"[\W_]+", "", name).lower()


def split_words(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case: ``dbo.MyQ2_Items`` gives ``dbo my q items``."""
    spaced = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", re.sub(r"([a-z\d])([A-Z])", r"\1 \2", name))
    return tuple(re.findall(r"[^\W\d_]+", spaced.lower()))


def column_for_role(role: ColumnRole, columns: Iterable[tuple[str, str]]) -> str | None:
    """Return the column whose name and type fit ``role``. If several columns fit, the most common name wins.

    ``columns``: pairs of name and type.
    """
    fitting = [(normalize_name(name), name) for name, kind in columns if kind in _TYPES[role]]
    for wanted in _ORDERED[role]:
        for short, name in fitting:
            if short == wanted:
                return name
    return None


def epoch_column_for_role(role: ColumnRole, columns: Iterable[tuple[str, str]]) -> str | None:
    """Return the column of numbers that has the name of a time. ``columns``: pairs of name and type."""
    numbers = [(name, "datetime") for name, kind in columns if kind in NUMBER_TYPES]
    return column_for_role(role, numbers)


def delay_interval_column(columns: Iterable[tuple[str, str]]) -> str | None:
    """Return the interval after which a message is due. ``columns``: pairs of name and type."""
    return next((name for name, kind in columns if kind == "interval" and normalize_name(name) in _DELAYS), None)


def is_named_as_state(name: str) -> bool:
    """Return whether a name ends in a word for a state, such as ``the state`` or ``JobItemStatusCode``."""
    found = list(split_words(name))
    while found and found[-1] in _AFTER_STATE:
        found.pop()
    return bool(found) and found[-1] in ("state", "status")


def is_named_as_kind(name: str) -> bool:
    """Return whether a column is named as a kind of message.

    The values of such a column may look like states: ``event_type`` may be ``created``.
    """
    return bool(_KIND_WORDS.intersection(split_words(name)[-1:]))


def state_for_value(value: str) -> str | None:
    """Return the state that a value names, or ``None`` if the word is unknown.

    The states are ``ready``, ``scheduled``, ``in_progress``, ``done``, ``dead`` and ``blocked``.
    """
    return _STATE_WORDS.get(normalize_name(value))


def may_mean_in_progress(value: str) -> bool:
    """Return whether a word for done messages may also mean that a consumer has the message."""
    return normalize_name(value) in _TAKEN_OR_DONE


def state_word_rank(value: str) -> int:
    """Return the place of a value among the words for its state. The most common word has 0, unknown words the last."""
    return _WORD_RANKS.get(normalize_name(value), len(_WORD_RANKS))


def queue_name_score(name: str) -> float:
    """Return how strongly a table's name suggests a queue.

    0.45: a clear name of a queue; 0.3 or 0.15: a possible name; 0: no evidence; -0.4: probably not a queue.
    """
    found = split_words(name)
    last = found[-1] if found else ""
    if _CONTRARY_WORDS.intersection(found):
        return -0.4
    if _CLEAR_WORDS.intersection(found) or "queue" in normalize_name(name):
        return 0.45
    if last.endswith("q") and last not in _ENDING_IN_Q:
        return 0.3
    return 0.15 if _WEAK_WORDS.intersection(found) else 0.0
