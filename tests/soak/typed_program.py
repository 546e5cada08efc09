"""qmon as a program whose quit keys do nothing, so that every exit is a fault.

``python -m tests.soak.typed_program STACKS connect URL``; SIGUSR1 writes the stacks of all threads into STACKS.
"""

from __future__ import annotations

import faulthandler
import fcntl
import signal
import sys
import termios
from pathlib import Path

from qmon.cli.app import main
from qmon.tui import hangup
from qmon.tui.app import QmonApp


async def stay(app: QmonApp) -> None:
    """Stay, as if the user had not pressed the key."""


if __name__ == "__main__":
    stacks = Path(sys.argv.pop(1)).open("w", encoding="utf-8")  # noqa: SIM115 - until the end
    faulthandler.register(signal.SIGUSR1, stacks, all_threads=True)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # otherwise the kernel sends no SIGWINCH
    hangup._EXIT_CODES.pop(signal.SIGINT)  # ctrl+c is for the shell while we are stopped
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    QmonApp.action_quit = stay  # type: ignore[assignment,method-assign]
    main()
