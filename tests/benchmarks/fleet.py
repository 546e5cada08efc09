"""Fleet: the cost of a dashboard over thirty targets. Three hang, one refuses our password and one starts late.

Twenty-six are databases of one server, with four queues each. The target on the screen is polled every 2 s, the
others every 10 s. Processor time is that of the process with all its threads.
"""

from __future__ import annotations

import contextlib
import os
import random
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from unittest.mock import patch
from urllib.parse import quote, urlencode

from qmon.demo.embedded_server import SUPERUSER, EmbeddedServer
from qmon.tui.shared.header import HeaderText
from qmon.workload.load_driver import Load
from qmon.workload.load_plan import QueueLoad
from tests.benchmarks.queues import SETTINGS, bench_target, install_queues, installed_queues
from tests.benchmarks.results import Bound, Part
from tests.benchmarks.terminal import InTerminal
from tests.benchmarks.usage import processor_s
from tests.facts import query

TARGETS = 30
HANGING = 3
SHARE = 0.15
MEGABYTES = 150.0
KEY_S = 0.1
# The first target may take this many times as long to be painted as a single target.
LATER = 1.3
_FOUR = ("status", "fifo", "batch_fast", "naive")
_BUSY = 3
_TYPED = 9
_LETTERS = "bcdfghjklmnpqrtvwxz"
_FIRST = "q1_status"
_ANSWERS = HeaderText.LIVE
_TEMPLATE = "pattern"


def run(*, quick: bool = False) -> Part:
    """Run once over all targets, after runs that only measure the time until the first figures are painted."""
    targets, seconds, rounds, runs = (8, 12.0, 2, 1) if quick else (TARGETS, 60.0, 12, 5)
    part = Part(
        "fleet", {"targets": targets, "queues each": len(_FOUR), "seconds": seconds, "columns": 120, "lines": 40}
    )
    with _fleet(targets) as (server, hanging, config), _busy(server):
        alone, every = ("connect", "shop01"), ("connect", "--all", "--config", str(config))
        first_alone = median(_painted(_FIRST, *alone, "--config", str(config)) for _ in range(runs))
        first = median(_painted(_ANSWERS, *every) for _ in range(runs))
        with InTerminal(_command(*every)) as terminal:
            terminal.wait_for(_ANSWERS)
            _settle(seconds / 2)
            hanging.freeze()
            _copy(server, "later")
            _settle(seconds / 2)
            on_all = _share(terminal, seconds)
            terminal.send(":shop03/q1\r")
            terminal.wait_for(_FIRST)
            _settle(seconds / 4)
            on_one = _share(terminal, seconds)
            keys = sorted(took for _ in range(rounds) for took in _typed(terminal))
            megabytes = terminal.process.memory_full_info().pss / 1e6
            threads = terminal.process.num_threads()
    part.rows = [
        {"what": "share of a core, all targets on the screen", "figure": on_all},
        {"what": "share of a core, one target on the screen", "figure": on_one},
        {"what": "threads", "figure": threads},
        {"what": "first figures of one target alone, s", "figure": first_alone},
        {"what": "first figures of the fleet, s", "figure": first},
        {"what": "a key, median s", "figure": median(keys)},
        {"what": "a key, the slowest, s", "figure": keys[-1]},
    ]
    part.bounds = [
        Bound("share of a core, one target on the screen", on_one, SHARE),
        Bound("share of a core, all targets on the screen", on_all, SHARE),
        Bound("megabytes (PSS)", megabytes, MEGABYTES),
        Bound("first figures, of those of one target alone", first / first_alone, LATER),
        Bound("19 keys of 20 are answered within, s", keys[int(len(keys) * 0.95)], KEY_S),
    ]
    return part


@contextmanager
def _fleet(targets: int) -> Iterator[tuple[EmbeddedServer, EmbeddedServer, Path]]:
    """Yield the server of most targets, the server of those that will hang, and the configuration of all."""
    with (
        EmbeddedServer(settings=SETTINGS | {"max_connections": "400"}, tcp=True) as server,
        EmbeddedServer(settings=SETTINGS) as hanging,
        TemporaryDirectory(prefix="fleet-") as folder,
        patch.dict(os.environ, {"QMON_PASSWORD_REFUSED": "wrong"}),
    ):
        names = [f"shop{number:02d}" for number in range(1, targets - HANGING - 1)]
        hung = [f"hung{number}" for number in range(1, HANGING + 1)]
        for place, databases in ((server, names), (hanging, hung)):
            query(_through_socket(place, "qmon"), f"CREATE DATABASE {_TEMPLATE}")
            install_queues(bench_target(_through_socket(place, _TEMPLATE)), _FOUR)
            for name in databases:
                _copy(place, name)
        urls = {name: _through_socket(server, name) for name in (*names, "later")}
        urls |= {name: _through_socket(hanging, name) for name in hung}
        urls["refused"] = f"postgresql://{SUPERUSER}@127.0.0.1:{server.port}/{names[0]}"
        config = Path(folder) / "qmon.toml"
        config.write_text("".join(f'[target.{name}]\nconnect = "{url}"\n' for name, url in urls.items()), "utf-8")
        try:
            yield server, hanging, config
        finally:
            hanging.thaw()


def _through_socket(server: EmbeddedServer, database: str) -> str:
    where = urlencode({"host": str(server.socket_dir), "port": server.port}, quote_via=quote, safe="")
    return f"postgresql://{SUPERUSER}@/{database}?{where}"


def _copy(server: EmbeddedServer, name: str) -> None:
    query(_through_socket(server, "qmon"), f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE}")


@contextmanager
def _busy(server: EmbeddedServer) -> Iterator[None]:
    """Run producers and consumers on some of the targets."""
    with contextlib.ExitStack() as loads:
        for number in range(1, _BUSY + 1):
            target = bench_target(_through_socket(server, f"shop{number:02d}"))
            layouts = [layout for layout in installed_queues(target) if layout.design != "batch_fast"]
            loads.enter_context(
                Load(target, [QueueLoad(each, rate=10, pop_rate=11, own_processes=False) for each in layouts])
            )
        yield


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "qmon", *arguments]


def _painted(mark: str, *arguments: str) -> float:
    with InTerminal(_command(*arguments)) as terminal:
        return terminal.wait_for(mark)


def _share(terminal: InTerminal, seconds: float) -> float:
    """Return the share of a core that the program uses over this time."""
    began, used = time.monotonic(), processor_s(terminal.process.pid)
    _settle(seconds)
    return (processor_s(terminal.process.pid) - used) / (time.monotonic() - began)


def _typed(terminal: InTerminal) -> list[float]:
    """Type letters into the search for targets and queues; return the seconds until each is painted."""
    terminal.send(":")
    _settle(0.5)
    took = []
    word = "".join(random.sample(_LETTERS, _TYPED))
    for count, letter in enumerate(word, 1):
        began = time.perf_counter()
        terminal.send(letter)
        if count > 3:  # fewer letters may have been painted before
            took.append(terminal.wait_for(word[:count]) + terminal.started - began)
        else:
            _settle(0.2)
    terminal.send("\x1b")
    _settle(0.5)
    return took


def _settle(seconds: float) -> None:
    threading.Event().wait(seconds)
