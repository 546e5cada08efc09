"""Run a program of the user for each notice, and write the notice to its standard input as one JSON object.

qmon runs the program without a shell, and without the environment variables that hold secrets of qmon or of a database.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Final

from qmon import system
from qmon.config.receivers import Receiver
from qmon.model.alerts.notice_formats import notice_report
from qmon.model.alerts.notices import Notice
from qmon.model.formatting import duration
from qmon.monitor.notify.sender import Delivery, DeliveryText
from qmon.redact import environment_without_secrets

_LAST_WORDS: Final = 200


@dataclass(frozen=True, slots=True)
class CommandDelivery:
    """Run the command of one receiver. A command that runs into its timeout is killed with its child processes."""

    receiver: Receiver

    def __call__(self, notices: Sequence[Notice]) -> Delivery:
        """Run the command once per notice; failures are not retried."""
        found = Delivery()
        for notice in notices:
            found = self._run_command(json.dumps(notice_report(notice)).encode() + b"\n")
        return found

    def _run_command(self, data: bytes) -> Delivery:
        with tempfile.TemporaryFile() as errors:
            try:
                process = subprocess.Popen(
                    self.receiver.command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    env=environment_without_secrets(os.environ),
                    start_new_session=True,  # so Ctrl-C and closing the terminal do not reach the program
                    creationflags=system.NEW_GROUP,
                )
            except (OSError, ValueError) as problem:
                why = getattr(problem, "strerror", None) or problem
                return Delivery(DeliveryText.CANNOT_RUN, detail=str(why))
            try:
                process.communicate(data, self.receiver.timeout_s)
            except subprocess.TimeoutExpired:
                system.kill_with_descendants(process)
                process.communicate()
                return Delivery(DeliveryText.TOOK_LONGER.render(time=duration(self.receiver.timeout_s)))
            if process.returncode == 0:
                return Delivery()
            return Delivery(DeliveryText.EXIT_CODE.render(code=process.returncode), detail=_last_words(errors))


def _last_words(errors: IO[bytes]) -> str:
    """Return the end of the program's standard error, on one line."""
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - _LAST_WORDS))
    return " ".join(errors.read().decode(errors="replace").split())
