"""The wording of all screens: header, notice lines, notices, palette and files."""

from __future__ import annotations

from typing import Any, Final

from qmon.texts import Text
from qmon.tui.app import AppText, PersonalText
from qmon.tui.configuration.configured_app import ConfigurationText
from qmon.tui.configuration.followed_config import FollowedConfigText
from qmon.tui.configuration.proposal_dialog import ProposalText
from qmon.tui.fleet.all_queues_screen import AllQueuesText
from qmon.tui.fleet.fleet_app import FleetText
from qmon.tui.fleet.target_health import HealthSummaryText
from qmon.tui.palette_items import PaletteText
from qmon.tui.replay.replay_app import GoToText, ReplayNotice
from qmon.tui.run import TerminalText
from qmon.tui.screen_texts import ScreenText
from qmon.tui.shared.banner import BannerText
from qmon.tui.shared.dashboard_screen import DashboardText
from qmon.tui.shared.header import HeaderText
from qmon.tui.shared.keybar import KeyLineText
from qmon.tui.shared.note import NoteText
from qmon.tui.shared.palette import PaletteHint
from qmon.tui.shared.saving import SavingText
from qmon.tui.widgets.pager import PagerText
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    ScreenText.NO_QUEUE_SELECTED: ({}, "no queue is selected"),
    ScreenText.QUEUE_GONE: ({"queue": "orders"}, "orders is no longer among the queues"),
    ScreenText.NO_FIGURES_YET: ({}, "waiting for the first figures"),
    ScreenText.NO_MATCH: ({"what": "queue", "filter": "mail"}, "no queue matches mail"),
    ScreenText.READ_AGO: ({"age": "14 s"}, "read 14 s ago"),
    ScreenText.ROW_OF: ({"name": "orders"}, "the row of orders"),
    ScreenText.COPIED: ({"what": "the row of orders"}, "copied: the row of orders"),
    ScreenText.KEY_6: ({}, "key 6 lists operations"),
    AppText.IN_BROWSER: ({}, "not available in a browser; use qmon connect"),
    AppText.FROM_SERVE: ({"address": "ops-1:9777"}, "not possible with data from qmon serve at ops-1:9777"),
    AppText.NO_CONFIGURATION: ({}, "only a dashboard that polls the database itself can write qmon.toml"),
    AppText.RECORDING_STOPPED: ({"why": "No space left on device"}, "recording has stopped: No space left on device"),
    AppText.RECORDING_OF_STOPPED: (
        {"target": "orders-prod", "why": "No space left on device"},
        "orders-prod: recording has stopped: No space left on device",
    ),
    AppText.NO_ALERT_RULES: ({}, "no alert is configured for this target; add [[alert]] to qmon.toml"),
    AppText.NO_ALERT: ({}, "no alert to acknowledge"),
    AppText.ACKNOWLEDGED: ({"queue": "orders", "rule": "too many stuck"}, "acknowledged: orders, too many stuck"),
    AppText.MUTED: ({"duration": "15 m 00 s"}, "alerts are muted for 15 m 00 s"),
    AppText.UNMUTED: ({}, "alerts are no longer muted"),
    AppText.POLLS_EVERY: ({"duration": "5.0 s"}, "polls every 5.0 s"),
    AppText.COUNT_STARTED: ({}, "exact count started; a later poll shows it"),
    AppText.STILL_RUNNING: (
        {"operations": "Requeue 1,204 messages of invoices"},
        "Requeue 1,204 messages of invoices: still running; press q again to stop and quit",
    ),
    AppText.COPIED_SELECTION: ({}, "copied: the selection"),
    AppText.PRESS_AGAIN: ({}, "press ctrl+c again, or q, to quit"),
    TerminalText.NO_TERMINAL: (
        {"stream": "input", "alternative": "`qmon status` prints the same figures without one"},
        "standard input is not a terminal; `qmon status` prints the same figures without one",
    ),
    TerminalText.USE_STATUS: ({}, "`qmon status` prints the same figures without one"),
    PersonalText.NO_COLORS: ({}, "no colours: NO_COLOR is set"),
    PaletteText.GO_TO_QUEUE: ({"verdict": "stuck in progress"}, "go to this queue: stuck in progress"),
    PaletteText.EXPLAIN: ({"topic": "stuck"}, "explain: stuck"),
    BannerText.MORE_ALERTS: ({"count": 2}, "+2 more"),
    BannerText.RAISED_FOR: ({"duration": "5 m 00 s"}, "for 5 m 00 s"),
    BannerText.ACKNOWLEDGE_KEY: ({}, "a acknowledges"),
    BannerText.MUTE_KEY: ({}, "m mutes"),
    BannerText.ACKNOWLEDGED: ({"alerts": "2 alerts"}, "✓ 2 alerts acknowledged"),
    BannerText.ALERT: ({"where": "orders", "words": "depth 500, above 100"}, "orders: depth 500, above 100"),
    BannerText.MUTED: ({"duration": "5 m 00 s"}, "alerts muted for 5 m 00 s more"),
    BannerText.RAISED: ({"count": 1}, "1 raised"),
    BannerText.NONE_RAISED: ({}, "none raised"),
    BannerText.UNMUTE_KEY: ({}, "m extends, then unmutes"),
    BannerText.PAUSED_BY: ({"user": "bob@laptop"}, "by bob@laptop"),
    BannerText.PAUSED_UNTIL: ({"time": "14:47", "left": "12 m 33 s"}, "until 14:47 (12 m 33 s)"),
    BannerText.MORE_PAUSES: ({"count": 2, "queues": "mails, audit"}, "and 2 more: mails, audit"),
    BannerText.MORE_OPERATIONS: ({"count": 3}, "and 3 more operations"),
    BannerText.OPERATION_ON: (
        {"operation": "Requeue 1,204 messages of invoices", "target": "orders-prod"},
        "Requeue 1,204 messages of invoices on orders-prod",
    ),
    BannerText.DONE_OF: ({"done": 602, "total": 1204}, "602 of 1,204"),
    BannerText.TIME_LEFT: ({"duration": "2.3 s"}, "about 2.3 s left"),
    DashboardText.FILTER_KEYS: ({}, "!text excludes · enter keeps · esc clears"),
    DashboardText.NO_THEME: ({}, "no theme has this name"),
    HeaderText.LIVE: ({}, "● live"),
    HeaderText.LATE: ({}, "◌ late"),
    HeaderText.LOST: ({}, "✕ lost"),
    HeaderText.CONNECTING: ({}, "◌ connecting"),
    HeaderText.FROZEN: ({}, "◇ frozen"),
    HeaderText.PAUSED: ({}, "‖ paused"),
    HeaderText.CLOSED: ({}, "✕ closed"),
    HeaderText.NO_FIGURES: ({}, "◌ waiting"),
    HeaderText.FROM_SERVE: ({"address": "ops-1:9777"}, "from serve at ops-1:9777"),
    HeaderText.EVERY: ({"duration": "2.0 s"}, "every 2.0 s"),
    HeaderText.AGO: ({"age": "0.4 s"}, "0.4 s ago"),
    HeaderText.AGO_AND_REASON: (
        {"ago": "4.0 s ago", "reason": "the poll has run for 3 s"},
        "4.0 s ago: the poll has run for 3 s",
    ),
    HeaderText.WAITING: ({}, "for the first figures"),
    HeaderText.RETRY_AND_REASON: (
        {"retry": "retry in 3 s", "reason": "the server closed the connection"},
        ", retry in 3 s: the server closed the connection",
    ),
    HeaderText.NO_CONNECTION: ({}, "no connection"),
    HeaderText.RETRY_IN: ({"duration": "3 s"}, "retry in 3 s"),
    HeaderText.RETRYING_NOW: ({}, "trying now"),
    HeaderText.RETRYING: ({}, "trying again"),
    HeaderText.SLOWER: ({"times": 3.4, "time": "14:20"}, "server 3 times slower since 14:20"),
    HeaderText.COST: ({"share": "12 %"}, "cost 12 %"),
    HeaderText.THROTTLED: ({"count": 2}, "2 throttled"),
    KeyLineText.CLEAR_FILTER: ({}, "esc clears it"),
    NoteText.ABOUT: (
        {"since": "2026-11-17 14:00", "until": "2026-11-17 14:30", "queues": "2 queues", "events": "9 events"},
        "incident note from 2026-11-17 14:00 to 2026-11-17 14:30: 2 queues, 9 events",
    ),
    PaletteHint.NOT_NOW: ({"why": "no queue is selected"}, "not now: no queue is selected"),
    PaletteHint.NO_MATCH: ({}, "no action, queue or word matches"),
    PaletteHint.KEYS: ({}, "type part of a name · enter runs the entry · esc closes"),
    PaletteHint.USE_DARK: ({}, "use this dark theme"),
    PaletteHint.USE_LIGHT: ({}, "use this light theme"),
    SavingText.TABLE_OR_SCREEN: ({}, "the table as .csv or .json, the screen as .svg; tab chooses"),
    SavingText.SCREEN: ({}, "the screen as .svg; tab chooses"),
    SavingText.ENTER_WRITES: ({"folder": "/home/anna"}, "enter writes the file in /home/anna"),
    SavingText.UNKNOWN_ENDING: ({}, "nothing was written: the name must end in .csv, .json or .svg"),
    SavingText.NO_TABLE: ({}, "nothing was written: this screen has no table; use .svg to save the screen"),
    SavingText.WRITTEN: ({"path": "/home/anna/orders.csv"}, "written: /home/anna/orders.csv"),
    ConfigurationText.SEARCHING: ({}, "looking for tables that may be queues"),
    ConfigurationText.NOTHING_FOUND: ({}, "no other table here looks like a queue"),
    ConfigurationText.WRITTEN: (
        {"queues": "2 queues", "path": "/home/anna/qmon.toml"},
        "2 queues written to /home/anna/qmon.toml",
    ),
    ConfigurationText.ALREADY_THERE: (
        {"path": "/home/anna/qmon.toml", "tables": "public.orders"},
        "already in /home/anna/qmon.toml: public.orders",
    ),
    ConfigurationText.RELOADED: (
        {"file": "qmon.toml", "restart": "; restart qmon to apply: budget"},
        "reloaded qmon.toml; restart qmon to apply: budget",
    ),
    ConfigurationText.NEEDS_RESTART: ({"keys": "budget, redact"}, "; restart qmon to apply: budget, redact"),
    FollowedConfigText.TARGET_GONE: (
        {"path": "/home/anna/qmon.toml", "target": "orders-prod"},
        "/home/anna/qmon.toml no longer contains orders-prod",
    ),
    FollowedConfigText.SETTINGS_STAY: (
        {"path": "/home/anna/qmon.toml", "target": "orders-prod"},
        "/home/anna/qmon.toml no longer contains orders-prod; its last settings stay in effect",
    ),
    ProposalText.ONE_TABLE: ({"tables": "1 table", "target": "orders-prod"}, "1 table of orders-prod may be a queue"),
    ProposalText.TABLES: ({"tables": "3 tables", "target": "orders-prod"}, "3 tables of orders-prod may be queues"),
    ProposalText.MARKED: ({}, "◆ marked to be written; qmon only guesses, so check them"),
    ProposalText.MISSING: (
        {"columns": "id", "summary": "status has the values new, working, failed"},
        "missing: id; status has the values new, working, failed",
    ),
    ProposalText.ENTER_MISSING: ({"columns": "id"}, "missing: id; run qmon init to enter it"),
    ProposalText.NONE_MARKED: ({}, "no table is marked; space marks the table under the cursor"),
    GoToText.FORMS: ({}, "14:03:20 or 2026-11-21 14:03 or +5m · esc cancels"),
    ReplayNotice.NO_NEW_DATA: ({}, "a replay cannot read new data"),
    ReplayNotice.SPEED: ({"speed": 4.0}, "plays at 4 times the speed"),
    ReplayNotice.MARK: ({"queue": "orders", "text": "stuck in progress began"}, "orders: stuck in progress began"),
    ReplayNotice.NONE_AFTER: ({}, "no incident or operation after this moment"),
    ReplayNotice.NONE_BEFORE: ({}, "no incident or operation before this moment"),
    PagerText.LINES: ({"first": 1, "last": 20, "count": 1204}, "lines 1–20 of 1,204"),
    FleetText.NO_CONFIGURATION: (
        {},
        "qmon.toml cannot be written with several targets open; open only this target: qmon connect",
    ),
    FleetText.POLLED_EVERY: (
        {"target": "orders-prod", "duration": "5.0 s"},
        "orders-prod: polled every 5.0 s while it is on screen",
    ),
    FleetText.GO_TO_TARGET: ({"health": "lost 3m"}, "go to this target: lost 3m"),
    HealthSummaryText.ONE_CRITICAL: ({}, "is critical"),
    HealthSummaryText.CRITICAL: ({}, "are critical"),
    HealthSummaryText.LOST: ({}, "cannot be reached"),
    HealthSummaryText.ONE_WARNING: ({}, "has a warning"),
    HealthSummaryText.WARNING: ({}, "have a warning"),
    HealthSummaryText.ONE_WAITING: ({}, "is not known yet"),
    HealthSummaryText.WAITING: ({}, "are not known yet"),
    HealthSummaryText.ONE_NOTICE: ({}, "has a notice"),
    HealthSummaryText.NOTICE: ({}, "have a notice"),
    HealthSummaryText.ONE_FINE: ({}, "is fine"),
    HealthSummaryText.FINE: ({}, "are fine"),
    HealthSummaryText.NO_QUEUE: ({}, "no queue is known"),
    HealthSummaryText.ALL_FINE: ({}, "all fine"),
    HealthSummaryText.REASON: (
        {"reason": "the server closed the connection", "retry": "retry in 3 s"},
        "the server closed the connection; retry in 3 s",
    ),
    HealthSummaryText.WORST_QUEUE: (
        {"queue": "orders", "verdict": "stuck in progress", "more": ", and 2 more"},
        "orders: stuck in progress, and 2 more",
    ),
    HealthSummaryText.MORE: ({"count": 2}, ", and 2 more"),
    HealthSummaryText.TARGETS: ({"count": 30}, "30 targets"),
    HealthSummaryText.ALL_TARGETS: ({"count": 3, "state": "are fine"}, "All 3 targets are fine"),
    HealthSummaryText.SOME_TARGETS: (
        {"count": 4, "total": 30, "state": "cannot be reached"},
        "4 of 30 targets cannot be reached",
    ),
    HealthSummaryText.ALSO: ({"count": 1, "state": "has a warning"}, ", 1 has a warning"),
    HealthSummaryText.NAME: ({}, ": "),
    HealthSummaryText.WORST: ({}, "; worst: "),
    HealthSummaryText.SERVICE_BROKER: ({}, "▲ Service Broker"),
    AllQueuesText.NO_QUEUE: ({}, "no queue is known yet"),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
