"""The results of ``qmon doctor``, for the terminal and for a bug report's archive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qmon.cli.session import ConnectedTarget
    from qmon.model.settings import Setting
    from qmon.monitor.doctor import Check, Right


@dataclass(frozen=True, slots=True)
class Examined:
    """The results for one target.

    ``connections``: available connections, ``None`` behind a pooler. ``pollers``: number of qmons that poll the
    database, ``None`` if our role may not see them.
    """

    at: ConnectedTarget
    version: str
    checks: Sequence[Check]
    rights: Sequence[Right]
    connections: int | None
    pollers: int | None
    settings: Sequence[Setting] = ()

    def as_object(self) -> dict[str, object]:
        """Return the results as a ``DoctorReport``."""
        from qmon.model.report import settings_object

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
            "target": self.at.target.name,
            "engine": self.at.engine.name,
            "server_version": self.version,
            "pooled": self.at.connection.pooled,
            "connections": self.connections,
            "pollers": self.pollers,
            "checks": checks,
            "rights": [{"right": r.name, "held": r.held, "gives": r.gives, "grant": r.grant} for r in self.rights],
            "settings": settings_object(self.settings),
        }


def examined(at: ConnectedTarget) -> Examined:
    """Run every probe once. Raises ``ConnectionLost``, and what reading the catalog raises."""
    from qmon.engines.base import Session
    from qmon.model.settings import card
    from qmon.monitor.doctor import checkup, pollers, rights, room

    found = checkup(at.connection, at.engine, at.configured)
    allowed = rights(at.connection, at.engine)
    had = None if at.connection.pooled else room(lambda: at.engine.connect(at.target, Session("doctor")))
    others = pollers(at.connection, at.engine)
    return Examined(
        at,
        ".".join(map(str, at.connection.version)),
        found.checks,
        allowed,
        had,
        others,
        card(at.engine.name, found.settings),
    )
