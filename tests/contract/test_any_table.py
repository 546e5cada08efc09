"""Drawn tables: discovery is the same before and after ANALYZE, and no figure is wrong without a mark."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Final

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from qmon.engines.registry import engine_for
from qmon.model.view import QueueView
from qmon.monitor.catalog.catalog import Catalog
from qmon.monitor.catalog.discovery.candidates import Candidate, discover_queues, is_likely
from qmon.monitor.one_shot import view_after
from tests.contract.tables import qmon_connection
from tests.contract.watching import target_of
from tests.facts import connected

pytestmark = pytest.mark.server

KINDS: Final = ("ready", "scheduled", "in_progress", "blocked", "dead", "done")
KEYS: Final = {
    "bigserial": "id bigserial PRIMARY KEY",
    "identity": "id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "uuid": "id uuid PRIMARY KEY DEFAULT gen_random_uuid()",
    "text": "id text PRIMARY KEY DEFAULT md5(random()::text)",
}
WORDS: Final[dict[str, tuple[str, ...]]] = {
    "ready": ("new", "pending", "queued"),
    "scheduled": ("retry", "scheduled", "sleeping"),
    "in_progress": ("processing", "claimed", "picked", "locked"),
    "blocked": ("suspended", "awaiting"),
    "dead": ("failed", "expired", "killed"),
    "done": ("done", "completed", "cancelled"),  # next to these, "consumed" means popped
    "unknown": ("zig", "zag"),
}
NUMBERS: Final[dict[str, tuple[str, ...]]] = {"ready": ("0",), "in_progress": ("1",), "done": ("2",), "unknown": ("7",)}
FOREIGN: Final[dict[str, tuple[str, ...]]] = {"ready": ("1003",), "in_progress": ("1006",), "done": ("1009",)}
# By what marks the states: the values of each state.
VALUES: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "words": WORDS,
    "numbers": NUMBERS,
    "foreign": FOREIGN,
    "flags": {"ready": ("",), "in_progress": ("",), "done": ("",)},
    "times": {"ready": ("",), "in_progress": ("",), "done": ("",)},
    "deletes": {"ready": ("",)},
}
# SQL for the due time of a message, and whether the message is then due. `None`: no message is popped before that.
DUES: Final = {
    "none": ("NULL", True),
    "past": ("now() - interval '5 m'", True),
    "future": ("now() + interval '2 h'", False),
    "infinity": ("CAST('infinity' AS timestamptz)", False),
    "9999": ("CAST('9999-01-01' AS timestamptz)", False),
}
DUE_COLUMNS: Final = {"": "", "time": "run_at timestamptz", "number": "run_at bigint"}


@dataclass(frozen=True)
class Drawn:
    """A table: its key, what marks the states of rows, its due time, index and rows, and whether a worker deletes.

    ``rows``: state, its value and due time of each row.
    """

    key: str
    marks: str
    default: bool
    index: bool
    due: str
    rows: tuple[tuple[str, str, str], ...]
    deleted: int
    analyzed: bool


@st.composite
def tables(draw: st.DrawFn) -> Drawn:
    """Draw a table."""
    marks = draw(st.sampled_from(["words", "words", "words", "numbers", "foreign", "flags", "times", "deletes"]))
    due = draw(st.sampled_from(sorted(DUE_COLUMNS)))
    values = VALUES[marks]
    chosen = draw(st.sets(st.sampled_from(sorted(values)), max_size=4)) | {"ready"}
    dues = {"": ["none"], "number": ["past", "future"], "time": sorted(DUES)}[due]
    rows: list[tuple[str, str, str]] = []
    for kind in sorted(chosen):
        for value in sorted(draw(st.sets(st.sampled_from(values[kind]), min_size=1, max_size=2))):
            when = draw(st.sampled_from(dues if kind in ("ready", "scheduled") else [n for n in dues if DUES[n][1]]))
            rows += [(kind, value, when)] * draw(st.integers(1, 30))
    return Drawn(
        key=draw(st.sampled_from(sorted(KEYS))),
        marks=marks,
        default=draw(st.booleans()),
        index=draw(st.booleans()),
        due=due,
        rows=tuple(rows),
        deleted=draw(st.sampled_from([0, 0, 40, 120])),
        analyzed=draw(st.booleans()),
    )


def create(url: str, drawn: Drawn) -> None:
    """Create the table, and let producers and workers leave its rows as drawn."""
    state = {"words": "text", "numbers": "int", "foreign": "bigint"}.get(drawn.marks)
    columns = [KEYS[drawn.key], "body jsonb", "attempts int NOT NULL DEFAULT 0"]
    if state is not None:
        first = next(value for kind, value, _ in drawn.rows if kind == "ready")
        columns.append(f"status {state} NOT NULL" + (f" DEFAULT '{first}'" if drawn.default else ""))
        columns.append("started_at timestamptz")
    columns += {
        "flags": ["picked boolean NOT NULL DEFAULT false", "processed boolean NOT NULL DEFAULT false"],
        "times": ["locked_at timestamptz", "finished_at timestamptz"],
    }.get(drawn.marks, [])
    columns += [DUE_COLUMNS[drawn.due]] if drawn.due else []
    with connected(url) as connection:
        connection.execute("DROP TABLE IF EXISTS job_queue")
        connection.execute(f"CREATE TABLE job_queue ({', '.join(columns)})")
        if drawn.index and state is not None:
            connection.execute("CREATE INDEX ON job_queue (status)")
        for (kind, value, due), count in Counter(drawn.rows).items():
            given = {"body": "'{}'"}
            if state is not None:
                given |= {"status": f"'{value}'", "started_at": "now()" if kind == "in_progress" else "NULL"}
            elif drawn.marks == "flags":
                given |= {"picked": str(kind != "ready"), "processed": str(kind == "done")}
            elif drawn.marks == "times":
                given |= {"locked_at": "NULL" if kind == "ready" else "now()"}
                given |= {"finished_at": "now()" if kind == "done" else "NULL"}
            if drawn.due:
                at = DUES[due][0]
                given["run_at"] = at if drawn.due == "time" else f"CAST(extract(epoch FROM {at}) AS bigint)"
            names, texts = ", ".join(given), ", ".join(given.values())
            connection.execute(f"INSERT INTO job_queue ({names}) SELECT {texts} FROM generate_series(1, {count})")
        if drawn.deleted:
            needed = ", status" if state is not None else ""
            value = f", '{drawn.rows[-1][1]}'" if state is not None else ""
            connection.execute(
                f"INSERT INTO job_queue (body, attempts{needed})"
                f" SELECT '{{}}', -1{value} FROM generate_series(1, {drawn.deleted})"
            )
            connection.execute("DELETE FROM job_queue WHERE attempts = -1")
        if drawn.analyzed:
            connection.execute("ANALYZE job_queue")
        connection.execute("SELECT pg_stat_force_next_flush()")


def found(url: str) -> Candidate | None:
    """Return the finding about the table, without the sources of its evidence."""
    with qmon_connection(url) as connection:
        findings = discover_queues(Catalog(connection, engine_for(target_of(url))))
    return replace(findings[0], why=(), how=()) if findings else None


def truth(drawn: Drawn) -> dict[str, int]:
    """Return the number of messages in each state."""
    counts = dict.fromkeys((*KINDS, "unknown"), 0)
    for kind, _, due in drawn.rows:
        waits = kind == "ready" or (kind == "scheduled" and drawn.due)
        counts[("ready" if DUES[due][1] else "scheduled") if waits else kind] += 1
    return counts


def assert_right(queue: QueueView, drawn: Drawn) -> None:
    """Assert that each figure is right, unknown, or marked as a bound or an estimate."""
    counts = truth(drawn)
    for kind in KINDS:
        figure = getattr(queue, kind)
        if figure.value is None or figure.estimated:
            continue
        right = figure.value <= counts[kind] if figure.at_least else figure.value == counts[kind]
        assert right, (kind, figure, counts, queue.layout)
    assert queue.stuck.value in (None, 0)
    assert queue.verdict.code not in ("healthy", "empty") or not counts["unknown"]


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(drawn=tables())
# Rows are deleted, no update was counted, and a row is in progress.
@example(
    drawn=Drawn(
        key="bigserial",
        marks="words",
        default=False,
        index=False,
        due="",
        rows=(("in_progress", "processing", "none"), ("ready", "new", "none")),
        deleted=120,
        analyzed=False,
    )
)
def test_what_is_found_is_the_same_after_analyze_and_never_contradicts_the_rows(database: str, drawn: Drawn) -> None:
    create(database, drawn)
    before = found(database)
    with connected(database) as connection:
        connection.execute("ANALYZE job_queue")
    after = found(database)
    assert after == before
    queues = view_after(target_of(database), polls=2, interval_s=0.5).queues
    assert bool(queues) == (before is not None and is_likely(before))
    for queue in queues:
        assert_right(queue, drawn)
