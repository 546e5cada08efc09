"""Figures made by hand, and a source that gives them on request: twelve queues with every kind of oddity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

from qmon.model.figure import Figure, Severity, Verdict
from qmon.model.forecast import Forecast, Trend
from qmon.model.formatting import duration, percent, rate
from qmon.model.layout.designs import TRAITS
from qmon.model.layout.layout import Layout, ObjectName, OwnerColumn, Ring, SharedTableQueue, StateColumn
from qmon.model.reasons import Reason
from qmon.model.samples.polled_samples import MessageSample, ServerSample, WaitSample
from qmon.model.series import Point
from qmon.model.snapshot import ProbeFailure, QueueSamples, Snapshot
from qmon.model.view import QueueView, ServerView, View
from qmon.model.waits.lock_chains import build_lock_chains
from qmon.monitor.source import Phase, ReadScope, Sink, SourceState
from tests.unit.blocking import SESSION

SAMPLED_AT: Final = 1_780_000_000.0
TAKEN_AT: Final = 5_000.0
HISTORY_S: Final = 600

NASTY: Final = "[red]x[/] \x1b[31mALARM\x07\u202e"


@dataclass
class Clock:
    """Our monotonic clock, which the test sets."""

    now: float = TAKEN_AT + 0.4

    def __call__(self) -> float:
        """The time, in seconds."""
        return self.now


def figure(value: float | None, reason: str = "", *, estimated: bool = False, at_least: bool = False) -> Figure:
    """Return a figure; without a value, unknown for ``reason``."""
    return Figure(value, estimated=estimated, at_least=at_least, reason=reason)


@cache
def history(
    depth: float, push: float, pop: float, *, grows: float = 0.0, seconds: int = HISTORY_S, step: int = 2
) -> tuple[Point, ...]:
    """Return points up to ``SAMPLED_AT`` that vary around these values and end at them.

    ``grows``: messages per second.
    """
    points = []
    for back in range(seconds, -1, -step):
        wave = math.sin(back / 37.0) * 0.18 + math.sin(back / 11.0) * 0.05
        points.append(
            Point(
                SAMPLED_AT - back,
                max(0.0, depth - grows * back + depth * 0.15 * math.sin(back / 61.0)),
                max(0.0, push * (1 + wave)),
                max(0.0, pop * (1 - 0.7 * wave)),
                None,
                None,
                None,
            )
        )
    return tuple(points)


def draining(seconds: float, share: float) -> Forecast:
    """Return the forecast of a queue that drains in this time. ``share``: the band, as a share of the time."""
    text = f"drains in {duration(seconds)} ± {percent(share)}"
    return Forecast(Trend.DRAINING, seconds, seconds * share, text=text)


def growing(per_second: float, needs: str = "") -> Forecast:
    """Return the forecast of a queue that grows at this rate. ``needs``: the end of its text."""
    return Forecast(Trend.GROWING, growth=per_second, text=f"growing {rate(per_second)}/s{needs}")


NO_COLUMN: Final = "this table has no due column"


def queue(
    name: str,
    design: str = "status",
    *,
    table: ObjectName | None = None,
    data_table: ObjectName | None = None,
    ready: Figure | float = 0.0,
    in_progress: Figure | float = 0.0,
    stuck: Figure | float = 0.0,
    oldest: Figure | float = 0.4,
    push: float | None = 18.0,
    pop: float | None = 18.0,
    gap: Figure | float | None = None,
    fill: float | None = None,
    verdict: Verdict | None = None,
    forecast: Forecast | str = "stable",
    grows: float = 0.0,
    points: tuple[Point, ...] | None = None,
    messages: tuple[MessageSample, ...] | None = None,
    failures: tuple[ProbeFailure, ...] = (),
) -> QueueView:
    """Return one queue; every value that is not given is unremarkable."""

    def as_figure(value: Figure | float) -> Figure:
        return value if isinstance(value, Figure) else Figure(value)

    depth = as_figure(ready)
    ring = Ring(16_384, ObjectName("demo", "push_seq"), ObjectName("demo", "pop_seq")) if design == "ring" else None
    state = StateColumn("status", "ready", "in_progress", dead="dead") if TRAITS[design].completes else None
    owner = OwnerColumn("owner", "session", held_while_working=True) if state is not None else None
    named = table or ObjectName("demo", f"{name}_queue")
    unknown = Figure.unknown
    return QueueView(
        layout=Layout(name, design, named, "id", state, owner=owner, data_table=data_table, ring=ring),
        ready=depth,
        in_progress=as_figure(in_progress),
        stuck=as_figure(stuck),
        scheduled=unknown(NO_COLUMN),
        dead=unknown(Reason.NO_DEAD_STATE) if design != "status" else Figure(0.0),
        oldest=as_figure(oldest),
        push_rate=figure(push, "rates need two polls"),
        pop_rate=figure(pop, "rates need two polls"),
        complete_rate=figure(pop, "rates need two polls"),
        gap=unknown("the layout names no sequence") if gap is None else as_figure(gap),
        fill=unknown("not a ring") if fill is None else Figure(fill),
        verdict=verdict or Verdict("healthy", f"push {push or 0:.1f}/s, pop {pop or 0:.1f}/s"),
        forecast=Forecast(Trend.STEADY if forecast else Trend.UNKNOWN, text=forecast)
        if isinstance(forecast, str)
        else forecast,
        history=history(depth.value or 0.0, push or 0.0, pop or 0.0, grows=grows) if points is None else points,
        messages=messages,
        failures=failures,
    )


def part(name: str, **figures: Any) -> QueueView:
    """Return a queue that shares its table, such as ``oban/mails`` in ``app.oban``. ``figures``: see ``queue``."""
    made = queue(name, gap=figure(None, "its rows come in no order"), **figures)
    group, _, value = name.partition("/")
    of = SharedTableQueue(group, value, group, kinds=("ready", "scheduled", "in_progress", "dead", "done"))
    return replace(made, layout=Layout(name, group, ObjectName("app", group), "id", part=of))


def messages(count: int, *, oldest_s: float = 7_512.0) -> tuple[MessageSample, ...]:
    """Return messages in progress, some for very long, with owners and payloads of all kinds."""
    payloads = (
        '{"to": "ada@example.org", "template": "welcome"}',
        "\x1b]0;owned\x07\x1b[2J\x1b[31mred",
        "مرحبا بالعالم",
        "請求書 2026-11 🎉 支払い済み",
        "line one\nline two\ttabbed",
        "",
    )
    owners = ("app-7/61", "app-7/62", None, "worker [b]bold[/b]", "mailer-3/104")
    return tuple(
        MessageSample(
            str(9_120_311 + 13 * i),
            "in_progress",
            max(0.2, oldest_s * math.exp(-i / 2.5)),
            owners[i % len(owners)],
            1 + i % 3,
            payloads[i % len(payloads)],
        )
        for i in range(count)
    )


def _said(code: str, proof: str, severity: Severity, since_s: float = 0.0) -> Verdict:
    return Verdict(code, proof, severity, SAMPLED_AT - since_s)


def _troubled() -> tuple[QueueView, ...]:
    warning, critical = Severity.WARNING, Severity.CRITICAL
    return (
        queue(
            "orders",
            "ring",
            ready=12_431,
            in_progress=8,
            stuck=figure(None, "a ring has no start time"),
            push=91_204,
            pop=90_988,
            gap=12_439,
            fill=0.76,
            forecast=growing(216),
            grows=15,
            verdict=_said("consumers fall behind", "push 91,204/s, pop 90,988/s: growing 216/s", warning, 94),
        ),
        queue(
            "invoices",
            ready=60_031,
            in_progress=12,
            stuck=7,
            oldest=845,
            push=18.3,
            pop=22.1,
            gap=60_052,
            forecast=draining(15_780, 0.24),
            messages=messages(12),
            verdict=_said("stuck in progress", "7 in progress for more than 5 m 00 s", critical, 545),
        ),
        queue(
            "mails",
            "batch_fast",
            table=ObjectName("dbo", "QueueMeta"),
            data_table=ObjectName("dbo", "QueueData"),
            ready=figure(40_112, estimated=True),
            in_progress=100,
            oldest=7_440,
            push=4.0,
            pop=0.0,
            gap=40_212,
            forecast=growing(4),
            grows=4,
            messages=messages(100, oldest_s=200),
            verdict=_said("no pops", "40,112 ready, but no pops; push 4.0/s", critical, 7_440),
        ),
    )


def _odd() -> tuple[QueueView, ...]:
    grant = "GRANT SELECT ON hr.payroll TO qmon"
    denied = "permission denied for table payroll"
    blind = figure(None, denied)
    return (
        queue(NASTY, table=ObjectName("dbo", "[a]]b].[c d]"), ready=3, in_progress=1, messages=messages(6)),
        queue(
            '"; drop table x; --',
            "naive",
            ready=figure(1_000, at_least=True),
            in_progress=figure(2),
            push=120.4,
            pop=119.9,
        ),
        queue("請求書キュー 🎉", "fifo", ready=7, push=0.04, pop=0.04),
        queue(
            "قائمة الانتظار",
            "fifo",
            ready=0,
            push=0.0,
            pop=0.0,
            oldest=figure(None, "nothing is ready"),
            forecast="empty",
            verdict=Verdict("empty", "no message is ready or in progress"),
        ),
        queue(
            "payroll",
            ready=blind,
            in_progress=blind,
            stuck=blind,
            oldest=blind,
            push=None,
            pop=None,
            forecast="",
            points=(),
            failures=(ProbeFailure("progress", denied, "payroll", grant),),
            verdict=_said("cannot see", f"{denied}; {grant}", Severity.WARNING),
        ),
        queue(
            "webhooks",
            "ring",
            ready=0,
            in_progress=0,
            push=840.2,
            pop=840.2,
            gap=-24,
            fill=0.0,
            forecast="empty",
            verdict=Verdict("empty", "24 consumers wait"),
        ),
        queue(
            "exports",
            "fifo",
            ready=figure(5_004_210, estimated=True),
            oldest=262_000,
            push=0.0,
            pop=1_204.0,
            gap=5_004_300,
            forecast=draining(4_140, 0.06),
            grows=-1_204,
        ),
        queue(
            "thumbnails",
            ready=214,
            in_progress=32,
            oldest=2.1,
            push=99.97,
            pop=101.2,
            gap=246,
            forecast=draining(200, 0.24),
        ),
        queue(
            "audit",
            "naive",
            ready=0,
            push=3.1,
            pop=3.1,
            oldest=figure(None, "nothing is ready"),
            gap=0.0,
            forecast="empty",
            verdict=Verdict("empty", "no message is ready or in progress"),
        ),
    )


def twelve() -> tuple[QueueView, ...]:
    """Return twelve queues: three with problems, a hidden one, odd names, estimates, a negative gap, a full ring."""
    return (*_troubled(), *_odd())


_BLOCKER: Final = replace(
    SESSION,
    session=61,
    started_at=None,
    state="idle in transaction",
    state_s=7_431.0,
    transaction_s=7_440.0,
    application="app-7",
    statement="UPDATE mails SET state = 1",
)
_WAITER: Final = replace(
    _BLOCKER,
    session=71,
    blocker=61,
    holders=1,
    waiting_s=12.0,
    mode="ExclusiveLock",
    object="mails row (0,17)",
    state="active",
    state_s=12.0,
    transaction_s=12.0,
    application="mailer",
    statement="",
)


def target(**changes: object) -> ServerView:
    """Return the server as a whole."""
    made = ServerView(
        commits=Figure(1_204.0),
        rollbacks=Figure(0.3),
        deadlocks=Figure(0.0),
        sessions=34,
        waits=(WaitSample("Lock", "tuple", 3), WaitSample("IO", "DataFileRead", 1), WaitSample("", "", 4)),
        client_ms=2.1,
        server_ms=1.8,
        buffers=42,
        budget_share=0.03,
        blocking=build_lock_chains((_BLOCKER, _WAITER)),
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # the names are checked by replace


def view(
    queues: Sequence[QueueView] | None = None,
    *,
    sequence: int = 7,
    at: float = 0.0,
    failures: tuple[ProbeFailure, ...] = (),
    server: ServerView | None = None,
) -> View:
    """Return one view, ``at`` seconds after the first."""
    return View(
        target="orders-prod",
        engine="postgres",
        server_version="18.6",
        sequence=sequence,
        sampled_at=SAMPLED_AT + at,
        taken_at=TAKEN_AT + at,
        interval_s=1.0,
        server=server or target(),
        queues=twelve() if queues is None else tuple(queues),
        failures=failures,
    )


def snapshot(sequence: int, at: float = 0.0) -> Snapshot:
    """Return a snapshot without samples: the fold of these tests finds the view by its sequence."""
    server = ServerSample(SAMPLED_AT + at, SAMPLED_AT - 9_999, None, False, 34, 0, 0, 0)
    return Snapshot(
        target="orders-prod",
        engine="postgres",
        server_version="18.6",
        sequence=sequence,
        sampled_at=SAMPLED_AT + at,
        taken_at=TAKEN_AT + at,
        client_ms=2.1,
        server_ms=1.8,
        buffers=42,
        interval_s=1.0,
        server=server,
        queues=tuple[QueueSamples, ...](),
    )


@dataclass
class Scripted:
    """A source whose events a test gives itself, and which remembers requests. Its fold is ``fold``."""

    target: str = "orders-prod"
    interval_s: float = 1.0
    asked: list[object] = field(default_factory=list)
    views: dict[int, View] = field(default_factory=dict)
    folded: list[int] = field(default_factory=list)
    sink: Sink | None = None

    def start(self, sink: Sink) -> None:
        """Begin."""
        self.sink = sink

    def poll_now(self, changed: str = "", *, include_throttled: bool = False) -> None:
        self.asked.append(("poll_now", changed) if changed else "poll_now")

    def set_interval(self, seconds: float) -> None:
        self.interval_s = seconds
        self.asked.append(("interval", seconds))

    def set_focus(self, focus: ReadScope) -> None:
        self.asked.append(focus)

    @property
    def focus(self) -> ReadScope:
        """Return the focus that the screens reported last."""
        return next((each for each in reversed(self.asked) if isinstance(each, ReadScope)), ReadScope())

    def count_exactly(self, queue: str) -> None:
        self.asked.append(("count", queue))

    def close(self) -> None:
        self.asked.append("close")

    def fold(self, snapshot: Snapshot) -> View:
        """Return the view that was given with this snapshot."""
        self.folded.append(snapshot.sequence)
        return self.views[snapshot.sequence]

    def give(self, view: View) -> None:
        """Give one snapshot, which folds into ``view``."""
        assert self.sink is not None, "the app starts its source when it is mounted"
        self.views[view.sequence] = view
        self.sink(snapshot(view.sequence, view.sampled_at - SAMPLED_AT))

    def say(self, phase: Phase, reason: str = "", *, retry_at: float | None = None, at: float = TAKEN_AT + 1) -> None:
        """Give one change of phase."""
        assert self.sink is not None, "the app starts its source when it is mounted"
        self.sink(SourceState(self.target, phase, reason, retry_at, at))


def later_view(sequence: int, *, taken_at: float) -> View:
    """Return the same figures as of another moment of the real clock."""
    return replace(view(sequence=sequence, at=float(sequence)), taken_at=taken_at)
