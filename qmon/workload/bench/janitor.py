"""``python -m qmon.workload.bench.janitor``: drops the schema of a bench when the bench is over, however it ended.

Given the target and the schema on its standard input, it waits for the end of that: closed in good order, or because
the process that held the other end is gone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Final, TextIO

from qmon import system
from qmon.engines.base import Target
from qmon.errors import QmonError
from qmon.workload.bench.site import sweep
from qmon.workload.process import environment
from qmon.workload.spec import WorkerSpec

_WITHIN_S: Final = 60.0


@contextlib.contextmanager
def swept(target: Target, schema: str) -> Iterator[None]:
    """Whatever happens in the block or to this process, the schema is gone afterwards.

    A janitor in a process of its own, out of reach of the terminal's signals, does it. Raises what ``sweep`` raises.
    """
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "qmon.workload.bench.janitor"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
        start_new_session=True,
        creationflags=system.NEW_GROUP,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None  # noqa: S101  # asked for above
    try:
        process.stdin.write(f"{schema} {WorkerSpec(target).to_json()}\n")
        process.stdin.flush()
        process.stdout.readline()  # it is there and will clean up
        yield
    finally:
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        if process.returncode:
            sweep(target, schema)


def main(orders: TextIO) -> int:
    """Wait until standard input ends; then sweep. Returns 0 where the schema is gone."""
    for number in (system.HANGUP, signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGQUIT", signal.SIGTERM)):
        signal.signal(number, signal.SIG_IGN)
    schema, _, spec = orders.readline().partition(" ")
    if not spec:
        return 1
    with contextlib.suppress(OSError):
        print("ready", flush=True)
    orders.read()
    try:
        sweep(WorkerSpec.from_json(spec).target, schema)
    except QmonError:
        return 1
    return 0


if __name__ == "__main__":
    code = main(sys.stdin)
    with contextlib.suppress(OSError):
        sys.stdout.close()
    os._exit(code)
