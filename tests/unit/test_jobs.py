"""SQL Server Agent jobs that work on queues: found by whole words of their commands, and unknown without the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from qmon.engines.postgres.postgres_engine import Postgres
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.errors import PermissionMissing
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.layout.table_facts import TableFacts
from qmon.model.samples.job_samples import Jobs, QueueJob
from qmon.monitor.background.job_reader import JobReader
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.queue_probes import QueueSpec
from qmon.tui.waits.server_health_panel import HealthText
from tests.replayed import Driver, connection
from tests.tsql_types import Type
from tests.tui.driving import dashboard
from tests.tui.scripted import target, view

pytestmark = pytest.mark.unit

SPECS = tuple(
    QueueSpec(Layout(name.lower(), "fifo", ObjectName("dbo", name), id="Id"), TableFacts(11))
    for name in ("Mails", "A&B")
)


class Steps:
    """Rows of the probe: steps with these commands. Each row claims that the step names both tables."""

    def __init__(self, *commands: str) -> None:
        self.commands = commands

    def __call__(self, name: str, columns: tuple[tuple[str, Type], ...], poll: int) -> Sequence[tuple[object, ...]]:
        return [
            (table, 1000.0, "drain", step, True, 0 if step else None, 600.0 if step else None, command)
            for table in ("mails", "a&b")
            for step, command in enumerate(self.commands)
        ]


def read(steps: Steps) -> tuple[Jobs, Driver]:
    driver, reader = Driver(steps), JobReader(SqlServer())
    assert reader.latest_jobs() is None
    reader.read_jobs(connection(driver, (16, 0)), StatementCache(SqlServer(), (16, 0)), SPECS)
    found = reader.latest_jobs()
    assert found is not None
    return found, driver


def test_a_step_is_of_the_queue_whose_table_its_command_names_as_a_word() -> None:
    found, driver = read(Steps("EXEC dbo.other", "DELETE TOP (10) FROM [dbo].[MAILS]", "SELECT 1 FROM MailsOld"))
    assert found == Jobs((QueueJob("mails", "drain", 1, True, 0, 600.0),))
    assert "<i>mails</i><i>a&amp;b</i>" in driver.values


def test_without_the_right_nothing_is_known_and_the_right_is_named() -> None:
    class Refusing(StatementCache):
        """A login that may not read the tables of msdb."""

        def statement_for(self, *args: object, **more: object) -> object:  # type: ignore[override]
            raise PermissionMissing("SELECT on dbo.sysjobs is denied", grant="GRANT SELECT ON dbo.sysjobs TO [me]")

    reader = JobReader(SqlServer())
    reader.read_jobs(connection(Driver(), (16, 0)), Refusing(SqlServer(), (16, 0)), SPECS)
    found = reader.latest_jobs()
    assert found is not None
    assert found.jobs == ()
    assert found.unread == "SELECT on dbo.sysjobs is denied; this helps: GRANT SELECT ON dbo.sysjobs TO [me]"
    assert not JobReader(Postgres()).is_supported


async def test_jobs_are_listed_with_the_server_those_that_failed_first() -> None:
    failed = QueueJob("mails", "drain mails", 2, True, 0, 600.0)
    fine = replace(failed, job="drain orders", queue="orders", outcome=1, enabled=False, ran_s=None)
    async with dashboard((120, 40)) as d:
        await d.press("3")
        await d.give(view(server=target(jobs=Jobs((fine, failed)))))
        first, second = d.lines("state").splitlines()
        ago = HealthText.AGO.render(duration="10 m 00 s")
        assert first == f" job       drain mails step 2   works on mails   failed   last ran {ago}"
        assert second == " job       drain orders step 2   works on orders   disabled"
        await d.give(view(server=target(jobs=Jobs(unread="denied; GRANT it")), sequence=9))
        assert d.lines("state") == f" jobs      {HealthText.UNKNOWN.render(why='denied; GRANT it')}"
