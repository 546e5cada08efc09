"""One worker process as the controller sees it: started, ordered about, killed, started again."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import IO

import qmon
from qmon.workload.spec import MemberSpec, WorkerSpec


class WorkerProcess:
    """A process that runs ``qmon.workload.worker``. Its counters outlive it: a new start counts on."""

    def __init__(self, spec: WorkerSpec) -> None:
        self.spec = spec
        """What the next start will do; orders that change members change it too."""
        self._process: subprocess.Popen[bytes] | None = None
        self._complaints: IO[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id, while it runs."""
        return self._process.pid if self._process is not None and self.running else None

    @property
    def running(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the process; nothing happens where it runs."""
        if self.running:
            return
        self._forget()
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the process
        package = str(Path(qmon.__file__).parent.parent)
        path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH", ""))))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "qmon.workload.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._complaints,
            pass_fds=(self.spec.counters,) if self.spec.counters >= 0 else (),
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,  # Ctrl-C is for the controller: it ends the workers in order
        )
        self._send(self.spec.to_json())

    def order(self, do: str, **words: object) -> None:
        """Send an order; see ``qmon.workload.worker``. Lost on a process that is gone."""
        if do == "change":
            self.spec = replace(self.spec, members=tuple(self._changed(each, words) for each in self.spec.members))
        self._send(json.dumps({"do": do, **words}))

    def _changed(self, member: MemberSpec, words: dict[str, object]) -> MemberSpec:
        changes = words["changes"]
        if (member.queue, member.role) != (words["queue"], words["role"]) or not isinstance(changes, dict):
            return member
        return replace(member, **changes)

    def has(self, queue: str, role: str) -> bool:
        """Whether one of its members has this role on this queue."""
        return any(each.queue == queue and each.role == role for each in self.spec.members)

    def kill(self) -> None:
        """End it with SIGKILL, at whatever it is doing."""
        if self._process is not None and self.running:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def close_orders(self) -> None:
        """Ask it to end: it does within two seconds. Does not wait."""
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def finish(self, timeout_s: float = 3.0) -> None:
        """Wait until it has ended, at most ``timeout_s`` seconds; then kill it."""
        if self._process is not None:
            self.close_orders()
            try:
                self._process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                self.kill()
        self._forget()

    def complaint(self) -> str:
        """The last line that the process wrote about itself before it failed, or nothing."""
        if self._complaints is None:
            return ""
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def _send(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):  # it is gone, or being closed
                self._process.stdin.write(line.encode() + b"\n")
                self._process.stdin.flush()

    def _forget(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        if self._complaints is not None:
            self._complaints.close()
            self._complaints = None
