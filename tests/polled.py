"""Polls of many queues as SQL Server's driver receives them: each text with values, types and cursor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from qmon.engines.odbc import OdbcConnection
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.model.cost_budget import Budget
from qmon.model.layout.layout import Layout, ObjectName, Ring, StateColumn
from qmon.model.layout.table_facts import Column, TableFacts
from qmon.model.snapshot import Snapshot
from qmon.monitor.background.slow_reads import SlowReads
from qmon.monitor.catalog.resolve import Resolved
from qmon.monitor.poll.collector import Collector
from qmon.monitor.source import ReadScope
from tests.replayed import LIST, Cursor, Driver, connection, steady

DESIGNS: Final = ("status", "fifo", "ring", "pending")
SEEKS: Final = ("ready", "head", "progress", "stuck", "dead", "due")
STATE: Final = StateColumn("Status", "READY", "TAKEN", None, "DEAD")


@dataclass(frozen=True, slots=True)
class Sent:
    """One round trip.

    ``sizes``: the sizes declared to the driver, ``None`` if it takes them from the values. ``prepared``: the cursor ran
    this text last, so the text is not sent again.
    """

    text: str
    values: tuple[object, ...]
    sizes: tuple[object, ...] | None
    prepared: bool

    @property
    def listed(self) -> bool:
        """Return whether this is a list of statements, not a single one."""
        return self.text.startswith(LIST)

    @property
    def declared(self) -> tuple[object, ...]:
        """Return the types of the values. The server keeps one plan per text and types."""
        sizes = self.sizes or (None,) * len(self.values)
        return tuple(
            size or (type(value), len(value) if isinstance(value, str) else 0)
            for size, value in zip(sizes, self.values, strict=True)
        )


class Counting(Driver):
    """Records all round trips. ``cost_s``: duration of each statement on the server's clock."""

    def __init__(self, cost_s: float = 0.0) -> None:
        super().__init__(steady)
        self.sent: list[Sent] = []
        self.now_at = 1.75e9
        self._cost_s = cost_s

    def cursor(self) -> Cursor:
        return _Keeping(self)

    def answer(self, text: str) -> tuple[tuple[str, ...], Sequence[tuple[object, ...]]]:
        self.now_at += self._cost_s
        columns, rows = super().answer(text)
        if self._cost_s and "now_at" in columns:
            at = columns.index("now_at")
            rows = [(*row[:at], self.now_at, *row[at + 1 :]) for row in rows]
        return columns, rows


class _Keeping(Cursor):
    """A cursor that reports every text to its driver."""

    def __init__(self, driver: Counting) -> None:
        super().__init__(driver)
        self._counting = driver
        self._last = ""
        self._sizes: Sequence[object] | None = None

    def setinputsizes(self, sizes: Sequence[object] | None) -> None:
        self._sizes = sizes

    def execute(self, text: str, values: Sequence[object] = ()) -> None:
        sizes = None if self._sizes is None else tuple(self._sizes)
        self._counting.sent.append(Sent(text, tuple(values), sizes, self._last is text))
        self._last = text
        super().execute(text, values)


def queue(number: int, design: str) -> tuple[Layout, TableFacts]:
    """Return a queue with all indexes, and its catalog facts."""
    name, table = f"q{number}", ObjectName("dbo", f"Q{number}")
    columns = (Column("Id", "bigint"), Column("Status", "varchar"), Column("Due", "datetime2"))
    facts = TableFacts(
        100 + number,
        sequence_id=10_000 + number,
        order_by="Id",
        order_by_number=True,
        columns=columns,
        indexes={seek: f"IX_{seek}" for seek in SEEKS},
    )
    match design:
        case "status":
            filtered = frozenset({"IX_head", "IX_stuck", "IX_dead"})
            facts = replace(facts, filtered=filtered)
            return Layout(name, design, table, id="Id", state=STATE, started_at="StartedAt"), facts
        case "ring":
            push, pop, spare = (ObjectName("dbo", f"{each}{number}") for each in ("Push", "Pop", "Spare"))
            facts = replace(
                facts,
                sequence_id=None,
                push_sequence_id=20_000 + number,
                pop_sequence_id=30_000 + number,
                spare_id=40_000 + number,
                spare=spare,
            )
            ring = Ring(1000, push, pop, slot="Slot", turn="Turn")
            return Layout(name, design, table, enqueued_at="At", ring=ring), facts
        case _:
            due = "Due" if design == "pending" else None
            return Layout(name, design, table, id="Id", enqueued_at="At", due_at=due), facts


class Polls:
    """Polls a number of queues of these designs, every two seconds."""

    def __init__(
        self,
        count: int,
        designs: Sequence[str] = DESIGNS,
        *,
        cost_s: float = 0.0,
        budget: Budget | None = None,
    ) -> None:
        self.driver, self.now = Counting(cost_s), 0.0
        self.at: OdbcConnection = connection(self.driver, (16, 0))
        slow = SlowReads(SqlServer(), lambda session: self.at, lambda: self.now)
        self.collector = Collector("shop", SqlServer(), self.at, slow, lambda: self.now, budget=budget)
        queues = [queue(number, designs[number % len(designs)]) for number in range(count)]
        self.collector.watch_queues(
            Resolved(tuple(layout for layout, _ in queues), {layout.queue: facts for layout, facts in queues})
        )
        self.snapshots: list[Snapshot] = []

    @property
    def throttled(self) -> int:
        """Return the number of probes that are read less often because of the budget."""
        observing = self.snapshots[-1].observing
        return 0 if observing is None else len(observing.throttled)

    def poll(self, count: int, focus: ReadScope | None = None) -> list[list[Sent]]:
        """Poll ``count`` times and return what each poll sent."""
        out = []
        for _ in range(count):
            self.now += 2.0
            self.driver.now_at += 2.0
            self.driver.poll += 1
            self.driver.sent.clear()
            self.snapshots.append(self.collector.collect(self.driver.poll, 2.0, focus or ReadScope()))
            out.append(list(self.driver.sent))
        return out
