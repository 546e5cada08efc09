"""A real Prometheus scrapes ``qmon serve`` over the demo while servers, qmon and counters restart."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

from qmon.demo.demo_runner import SETTINGS, run_scene_on
from qmon.demo.embedded_server import EmbeddedServer
from qmon.demo.scene import BUDGET
from qmon.workload.committed_counts import CommittedCounts, CommittedFlow
from tests.cli.calling import program, surroundings
from tests.demo.agreement import agree
from tests.facts import query, wait_until

WINDOW_S: Final = 60.0
# Windows this close to a disturbance, in seconds, may contain its effect.
_EDGE_S: Final = 5.0
_STEP_S: Final = 5.0
# PostgreSQL counts the last second of a session ten seconds after it fell idle. A poll follows.
_LATE_S: Final = 12
_RATES: Final = {"pushed": "push_rate", "popped": "pop_rate", "completed": "complete_rate"}
_ALONE: Final = {"qmon_target_up", "qmon_target_poll_age_seconds"}
_CONFIG: Final = """
global: {{ scrape_interval: 1s, scrape_timeout: 1s }}
scrape_configs:
  - job_name: qmon
    static_configs: [{{ targets: ["127.0.0.1:{port}"] }}]
"""
# Time, seconds since the epoch, and value.
Samples = list[tuple[float, float]]


def free_port() -> int:
    """Return a port that no process listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Prometheus:
    """A Prometheus that scrapes one port, queried over HTTP."""

    def __init__(self, folder: Path, scraped: int) -> None:
        self._folder = folder
        self._port = free_port()
        config = folder / "prometheus.yml"
        config.write_text(_CONFIG.format(port=scraped))
        self._command = [
            "prometheus",
            f"--config.file={config}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{self._port}",
        ]

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Run until the end of the block."""
        log = self._folder / "prometheus.log"
        with log.open("wb") as written, subprocess.Popen(self._command, stdout=written, stderr=written) as process:
            try:
                wait_until(self._ready, 60, what=f"Prometheus, see {log}")
                yield
            finally:
                process.terminate()

    def _ready(self) -> bool:
        try:
            with urlopen(f"http://127.0.0.1:{self._port}/-/ready", timeout=5) as answer:
                return bool(answer.status == 200)
        except (URLError, ConnectionError):
            return False

    def ask(self, expression: str, at: float) -> list[dict[str, Any]]:
        """Return the value of an expression at a moment."""
        asked = urlencode({"query": expression, "time": at})
        with urlopen(f"http://127.0.0.1:{self._port}/api/v1/query?{asked}", timeout=30) as answer:
            found: list[dict[str, Any]] = json.load(answer)["data"]["result"]
        return found


@dataclass
class Soak:
    """The demo's server and load, ``qmon serve`` over it, and Prometheus.

    ``disturbed``: start and end of each disturbance.
    """

    server: EmbeddedServer
    counts: CommittedCounts
    prometheus: Prometheus
    command: list[str]
    qmon: subprocess.Popen[bytes]
    disturbed: list[tuple[float, float]] = field(default_factory=list)

    def disturb(self, act: Callable[[], None]) -> None:
        """Disturb, and wait until qmon has polled twice."""
        began = time.time()
        act()
        up = "qmon_target_up == 1 and qmon_target_poll_age_seconds < 2"
        wait_until(lambda: self.prometheus.ask(up, time.time()), 120, what="qmon polls again")
        threading.Event().wait(3.0)
        self.disturbed.append((began - _EDGE_S, time.time() + _EDGE_S))

    def reset(self) -> None:
        """Reset the server's counters, and empty a table."""
        query(self.server.url(), "SELECT pg_stat_reset()")
        query(self.server.url(), "TRUNCATE shop.events")

    def restart_server(self) -> None:
        """Stop the server, check the served metrics in the meantime, and start it."""
        self.server.stop()
        lost = partial(self.prometheus.ask, "qmon_target_up == 0")
        wait_until(lambda: lost(time.time()), 60, what="the loss")
        served = {each["metric"]["__name__"] for each in self.prometheus.ask('{__name__=~"qmon_.*"}', time.time())}
        assert served == _ALONE, served
        self.server.start()

    def kill_server(self) -> None:
        """Crash the server as a power cut would; its counters are lost too."""
        self.server.kill()
        self.server.start()

    def restart_qmon(self, number: signal.Signals) -> None:
        """End it with a signal and start it."""
        self.qmon.send_signal(number)
        self.qmon.wait(60)
        self.qmon = start(self.command)

    def clean(self, start: float, end: float) -> bool:
        """Return whether there was no disturbance from ``start`` to ``end``."""
        return not any(start < over and began < end for began, over in self.disturbed)


def start(command: list[str]) -> subprocess.Popen[bytes]:
    """Start ``qmon serve``."""
    return subprocess.Popen(command, env=surroundings(), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def scraped(seconds: float) -> str:
    """Scrape for this number of seconds. Return a summary."""
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedServer(settings=SETTINGS) as server,
        run_scene_on(server, quiet=True) as (_, load, _),
    ):
        port = free_port()
        config = Path(folder) / "qmon.toml"
        config.write_text(f'[target.demo]\nconnect = "{server.url()}"\nbudget = "{BUDGET.text}"\n', encoding="utf-8")
        listen = f"127.0.0.1:{port}"
        command = program("serve", "demo", "--config", str(config), "--every", "1s", "--listen", listen)
        prometheus = Prometheus(Path(folder), port)
        with prometheus.running():
            soak = Soak(server, load.counts, prometheus, command, start(command))
            try:
                began = time.time()
                soak.disturb(lambda: None)
                acts: tuple[Callable[[], None], ...] = (
                    soak.reset,
                    soak.restart_server,
                    soak.kill_server,
                    partial(soak.restart_qmon, signal.SIGTERM),
                    partial(soak.restart_qmon, signal.SIGKILL),
                )
                for number, act in enumerate(acts, 1):
                    _until(began + seconds * number / (len(acts) + 1))
                    soak.disturb(act)
                _until(began + seconds)
                return _judged(soak, soak.disturbed[0][1], time.time() - 1.0)
            finally:
                soak.qmon.kill()
                soak.qmon.wait()


def _until(moment: float) -> None:
    threading.Event().wait(max(0.0, moment - time.time()))


def _judged(soak: Soak, began: float, last: float) -> str:
    """Compare ``rate()`` with the counts: within 3 %, or 1.5 s of flow if the busiest queue is counted late."""
    windows, clean, problems, worst = 0, 0, list[str](), 0.0
    at = began + WINDOW_S + _LATE_S
    while at <= last:
        undisturbed = soak.clean(at - WINDOW_S, at)
        counted = soak.counts.flow_between(at - WINDOW_S, at)
        seconds = [
            soak.counts.flow_between(end - n, end - n + 1) for end in (at - WINDOW_S, at) for n in range(1, _LATE_S + 1)
        ]
        for queue, moved, rate in _rates(soak.prometheus, at):
            windows, clean = windows + 1, clean + undisturbed
            expected = getattr(counted[queue], _RATES[moved])
            if undisturbed:
                worst = max(worst, abs(rate - expected) / expected if expected else 0.0)
            off = abs(rate - expected) * WINDOW_S
            near = agree(rate, expected, WINDOW_S) or off <= 1.5 * max(getattr(each[queue], moved) for each in seconds)
            if rate < 0 or not (near or (rate < expected and not undisturbed)):
                problems.append(f"{queue} {moved} at {at - began:.0f} s: {rate:.2f}/s, {expected:.2f}/s counted")
        at += _STEP_S
    resets = _increases(soak, began, last, problems)
    line = (
        f"metrics: {clean:,} of {windows:,} windows undisturbed, rate() off by {worst:.1%} at most; "
        f"{len(problems)} out of bounds; {resets} counters seen to begin anew"
    )
    assert clean, line
    assert not problems, "\n".join((line, *problems))
    return line


def _rates(prometheus: Prometheus, at: float) -> Iterator[tuple[str, str, float]]:
    for moved in _RATES:
        for each in prometheus.ask(f"rate(qmon_queue_{moved}_messages_total[{WINDOW_S:.0f}s])", at):
            yield each["metric"]["queue"], moved, float(each["value"][1])


def _increases(soak: Soak, began: float, end: float, problems: list[str]) -> int:
    """Compare each counter's whole increase with the total count, and with the count outside disturbances."""
    resets = 0
    whole = soak.counts.flow_between(began, end)
    for moved in _RATES:
        expression = f"qmon_queue_{moved}_messages_total[{end - began:.0f}s]"
        for each in soak.prometheus.ask(expression, end):
            queue = each["metric"]["queue"]
            values = [float(value) for _, value in each["values"]]
            resets += sum(now < before for before, now in pairwise(values))
            increase = sum(now - before if now >= before else now for before, now in pairwise(values))
            counted = getattr(whole[queue], moved)
            lost = sum(getattr(each, moved) for each in _disturbed(soak, queue, began, end))
            if not 0.97 * (counted - lost) - 10 <= increase <= 1.03 * counted + 10:
                problems.append(f"{queue} {moved}: {increase:.0f} in all, {counted:.0f} counted, {lost:.0f} disturbed")
    return resets


def _disturbed(soak: Soak, queue: str, began: float, end: float) -> Iterator[CommittedFlow]:
    for start, over in soak.disturbed:
        if max(start, began) < min(over, end):
            yield soak.counts.flow_between(max(start, began), min(over, end))[queue]
