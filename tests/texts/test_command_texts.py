"""The wording of errors and notes of commands."""

from __future__ import annotations

import datetime
from typing import Any, Final

from qmon.api import ApiText
from qmon.cli.alerting_setup import AlertingText
from qmon.cli.commands.act.act import ActText
from qmon.cli.commands.act.operations import HistoryText
from qmon.cli.commands.act.run_action import RunText
from qmon.cli.commands.check import CheckText
from qmon.cli.commands.connect import ConnectText
from qmon.cli.commands.design.archive import ArchiveEnd, ArchiveResultText
from qmon.cli.commands.design.bench import BenchStartText, BenchText
from qmon.cli.commands.design.bench_text import BenchLineText
from qmon.cli.commands.design.install import DesignText
from qmon.cli.commands.design.load import LoadResultText
from qmon.cli.commands.doctor.bundle import BundleFileText, BundleText
from qmon.cli.commands.doctor.doctor import DoctorText, ExaminationText
from qmon.cli.commands.help import HelpText
from qmon.cli.commands.pipeline.archived_messages import MessagesText
from qmon.cli.commands.pipeline.forget_command import ForgetOptionText
from qmon.cli.commands.pipeline.pipeline import PipelineResultText, PipelineText
from qmon.cli.commands.pipeline.pipeline_options import PipelineOptionText
from qmon.cli.commands.pipeline.tidy_command import TidyText
from qmon.cli.commands.queues import ListingText, QueuesText
from qmon.cli.commands.record import RecordingText
from qmon.cli.commands.replay import ReplayText
from qmon.cli.commands.report import IncidentText
from qmon.cli.commands.serve import ServeOptionText
from qmon.cli.commands.setup import SetupText
from qmon.cli.commands.status import StatusText
from qmon.cli.console import ConsoleText
from qmon.cli.guesses import GuessText
from qmon.cli.init_questions import AnswerText, QuestionText
from qmon.cli.library_page import LibraryPageText, LibraryVerb
from qmon.cli.signals import SignalText
from qmon.cli.target_prompt import PromptText
from qmon.cli.target_session import SessionText
from qmon.cli.trial_notice import TrialText
from qmon.cli.web.dashboard import WebText
from qmon.manual import ManualText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    AlertingText.NOTICES_TO: (
        {
            "receiver": "on-call",
            "advice": "the receiver's URL is missing: set QMON_NOTIFY_ON_CALL, or store it with 'keyring set qmon "
            '"notify on-call"\'',
        },
        "notices to on-call: the receiver's URL is missing: set QMON_NOTIFY_ON_CALL, or store it "
        "with 'keyring set qmon \"notify on-call\"'",
    ),
    AlertingText.NOT_NOTIFIED: (
        {
            "problem": "notices to on-call: the receiver's URL is missing: set QMON_NOTIFY_ON_CALL, or store it "
            "with 'keyring set qmon \"notify on-call\"'"
        },
        "qmon: notices to on-call: the receiver's URL is missing: set QMON_NOTIFY_ON_CALL, or store "
        "it with 'keyring set qmon \"notify on-call\"'; this dashboard does not notify this receiver",
    ),
    AlertingText.NO_RULE: ({}, "qmon: no notices will be sent: no [[alert]] applies to the watched targets"),
    ActText.NOT_WHOLE: ({"text": "1.5"}, "--stop-after: '1.5' is not a whole number"),
    ActText.NEEDS_DEAD: ({}, "--rate and --stop-after need --state dead"),
    ActText.NOT_A_NUMBER: ({"option": "--rate", "text": "fast"}, "--rate: 'fast' is neither a number nor none"),
    ActText.EMPTY_ID: ({}, "--ids: an id is empty; write --ids 17,18,21"),
    ActText.UNKNOWN_OWNER: (
        {"word": "ded", "nearest": "; did you mean dead?"},
        "--owners: 'ded' is unknown; did you mean dead?",
    ),
    HistoryText.LOCAL_AUDIT: (
        {"path": "/home/anna/.local/state/qmon/operations.jsonl"},
        "; /home/anna/.local/state/qmon/operations.jsonl contains the operations of this machine",
    ),
    HistoryText.NO_RECORD: ({"here": ""}, "the database has no record of operations"),
    HistoryText.EMPTY_TRASH: ({}, "the trash is empty"),
    RunText.WHICH_TARGET: (
        {
            "problem": "'mails' is neither a target in /etc/qmon.toml nor a DSN; choose from: crm, shop",
            "command": "purge",
            "target": "mails",
        },
        "'mails' is neither a target in /etc/qmon.toml nor a DSN; choose from: crm, shop; which "
        "target? qmon purge TARGET mails",
    ),
    RunText.REFUSED: (
        {
            "target": "shop",
            "queue": "orders",
            "reason": "no message matches: nothing to do",
            "left_out": " (left out: 2 locked)",
        },
        "shop: orders: refused: no message matches: nothing to do (left out: 2 locked); nothing was changed",
    ),
    RunText.DRY_RUN: ({}, "dry run: nothing was changed"),
    RunText.WITH_CONFIRM: ({}, " with --confirm and --reason"),
    RunText.WITH_REASON: ({}, " with --reason"),
    RunText.NO_TERMINAL: (
        {"options": " with --reason"},
        "stdin is not a terminal: add --yes with --reason; nothing was changed",
    ),
    RunText.YES_NOT_ENOUGH: (
        {"queue": "orders"},
        "--yes is not enough for this plan: also give --confirm orders and --reason; nothing was changed",
    ),
    RunText.TYPE_NAME: ({"queue": "orders"}, "type the queue's name (orders)"),
    RunText.WRONG_NAME: ({"queue": "orders"}, "the name does not match: the queue is orders; nothing was changed"),
    RunText.NOT_CONFIRMED: ({}, "not confirmed; nothing was changed"),
    RunText.STOPPING: ({}, "stopping after the current batch; press Ctrl-C again to cancel that batch and exit"),
    RunText.INTERRUPTED: ({"done": 1204}, "interrupted after 1,204, which stay done; run the command again to finish"),
    CheckText.TOO_SLOW: (
        {"polls": 10, "every": "2.0 s", "timeout": "10 s"},
        "10 polls every 2.0 s take longer than --timeout 10 s allows",
    ),
    CheckText.NO_ANSWER: ({"duration": "10 s"}, "no answer within 10 s"),
    ConnectText.POLLED_BY_SERVE: (
        {},
        "qmon serve polls this target: give --every and --record to qmon serve, not to qmon connect",
    ),
    ConnectText.URL_AND_OTHERS: (
        {},
        "the URL of a qmon serve cannot be combined with other targets: name only that URL, or only databases",
    ),
    ConnectText.CA_NEEDS_URL: ({}, "--ca is for the https:// URL of a qmon serve"),
    ConnectText.ONE_TARGET: ({}, "--queue needs a single target"),
    ConnectText.OUTPUT_NEEDS_FOR: ({}, "--output needs --for, such as --for 20s"),
    ConnectText.TOUR_NEEDS_SCREEN: ({}, "--tour needs the screen: leave out --output"),
    ConnectText.WITHOUT_TERMINAL: ({}, "`--for 20s --output table` runs without a terminal"),
    ArchiveEnd.NOTHING_LEFT: ({}, "nothing is left to archive"),
    ArchiveEnd.FAILED: ({}, "failed; messages archived so far stay archived"),
    BenchText.BATCHES: ({"text": "a"}, "--batch needs whole numbers separated by commas, such as 1,10,100, not 'a'"),
    BenchText.READ_ONLY: ({"target": "shop"}, "shop is marked read_only, but a bench writes; nothing was created"),
    BenchText.PROD: (
        {"target": "shop"},
        "shop is marked prod, and a bench loads the server fully: add --yes; nothing was created",
    ),
    BenchText.NOTHING_CREATED: ({}, "nothing was created"),
    DesignText.ONE_DESIGN: ({}, "--queue works with only one design: install several designs one by one"),
    DesignText.NO_TERMINAL: ({}, "stdin is not a terminal: add --yes"),
    DesignText.NOTHING_CHANGED: ({}, "nothing was changed"),
    BundleText.INCOMPLETE: ({"problem": "no poll finished within 15 s"}, "incomplete: no poll finished within 15 s"),
    BundleText.SUFFIX: (
        {"path": "/tmp/qmon.txt", "zip": ".zip", "tar": ".tar.gz"},
        "/tmp/qmon.txt: a bundle must be a .zip or .tar.gz file; nothing was written",
    ),
    BundleText.UNCREATABLE: (
        {"path": "/tmp/qmon.zip", "problem": "File exists"},
        "cannot create /tmp/qmon.zip: File exists; nothing was written",
    ),
    BundleText.UNWRITABLE: (
        {"path": "/tmp/qmon.zip", "problem": "No space left on device"},
        "cannot write /tmp/qmon.zip: No space left on device",
    ),
    BundleText.REVIEW: (
        {},
        "review the archive before you send it: it contains names of hosts, databases, roles, tables and applications",
    ),
    RecordingText.PROGRESS: (
        {
            "target": "shop",
            "phase": "lost",
            "problem": " (connection refused)",
            "snapshots": "1,204 snapshots",
            "size": "2.1 MB",
            "lost": ", 3 lost",
        },
        "shop lost (connection refused): 1,204 snapshots, 2.1 MB, 3 lost",
    ),
    RecordingText.STOPPED_EARLIER: (
        {"target": "shop", "problem": "No space left on device"},
        "shop stopped: No space left on device",
    ),
    IncidentText.EMPTY_RANGE: ({}, "--to must be later than --from"),
    RecordingText.SEALED: (
        {
            "target": "shop",
            "snapshots": "1,204 snapshots",
            "lost": ", 3 lost",
            "size": "2.1 MB",
            "missing": "; no queue mails",
        },
        "shop: 1,204 snapshots recorded, 3 lost, 2.1 MB, sealed; no queue mails",
    ),
    RecordingText.LOST: ({"count": 1204}, ", 1,204 lost"),
    RecordingText.NO_QUEUE: ({"queues": "mails or jobs"}, "no queue mails or jobs"),
    RecordingText.LAKE: (
        {
            "lake": "/var/lib/qmon/lake",
            "since": ", last batch 1 d 00 h ago",
            "file": "/var/lib/qmon/.pipeline.5d41402abc4b.json",
        },
        "/var/lib/qmon/lake, last batch 1 d 00 h ago (if that lake is gone or was moved, delete "
        "/var/lib/qmon/.pipeline.5d41402abc4b.json)",
    ),
    RecordingText.DAMAGED_LAKE: ({}, "a lake whose mark is damaged"),
    RecordingText.LAST_BATCH: ({"age": "1 d 00 h"}, ", last batch 1 d 00 h ago"),
    RecordingText.DELETED_UNREAD: (
        {"segments": "3 segments"},
        "deleted 3 segments that exceeded --max-size before these lakes had read them",
    ),
    RecordingText.LENGTH_OVER: ({}, "--for is over"),
    RecordingText.OTHER_TARGET_FAILED: ({}, "another target cannot be recorded"),
    RecordingText.QMON_FAILED: ({}, "qmon has failed"),
    RecordingText.WAITING: (
        {"segments": "3 old segments"},
        "cannot delete 3 old segments, because these lakes have not read all of them",
    ),
    ArchiveResultText.RESULT: (
        {
            "queue": "orders",
            "messages": "12,000 messages",
            "batches": "24 batches",
            "duration": "6.2 s",
            "rate": 1935.5,
            "end": "nothing is left to archive",
        },
        "orders: archived 12,000 messages in 24 batches, 6.2 s (1,935.5/s); nothing is left to archive",
    ),
    ArchiveResultText.HELD_UP: (
        {"batches": "2 batches"},
        "2 batches waited for a lock or took too long, and ran again later",
    ),
    ArchiveResultText.UNSURE: (
        {"batches": "1 batch"},
        "the connection broke during 1 batch, not counted: each such batch is fully archived, or not at all",
    ),
    PipelineText.OPEN_SEGMENTS: (
        {"segments": "1 open segment", "at": datetime.datetime(2026, 11, 21, 14, 0, tzinfo=datetime.UTC)},
        "not in the lake yet: 1 open segment; qmon record seals open segments at 14:00 UTC or when it ends, and the "
        "next run reads them",
    ),
    PipelineText.LATE_SEGMENTS: (
        {"segments": "2 segments"},
        "not in the lake yet: 2 segments that should have been sealed; if the recorder was killed, its next start "
        "seals them",
    ),
    BundleText.NO_POLL: ({"duration": "15 s"}, "no poll finished within 15 s"),
    DoctorText.ONE_TARGET: ({}, "--bundle takes at most one target"),
    DoctorText.MARK_DAMAGED: (
        {"path": "/var/lib/qmon/.pipeline.5d41402abc4b.json"},
        "the marker file /var/lib/qmon/.pipeline.5d41402abc4b.json is damaged: delete it, or run the "
        "pipeline to write it again",
    ),
    DoctorText.NO_LAKE: ({"recordings": "/var/lib/qmon"}, "no lake reads the recordings in /var/lib/qmon"),
    HelpText.ALIAS: ({"topic": "publish", "alias": "push rate"}, "qmon: publish is explained under push rate"),
    HelpText.NO_WORD: ({}, "--search needs a word"),
    HelpText.NO_PAGE: (
        {"page": "actng", "nearest": "; did you mean acting?"},
        "the manual has no page 'actng'; did you mean acting?",
    ),
    HelpText.NOT_FOUND: ({"word": "xyzzy"}, "qmon: the manual does not contain 'xyzzy'"),
    ForgetOptionText.NOT_A_DAY: ({"text": "soon"}, "'soon' is not a day such as 2026-11-21"),
    ForgetOptionText.NO_FILTER: (
        {},
        "name the rows to delete with --target, --before or --after, or a folder with --recordings",
    ),
    ForgetOptionText.NO_DAY: (
        {"after": datetime.date(2026, 11, 21), "before": datetime.date(2026, 11, 22)},
        "no day is after 2026-11-21 and before 2026-11-22",
    ),
    ForgetOptionText.NO_FOLDER: ({"path": "/var/lib/qmon"}, "the folder /var/lib/qmon does not exist"),
    ForgetOptionText.FINISHED_EARLIER: ({}, "finished an earlier deletion that was interrupted"),
    ForgetOptionText.NO_ROWS: ({}, "the lake has no such rows; nothing was changed"),
    ForgetOptionText.NO_TERMINAL: ({}, "stdin is not a terminal: add --yes; nothing was changed"),
    ForgetOptionText.NOT_CONFIRMED: ({}, "not confirmed; nothing was changed"),
    ManualText.MISSING: ({}, "the manual is missing: repeat the installation"),
    ManualText.NO_TOPIC: (
        {"topic": "actin", "hint": "; did you mean acting?"},
        "the manual has no topic 'actin'; did you mean acting?",
    ),
    ManualText.TOPICS: ({}, "; qmon help lists the topics"),
    PromptText.WHICH_TARGET: (
        {"example": "postgresql://user@host/database"},
        "which target? a URL: postgresql://user@host/database",
    ),
    PromptText.WHICH_KNOWN_TARGET: (
        {"names": "crm, shop", "more": " and 3 more", "example": "postgresql://user@host/database"},
        "which target? known: crm, shop and 3 more; or a URL: postgresql://user@host/database",
    ),
    PromptText.MORE: ({"count": 3}, " and 3 more"),
    MessagesText.STOPPED: ({}, "stopped; the next start finishes the interrupted batch"),
    PipelineText.STOPPED: ({}, "stopped; the next start finishes the interrupted batch"),
    MessagesText.NAMED_TWICE: ({"queue": "orders"}, "queue 'orders' is named twice"),
    PipelineText.NOT_A_TIME: ({"text": "noon"}, "'noon' is not a day or time such as 2026-11-21 or 2026-11-21T14:00"),
    PipelineText.NO_RECORDINGS: (
        {"path": "/var/lib/qmon"},
        "the folder /var/lib/qmon does not exist; create recordings with: qmon record TARGET --to DIR",
    ),
    PipelineText.NO_FOLDER: ({"path": "/var/lib/qmon"}, "the folder /var/lib/qmon does not exist"),
    PipelineText.NOT_A_ZONE: (
        {"name": "Mars"},
        "--zone needs a time zone such as Europe/Berlin, or TARGET=ZONE; not 'Mars'",
    ),
    PipelineOptionText.NEEDS_SPARK: (
        {"command": 'pip install "pyspark>=4.2" "pyarrow>=18" "pandas<3,>=2.2" "deltalake>=1.6"'},
        'the pipeline needs Spark, and Java 17 or later: pip install "pyspark>=4.2" "pyarrow>=18" '
        '"pandas<3,>=2.2" "deltalake>=1.6"',
    ),
    PipelineOptionText.NO_LAKE: ({}, "missing; name the folder of the lake"),
    PipelineOptionText.NOT_A_SETTING: (
        {"text": "x"},
        "--conf needs NAME=VALUE, such as spark.driver.memory=4g; not 'x'",
    ),
    TidyText.KEEP_TOO_SHORT: ({"name": "samples"}, "--keep-samples must be at least 1d, such as 90d"),
    QueuesText.NO_LIBRARY_TABLE: (
        {},
        "no table has the name of a library table; to list the libraries: qmon help libraries",
    ),
    QueuesText.EXISTS: (
        {"path": "/etc/qmon.toml"},
        "/etc/qmon.toml already exists: replace it with --force, or write another file with --config",
    ),
    QueuesText.UNWRITABLE: (
        {"path": "/etc/qmon.toml", "problem": "Permission denied"},
        "cannot write /etc/qmon.toml: Permission denied",
    ),
    ReplayText.NOTHING_BEFORE: (
        {"at": "2026-11-21 13:00:00 CET", "begins": "2026-11-21 14:00:00 CET", "ends": "2026-11-21 15:00:00 CET"},
        "nothing was recorded before 2026-11-21 13:00:00 CET; the recording covers 2026-11-21 "
        "14:00:00 CET to 2026-11-21 15:00:00 CET",
    ),
    ServeOptionText.CERTIFICATE_AND_KEY: ({}, "--certificate and --key need each other: give both"),
    ServeOptionText.NEED_RECORD: ({}, "--keep and --max-size need --record"),
    ServeOptionText.NEED_ADDRESS: (
        {},
        "with --textfile, --users, --certificate, --key and --allow-host need --listen or --web",
    ),
    ServeOptionText.NOT_A_HOST: (
        {"name": "http://a"},
        "--allow-host needs a host name or address without a port, such as ops-1, not 'http://a'",
    ),
    SetupText.REMOVE_NEEDS_GATE: ({}, "--remove needs --gate QUEUE"),
    SetupText.REFUSED: (
        {
            "failed": 2,
            "steps": 7,
            "step": "qmon's own schema",
            "problem": "permission denied for database shop",
            "target": "shop",
            "role": "operator",
        },
        "2 of 7 steps need a role with more rights; the first: qmon's own schema: permission denied for database shop."
        " Get the script for your DBA: qmon setup shop --role operator --print > for-the-dba.sql",
    ),
    SetupText.NOTHING_TO_DO: ({}, "nothing to do: everything exists already"),
    StatusText.INSTALLED_ONLY: (
        {},
        "only queues that qmon installed are shown; qmon queues lists tables that look like queues",
    ),
    StatusText.NO_QUEUE: (
        {"queues": "mail, order", "targets": "shop"},
        "no queue mail, order; to list the queues: qmon status shop",
    ),
    ConsoleText.UNWRITABLE: (
        {"problem": "No space left on device"},
        "cannot write to standard output: No space left on device",
    ),
    GuessText.SERVE_QUEUE: (
        {},
        "qmon serve has no --queue: it reads all queues of a target; choose a queue when you connect: qmon connect"
        " URL --queue QUEUE",
    ),
    GuessText.NO_COMMAND: (
        {"name": "design-list", "hint": "qmon design list"},
        "no such command 'design-list'; use: qmon design list",
    ),
    AnswerText.NOT_A_ZONE: ({"answer": "maybe"}, "'maybe' is not a time zone"),
    AnswerText.NO_READY: ({"column": "status"}, "no value of status means ready; nothing was written"),
    AnswerText.NOT_WHOLE: (
        {"value": "a"},
        "'a' is not a whole number, but the column contains only whole numbers; nothing was written",
    ),
    AnswerText.NOT_A_CHOICE: ({"answer": "maybe"}, "'maybe' is not one of the choices"),
    SessionText.READ_ONLY: ({}, "qmon was started with --read-only"),
    SessionText.NOT_INSTALLED: (
        {"queue": "order", "queues": "mails, orders"},
        "qmon has not installed a queue 'order'; installed queues: mails, orders",
    ),
    SessionText.REGISTRY_UNREADABLE: (
        {"problem": "permission denied for schema qmon"},
        "not allowed to read qmon's registry: permission denied for schema qmon",
    ),
    SessionText.IF_QUEUE: (
        {"problem": "'mails' is neither a target in /etc/qmon.toml nor a DSN; choose from: crm, shop", "word": "mails"},
        "'mails' is neither a target in /etc/qmon.toml nor a DSN; choose from: crm, shop; if mails "
        "is a queue: --queue mails",
    ),
    SessionText.NAMED_TWICE: ({"targets": "shop, crm"}, "shop, crm: named twice; name each target once"),
    SessionText.EVERY: ({"lowest": 0.5, "highest": 60.0, "seconds": 0.1}, "--every must be 0.5 to 60 seconds, not 0.1"),
    SessionText.TARGET_READ_ONLY: (
        {"target": "shop"},
        "shop is read-only: qmon.toml sets read_only = true; nothing was changed",
    ),
    SignalText.STOPPING: ({}, "stopping; press Ctrl-C again to stop at once"),
    TrialText.NO_RECEIVER: (
        {"path": "/etc/qmon.toml"},
        "/etc/qmon.toml contains no [[notify]]; see qmon help alerts-and-checks",
    ),
    TrialText.NO_SUCH_RECEIVER: (
        {"path": "/etc/qmon.toml", "name": "on-cal", "nearest": "; did you mean on-call?"},
        "/etc/qmon.toml contains no [[notify]] named 'on-cal'; did you mean on-call?",
    ),
    TrialText.SUMMARY: ({}, "this is a test notice; nothing is wrong"),
    WebText.NEEDS_EXTRA: (
        {"command": 'pip install "textual-serve>=1.1.3" "aiohttp>=3.10"'},
        '--web needs a web server: pip install "textual-serve>=1.1.3" "aiohttp>=3.10"',
    ),
    WebText.LIMIT: ({"count": 8}, "the limit of 8 connected browsers is reached; close one and try again\n"),
    QuestionText.IS_QUEUE: ({}, "Is this table a queue, with one row per message?"),
    QuestionText.ID: ({}, "Which column contains the id of a message?"),
    QuestionText.QUEUE: ({}, "Which column contains the name of the queue, if the table has several?"),
    QuestionText.STATE: ({}, "Which column contains the state of a message?"),
    QuestionText.DUE_AT: ({}, "Which column contains the time when a message is due?"),
    QuestionText.STARTED_AT: ({}, "Which column contains the time when a message was popped?"),
    QuestionText.UNIT: ({}, "What is the unit of these numbers?"),
    QuestionText.ZONE: (
        {"columns": "created_at", "no_answer": "-"},
        "Time zone of created_at: utc, local (the server's), or a name such as Europe/Berlin? - if unknown",
    ),
    QuestionText.VALUES: ({"column": "step"}, "Which values does step have? Separate them with commas."),
    QuestionText.MEANS: ({"column": "step", "value": "halt"}, "step = halt means"),
    BenchStartText.LEFTOVER: (
        {"schema": "qmon_bench_7"},
        "qmon: an interrupted bench left the unused schema qmon_bench_7; drop this schema",
    ),
    BenchStartText.SCHEMA: (
        {"schema": "qmon_bench_7", "target": "shop"},
        "qmon: creates the schema qmon_bench_7 in shop, works only in this schema, and drops it at the end",
    ),
    BenchStartText.LOADS: (
        {"count": 16, "duration": "20 s", "producers": 4, "consumers": 4, "designs": "naive, ring"},
        "  16 runs of 20 s with 4 producers and 4 consumers, as fast as the server lets them: naive, ring",
    ),
    BenchStartText.DEQUEUES: (
        {"count": 6, "messages": 100000, "megabytes": 1200},
        "  6 queues of 100,000 messages, emptied in batches: each queue temporarily needs 1,200 MB",
    ),
    BenchStartText.LENGTH: ({"duration": "12 m 00 s"}, "  about 12 m 00 s; Ctrl-C ends the bench and cleans up"),
    BenchStartText.CONFIRM: ({"target": "shop"}, "shop is marked prod. Run the bench at full load?"),
    BenchStartText.NO_CSV: ({}, "qmon: CSV does not contain the batch dequeues; use --output json"),
    BenchLineText.DEQUEUE: (
        {"design": "batch_single", "batch": 100, "buffers": "340", "payload": "120", "duration": "1.2 ms"},
        "batch_single, dequeue of 100: 340 buffers a batch (120 of payloads), 1.2 ms",
    ),
    BenchLineText.LOAD: (
        {
            "design": "ring",
            "batch": 10,
            "held": ", a transaction held open",
            "cycles": 12345.6,
            "push": "0.4/1.2",
            "pop": "0.5/1.5",
        },
        "ring, 10 at a time, a transaction held open: 12,346 cycles/s, push 0.4/1.2, pop 0.5/1.5 ms (p50/p99)",
    ),
    BenchLineText.HELD: ({}, ", a transaction held open"),
    BenchLineText.TRANSACTION_HELD: ({}, "with a transaction held open"),
    BenchLineText.HEALTHY: ({}, "healthy"),
    BenchLineText.ONE_MESSAGE: ({}, "1 message"),
    BenchLineText.MESSAGES: ({"count": 10}, "10 messages"),
    BenchLineText.HEADING: (
        {"messages": "10 messages", "condition": "healthy", "producers": 4, "consumers": 4},
        "10 messages at a time, healthy: 4 producers, 4 consumers",
    ),
    BenchLineText.WITHOUT_BATCHES: (
        {"designs": "naive, fifo"},
        "These designs have no batches and were measured with single messages: naive, fifo",
    ),
    BenchLineText.BUFFERS: (
        {"messages": 100000},
        "Buffers read per batch, without other sessions, until a queue of 100,000 messages is empty",
    ),
    BenchLineText.SERVER: (
        {"engine": "PostgreSQL", "version": "18.6", "settings": "shared_buffers 128MB"},
        "PostgreSQL 18.6; shared_buffers 128MB",
    ),
    BenchLineText.CONDITIONS: (
        {"size": 200, "slots": 10000, "ahead": 2000, "loops": 123456.7},
        "messages of 200 bytes, ring of 10,000 slots, producers at most about 2,000 messages ahead; times are "
        "measured by the server and include the commit; for comparison, an empty loop in as many sessions makes "
        "123,457 rounds per second",
    ),
    BenchLineText.CLOCK_STEP: (
        {"step": "1.0 ms"},
        "the server's clock has steps of 1.0 ms: qmon cannot distinguish shorter times",
    ),
    BenchLineText.FAILED: ({"count": 3, "error": "deadlock detected"}, " 3 failed: deadlock detected"),
    BenchLineText.COUNTERS: (
        {},
        "Server counters per 1,000 cycles; transactions, lock timeouts and batches are per second",
    ),
    ExaminationText.CONNECTED: (
        {"target": "shop", "engine": "postgres", "version": "18.6", "session": 61},
        "shop: postgres 18.6, connected as session 61",
    ),
    ExaminationText.POOLED: (
        {},
        "connected through a pooler in session mode: qmon sets its settings in each transaction",
    ),
    ExaminationText.FEW_CONNECTIONS: (
        {"count": 1, "most": 4, "uses": "exact counts; waits"},
        "1 of 4 connections are available; more connections would allow: exact counts; waits",
    ),
    ExaminationText.POLLERS_UNSEEN: (
        {},
        "your role cannot see other qmons that poll this target, so this qmon uses the whole cost budget",
    ),
    ExaminationText.POLLERS: (
        {"count": 3, "budget": "1 %", "share": "0.33 %"},
        "3 qmons poll this target and share the cost budget of 1 %: each qmon uses at most 0.33 %",
    ),
    ExaminationText.GRANT: ({"grant": "GRANT pg_monitor TO app"}, "this would help: GRANT pg_monitor TO app"),
    ExaminationText.INDEX: (
        {"figure": "oldest", "queue": "orders", "index": "CREATE INDEX CONCURRENTLY ON orders (due_at)"},
        "this index would make oldest of orders exact and cheap: CREATE INDEX CONCURRENTLY ON orders (due_at)",
    ),
    ExaminationText.PARTITIONED: (
        {},
        "creating an index on a partitioned table blocks writers; for a large table, create the index ON ONLY "
        "the table, then CONCURRENTLY on each partition, and attach the indexes of the partitions",
    ),
    ExaminationText.ONLINE: (
        {},
        "to create an index without blocking, append WITH (ONLINE = ON) (Enterprise or Developer Edition, or "
        "Azure SQL)",
    ),
    BundleFileText.README: (
        {"files": "qmon.log: the log\n"},
        "Archive for a bug report of qmon. Review it before you send it.\n\nqmon.log: the log\n",
    ),
    BundleFileText.VERSIONS: ({}, "versions of qmon, Python, its packages, the ODBC drivers and the server"),
    BundleFileText.CONFIG: ({}, "qmon.toml as qmon read it, without passwords, redact patterns and command arguments"),
    BundleFileText.DOCTOR: ({}, "output of qmon doctor: probes with their times or problems, and rights"),
    BundleFileText.SNAPSHOT: ({}, "one poll as recorded, without payloads; statements are cut at their first literal"),
    BundleFileText.LOG: ({}, "the log; older files have a number"),
    DoctorText.LAKE: (
        {"lake": "/var/lake", "age": "2 m 05 s"},
        "/var/lake: the pipeline read the recordings 2 m 05 s ago",
    ),
    DoctorText.LAKE_LATE: (
        {"lake": "/var/lake", "age": "40 d 00 h", "path": "/var/qmon/.lake-7.json"},
        "/var/lake: the pipeline read the recordings 40 d 00 h ago; if this lake is not used any more, delete "
        "/var/qmon/.lake-7.json",
    ),
    ListingText.QUEUES: ({"count": 12}, "12 queues"),
    ListingText.LOST: ({"reason": "there is no table orders"}, "cannot be watched: there is no table orders"),
    ListingText.BY_SHAPE: ({"confidence": "likely"}, "likely, by shape"),
    ListingText.NO_TABLE: (
        {},
        "no table looks like a queue; add your queue to qmon.toml, or install one: qmon design install",
    ),
    ListingText.GUESSES: ({}, "queues found by shape are guesses; to confirm the guesses: qmon init TARGET"),
    ListingText.BY_COLUMN: ({"column": "name"}, "a queue for each value of `name`"),
    ListingText.RECOGNIZED: ({}, "its tables were recognized"),
    ListingText.KEPT: ({"path": "/etc/qmon.toml.bak"}, "qmon kept the previous file as /etc/qmon.toml.bak"),
    ListingText.WRITTEN: (
        {"path": "/etc/qmon.toml", "step": "review the file, then: qmon connect shop"},
        "written to /etc/qmon.toml; review the file, then: qmon connect shop",
    ),
    ListingText.REVIEW: ({"target": "shop"}, "review the file, then: qmon connect shop"),
    ListingText.COMPLETE: (
        {},
        "no queue yet; complete the tables in the comments, or answer the questions of qmon init on a terminal",
    ),
    ListingText.NOT_FOUND: ({}, "no queue was found; describe your queue in the file: qmon help configuration"),
    StatusText.NO_QUEUE_KNOWN: ({}, "no queue is known; qmon queues lists tables that look like queues"),
    StatusText.QUEUES: ({"count": 12}, "12 queues"),
    StatusText.SENDING: ({}, "sent but not yet delivered"),
    SetupText.FOR_A_USER: (
        {"role": "qmon_monitor"},
        "to grant the role to a database user: ALTER ROLE qmon_monitor ADD MEMBER [user]",
    ),
    SetupText.FOR_A_LOGIN: (
        {},
        "to end sessions, also grant the role to the login: ALTER SERVER ROLE qmon_operator ADD MEMBER [login]",
    ),
    SetupText.FOR_A_ROLE: (
        {"role": "qmon_monitor"},
        "to grant the role to a login role: GRANT qmon_monitor TO their_role",
    ),
    SetupText.LEFT_OUT: (
        {"queue": "orders", "reason": "there is no table orders"},
        "qmon: left out: orders: there is no table orders",
    ),
    SetupText.TO_DO: ({"step": "create the role qmon_monitor"}, "to do     create the role qmon_monitor"),
    SetupText.DONE: ({"step": "create the role qmon_monitor"}, "done      create the role qmon_monitor"),
    PromptText.NONE_KNOWN: (
        {"path": "/etc/qmon.toml"},
        "No target is configured in /etc/qmon.toml, and the driver manager knows no DSN.",
    ),
    PromptText.URLS: ({"examples": "postgresql://user@host/database"}, "\nA URL: postgresql://user@host/database"),
    PromptText.HINT: ({}, "Leave out the password; qmon asks for it. `qmon demo` shows demo queues.\n"),
    PromptText.QUESTION: ({}, "Number, name or URL"),
    PromptText.DRIVERS: ({"drivers": "psqlODBC, FreeTDS"}, "\nODBC drivers: psqlODBC, FreeTDS"),
    PromptText.NO_DRIVERS: ({}, "the driver manager lists none"),
    PromptText.NO_ANSWER: ({"target": "shop", "duration": "10 s"}, "shop: no answer within 10 s"),
    ReplayText.EXPORTED: (
        {
            "snapshots": 1200,
            "first": "2026-11-21 14:00",
            "last": "2026-11-21 14:20",
            "size": "1.2 MB",
            "file": "incident.qmon",
        },
        "qmon: 1,200 snapshots, 2026-11-21 14:00 to 2026-11-21 14:20, 1.2 MB in incident.qmon",
    ),
    IncidentText.WRITTEN: (
        {"queues": 1200, "events": 3400, "path": "incident.md"},
        "qmon: 1,200 queues, 3,400 events in incident.md",
    ),
    ServeOptionText.SERVES: (
        {"places": "serving http://127.0.0.1:9777/metrics"},
        "qmon: serving http://127.0.0.1:9777/metrics",
    ),
    ServeOptionText.SERVES_AND_RECORDS: (
        {"places": "serving http://127.0.0.1:9777/metrics", "folder": "/var/lib/qmon"},
        "qmon: serving http://127.0.0.1:9777/metrics, recording to /var/lib/qmon",
    ),
    ServeOptionText.RECORDING_STOPPED: ({}, "qmon: recording has stopped for all targets; metrics continue"),
    DesignText.NOT_GRANTED: (
        {"step": "create the role qmon_monitor", "problem": "permission denied"},
        "qmon: not done: create the role qmon_monitor: permission denied",
    ),
    DesignText.CONFIRM: (
        {"target": "shop", "queues": "orders, mails"},
        "shop: remove orders, mails and all messages? This cannot be undone",
    ),
    DesignText.REMOVED: ({"queue": "orders", "count": 12}, "orders: 12 objects removed"),
    LoadResultText.PROGRESS: (
        {
            "elapsed": "20 s",
            "length": "1 m 00 s",
            "push_rate": 1200.0,
            "pop_rate": 1100.0,
            "ready": 1200.0,
            "connected": 8,
        },
        "20 s of 1 m 00 s   push 1,200/s   pop 1,100/s   ready 1,200   connected 8",
    ),
    LoadResultText.RESULT: (
        {
            "queue": "orders",
            "pushed": 1200,
            "push_rate": 1200.0,
            "popped": 1100,
            "pop_rate": 1100.0,
            "completed": 1000,
            "ready": 1200.0,
        },
        "orders: pushed 1,200 (1,200.0/s), popped 1,100 (1,100.0/s), completed 1,000, ready at the end 1,200",
    ),
    LoadResultText.FAILED: ({"count": 1200}, "1,200 statements or connections failed"),
    LoadResultText.NOTHING_PUSHED: ({"queue": "orders"}, "qmon: orders: nothing was pushed"),
    ArchiveResultText.PROGRESS: (
        {
            "queue": "orders",
            "messages": 1200,
            "rate": 1200.0,
            "batch": 1200,
            "pause": "100 ms",
            "held_up": "waits for a lock",
        },
        "orders: archived 1,200   1,200/s   batches of 1,200, 100 ms between   waits for a lock",
    ),
    MessagesText.COPIED: (
        {"queue": "orders", "messages": 1200, "number": 1200, "awaited": ""},
        "orders: copied 1,200 messages, up to number 1,200",
    ),
    MessagesText.AWAITED: ({"count": 1200}, "; messages with 1,200 lower numbers may still come"),
    ForgetOptionText.CONFIRM: ({"lake": "/var/lake"}, "Delete these rows from /var/lake? This cannot be undone"),
    ForgetOptionText.DELETED: ({"rows": "1,200 rows"}, "deleted 1,200 rows"),
    ForgetOptionText.DELETED_MARKS: (
        {"folder": "/var/lib/qmon", "files": "2 marker files"},
        "/var/lib/qmon: deleted 2 marker files of this lake",
    ),
    PipelineResultText.BATCH: (
        {"number": 1200, "counts": "1 sample of 1 segment"},
        "batch 1200: 1 sample of 1 segment so far",
    ),
    PipelineResultText.LAKE: (
        {"days": "7 days", "counts": "1 sample of 1 segment"},
        "the lake has 7 days: 1 sample of 1 segment",
    ),
    PipelineResultText.COUNTS: (
        {
            "samples": "1,200 samples",
            "segments": "12 segments",
            "duplicates": "0 duplicates",
            "bad_lines": "1 bad line",
        },
        "1,200 samples of 12 segments, 0 duplicates left out, 1 bad line",
    ),
    PipelineResultText.BAD_LINES: ({}, "the table bad of the lake contains each bad line with its file and the reason"),
    PipelineResultText.FUTURE_DAYS: (
        {"target": "shop", "day": datetime.date(2026, 12, 24)},
        "shop: qmon ignored days in the future, up to 2026-12-24; check the clock of the target's recorder",
    ),
    PipelineResultText.BASELINE_REMOVED: (
        {"target": "shop", "weeks": 8},
        "shop: baseline removed, because the last 8 weeks do not have enough data",
    ),
    PipelineResultText.ZONE: (
        {"target": "shop", "zone": "Europe/Berlin", "source": "from --zone"},
        "shop: hours of the week in Europe/Berlin (from --zone)",
    ),
    PipelineResultText.ZONE_OPTION: ({}, "from --zone"),
    PipelineResultText.ZONE_OF_RECORDER: ({}, "from the target's recorder; to change the zone, use --zone"),
    PipelineResultText.NO_HISTORY: (
        {"file": "the file is empty"},
        "not enough history: no hour of the week was recorded four times; the file is empty",
    ),
    PipelineResultText.FILE_KEPT: ({}, "qmon keeps the existing file; delete the file if it is wrong"),
    PipelineResultText.FILE_EMPTY: ({}, "the file is empty"),
    PipelineResultText.BASELINES: (
        {"hours": "168 hours", "queues": "12 queues"},
        "wrote baselines for 168 hours of the week of 12 queues",
    ),
    RunText.BATCHES: ({"size": 1000}, "batches of 1,000"),
    RunText.ONE_STEP: ({}, "one step"),
    RunText.ATTEMPTS: ({"count": 3}, "attempts 3"),
    RunText.ERROR: ({"error": "deadlock detected"}, "error: deadlock detected"),
    RunText.RESULT: (
        {
            "queue": "orders",
            "action": "requeue",
            "state": "done",
            "duration": "1.2 s",
            "counts": "done 1,200, skipped 3, changed 2",
            "operation": "; operation 261121-071402-k7qd",
        },
        "orders: requeue done in 1.2 s: done 1,200, skipped 3, changed 2; operation 261121-071402-k7qd",
    ),
    RunText.COUNTS: ({"done": 1200, "skipped": 3, "changed": 2}, "done 1,200, skipped 3, changed 2"),
    RunText.REFUSED_COUNT: ({"count": 1200}, ", refused 1,200"),
    RunText.OPERATION: ({"operation": "261121-071402-k7qd"}, "; operation 261121-071402-k7qd"),
    ApiText.WHICH_QUEUE: ({"known": "known: orders, mails"}, "which queue? known: orders, mails"),
    ApiText.NO_QUEUE_KNOWN: ({}, "no queue is known here"),
    ApiText.NO_QUEUE: (
        {"queue": "orders", "nearest": "; did you mean orders?"},
        "there is no queue 'orders' here; did you mean orders?",
    ),
    LibraryPageText.TITLE: ({"library": "River", "engine": "PostgreSQL"}, "River on PostgreSQL"),
    LibraryPageText.DOCUMENTATION: (
        {"url": "https://riverqueue.com/docs"},
        "  documentation  https://riverqueue.com/docs",
    ),
    LibraryPageText.TESTED: ({"version": "0.14"}, "  tested with    0.14"),
    LibraryPageText.PREFIX: ({"prefixes": "river_ or none"}, "  table prefix   river_ or none"),
    LibraryPageText.RECOGNIZED: (
        {"table": "river_job", "columns": "id bigint, state text"},
        "  recognized by  river_job: id bigint, state text",
    ),
    LibraryPageText.RECOGNIZED_BY_COLUMNS: (
        {"columns": "id bigint, state text"},
        "  recognized by  the columns of any table: id bigint, state text",
    ),
    LibraryPageText.OTHERS: ({"tables": "river_leader, river_queue"}, "  not queues     river_leader, river_queue"),
    LibraryPageText.ACTIONS: ({"actions": "purge, pause consumers"}, "  actions        purge, pause consumers"),
    LibraryPageText.NO_ACTIONS: ({}, "none, qmon only watches it"),
    LibraryPageText.MESSAGES_OF_SUCH: (
        {"columns": "id bigint, state text"},
        "  messages       rows of such a table, identified by id bigint, state text",
    ),
    LibraryPageText.MESSAGES: (
        {"table": "river_job", "column": "queue"},
        "  messages       rows of river_job, identified by queue",
    ),
    LibraryPageText.LIKE_DESIGN: (
        {"design": "fifo", "essence": "ordered by identity"},
        "  queues         one per table, like the design fifo: ordered by identity",
    ),
    LibraryPageText.ONE_PER_TABLE: ({}, "  queues         one per table"),
    LibraryPageText.BY_COLUMN: ({"column": "queue"}, "  queues         by queue"),
    LibraryPageText.DELETED: ({}, "    in_progress: rows deleted by an open transaction"),
    LibraryPageText.ALL_OTHERS: ({}, "    ready: all other rows"),
    LibraryPageText.DUE: (
        {"column": "queue"},
        "    ready: all other rows that are due by queue; rows due later are scheduled",
    ),
    LibraryPageText.STATE: (
        {
            "state": "retryable",
            "kind": " (scheduled)",
            "condition": "state is running",
            "since": "; since attempted_at",
        },
        "    retryable (scheduled): state is running; since attempted_at",
    ),
    LibraryPageText.SINCE: ({"column": "queue"}, "; since queue"),
    LibraryPageText.IN_PROGRESS_FOR: ({"duration": "1h"}, "in progress for 1h"),
    LibraryPageText.STUCK: ({"condition": "state is running"}, "  stuck          state is running"),
    LibraryPageText.DEAD_WORKER: ({"condition": "state is running"}, "  dead worker    state is running"),
    LibraryPageText.WORKER: ({"column": "queue"}, "  worker         queue"),
    LibraryPageText.LIVE_WORKERS: (
        {"table": "river_job", "condition": "state is running"},
        "  live workers   river_job: state is running",
    ),
    LibraryPageText.STEP: (
        {"step": "push", "table": "river_job", "at": ", by the time created_at", "condition": ": state is running"},
        "  push           a row of river_job, by the time created_at: state is running",
    ),
    LibraryPageText.AT: ({"column": "queue"}, ", by the time queue"),
    LibraryPageText.CONDITION: ({"condition": "state is running"}, ": state is running"),
    LibraryPageText.SERVER_RATES: ({}, "  rates          the server's counters of the table"),
    LibraryPageText.SERVER_RATES_OF_ONE: (
        {},
        "  rates          the server's counters of the table, if it contains only one queue",
    ),
    LibraryPageText.NO_RATES: ({}, "  rates          none, because the tables do not record pushes and pops"),
    LibraryPageText.TIMES: ({"zone": "with a zone, or UTC"}, "  times          with a zone, or UTC"),
    LibraryPageText.ANY_ZONE: ({}, "with a zone, or UTC"),
    LibraryVerb.REQUEUE_STUCK: ({}, "requeue stuck messages"),
    LibraryVerb.REQUEUE_DEAD: ({}, "requeue dead messages"),
    LibraryVerb.REQUEUE: ({}, "requeue"),
    LibraryVerb.PURGE: ({}, "purge"),
    LibraryVerb.PAUSE: ({}, "pause consumers"),
    LibraryVerb.RESUME: ({}, "resume consumers"),
    LibraryVerb.GATE: ({}, "pause producers with a gate"),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
