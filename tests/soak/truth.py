"""The truth soak: random tables that change under qmon's eyes, and each verdict held against SQL just before and after.

A role that sees all sessions or only its own; sessions that count what they change, or do not. Tables with and without
the indexes that serve figures, with and without a start time, with states and without; messages
pushed, popped, completed, abandoned, held by open transactions; rights revoked and granted; tables renamed and back. A
verdict lies where what a superuser reads just before the poll and just after it contradicts it, and nobody has changed
anything in between.
"""

from __future__ import annotations

import random
import threading
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Final

import pyodbc

from qmon.model.alerts.check import CheckState, judge
from qmon.model.layout.layout import Layout, StateColumn, TableName
from qmon.model.view import QueueView, View
from tests.contract.watching import watching
from tests.facts import connected, odbc, query, wait_until

ROLE: Final = "truth_watcher"
_STEP_S: Final = 0.04
_LOOK_S: Final = 0.02
_NOW: Final = "SELECT extract(epoch FROM clock_timestamp())::float8"
_NOT_POPPED: Final = frozenset({"no pops", "no poppers", "poppers not claiming"})
# Seconds before a poll in which a pop makes a lie of these verdicts. Their evidence lasts for ten seconds, and a poll
# may miss the newest pops.
_POPPED_S: Final = (8.0, 3.0)
_TRUTH: Final = """
CREATE FUNCTION truth(OUT queue text, OUT visible boolean, OUT ready bigint, OUT working bigint, OUT stuck bigint)
RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
    t record;
BEGIN
    FOR t IN SELECT * FROM truth_tables LOOP
        queue := t.name;
        visible := coalesce(to_regclass('public.' || t.name) = t.id, false)
            AND has_table_privilege('truth_watcher', t.id, 'SELECT');
        EXECUTE format(t.counts, CAST(t.id AS regclass)) INTO ready, working, stuck;
        RETURN NEXT;
    END LOOP;
END $$
"""


@dataclass(frozen=True)
class Made:
    """A random table: its layout, and the SQL of its life, ``{}`` being its name now. ``holds``: pops delete."""

    layout: Layout
    create: tuple[str, ...]
    counts: str
    push: str
    pop: str
    complete: str
    holds: bool


def drawn(number: int, dice: random.Random) -> Made:
    """One random table."""
    name, timeout = f"t{number}", float(dice.choice((1, 2, 4)))
    table = TableName("public", name)
    if dice.random() < 0.25:
        layout = Layout(name, "fifo", table, id="id", timeout_s=timeout)
        key = " PRIMARY KEY" if dice.random() < 0.7 else ""
        return Made(
            layout, (f"CREATE TABLE {name} (id bigserial{key}, payload text)",), "SELECT count(*), 0, 0 FROM %s",
            "INSERT INTO {} (payload) SELECT 'x' FROM generate_series(1, ?)",
            "DELETE FROM {0} WHERE id IN (SELECT id FROM {0} ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED)", "", True,
        )  # fmt: skip
    text, timed, keyed = dice.random() < 0.5, dice.random() < 0.75, dice.random() < 0.8
    ready, working = ("'new'", "'busy'") if text else ("1", "2")
    state = StateColumn("state", "new", "busy") if text else StateColumn("state", 1, 2)
    layout = Layout(
        name, "status", table, id="id", state=state, started_at="started_at" if timed else None, timeout_s=timeout
    )
    create = [
        f"CREATE TABLE {name} (id bigserial{' PRIMARY KEY' if keyed else ''}, "
        f"state {'text' if text else 'int'} NOT NULL DEFAULT {ready}, taken timestamptz, "
        f"started_at timestamptz, payload text)"
    ]
    indexes = (
        "(state, id)",
        f"(id) WHERE state = {ready}",
        f"(started_at) WHERE state = {working}",
        "(state, started_at)",
    )
    create += [f"CREATE INDEX ON {name} {index}" for index in indexes if dice.random() < 0.35]
    return Made(
        layout, tuple(create),
        f"SELECT count(*) FILTER (WHERE state = {ready}), count(*) FILTER (WHERE state = {working}), count(*) FILTER "
        f"(WHERE state = {working} AND taken < clock_timestamp() - interval '{timeout} s') FROM %s",
        "INSERT INTO {} (payload) SELECT 'x' FROM generate_series(1, ?)",
        f"UPDATE {{0}} SET state = {working}, taken = clock_timestamp(), started_at = clock_timestamp() WHERE id IN "
        f"(SELECT id FROM {{0}} WHERE state = {ready} ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED)",
        f"DELETE FROM {{0}} WHERE id IN (SELECT id FROM {{0}} WHERE state = {working} ORDER BY id LIMIT ?)", False,
    )  # fmt: skip


@dataclass(frozen=True)
class Fact:
    """What is true of a queue. ``changes``: how often its table had been changed."""

    visible: bool
    ready: int
    working: int
    stuck: int
    changes: int

    def contradicts(self, code: str) -> bool:
        """Whether it makes a lie of a verdict, or of ``OK``."""
        if code == "empty":
            return not self.visible or self.ready + self.working > 0
        return code in ("healthy", "OK") and (not self.visible or self.stuck > 0)


@dataclass
class Told:
    """What was said how often, and the lies: what was said of what, and what was true."""

    seed: int
    polls: int = 0
    steps: int = 0
    looks: int = 0
    judged: int = 0
    said: Counter[str] = field(default_factory=Counter)
    lies: list[str] = field(default_factory=list)

    def line(self) -> str:
        """One line for people."""
        said = ", ".join(f"{code} {count:,}" for code, count in self.said.most_common())
        return (
            f"truth: seed {self.seed}, {self.polls:,} polls, {self.steps:,} changes, {self.judged:,} verdicts held "
            f"against {self.looks:,} looks, {len(self.lies)} lies; said: {said}"
        )


class World:
    """The tables, who changes them, and who reads what is true."""

    def __init__(self, url: str, seed: int, tables: int) -> None:
        self._url = url
        self._dice = random.Random(seed)
        self.made = [drawn(number, self._dice) for number in range(tables)]
        self._names = {made.layout.queue: made.layout.queue for made in self.made}
        self._revoked: set[str] = set()
        self._holders: dict[str, tuple[pyodbc.Connection, float, int]] = {}
        self._changes: Counter[str] = Counter()
        self._settings = [
            f"SET {name} = off" for name in ("track_counts", "track_activities") if self._dice.random() < 0.5
        ]
        """Settings for the session that changes the tables."""
        self._sees = self._dice.random() < 0.5
        self.popped: dict[str, list[float]] = {made.layout.queue: [] for made in self.made}
        """When messages were popped, server clock, seconds."""
        self._lock = threading.Lock()
        self._over = threading.Event()
        self.facts: dict[str, list[Fact]] = {made.layout.queue: [] for made in self.made}
        self.times: list[float] = []
        self.steps = 0
        self.failed: list[BaseException] = []

    def make(self) -> None:
        """Create everything, with some messages that were abandoned long ago."""
        query(self._url, f"CREATE ROLE {ROLE} LOGIN")
        if self._sees:
            query(self._url, f"GRANT pg_read_all_stats TO {ROLE}")
        query(self._url, "CREATE TABLE truth_tables (name text, id oid, counts text)")
        query(self._url, _TRUTH)
        for made in self.made:
            name = made.layout.queue
            for statement in made.create:
                query(self._url, statement)
            query(self._url, f"GRANT SELECT ON {name} TO {ROLE}")
            query(self._url, f"GRANT SELECT ON SEQUENCE {name}_id_seq TO {ROLE}")
            counts = made.counts.replace("'", "''")
            query(self._url, f"INSERT INTO truth_tables VALUES ('{name}', '{name}'::regclass, '{counts}')")
            if self._dice.random() < 0.6:
                query(self._url, made.push.format(name).replace("?", str(self._dice.randint(1, 20))))
            if not made.holds and self._dice.random() < 0.3:
                query(self._url, made.pop.format(name).replace("?", "3"))
                old = "clock_timestamp() - interval '3 hours'"
                query(self._url, f"UPDATE {name} SET taken = {old}, started_at = {old} WHERE taken IS NOT NULL")

    def change(self) -> None:
        """One random change after the other, until it is over."""
        try:
            with connected(self._url) as connection:
                for setting in self._settings:
                    connection.execute(setting)
                while not self._over.wait(_STEP_S):
                    made = self._dice.choice(self.made)
                    with self._lock:
                        self._step(connection, made)
                        self._changes[made.layout.queue] += 1
                    self.steps += 1
        except BaseException as problem:
            self.failed.append(problem)
        finally:
            for connection, _, _ in self._holders.values():
                connection.close()

    def _step(self, connection: pyodbc.Connection, made: Made) -> None:
        queue, dice = made.layout.queue, self._dice
        name, chance, count = self._names[queue], dice.random(), dice.randint(1, 4)
        if chance < 0.12:
            verb, way = ("GRANT", "TO") if queue in self._revoked else ("REVOKE", "FROM")
            connection.execute(f"{verb} SELECT ON {name} {way} {ROLE}")
            self._revoked ^= {queue}
        elif chance < 0.24:
            if queue in self._holders:
                return  # it would wait for the holder
            other = queue if name != queue else f"{queue}_elsewhere"
            connection.execute(f"ALTER TABLE {name} RENAME TO {other}")
            self._names[queue] = other
        elif chance < 0.45:
            connection.execute(made.push.format(name), count)
        elif chance < 0.70:
            self._pop(connection, made, name, count)
        elif made.holds:
            self._release(queue)
        else:
            connection.execute(made.complete.format(name), 4 * count)

    def _pop(self, connection: pyodbc.Connection, made: Made, name: str, count: int) -> None:
        queue = made.layout.queue
        if not made.holds or self._dice.random() < 0.5:
            if connection.execute(made.pop.format(name), count).rowcount > 0:
                self.popped[queue].append(connection.execute(_NOW).fetchone()[0])
        elif queue not in self._holders:
            holder = pyodbc.connect(odbc(self._url), autocommit=False)
            began = holder.execute(_NOW).fetchone()[0]
            rows = holder.execute(made.pop.format(name), count).rowcount
            self._holders[queue] = holder, began, rows

    def _release(self, queue: str) -> None:
        if queue in self._holders:
            self._holders.pop(queue)[0].close()

    def look(self) -> None:
        """Read what is true again and again, until it is over."""
        try:
            with connected(self._url) as connection:
                while not self._over.wait(_LOOK_S):
                    with self._lock:
                        at = connection.execute(_NOW).fetchone()[0]
                        for queue, visible, ready, working, stuck in connection.execute("SELECT * FROM truth()"):
                            held = self._held(queue, at)
                            fact = Fact(
                                visible == "1" or visible is True,
                                ready - held[0],
                                working + held[0],
                                stuck + held[1],
                                self._changes[queue],
                            )
                            self.facts[queue].append(fact)
                        self.times.append(at)
        except BaseException as problem:
            self.failed.append(problem)

    def _held(self, queue: str, at: float) -> tuple[int, int]:
        """Rows that an open transaction holds, and those of them that it has held for too long."""
        if queue not in self._holders:
            return 0, 0
        _, began, rows = self._holders[queue]
        timeout_s = next(made.layout.timeout_s for made in self.made if made.layout.queue == queue)
        return rows, rows if at - began > timeout_s else 0

    def made_of(self, queue: str) -> Made:
        """How the table of a queue was made."""
        return next(made for made in self.made if made.layout.queue == queue)

    def end(self) -> None:
        """Change and look no more."""
        self._over.set()


def truth(url: str, *, seed: int, tables: int, seconds: float) -> Told:
    """Watch so many random tables for so long as a role whose rights come and go; returns what was said.

    ``url``: an empty database, as a superuser.
    """
    world, told = World(url, seed, tables), Told(seed)
    world.make()
    threads = [threading.Thread(target=work) for work in (world.look, world.change)]
    try:
        threads[0].start()
        layouts = [made.layout for made in world.made]
        with watching(url.replace("postgres@", f"{ROLE}@", 1), layouts) as watched:
            wait_until(lambda: watched.views, what="the first poll")
            threads[1].start()
            first = watched.views[0].sampled_at
            wait_until(lambda: watched.views[-1].sampled_at - first >= seconds, 60.0 + 2 * seconds, what="the end")
        world.end()
        for thread in threads:
            thread.join()
        for view in watched.views:
            _hold_against(view, world, told)
    finally:
        world.end()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        query(url, f"DROP OWNED BY {ROLE}")
        query(url, f"DROP ROLE {ROLE}")
    if world.failed:
        raise world.failed[0]
    told.steps, told.looks, told.polls = world.steps, len(world.times), len(watched.views)
    return told


def _hold_against(view: View, world: World, told: Told) -> None:
    """Compare one poll with what was true just before it began and just after it had ended."""
    ended_at = view.sampled_at + view.server.client_ms / 1000
    before, after = bisect_right(world.times, view.sampled_at) - 1, bisect_left(world.times, ended_at)
    for queue in view.queues:
        told.said[queue.verdict.code] += 1
        if before < 0 or after >= len(world.times):
            continue
        facts = world.facts[queue.name][before], world.facts[queue.name][after]
        if facts[0].changes != facts[1].changes:
            continue
        told.judged += 1
        made = world.made_of(queue.name)
        held = made.holds and made.layout.timeout_s >= 2 and all(fact.stuck > 0 for fact in facts)
        if held and view.server.horizon == ():
            told.lies.append(f"poll {view.sequence}: nothing holds the horizon, but {facts} of {queue.name}")
        seen = not queue.ready.estimated  # else a pop without its counter is known only by the next count
        recent = [
            at for at in world.popped[queue.name] if _POPPED_S[1] <= view.sampled_at - at <= _POPPED_S[0] and seen
        ]
        for code in _NOT_POPPED.intersection(_said(view, queue)) if recent else ():
            told.lies.append(f"poll {view.sequence}: {queue.name} {code} ({queue.verdict.proof}), popped at {recent}")
        for code in _said(view, queue):
            if all(fact.contradicts(code) for fact in facts):
                why, tables = queue.verdict.proof, _created(queue, world)
                told.lies.append(f"poll {view.sequence}: {queue.name} {code} ({why}), but {facts}: {tables}")


def _said(view: View, queue: QueueView) -> list[str]:
    alone = judge(replace(view, queues=(queue,), failures=()), ())
    return [*(verdict.code for verdict in queue.verdicts), *(["OK"] if alone.state is CheckState.OK else [])]


def _created(queue: QueueView, world: World) -> tuple[str, ...]:
    return world.made_of(queue.name).create
