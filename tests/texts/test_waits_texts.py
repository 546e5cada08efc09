"""The wording of the waits screen."""

from __future__ import annotations

from typing import Any, Final

from qmon.texts import Text
from qmon.tui.waits.horizon_panel import HorizonText, VersionStoreText
from qmon.tui.waits.server_health_dialog import ServerDialogText
from qmon.tui.waits.server_health_panel import HealthText, SettingsText
from qmon.tui.waits.usage_panel import UsageText
from qmon.tui.waits.wait_plot import WaitPlotText
from qmon.tui.waits.waits_panel import WaitsText
from qmon.tui.waits.waits_screen import WaitsScreenText
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    HorizonText.SHORT: ({"holder": "session 84", "duration": "0.4 s"}, "session 84 (0.4 s)"),
    HorizonText.FOR_TIME: ({"holder": "session 61", "duration": "2 h 04 m"}, "session 61 for 2 h 04 m"),
    HorizonText.TIME: ({"duration": "2 h 04 m"}, " for 2 h 04 m"),
    HorizonText.NOT_FOR_LONG: (
        {"holder": "session 84 (0.4 s)"},
        "no session holds the horizon for a long time; the oldest is session 84 (0.4 s)",
    ),
    HorizonText.NO_HOLDER: ({}, "no holder: all dead rows can be removed"),
    HorizonText.NO_HOLDER_OF_VERSIONS: ({}, "no holder: old row versions can be removed"),
    HorizonText.KEEPS_DEAD_ROWS: ({"count": 5361}, "keeps 5,361 dead rows here"),
    HorizonText.KEEPS_VERSIONS: ({}, "keeps row versions"),
    HorizonText.TRANSACTION: ({"xid": 90211, "age": 1204}, "xid 90211, 1,204 transactions ago"),
    HorizonText.NO_DEAD_ROWS: ({}, "no queue has dead rows yet"),
    HorizonText.GAIN: (
        {"count": 6565, "then": "next holder: session 84 (0.4 s)", "key": " · [E] ends the holder"},
        "vacuum can remove up to 6,565 dead rows of the queues; next holder: session 84 (0.4 s) · [E] ends the holder",
    ),
    HorizonText.NEXT_HOLDER: ({"holder": "session 84 (0.4 s)"}, "next holder: session 84 (0.4 s)"),
    HorizonText.NO_NEXT_HOLDER: ({}, "no next holder"),
    HorizonText.NEXT_HOLDER_UNKNOWN: ({}, "your role cannot see the next holder"),
    HorizonText.END_KEY: ({}, " · [E] ends the holder"),
    ServerDialogText.TITLE: ({"target": "shop"}, "server of shop"),
    HealthText.SUBJECT: ({}, "server health"),
    HealthText.READ_UP_TO: ({"age": "14 s"}, "read up to 14 s ago"),
    HealthText.COST_OF: ({"budget": "the budget of 1 %"}, "of the budget of 1 %"),
    HealthText.BUDGET: ({}, "the budget"),
    HealthText.BUDGET_OF: ({"share": "1 %"}, "the budget of 1 %"),
    HealthText.BUDGET_SHARE: ({"share": "0.33 %", "count": 3}, "0.33 % (3 qmons)"),
    HealthText.CLIENT_TIME: ({"duration": "31 ms"}, "31 ms per poll, measured by qmon"),
    HealthText.SERVER_TIME: ({"duration": "31 ms"}, "31 ms of server time per poll"),
    HealthText.BUFFERS: ({"count": "1,204"}, "1,204 buffers"),
    HealthText.CPU_TIME: ({"milliseconds": 3}, "3 ms of CPU time"),
    HealthText.UNKNOWN: ({"why": "permission denied for sysjobs"}, "unknown: permission denied for sysjobs"),
    HealthText.AGO: ({"duration": "5 m 00 s"}, "5 m 00 s ago"),
    HealthText.USED: ({}, "used"),
    HealthText.USED_OF: ({"size": "4.0 GB"}, "of 4.0 GB used"),
    HealthText.OF_MAXIMUM: ({"size": "8.0 GB"}, "of the 8.0 GB maximum"),
    HealthText.NOT_HELD: ({}, "not held"),
    HealthText.BEHIND: ({"duration": "5 m 00 s"}, "5 m 00 s behind"),
    HealthText.NOTHING_UNSENT: ({}, "nothing to send or redo"),
    HealthText.BUFFERS_PER_CALL: ({"plan": " by plan 77"}, "buffers per call by plan 77"),
    HealthText.BUFFERS_BEFORE: ({"plan": " by plan 31"}, "before by plan 31"),
    HealthText.BY_PLAN: ({"plan": "77"}, " by plan 77"),
    HealthText.TIME_BEFORE: ({"duration": "2.0 ms"}, ", 2.0 ms before"),
    HealthText.UNEXPLAINED: ({}, "another plan, or dead rows"),
    SettingsText.ONE_HURTS: ({}, "1 setting hurts a queue [i]"),
    SettingsText.SOME_HURT: ({"count": 4}, "4 settings hurt a queue [i]"),
    SettingsText.HARM: (
        {"setting": "read committed snapshot off", "harm": "reports wait for consumers"},
        "read committed snapshot off: reports wait for consumers",
    ),
    SettingsText.NOT_REPORTED: (
        {"settings": "optimized locking", "why": "this version does not report it"},
        "optimized locking: this version does not report it",
    ),
    UsageText.PER_POP: ({"unit": "rows touched"}, "rows touched per pop"),
    UsageText.BEFORE: ({"count": "1.2"}, ", 1.2 before"),
    UsageText.TITLE: ({}, "tables and indexes"),
    UsageText.TITLE_OF_QUEUE: ({"queue": "orders"}, "tables and indexes of orders"),
    UsageText.NOT_READ: ({}, "not read in this poll"),
    UsageText.FRAGMENTATION_AGE: ({"age": "2 h 04 m"}, "FRAG as of 2 h 04 m ago"),
    UsageText.FRAGMENTATION_UNKNOWN: (
        {"index": "orders_ready_index", "reason": "not read: the index is too large"},
        "orders_ready_index: fragmentation is not read: the index is too large",
    ),
    VersionStoreText.NOT_READ: ({}, "the size of the version store was not read"),
    VersionStoreText.IN_TEMPDB: ({"size": "4.0 MB"}, "4.0 MB in tempdb"),
    VersionStoreText.IN_TEMPDB_FOR_ALL: ({"size": "4.0 MB"}, "4.0 MB in tempdb of all databases"),
    VersionStoreText.IN_DATABASE: ({"size": "4.0 MB"}, "4.0 MB in the database itself"),
    VersionStoreText.GAIN: (
        {"size": "1.2 GB", "then": "next holder: session 84 (0.4 s)", "key": " · [E] ends the holder"},
        "the server can remove up to 1.2 GB of row versions, and ghost rows; next holder: session 84 "
        "(0.4 s) · [E] ends the holder",
    ),
    VersionStoreText.GAIN_OF_UNKNOWN_SIZE: (
        {"then": "next holder: session 84 (0.4 s)", "key": " · [E] ends the holder"},
        "the server can remove old row versions, and ghost rows; next holder: session 84 (0.4 s) · [E] ends the holder",
    ),
    WaitPlotText.ALL_WAITS: ({}, "all waits"),
    WaitPlotText.AVERAGE_OF_ALL: ({}, "average number of sessions that wait or run"),
    WaitPlotText.AVERAGE: ({}, "average number of sessions in this wait"),
    WaitPlotText.AT_MOST: ({"count": 1.2}, "at most 1.20"),
    WaitPlotText.COLUMN: ({"duration": "5 s"}, "one column is 5 s"),
    WaitsText.SUMMARY: (
        {"count": 10.0, "how": "118 samples in 30 s"},
        "10.0 sessions at work on average · 118 samples in 30 s",
    ),
    WaitsText.SAMPLED: ({"count": 118, "duration": "30 s"}, "118 samples in 30 s"),
    WaitsText.COUNTED: ({"duration": "30 s"}, "counted over 30 s"),
    WaitsText.NONE_WAITS: ({}, "no session is waiting or running"),
    WaitsText.NO_WAITS_YET: ({}, "the second poll shows the waits"),
    WaitsText.NO_MEANING: ({}, "no explanation in qmon; see the server's documentation"),
    WaitsText.PER_SECOND: ({}, "per second"),
    WaitsText.BATCHES: ({}, "batches"),
    WaitsText.TRANSACTIONS: ({}, "transactions"),
    WaitsText.PAGE_SPLITS: ({}, "page splits"),
    WaitsText.LOCK_TIMEOUTS: ({}, "lock timeouts"),
    WaitsText.GHOSTS_SKIPPED: ({}, "ghosts skipped"),
    WaitsText.LOG_FLUSH_WAITS: ({}, "commits waiting for the log"),
    WaitsScreenText.NO_HOLDER: ({}, "no session holds the horizon for long"),
    WaitsScreenText.NOT_A_SESSION: (
        {"holder": "prepared transaction pay-7731"},
        "prepared transaction pay-7731 is not a session",
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
