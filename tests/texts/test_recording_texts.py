"""The wording of errors about recordings and baselines."""

from __future__ import annotations

from typing import Any, Final

from qmon.model.texts import Text
from qmon.recording.format.codec import CodecText
from qmon.recording.format.frames import FrameText
from qmon.recording.format.records import RecordText
from qmon.recording.history.baselines_reader import BaselinesText
from qmon.recording.history.range_query import RangeText
from qmon.recording.read.recording_paths import PathText
from qmon.recording.read.recording_reader import ReaderText
from qmon.recording.segment_export import ExportText
from qmon.recording.times import TimeText
from qmon.recording.write.recorder import RecorderText
from qmon.recording.write.retention import SizeText
from qmon.recording.write.segment_writer import WriterText
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    CodecText.NOT_VALID: (
        {"kind": "Snapshot", "problem": "the server said no"},
        "not a valid Snapshot: the server said no",
    ),
    FrameText.TOO_LARGE: ({"megabytes": 64}, "a frame decompresses to more than 64 MB"),
    FrameText.UNREADABLE: ({"problem": "the server said no"}, "unreadable from here on: the server said no"),
    FrameText.CUT_OFF: ({}, "the file ends in the middle of a frame"),
    FrameText.LONG_LINE: ({"megabytes": 64}, "a line of more than 64 MB"),
    FrameText.NESTED: ({}, "nested too deep"),
    FrameText.LONG_NUMBER: ({"digits": "10000000000"}, "the number 10000000000… is too large"),
    FrameText.LARGE_NUMBER: ({"digits": "10000000000"}, "the number 10000000000 is too large"),
    RecordText.TOO_LONG: ({"megabytes": 64}, "it is longer than 64 MB"),
    RecordText.NO_KEY: ({"key": "kind"}, "it has no kind"),
    RecordText.NO_NUMBER_OR_TIME: ({}, "its number or its time is invalid"),
    RecordText.NOT_A_LINE: ({"problem": "the server said no"}, "not a line of a recording: the server said no"),
    BaselinesText.NO_FILE: (
        {"path": "/etc/qmon/file"},
        "/etc/qmon/file: no such file; create it with: qmon pipeline baselines",
    ),
    BaselinesText.UNREADABLE: (
        {"path": "/etc/qmon/file", "problem": "the server said no"},
        "/etc/qmon/file: cannot be read: the server said no",
    ),
    BaselinesText.NOT_JSON: (
        {"path": "/etc/qmon/file"},
        "/etc/qmon/file: is damaged; write it again with: qmon pipeline baselines",
    ),
    BaselinesText.FOREIGN: ({"path": "/etc/qmon/file"}, "/etc/qmon/file: was not written by qmon pipeline baselines"),
    BaselinesText.NEWER: (
        {"path": "/etc/qmon/file", "version": 2},
        "/etc/qmon/file: was written by a newer qmon (file version 2); upgrade qmon",
    ),
    BaselinesText.WRONG_FIELD: ({}, "a field is missing or has the wrong type"),
    BaselinesText.DAMAGED: (
        {"path": "/etc/qmon/file", "why": "it is masked"},
        "/etc/qmon/file: is damaged (it is masked); write it again with: qmon pipeline baselines",
    ),
    BaselinesText.NO_ZONE: ({"name": "Mars/Base"}, "unknown time zone 'Mars/Base'"),
    BaselinesText.NO_HOUR: ({"last": 167, "hour": 168}, "the hour of the week must be 0 to 167, not 168"),
    BaselinesText.INFINITE: ({}, "a value is infinite or not a number"),
    RangeText.DAMAGE: ({"file": "a.qmonrec", "problem": "the server said no"}, "a.qmonrec: the server said no"),
    RangeText.UNEVEN_POLL: ({}, "a poll does not have one figure for each queue"),
    PathText.BAD_NAME: (
        {},
        "cannot record: the target's name is empty or too long; give the target a shorter name in qmon.toml",
    ),
    ReaderText.EMPTY: ({}, "the recording is empty"),
    ReaderText.ONE_PART: ({}, "1 damaged part"),
    ReaderText.PARTS: ({"count": 2}, "2 damaged parts"),
    ReaderText.SKIPPED: (
        {"parts": "2 damaged parts", "file": "a.qmonrec", "problem": "the server said no"},
        "skipped 2 damaged parts; a.qmonrec: the server said no",
    ),
    ReaderText.SEVERAL_TARGETS: (
        {"path": "/etc/qmon/file", "targets": "shop, crm"},
        "/etc/qmon/file has recordings of several targets; choose one with --target: shop, crm",
    ),
    ReaderText.NO_SUCH_TARGET: (
        {"path": "/etc/qmon/file", "target": "shop", "targets": "shop, crm"},
        "/etc/qmon/file has no recording of 'shop'; it has: shop, crm",
    ),
    ReaderText.UNREADABLE: (
        {"path": "/etc/qmon/file", "problem": "the server said no"},
        "cannot read /etc/qmon/file: the server said no",
    ),
    ReaderText.NO_RECORDING: ({"path": "/etc/qmon/file"}, "/etc/qmon/file has no recording"),
    ExportText.EMPTY_RANGE: ({}, "--from must be before --to; nothing was written"),
    ExportText.EXISTS: ({"path": "/etc/qmon/file"}, "/etc/qmon/file already exists; nothing was written"),
    ExportText.UNWRITABLE: (
        {"path": "/etc/qmon/file", "reason": "Permission denied"},
        "cannot write /etc/qmon/file: Permission denied",
    ),
    ExportText.NOTHING_RECORDED: ({}, "nothing was recorded between --from and --to; nothing was written"),
    TimeText.EXAMPLES: ({}, "write 14:03, 14:03:20, 2026-11-21 14:03, or -10m"),
    TimeText.NOT_A_TIME: ({"text": "noon", "examples": "write 14:03"}, "'noon' is not a time: write 14:03"),
    RecorderText.SLOW_DISK: ({}, "the disk is too slow"),
    RecorderText.ITS_FILE: ({}, "its file"),
    RecorderText.OTHER_FOLDER: ({"problem": "the server said no"}, "the server said no; choose another folder"),
    SizeText.NOT_A_SIZE: ({"text": "big"}, "'big' is not a size; write 500MB, 5GB or 2GiB"),
    SizeText.TOO_LARGE: ({"text": "9999999TB"}, "'9999999TB' is larger than any disk"),
    WriterText.UNWRITABLE: (
        {"folder": "/var/lib/qmon", "problem": "the server said no"},
        "cannot write the recording to /var/lib/qmon: the server said no",
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
