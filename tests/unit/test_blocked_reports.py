"""Reports of blocked processes: each is read once from the file of an event session, and shown on screen 4."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from qmon.engines.postgres.postgres_engine import Postgres
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.monitor.background.blocked_reports import BlockedReports
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.tui.blocking.blocking_screen import BlockedReportText, BlockingScreenText
from tests.replayed import Driver, connection
from tests.tsql_types import Type
from tests.tui.driving import dashboard
from tests.tui.scripted import SAMPLED_AT, target, view

pytestmark = pytest.mark.unit

FILE = "/logs/blocked_0_133.xel"


class Reports:
    """Rows of the two probes: a file, or none, and its content."""

    def __init__(self, *, file: bool = True) -> None:
        self.file = file
        self.left: list[tuple[object, ...]] = []

    def __call__(self, name: str, columns: tuple[tuple[str, Type], ...], poll: int) -> Sequence[tuple[object, ...]]:
        if name == "probe/blocked_file":
            return [(FILE,)] if self.file else []
        assert name == "probe/blocked_reports"
        found, self.left = self.left, []
        return found


def row(at: float, offset: int, *, here: bool = True) -> tuple[object, ...]:
    """Return a report. Sessions of another database stay anonymous."""
    words = ("mailer", "UPDATE dbo.Mails SET PASSWORD = 'hunter2'") if here else ("", "")
    return (
        at,
        20.5,
        11 if here else None,
        84,
        *words,
        61,
        "legacy",
        "sleeping",
        "BEGIN TRAN" if here else "",
        here,
        FILE,
        offset,
    )


def test_each_report_of_this_database_is_told_once_and_the_next_reading_goes_on_behind_it() -> None:
    rows, reports = Reports(), BlockedReports(SqlServer())
    driver = Driver(rows)
    at, statements = connection(driver, (16, 0)), StatementCache(SqlServer(), (16, 0))
    rows.left = [row(SAMPLED_AT, 512), row(SAMPLED_AT - 60, 256), row(SAMPLED_AT - 30, 1_024, here=False)]
    reports.read_new_reports(at, statements)
    assert [(each.at, each.session, each.blocker, each.waited_s) for each in reports.latest_reports()] == [
        (SAMPLED_AT, 84, 61, 20.5),
        (SAMPLED_AT - 60, 84, 61, 20.5),
    ]
    assert "hunter2" not in repr(reports.latest_reports())
    rows.left = [row(SAMPLED_AT, 512)]
    reports.read_new_reports(at, statements)
    assert driver.values[1:3] == (FILE, 1_024) or {FILE, 1_024} <= set(driver.values)
    assert len(reports.latest_reports()) == 2


def test_where_nobody_runs_such_a_session_nothing_is_read() -> None:
    rows, reports = Reports(file=False), BlockedReports(SqlServer())
    driver = Driver(rows)
    reports.read_new_reports(connection(driver, (16, 0)), StatementCache(SqlServer(), (16, 0)))
    assert driver.asked == ["probe/blocked_file"]
    assert reports.latest_reports() == ()
    assert not BlockedReports(Postgres()).is_supported


async def test_reports_stand_below_who_blocks_whom_and_without_any_there_is_no_panel() -> None:
    rows, reports = Reports(), BlockedReports(SqlServer())
    rows.left = [row(SAMPLED_AT, 512)]
    reports.read_new_reports(connection(Driver(rows), (16, 0)), StatementCache(SqlServer(), (16, 0)))
    async with dashboard((120, 40)) as d:
        await d.press("4")
        await d.give(view())
        assert BlockingScreenText.REPORTS not in d.text()
        await d.give(view(server=target(blocked=reports.latest_reports()), sequence=9))
        assert BlockingScreenText.REPORTS in d.lines("reports-heading")
        first, second = d.lines("reports").splitlines()
        waited = BlockedReportText.WAITED.render(duration="20 s")
        assert first.endswith(f"session 84 (mailer) {waited} session 61 (legacy), sleeping")
        assert second.startswith(" UPDATE dbo.Mails SET PASSWORD =")
        assert second.endswith(" · BEGIN TRAN")
