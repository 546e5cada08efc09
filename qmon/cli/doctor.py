"""``qmon doctor``: driver, connection, version, and of each probe whether it works, its time, or what is missing."""

from __future__ import annotations

import typer

from qmon.cli import options
from qmon.cli.output import clean, json_object, say, table


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("doctor", epilog="Example: qmon doctor orders-prod")(doctor)


def doctor(target: options.Target, config: options.ConfigPath = None, json: options.Json = False) -> None:
    """Check what qmon needs of a target: driver, connection, version, rights, and every probe of every queue."""
    from qmon.cli.targets import opened
    from qmon.engines.base import Session
    from qmon.monitor.checkup import checkup
    from qmon.monitor.rights import rights
    from qmon.monitor.room import GIVES, room

    with opened(target, config, "doctor") as at:
        found = checkup(at.connection, at.engine, at.configured)
        allowed = rights(at.connection, at.engine)
        had = None if at.connection.pooled else room(lambda: at.engine.connect(at.target, Session("doctor")))
        version = ".".join(map(str, at.connection.version))
        if json:
            checks = [
                {
                    "queue": c.queue or None,
                    "probe": c.probe,
                    "ms": None if c.ms is None else round(c.ms, 3),
                    "problem": c.problem or None,
                    "grant": c.grant or None,
                    "index": c.index or None,
                }
                for c in found
            ]
            head = {
                "schema": 1,
                "target": at.target.name,
                "engine": at.engine.name,
                "server_version": version,
                "pooled": at.connection.pooled,
                "connections": had,
            }
            held = [{"right": r.name, "held": r.held, "gives": r.gives, "grant": r.grant} for r in allowed]
            json_object(head | {"checks": checks, "rights": held})
        else:
            say(f"{clean(at.target.name)}: {at.engine.name} {version}, connected as session {at.connection.session_id}")
            if at.connection.pooled:
                say("a pooler is in between, in session mode: qmon's settings last for a transaction each")
            rows = [
                (c.queue or "(target)", c.probe, "–" if c.ms is None else f"{c.ms:.1f} ms", c.problem or "works")
                for c in found
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
            if any(c.index for c in found) and at.engine.name == "sqlserver":
                say("WITH (ONLINE = ON) at its end holds nobody up: Enterprise and Developer Edition, Azure SQL")
    if any(c.problem and not c.expected for c in found):
        raise typer.Exit(1)
