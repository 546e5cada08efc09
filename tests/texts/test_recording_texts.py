"""The wording of errors about recordings and baselines."""

from __future__ import annotations

from typing import Any, Final

from qmon.recording.figure_rows.segment_lines import BadLineText
from qmon.recording.format.codec import CodecText
from qmon.recording.format.frames import FrameText
from qmon.recording.format.records import RecordText
from qmon.recording.history.baselines_reader import BaselinesText
from qmon.recording.history.incident_markdown import IncidentNoteText
from qmon.recording.history.range_query import RangeText
from qmon.recording.read.recording_paths import PathText
from qmon.recording.read.recording_reader import ReaderText
from qmon.recording.segment_export import ExportText
from qmon.recording.times import TimeText
from qmon.recording.write.recorder import RecorderText
from qmon.recording.write.retention import SizeText
from qmon.recording.write.segment_writer import WriterText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    CodecText.NOT_VALID: (
        {"kind": "Snapshot", "problem": "Object missing required field `sampled_at`"},
        "not a valid Snapshot: Object missing required field `sampled_at`",
    ),
    FrameText.TOO_LARGE: ({"megabytes": 256}, "a frame decompresses to more than 256 MB"),
    FrameText.UNREADABLE: (
        {"problem": "zstd decompressor error: Data corruption detected"},
        "unreadable from here on: zstd decompressor error: Data corruption detected",
    ),
    FrameText.CUT_OFF: ({}, "the file ends in the middle of a frame"),
    FrameText.LONG_LINE: ({"megabytes": 64}, "a line of more than 64 MB"),
    FrameText.NESTED: ({}, "nested too deep"),
    FrameText.LONG_NUMBER: ({"digits": "10000000000000000000"}, "the number 10000000000000000000… is too large"),
    FrameText.LARGE_NUMBER: ({"digits": "1e999"}, "the number 1e999 is too large"),
    RecordText.TOO_LONG: ({"megabytes": 64}, "it is longer than 64 MB"),
    RecordText.NO_KEY: ({"key": "k"}, "it has no k"),
    RecordText.NO_NUMBER_OR_TIME: ({}, "its number or its time is invalid"),
    RecordText.NOT_A_LINE: ({"problem": "it has no k"}, "not a line of a recording: it has no k"),
    BaselinesText.NO_FILE: (
        {"path": "/etc/qmon/baselines.json"},
        "/etc/qmon/baselines.json: no such file; create it with: qmon pipeline baselines",
    ),
    BaselinesText.UNREADABLE: (
        {"path": "/etc/qmon/baselines.json", "problem": "Permission denied"},
        "/etc/qmon/baselines.json: cannot be read: Permission denied",
    ),
    BaselinesText.NOT_JSON: (
        {"path": "/etc/qmon/baselines.json"},
        "/etc/qmon/baselines.json: is damaged; write it again with: qmon pipeline baselines",
    ),
    BaselinesText.FOREIGN: (
        {"path": "/etc/qmon/baselines.json"},
        "/etc/qmon/baselines.json: was not written by qmon pipeline baselines",
    ),
    BaselinesText.NEWER: (
        {"path": "/etc/qmon/baselines.json", "version": 3},
        "/etc/qmon/baselines.json: was written by a newer qmon (file version 3); upgrade qmon",
    ),
    BaselinesText.WRONG_FIELD: ({}, "a field is missing or has the wrong type"),
    BaselinesText.DAMAGED: (
        {"path": "/etc/qmon/baselines.json", "why": "the hour of the week must be 0 to 167, not 168"},
        "/etc/qmon/baselines.json: is damaged (the hour of the week must be 0 to 167, not 168); "
        "write it again with: qmon pipeline baselines",
    ),
    BaselinesText.NO_ZONE: ({"name": "Mars/Base"}, "unknown time zone 'Mars/Base'"),
    BaselinesText.NO_HOUR: ({"last": 167, "hour": 168}, "the hour of the week must be 0 to 167, not 168"),
    BaselinesText.INFINITE: ({}, "a value is infinite or not a number"),
    RangeText.DAMAGE: (
        {"file": "a.qmonrec", "problem": "the file ends in the middle of a frame"},
        "a.qmonrec: the file ends in the middle of a frame",
    ),
    RangeText.UNEVEN_POLL: ({}, "a poll does not have one figure for each queue"),
    PathText.BAD_NAME: (
        {},
        "cannot record: the target's name is empty or too long; give the target a shorter name in qmon.toml",
    ),
    ReaderText.EMPTY: ({}, "the recording is empty"),
    ReaderText.ONE_PART: ({}, "1 damaged part"),
    ReaderText.PARTS: ({"count": 2}, "2 damaged parts"),
    ReaderText.SKIPPED: (
        {"parts": "2 damaged parts", "file": "a.qmonrec", "problem": "the file ends in the middle of a frame"},
        "skipped 2 damaged parts; a.qmonrec: the file ends in the middle of a frame",
    ),
    ReaderText.SEVERAL_TARGETS: (
        {"path": "/var/lib/qmon", "targets": "shop, crm"},
        "/var/lib/qmon has recordings of several targets; choose one with --target: shop, crm",
    ),
    ReaderText.NO_SUCH_TARGET: (
        {"path": "/var/lib/qmon", "target": "shp", "targets": "shop, crm"},
        "/var/lib/qmon has no recording of 'shp'; it has: shop, crm",
    ),
    ReaderText.UNREADABLE: (
        {"path": "/var/lib/qmon", "problem": "Permission denied"},
        "cannot read /var/lib/qmon: Permission denied",
    ),
    ReaderText.NO_RECORDING: ({"path": "/var/lib/qmon"}, "/var/lib/qmon has no recording"),
    ExportText.EMPTY_RANGE: ({}, "--from must be before --to; nothing was written"),
    ExportText.EXISTS: ({"path": "shop.qmonrec"}, "shop.qmonrec already exists; nothing was written"),
    ExportText.UNWRITABLE: (
        {"path": "shop.qmonrec", "reason": "Permission denied"},
        "cannot write shop.qmonrec: Permission denied",
    ),
    ExportText.NOTHING_RECORDED: ({}, "nothing was recorded between --from and --to; nothing was written"),
    TimeText.EXAMPLES: ({}, "write 14:03, 14:03:20, 2026-11-21 14:03, or -10m"),
    TimeText.NOT_A_TIME: (
        {"text": "noon", "examples": "write 14:03, 14:03:20, 2026-11-21 14:03, or -10m"},
        "'noon' is not a time: write 14:03, 14:03:20, 2026-11-21 14:03, or -10m",
    ),
    RecorderText.SLOW_DISK: ({}, "the disk is too slow"),
    RecorderText.ITS_FILE: ({}, "its file"),
    RecorderText.STOPPED: (
        {"snapshots": "1,204 snapshots", "problem": "the disk is too slow"},
        "recording stopped after 1,204 snapshots: the disk is too slow",
    ),
    RecorderText.OTHER_FOLDER: (
        {"problem": "cannot write the recording to /var/lib/qmon: Permission denied"},
        "cannot write the recording to /var/lib/qmon: Permission denied; choose another folder",
    ),
    SizeText.NOT_A_SIZE: ({"text": "big"}, "'big' is not a size; write 500MB, 5GB or 2GiB"),
    SizeText.TOO_LARGE: ({"text": "9999999TB"}, "'9999999TB' is larger than any disk"),
    WriterText.UNWRITABLE: (
        {"folder": "/var/lib/qmon", "problem": "Permission denied"},
        "cannot write the recording to /var/lib/qmon: Permission denied",
    ),
    BadLineText.NOT_A_LINE: ({}, "not a line of a recording"),
    BadLineText.EMPTY: ({}, "the file is empty"),
    BadLineText.AT_BYTE: ({"byte": 1200, "problem": "unknown frame"}, "byte 1200: unknown frame"),
    BadLineText.CUT: ({"byte": 1200}, "byte 1200: the file ends in the middle of this frame"),
    BadLineText.NOT_READABLE: ({}, "not JSON, or a value has the wrong type"),
    BadLineText.NEWER: ({"version": 2}, "written by a newer qmon, format 2"),
    BadLineText.INCOMPLETE: ({}, "the recorder, the number or the time is missing"),
    BadLineText.WRONG_CLOCK: ({}, "the server's clock is more than one day away from the clock of the recorder"),
    BadLineText.UNEVEN: ({}, "the line does not have one figure for each queue"),
    BadLineText.NO_TARGET: ({}, "the target is unknown: neither the session line nor the folder has its name"),
    IncidentNoteText.TITLE: ({"target": "shop"}, "# Incident on shop"),
    IncidentNoteText.TIME: (
        {"start": "2026-11-21 14:00:00 UTC", "end": "2026-11-21 14:20:00 UTC", "duration": "20 m 00 s"},
        "- Time: 2026-11-21 14:00:00 UTC to 2026-11-21 14:20:00 UTC (20 m 00 s)",
    ),
    IncidentNoteText.QUEUES: ({"queues": "orders, mails"}, "- Affected queues: orders, mails"),
    IncidentNoteText.NO_QUEUES: ({}, "none"),
    IncidentNoteText.MORE_QUEUES: ({"queues": "orders, mails", "count": 1200}, "orders, mails, and 1,200 more"),
    IncidentNoteText.WRITTEN_BY: ({}, "- Written by qmon"),
    IncidentNoteText.WHAT_WAS_WRONG: ({}, "## What was wrong"),
    IncidentNoteText.NO_WARNING: ({}, "qmon raised no warning in this time."),
    IncidentNoteText.WHAT_WAS_DONE: ({}, "## What was done"),
    IncidentNoteText.EVENTS: ({}, "## Events"),
    IncidentNoteText.EVENT_COLUMNS: ({}, "| time | queue | event | details |"),
    IncidentNoteText.NO_EVENTS: ({}, "No events are known in this time."),
    IncidentNoteText.OPEN_QUESTIONS: ({}, "## Open questions"),
    IncidentNoteText.QUESTION: (
        {"question": "mails: no pops ended at 14:10 without an action in qmon. What ended it?"},
        "- [ ] mails: no pops ended at 14:10 without an action in qmon. What ended it?",
    ),
    IncidentNoteText.ROOT_CAUSE: ({}, "- [ ] Root cause:"),
    IncidentNoteText.FOLLOW_UP: ({}, "- [ ] Follow-up:"),
    IncidentNoteText.INCIDENT: (
        {
            "cause": "no pops",
            "severity": "critical",
            "start": "14:00",
            "end": "14:20",
            "duration": "20 m 00 s",
            "proof": "12 ready",
        },
        "- **no pops** (critical), 14:00 to 14:20, 20 m 00 s. Proof: 12 ready",
    ),
    IncidentNoteText.FIGURE_COLUMNS: ({}, "| figure | first | least | most | last | over time |"),
    IncidentNoteText.NO_FIGURES: ({}, "No figures are known in this time."),
    IncidentNoteText.NO_OPERATIONS: ({}, "No action is known in this time."),
    IncidentNoteText.OPERATION_COLUMNS: ({}, "| time | action | queue | by | result | reason |"),
    IncidentNoteText.RESULT: ({"state": "done", "done": 1200, "planned": 1203}, "done, 1,200 of 1,203"),
    IncidentNoteText.STILL_HOLDS: (
        {"queue": "orders", "about": "no pops", "at": "14:10"},
        "orders: no pops still held at 14:10. What is its cause, and who works on it?",
    ),
    IncidentNoteText.NO_ACTION: (
        {"queue": "orders", "about": "no pops", "at": "14:10"},
        "orders: no pops ended at 14:10 without an action in qmon. What ended it?",
    ),
    IncidentNoteText.NOT_DONE: (
        {"queue": "orders", "about": "no pops"},
        "orders: no pops did not finish. Must it be repeated or undone?",
    ),
    IncidentNoteText.NO_DATA: (
        {"at": "14:10", "about": "no pops"},
        "The connection was lost at 14:10: no pops. What happened until it was back?",
    ),
    IncidentNoteText.DAMAGED: (
        {"about": "2 frames are damaged"},
        "A part of the recording cannot be read (2 frames are damaged). What is missing?",
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
