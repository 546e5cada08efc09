"""The cost of watching is measured, kept within the budget, shown, and excluded from the server's figures."""

from __future__ import annotations

from qmon.model.cost_budget import Budget
from qmon.model.view import View
from qmon.tui.queue.queue_panel import QueuePanelText, unknown_items
from qmon.tui.shared.header import HeaderText, header_lines
from qmon.tui.shown_state import ShownState
from qmon.tui.spans import Line
from tests.contract.crowd import crowded
from tests.contract.watching import ROOMY, installed, watching
from tests.facts import connected, wait_until
from tests.wordings import has

# Few enough that each poll reads all.
QUEUES = 60
# By then the probes have been timed often enough.
SETTLED = 20
UNLIMITED = Budget(poll_ms=60_000.0)


def words(lines: list[Line]) -> str:
    return "".join(span[0] for line in lines for span in line)


def test_three_hundred_sessions_and_sixty_queues_stay_within_the_budget() -> None:
    """The budget is half of the polls' cost as measured on this machine."""
    with crowded(300, QUEUES) as (url, layouts):
        with watching(url, layouts, 0.5, UNLIMITED) as watched:
            whole = watched.view(lambda v: v.server.observing is not None and v.sequence > SETTLED, timeout=120).server
            assert whole.sessions == 300
            assert whole.observing is not None
            assert not whole.observing.throttled
        budget = Budget(poll_ms=whole.observing.expected_ms / 2)
        with watching(url, layouts, 0.5, budget) as watched:

            def within(view: View) -> bool:
                seen = view.server.observing
                return seen is not None and bool(seen.throttled) and 0 < seen.expected_ms <= seen.allowed_ms

            view = watched.view(within, timeout=200)
            assert view.server.observing is not None
            observing = view.server.observing
            said = words(header_lines(ShownState("crowd", view, newest_at=view.taken_at), view.taken_at, 200))
            assert HeaderText.THROTTLED.render(count=len(observing.throttled)) in said
            queue = next(q for q in view.queues if q.throttled)
            assert any(
                has(name, QueuePanelText.THROTTLED) and has(why, QueuePanelText.READ_EVERY, usual="0.5 s")
                for name, why in unknown_items(queue)
            )
            assert all(q.ready.value == 899 for q in view.queues)


def test_what_watching_costs_is_told_and_left_out_of_the_servers_figures(database: str) -> None:
    installed(database, "fifo", "ring")
    with watching(database) as watched:
        view = watched.view(lambda v: v.sequence > 8)
        observing = view.server.observing
        assert observing is not None
        assert (observing.budget, observing.allowed_ms) == (ROOMY.text, ROOMY.allowed_ms(0.5))
        assert observing.expected_ms > 0
        assert not observing.throttled
        assert view.server.sessions == 0
        wait_until(lambda: watched.views[-1].server.commits.value == 0.0, what="no transactions but ours")
        with connected(database) as other:
            other.execute("SELECT 1").fetchall()
            watched.view(lambda v: v.server.sessions == 1)
