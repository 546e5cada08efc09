"""Runs the process of one viewer of ``qmon serve --web``, which draws the dashboard for a browser.

The process has no database password, writes no log, and cannot write to files.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from qmon.errors import QmonError

# Maximum memory in bytes. The process grows if a browser sends events faster than the process can handle.
_MAX_MEMORY: Final = 2**30


def main(url: str, config: str) -> int:
    """Show the polls of the ``qmon serve`` at ``url`` until the viewer quits. Return the exit code."""
    from qmon.cli.served_dashboard import show_served

    if sys.platform != "win32":  # Windows does not support `qmon serve --web`
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # the system then refuses all writes to files
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (_MAX_MEMORY, _MAX_MEMORY))
    try:
        return show_served(url, Path(config) if config else None, None, in_browser=True)
    except QmonError as problem:
        print(problem, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
