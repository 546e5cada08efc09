"""``python -m qmon.workload.bench.janitor``: drops the schema of a bench when the bench ends, even if it is killed.

The janitor reads the target and the schema from its standard input, and waits for the end of this input. The input ends
when the bench closes it, or when the process of the bench ends.
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
from qmon.workload.bench.bench_site import sweep_schema
from qmon.workload.spec import WorkerSpec
from qmon.workload.worker_process import subprocess_environment

_WITHIN_S: Final = 60.0


@contextlib.contextmanager
def drop_schema_afterwards(target: Target, schema: str) -> Iterator[None]:
    """Guarantee that the schema is dropped after the block, whatever happens to the block or this process.

    A janitor drops the schema. It is a separate process that does not receive the terminal's signals. Raises the errors
    of ``sweep_schema``.
    """
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "qmon.workload.bench.janitor"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=subprocess_environment(),
        start_new_session=True,
        creationflags=system.NEW_GROUP,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None  # noqa: S101  # asked for above
    try:
        process.stdin.write(f"{schema} {WorkerSpec(target).to_json()}\n")
        process.stdin.flush()
        process.stdout.readline()  # the janitor runs and will clean up
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
            sweep_schema(target, schema)


def main(orders: TextIO) -> int:
    """Wait until standard input ends, then drop the schema. Return 0 if the schema no longer exists."""
    for number in (system.HANGUP, signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGQUIT", signal.SIGTERM)):
        signal.signal(number, signal.SIG_IGN)
    schema, _, spec = orders.readline().partition(" ")
    if not spec:
        return 1
    with contextlib.suppress(OSError):
        print("ready", flush=True)
    orders.read()
    try:
        sweep_schema(WorkerSpec.from_json(spec).target, schema)
    except QmonError:
        return 1
    return 0


if __name__ == "__main__":
    code = main(sys.stdin)
    with contextlib.suppress(OSError):
        sys.stdout.close()
    os._exit(code)
