"""The truth soak: random tables that change while qmon polls, and each poll compared with SQL just before and after it.

The tables have or lack indexes that serve figures, start times, time zones, states, keys and partitions. Messages are
pushed, popped, completed, abandoned, held by open transactions, put into a state that no layout names, or get an
infinite start time or none. Rights on tables and on ``pg_stat_activity`` are revoked and granted. The worker's session
changes its time zone and turns ``track_activities`` off and on; ``track_counts`` is on or off. Tables are renamed and
back, partitions are detached and attached, and a session waits for the lock on a row.

Two pollers watch: one has the layouts of all tables, the other finds its queues by their shape.

A poll lies if a superuser's reading just before it and another just after it contradict one of its verdicts or exact
figures, and nothing changed in between.
"""

from __future__ import annotations

import contextlib
import random
import threading
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import pyodbc

from qmon.model.alerts.target_check import CheckState, check_target
from qmon.model.figure import Figure
from qmon.model.layout.layout import DEFAULT_TIMEOUT_S, Layout, ObjectName, StateColumn
from qmon.model.verdicts.judge import JudgeText
from qmon.model.view import QueueView, View
from tests.contract.watching import watching
from tests.facts import connected, odbc, query, wait_until
from tests.wordings import has

ROLE: Final = "truth_watcher"
_ELSEWHERE: Final = "_elsewhere"
_STEP_S: Final = 0.04
_LOOK_S: Final = 0.02
# Time zones of the worker's session.
_ZONES: Final = ("UTC", "America/New_York", "Asia/Kolkata")
# How long a session waits for a lock on a row before it gives up, in seconds.
_WAITS_S: Final = 1.5
# Seconds before a poll: a pop in between contradicts the verdict that nothing is popped. Its evidence takes ten.
_POPPED_S: Final = (8.0, 3.0)
# Seconds after which qmon must have seen a new state: it looks for them less often than it polls.
_LEARNT_S: Final = 15
# PostgreSQL shows the work of a busy session after at most a second; a rate counts earlier work.
_FLUSHED_S: Final = 2.0
_NOW: Final = "clock_timestamp()"
_TRUTH: Final = """
CREATE FUNCTION truth(OUT queue text, OUT visible boolean, OUT ready bigint, OUT working bigint, OUT stuck bigint,
    OUT undated bigint, OUT odd bigint, OUT late bigint, OUT taken bigint, OUT readable boolean)
RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
    t record;
BEGIN
    FOR t IN SELECT * FROM truth_tables LOOP
        queue := t.name;
        readable := has_table_privilege('truth_watcher', t.id, 'SELECT');
        visible := readable AND coalesce(to_regclass('public.' || t.name) = t.id, false);
        EXECUTE format(t.counts, CAST(t.id AS regclass)) INTO ready, working, stuck, undated, odd, late, taken;
        RETURN NEXT;
    END LOOP;
END $$
"""


@dataclass(frozen=True)
class Made:
    """A random table: its layout, and the SQL that changes it, with ``{}`` as its present name.

    ``counts``: SQL that counts messages that are ready, in progress, stuck, in progress without a usable start, in a
    state that no layout names, stuck by the timeout of found queues, and in progress long enough that found queues must
    know the state. ``holds``: a pop deletes the row. ``partition``: a partition that is detached and attached again,
    empty for none.
    """

    layout: Layout
    create: tuple[str, ...]
    counts: str
    push: str
    pop: str
    complete: str
    holds: bool
    undate: str = ""
    misstate: str = ""
    partition: str = ""


def drawn(number: int, dice: random.Random) -> Made:
    """Return one random table."""
    name, timeout = f"t{number}", float(dice.choice((1, 2, 4)))
    table = ObjectName("public", name)
    if dice.random() < 0.25:
        layout = Layout(name, "fifo", table, id="id", timeout_s=timeout)
        key = " PRIMARY KEY" if dice.random() < 0.7 else ""
        return Made(
            layout,
            (f"CREATE TABLE {name} (id bigserial{key}, payload text)",),
            "SELECT count(*), 0, 0, 0, 0, 0, 0 FROM %s",
            "INSERT INTO {} (payload) SELECT 'x' FROM generate_series(1, ?)",
            "DELETE FROM {0} WHERE id IN (SELECT id FROM {0} ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED)",
            "",
            True,
        )
    text, timed, keyed = dice.random() < 0.5, dice.random() < 0.75, dice.random() < 0.8
    zoned, split = dice.random() < 0.7, dice.random() < 0.2
    ready, working, odd = ("'new'", "'busy'", "'parked'") if text else ("1", "2", "7")
    state = StateColumn("state", "new", "busy") if text else StateColumn("state", 1, 2)
    layout = Layout(
        name, "status", table, id="id", state=state, started_at="started_at" if timed else None, timeout_s=timeout
    )
    create = [
        f"CREATE TABLE {name} (id bigserial{' PRIMARY KEY' if keyed else ''}, "
        f"state {'text' if text else 'int'} NOT NULL DEFAULT {ready}, taken timestamptz, "
        f"started_at timestamp{'tz' if zoned else ''}, payload text){' PARTITION BY RANGE (id)' if split else ''}",
    ]
    if split:
        create += [
            f"CREATE TABLE {name}_new PARTITION OF {name} FOR VALUES FROM (10) TO (MAXVALUE)",
            f"CREATE TABLE {name}_old PARTITION OF {name} FOR VALUES FROM (MINVALUE) TO (10)",
        ]
    indexes = (
        "(state, id)",
        f"(id) WHERE state = {ready}",
        f"(started_at) WHERE state = {working}",
        "(state, started_at)",
    )
    create += [f"CREATE INDEX ON {name} {index}" for index in indexes if dice.random() < 0.35]
    longer, default = (
        f"count(*) FILTER (WHERE state = {working} AND isfinite(started_at) AND taken < {_NOW} - interval '{most_s} s')"
        for most_s in (timeout, DEFAULT_TIMEOUT_S)
    )
    return Made(
        layout,
        tuple(create),
        f"SELECT count(*) FILTER (WHERE state = {ready}), count(*) FILTER (WHERE state = {working}), "
        f"{longer}, "
        f"count(*) FILTER (WHERE state = {working} AND isfinite(started_at) IS NOT TRUE), "
        f"count(*) FILTER (WHERE state = {odd} AND taken < {_NOW} - interval '{_LEARNT_S} s'), "
        f"{default}, count(*) FILTER (WHERE state = {working} AND taken < {_NOW} - interval '{_LEARNT_S} s') FROM %s",
        "INSERT INTO {} (payload) SELECT 'x' FROM generate_series(1, ?)",
        f"UPDATE {{0}} SET state = {working}, taken = clock_timestamp(), started_at = clock_timestamp() WHERE id IN "
        f"(SELECT id FROM {{0}} WHERE state = {ready} ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED)",
        f"DELETE FROM {{0}} WHERE id IN (SELECT id FROM {{0}} WHERE state IN ({working}, {odd}) ORDER BY id LIMIT ?)",
        holds=False,
        undate=f"UPDATE {{0}} SET started_at = ? WHERE id IN (SELECT id FROM {{0}} WHERE state = {working} LIMIT 1)",
        misstate=f"UPDATE {{0}} SET state = {odd}, taken = clock_timestamp() WHERE id IN "
        f"(SELECT id FROM {{0}} WHERE state = {ready} ORDER BY id DESC LIMIT 1 FOR UPDATE SKIP LOCKED)",
        partition=f"{name}_old" if split else "",
    )


@dataclass(frozen=True)
class Fact:
    """The true state of a queue.

    ``undated``: in progress without a start or since an infinite time, so that it is unknown whether they are stuck.
    ``odd``: in a state that the layout does not name. ``changes``: how often its table was changed.
    """

    visible: bool
    ready: int
    working: int
    stuck: int
    undated: int
    odd: int
    changes: int
    readable: bool
    late: int
    taken: int

    def of_found(self, queue: QueueView) -> Fact:
        """The same for a found queue, which may have to learn the state of rows in progress."""
        working = self.taken if queue.in_progress.value is None else self.working
        return replace(self, visible=self.readable, stuck=self.late, working=working)

    def contradicts(self, code: str) -> bool:
        """Return whether this fact contradicts a verdict, or ``OK``."""
        if code == "empty":
            return not self.visible or self.ready + self.working + self.odd > 0
        if code == "everything locked":
            return self.ready > 1  # at most one row is locked by a session that does not pop it
        return code in ("healthy", "OK") and (not self.visible or self.stuck + self.odd > 0)

    def bounds(self, figure: str) -> tuple[int, int]:
        """Return the least and the greatest true value of a figure."""
        if figure == "stuck":
            return self.stuck, self.stuck + self.undated
        value = self.ready if figure == "ready" else self.working
        return value, value


@dataclass
class Told:
    """Statements of qmon, with counts, and the lies: each with its subject and the truth."""

    seed: int
    polls: int = 0
    steps: int = 0
    looks: int = 0
    judged: int = 0
    said: Counter[str] = field(default_factory=Counter)
    found: set[str] = field(default_factory=set)
    lies: list[str] = field(default_factory=list)

    def line(self) -> str:
        """Return one readable line."""
        said = ", ".join(f"{code} {count:,}" for code, count in self.said.most_common())
        return (
            f"truth: seed {self.seed}, {self.polls:,} polls, {len(self.found)} queues found by shape, "
            f"{self.steps:,} changes, {self.judged:,} verdicts held against {self.looks:,} looks, "
            f"{len(self.lies)} lies; said: {said}"
        )


class World:
    """The tables, the sessions that change them, and the session that reads the truth."""

    def __init__(self, url: str, seed: int, tables: int) -> None:
        self._url = url
        self._dice = random.Random(seed)
        self.made = [drawn(number, self._dice) for number in range(tables)]
        self._names = {made.layout.queue: made.layout.queue for made in self.made}
        self._revoked: set[str] = set()
        self._blind = self._dice.random() < 0.5
        self._holders: dict[str, tuple[pyodbc.Connection, float, int]] = {}
        self._changes: Counter[str] = Counter()
        self._detached: set[str] = set()
        self._waiter: threading.Thread | None = None
        self.pops: dict[str, list[float]] = {made.layout.queue: [] for made in self.made}
        # Whether the workers' sessions count their work, for the whole run. A sum of both proves nothing.
        self._counts = self._dice.choice(("on", "off"))
        # The sessions that wait for a lock at each look, each with the time since when.
        self.waiting: list[frozenset[tuple[int, float | None]]] = []
        self.rights_changed: list[float] = []
        self._lock = threading.Lock()
        self._over = threading.Event()
        self.facts: dict[str, list[Fact]] = {made.layout.queue: [] for made in self.made}
        # Of each look: when it began and when it ended.
        self.began: list[float] = []
        self.ended: list[float] = []
        self.steps = 0
        self.failed: list[BaseException] = []

    def make(self) -> None:
        """Create everything, with some messages that were abandoned long ago."""
        query(self._url, f"CREATE ROLE {ROLE} LOGIN")
        if not self._blind:
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
            if made.partition:
                query(self._url, f"GRANT SELECT ON {name}_new, {name}_old TO {ROLE}")
            if self._dice.random() < 0.6:
                query(self._url, made.push.format(name).replace("?", str(self._dice.randint(1, 20))))
            if made.partition:  # later rows go to the other partition, even while this one is detached
                query(self._url, f"SELECT setval('{name}_id_seq', greatest(10, last_value)) FROM {name}_id_seq")
            if not made.holds and self._dice.random() < 0.3:
                query(self._url, made.pop.format(name).replace("?", "3"))
                old = "clock_timestamp() - interval '3 hours'"
                query(self._url, f"UPDATE {name} SET taken = {old}, started_at = {old} WHERE taken IS NOT NULL")

    def change(self) -> None:
        """Make one random change after the other until the end."""
        try:
            with connected(self._url) as connection:
                connection.execute(f"SET track_counts = {self._counts}")
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
        if chance < 0.08:
            self._change_session(connection)
        elif chance < (0.16 if queue in self._revoked else 0.1):  # most are seen most of the time
            verb, way = ("GRANT", "TO") if queue in self._revoked else ("REVOKE", "FROM")
            connection.execute(f"{verb} SELECT ON {name} {way} {ROLE}")
            self._revoked ^= {queue}
        elif chance < 0.26:
            if queue not in self._holders and not self._waits():  # it would wait for them
                self._move(connection, made)
        elif chance < 0.34 and not made.holds:
            connection.execute(made.misstate.format(name))
            connection.execute(made.undate.format(name), dice.choice(("infinity", "-infinity", None)))
        elif chance < 0.38 and not made.holds and not self._waits():
            self._wait_for_a_row(name)
        elif chance < 0.52:
            connection.execute(made.push.format(name), count)
        elif chance < 0.74:
            self._pop(connection, made, name, count)
        elif made.holds:
            self._release(queue)
        else:
            connection.execute(made.complete.format(name), 4 * count)

    def _change_session(self, connection: pyodbc.Connection) -> None:
        """Change a setting of the worker's session, or the watcher's rights to see other sessions."""
        what = self._dice.choice(("TimeZone", "track_activities", "rights"))
        if what == "rights":
            verb, way = ("GRANT", "TO") if self._blind else ("REVOKE", "FROM")
            connection.execute(f"{verb} pg_read_all_stats {way} {ROLE}")
            self._blind = not self._blind
            self.rights_changed.append(self._clock(connection))
        else:
            values = _ZONES if what == "TimeZone" else ("on", "on", "off")
            connection.execute(f"SET {what} = '{self._dice.choice(values)}'")

    def _move(self, connection: pyodbc.Connection, made: Made) -> None:
        """Rename a table, or detach a partition of it; if that was done before, undo it."""
        queue = made.layout.queue
        name = self._names[queue]
        moves_back = name != queue or queue in self._detached
        if not moves_back and self._dice.random() < 0.6:
            return  # most are seen most of the time
        if made.partition and self._dice.random() < 0.5:
            if queue in self._detached:
                connection.execute(
                    f"ALTER TABLE {name} ATTACH PARTITION {made.partition} FOR VALUES FROM (MINVALUE) TO (10)"
                )
            else:
                connection.execute(f"ALTER TABLE {name} DETACH PARTITION {made.partition}")
            self._detached ^= {queue}
        else:
            other = queue if name != queue else f"{queue}{_ELSEWHERE}"
            connection.execute(f"ALTER TABLE {name} RENAME TO {other}")
            self._names[queue] = other

    def _waits(self) -> bool:
        """Whether a session may still wait for the lock on a row."""
        return self._waiter is not None and self._waiter.is_alive()

    def _wait_for_a_row(self, name: str) -> None:
        """Let one session lock the newest row and another wait for it; both give up after a while."""

        def wait() -> None:
            row = f"SELECT id FROM {name} ORDER BY id DESC LIMIT 1 FOR UPDATE"
            with connected(self._url, autocommit=False) as holder, connected(self._url) as waiter:
                holder.execute(row)
                waiter.execute(f"SET lock_timeout = {int(1000 * _WAITS_S)}")
                with contextlib.suppress(pyodbc.Error):
                    waiter.execute(row)

        self._waiter = threading.Thread(target=wait)
        self._waiter.start()

    def _pop(self, connection: pyodbc.Connection, made: Made, name: str, count: int) -> None:
        queue = made.layout.queue
        if not made.holds or self._dice.random() < 0.5:
            if connection.execute(made.pop.format(name), count).rowcount > 0:
                self.pops[queue].append(self._clock(connection))
        elif queue not in self._holders:
            holder = pyodbc.connect(odbc(self._url), autocommit=False)
            holder.execute(f"SET track_counts = {self._counts}")
            began = self._clock(holder)
            rows = holder.execute(made.pop.format(name), count).rowcount
            self._holders[queue] = holder, began, rows

    def _release(self, queue: str) -> None:
        if queue in self._holders:
            self._holders.pop(queue)[0].close()

    def look(self) -> None:
        """Read the truth repeatedly until the end."""
        waiting = (
            "SELECT pid, extract(epoch FROM waitstart)::float8 FROM pg_locks "
            "WHERE NOT granted AND locktype IN ('tuple', 'transactionid')"
        )
        try:
            with connected(self._url) as connection:
                while not self._over.wait(_LOOK_S):
                    with self._lock:
                        at = self._clock(connection)
                        self.waiting.append(frozenset(map(tuple, connection.execute(waiting))))
                        for (
                            queue,
                            visible,
                            ready,
                            working,
                            stuck,
                            undated,
                            odd,
                            late,
                            taken,
                            readable,
                        ) in connection.execute("SELECT * FROM truth()"):
                            held = self._held(queue, at)
                            fact = Fact(
                                visible in ("1", True),
                                ready - held[0],
                                working + held[0],
                                stuck + held[1],
                                undated,
                                odd,
                                self._changes[queue],
                                readable in ("1", True),
                                late + held[2],
                                taken + held[0],
                            )
                            self.facts[queue].append(fact)
                        self.began.append(at)
                        self.ended.append(self._clock(connection))
        except BaseException as problem:
            self.failed.append(problem)

    def _clock(self, connection: pyodbc.Connection) -> float:
        """The server's clock, in seconds since the epoch."""
        return float(connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone()[0])

    def _held(self, queue: str, at: float) -> tuple[int, int, int]:
        """Return the rows that an open transaction holds, and those held too long: by the queue's timeout, and by that
        of found queues."""
        if queue not in self._holders:
            return 0, 0, 0
        _, began, rows = self._holders[queue]
        timeout_s = next(made.layout.timeout_s for made in self.made if made.layout.queue == queue)
        held_s = at - began
        return rows, rows if held_s > timeout_s else 0, rows if held_s > DEFAULT_TIMEOUT_S else 0

    def made_of(self, queue: str) -> Made:
        """Return the SQL that created the queue's table."""
        return next(made for made in self.made if made.layout.queue == queue)

    def end(self) -> None:
        """Stop the changes and the readings."""
        self._over.set()


def truth(url: str, *, seed: int, tables: int, seconds: float) -> Told:
    """Watch this number of random tables for ``seconds`` as a role whose rights change. Return qmon's statements.

    ``url``: an empty database, as a superuser.
    """
    world, told = World(url, seed, tables), Told(seed)
    world.make()
    threads = [threading.Thread(target=work) for work in (world.look, world.change)]
    try:
        threads[0].start()
        layouts = [made.layout for made in world.made]
        watcher = url.replace("postgres@", f"{ROLE}@", 1)
        with watching(watcher, layouts) as watched, watching(watcher) as finding:
            wait_until(lambda: watched.views and finding.views, what="the first polls")
            threads[1].start()
            first = watched.views[0].sampled_at
            wait_until(lambda: watched.views[-1].sampled_at - first >= seconds, 60.0 + 2 * seconds, what="the end")
        world.end()
        for thread in threads:
            thread.join()
        for watch, found in ((watched, False), (finding, True)):
            seen_since: dict[str, float] = {}
            for view in watch.views:
                _hold_against(view, world, told, seen_since, found=found)
    finally:
        world.end()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        query(url, f"DROP OWNED BY {ROLE}")
        query(url, f"DROP ROLE {ROLE}")
    if world.failed:
        raise world.failed[0]
    told.steps, told.looks, told.polls = world.steps, len(world.began), len(watched.views) + len(finding.views)
    return told


def _hold_against(view: View, world: World, told: Told, seen_since: dict[str, float], *, found: bool) -> None:
    """Compare one poll with the truth just before it began and just after it ended.

    ``seen_since``: by queue, since when every poll has seen it. ``found``: its queues were found by their shape.
    """
    seen = {queue.name for queue in view.queues if queue.verdict.code != "cannot see"}
    for name in seen_since.keys() - seen:
        del seen_since[name]
    for name in seen:
        seen_since.setdefault(name, view.sampled_at)
    ended_at = view.sampled_at + view.server.client_ms / 1000
    before, after = bisect_right(world.ended, view.sampled_at) - 1, bisect_left(world.began, ended_at)
    inside = before >= 0 and after < len(world.began)
    same = bisect_right(world.rights_changed, view.sampled_at - 1.0) == bisect_left(world.rights_changed, ended_at)
    if inside and same:
        told.lies += _unseen_waiters(view, world.waiting[before : after + 1])
    for queue in view.queues:
        told.said[queue.verdict.code] += 1
        if not inside or queue.read_at is not None:  # read in turns: it was compared in the poll that read it
            continue
        name = queue.name.removesuffix(_ELSEWHERE)
        if name not in world.facts:
            told.lies.append(f"poll {view.sequence}: {queue.name} is no queue")
            continue
        facts = world.facts[name][before], world.facts[name][after]
        if found:
            told.found.add(name)
            facts = facts[0].of_found(queue), facts[1].of_found(queue)
        if view.sampled_at - seen_since.get(queue.name, view.sampled_at) < _LEARNT_S:
            facts = replace(facts[0], odd=0), replace(facts[1], odd=0)
        lies = list(_false_rates(view, queue, world.pops[name]))
        if facts[0].changes == facts[1].changes:
            said = _said(view, queue)
            told.judged += bool(said)
            lies += [code for code in said if all(fact.contradicts(code) for fact in facts)]
            lies += _false_figures(queue, facts)
            made = world.made_of(name)
            lies += [] if found else _certain_about_undated(view, queue, made, facts)
            if made.holds and not found and made.layout.timeout_s >= 2 and view.server.horizon == ():
                lies += ["nothing holds the horizon"] if all(fact.stuck > 0 for fact in facts) else []
        if lies:
            why, tables = queue.verdict.proof, world.made_of(name).create
            told.lies.append(f"poll {view.sequence}: {queue.name} {lies} ({why}), but {facts}: {tables}")


def _unseen_waiters(view: View, waiting: list[frozenset[tuple[int, float | None]]]) -> Iterator[str]:
    """Yield the sessions that waited for a lock during a whole poll that saw no waiting session."""
    chains = view.server.blocking
    throughout = frozenset.intersection(*waiting)
    if chains is not None and not chains.waiters and throughout:
        yield f"poll {view.sequence}: nobody waits for a lock, but {throughout} do"


def _said(view: View, queue: QueueView) -> list[str]:
    """Return the verdicts of a poll on a queue, and ``OK``, if the poll read all figures behind them.

    A poll that is late leaves out probes. The earlier figures, and the verdict, show their age.
    """
    states_are_old = has(queue.verdict.proof, JudgeText.STATES_READ_AGO)
    if states_are_old or any(figure.age_s for figure in (queue.ready, queue.in_progress, queue.stuck)):
        return []
    alone = check_target(replace(view, queues=(queue,), failures=()), ())
    return [*(verdict.code for verdict in queue.verdicts), *(["OK"] if alone.state is CheckState.OK else [])]


def _false_figures(queue: QueueView, facts: tuple[Fact, Fact]) -> Iterator[str]:
    """Yield figures of a poll that contradict the truth before and after it."""
    for name in ("ready", "in_progress", "stuck"):
        figure: Figure = getattr(queue, name)
        if figure.value is None or figure.estimated or figure.age_s:
            continue
        least = min(fact.bounds(name)[0] for fact in facts)
        most = max(fact.bounds(name)[1] for fact in facts)
        if figure.value > most or (figure.value < least and not figure.at_least):
            yield f"{name} {figure.text()}"


def _certain_about_undated(view: View, queue: QueueView, made: Made, facts: tuple[Fact, Fact]) -> Iterator[str]:
    """Yield statements that treat messages without a usable start as not stuck.

    If the start has no time zone, qmon watches the rows and knows how long each has been in progress.
    """
    zoned = "started_at timestamptz" in made.create[0]
    if made.layout.started_at is None or not zoned or not all(fact.undated for fact in facts):
        return
    if queue.stuck.value is not None and not queue.stuck.at_least and not queue.stuck.age_s:
        yield f"stuck is exactly {queue.stuck.text()}"
    yield from (code for code in _said(view, queue) if code in ("healthy", "OK"))


def _false_rates(view: View, queue: QueueView, pops: list[float]) -> Iterator[str]:
    """Yield a rate of 0, or a verdict that nothing is popped, although messages were popped (at these times)."""
    if queue.ready.estimated:
        return  # a pop that no counter shows is known only after the next count of the table
    measured_at = view.sampled_at - queue.pop_rate.age_s
    if queue.window_s is not None and queue.pop_rate.value == 0 and not queue.pop_rate.at_least:
        since, until = measured_at - queue.window_s, measured_at - _FLUSHED_S
        if bisect_left(pops, until) - bisect_right(pops, since) > 1:
            yield "pop rate 0"
    if bisect_left(pops, measured_at - _POPPED_S[1]) > bisect_right(pops, measured_at - _POPPED_S[0]):
        idle = {"no pops", "no consumers", "consumers not claiming"}
        yield from (verdict.code for verdict in queue.verdicts if verdict.code in idle)
