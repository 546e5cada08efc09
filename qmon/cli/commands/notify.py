"""``qmon notify``: sends a trial notice to the receivers of alerts."""

from __future__ import annotations

import platform
import time
from dataclasses import replace
from typing import Annotated

import typer

from qmon.cli import options
from qmon.cli.guard import FAILED
from qmon.cli.output import note, say
from qmon.errors import BadInput


def add_to(app: typer.Typer) -> None:
    app.command("notify", epilog="Example: qmon notify on-call")(notify)


def notify(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Of [[notify]]; all without.", show_default=False)
    ] = None,
    config: options.ConfigPath = None,
) -> None:
    """Send a trial notice, raised and cleared, to the receivers that qmon.toml names.

    Exit code 1 where one of them did not take it.
    """
    from qmon.cli.notices import deliveries
    from qmon.config.file import read_config
    from qmon.model.alerts.alerts import AlertEvent
    from qmon.model.alerts.notices import Notice
    from qmon.model.config_reader import nearest

    found = read_config(config)
    known = [receiver.name for receiver in found.receivers]
    if not known:
        raise BadInput(f"{found.path}: there is no [[notify]]; see qmon help alerts-and-checks")
    for name in names or ():
        if name not in known:
            raise BadInput(f"{found.path}: there is no [[notify]] called {name!r}{nearest(name, known)}")
    wanted = [receiver for receiver in found.receivers if not names or receiver.name in names]
    missing: list[str] = []
    ways = deliveries(wanted, missing.append)
    for words in missing:
        note(f"qmon: {words}")
    now = time.time()
    failed = bool(missing)
    for receiver, deliver in ways:
        raised = Notice(
            AlertEvent.RAISED,
            f"qmon on {platform.node()}",
            "trial",
            "",
            (),
            receiver.severity,
            "a trial: nothing is wrong",
            None,
            now,
            now,
        )
        done = deliver([raised])
        if not done.problem:
            done = deliver([replace(raised, event=AlertEvent.CLEARED)])
        failed = failed or bool(done.problem)
        say(f"{receiver.name}: {done.problem or 'took it'}{f': {done.detail}' if done.detail else ''}")
    if failed:
        raise typer.Exit(FAILED)
