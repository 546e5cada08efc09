"""Random tables, drawn by a seed, that change while qmon acts on them and is killed. All messages are counted.

Each message has a unique payload, which no trigger here changes. After every step it must be in exactly one place: in
the queue or in the trash. The rows an operation changed must be rows of its plan that had not changed since, and must
be as the operation leaves them. For each row it skipped, there must be a reason.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pyodbc

from qmon.engines.base import Bound, Connection, Rows
from qmon.errors import QmonError
from qmon.model.operation_records import Choice, OperationResult, OperationState, OwnerState
from qmon.operate.operator import Operator
from qmon.operate.run.batches import BatchWork
from qmon.operate.run.running_operation import PreparedAction, RunningOperationText
from qmon.operate.run.table_identity import TableChanged
from tests.contract.hostile_tables import CHANGES, HELD, KEYED, ROLE, Drawn
from tests.contract.operating import YES, desk_at
from tests.facts import connected, query, wait_until
from tests.wordings import has

Message = dict[str, Any]
# A program is killed at one of its first `_CALLS` calls to the server.
_CALLS: Final = 40


@dataclass(slots=True)
class Count:
    """The counts over a run of tables."""

    tables: int = 0
    messages: int = 0
    plans_refused: int = 0
    ended: int = 0
    kills: int = 0
    done: int = 0
    skipped: int = 0
    changed: int = 0
    refused: int = 0
    undone: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    beyond: list[str] = field(default_factory=list)
    untrue: list[str] = field(default_factory=list)

    @property
    def faults(self) -> list[str]:
        """Results that must not occur."""
        return [*self.lost, *self.doubled, *self.beyond, *self.untrue]

    def __str__(self) -> str:
        return (
            f"{self.tables} tables, {self.messages:,} messages: {len(self.lost)} lost, {len(self.doubled)} doubled,"
            f" {len(self.beyond)} touched beyond the plan, {len(self.untrue)} wrong or untold;"
            f" {self.plans_refused} plans refused, {self.ended} ended by a change of the table, qmon killed"
            f" {self.kills} times; done {self.done:,}, skipped {self.skipped:,}, changed {self.changed:,},"
            f" refused {self.refused:,}, undone {self.undone:,}"
        )


def role(url: str) -> str:
    """Return the URL of a role that may act and owns nothing, so that row level security applies to it."""
    if not query(url, "SELECT 1 FROM pg_roles WHERE rolname = ?", ROLE):
        query(url, f"CREATE ROLE {ROLE} LOGIN")
    query(url, f"DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO {ROLE}', current_database()); END $$")
    return url.replace("postgres@", f"{ROLE}@", 1)


class _Doomed:
    """A connection by which a program kills itself before a given call to the server."""

    def __init__(self, inner: Connection, calls: int) -> None:
        self._inner, self._calls = inner, calls

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _word(self) -> None:
        self._calls -= 1
        if self._calls < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def fetch(self, bound: Bound) -> Rows:
        self._word()
        return self._inner.fetch(bound)

    def execute(self, bound: Bound) -> int:
        self._word()
        return self._inner.execute(bound)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        with self._inner.transaction():
            yield
            self._word()  # before the commit
        self._word()


class Hostile:
    """One table, drawn by a seed, and the actions on it."""

    def __init__(self, url: str, raw: pyodbc.Connection, operator: Operator, seed: int, count: Count) -> None:
        self.url, self.raw, self.operator, self.seed, self.count = url, raw, operator, seed, count
        self.chance = random.Random(seed)
        self.kill = self.chance.choice([None] * 6 + ["at a word", "at a word", "at a time"])
        self.table = Drawn(self.chance, 400 if self.kill else self.chance.randint(20, 80))
        self.limit = self.chance.choice([None, None, self.table.rows // 3])
        self.happened = ""

    def __str__(self) -> str:
        killed = f", killed {self.kill}" if self.kill else ""
        return (
            f"seed {self.seed} ({self.table}{killed}{f', limit {self.limit}' if self.limit else ''}; {self.happened})"
        )

    def run(self) -> None:
        """Plan, change the table, apply, perhaps kill, and undo three times. Faults go into the count."""
        self.table.make(self.raw)
        self._forget()
        self.count.tables += 1
        prepared = self._plan()
        if prepared.plan.refused is not None:
            self.count.plans_refused += 1
            return
        planned = self._planned(prepared)
        self._change()
        before = self._queue()
        self.count.messages += len(before)
        result, held = None, False
        if self.kill:
            self._killed(prepared)
        else:
            with self._held() as held:
                result = self._applied(prepared)
        after = self._queue()
        named = {payload for payload, row in planned.items() if row.items() <= before.get(payload, {}).items()}
        touched = {payload for payload, row in before.items() if after.get(payload) != row}
        self._everywhere(before)
        self._as_it_is_to_be(before, after, touched)
        if not touched <= named or after.keys() - before.keys():
            self.count.beyond.append(f"{self}: {sorted(touched - named)[:5]}")
        if result is not None:
            stays = self.table.stays(self.table.act) | ({HELD} if held else set())
            self._told(prepared, result, len(touched))
            left = [payload for payload in named - touched if before[payload]["lot"] not in stays]
            self._wrong(left, "left alone for no reason")
        self._undo(before, after)

    def _plan(self) -> PreparedAction:
        if self.table.act == "requeue":
            choice = Choice(owner_states=frozenset(OwnerState), older_than_s=0.0, limit=self.limit)
            return self.operator.requeue(self.table.layout, choice)
        choice = Choice(state="in_progress", owner_states=frozenset(OwnerState), limit=self.limit)
        return self.operator.purge(self.table.layout, choice)

    def _planned(self, prepared: PreparedAction) -> dict[str, Message]:
        """Return the messages that the plan has selected, by the places of their rows."""
        assert isinstance(prepared._work, BatchWork)
        lying = self.raw.execute("SELECT tableoid || CAST(ctid AS text), payload FROM q").fetchall()
        payloads = {str(place): str(payload) for place, payload in lying}
        queue = self._queue()
        planned = {payloads[place]: queue[payloads[place]] for place, _ in prepared._work.rows}
        self._wrong([each for each, row in planned.items() if row["status"] != 2], "planned though not in progress")
        return planned

    def _change(self) -> None:
        """Change the table as other programs do."""
        done = []
        for name in self.chance.sample([*CHANGES], self.chance.choice([0, 1, 1, 2])):
            with contextlib.suppress(pyodbc.Error):  # changes that its constraints forbid
                for each in CHANGES[name]:
                    self.raw.execute(each)
                done.append(name)
            self.raw.execute("DROP TABLE IF EXISTS twins")
        self.happened = " and ".join(done) or "nothing"

    # ---------------------------------------------------------------------------------------------------- acting on it

    @contextlib.contextmanager
    def _held(self) -> Iterator[bool]:
        """Let another session lock some rows during the block, in some of the runs."""
        held = self.chance.random() < 0.3
        with connected(self.url, autocommit=False) if held else contextlib.nullcontext() as other:
            if other is not None:
                how = self.chance.choice(["UPDATE", "SHARE"])
                other.execute(f"SELECT 1 FROM q WHERE lot = {HELD} FOR {how}").fetchall()
            yield held

    def _applied(self, prepared: PreparedAction) -> OperationResult | None:
        try:
            return prepared.apply(YES, lambda _: None, lambda: False)
        except TableChanged:
            self.count.ended += 1
        except QmonError as problem:
            self.count.untrue.append(f"{self}: broken off: {problem}")
        return None

    def _killed(self, prepared: PreparedAction) -> None:
        calls = self.chance.randrange(_CALLS)
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                if self.kill == "at a word":
                    context = prepared._context
                    doomed = replace(context, connect=lambda purpose: _Doomed(context.connect(purpose), calls))
                    prepared._context = doomed
                prepared.apply(YES, lambda _: None, lambda: False)
            os._exit(0)
        if self.kill == "at a time":
            time.sleep(self.chance.random() * 0.3)
            os.kill(child, signal.SIGKILL)
        self.count.kills += os.waitpid(child, 0)[1] == signal.SIGKILL
        ours = "SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'qmon%' AND datname = current_database()"
        wait_until(lambda: not self.raw.execute(ours).fetchall(), what="the killed session ends")

    def _undo(self, before: dict[str, Message], after: dict[str, Message]) -> None:
        with contextlib.suppress(pyodbc.Error):  # takes the place of a message, if it is free
            self.raw.execute("INSERT INTO q (tenant, seq, status, lot, payload) VALUES ('b', 1, 3, 0, 'in its place')")
        now = after
        for _ in range(3):
            latest = [each for each in self.operator.read_operations() if each.kind == self.table.act]
            if not latest or latest[0].state is OperationState.RUNNING:
                return
            prepared = self.operator.undo(latest[0].id)
            if prepared.plan.refused is not None:
                break
            result = self._applied(prepared)
            then, now = now, self._queue()
            back = sum(now.get(payload) != then.get(payload) for payload in before)
            if result is not None:
                self.count.undone += result.done
                self._wrong([str(result)] if result.done != back else [], f"was told of an undo of {back}")
            self._everywhere(before)
            other = [each for each, row in now.items() if each in before and row not in (before[each], after.get(each))]
            self._wrong(other, "is neither as it was before nor as the operation left it")
        if self.table.key in KEYED and "state" not in self.table.key:
            stays = self.table.stays("back")
            left = [
                payload
                for payload, row in before.items()
                if now.get(payload) != row and row["lot"] not in stays and row["seq"] != 1
            ]
            self._wrong(left, "did not come back for no reason")

    # -------------------------------------------------------------------------------------------------------- counting

    def _forget(self) -> None:
        """Remove everything stored about the previous table."""
        for (name,) in self._stores():
            self.raw.execute(f"TRUNCATE qmon.{name}")
        if self.raw.execute("SELECT to_regclass('qmon.operations') IS NOT NULL").fetchval():
            self.raw.execute("DELETE FROM qmon.operations")

    def _stores(self, kind: str = "%") -> list[tuple[str]]:
        sql = (
            "SELECT tablename FROM pg_tables WHERE schemaname = 'qmon' AND tablename ~ '_[0-9]+$' AND tablename LIKE ?"
        )
        return [(str(name),) for (name,) in self.raw.execute(sql, kind).fetchall()]

    def _messages(self, table: str) -> list[Message]:
        rows = self.raw.execute(f"SELECT CAST(to_jsonb(q) AS text) FROM {table} AS q").fetchall()
        own = ("note", "qmon_operation", "qmon_trashed_at", "qmon_row")
        return [{name: value for name, value in json.loads(row).items() if name not in own} for (row,) in rows]

    def _queue(self) -> dict[str, Message]:
        return {row["payload"]: row for row in self._messages("q")}

    def _everywhere(self, before: dict[str, Message]) -> None:
        """Check that every message is in exactly one place, and unchanged if it is in the trash."""
        trash = [row for (name,) in self._stores("trash%") for row in self._messages(f"qmon.{name}")]
        found = Counter(row["payload"] for row in (*self._messages("q"), *trash))
        self.count.lost += [f"{self}: {payload}" for payload in before if not found[payload]]
        self.count.doubled += [f"{self}: {payload}" for payload, times in found.items() if times > 1]
        self._wrong([row["payload"] for row in trash if row != before.get(row["payload"])], "is another in the trash")

    def _as_it_is_to_be(self, before: dict[str, Message], after: dict[str, Message], touched: set[str]) -> None:
        """Check that a requeue leaves a message ready and without an owner, and that a purge removes it."""
        ready = {"status": 1, "owner": None, "since": None}
        for payload in touched:
            meant = before[payload] | ready if self.table.act == "requeue" else None
            self._wrong([payload] if after.get(payload) != meant else [], f"is not as a {self.table.act} leaves it")

    def _told(self, prepared: PreparedAction, result: OperationResult, touched: int) -> None:
        """Check that the result reports the work that was done."""
        self.count.done += result.done
        self.count.skipped += result.skipped
        self.count.changed += result.changed
        self.count.refused += result.refused
        all_told = result.done + result.skipped + result.changed + result.refused
        if result.done != touched or all_told != prepared.plan.count:
            self._wrong([str(result)], f"was told of {touched}")
        if result.refused and not any(has(note, RunningOperationText.REFUSED) for note in result.notes):
            self._wrong([str(result)], "refused without a reason")

    def _wrong(self, which: list[str], why: str) -> None:
        self.count.untrue += [f"{self}: {each} {why}" for each in which[:5]]


def run(url: str, folder: Path, seeds: Iterable[int], until: float | None = None) -> Count:
    """Run these tables one after the other. ``until``: start no further one after this time, by the monotonic clock."""
    count = Count()
    with connected(url) as raw:
        raw.execute("SET client_min_messages = error")
        operator = Operator(desk_at(role(url), folder))
        for seed in seeds:
            if until is not None and time.monotonic() > until:
                break
            Hostile(url, raw, operator, seed, count).run()
    return count
