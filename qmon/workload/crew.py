"""The worker processes of a load: all of them together, and those of one queue."""

from __future__ import annotations

from collections.abc import Sequence

from qmon.workload.process import WorkerProcess
from qmon.workload.spec import Role, WorkerSpec


class Crew:
    """Starts, orders about, kills, restarts and ends worker processes. One thread at a time."""

    def __init__(self, specs: Sequence[WorkerSpec], aside: WorkerSpec) -> None:
        """``aside``: the process in which faults live that need a session of their own."""
        self._processes = [WorkerProcess(spec) for spec in specs]
        self._aside = WorkerProcess(aside)
        self._wanted = False

    @property
    def pids(self) -> tuple[int, ...]:
        """Those that run now."""
        return tuple(pid for each in (*self._processes, self._aside) if (pid := each.pid) is not None)

    def pids_of(self, queue: str, role: Role) -> tuple[int, ...]:
        """Those that run now and have members of this role on this queue."""
        return tuple(pid for each in self._of(queue, role) if (pid := each.pid) is not None)

    def start(self) -> None:
        """Start all but the one for faults."""
        self._wanted = True
        for process in self._processes:
            process.start()

    def fallen(self) -> list[WorkerProcess]:
        """Those that should run and do not."""
        return [each for each in self._processes if self._wanted and not each.running]

    def change(self, queue: str, role: Role, changes: dict[str, object]) -> None:
        """Change members, see ``qmon.workload.spec.CHANGEABLE``; a process that is down starts with the change."""
        for process in self._of(queue, role):
            process.order("change", queue=queue, role=role, changes=changes)

    def crash(self, queue: str) -> None:
        """Let the poppers of a queue die, between a pop and its complete, as soon as they pop something."""
        for process in self._of(queue, "popper"):
            process.order("crash", queue=queue)

    def kill(self, queue: str, role: Role) -> None:
        """End the processes that have members of this role on this queue with SIGKILL, whatever they are doing."""
        for process in self._of(queue, role):
            process.kill()

    def aside(self, do: str, **words: object) -> None:
        """Let a session of its own do something: ``hold`` or ``pin``."""
        self._aside.start()
        self._aside.order(do, **words)

    def finish(self) -> None:
        """End all of them, each after its round."""
        self._wanted = False
        every = (*self._processes, self._aside)
        for process in every:
            process.close_orders()
        for process in every:
            process.finish()

    def _of(self, queue: str, role: Role) -> list[WorkerProcess]:
        return [each for each in self._processes if each.has(queue, role)]
