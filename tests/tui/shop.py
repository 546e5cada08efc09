"""Polls of a shop's queues on SQL Server, as rows at the driver: each probe's result in SQL Server's types.

Four designs: mails (status) whose consumers have died, orders (fifo) that grows, letters (strict_fifo) whose head a
sleeping session holds, and events (ring). Every value is checked against the type of its column, which follows from the
statement and the documentation of the system views. Polls are two seconds apart, on the server's clock and on ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.model.layout.layout import Layout
from qmon.model.layout.table_facts import Column, TableFacts
from qmon.model.view import View
from qmon.monitor.background.slow_reads import SlowReads
from qmon.monitor.catalog.resolve import Resolved
from qmon.monitor.poll.collector import Collector
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.queue_probes import QueueSpec
from qmon.monitor.source import ReadScope
from qmon.monitor.state.target_history import TargetHistory
from qmon.operate.install.install_queue import prepare_install
from tests.replayed import OWN, Driver, columns_of, connection
from tests.tsql_types import Type
from tests.tui.scripted import SAMPLED_AT, TAKEN_AT

ENGINE: Final = SqlServer()
DESIGNS: Final = {"mails": "status", "orders": "fifo", "letters": "strict_fifo", "events": "ring"}
IDS: Final = {"mails": 11, "orders": 12, "letters": 13, "events": 14}
PUSH_SEQ, POP_SEQ = 22, 23
SLEEPER, WAITER = 61, 84
PAYLOAD: Final = "0x" + b'{"to": "ada@example.org"}'.hex().upper()
POLLS: Final = 14
STEP_S: Final = 2.0

Values = dict[str, object]


def layouts() -> tuple[Layout, ...]:
    """Return the layouts as an install records them. A consumer of mails keeps its session while it works."""
    return tuple(
        prepare_install(
            ENGINE, (16, 0), design, schema="dbo", queue=queue, ring_size=1000, owner_held_while_working=True
        ).layout
        for queue, design in DESIGNS.items()
    )


def facts() -> dict[str, TableFacts]:
    """Return the catalog's facts about these tables."""
    indexes = dict.fromkeys(("head", "ready", "progress", "stuck", "dead"), "ix")
    line = {"order_by": "id", "order_by_number": True, "indexes": indexes}
    payload = Column("message", "varbinary", True)
    return {
        "mails": TableFacts(11, sequence_id=11, columns=(payload,), **line),  # type: ignore[arg-type]
        "orders": TableFacts(12, sequence_id=12, **line),  # type: ignore[arg-type]
        "letters": TableFacts(13, sequence_id=13, **line),  # type: ignore[arg-type]
        "events": TableFacts(14, push_sequence_id=PUSH_SEQ, pop_sequence_id=POP_SEQ, indexes=indexes),
    }


@dataclass
class Idle(SlowReads):
    """Slow readings that never start."""

    def __init__(self) -> None:
        super().__init__(ENGINE, lambda session: connection(Driver(), (16, 0)))


class Shop(Driver):
    """The server: ``poll`` is the number of the poll, and the server's counters grow with it.

    ``ails``: its log is nearly full, one of its replicas accepts no changes, and a plan has become worse. ``moves_at``:
    the poll from which another server answers.
    """

    ails = False
    moves_at = POLLS + 1

    def answer(self, text: str) -> tuple[tuple[str, ...], Sequence[tuple[object, ...]]]:
        found, _ = super().answer(text)
        name = self.asked[-1]
        if name == "action/operate/facts":
            return found, [("2026-11-21 02:15:00.000", self._now, True, SAMPLED_AT - 86_400.0, False)]
        if name in OWN or not name.startswith("probe/"):
            return found, []
        columns = columns_of(text.rpartition(";\n")[0] if text.rstrip().endswith(";") else text)
        rows = self._rows(name.removeprefix("probe/"), _queue(text, self.values))
        return found, [_typed(name, columns, row) for row in rows]

    def _rows(self, name: str, queue: str) -> Sequence[Values]:
        made = getattr(self, f"_{name}", None)
        return () if made is None else made(queue)

    @property
    def _now(self) -> float:
        return SAMPLED_AT + STEP_S * self.poll

    def _server(self, queue: str) -> Sequence[Values]:
        return [
            {
                "now_at": self._now,
                "started_at": SAMPLED_AT - 86_400.0,
                "stats_reset_at": None,
                "in_recovery": False,
                "sessions": 42,
                "commits": 9_000_000 + 900 * self.poll,
                "rollbacks": 0,
                "deadlocks": 3,
                "sees_sessions": True,
                "role": "SHOP\\qmon",
                "pollers": 1,
                "replay_paused": False,
                "behind_s": None,
                "untracked": 0,
                "counts": True,
                "sessions_used": 57,
                "sessions_limit": 32_767,
            }
        ]

    def _clock(self, queue: str) -> Sequence[Values]:
        return [{"now_at": self._now + 0.0018}]

    def _cost(self, queue: str) -> Sequence[Values]:
        return [{"buffers": 1_000 + 42 * self.poll, "cpu_ms": 10 + 3 * self.poll}]

    def _server_counters(self, queue: str) -> Sequence[Values]:
        steps = {"commits": 900, "transactions": 1_224, "deadlocks": 0, "lock_timeouts": 2, "page_splits": 14}
        steps |= {"batches": 2_408, "log_flush_waits": 640, "ghosts_skipped": 820}
        counted: Values = {name: 2**53 + step * self.poll for name, step in steps.items()}
        return [counted | {"deadlocks": 3, "threadless": 0}]

    def _log(self, queue: str) -> Sequence[Values]:
        used = 3_900 * 2**20 if self.ails else 700 * 2**20
        return [
            {
                "total": 4 * 2**30,
                "used": used,
                "most": 4 * 2**30,
                "held_by": "LOG_BACKUP" if self.ails else "",
                "pieces": 1_204,
                "saved_s": 10_920.0,
            }
        ]

    def _replication(self, queue: str) -> Sequence[Values]:
        common: Values = {
            "host": "",
            "local": False,
            "role": "secondary",
            "timeline": None,
            "connected": True,
            "suspended": "",
            "healthy": True,
        }
        answers = "SQL1" if self.poll < self.moves_at else "SQL9"
        here = {
            "name": answers,
            "host": answers,
            "local": True,
            "role": "primary",
            "state": "synchronized",
            "timeline": None,
            "synchronous": True,
            "unsent": None,
            "unredone": None,
            "behind_s": None,
        }
        near = {
            "name": "SQL2",
            "state": "synchronized",
            "synchronous": True,
            "unsent": 0,
            "unredone": 0,
            "behind_s": 0.0,
        }
        far = {
            "name": "SQL3",
            "state": "not synchronizing",
            "synchronous": False,
            "unsent": 1_200 * 2**20,
            "unredone": None,
            "behind_s": 480.0,
            "suspended": "SUSPEND_FROM_USER",
            "healthy": False,
        }
        return [common | here, common | near, *([common | far] if self.ails else [])]

    def _temp_space(self, queue: str) -> Sequence[Values]:
        used = 7_800 * 2**20 if self.ails else 512 * 2**20
        return [
            {
                "total": 8 * 2**30,
                "used": used,
                "most": 8 * 2**30,
                "versions": used // 2,
                "internal": used // 4,
                "objects": used // 8,
            }
        ]

    def _temp_sessions(self, queue: str) -> Sequence[Values]:
        return [{"session": 91, "application": "reports", "host": "app-9", "internal": 90 * 2**20, "objects": 2**20}]

    def _settings(self, queue: str) -> Sequence[Values]:
        known = {
            "version": "16.0.4135.4",
            "edition": "Standard Edition (64-bit)",
            "compatibility level": "120",
            "read committed snapshot": "off",
            "snapshot isolation": "off",
            "accelerated recovery": "on",
            "optimized locking": None,
            "delayed durability": "allowed",
            "auto update statistics": "on",
            "asynchronous statistics": "on",
            "user options": "16386",
        }
        rows: list[Values] = [{"name": name, "object": "", "value": value} for name, value in known.items()]
        return [*rows, {"name": "lock escalation", "object": "dbo.events and 3 more", "value": "table"}]

    def _plan_history(self, queue: str) -> Sequence[Values]:
        return [{"read_at": self._now, "kept": True, "why": "", "home": ""}]

    def _plans(self, queue: str) -> Sequence[Values]:
        if queue != "orders":
            return []
        text = (
            "WITH head AS (SELECT TOP (1) * FROM [dbo].[orders] WITH (ROWLOCK, READPAST) ORDER BY id) DELETE FROM head"
        )
        one: Values = {
            "statement_id": "42",
            "plan_id": "77",
            "routine": "dbo.orders_pop",
            "age_s": 7_200.0,
            "forced": False,
            "calls": 9_000,
            "reads": 9_000 * 1_204.0,
            "calls_before": 0,
            "reads_before": 0.0,
            "statement": text,
            "spent_s": 9_000 * 0.0042,
            "spent_before_s": None,
        }
        old: Values = {
            "plan_id": "31",
            "age_s": 864_000.0,
            "calls": 200,
            "reads": 2_400.0,
            "calls_before": 2**40,
            "reads_before": 12.4 * 2**40,
            "spent_s": 0.06,
            "spent_before_s": 0.0003 * 2**40,
        }
        other: Values = {"statement_id": "43", "plan_id": "5", "statement": "DELETE FROM dbo.orders_archive"}
        return [one, one | old, one | other] if self.ails else [one | old]

    def _sequences(self, queue: str) -> Sequence[Values]:
        last = {11: 120_000, 12: 2**53 + 400 * self.poll, 13: 900, PUSH_SEQ: 1_000_500 + 900 * self.poll}
        last[POP_SEQ] = 1_000_200 + 900 * self.poll
        return [{"sequence_id": id, "last_value": value, "visible": True} for id, value in last.items()]

    def _depth(self, queue: str) -> Sequence[Values]:
        ready = {"orders": 12_431 + 40 * self.poll, "letters": 500 + 10 * self.poll}.get(queue)
        return [] if ready is None else [{"counted_at": self._now, "ready": ready}]

    def _head_state(self, queue: str) -> Sequence[Values]:
        return [{"head_id": "119964", "oldest_s": 31.0, "counted": 31}]

    def _head(self, queue: str) -> Sequence[Values]:
        first = str(2**53 - 12_431) if queue == "orders" else "400"
        oldest_s = 62.0 if queue == "orders" else 7_440.0
        return [{"head_id": first, "oldest_s": oldest_s, "counted": 1_001 if queue == "orders" else 500}]

    def _progress_oldest(self, queue: str) -> Sequence[Values]:
        return [{"in_progress": 12, "timed": 12, "stuck": 7, "longest_s": 840.0}]

    def _owners(self, queue: str) -> Sequence[Values]:
        return [
            {
                "id": str(119_000 + number),
                "owner": _owner(number),
                "owner_state": "dead" if number < 7 else "alive",
                "attempts": 1 + number % 2,
                "age_s": 840.0 - number,
                "error": "deadlock victim" if number % 2 else None,
            }
            for number in range(12)
        ]

    def _in_state(self, queue: str) -> Sequence[Values]:
        return [{"counted": 2}]

    def _pauses_known(self, queue: str) -> Sequence[Values]:
        return [{"readable": False, "operations": False}]

    def _messages_state(self, queue: str) -> Sequence[Values]:
        return [
            {
                "id": str(119_000 + number),
                "state": "in_progress",
                "age_s": 840.0 - number,
                "owner": _owner(number),
                "attempts": 1 + number % 2,
                "payload": PAYLOAD,
                "error": None,
            }
            for number in range(12)
        ]

    def _ring(self, queue: str) -> Sequence[Values]:
        return [
            {
                "push_last": 1_000_500 + 900 * self.poll,
                "pop_last": 1_000_200 + 900 * self.poll,
                "push_open": 0,
                "push_open_ahead": 0,
                "pop_waiting": 0,
                "pop_held": 0,
                "oldest_s": 0.4,
            }
        ]

    def _waits(self, queue: str) -> Sequence[Values]:
        return [
            {"kind": "Lock", "event": "LCK_M_U", "sessions": 1},
            {"kind": "Log", "event": "WRITELOG", "sessions": 3},
        ]

    def _wait_totals(self, queue: str) -> Sequence[Values]:
        return [
            {
                "kind": "wait",
                "event": event,
                "waits": 2**40 + waits * self.poll,
                "waited_s": 1e6 + s * self.poll,
                "signal_s": 10.0 + 0.1 * self.poll,
            }
            for event, waits, s in (("WRITELOG", 900, 2.4), ("LCK_M_U", 1, 2.0), ("LAZYWRITER_SLEEP", 2, 2.0))
        ]

    def _table_counters(self, queue: str) -> Sequence[Values]:
        if queue not in IDS:
            return []
        inserted, updated, deleted, live = {
            "mails": (36, 36, 36, 45),
            "orders": (400, 0, 360, 12_431),
            "letters": (10, 0, 0, 500),
            "events": (0, 1_800, 0, 1_000),
        }[queue]
        return [
            {
                "table_id": IDS[queue],
                "index_id": index,
                "name": name,
                "role": role,
                "scans": 500 * self.poll,
                "bytes": 8_192 * 300,
                "latch_waits": 20 * self.poll,
                "latch_wait_s": 0.02 * self.poll,
                "lock_waits": self.poll,
                "lock_wait_s": 2.0 * self.poll if queue == "letters" else 0.0,
                "splits": 7 * self.poll,
                "forwarded": None,
                "io_waits": 3 * self.poll,
                "ghosted": 9 * self.poll,
                "escalations_tried": 2 * self.poll,
                "escalations": self.poll,
                "sequential": index == 2,
                "inserted": 2**53 + inserted * self.poll,
                "updated": updated * self.poll,
                "deleted": deleted * self.poll,
                "live": live + (inserted - deleted) * self.poll,
                "files": IDS[queue],
                "partitions": 1,
                "altered": 7,
                "called": f"dbo.{queue}",
                "readable": True,
            }
            for index, name, role in ((0, queue, "table"), (2, f"{queue}_ready_index", "index"))
        ]

    def _writers(self, queue: str) -> Sequence[Values]:
        return [
            {
                "xid": "4711",
                "session": SLEEPER,
                "transaction_s": 7_440.0 + STEP_S * self.poll,
                "state": "idle in transaction",
                "application": "legacy-batch",
            }
        ]

    def _blocking(self, queue: str) -> Sequence[Values]:
        common = {
            "gid": "",
            "blocker_gid": "",
            "ahead": False,
            "started_at": SAMPLED_AT - 9_000.25,
            "kind": "client backend",
            "login": "shop",
            "database": "shop",
        }
        sleeper = {
            "session": SLEEPER,
            "blocker": None,
            "holders": 0,
            "line": 0,
            "waiting_s": None,
            "mode": "",
            "object": "",
            "table_id": None,
            "state": "idle in transaction",
            "state_s": 7_400.0 + STEP_S * self.poll,
            "transaction_s": 7_440.0 + STEP_S * self.poll,
            "application": "legacy-batch",
            "host": "app-7",
            "statement": "SELECT TOP (1) * FROM dbo.letters WITH (UPDLOCK)",
            "transactions": 2,
            "isolation": "serializable",
            "batch_s": 7_440.0,
            "reads": 1_204,
            "writes": 12,
            "memory": None,
            "undone": None,
            "threads": None,
        }
        waiter = {
            "session": WAITER,
            "blocker": SLEEPER,
            "holders": 1,
            "line": 0,
            "waiting_s": 12.0 + STEP_S * self.poll,
            "mode": "U",
            "object": "dbo.letters row (8194443284a0)",
            "table_id": 13,
            "state": "active",
            "state_s": 12.0,
            "transaction_s": 12.0,
            "application": "mailer-3",
            "host": "app-3",
            "statement": "EXEC dbo.letters_pop",
            "transactions": 1,
            "isolation": "read committed",
            "batch_s": 12.0,
            "reads": 9,
            "writes": 0,
            "memory": 0,
            "undone": None,
            "threads": 1,
        }
        return [common | sleeper, common | waiter]

    def _clients(self, queue: str) -> Sequence[Values]:
        named = ((71, "shop-api", "EXEC dbo.orders_push @payload = @P1"), (WAITER, "mailer-3", "EXEC dbo.letters_pop"))
        return [
            {
                "session": session,
                "started_at": SAMPLED_AT - 3_600.0,
                "application": application,
                "login": "shop",
                "host": "app-7",
                "state": "active",
                "begun_s": 0.1,
                "quiet_s": 0.1,
                "wait_kind": "",
                "statement": statement,
            }
            for session, application, statement in named
        ]


def _owner(number: int) -> str:
    """Return the session that popped a message of mails: seven belong to a session that has ended."""
    return f"{77 if number < 7 else 78}/2026-11-21T02:00:00.123"


def _queue(text: str, values: Sequence[object]) -> str:
    """Return the queue of a statement: by the table's name in it, or by the name or object id among its values."""
    named = next((queue for queue in IDS if f"[{queue}]" in text or queue in values), None)
    return named or next((queue for queue, id in IDS.items() if id in values), "")


_KINDS: Final[dict[str, type]] = {
    "bit": bool,
    "int": int,
    "bigint": int,
    "smallint": int,
    "tinyint": int,
    "float": float,
    "nvarchar": str,
    "varchar": str,
}


def _typed(probe: str, columns: tuple[tuple[str, Type], ...], row: Values) -> tuple[object, ...]:
    """Return the values in the order of the columns, each of the type that pyodbc returns for its column."""
    assert set(row) == {name for name, _ in columns}, (probe, set(row) ^ {name for name, _ in columns})
    for name, kind in columns:
        given = row[name]
        if given is None:
            assert kind.null or not kind.name, f"{probe}.{name} is never NULL"
        else:
            assert type(given) is _KINDS[kind.name], f"{probe}.{name} is {kind.name}, not {given!r}"
    return tuple(row[name] for name, _ in columns)


def polled(polls: int = POLLS, shop: Shop | None = None) -> tuple[Shop, list[View]]:
    """Return this number of polls of the shop, folded as the dashboard folds them, with the readings of all screens."""
    shop, slow = shop or Shop(), Idle()
    at = connection(shop, (16, 0))
    for layout in layouts():
        slow.plan_reader.read_plans(at, StatementCache(ENGINE, at.version), QueueSpec(layout, facts()[layout.queue]))
    collector = Collector("shop", ENGINE, at, slow, clock=lambda: TAKEN_AT + STEP_S * shop.poll)
    collector.watch_queues(Resolved(layouts(), facts()))
    history, views = TargetHistory(), []
    for poll in range(1, polls + 1):
        shop.poll = poll
        focus = ReadScope(rows_of="mails", blocking=True)
        views.append(history.record_snapshot(collector.collect(poll, STEP_S, focus)))
    return shop, views
