"""Jobs in a state unknown to qmon are reported, and their queue is neither empty nor healthy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from qmon.model.samples.polled_samples import SampleText
from qmon.monitor.probes import group_strange
from tests.cli.calling import call
from tests.contract.watching import Watched, watching
from tests.facts import query
from tests.libraries.figures import of_queue
from tests.libraries.firm_queue import firm_queue
from tests.libraries.graphile import Graphile
from tests.libraries.library import QUEUES, Library
from tests.libraries.oban import oban
from tests.libraries.pgboss import PgBoss
from tests.libraries.pgqueuer import pgqueuer
from tests.libraries.procrastinate import procrastinate
from tests.wordings import has

pytestmark = pytest.mark.server

MAILS, _ = QUEUES


def unknown(value: str, column: str) -> str:
    return SampleText.UNKNOWN_VALUES.render(rows="2 rows", listed=f"`{value}`", more="", column=column, remedy="")


NO_STATE: Final = SampleText.IN_UNKNOWN_STATE.render(rows="2 rows")
# SQL that allows a new state, SQL that moves all jobs into it, and the text of the verdict.
STRANGE: Final[list[tuple[Callable[[], Library], str, str, str]]] = [
    (
        procrastinate,
        "ALTER TYPE procrastinate_job_status ADD VALUE 'on_hold'",
        "UPDATE procrastinate_jobs SET status = 'on_hold'",
        unknown("on_hold", "status"),
    ),
    (
        pgqueuer,
        "ALTER TYPE pgqueuer_status ADD VALUE 'parked'",
        "UPDATE pgqueuer SET status = 'parked'",
        unknown("parked", "status"),
    ),
    (
        oban,
        "ALTER TYPE oban_job_state ADD VALUE 'limbo'",
        "UPDATE oban_jobs SET state = 'limbo'",
        unknown("limbo", "state"),
    ),
    (
        PgBoss,
        "ALTER TYPE pgboss.job_state ADD VALUE 'asleep'",
        "UPDATE pgboss.job SET state = 'asleep'",
        unknown("asleep", "state"),
    ),
    (
        firm_queue,
        "SELECT 1",
        "DELETE FROM firm_queue_ready_executions",
        NO_STATE,
    ),
    (
        Graphile,
        "ALTER TABLE graphile_worker._private_jobs ALTER is_available DROP EXPRESSION",
        "UPDATE graphile_worker._private_jobs SET is_available = false",
        NO_STATE,
    ),
]


def found(watched: Watched, words: str) -> None:
    view = watched.view(lambda view: any(words in queue.verdict.proof for queue in view.queues))
    queue = of_queue(view, MAILS)
    assert (queue.ready.value, queue.verdict.code, queue.failures) == (0, "cannot tell", ())


@pytest.mark.parametrize(("make", "before", "change", "words"), STRANGE)
def test_a_state_that_appears_is_named_and_never_counts_as_nothing(
    make: Callable[[], Library], before: str, change: str, words: str, database: str
) -> None:
    library = make()
    library.install(database)
    library.push(database, MAILS, ["one", "two"])
    query(database, before)
    with watching(database) as watched:
        watched.view(lambda view: of_queue(view, MAILS).ready.value == 2)
        query(database, change)
        found(watched, words)
        begun = len(watched.views)
        watched.view(polls=5)
        assert {of_queue(view, MAILS).verdict.code for view in watched.views[begun:]} == {"cannot tell"}
    checked = call("check", database)
    assert checked.exit_code == 3, checked.output
    assert words in checked.output


@pytest.mark.parametrize("text", [False, True])
def test_of_a_large_table_the_values_of_the_state_are_compared_alone(
    text: bool, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_strange, "FEW_ROWS", -1)
    library = oban()
    library.install(database)
    library.push(database, MAILS, ["one", "two"])
    query(database, "ALTER TYPE oban_job_state ADD VALUE 'limbo'")
    if text:
        indexes = "SELECT CAST(indexrelid AS regclass) FROM pg_index WHERE indrelid = CAST('oban_jobs' AS regclass)"
        for (index,) in query(database, f"{indexes} AND NOT indisprimary"):
            query(database, f"DROP INDEX {index}")
        query(database, "ALTER TABLE oban_jobs ALTER state DROP DEFAULT, ALTER state TYPE text")
    with watching(database) as watched:
        watched.view(lambda view: of_queue(view, MAILS).ready.value == 2)
        query(database, "UPDATE oban_jobs SET state = 'limbo'")
        found(watched, unknown("limbo", "state"))
        query(database, "UPDATE oban_jobs SET state = 'available'")
        watched.view(lambda view: "limbo" not in of_queue(view, MAILS).verdict.proof)


@pytest.mark.parametrize("make", [oban, pgqueuer, procrastinate, PgBoss, Graphile, firm_queue])
def test_jobs_in_known_states_are_not_strange(make: Callable[[], Library], database: str) -> None:
    library = make()
    library.install(database)
    library.push(database, MAILS, ["one", "two"])
    with watching(database) as watched:
        watched.view(lambda view: of_queue(view, MAILS).ready.value == 2, polls=2)
        assert not any(
            has(queue.verdict.proof, SampleText.UNKNOWN_VALUES) for view in watched.views for queue in view.queues
        )
