"""The wording of texts about tables, libraries and discovered queues."""

from __future__ import annotations

from typing import Any, Final

from qmon.libraries.library import LibraryFileText
from qmon.libraries.library_catalog import LibraryCatalogText
from qmon.libraries.recognition import RecognitionText
from qmon.monitor.catalog.column_zones import ZoneText
from qmon.monitor.catalog.complete_layout import CompletionText
from qmon.monitor.catalog.discovery.candidates import CandidateText
from qmon.monitor.catalog.discovery.listed_states import StateListText
from qmon.monitor.catalog.discovery.relatives import RelativeText
from qmon.monitor.catalog.discovery.shape import ShapeText
from qmon.monitor.catalog.group_resolution import GroupResolutionText
from qmon.monitor.catalog.newest_times import NewestTimeText
from qmon.monitor.catalog.proposal import OtherTable, ProposedLineText
from qmon.monitor.catalog.queue_registry import QueueRegistryText
from qmon.monitor.catalog.relation_kind import RelationText
from qmon.monitor.catalog.resolve import ResolveText
from qmon.monitor.catalog.state_values import StateValueText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    LibraryFileText.NEEDS_TABLES: ({"where": "own.toml"}, "own.toml: needs [tables], which identify the library"),
    LibraryFileText.NEEDS_GROUP: ({"where": "own.toml"}, "own.toml: needs a [[group]] with its queues"),
    LibraryFileText.NEEDS_DESIGN: (
        {"where": "own.toml: queue[1]"},
        "own.toml: queue[1]: needs a design or states, for one table",
    ),
    LibraryFileText.NEEDS_COLUMNS: (
        {"where": "own.toml: queue[1]"},
        "own.toml: queue[1]: needs columns with their types, which identify the tables",
    ),
    RecognitionText.LINE: (
        {"library": "oban", "schema": "app", "result": "recognized by oban_jobs"},
        "oban in schema app: recognized by oban_jobs",
    ),
    RecognitionText.RECOGNIZED: (
        {"tables": "procrastinate_events, procrastinate_jobs"},
        "recognized by procrastinate_events, procrastinate_jobs",
    ),
    RecognitionText.NOT_RECOGNIZED: (
        {"reasons": "there is no table procrastinate_events"},
        "not recognized: there is no table procrastinate_events",
    ),
    RecognitionText.NO_TABLE: ({"table": "procrastinate_events"}, "there is no table procrastinate_events"),
    RecognitionText.NO_COLUMNS: (
        {"table": "procrastinate_jobs", "columns": "attempts, priority"},
        "procrastinate_jobs has no attempts, priority",
    ),
    RecognitionText.OTHER_TYPE: (
        {"column": "jobs.available_at", "type": "datetime2", "library": "laravel", "needed": "seconds since 1970"},
        "jobs.available_at is datetime2, but laravel has seconds since 1970",
    ),
    RecognitionText.NOT_THIS_TYPE: (
        {"column": "jobs.id", "type": "uuid", "needed": "integer or bigint"},
        "jobs.id is uuid, not integer or bigint",
    ),
    RelationText.OBJECT: ({"name": "public.orders", "article": "a", "kind": "view"}, "public.orders is a view"),
    RelationText.TEMPORARY: (
        {"object": "pg_temp_3.orders is a temporary table"},
        "pg_temp_3.orders is a temporary table: only the session that created it can read it; name a permanent table",
    ),
    RelationText.UNLOGGED_ON_STANDBY: (
        {"object": "public.orders is an unlogged table of a standby"},
        "public.orders is an unlogged table of a standby: it can be read only on the primary; watch it there",
    ),
    RelationText.EXTERNAL: (
        {"object": "dbo.Orders is an external table"},
        "dbo.Orders is an external table: its rows are stored elsewhere; make that server a separate "
        "target and name the table there",
    ),
    RelationText.FOREIGN: (
        {"object": "public.orders is a foreign table", "server": "warehouse"},
        "public.orders is a foreign table of the server warehouse; make that server a separate target "
        "and name the table there",
    ),
    RelationText.MEMORY_OPTIMIZED: (
        {"object": "dbo.Orders is a memory-optimized table"},
        "dbo.Orders is a memory-optimized table: it lacks locks, lock hints and counters that qmon uses; "
        "name a disk-based table",
    ),
    RelationText.NOT_A_TABLE: (
        {"object": "public.orders is a sequence"},
        "public.orders is a sequence, not a table; to list the tables: qmon queues TARGET",
    ),
    RelationText.IN_OTHER_DATABASE: (
        {"object": "dbo.Orders is a synonym", "place": "[far].[shop].[dbo].[Orders]"},
        "dbo.Orders is a synonym for [far].[shop].[dbo].[Orders]: make that database a separate target "
        "and name the table there",
    ),
    RelationText.BASE_HIDDEN: (
        {"object": "public.orders is a view"},
        "public.orders is a view: name the table that it reads",
    ),
    RelationText.OF_BASE: (
        {"object": "public.orders is a view", "tables": "public.jobs and public.bodies"},
        "public.orders is a view of public.jobs and public.bodies",
    ),
    RelationText.FOR_BASE: (
        {"object": "dbo.Orders is a synonym", "tables": "dbo.Jobs"},
        "dbo.Orders is a synonym for dbo.Jobs",
    ),
    RelationText.COPY_OF_BASE: (
        {"object": "public.orders is a materialized view", "tables": "public.jobs"},
        "public.orders is a materialized view with a copy (from its last REFRESH) of public.jobs",
    ),
    RelationText.AND_MORE: (
        {"tables": "dbo.A and dbo.B and dbo.C and dbo.D"},
        "dbo.A and dbo.B and dbo.C and dbo.D and more",
    ),
    RelationText.NAME_BASE: (
        {"object": "public.orders is a view of public.jobs", "table": "public.jobs"},
        "public.orders is a view of public.jobs: name public.jobs instead",
    ),
    RelationText.NAME_ONE_OF_BASES: (
        {"object": "public.orders is a view of public.jobs and public.bodies"},
        "public.orders is a view of public.jobs and public.bodies: name the table that holds the messages",
    ),
    ResolveText.FROM_REGISTRY: ({}, "missing settings come from the registry"),
    ResolveText.RECOGNIZED: ({}, "its table was recognized by its columns"),
    ResolveText.INSTALLED: ({}, "installed by qmon"),
    ResolveText.WATCHED_BEFORE: ({}, "was watched before"),
    ResolveText.NAME_TAKEN: (
        {"other": "public.jobs", "name": "jobs", "table": "app.jobs"},
        "public.jobs already has the name jobs; give app.jobs another name",
    ),
    ResolveText.NO_DATA_ID: (
        {"table": "public.bodies", "column": "id"},
        "public.bodies has no column 'id': name its key with data_id",
    ),
    ResolveText.NO_SLOT_SWEEP: (
        {"table": "dbo.Orders_spare"},
        "qmon does not search for holes and orphans: your role may not read dbo.Orders_spare",
    ),
    ResolveText.UNREADABLE: ({"table": "public.orders"}, "your role may not read public.orders"),
    ResolveText.SEVERAL_TABLES: (
        {"name": "orders", "tables": "app.orders, public.orders"},
        "several tables have the name orders: app.orders, public.orders; add the schema",
    ),
    ResolveText.MOVED: (
        {"name": "public.orders", "now": "attic.orders"},
        "there is no table public.orders: it is now attic.orders",
    ),
    ResolveText.NO_TABLE: (
        {"name": "public.order", "hint": "; did you mean orders?"},
        "there is no table public.order, or your role may not see it; did you mean orders?",
    ),
    ResolveText.LIST_TABLES: ({}, "; to list the tables: qmon queues TARGET"),
    ZoneText.ZONE_IS: (
        {"column": "made", "zone": "the server's local time", "why": "because of its default"},
        "`made` has no time zone: the server's local time, because of its default",
    ),
    ZoneText.ZONE_UNKNOWN: (
        {
            "column": "made",
            "session": " and gets the local time of the inserting session by default",
            "effect": "ages are unknown",
        },
        "`made` has no time zone and gets the local time of the inserting session by default, so ages "
        'are unknown; specify the time zone: times = "utc", "local" (the server\'s local time) or a zone '
        'such as "Europe/Berlin"',
    ),
    ZoneText.SESSION_TIME: ({}, " and gets the local time of the inserting session by default"),
    ZoneText.NOTHING_COUNTED: ({}, "nothing can be counted"),
    ZoneText.OWNERS_ALIVE: ({}, "owners never count as dead"),
    ZoneText.AGES_UNKNOWN: ({}, "ages are unknown"),
    ZoneText.OF_TABLE: (
        {"table": "public.jobs", "problem": "`due` is text, which is not a time"},
        "public.jobs: `due` is text, which is not a time",
    ),
    ZoneText.NUMBERS: (
        {"column": "due", "type": "bigint", "units": '"unix" (seconds since 1970)'},
        '`due` is bigint; say what its numbers are: times = "unix" (seconds since 1970)',
    ),
    ZoneText.NOT_A_TIME: ({"column": "due", "type": "text"}, "`due` is text, which is not a time"),
    ZoneText.BY_DEFAULT: ({}, "because of its default"),
    ZoneText.SERVER_TIME: ({}, "the server's local time"),
    ZoneText.NO_SUCH_ZONE: ({"zone": "Mars/Base"}, 'times = "Mars/Base": there is no such time zone'),
    CompletionText.NO_COLUMN: (
        {"table": "public.jobs", "column": "trys", "key": "attempts", "hint": "; did you mean tries?"},
        "public.jobs has no column 'trys' (attempts); did you mean tries?",
    ),
    CompletionText.NO_SEQUENCE: (
        {"sequence": "public.jobs_id_sec", "hint": "; did you mean public.jobs_id_seq?"},
        "there is no sequence public.jobs_id_sec; did you mean public.jobs_id_seq?",
    ),
    CompletionText.NO_SEQUENCE_FOR: (
        {"sequence": "public.push", "key": "push_sequence", "hint": "; did you mean public.pushes?"},
        "there is no sequence public.push (push_sequence); did you mean public.pushes?",
    ),
    CompletionText.NEEDS_SEQUENCES: (
        {"design": "ring"},
        "design ring needs a size and sequences: ring = { size = 1024, push_sequence = "
        '"dbo.PushSequence", pop_sequence = "dbo.PopSequence" }',
    ),
    CompletionText.NEEDS_STATE: (
        {"design": "status"},
        'design status needs a state column: state = { column = "Status", ready = 1, in_progress = 2 }',
    ),
    CompletionText.NEEDS_DUE_TIME: ({}, 'design pending needs the column with the due time: due_at = "DueTime"'),
    CompletionText.WRITE_STATE: (
        {"reason": "the numbers in `State` (5, 6) have no usual meaning", "column": "State"},
        'the numbers in `State` (5, 6) have no usual meaning: write state = { column = "State", ready = '
        "1, in_progress = 2 }",
    ),
    CompletionText.LOOKS_LIKE_STATE: (
        {"column": "status", "design": "fifo", "other": "status"},
        '`status` looks like a state column, which fifo does not use; set design = "status"',
    ),
    CompletionText.FILLED: (
        {"column": "id", "sequence": "public.jobs_id_seq"},
        "`id`: filled by the sequence public.jobs_id_seq",
    ),
    CompletionText.FILLED_BY_NAME: (
        {"column": "id", "sequence": "public.job_numbers"},
        "`id`: filled by the sequence public.job_numbers, judging by its name",
    ),
    CompletionText.WHOLE_KEY: (
        {"column": "seq", "columns": "`tenant` and `seq`"},
        "`seq` alone does not identify a message; `tenant` and `seq` together identify it",
    ),
    CompletionText.TEXTLESS: (
        {"column": "id", "type": "float"},
        "`id` is float, which has no exact text form and cannot identify a message",
    ),
    CompletionText.NO_ID: (
        {"column": "`id` is float, which has no exact text form and cannot identify a message"},
        "`id` is float, which has no exact text form and cannot identify a message: messages have no id",
    ),
    CompletionText.OTHER_ID: (
        {"column": "`id` is float, which has no exact text form and cannot identify a message"},
        "`id` is float, which has no exact text form and cannot identify a message: name another column as the id",
    ),
    CompletionText.ID_NUMBERED: ({"column": "id"}, "id `id`: numbered by the server"),
    CompletionText.ID_PRIMARY: ({"column": "id"}, "id `id`: the primary key"),
    CompletionText.ID_WHOLE: ({"column": "seq"}, "id `seq`: the whole number in the primary key"),
    CompletionText.BY_NAME: ({"role": "due at", "column": "run_at"}, "due at `run_at`: recognized by its name"),
    StateValueText.NOT_STORABLE: (
        {"column": "dbo.Orders.State", "value": "готово"},
        "dbo.Orders.State cannot store the state value 'готово': the column is too short, or the "
        "collation of the column or database lacks a character",
    ),
    StateValueText.NO_LABEL: (
        {"column": "public.jobs.status", "label": "new", "hint": "; did you mean news?"},
        "public.jobs.status has no label 'new'; did you mean news?",
    ),
    StateValueText.ENUM_LABELS: ({}, "labels of the enum"),
    StateValueText.PARTIAL_INDEXES: ({}, "partial indexes"),
    StateValueText.STATISTICS: ({}, "statistics"),
    StateValueText.EXISTING_ROWS: ({}, "existing rows"),
    StateValueText.ITS_TYPE: ({}, "its type"),
    StateValueText.ITS_DEFAULT: ({}, "its default"),
    StateValueText.TRUE_IF_DONE: ({"column": "processed"}, "`processed` is true if a message is done"),
    StateValueText.TOO_MANY: ({"column": "status"}, "`status` has too many values for a state"),
    StateValueText.NO_READY_WORD: (
        {"column": "status", "values": "zig, zag"},
        "none of the values of `status` (zig, zag) is a known word for ready messages",
    ),
    StateValueText.MEANINGS: (
        {"column": "status", "meanings": "new ready, done done", "origin": "check"},
        "`status`: new ready, done done (from check)",
    ),
    StateValueText.MEANING_UNKNOWN: (
        {"column": "status", "values": "zig, zag"},
        "`status`: no state has the value zig, zag; add each of these values to the state that it means (ready,"
        " in_progress, done, dead or blocked). Until then, figures that depend on them are unknown",
    ),
    StateValueText.UNUSUAL_NUMBERS: (
        {"column": "State", "numbers": "5, 6"},
        "the numbers in `State` (5, 6) have no usual meaning",
    ),
    StateValueText.PROBABLY: (
        {"column": "State", "meanings": "0 ready, 1 in progress", "source": "values 0, 1 from check"},
        "`State`: probably 0 ready, 1 in progress (values 0, 1 from check)",
    ),
    StateValueText.VALUES: ({"values": "0, 1"}, "values 0, 1"),
    StateValueText.FROM_ORIGIN: ({"origin": "check"}, " from check"),
    StateValueText.NEW_ROWS_GET: ({"value": "0"}, ", new rows get 0"),
    StateValueText.NO_VALUES: ({}, "none"),
    GroupResolutionText.LIBRARY: (
        {"library": "river", "reason": "your role may not read public.river_job"},
        "river: your role may not read public.river_job",
    ),
    GroupResolutionText.NOT_FOUND: ({}, "its tables were not found; to see why: qmon queues TARGET --explain"),
    GroupResolutionText.UNREADABLE: ({"table": "public.river_job"}, "your role may not read public.river_job"),
    GroupResolutionText.RECOGNIZED: (
        {"library": "our-bus", "table": "public.stock"},
        "our-bus: public.stock was recognized by its columns",
    ),
    GroupResolutionText.NO_COLUMN: (
        {"table": "public.jobs", "column": "trys", "hint": "; did you mean tries?"},
        "public.jobs has no column 'trys'; did you mean tries?",
    ),
    GroupResolutionText.NO_ZONE: (
        {"column": "jobs.done_at"},
        "jobs.done_at has no time zone: `at` needs a column with a time zone, or with UTC times",
    ),
    GroupResolutionText.NO_JSON: (
        {"column": "public.jobs.body", "type": "text", "types": "json, jsonb"},
        "public.jobs.body is text, but `path` needs a column of JSON (json, jsonb)",
    ),
    GroupResolutionText.LEFT_OUT: (
        {"group": "our-jobs", "reason": "without `owner`: public.jobs has no column 'worker'"},
        "our-jobs: without `owner`: public.jobs has no column 'worker'",
    ),
    GroupResolutionText.WITHOUT: (
        {"part": "owner", "why": "public.jobs has no column 'worker'"},
        "without `owner`: public.jobs has no column 'worker'",
    ),
    GroupResolutionText.WITHOUT_OF_STATE: (
        {"part": "since", "state": "ready", "why": "public.jobs has no column 'at'"},
        "without `since` of ready: public.jobs has no column 'at'",
    ),
    GroupResolutionText.NO_TIME_INDEX: (
        {"column": "created_at"},
        "the table is large, and no index starts with created_at, or with the queue and created_at",
    ),
    GroupResolutionText.WITHOUT_STEPS: (
        {"table": "log", "why": "there is no table log"},
        "without the steps in log: there is no table log",
    ),
    OtherTable.SOME: (
        {"why": "its name suggests a queue; but has 30 columns"},
        "not enough evidence of a queue: its name suggests a queue; but has 30 columns",
    ),
    OtherTable.NONE: ({}, "its name, columns and counters do not suggest a queue"),
    NewestTimeText.NEWEST: (
        {
            "column": "made",
            "newest": "2026-11-28 12:00:01",
            "utc": "2026-11-28 12:00:00",
            "local": "2026-11-28 13:00:00",
            "conclusion": '"utc" would fit',
        },
        "the newest message has `made` 2026-11-28 12:00:01; the clock is 2026-11-28 12:00:00 in UTC and "
        '2026-11-28 13:00:00 in the server\'s local time: "utc" would fit',
    ),
    NewestTimeText.GOES_BACK: (
        {"count": 3, "column": "made", "time": "1 h 59 m"},
        "among the newest 3 messages, `made` goes back by 1 h 59 m: sessions may insert times of different time zones",
    ),
    NewestTimeText.FITS: ({"zones": '"utc" and "local"'}, '"utc" and "local" would fit'),
    NewestTimeText.AHEAD: ({"time": "5 h 30 m"}, "if that message is new, the time zone is 5 h 30 m ahead of UTC"),
    NewestTimeText.BEHIND: ({"time": "5 h 00 m"}, "if that message is new, the time zone is 5 h 00 m behind UTC"),
    NewestTimeText.OTHER_CLOCK: ({}, "the message is not new, or its time comes from another clock"),
    QueueRegistryText.UNREADABLE: ({}, "your role may not read the registry of installed queues"),
    QueueRegistryText.NEWER: ({}, "written by a newer version of qmon; upgrade qmon on this machine"),
    QueueRegistryText.WHERE: ({"queue": "orders"}, "registry of orders"),
    QueueRegistryText.WRITE_AGAIN: (
        {"problem": "registry of orders: needs table"},
        "registry of orders: needs table; to write it again: qmon design install",
    ),
    CandidateText.NO_END: (
        {},
        "how to recognize a done message: no column has the name of an end time or of a flag for done "
        "messages, and the server's counters do not show deleted rows",
    ),
    CandidateText.NO_RIGHT: (
        {"table": "public.mail_queue", "grant": 'GRANT SELECT ON "public"."mail_queue" TO "watcher"'},
        'the right to read public.mail_queue: GRANT SELECT ON "public"."mail_queue" TO "watcher"',
    ),
    CandidateText.RING_COLUMNS: (
        {"slot": "slot", "number": "message_id", "count": "refs"},
        "has slots (`slot`), a message number (`message_id`) and a reference count (`refs`)",
    ),
    CandidateText.NO_SEQUENCES: ({}, "the sequences of its push and pop positions; name them in ring = { … }"),
    CandidateText.SEQUENCES: (
        {"push": "public.push_seq", "pop": "public.pop_seq"},
        "push and pop positions in the sequences public.push_seq and public.pop_seq",
    ),
    CandidateText.NO_SIZE: ({}, "its number of slots; write ring = { size = … }"),
    CandidateText.SLOTS: ({"size": 1024}, "1,024 slots"),
    CandidateText.PAYLOADS: (
        {"table": "queuedata", "column": "queueid"},
        "payloads in `queuedata`, joined by `queueid`",
    ),
    CandidateText.SEVERAL_QUEUES: (
        {"column": "topic", "values": "mails, orders"},
        "one queue for each value of `topic` (mails, orders); without `queue`, all are one queue",
    ),
    CandidateText.POPS_DELETE: (
        {"deleted": 1500},
        "pops delete rows: 1,500 rows were deleted, and almost no rows were updated",
    ),
    CandidateText.DUE_AFTER: ({"column": "delay"}, "when a message is due: after the interval `delay`"),
    CandidateText.NUMBERS: ({"column": "run_at"}, "the meaning of the numbers in `run_at`: write times"),
    CandidateText.COUNTED: (
        {"inserted": 1200, "updated": 3, "deleted": 0},
        "of 1,200 inserted rows, 3 were updated and 0 deleted",
    ),
    CandidateText.NO_POP_COLUMN: (
        {"counted": "of 1,200 inserted rows, 900 were updated and 0 deleted"},
        "which column shows that a message was popped: of 1,200 inserted rows, 900 were updated and 0 deleted",
    ),
    CandidateText.NO_POPS_SEEN: (
        {"counted": "of 1,200 inserted rows, 3 were updated and 0 deleted"},
        "how to recognize a popped message: of 1,200 inserted rows, 3 were updated and 0 deleted",
    ),
    StateListText.TIMES_AND_FLAGS: (
        {"columns": "`started_at` (in progress), `done_at` (done)"},
        "states come from times and flags; a message is ready while none of these is set: `started_at` "
        "(in progress), `done_at` (done)",
    ),
    StateListText.DUE: ({"column": "run_at"}, "a message is ready when it is due (`run_at`)"),
    StateListText.OTHER_QUEUES: (
        {"column": "queue_name", "patterns": "*.DQ, *.delayed", "kind": "scheduled"},
        "`queue_name`: queues named *.DQ, *.delayed have the scheduled messages of the other queues",
    ),
    StateListText.MEANINGS: (
        {"column": "status", "meanings": "ready: new, pending; done: done"},
        "`status`: ready: new, pending; done: done",
    ),
    RelativeText.DETACHED: (
        {"table": "public.job_queue"},
        "perhaps a detached partition of public.job_queue, which has the same columns",
    ),
    ShapeText.NAME: ({}, "has a typical name of a queue"),
    ShapeText.SEQUENCE: ({"sequence": "public.jobs_numbers"}, "the sequence public.jobs_numbers is named after it"),
    ShapeText.CLAIMS: (
        {"columns": "`locked_at`, `locked_by`"},
        "records when or by whom a row was taken (`locked_at`, `locked_by`)",
    ),
    ShapeText.ATTEMPTS: ({"column": "attempts"}, "counts attempts (`attempts`)"),
    ShapeText.DUE_TIME: ({"column": "run_at"}, "has a due time (`run_at`)"),
    ShapeText.WITH_VALUES: ({"values": "1, 2"}, " with values 1, 2"),
    ShapeText.FLAG: (
        {"column": "processed", "values": " with values 0, 1"},
        "has a flag (`processed`) with values 0, 1",
    ),
    ShapeText.STATE: ({"column": "status", "values": ""}, "has a state column (`status`)"),
    ShapeText.INDEX_STARTS: ({"index": "jobs_status"}, "the index `jobs_status` starts with this column"),
    ShapeText.INDEX_OF_ONE_STATE: ({"index": "jobs_ready"}, "the index `jobs_ready` contains only rows of one state"),
    ShapeText.PAYLOAD: ({"column": "payload"}, "has a payload (`payload`)"),
    ShapeText.NUMBERED: ({"column": "id"}, "numbers its rows (`id`)"),
    ShapeText.MANY_COLUMNS: ({"count": 31}, "but has 31 columns"),
    ShapeText.DELETED: ({"share": "80 %"}, "80 % of the inserted rows were deleted again"),
    ShapeText.UPDATED: ({"share": "48 %"}, "48 % of its rows were updated"),
    ShapeText.UNCHANGED: ({"inserted": 20000}, "but almost none of its 20,000 inserted rows were changed or deleted"),
    ShapeText.REFERRED_TO: ({"tables": "1 other table", "have": "has"}, "but 1 other table has foreign keys to it"),
    ShapeText.REFERS: ({"count": 3}, "but its foreign keys refer to 3 other tables"),
    ProposedLineText.TIMES_LINE: (
        {},
        '# times = "local"   # or "utc", or a zone such as "Europe/Berlin"; without this, ages are unknown',
    ),
    ProposedLineText.SOURCE: ({"source": "registry"}, "from the registry"),
    ProposedLineText.PERHAPS: ({"summary": "has a payload (`payload`)"}, "Perhaps a queue: has a payload (`payload`)."),
    ProposedLineText.MISSING: ({"missing": "its number of slots"}, " Missing: its number of slots."),
    LibraryCatalogText.UNREADABLE: (
        {"path": "/etc/qmon/libraries/own.toml", "problem": "Permission denied"},
        "/etc/qmon/libraries/own.toml: cannot be read: Permission denied",
    ),
    LibraryCatalogText.INVALID: (
        {"path": "/etc/qmon/libraries/own.toml", "problem": "Invalid value (at line 1, column 8)"},
        "/etc/qmon/libraries/own.toml: Invalid value (at line 1, column 8)",
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
