"""Controls the worker processes of a load: start, order, kill, restart."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import qmon
from qmon import system
from qmon.redact import environment_without_secrets
from qmon.workload.spec import MemberRole, MemberSpec, WorkerSpec


def subprocess_environment() -> dict[str, str]:
    """Return the environment in which a subprocess finds this package. It contains no passwords."""
    package = str(Path(qmon.__file__).parent.parent)
    kept = environment_without_secrets(os.environ)
    return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH", ""))))}


class Crew:
    """Start, order, kill, restart and end worker processes. Only one thread at a time may use this object."""

    def __init__(self, specs: Sequence[WorkerSpec], aside: WorkerSpec) -> None:
        """``aside``: the process for faults that need a separate session."""
        self._processes = [WorkerProcess(spec) for spec in specs]
        self._aside = WorkerProcess(aside)
        self._wanted = False

    @property
    def pids(self) -> tuple[int, ...]:
        """The ids of the running processes."""
        return tuple(pid for each in (*self._processes, self._aside) if (pid := each.pid) is not None)

    def pids_of(self, queue: str, role: MemberRole) -> tuple[int, ...]:
        """Return the ids of running processes that have members of this role on this queue."""
        return tuple(pid for each in self._processes_of(queue, role) if (pid := each.pid) is not None)

    def start_workers(self) -> None:
        """Start all processes except the process for faults."""
        self._wanted = True
        for process in self._processes:
            process.start()

    def dead_processes(self) -> list[WorkerProcess]:
        """Return the processes that should be running but are not."""
        return [each for each in self._processes if self._wanted and not each.is_running]

    def change_members(self, queue: str, role: MemberRole, changes: dict[str, object]) -> None:
        """Change ``qmon.workload.spec.CHANGEABLE`` fields of members. A dead process is restarted with the change."""
        for process in self._processes_of(queue, role):
            process.send_order("change", queue=queue, role=role, changes=changes)

    def crash_after_next_pop(self, queue: str) -> None:
        """Crash the queue's consumers after their next pop, before they complete or commit it."""
        for process in self._processes_of(queue, "consumer"):
            process.send_order("crash", queue=queue)

    def kill_members(self, queue: str, role: MemberRole) -> None:
        """Use SIGKILL to kill the processes that have members of this role on this queue."""
        for process in self._processes_of(queue, role):
            process.kill()

    def cause_fault(self, do: str, **words: object) -> None:
        """Let a separate session cause a fault: ``hold`` or ``pin``."""
        self._aside.start()
        self._aside.send_order(do, **words)

    def end_all(self) -> None:
        """End each process after its current round."""
        self._wanted = False
        every = (*self._processes, self._aside)
        for process in every:
            process.send_order("end")
            process.close_orders()
        for process in every:
            process.wait_ended()

    def _processes_of(self, queue: str, role: MemberRole) -> list[WorkerProcess]:
        return [each for each in self._processes if each.has_member(queue, role)]


class WorkerProcess:
    """A process that runs ``qmon.workload.worker``.

    The counters are kept when the process ends, so a restarted process continues to count.
    """

    def __init__(self, spec: WorkerSpec) -> None:
        # The work that the process gets when it is started again. An order that changes members also changes this work.
        self.spec = spec
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id, while it runs."""
        return self._process.pid if self._process is not None and self.is_running else None

    @property
    def is_running(self) -> bool:
        """Whether the process is running."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the process, unless it is running."""
        if self.is_running:
            return
        self.close_orders()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "qmon.workload.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=system.inherited_descriptors(self.spec.counters) if self.spec.counters >= 0 else (),
            env=subprocess_environment(),
            start_new_session=True,  # only the controller receives Ctrl-C; it ends the workers in an orderly way
            creationflags=system.NEW_GROUP,
        )
        self._send_line(self.spec.to_json())

    def send_order(self, do: str, **words: object) -> None:
        """Send an order; see ``qmon.workload.worker``. Orders to a dead process are lost."""
        if do == "change":
            self.spec = replace(
                self.spec, members=tuple(self._apply_changes(each, words) for each in self.spec.members)
            )
        self._send_line(json.dumps({"do": do, **words}))

    def _apply_changes(self, member: MemberSpec, order: dict[str, object]) -> MemberSpec:
        changes = order["changes"]
        if (member.queue, member.role) != (order["queue"], order["role"]) or not isinstance(changes, dict):
            return member
        return replace(member, **changes)

    def has_member(self, queue: str, role: str) -> bool:
        """Return whether a member of this process has this role on this queue."""
        return any(each.queue == queue and each.role == role for each in self.spec.members)

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        if self._process is not None and self.is_running:
            self._process.kill()
            self._process.wait()

    def close_orders(self) -> None:
        """Close the input of the process, so that it ends (see ``qmon.workload.worker``). Does not wait."""
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def wait_ended(self, timeout_s: float = 8.0) -> None:
        """Wait until the process has ended. If it has not ended after ``timeout_s`` seconds, kill it."""
        if self._process is not None:
            self.close_orders()
            try:
                self._process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                self.kill()

    def _send_line(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):  # the process has ended, or its input is being closed
                self._process.stdin.write(line.encode() + b"\n")
                self._process.stdin.flush()
