"""The wording of errors about files, the operating system, the log and patterns."""

from __future__ import annotations

from typing import Any, Final

from qmon.files import FileText
from qmon.log import LogText
from qmon.redact import RedactText
from qmon.system import SystemText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    FileText.HOME_UNKNOWN: (
        {"path": "~nora/qmon.toml", "user": "~nora"},
        "~nora/qmon.toml: the home folder of ~nora is unknown; write the whole path",
    ),
    FileText.NOT_A_NAME: ({"path": "a\0b"}, "'a\\x00b': this is not a file name"),
    FileText.NO_WORKING_FOLDER: (
        {"reason": "No such file or directory"},
        "the working folder cannot be used (No such file or directory); write the whole path",
    ),
    FileText.EXISTS: ({"path": "/tmp/a.csv"}, "/tmp/a.csv already exists: nothing was written"),
    FileText.UNWRITABLE: (
        {"path": "/etc/a.csv", "reason": "Permission denied"},
        "/etc/a.csv: cannot be written: Permission denied",
    ),
    FileText.INVALID_NAME: ({}, "this is not a valid file name"),
    FileText.OTHER_OWNER: (
        {"path": "/etc/qmon.toml", "user": 1000},
        "/etc/qmon.toml belongs to another user: chown 1000 '/etc/qmon.toml'",
    ),
    FileText.OTHERS_MAY_WRITE: (
        {"path": "/etc/qmon.toml"},
        "others may write to /etc/qmon.toml: chmod go-w '/etc/qmon.toml'",
    ),
    SystemText.TOO_LARGE: (
        {"path": "/etc/qmon.toml", "most_mb": 4},
        "/etc/qmon.toml: is larger than 4 MB; did you mean another file?",
    ),
    SystemText.FROM_CLONE: ({"extra": "web"}, "in a clone of qmon pip install '.[web]'"),
    SystemText.NEEDS_POSIX: (
        {"feature": "qmon demo"},
        "qmon demo needs Linux or macOS; every other command of qmon runs on Windows, too",
    ),
    LogText.NO_LEVEL: (
        {"level": "wraning", "nearest": "; did you mean warning?"},
        "'wraning' is not a log level; did you mean warning?",
    ),
    LogText.DEFECT: (
        {"kind": "ValueError", "problem": "no rows"},
        "unexpected error in qmon: ValueError: no rows; please report it",
    ),
    LogText.DEFECT_WITH_LOG: (
        {
            "defect": "unexpected error in qmon: ValueError: no rows; please report it",
            "log": "/home/nora/.local/state/qmon/qmon.log",
        },
        "unexpected error in qmon: ValueError: no rows; please report it with /home/nora/.local/state/qmon/qmon.log",
    ),
    RedactText.NOT_A_PATTERN: (
        {"pattern": "(", "problem": "missing ), unterminated subpattern at position 0"},
        "'(' is not a regular expression: missing ), unterminated subpattern at position 0",
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
