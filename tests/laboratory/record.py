"""Record real runs for the check of the forecast: ``python -m tests.laboratory.record SECONDS FILE``."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from qmon.demo.embedded_server import EmbeddedServer
from qmon.engines.registry import engine_for
from qmon.model.forecast import AHEAD_S
from qmon.operate.install.install_queue import install_queue
from qmon.workload.load_driver import Load
from qmon.workload.load_plan import QueueLoad
from tests.contract.watching import Watched, connect, target_of, watching
from tests.facts import query
from tests.laboratory.foretold import DRAINED, FORETOLD_AT_S
from tests.laboratory.healthy import drive
from tests.laboratory.runs import RUNS, Run
from tests.queues import BYTES, routine

INTERVAL_S: Final = 2.0
_SETTINGS: Final = {"synchronous_commit": "off", "max_connections": "200", "autovacuum_naptime": "5s"}


def record(runs: Sequence[Run], seconds: float, interval_s: float = INTERVAL_S) -> list[dict[str, Any]]:
    """Return the readings of each run by poll: seconds since the previous poll, ready, net, pushed, popped."""
    series: dict[str, list[list[float]]] = {f"q{number}": [] for number in range(len(runs))}
    with EmbeddedServer(settings=_SETTINGS) as server:
        url = server.url()
        target, loads = target_of(url), []
        connection = connect(url)
        for number, run in enumerate(runs):
            made = install_queue(
                connection, engine_for(target), run.design, schema="public", queue=f"q{number}", ring_size=4000
            ).layout
            text = "convert_to('backlog', 'UTF8')" if run.design in BYTES else "'backlog'"
            query(url, f"SELECT count({routine(made, 'push')}({text})) FROM generate_series(1, {run.backlog})")
            push, pop = run.rates(0.0, random.Random(0))
            more = {"rate": push, "pop_rate": pop, "message_bytes": 100, "own_processes": False, **run.load}
            loads.append(QueueLoad(made, **more))
        connection.close()
        with Load(target, loads) as load, watching(url, interval_s=interval_s) as watched:
            _note(watched, series)
            drive(load, {f"q{number}": run for number, run in enumerate(runs)}, seconds)
    return [{"name": run.name, "design": run.design, "ticks": series[f"q{number}"]} for number, run in enumerate(runs)]


def _note(watched: Watched, series: dict[str, list[list[float]]]) -> None:
    """Record each tick of each queue from now on."""
    fold = watched.history.record_snapshot

    def add(snapshot: Any) -> Any:
        view = fold(snapshot)
        for queue in view.queues:
            ticks = watched.history._tracks[queue.name]._window._ticks
            if ticks and queue.ready.value is not None:
                last = ticks[-1]
                tick = [last.seconds, queue.ready.value, last.flow.net, last.flow.pushed, last.flow.popped]
                series[queue.name].append([round(number, 3) for number in tick if number is not None])
        return view

    watched.history.record_snapshot = add  # type: ignore[method-assign]


def needed(run: dict[str, Any]) -> dict[str, Any]:
    """Keep only the ticks the check needs: until the queue is empty, or as long as its growth is forecast."""
    ticks, seconds = [], 0.0
    for tick in run["ticks"]:
        ticks.append([tick[0], *(round(number) for number in tick[1:])])
        seconds += tick[0]
        grown = run["name"].startswith("growing") and seconds > FORETOLD_AT_S + AHEAD_S + 5
        if seconds > FORETOLD_AT_S + 2 and (tick[1] <= DRAINED or grown):
            break
    return {**run, "ticks": ticks}


def main() -> None:
    seconds, file = float(sys.argv[1]), Path(sys.argv[2])
    found = [needed(run) for run in record(RUNS, seconds)]
    file.write_text("[\n" + ",\n".join(json.dumps(each, separators=(",", ":")) for each in found) + "\n]\n")


if __name__ == "__main__":
    main()
