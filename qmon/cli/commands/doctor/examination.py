"""Collects the results of ``qmon doctor``, for the terminal and for the archive of a bug report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qmon.cli.reports.target_reports import DoctorReport
    from qmon.cli.target_session import ConnectedTarget
    from qmon.model.settings import Setting
    from qmon.monitor.probe_checks import Check, Right


@dataclass(frozen=True, slots=True)
class Examination:
    """The results for one target.

    ``connections``: available connections, ``None`` behind a pooler. ``pollers``: number of qmons that poll the
    database, ``None`` if our role may not see them.
    """

    connected: ConnectedTarget
    version: str
    checks: Sequence[Check]
    rights: Sequence[Right]
    connections: int | None
    pollers: int | None
    settings: Sequence[Setting] = ()

    def to_object(self) -> DoctorReport:
        """Return the results for JSON."""
        from qmon.cli.reports.target_reports import DoctorReport, ProbeCheck, RightReport
        from qmon.model.report_shapes import fill
        from qmon.model.status_report import settings_object

        return fill(
            DoctorReport,
            self,
            schema=1,
            target=self.connected.target.name,
            engine=self.connected.engine.name,
            server_version=self.version,
            pooled=self.connected.connection.is_pooled,
            checks=[fill(ProbeCheck, each, ms=each.ms and round(each.ms, 3)) for each in self.checks],
            rights=[fill(RightReport, each, right=each.name) for each in self.rights],
            settings=settings_object(self.settings),
        )


def examine_target(at: ConnectedTarget) -> Examination:
    """Run every probe once. Raises ``ConnectionLost``, and errors of reading the catalog."""
    from qmon.engines.base import Session
    from qmon.model.settings import database_card
    from qmon.monitor.probe_checks import check_rights, count_connections, read_pollers, run_checkup

    found = run_checkup(at.connection, at.engine, at.configured)
    allowed = check_rights(at.connection, at.engine)
    had = (
        None if at.connection.is_pooled else count_connections(lambda: at.engine.connect(at.target, Session("doctor")))
    )
    others = read_pollers(at.connection, at.engine)
    return Examination(
        at,
        ".".join(map(str, at.connection.version)),
        found.checks,
        allowed,
        had,
        others,
        database_card(at.engine.name, found.settings),
    )
