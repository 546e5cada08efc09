"""The texts of the demo: its server, its progress, and the steps of the tour."""

from __future__ import annotations

from qmon.texts import Text


class DemoServerText(Text):
    """Why the private server of the demo cannot run."""

    NO_ACCOUNT = (
        "PostgreSQL does not run as root, and there is no account {account!r} to use; start qmon as a normal user"
    )
    NAMELESS = "PostgreSQL needs an account with a name, but user id {user} is not in /etc/passwd"
    NO_FOLDER = "the account {account} can enter none of the folders for temporary files; tried {folders}"
    NO_SERVER = "no PostgreSQL server found. Run: {command}"
    NOT_A_BIN_FOLDER = "{folder} is not the bin folder of a PostgreSQL server: it has no {program}"
    CANNOT_RUN = "the account {account} cannot run the programs in {folder}"
    PROGRAM_FAILED = "{program} failed: {output}"
    NO_OUTPUT = "it printed no message"
    NOT_RUNNING = "the embedded server is not running"
    NOT_STARTED = "the embedded server has not been started"
    DID_NOT_START = "the embedded server did not start: {output}"
    NOT_READY = "the embedded server did not become ready within {duration}"
    CANNOT_WATCH = "cannot watch the demo's server: {problem}"
    NO_ANSWER = "no answer"


class DemoProgressText(Text):
    """Lines that the demo prints while it starts."""

    INSTALLING = "PostgreSQL is running; installing the queues"
    UNDER_LOAD = "the queues are under load; faults start and end by themselves"


class TourText(Text):
    """The steps of the tour: the faults, and the keys that fix the faults."""

    TITLE = "TOUR"
    STEP = "TOUR {number} of {count}"
    JUST_STARTED = "the load on the queues has just started"
    FIRST_FOLLOWS = "no fault yet; the first one follows shortly"
    WAIT = "wait until qmon reports it"
    NEXT_FOLLOWS = "the next fault follows"
    FIXED = "✓ fixed; the next fault follows"
    FINISHED = "the tour is finished; from now on faults start and end by themselves"
    QUIT = "press q to quit"
    CRASH = "a consumer of invoices was killed while it processed a message; no other consumer may take the message"
    CRASH_FIX = "select invoices, press r and confirm: qmon makes the message ready again"
    PAUSE = "the producers of prices were paused on purpose; a pause is not a fault, but it is easily forgotten"
    PAUSE_FIX = "select prices, press p and confirm: qmon resumes the producers"
    PAUSE_REASON = "correcting the price list"
    RING_FULL = (
        "a batch pushes to uploads much faster than consumers pop: all slots of the ring are full and producers wait"
    )
    RING_FULL_FIX = "select uploads, press p and confirm: qmon pauses the producers so that consumers can catch up"
    LOCKED = "an idle session holds locks on the first messages of ledger: all consumers wait for this session"
    LOCKED_FIX = "press 4 to see the lock chain, then press E and confirm: qmon ends the head blocker"
    HELD_BACK = (
        "a transaction was left open: dead rows cannot be removed, and every pop has to skip more and more dead rows"
    )
    HELD_BACK_FIX = "press 3 to see which session holds the horizon, then press E and confirm: qmon ends the session"
