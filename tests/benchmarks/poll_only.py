"""Only the poller, for the tax: polls a URL every second, folds, and prints a line per poll until it is stopped."""

from __future__ import annotations

import sys
import threading

from qmon.monitor.open import open_poller
from qmon.monitor.source import Event, SourceState
from qmon.monitor.state.target_history import TargetHistory
from tests.benchmarks.queues import bench_target


def main() -> None:
    history = TargetHistory()

    def sink(event: Event) -> None:
        if not isinstance(event, SourceState):
            print(history.record_snapshot(event).sequence, flush=True)

    poller = open_poller(bench_target(sys.argv[1]), interval_s=1.0)
    poller.start(sink)
    threading.Event().wait()


if __name__ == "__main__":
    main()
