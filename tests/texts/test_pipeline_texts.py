"""The wording of errors about lakes, archives and reports."""

from __future__ import annotations

import datetime
from typing import Any, Final

from qmon.pipeline.messages.archive_reader import ArchiveReaderText
from qmon.pipeline.pipeline_texts import IntakeText, LakeText, ReportText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

LAKE: Final = "/var/lib/qmon/lake"
TABLE: Final = f"{LAKE}/samples"

WORDINGS: Final[Wordings] = {
    LakeText.NO_LAKE: (
        {"lake": LAKE},
        "/var/lib/qmon/lake has no lake; create it with: qmon pipeline run --recordings PATH --lake PATH",
    ),
    LakeText.NO_LAKE_TO_CHANGE: ({"lake": LAKE}, "/var/lib/qmon/lake has no lake; nothing was changed"),
    LakeText.EMPTY: ({}, "the lake is empty; fill it with: qmon pipeline run --recordings PATH --lake PATH"),
    LakeText.UNFINISHED_BATCH: (
        {},
        "a batch is being written or was interrupted; let `qmon pipeline run` finish it and try again; nothing was "
        "changed",
    ),
    LakeText.SECOND_WRITER: (
        {"lake": LAKE},
        "another process is writing to the lake /var/lib/qmon/lake; run only one process at a time",
    ),
    LakeText.SECOND_TABLE_WRITER: (
        {"table": TABLE},
        "another process is writing to the table /var/lib/qmon/lake/samples; run only one process at a time",
    ),
    LakeText.FILES_REWRITTEN: (
        {"table": TABLE},
        "files of the table /var/lib/qmon/lake/samples were rewritten by another process",
    ),
    LakeText.MANY_COMMITS: (
        {"table": TABLE},
        "other processes keep committing to the table /var/lib/qmon/lake/samples; try again",
    ),
    LakeText.TIDY_CONFLICT: (
        {"table": TABLE, "problem": "Transaction failed: a concurrent transaction deleted the same data"},
        "another process is writing to the table /var/lib/qmon/lake/samples: Transaction failed: a concurrent "
        "transaction deleted the same data; try again",
    ),
    LakeText.CANNOT_COMMIT: (
        {"table": TABLE, "problem": "No space left on device"},
        "cannot commit to the table /var/lib/qmon/lake/samples: No space left on device",
    ),
    LakeText.CANNOT_MOVE: (
        {"source": f"{LAKE}/_stage/7", "destination": TABLE},
        "cannot move /var/lib/qmon/lake/_stage/7 to /var/lib/qmon/lake/samples",
    ),
    IntakeText.NO_RECORDINGS: (
        {"folder": "/var/lib/qmon/recordings"},
        "the folder /var/lib/qmon/recordings does not exist; record one with: qmon record TARGET --to DIR",
    ),
    IntakeText.BATCH_FAILED: (
        {"cause": "No space left on device"},
        "a batch failed and was not written: No space left on device",
    ),
    IntakeText.DELETED_DAY: (
        {"day": datetime.date(2026, 11, 21)},
        "polls of 2026-11-21 were not added, because this day was deleted from the lake",
    ),
    IntakeText.FILE_DELETED: ({}, "the file was deleted before it was read"),
    IntakeText.NO_MESSAGES_READ: (
        {"queue": "orders", "cause": "the connection was lost"},
        "orders: no messages were read: the connection was lost",
    ),
    IntakeText.OTHER_ARCHIVE: (
        {"queue": "orders", "upto": 120_000},
        "the archive of 'orders' is a different table than in the last run; the lake has the rows up to 120,000; "
        "--anew reads all rows as new rows",
    ),
    IntakeText.RENUMBERED_ARCHIVE: (
        {"queue": "orders", "issued": 1_200, "upto": 120_000},
        "the archive of 'orders' started numbering its rows again: 1,200; the lake has the rows up to 120,000; "
        "--anew reads all rows as new rows",
    ),
    ReportText.NO_FOLDER: (
        {"folder": "/var/lib/qmon/recordings"},
        "the folder /var/lib/qmon/recordings does not exist",
    ),
    ReportText.NO_SUCH_TARGET: (
        {"target": "shp", "targets": "crm, shop"},
        "--zone: the lake has no target 'shp'; it has: crm, shop",
    ),
    ReportText.ALL_IN_FUTURE: ({}, "all days of the lake are in the future; check the clocks of all machines"),
    ReportText.NO_ENVIRONMENT: (
        {"environments": "prod or staging"},
        "no target has the environment prod or staging",
    ),
    ReportText.NO_SUCH_ENVIRONMENT: (
        {"environments": "prod", "known": "staging, test"},
        "no target has the environment prod; the lake has the environments: staging, test",
    ),
    ReportText.EMPTY_PERIOD: ({}, "--from must be before --to, and not in the future"),
    ReportText.NO_DATA: (
        {"first": "2026-11-21", "last": "2026-11-22", "newest": datetime.date(2026, 11, 20)},
        "the lake has no data from 2026-11-21 to 2026-11-22; its newest day is 2026-11-20; choose another period with "
        "--from and --to",
    ),
    ReportText.NO_DATA_FOR: (
        {
            "scope": "the queue 'orders' of shop",
            "first": "2026-11-21",
            "last": "2026-11-22",
            "newest": datetime.date(2026, 11, 20),
        },
        "the lake has no data for the queue 'orders' of shop from 2026-11-21 to 2026-11-22; its newest day is "
        "2026-11-20; choose another period with --from and --to",
    ),
    ArchiveReaderText.NO_ARCHIVE: (
        {"queue": "orders", "design": "fifo"},
        "queue 'orders' has no archive: the design fifo does not keep an archive",
    ),
    ArchiveReaderText.NO_TABLE: (
        {"queue": "orders", "table": "public.orders_archive_log"},
        "queue 'orders': the table public.orders_archive_log does not exist, or your role may not see it",
    ),
    ArchiveReaderText.NOT_NUMBERED: (
        {
            "queue": "orders",
            "statement": 'ALTER TABLE "public"."orders_archive_log" ADD archive_id bigint GENERATED ALWAYS AS IDENTITY '
            "PRIMARY KEY",
        },
        "the archive of 'orders' does not number its rows, so qmon cannot find new rows; run: ALTER TABLE "
        '"public"."orders_archive_log" ADD archive_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    ),
    ArchiveReaderText.NO_MESSAGE_ID: (
        {"queue": "orders"},
        "the archive of 'orders' has no column for the id of a message",
    ),
    ArchiveReaderText.REPLICA: (
        {"queue": "orders"},
        "orders: this server is a replica, which does not show unfinished writes; connect to the primary",
    ),
    ArchiveReaderText.NOT_ALLOWED: (
        {"table": "public.orders_archive_log", "problem": "permission denied for table orders_archive_log"},
        "not allowed to read public.orders_archive_log: permission denied for table orders_archive_log",
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
