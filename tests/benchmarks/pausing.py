"""Pausing: the cost for push and pop of checking the pause switch, compared with functions that do not check it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from itertools import product
from statistics import median, quantiles

import pyodbc

from qmon.model.layout.layout import Layout
from tests.benchmarks.queues import bench_server, bench_target, install_queues
from tests.benchmarks.results import Bound, Part
from tests.facts import connected
from tests.queues import ENGINE, routine

AT_LEAST = 0.98
DESIGNS = ("fifo", "ring", "status", "batch_fast")
_ASKS = re.compile(r"\n    IF pg_sequence_last_value\([^;]*THEN\s*PERFORM[^;]*;\s*END IF;")
_BARE = "bare_"
CONNECTION = "over a connection"
DURABLE = "inside the server, commits on disk"
Loop = Callable[[pyodbc.Connection, str, int], float]


def run(*, quick: bool = False) -> Part:
    """Alternate between both functions, one transaction for each message, over a connection and in loops on the server.

    Each pair of slices gives one ratio of throughputs. The bounds are on the medians of all designs' pairs over a
    connection, with commits that wait for the disk: that is how queues are used. On the server without that wait, only
    the function runs and the check costs the largest share; this is reported without a bound.
    """
    pairs = 4 if quick else 16
    part = Part("pausing", {"pairs": pairs})
    every: dict[str, list[float]] = {CONNECTION: [], DURABLE: []}
    with bench_server(fsync="on") as server:
        layouts = install_queues(bench_target(server.url()), DESIGNS)
        with connected(server.url()) as session:
            for layout, (way, loop, messages) in product(layouts, _ways(quick=quick)):
                session.execute(f"SET synchronous_commit = {'on' if way == DURABLE else 'off'}")
                made = {verb: _bare(session, layout, verb) for verb in _verbs(layout)}
                ratios: dict[str, list[float]] = {"push": [], "pop": []}
                rates: list[float] = []
                for pair in range(pairs + 1):
                    found: dict[bool, tuple[float, float]] = {}
                    for asks in (pair % 2 == 0, pair % 2 == 1):
                        found[asks] = _slice(session, layout, made, loop, messages, asks=asks)
                    if pair:  # the first pair makes the plans and warms the caches
                        for index, side in enumerate(ratios):
                            ratios[side].append(found[False][index] / found[True][index])
                        rates.append(messages / found[True][0])
                for side, values in ratios.items():
                    low, _, high = quantiles(values, n=4)
                    part.rows.append(
                        {
                            "design": layout.design,
                            "way": way,
                            "verb": side,
                            "pushes/s (median)": median(rates),
                            "with over without (median)": median(values),
                            "quartile": low,
                            "upper quartile": high,
                        }
                    )
                    if way in every:
                        every[way] += values
    part.bounds += [
        Bound(f"throughput {way}, with the question over without", median(values), AT_LEAST, at_most=False)
        for way, values in every.items()
    ]
    return part


def _verbs(layout: Layout) -> tuple[str, ...]:
    """Return the routines called for one message. Batch designs pop through pop_batch, which checks the switch."""
    return ("push", "pop_batch" if layout.design == "batch_fast" else "pop")


def _bare(session: pyodbc.Connection, layout: Layout, verb: str) -> str:
    """Create the same function without the check under another name; return the quoted name."""
    name = layout.routine_for(verb)
    assert name is not None
    (text,) = session.execute("SELECT pg_get_functiondef(?::regproc)", routine(layout, verb)).fetchone()
    bare, found = _ASKS.subn("", text)
    assert found == 1, f"{verb} of {layout.design} has no pause switch"
    own = ENGINE.quote((name.schema, _BARE + name.name))
    head, _, rest = bare.partition("(")
    session.execute(f"CREATE OR REPLACE FUNCTION {own}({rest}")
    assert "CREATE OR REPLACE FUNCTION" in head
    return own


def _slice(
    session: pyodbc.Connection, layout: Layout, bare: dict[str, str], loop: Loop, messages: int, *, asks: bool
) -> tuple[float, float]:
    """Return the seconds to push this many messages, and to pop them."""
    push, pop = (routine(layout, verb) if asks else bare[verb] for verb in _verbs(layout))
    argument = "1" if layout.design == "batch_fast" else ""
    took = (loop(session, f"{push}('message')", messages), loop(session, f"{pop}({argument})", messages))
    if layout.ring is None:
        session.execute(f"TRUNCATE {ENGINE.quote(layout.table.parts)} CASCADE")
    return took


def _ways(*, quick: bool) -> tuple[tuple[str, Loop, int], ...]:
    return (
        (CONNECTION, _over, 40 if quick else 300),
        (DURABLE, _inside, 40 if quick else 600),
        ("inside the server", _inside, 400 if quick else 1500),
    )


def _over(session: pyodbc.Connection, call: str, times: int) -> float:
    cursor, text = session.cursor(), f"SELECT * FROM {call}"
    begun = time.perf_counter()
    for _ in range(times):
        cursor.execute(text).fetchall()
    return time.perf_counter() - begun


def _inside(session: pyodbc.Connection, call: str, times: int) -> float:
    session.execute("CREATE TEMPORARY TABLE IF NOT EXISTS took (s float8)")
    session.execute(
        f"DO $loop$ DECLARE v_begun timestamptz := clock_timestamp(); BEGIN FOR i IN 1..{times} LOOP"
        f" PERFORM * FROM {call}; COMMIT; END LOOP; DELETE FROM took;"
        " INSERT INTO took VALUES (extract(epoch FROM clock_timestamp() - v_begun)); END $loop$"
    )
    (seconds,) = session.execute("SELECT s FROM took").fetchone()
    return float(seconds)
