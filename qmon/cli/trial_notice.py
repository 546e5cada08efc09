"""Sends a test notice to the receivers of alerts, for ``qmon check --test-notice``."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import typer

from qmon.cli.guard import FAILED
from qmon.cli.output import print_note, print_output
from qmon.errors import BadInput
from qmon.texts import Text


class TrialText(Text):
    """Results of test notices."""

    NO_RECEIVER = "{path} contains no [[notify]]; see qmon help alerts-and-checks"
    NO_SUCH_RECEIVER = "{path} contains no [[notify]] named {name!r}{nearest}"
    SUMMARY = "this is a test notice; nothing is wrong"


def send_test_notice(names: Sequence[str], config: Path | None) -> None:
    """Send a raised and a cleared notice to the named receivers of qmon.toml, or to all receivers if none is named.

    Exits with code 1 if a receiver did not accept a notice. Raises ``BadInput`` for a name that is not in the file.
    """
    from qmon.cli.alerting_setup import deliveries_for
    from qmon.config.config_file import read_config
    from qmon.model.alerts.latches import AlertEvent
    from qmon.model.alerts.notices import Notice
    from qmon.model.config_reader import suggest_nearest

    found = read_config(config)
    known = [receiver.name for receiver in found.receivers]
    if not known:
        raise BadInput(TrialText.NO_RECEIVER.render(path=found.path))
    for name in names or ():
        if name not in known:
            raise BadInput(
                TrialText.NO_SUCH_RECEIVER.render(path=found.path, name=name, nearest=suggest_nearest(name, known))
            )
    wanted = [receiver for receiver in found.receivers if not names or receiver.name in names]
    missing: list[str] = []
    ways = deliveries_for(wanted, missing.append)
    for words in missing:
        print_note(f"qmon: {words}")
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
            TrialText.SUMMARY,
            None,
            now,
            now,
        )
        done = deliver([raised])
        if not done.problem:
            done = deliver([replace(raised, event=AlertEvent.CLEARED)])
        failed = failed or bool(done.problem)
        print_output(f"{receiver.name}: {done.problem or 'accepted'}{f': {done.detail}' if done.detail else ''}")
    if failed:
        raise typer.Exit(FAILED)
