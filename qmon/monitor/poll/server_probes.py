"""Read server-level data in a poll: use of tables and indexes, statistics, the horizon, waits for pages."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from qmon.engines.base import Value
from qmon.model.probe_table import PROBES
from qmon.model.samples.client_samples import MOST_CLIENTS
from qmon.model.samples.deadlock_samples import Circle
from qmon.model.samples.horizon_samples import HorizonSample, VersionStoreSample
from qmon.model.samples.polled_samples import CounterSample, ServerSample, WaitSample
from qmon.model.samples.usage_samples import SizeSample, StatisticsSample, UseSample
from qmon.model.samples.wait_samples import LatchSample, WaitSource, WaitTotal, WaitTotals
from qmon.model.snapshot import ProbeFailure
from qmon.model.waits.meanings import PAGE_LATCHES
from qmon.monitor.background.wait_sampler import WaitSampler
from qmon.monitor.probes.own_reads import OwnUses
from qmon.monitor.probes.page_owners import PageOwners
from qmon.monitor.probes.probe_statements import ProbeStatement, Results, StatementCache
from qmon.monitor.probes.target_probes import TargetProbes
from qmon.monitor.source import ReadScope
from qmon.redact import hide_passwords

_NOWHERE: Final = ReadScope()

# Minimum seconds between two readings of use and latches. Faster polls skip these probes.
_EVERY_S: Final = 0.9

# If a poll finds no latches, the last ones are shown for this many seconds.
_LATCHES_KEPT_S: Final = 6.0
_TEXTS_EVERY_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class ServerRead:
    """The samples of one poll; ``None`` if a probe was not run or failed."""

    uses: tuple[UseSample, ...] | None = None
    statistics: tuple[StatisticsSample, ...] | None = None
    horizon: tuple[HorizonSample, ...] | None = None
    latches: tuple[LatchSample, ...] | None = None
    waits: WaitTotals | None = None
    failures: tuple[ProbeFailure, ...] = ()
    circles: tuple[Circle, ...] = ()
    version_store: VersionStoreSample | None = None


class ServerProbes:
    """Choose the server-level probes of a poll and file their results. Belongs to the collector of one connection.

    ``target_probes``: keeps the results of probes with an interval.
    ``sampler``: samples waits between polls if the server does not count them. ``own_uses``: counts of the reads that
    qmon's own background readers caused.
    """

    def __init__(
        self,
        statements: StatementCache,
        target_probes: TargetProbes,
        sampler: WaitSampler | None,
        own_uses: OwnUses,
    ) -> None:
        self._statements = statements
        self._target_probes = target_probes
        self._own_uses = own_uses
        self._sampler = sampler
        self._statistics: tuple[StatisticsSample, ...] | None = None
        self._statistics_at = float("-inf")
        self._tables: Sequence[int] = ()
        self._asked_at = float("-inf")
        # The last latches, and when they were read; server clock, seconds.
        self._latches: tuple[LatchSample, ...] = ()
        self._latches_at = float("-inf")
        # For each table, when its sizes were read (server clock, seconds), and the bytes of each index.
        self._sizes: dict[int, tuple[float, dict[int, int]]] = {}
        self._sized_at: dict[int, float] = {}
        self._analyzes = 0
        self._latched = False
        self._pages = PageOwners()

    def retain_only(self, tables: Collection[int]) -> None:
        """Forget the sizes of other tables."""
        self._sizes = {table: read for table, read in self._sizes.items() if table in tables}
        self._sized_at = {table: at for table, at in self._sized_at.items() if table in tables}

    def statements_for_poll(
        self, now: float, tables: Sequence[int], focus: ReadScope = _NOWHERE, *, every_s: float = 0.0
    ) -> list[ProbeStatement]:
        """Return the statements of this poll.

        These statements run last, so that the usage figures include all reads of this poll, which qmon then subtracts.

        ``now``: our monotonic clock. ``tables``: table ids of the queues that this poll reads. ``focus``: the current
        screen. ``every_s``: seconds between readings of the other queues; 0: there are no other queues.
        """
        if self._sampler is not None:
            self._sampler.set_pace(focus)
        asked = self._statements.optional_statements_for("wait_totals")
        if tables and (now - self._statistics_at >= PROBES["statistics"].every_s or tables != self._tables):
            self._statistics_at, self._tables = now, tables
            asked += self._statements.statements_for_tables("statistics", tables)
            often_s = PROBES["sizes"].in_turns_s if every_s else 0.0
            sized = [each for each in tables if now - self._sized_at.get(each, -often_s) >= often_s]
            self._sized_at |= dict.fromkeys(sized, now)
            asked += self._statements.statements_for_tables("sizes", sized)
        if now - self._asked_at >= _EVERY_S:
            self._asked_at = now
            if tables and self._latched:
                ids = self._statements.engine.ids_value(tables)
                asked += self._statements.optional_statements_for("latches", {"tables": ids})
                asked += self._pages.statements_for_poll(self._statements, now)
            asked += self._statements.statements_for_tables("uses", tables)
        return asked

    def record_results(self, results: Results, server: ServerSample, *, one_trip: bool) -> ServerRead:
        """Return the results, after ``target_probes`` has recorded them.

        ``one_trip``: the poll was one transaction, so qmon's part of the totals is known.
        """
        sampler = self._sampler
        waits = counted_totals(results.get(("", "wait_totals")), server.started_at, server.now_at)
        if waits is None and sampler is not None:
            waits = sampler.wait_totals()
        self._statistics = results.get(("", "statistics"), self._statistics)
        counters: tuple[CounterSample, ...] = results.get(("", "counters"), ())
        analyzes = sum(counter.analyzes for counter in counters)
        if analyzes != self._analyzes:
            # The statistics are new: read them in the next poll.
            self._analyzes, self._statistics_at = analyzes, float("-inf")
        sizes: tuple[SizeSample, ...] = results.get(("", "sizes"), ())
        self._sizes |= {each.table_id: (server.now_at, {}) for each in sizes}
        for each in sizes:
            self._sizes[each.table_id][1][each.index_id] = each.bytes
        uses: Sequence[UseSample] | None = results.get(("", "uses"))
        if uses is not None:
            own = self._own_uses.totals()
            uses = tuple(
                self._complete_use(use, own.get((use.table_id, use.index_id)), one_trip=one_trip) for use in uses
            )
        return ServerRead(
            uses=uses,
            statistics=self._statistics,
            horizon=self._current_horizon(server.now_at),
            latches=self._recent_latches(results, server.now_at),
            waits=waits,
            failures=() if sampler is None else sampler.failures(),
            circles=() if sampler is None else sampler.take_circles(),
            version_store=next(iter(self._target_probes.rows("version_store") or ()), None),
        )

    def sized_at(self, tables: Collection[int]) -> float | None:
        """Return the earliest time at which the sizes of these tables were read, if a separate probe reads them."""
        return min((self._sizes[table][0] for table in tables if table in self._sizes), default=None)

    def _complete_use(self, use: UseSample, own: tuple[int, int, int] | None, *, one_trip: bool) -> UseSample:
        """Return the sample without qmon's own reads, and with the last known size if it has no size."""
        known: dict[str, Any] = {} if one_trip else {"own_rows": None, "own_pages": None, "own_scans": None}
        for name, read in zip(("scans", "rows_read", "pages"), own or (), strict=False):
            total: int | None = getattr(use, name)
            known[name] = None if total is None else total - read
        if use.bytes is None and (sizes := self._sizes.get(use.table_id)) is not None:
            known["bytes"] = sizes[1].get(use.index_id)
        return replace(use, **known) if known else use

    def _recent_latches(self, results: Results, now_at: float) -> tuple[LatchSample, ...] | None:
        """Return the sessions that wait for pages, from this poll or a recent poll."""
        waits: tuple[WaitSample, ...] = results.get(("", "waits"), ())
        self._latched = any(wait.event.casefold() in PAGE_LATCHES for wait in waits)
        read: tuple[LatchSample, ...] = results.get(("", "latches"), ())
        if read:
            self._latches = tuple(replace(one, statement=hide_passwords(one.statement)) for one in read)
            self._latches_at = now_at
        return self._pages.name(self._latches if now_at - self._latches_at <= _LATCHES_KEPT_S else None, results)

    def _current_horizon(self, now_at: float) -> tuple[HorizonSample, ...] | None:
        """Return the holders of the horizon, from this poll or a recent poll, with their current age."""
        held: tuple[HorizonSample, ...] | None = self._target_probes.rows("horizon")
        if held is None:
            return None
        more = now_at - self._target_probes.read_at("horizon")
        return tuple(
            replace(
                one, statement=hide_passwords(one.statement), held_s=None if one.held_s is None else one.held_s + more
            )
            for one in held
        )


def counted_totals(rows: tuple[WaitTotal, ...] | None, started_at: float, now_at: float) -> WaitTotals | None:
    """Return wait totals counted by the server since its start. Times are in seconds since the epoch."""
    return None if rows is None else WaitTotals(WaitSource.COUNTED, started_at, now_at - started_at, rows)


class ClientLimits:
    """Choose how many sessions a poll lists, and how many of their last statements it reads. One per collector.

    A session that has popped once stays a consumer, so the statements of all sessions are read only now and then.
    """

    def __init__(self) -> None:
        self._all_at = float("-inf")

    def values_for_poll(self, now: float) -> dict[str, Value]:
        """Return the values of the probe ``clients`` for this poll; ``now``: our monotonic clock, seconds."""
        every = now - self._all_at >= _TEXTS_EVERY_S
        self._all_at = now if every else self._all_at
        return {"texts": MOST_CLIENTS} if every else {}
