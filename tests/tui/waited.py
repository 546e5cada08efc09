"""Waits, a held horizon and the use of tables, made by hand for the tests of screen 3."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from qmon.model.figure import Figure
from qmon.model.rates.queue_use import IndexUse, QueueUse
from qmon.model.reasons import Reason
from qmon.model.samples.horizon_samples import HorizonSample
from qmon.model.samples.wait_samples import WaitSource
from qmon.model.view import View
from qmon.model.waits.wait_rates import Waiting, WaitRate
from tests.tui.pictures import Shot
from tests.tui.scripted import NASTY, SAMPLED_AT, target, view

SLEEPER: Final = HorizonSample(
    "session",
    61,
    "",
    "48210771",
    1_204_118,
    7_440.0,
    SAMPLED_AT - 9_000,
    "idle in transaction",
    7_431.0,
    "shop",
    "app-7",
    "10.0.0.7",
    "shop",
    "SELECT * FROM reports WHERE month = 11",
)
NEXT: Final = replace(SLEEPER, session=84, xid="49414880", age=9, held_s=0.4, state="active", application="mailer")
PREPARED: Final = replace(
    SLEEPER, kind="prepared", session=0, name="pay-7731", state="prepared", application="", host="", statement=""
)


def waiting(source: WaitSource = WaitSource.SAMPLED) -> Waiting:
    """Return commits that wait for the log, contended pages, and benign waits."""
    rates = (
        WaitRate("LWLock", "WALWrite", 6.12, 0.612),
        WaitRate("IO", "WalSync", 1.84, 0.184),
        WaitRate("LWLock", "BufferContent", 1.2, 0.12),
        WaitRate("", "", 0.51, 0.051),
        WaitRate("Lock", "transactionid", 0.3, 0.03),
        WaitRate("LWLock", NASTY, 0.004, 0.0004),
    )
    benign = (WaitRate("Client", "ClientRead", 0.8, 0.0), WaitRate("Timeout", "PgSleep", 2.0, 0.0))
    return Waiting(source, 30.0, 118, rates, (), benign)


def counted() -> Waiting:
    """Return similar waits as SQL Server reports them: each wait counted, latches separate."""
    rates = (
        WaitRate("wait", "WRITELOG", 4.2, 0.7, 1_204.0, 0.0035, 0.04),
        WaitRate("wait", "PAGELATCH_EX", 1.5, 0.25, 18_310.4, 0.00008, 0.31),
        WaitRate("wait", "LCK_M_RIn_X", 0.3, 0.05, 0.1, 3.1, 0.0),
    )
    latches = (WaitRate("latch", "ACCESS_METHODS_HOBT_VIRTUAL_ROOT", 0.4, 0.0, 91.0, 0.004),)
    return Waiting(
        WaitSource.COUNTED, 30.0, None, rates, latches, (WaitRate("wait", "LAZYWRITER_SLEEP", 1.0, 0.0, 1.0),)
    )


def use(rows: float | None, dead: int = 5_361) -> QueueUse:
    """Return a queue whose pops touch more and more rows."""
    part = IndexUse("QueueMeta", "table", 14_680_064, 91_000.0, dead, 0.0, 0.0, 812.4, None, None, None)
    parts = (
        part,
        replace(
            part,
            name="QueueMeta_pkey",
            role="primary",
            bytes=3_244_032,
            growth=0.0,
            ghosts=None,
            scans=91.2,
            rows=37_204.0,
        ),
        replace(part, name='IX "; drop table x; --', role="index", bytes=901_120, growth=900.0, ghosts=None, rows=12.0),
        replace(part, name=NASTY, role="index", bytes=8_192, growth=None, ghosts=None, rows=0.0, pages=None),
    )
    figure = Figure(rows) if rows is not None else Figure.unknown(Reason.NOTHING_POPPED)
    trend = tuple(1.2 if i < 20 else (rows or 0.0) * (i - 19) / 20 for i in range(40))
    return QueueUse(figure, Figure(38.2), 1.2, Figure(0.982), dead, trend, parts)


def waited_view(
    holders: tuple[HorizonSample, ...] | None = (SLEEPER, NEXT), found: Waiting | None = None, *, sequence: int = 7
) -> View:
    """Return a view with all parts of screen 3, in which pops touch dead rows."""
    made = view(server=target(waiting=found or waiting(), horizon=holders), sequence=sequence)
    uses = {"mails": use(412.0), "invoices": use(88.4, 1_204), "orders": use(None, 0)}
    return replace(made, queues=tuple(replace(q, use=uses.get(q.name)) for q in made.queues))


def shot_of(*keys: str, found: View | None = None, plain: bool = False) -> Shot:
    """Open screen 3 of an app whose memory has a stopped clock."""
    shot = Shot("3", *keys, found=found or waited_view(), plain=plain)
    memory = shot.app.memory
    assert memory is not None
    memory.clock, memory.begins_at = lambda: SAMPLED_AT, SAMPLED_AT
    return shot
