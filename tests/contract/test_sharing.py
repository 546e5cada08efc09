"""Several qmons poll one database: each sees their number and keeps to its part of one budget."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import pytest

from qmon.cli.commands.doctor.doctor import ExaminationText
from qmon.engines.base import Bound, Statement
from qmon.model.cost_budget import Budget, PollingCost
from qmon.model.view import View
from qmon.monitor.background.wait_sampler import WaitSampler
from qmon.tui.waits.server_health_panel import HealthText, server_lines
from tests.cli.calling import call
from tests.contract.watching import Watched, installed, watching
from tests.facts import query, wait_until
from tests.queues import ENGINE, target_of
from tests.wordings import has

INTERVAL_S = 0.5
MANY = 5
UNLIMITED = Budget(poll_ms=60_000.0)
DESIGNS = ("fifo", "status", "naive", "batch_fast", "ring", "lifo")
SETTLED = 20


@pytest.fixture
def plain(database: str) -> Iterator[str]:
    """The database as a role that may not see other sessions' activity."""
    installed(database, *DESIGNS)
    name = "plain_" + database.rpartition("/test_")[2].partition("?")[0]
    query(database, f"CREATE ROLE {name} LOGIN")
    query(database, f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}")
    yield database.replace("//postgres@", f"//{name}@")
    query(database, f"DROP OWNED BY {name}")
    query(database, f"DROP ROLE {name}")


def observing(view: View) -> PollingCost:
    assert view.server.observing is not None
    return view.server.observing


def used(view: View) -> float:
    """Return the used share of a processor."""
    return observing(view).expected_ms / (view.interval_s * 1000)


def seen(watched: Watched, qmons: int) -> View:
    return watched.view(lambda v: observing(v).qmons == qmons, timeout=120)


@pytest.mark.long
def test_five_qmons_share_one_budget_and_the_last_has_it_to_itself(database: str, plain: str) -> None:
    """The budget is twice the need of one qmon, as measured on this machine.

    At first, the cost of a probe may be overestimated because of other programs. In the end, one qmon has it all.
    """

    def whole(view: View) -> bool:
        return observing(view).qmons == 1 and not observing(view).throttled and view.interval_s == INTERVAL_S

    with watching(database, (), INTERVAL_S, UNLIMITED) as alone:
        needed = used(alone.view(lambda v: v.sequence > SETTLED, timeout=120))
    budget = Budget(share=2 * needed)
    with watching(plain, (), INTERVAL_S, budget) as last:
        last.view(lambda v: v.sequence > SETTLED and whole(v), timeout=120)
        with contextlib.ExitStack() as others:
            several = [
                last,
                *(others.enter_context(watching(database, (), INTERVAL_S, budget)) for _ in range(MANY - 1)),
            ]
            for each in several:
                seen(each, MANY)
                share = observing(each.views[-1]).allowed_ms / (each.views[-1].interval_s * 1000)
                assert share == pytest.approx(budget.share / MANY)

            def within() -> list[View] | None:
                newest = [each.views[-1] for each in several]
                settled = all(view.sequence > SETTLED and observing(view).qmons == MANY for view in newest)
                return newest if settled and sum(used(view) for view in newest) <= budget.share else None

            newest = wait_until(within, 120, what="all qmons together are within the budget")
            assert newest is not None
            assert any(observing(view).throttled or view.interval_s > INTERVAL_S for view in newest)
            lines = server_lines(newest[0], 250, 100, in_full=True)
            line = next(
                text for text in ("".join(text for text, _ in line) for line in lines) if text.startswith(" polling ")
            )
            assert has(line, HealthText.BUDGET_SHARE, share=budget.share_among(MANY).label, count=MANY)
            said = call("doctor", database).stdout
            assert has(said, ExaminationText.POLLERS, count=MANY, budget="1 %", share="0.20 %")

        assert observing(last.view(whole, timeout=120)).allowed_ms == pytest.approx(1000 * INTERVAL_S * budget.share)


@pytest.mark.parametrize("qmons", [1, 5])
def test_all_qmons_together_sample_waits_four_times_a_second(database: str, qmons: int) -> None:
    sampler = WaitSampler(ENGINE, lambda session: ENGINE.connect(target_of(database), session))
    sampler.instances = qmons
    pauses: list[float] = []
    prepared: list[int] = []
    known = Bound(Statement("test", "SELECT CAST(count(*) AS int) AS n FROM pg_prepared_statements", (), ("n",)))

    class Paced(threading.Event):
        """End the sampling after five times."""

        def wait(self, timeout: float | None = None) -> bool:
            pauses.append(timeout or 0.0)
            sampler._closed = len(pauses) == 5
            if sampler._closed and sampler._connection is not None:
                prepared.extend(int(str(row[0])) for row in sampler._connection.fetch(known).rows)
            return True

    sampler._wake = Paced()
    try:
        assert sampler._sample_until_closed()
    finally:
        sampler._drop_connection()
    assert min(pauses) >= 0.25 * qmons
    assert 0 < sampler.share <= 0.00251 / qmons  # together 0.25 %
    assert prepared == [2]  # the statement and the clock are planned only once
