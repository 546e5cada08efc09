"""A bench on a driver that answers like SQL Server."""

from __future__ import annotations

import struct
from typing import Final

from qmon.engines.base import Session, Target
from qmon.engines.odbc import OdbcConnection
from qmon.engines.sql import queries
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.workload.bench import histogram
from qmon.workload.bench.bench_counters import read_counters
from qmon.workload.bench.bench_plan import Case
from qmon.workload.bench.bench_site import BenchSite
from qmon.workload.bench.loops import make_loops
from tests.replayed import Driver, Row, columns_of, connection, full
from tests.workload.answering import DESIGNS, layout_of

TARGET: Final = Target("shop", "sqlserver", {})
# Statements of the bench whose rows have the types of the columns they read.
TYPED: Final = ("readings", "conditions", "leftovers")


class Server(Driver):
    """Answers the bench: readings with rows of the documented types, loops with their final result, each at once."""

    def __init__(self, row: Row = full) -> None:
        super().__init__(row)
        self.sent: list[str] = []
        self.committed = self.pops = 0

    def answer(self, text: str) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
        name = text.partition("/* qmon ")[2].partition(" */")[0]
        self.sent.append(text)
        self.poll += 1
        word = name.removeprefix("action/bench/")
        if word in TYPED:
            typed = columns_of(text)
            return tuple(column for column, _ in typed), list(self.row(name, typed, self.poll))
        if word == "call":
            spent = [0] * histogram.BUCKETS
            spent[60] = 40
            counts = struct.pack(f">{histogram.BUCKETS}i", *spent)
            row = (3, 40, 2, counts, bytes(768), 1, "Transaction was chosen as the deadlock victim.")
            return queries.load_query("sqlserver", name, (16, 0)).columns, [row]
        if word == "dequeue":
            self.pops += 1
            return ("id", "payload"), [("7", "x")] if self.pops < 23 else []
        columns, rows = super().answer(text)
        fixed: dict[str, list[tuple[object, ...]]] = {
            "clock": [(1.7e9,)],
            "clock_step": [(15_625.0,)],
            "hold": [(1,)],
            "sessions": [(0,)],
            "waits": [],
            "end_sessions": [(0,)],
            "fill": [(200,)],
        }
        return columns, fixed.get(word, list(rows))

    def commit(self) -> None:
        self.committed += 1

    rollback = commit


class Bench(SqlServer):
    """Return the engine over this driver."""

    def __init__(self, driver: Driver, version: tuple[int, int] = (16, 0)) -> None:
        self.driver, self.version = driver, version

    def connect(self, target: Target, session: Session) -> OdbcConnection:
        return connection(self.driver, self.version)


def site(version: tuple[int, int] = (16, 0), row: Row = full) -> tuple[BenchSite, Server]:
    driver = Server(row)
    engine = Bench(driver, version)
    return BenchSite(engine.connect(TARGET, Session()), engine, TARGET, "qmon_bench_1"), driver


def sent_by_a_bench() -> list[str]:
    """Return the statements of a bench for each design, one message at a time and several."""
    texts: dict[str, None] = {}
    for design in DESIGNS:
        layout = layout_of(design)
        for batch in (1, 7):
            case = Case(design, batch, held=False)
            if case.is_possible(layout):
                at, driver = site()
                make_loops(at, layout, case)
                read_counters(at, layout, batch)
                texts |= dict.fromkeys(driver.sent)
    return [text.replace("?", "@p") for text in texts]
