"""Kills qmon with SIGKILL while it purges, requeues or undoes a long queue, and counts every row afterwards.

The queue's rows are copied before. After each kill, every row must be in exactly one place, unchanged or as the
operation leaves it. The operation must report that it was interrupted, and how many rows it did.
"""

from __future__ import annotations

import random
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from qmon.model.operation_records import Operation, OperationState
from qmon.operate.install.install_queue import install_queue
from qmon.operate.operator import Operator
from tests.cli.calling import program, surroundings
from tests.contract.operating import desk_at
from tests.facts import connected, query, wait_until
from tests.queues import ENGINE, opened

Act = Literal["purge", "requeue", "undo"]
ACTS: Final[tuple[Act, ...]] = ("purge", "requeue", "undo")

_COLUMNS: Final = "id, status, attempts, enqueued_at, started_at, owner, message"
_FILL: Final = """
    INSERT INTO orders (status, attempts, started_at, owner, message)
    SELECT {state}, {state} - 1, CASE {state} WHEN 2 THEN now() - interval '1 hour' END,
           CASE {state} WHEN 2 THEN '1/1' END, convert_to('message ' || i, 'UTF8')
    FROM generate_series(1, {rows}) AS i"""
# The share of kills at any time after the start of the program, perhaps while it plans.
_EARLY: Final = 0.2


@dataclass
class Struck:
    """The kills during one kind of action. ``interrupted``: kills during an operation that had begun."""

    act: Act
    rows: int
    kills: int = 0
    interrupted: int = 0
    finished: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.act:<8} of {self.rows:,} rows: qmon killed {self.kills} times, {self.interrupted} of them within an"
            f" operation; ran through {self.finished} times; every row in one place each time; {self.seconds:.0f} s"
        )


class Victim:
    """A queue of a design with a state column, and the programs that act on it."""

    def __init__(self, url: str, folder: Path, rows: int, chance: random.Random) -> None:
        self.url, self.folder, self.rows, self.chance = url, folder, rows, chance
        with opened(url) as connection:
            made = install_queue(
                connection, ENGINE, "status", schema="public", queue="orders", owner_held_while_working=True
            )
        self.layout = made.layout
        self.operator = Operator(desk_at(url, folder))

    def strike(self, act: Act, kills: int) -> Struck:
        """Kill this many programs with this action, at least one within its operation; then let one run to its end."""
        struck = Struck(act, self.rows)
        began = time.monotonic()
        self.fill(act)
        while struck.kills < kills or not struck.interrupted:
            if self.left(act) == 0:
                self.fill(act)
            self._blow(act, struck)
            self.check(act)
        while self.left(act):
            self.through(self.arguments(act))
        struck.finished += 1
        self.check(act)
        struck.seconds = time.monotonic() - began
        return struck

    def arguments(self, act: Act) -> list[str]:
        """Return the command line of an action on all remaining rows."""
        if act == "undo":
            return ["undo", self.url, self.purged().id]
        which = ["--owners", "dead,unknown,alive"] if act == "requeue" else ["--state", "ready"]
        return [act, self.url, "orders", *which]

    def start(self, arguments: list[str]) -> subprocess.Popen[bytes]:
        """Start the real program, with its own audit file."""
        given = ["--yes", "--confirm", "orders", "--reason", "a test that kills"]
        environment = surroundings(XDG_STATE_HOME=str(self.folder / "state"), HOME=str(self.folder))
        return subprocess.Popen(
            program(*arguments, *given),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def through(self, arguments: list[str]) -> None:
        """Run it to its end and check that it succeeds."""
        process = self.start(arguments)
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said.decode()

    def left(self, act: Act) -> int:
        """Return the number of rows that the action has still to do."""
        where = {
            "purge": "SELECT count(*) FROM orders",
            "requeue": "SELECT count(*) FROM orders WHERE status = 2",
            "undo": f"SELECT {self.rows} - count(*) FROM orders",
        }
        return int(str(query(self.url, where[act])[0][0]))

    def check(self, act: Act) -> None:
        """Check that every row is in exactly one place and unchanged, or was requeued and its old row was saved."""
        stores = self._stores("kept" if act == "requeue" else "trash")
        kept = " UNION ALL ".join(f"SELECT {_COLUMNS} FROM qmon.{store}" for store in stores)
        if act != "requeue":
            everywhere = f"SELECT {_COLUMNS} FROM orders" + (f" UNION ALL {kept}" if kept else "")
            rows, ids, same = query(
                self.url,
                f"SELECT count(*), count(DISTINCT p.id), count(*) FILTER (WHERE p IS NOT DISTINCT FROM t)"
                f" FROM ({everywhere}) AS p JOIN (SELECT {_COLUMNS} FROM truth) AS t USING (id)",
            )[0]
            assert (rows, ids, same) == (self.rows, self.rows, self.rows)
            return
        nothing = "SELECT 0 AS id WHERE false"
        kept_ids = " UNION ALL ".join(f"SELECT id FROM qmon.{store}" for store in stores) or nothing
        changed = "o.status = 1 AND o.started_at IS NULL AND o.owner IS NULL"
        found = query(
            self.url,
            f"WITH kept AS (SELECT k.id, count(*) AS times FROM ({kept_ids}) AS k GROUP BY k.id)"
            " SELECT count(*),"
            " count(*) FILTER (WHERE k.id IS NULL"
            " AND (o.status, o.owner, o.started_at) IS NOT DISTINCT FROM (t.status, t.owner, t.started_at)),"
            f" count(*) FILTER (WHERE k.times = 1 AND {changed}),"
            " count(*) FILTER (WHERE o.message = t.message AND o.attempts = t.attempts)"
            " FROM orders AS o JOIN truth AS t USING (id) LEFT JOIN kept AS k USING (id)",
        )[0]
        rows, as_before, requeued, same = (int(str(each)) for each in found)
        assert (rows, as_before + requeued, same) == (self.rows, self.rows, self.rows)

    def last(self) -> Operation | None:
        """Return the latest operation."""
        return next(iter(self.operator.read_operations(limit=1)), None)

    def _blow(self, act: Act, struck: Struck) -> None:
        before = self.last()
        left = self.left(act)
        process = self.start(self.arguments(act))
        try:
            if self.chance.random() < _EARLY:
                time.sleep(self.chance.random())
            else:
                wait_until(
                    lambda: process.poll() is not None or self._begun(before) or None, 120, what="an operation begins"
                )
                upto = left * self.chance.random()
                wait_until(
                    lambda: process.poll() is not None or self.left(act) <= upto or None, 120, what="it is so far"
                )
            ended = process.poll()
        finally:
            process.kill()
            process.wait()
        assert process.stderr is not None
        said = process.stderr.read().decode()
        process.stderr.close()
        if ended is not None:
            assert ended == 0, said
            struck.finished += 1
            return
        struck.kills += 1
        ours = f"SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'qmon {act}%'"
        wait_until(lambda: query(self.url, ours) == [], what="the session of the killed program ends")
        now = self.last()
        if now is None or (before is not None and now.id == before.id):
            assert self.left(act) == left, "rows were changed without an operation"
            return
        # It may have been killed just after it recorded its end.
        assert now.state is OperationState.INTERRUPTED or (now.state is OperationState.DONE and self.left(act) == 0)
        assert now.done == left - self.left(act), "the operation reports another number of rows"
        struck.interrupted += now.state is OperationState.INTERRUPTED

    def _begun(self, before: Operation | None) -> bool:
        rows = query(self.url, "SELECT to_regclass('qmon.operations') IS NOT NULL")
        if rows != [(True,)]:
            return False
        latest = query(self.url, "SELECT id FROM qmon.operations ORDER BY started_at DESC, id DESC LIMIT 1")
        return latest != ([] if before is None else [(before.id,)])

    def purged(self) -> Operation:
        """Return the purge to undo: the one that took all rows."""
        purges = [each for each in self.operator.read_operations() if each.kind == "purge" and each.done == self.rows]
        return purges[0]

    def _stores(self, kind: str) -> list[str]:
        sql = "SELECT tablename FROM pg_tables WHERE schemaname = 'qmon' AND tablename LIKE ?"
        return [str(row[0]) for row in query(self.url, sql, f"{kind}\\_%")]

    def fill(self, act: Act) -> None:
        """Fill the queue as the action needs it, and copy it."""
        with connected(self.url) as raw:
            raw.execute("TRUNCATE orders")
            for store in (*self._stores("trash"), *self._stores("kept")):
                raw.execute(f"TRUNCATE qmon.{store}")
            raw.execute(_FILL.format(state=2 if act == "requeue" else 1, rows=self.rows))
            raw.execute("DROP TABLE IF EXISTS truth")
            raw.execute(f"CREATE TABLE truth AS SELECT {_COLUMNS} FROM orders")
            raw.execute("ANALYZE orders")
        if act == "undo":
            self.through(self.arguments("purge"))
