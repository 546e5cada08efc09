"""``qmon doctor``: driver, connection, version, and of each probe whether it works, its time, or what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qmon.cli import options
from qmon.cli.output import clean, json_object, say, table
from qmon.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qmon.cli.session import Opened
    from qmon.monitor.doctor import Check, Right


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("doctor", epilog="Example: qmon doctor orders-prod")(doctor)


def doctor(
    target: Annotated[
        str | None,
        typer.Argument(metavar="TARGET", help="As for the other commands; with --bundle it may be missing."),
    ] = None,
    config: options.ConfigPath = None,
    json: options.Json = False,
    bundle: Annotated[
        Path | None,
        typer.Option("--bundle", metavar="FILE", help="Make an archive for a bug report: .zip or .tar.gz."),
    ] = None,
) -> None:
    """Check what qmon needs of a target: driver, connection, version, rights, and every probe of every queue."""
    from qmon.cli.session import opened

    if bundle is not None:
        from qmon.cli.commands.bundle import write_bundle

        write_bundle(bundle, target, config, as_json=json)
        return
    if target is None:
        raise BadInput("TARGET is missing; only --bundle goes without one")
    with opened(target, config, "doctor") as at:
        seen = examined(at)
        if json:
            json_object(seen.as_object())
        else:
            _say(seen)
    if any(c.problem and not c.expected for c in seen.checks):
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class Examined:
    """What was found. ``connections``: so many are to be had; ``None`` where a pooler is in between."""

    at: Opened
    version: str
    checks: Sequence[Check]
    rights: Sequence[Right]
    connections: int | None

    def as_object(self) -> dict[str, object]:
        """The same for ``--json``."""
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
            "checks": checks,
            "rights": [{"right": r.name, "held": r.held, "gives": r.gives, "grant": r.grant} for r in self.rights],
        }


def examined(at: Opened) -> Examined:
    """Run every probe once. Raises ``ConnectionLost``, and what reading the catalogue raises."""
    from qmon.engines.base import Session
    from qmon.monitor.doctor import checkup, rights, room

    found = checkup(at.connection, at.engine, at.configured)
    allowed = rights(at.connection, at.engine)
    had = None if at.connection.pooled else room(lambda: at.engine.connect(at.target, Session("doctor")))
    return Examined(at, ".".join(map(str, at.connection.version)), found, allowed, had)


def _say(seen: Examined) -> None:
    from qmon.monitor.doctor import GIVES

    at, found, allowed, had = seen.at, seen.checks, seen.rights, seen.connections
    say(f"{clean(at.target.name)}: {at.engine.name} {seen.version}, connected as session {at.connection.session_id}")
    if at.connection.pooled:
        say("a pooler is in between, in session mode: qmon's settings last for a transaction each")
    rows = [
        (c.queue or "(target)", c.probe, "–" if c.ms is None else f"{c.ms:.1f} ms", c.problem or "works") for c in found
    ]
    table(("QUEUE", "PROBE", "TIME", "RESULT"), rows, wrap=3)
    say("")
    table(("RIGHT", "HELD", "GIVES"), [(r.name, "yes" if r.held else "no", r.gives) for r in allowed], wrap=2)
    if had is not None and had < len(GIVES):
        more = "; ".join(GIVES[had:])
        say(f"{had} of {len(GIVES)} connections are to be had; more would give, one each: {more}")
    missing = (r.grant for r in allowed if not r.held)
    for grant in dict.fromkeys([*(c.grant for c in found if c.grant), *missing]):
        say(f"would help: {clean(grant)}")
    for c in (c for c in found if c.index):
        say(f"would make {c.probe.strip('()')} of {clean(c.queue)} exact and cheap: {clean(c.index)}")
    if at.engine.name == "postgres" and any(c.index and "CONCURRENTLY" not in c.index for c in found):
        say(
            "on a partitioned table it keeps who writes waiting while it is made: on a large one make it ON ONLY the"
            " table, then CONCURRENTLY on each partition, and attach these"
        )
    if any(c.index for c in found) and at.engine.name == "sqlserver":
        say("WITH (ONLINE = ON) at its end holds nobody up: Enterprise and Developer Edition, Azure SQL")
