"""qmon as a program whose keys for leaving do nothing, so that whatever ends it is a fault.

``python -m tests.soak.typed_program STACKS connect URL``; SIGUSR1 writes the stacks of all threads into the file STACKS.
"""

from __future__ import annotations

import faulthandler
import signal
import sys

from qmon.cli.app import main
from qmon.tui.app import QmonApp


async def stay(app: QmonApp) -> None:
    """Stay, as if the user had not pressed the key."""


if __name__ == "__main__":
    stacks = open(sys.argv.pop(1), "w", encoding="utf-8")  # noqa: SIM115 - until the end
    faulthandler.register(signal.SIGUSR1, stacks, all_threads=True)
    QmonApp.action_quit = stay  # type: ignore[method-assign]
    main()
