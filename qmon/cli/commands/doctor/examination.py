"""Collects the results of ``qmon doctor``, for the terminal and for the archive of a bug report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

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

    def to_object(self) -> dict[str, object]:
        """Return the results as a ``DoctorReport``."""
        from qmon.model.status_report import settings_object

        checks = [
            {
                "queue": c.queue or None,
                "probe": c.probe,
                "ms": None if c.ms is None else round(c.ms, 3),
                "problem": c.problem or None,
                "grant": c.grant or None,
                "index": c.index or None,
            }
            for c in self.checks
        ]
        return {
            "schema": 1,
            "target": self.connected.target.name,
            "engine": self.connected.engine.name,
            "server_version": self.version,
            "pooled": self.connected.connection.is_pooled,
            "connections": self.connections,
            "pollers": self.pollers,
            "checks": checks,
            "rights": [{"right": r.name, "held": r.held, "gives": r.gives, "grant": r.grant} for r in self.rights],
            "settings": settings_object(self.settings),
        }


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
