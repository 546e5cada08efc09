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
    from qmon.monitor.checkup import checkup
    from qmon.monitor.rights import rights

    with opened(target, config, "doctor") as at:
        found = checkup(at.connection, at.engine, at.configured)
        allowed = rights(at.connection, at.engine)
        version = ".".join(map(str, at.connection.version))
        if json:
            checks = [
                {
                    "queue": c.queue or None,
                    "probe": c.probe,
                    "ms": None if c.ms is None else round(c.ms, 3),
                    "problem": c.problem or None,
                    "grant": c.grant or None,
                }
                for c in found
            ]
            head = {"schema": 1, "target": at.target.name, "engine": at.engine.name, "server_version": version}
            held = [{"right": r.name, "held": r.held, "gives": r.gives, "grant": r.grant} for r in allowed]
            json_object(head | {"checks": checks, "rights": held})
        else:
            say(f"{clean(at.target.name)}: {at.engine.name} {version}, connected as session {at.connection.session_id}")
            rows = [
                (c.queue or "(target)", c.probe, "–" if c.ms is None else f"{c.ms:.1f} ms", c.problem or "works")
                for c in found
            ]
            table(("QUEUE", "PROBE", "TIME", "RESULT"), rows, wrap=3)
            say("")
            table(("RIGHT", "HELD", "GIVES"), [(r.name, "yes" if r.held else "no", r.gives) for r in allowed], wrap=2)
            missing = (r.grant for r in allowed if not r.held)
            for grant in dict.fromkeys([*(c.grant for c in found if c.grant), *missing]):
                say(f"would help: {clean(grant)}")
    if any(c.problem and not c.expected for c in found):
        raise typer.Exit(1)
