"""Committed work on one table between two polls, derived from the server's counters without reading the table.

PostgreSQL counts inserted, updated and deleted rows even if the transaction rolls back. Only two counters count commits
alone: live rows (inserts minus deletes) and rows modified since the last analyze (inserts, updates and deletes). The
committed work follows from these two counters:

    a queue that deletes on pop:   I - D = live          I + U + D = modified
    a queue with a state column:   D = deleted (by complete or by the archiver), I = live + D, U = modified - I - D

``modified`` is reliable between two analyzes. ``live`` is less reliable. Vacuum and analyze reset ``live``, and
``live`` never falls below 0. Each session reports its counts about once a second. If deletes are reported before the
inserts, the part below 0 is lost and ``live`` stays too high. In a nearly empty queue this happens after each vacuum.
qmon therefore uses ``live`` to split ``modified`` into inserts and deletes only if ``live`` can be right. Otherwise
``modified`` is split in proportion to the attempts, minus the share of attempts that was rolled back recently. If the
rows of a table are counted in each poll, the result is checked against that count.

SQL Server has only the attempts and the number of rows. A rollback restores the number of rows. Attempted inserts and
deletes count as committed if they agree with the change of the number of rows.

Source: ``AtEOXact_PgStat_Relations`` and ``pgstat_relation_flush_cb`` in PostgreSQL's ``pgstat_relation.c``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from qmon.model.layout.layout import Layout
from qmon.model.samples.polled_samples import CounterSample


@dataclass(frozen=True, slots=True)
class CommittedWork:
    """Rows inserted, updated and deleted by commits. ``exact`` is false if rollbacks were estimated."""

    inserted: float
    updated: float
    deleted: float
    exact: bool


@dataclass(frozen=True, slots=True)
class Shares:
    """The share of recent attempts that committed, 0 to 1."""

    inserted: float = 1.0
    updated: float = 1.0
    deleted: float = 1.0


@dataclass(frozen=True, slots=True)
class _Side:
    """Attempts of one kind, in rows, and the recent share of such attempts that committed."""

    tried: float
    share: float


def committed_work(prev: CounterSample, now: CounterSample, layout: Layout, shares: Shares) -> CommittedWork | None:
    """Return the committed work between two samples of one table's counters, or ``None`` if the counters were reset."""
    inserted = now.inserted - prev.inserted
    updated = now.updated - prev.updated
    deleted = now.deleted - prev.deleted
    if min(inserted, updated, deleted) < 0 or now.vacuums < prev.vacuums or now.analyzes < prev.analyzes:
        return None
    if now.modified_since_analyze is None or prev.modified_since_analyze is None:
        return _work_by_rows(inserted, updated, deleted, now.live - prev.live)
    if now.analyzes != prev.analyzes:
        return CommittedWork(
            inserted * shares.inserted, updated * shares.updated, deleted * shares.deleted, exact=min_share(shares) == 1
        )
    modified = now.modified_since_analyze - prev.modified_since_analyze
    rise = now.live - prev.live if now.vacuums == prev.vacuums else None
    may_be_cut = prev.live < deleted
    came = _Side(inserted, shares.inserted)
    if layout.deletes_on_pop:
        moved = max(0.0, float(modified - updated))
        first = None if rise is None else (moved + rise) / 2
        inserts, exact = _split_moved(moved, came, _Side(deleted, shares.deleted), first, may_be_cut=may_be_cut)
        return CommittedWork(inserts, float(updated), min(moved - inserts, deleted), exact)
    moved = max(0.0, float(modified - deleted))
    first = None if rise is None else float(rise + deleted)
    inserts, exact = _split_moved(moved, came, _Side(updated, shares.updated), first, may_be_cut=may_be_cut)
    return CommittedWork(inserts, min(moved - inserts, updated), float(deleted), exact)


def reconcile_with_rows(
    work: CommittedWork, unexplained_rows: float, prev: CounterSample, now: CounterSample
) -> CommittedWork:
    """Split the work again so that it agrees with the counted rows, as far as the attempts allow.

    Counters arrive up to a second later than rows, and the counters of inserts and deletes do not arrive together. A
    difference of no more than the attempts in this poll is therefore ignored.

    Args:
        work: work on a table whose pops delete.
        unexplained_rows: current number of rows minus the number that follows from all earlier work.
    """
    came, gone = now.inserted - prev.inserted, now.deleted - prev.deleted
    off = unexplained_rows - (work.inserted - work.deleted)
    excess = math.copysign(max(0.0, abs(off) - came - gone), off)
    if not excess:
        return work
    moved = work.inserted + work.deleted
    inserts = min(max(work.inserted + excess / 2, moved - gone, 0.0), came, moved)
    return replace(work, inserted=inserts, deleted=moved - inserts, exact=False)


def min_share(shares: Shares) -> float:
    return min(shares.inserted, shares.updated, shares.deleted)


def update_shares(prev: CounterSample, now: CounterSample, work: CommittedWork, before: Shares) -> Shares:
    """Return the shares after an interval. A share does not change if there were no attempts or the work is inexact."""
    if not work.exact:
        return before

    def share(done: float, tried: int, old: float) -> float:
        return 0.5 * old + 0.5 * done / tried if tried > 0 else old

    return Shares(
        share(work.inserted, now.inserted - prev.inserted, before.inserted),
        share(work.updated, now.updated - prev.updated, before.updated),
        share(work.deleted, now.deleted - prev.deleted, before.deleted),
    )


def _split_moved(
    moved: float, came: _Side, other: _Side, by_live: float | None, *, may_be_cut: bool
) -> tuple[float, bool]:
    """Return how many of the committed rows were inserts, and whether this number is exact.

    Args:
        moved: committed rows: inserts plus rows of the other kind.
        came: attempted inserts.
        other: attempts of the other kind.
        by_live: inserts according to the change of live rows; ``None`` if the counter of live rows was reset.
        may_be_cut: true if live rows may have been clamped at 0, so that ``by_live`` is too high.
    """
    low, high = max(0.0, moved - other.tried), min(came.tried, moved)
    weights = came.tried * came.share, other.tried * other.share
    guess = min(max(moved * weights[0] / sum(weights), low), high) if sum(weights) > 0 else high
    if by_live is None:
        return guess, low >= high
    if may_be_cut and by_live - guess > math.sqrt(moved):
        return guess, False
    return min(max(by_live, low), high), True


def _work_by_rows(inserted: int, updated: int, deleted: int, rise: int) -> CommittedWork:
    """Return the attempts that agree with the change of the number of rows.

    If no part of the attempts agrees with the change, return all attempts.
    """
    if not -deleted <= rise <= inserted:
        return CommittedWork(float(inserted), float(updated), float(deleted), exact=False)
    inserts = min(inserted, deleted + rise)
    return CommittedWork(float(inserts), float(updated), float(inserts - rise), exact=True)
