"""A long watch of many sessions: polls stay within 100 ms, every queue gets its turn, and omissions are reported."""

from __future__ import annotations

from statistics import median, quantiles

from qmon.model.cost_budget import Budget
from tests.contract.crowd import crowded, last_polls, touch
from tests.contract.watching import watching
from tests.facts import wait_until

ALLOWED_MS = 100.0
_SETTLING = 15


def within(sessions: int = 300, queues: int = 100, polls: int = 60, interval_s: float = 2.0) -> str:
    """Watch this number of queues with this number of sessions. Return a line with the cost of the polls."""
    with (
        crowded(sessions, queues) as (url, layouts),
        watching(url, layouts, interval_s, Budget(poll_ms=ALLOWED_MS)) as watched,
    ):
        wait_until(lambda: len(watched.views) >= _SETTLING, 300, what="the first polls")
        found = last_polls(watched, polls, after=_SETTLING)
        view = found.views[-1]
        assert view.server.sessions == sessions
        assert view.server.observing is not None
        throttled = len(view.server.observing.throttled)
        assert view.server.observing.expected_ms <= ALLOWED_MS, found.each
        touch(url, queues)
        wait_until(lambda: all(q.ready.value == 900 for q in watched.views[-1].queues), 120, what="all read again")
        inside = sum(ms <= ALLOWED_MS for ms in found.each)
        return (
            f"observer: {sessions} sessions, {queues} queues, {ALLOWED_MS:g} ms allowed: cost"
            f" {view.server.observing.expected_ms:.0f} ms; took: median"
            f" {median(found.each):.0f} ms, p90 {quantiles(found.each, n=10)[-1]:.0f} ms, {inside} of"
            f" {len(found.each)} polls within, {throttled} probes throttled"
        )
