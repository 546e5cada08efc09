"""The wording of texts about connections, polls and hidden sessions."""

from __future__ import annotations

from typing import Any, Final

from qmon.monitor.background.fragmentation_reader import FragmentationText
from qmon.monitor.background.plan_reader import PlanReaderText
from qmon.monitor.background.scan_counts import ScanText
from qmon.monitor.one_shot import OneShotText
from qmon.monitor.poll.collector import CollectorText
from qmon.monitor.poll.poller import PollerText
from qmon.monitor.poll.withheld_samples import VisibilityText
from qmon.monitor.probe_checks import CheckupText
from qmon.monitor.state.failover_and_plans import FailoverText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    FragmentationText.HEAP: ({}, "not read, because it would read the whole heap"),
    FragmentationText.TOO_LARGE: (
        {"most": "781 MB", "size": "1.2 GB"},
        "not read, because the index is larger than 781 MB (it has 1.2 GB)",
    ),
    PlanReaderText.NO_QUERY_STORE: (
        {},
        "this version has no Query Store, which records plans; SQL Server 2016 and later have it",
    ),
    ScanText.UNSUPPORTED: ({}, "qmon cannot count tables on this server"),
    ScanText.TOO_LONG: (
        {"pages": 1200000, "time": "3 h 20 m"},
        "counting the 1,200,000 pages of the table takes about 3 h 20 m within the cost budget; use the "
        "dashboard, or qmon status with a longer --over; qmon doctor prints an index that avoids the scan",
    ),
    ScanText.COUNTING: ({"percent": 41.6}, "counting, 42 % so far"),
    ScanText.BECAUSE: (
        {"why": "counting, 42 % so far", "reason": "no index finds the due rows, so qmon scans the table"},
        "counting, 42 % so far; no index finds the due rows, so qmon scans the table",
    ),
    CollectorText.TABLE_MOVED: ({}, "its table was renamed or dropped, or your role may no longer read it"),
    CollectorText.NO_ANSWER: ({}, "no answer"),
    CollectorText.SERVER_UNREAD: ({"reason": "no answer"}, "the state of the server cannot be read: no answer"),
    PollerText.READING_CATALOG: (
        {"time": "30 s"},
        "reading the catalog; on a server that has just started this may take 30 s",
    ),
    PollerText.TOOK_LONGER: (
        {"problem": "probe/server: cancelled", "time": "5.0 s"},
        "probe/server: cancelled, because it took longer than 5.0 s",
    ),
    PollerText.NO_ANSWER: ({"time": "2.0 s"}, "no answer for 2.0 s"),
    PollerText.CONNECTING_AGAIN: ({}, "the server does not answer; connecting again"),
    PollerText.CLOSED: ({}, "the poller is closed"),
    PollerText.INTERVAL_RANGE: (
        {"lowest": 0.5, "highest": 60.0, "seconds": 0.1},
        "the poll interval must be 0.5 to 60 seconds, not 0.1",
    ),
    VisibilityText.OWN_SESSIONS_ONLY: (
        {},
        "your role sees only its own sessions: the waits, statements and ages of other sessions are unknown",
    ),
    VisibilityText.UNTRACKED: (
        {"sessions": "1,204 sessions"},
        "track_activities is off in 1,204 sessions: their statements and ages are unknown",
    ),
    OneShotText.NO_ANSWER: ({"target": "shop"}, "shop does not answer"),
    OneShotText.TOO_FEW_POLLS: (
        {"time": "10 s", "finished": 1, "polls": 2},
        "no answer within 10 s: 1 of 2 polls finished",
    ),
    OneShotText.TRYING_AGAIN: (
        {"reason": "the connection was lost: server closed the connection"},
        "the connection was lost: server closed the connection; trying again",
    ),
    FailoverText.PRIMARY: ({"server": "db2"}, "db2 as primary"),
    FailoverText.SECONDARY: ({"server": "db2"}, "db2 as secondary"),
    FailoverText.TIMELINE: ({"timeline": 7}, "timeline 7"),
    CheckupText.POLLS: ({}, "the polls"),
    CheckupText.SLOW_READS: (
        {},
        "exact counts of deep queues, the full search for the oldest message, and reading the catalog "
        "again during polls",
    ),
    CheckupText.WAITS: ({}, "waits over time, on servers that do not count waits"),
    CheckupText.ACTIONS: ({}, "actions while the dashboard is open"),
    CheckupText.NO_BACKGROUND: ({}, "one poll needs no background reader"),
    CheckupText.ROWS_HIDDEN: (
        {
            "why": "row-level security: your role sees only some of the rows",
            "helps": "the table owner and roles with BYPASSRLS see all rows",
        },
        "row-level security: your role sees only some of the rows: all figures from rows are lower "
        "bounds; the table owner and roles with BYPASSRLS see all rows",
    ),
    CheckupText.COLUMN_HIDDEN: (
        {"why": "your role may not read it", "helps": "GRANT SELECT ON public.jobs TO watcher"},
        "your role may not read it: figures that need this column are unknown; GRANT SELECT ON public.jobs TO watcher",
    ),
    CheckupText.UP_TO_DATE: ({}, "up to date"),
    CheckupText.STANDBY: (
        {"delay": "12 s behind"},
        "a standby, 12 s behind: the primary's counters, sequences and sessions are not available, and "
        "actions are not possible",
    ),
    CheckupText.NO_INDEX: ({}, "an index is missing"),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
