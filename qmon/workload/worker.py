"""A worker process: ``python -m qmon.workload.worker``. The process reads its work from standard input.

The first line is a ``WorkerSpec``, and each later line is an order. After the order ``end``, the process ends as soon
as it has counted its commits. If the input ends without this order, the controller has ended, and the process ends
within two seconds.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Final, TextIO

from qmon.engines import registry
from qmon.workload.consumer import Consumer
from qmon.workload.counter_slots import CounterSlots
from qmon.workload.keeper import Keeper
from qmon.workload.member_thread import Worker
from qmon.workload.producer import Producer
from qmon.workload.session_faults import hold_locks, pin_horizon
from qmon.workload.spec import CHANGEABLE, WorkerSpec

_GRACE_S: Final = 1.5

# Maximum seconds that a thread needs, on a busy machine, to count its commits.
_MAX_COUNT_S: Final = 5.0
_WORKER_TYPES: Final[dict[str, type[Worker]]] = {"producer": Producer, "consumer": Consumer, "keeper": Keeper}


class WorkerThreads:
    """The threads of this process. Runs orders that change or end these threads."""

    def __init__(self, spec: WorkerSpec) -> None:
        self._spec = spec
        self._stop = threading.Event()
        self._end_s = 0.0
        slots = CounterSlots(spec.slots, spec.counters) if spec.members else None
        self._workers = [
            _WORKER_TYPES[each.role](
                spec.target, spec.layouts[each.queue], each, slots.open_slot(each.slot), self._stop
            )
            for each in spec.members
            if slots is not None
        ]
        self._threads = [threading.Thread(target=worker.run, daemon=True) for worker in self._workers]

    def start(self) -> None:
        """Start a thread for each member."""
        for thread in self._threads:
            thread.start()

    def run_order(self, text: str) -> None:
        """Run one order: ``end``, ``change`` members, ``crash``, ``hold`` locks, or ``pin`` the horizon."""
        order = json.loads(text)
        match order.pop("do"):
            case "end":
                self._end_s = _MAX_COUNT_S
            case "change":
                changes = {name: value for name, value in order["changes"].items() if name in CHANGEABLE}
                for worker in self._workers_of(order["queue"], order["role"]):
                    worker.change_member(**changes)
            case "crash":
                for worker in self._workers_of(order["queue"], "consumer"):
                    worker.must_crash = True
            case "hold":
                layout = self._spec.layouts[order["queue"]]
                self._start_fault(hold_locks, layout, order["application"], int(order["rows"]), float(order["seconds"]))
            case "pin":
                self._start_fault(pin_horizon, order["application"], float(order["seconds"]))
            case other:
                raise ValueError(f"unknown order {other!r}")

    def _workers_of(self, queue: str, role: str) -> list[Worker]:
        return [each for each in self._workers if each.member.queue == queue and each.member.role == role]

    def _start_fault(self, fault: object, *arguments: object) -> None:
        engine = registry.engine_for(self._spec.target)
        given = (engine, self._spec.target, self._stop, *arguments)
        threading.Thread(target=fault, args=given, daemon=True).start()  # type: ignore[arg-type]

    def end_threads(self) -> None:
        """Let every thread finish its round. Cancel rounds that take too long."""
        self._stop.set()
        deadline = time.monotonic() + _GRACE_S
        for share in (0.5, 1.0):
            until = deadline - _GRACE_S * (1 - share)
            for thread in self._threads:
                thread.join(max(0.0, until - time.monotonic()))
            for worker, thread in zip(self._workers, self._threads, strict=True):
                if thread.is_alive():
                    worker.cancel_statement()
        until = deadline + self._end_s
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))


def main(orders: TextIO) -> None:
    """Run orders until the input ends."""
    first = orders.readline()
    if first:
        process = WorkerThreads(WorkerSpec.from_json(first))
        process.start()
        for line in orders:
            process.run_order(line)
        process.end_threads()


if __name__ == "__main__":
    main(sys.stdin)
    sys.stdout.flush()
    os._exit(0)  # end at once: a thread may hang in the driver, and there is nothing to clean up
