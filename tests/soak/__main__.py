"""``make soak``: the long forms of tests that ``make test`` runs short.

It prints a line for each; the first failure ends it.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from qmon.demo.embedded_server import EmbeddedServer
from qmon.monitor.source import Phase
from tests.contract.killing import ACTS, Victim
from tests.contract.soaking import MENDED, Fire, Soaked, soak
from tests.contract.watching import Watched, installed, watching
from tests.facts import wait_until
from tests.queues import DESIGNS
from tests.soak.articles import PARTS, articles
from tests.soak.blocking import stood
from tests.soak.churn import plateau
from tests.soak.cluster import same_on_a_cluster
from tests.soak.hostile import hostile
from tests.soak.laboratory import long_form, troubled
from tests.soak.messages import messages_killed
from tests.soak.metrics import scraped
from tests.soak.observer import within
from tests.soak.pipeline import run_killed, tidy_killed
from tests.soak.recording import recorder_killed
from tests.soak.sizing import sized
from tests.soak.trust import trust
from tests.soak.truth import truth
from tests.soak.typist import fuzzed

_LIBRARIES: Final = ("-n", "2", "-m", "soak or server", "tests/libraries")
_WINDOWS: Final = ("-n", "0", "-m", "unit", "-p", "tests.as_windows", "-o", "timeout_method=thread")
SETTINGS: Final = {"fsync": "off", "track_commit_timestamp": "on"}
COLUMNS: Final = "{:<18}{:>9}{:>9}{:>7}{:>6}{:>11}{:>8} {:<7}{:>11}{:>10}"
HEADINGS: Final = (
    "design",
    "messages",
    "pops",
    "kills",
    "naps",
    "deadlocks",
    "seconds",
    "order",
    "violations",
    "ahead",
)


def main() -> None:
    """Run all parts. ``--messages``, ``--kills``, ``--hangs``, ``--sessions`` and ``--acts`` make the run shorter."""
    parser = argparse.ArgumentParser(prog="make soak ARGS=…", description=__doc__)
    parser.add_argument("--messages", type=int, default=50_000, help="messages pushed through each design")
    parser.add_argument("--kills", type=int, default=100, help="processes killed on each side of each design")
    parser.add_argument("--hangs", type=int, default=20, help="times the server is frozen, and as often killed")
    parser.add_argument("--designs", nargs="*", default=list(DESIGNS), help="which designs")
    parser.add_argument(
        "--acts",
        type=int,
        help="times qmon is killed in a purge, a requeue and an undo each: 50, or none where --designs is given",
    )
    parser.add_argument("--sessions", type=int, default=200, help="sessions in trees of who waits for whom")
    parser.add_argument(
        "--laboratory", type=int, nargs="?", const=3, help="only this: each cause of trouble so many times (3)"
    )
    parser.add_argument(
        "--troubles", action="store_true", help="only this: troubles of an engineer on call next to busy loops"
    )
    parser.add_argument("--libraries", action="store_true", help="only this: all tests of all libraries' real workers")
    parser.add_argument("--windows", action="store_true", help="only this: unit tests with all of POSIX gone")
    parser.add_argument("--truth", action="store_true", help="only this: verdicts on random tables held against SQL")
    parser.add_argument("--trust", action="store_true", help="only this: attacks on the rights of whoever runs qmon")
    parser.add_argument("--input", action="store_true", help="only this: whatever is typed, and how fast, qmon goes on")
    parser.add_argument("--seed", type=int, help="there: the same tables and changes again; else others each time")
    parser.add_argument("--tables", type=int, default=100, help="there: how many")
    parser.add_argument("--seconds", type=float, default=600.0, help="there: for how long")
    parser.add_argument("--calm", type=float, default=600.0, help="there: seconds of healthy load, nothing to be said")
    parser.add_argument("--json", type=Path, help="there: where to write the confusion table")
    parser.add_argument("--pipeline", type=int, help="times the pipeline is killed in each mode: 20, as with --acts")
    parser.add_argument("--articles", action="store_true", help="only this: what the articles claim, with figures")
    for part in PARTS:
        parser.add_argument(f"--{part}", action="store_true", help="there: this part, not all of them")
    parser.add_argument(
        "--churn", type=float, nargs="?", const=60.0, help="only this: tables made and dropped for so many minutes (60)"
    )
    parser.add_argument(
        "--metrics",
        type=float,
        nargs="?",
        const=600.0,
        help="only this: a Prometheus scrapes for so many seconds (600)",
    )
    parser.add_argument("--contract", action="store_true", help="only this: what make sqlserver tries, on PostgreSQL")
    parser.add_argument(
        "--lake", type=int, nargs="?", const=20, help="only this: the pipeline's commands killed so often a mode (20)"
    )
    parser.add_argument("--sizing", action="store_true", help="only this: what recordings, lake and driver take")
    parser.add_argument("--cluster", action="store_true", help="only this: the pipeline on a standalone cluster")
    parser.add_argument("--rows", type=int, default=200_000, help="rows that these have to do")
    parser.add_argument("--recorders", type=int, default=100, help="times a recorder is killed")
    parser.add_argument(
        "--hostile", type=int, nargs="?", const=500, help="only this: so many tables of anybody's making (500)"
    )
    parser.add_argument("--minutes", type=float, default=15.0, help="there: how long at most")
    chosen = parser.parse_args()
    if _alone(chosen):
        return
    if chosen.designs:
        print(COLUMNS.format(*HEADINGS), flush=True)
    for number, design in enumerate(chosen.designs):
        fire = Fire(messages=chosen.messages, kills=chosen.kills, seed=number)
        _under_fire(design, fire)
        if design in MENDED:
            _under_fire(design, replace(fire, messages=chosen.messages // 10, ring_size=4, asleep=True))
    if chosen.recorders:
        print(recorder_killed(chosen.recorders), flush=True)
    if chosen.designs == list(DESIGNS):
        _long("tests/contract/test_rates.py", "tests/contract/test_anywhere_cleaning.py", "tests/demo/test_headless.py")
        _long("tests/demo/test_story.py")
        _contract()
    if chosen.hangs:
        print(_hangs(chosen.hangs), flush=True)
    if chosen.sessions:
        print(stood(chosen.sessions), flush=True)
        print(within(), flush=True)
    runs = chosen.pipeline if chosen.pipeline is not None else 20 if chosen.designs == list(DESIGNS) else 0
    if runs:
        _said(_pipeline_killed(runs))
        print(same_on_a_cluster(), flush=True)
    acts = chosen.acts if chosen.acts is not None else 50 if chosen.designs == list(DESIGNS) else 0
    if acts:
        _acts_killed(acts, chosen.rows)


def _alone(chosen: argparse.Namespace) -> bool:
    """Run a part that was requested alone. Return whether there was one."""
    if chosen.laboratory is not None:
        for line in long_form(chosen.laboratory, chosen.calm, chosen.json):
            print(line, flush=True)
        return True
    if chosen.libraries or chosen.windows:
        command = [sys.executable, "-m", "pytest", *(_LIBRARIES if chosen.libraries else _WINDOWS)]
        sys.exit(subprocess.run(command, check=False).returncode)
    if chosen.truth:
        seed = random.randrange(10**6) if chosen.seed is None else chosen.seed
        _truth(seed, chosen.tables, chosen.seconds)
        return True
    if chosen.trust:
        for line in trust():
            print(line, flush=True)
        return True
    if chosen.articles:
        parts = [part for part in PARTS if getattr(chosen, part)] or PARTS
        for line in articles(parts, chosen.designs, min(chosen.messages, 600), chosen.seed or 0):
            print(line, flush=True)
        return True
    if chosen.hostile is not None:
        for line in hostile(chosen.hostile, chosen.seed or 0, chosen.minutes):
            print(line, flush=True)
        return True
    if chosen.contract:
        _contract()
        return True
    return _said(_lines_alone(chosen))


def _said(lines: Iterator[str]) -> bool:
    """Print each line as it arrives. Return whether there was one."""
    said = False
    for line in lines:
        print(line, flush=True)
        said = True
    return said


def _lines_alone(chosen: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of the requested parts."""
    if chosen.troubles:
        yield from troubled()
    if chosen.churn is not None:
        yield plateau(chosen.churn)
    if chosen.metrics is not None:
        yield scraped(chosen.metrics)
    if chosen.lake is not None:
        yield from _pipeline_killed(chosen.lake)
    if chosen.input:
        seed = random.randrange(10**6) if chosen.seed is None else chosen.seed
        with EmbeddedServer(settings=SETTINGS) as server, tempfile.TemporaryDirectory() as folder:
            yield from fuzzed(server.url(), Path(folder), seed=seed, seconds=chosen.seconds)
    if chosen.sizing:
        yield from sized()
    if chosen.cluster:
        yield same_on_a_cluster()


def _truth(seed: int, tables: int, seconds: float) -> None:
    with EmbeddedServer(settings=SETTINGS) as server:
        told = truth(server.url(), seed=seed, tables=tables, seconds=seconds)
    print(told.line(), flush=True)
    if told.lies:
        raise SystemExit("\n".join(told.lies[:40]))


def _under_fire(design: str, fire: Fire) -> None:
    """Run one design on its own server, and return its line."""
    with EmbeddedServer(settings=SETTINGS) as server:
        done = soak(server.url(), design, fire)
    print(_line(done, fire), flush=True)
    assert done.order.violations == 0 or design == "ring_classic", done.order  # which inverts laps once it is full


def _line(done: Soaked, fire: Fire) -> str:
    """Deadlocks are counted per run, of 50,000 messages by default. "ahead" is the largest lead of a pop."""
    name = f"{done.design}, {fire.ring_size} slots" if fire.asleep else done.design
    return COLUMNS.format(
        name,
        done.pushed,
        done.pops,
        done.producers_killed + done.consumers_killed,
        done.naps,
        done.deadlocks,
        round(done.seconds),
        done.order.promise,
        done.order.violations,
        done.order.furthest,
    )


def _long(*files: str, **environment: str) -> None:
    """The long forms of tests; pytest prints its lines."""
    asked = [sys.executable, "-m", "pytest", "-q", "-m", "", *files]  # including those marked soak
    subprocess.run(asked, env=os.environ | {"QMON_LONG": "1"} | environment, check=True)


def _contract() -> None:
    """Run the checks of ``make sqlserver``, written for SQL Server, on a PostgreSQL; this runs every SQL file."""
    files = sorted(str(path) for path in Path("tests/contract").glob("test_anywhere*.py"))
    with EmbeddedServer() as server:
        _long("-p", "tests.contract.anywhere_run", "-k", "postgres", *files, QMON_TEST_POSTGRES=server.url("postgres"))


def _pipeline_killed(times: int) -> Iterator[str]:
    for killed in (run_killed, tidy_killed, messages_killed):
        yield killed(times)


def _acts_killed(kills: int, rows: int) -> None:
    """Kill each kind of action this number of times on its own server, and yield its line."""
    for number, act in enumerate(ACTS):
        with EmbeddedServer(settings=SETTINGS) as server, tempfile.TemporaryDirectory() as folder:
            print(Victim(server.url(), Path(folder), rows, random.Random(number)).strike(act, kills), flush=True)


def _lost(watched: Watched, seen: int) -> bool:
    """Return whether the connection was lost after this number of changes of phase."""
    return any(state.phase is Phase.LOST for state in watched.states[seen:])


def _hangs(times: int) -> str:
    """Freeze and kill the server under a poller; it recovers each time, and shows no false rate."""
    with EmbeddedServer(settings={"fsync": "off"}) as server:
        installed(server.url(), "status", "ring")
        with watching(server.url()) as watched:
            for _ in range(times):
                for hurt, heal in ((server.freeze, server.thaw), (server.kill, server.start)):
                    watched.view()
                    seen = len(watched.states)
                    hurt()
                    wait_until(partial(_lost, watched, seen), what="the loss")
                    heal()
                    watched.view(polls=2, timeout=90)
            rates = [f.value for v in watched.views for q in v.queues for f in (q.push_rate, q.pop_rate)]
    assert all(rate is None or rate == 0 for rate in rates)
    return f"the server frozen and killed {times} times each: recovered every time, {len(rates)} rates, none absurd"


if __name__ == "__main__":
    main()
