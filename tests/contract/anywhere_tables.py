"""Users' tables on either engine: statements that create and fill them, and their layouts."""

from __future__ import annotations

from typing import Final

from qmon.model.layout.layout import Layout, LayoutSource, ObjectName, RequeueWrite, SortColumn, StateColumn
from tests.contract.anywhere import Place

JOBS: Final = "CREATE TABLE jobs (id int NOT NULL PRIMARY KEY, place int NOT NULL, state int NOT NULL, payload {text})"
# A user's table, whose messages are popped by a number.
JOB: Final = Layout(
    "jobs",
    "status",
    ObjectName("", "jobs"),
    id="id",
    state=StateColumn("state", 0, 1, 2),
    payload="payload",
    order=(SortColumn("place"), SortColumn("id")),
    writes=(RequeueWrite("ready", "place", "front"),),
    source=LayoutSource.CONFIGURATION,
)
TABLES: Final = (
    # Found through indexes on states, due times and priorities.
    "CREATE TABLE tasks (id int {identity} NOT NULL PRIMARY KEY, state int NOT NULL, run_at {time} NOT NULL,"
    " started_at {time}, attempts int NOT NULL, payload {text})",
    "CREATE INDEX tasks_ready ON tasks (run_at) WHERE state = 0",
    "CREATE INDEX tasks_busy ON tasks (started_at) WHERE state = 1",
    "CREATE INDEX tasks_dead ON tasks (id) WHERE state = 3",
    "CREATE TABLE ranked (id int NOT NULL PRIMARY KEY, rank int NOT NULL, payload {text})",
    "CREATE INDEX ranked_ready ON ranked (rank, id)",
    "CREATE TABLE staged (id int NOT NULL PRIMARY KEY, rank int NOT NULL, state int NOT NULL, payload {text})",
    "CREATE INDEX staged_ready ON staged (rank, id) WHERE state = 0",
    "CREATE INDEX staged_oldest ON staged (id) WHERE state = 0",
    "CREATE INDEX staged_busy ON staged (id) WHERE state = 1",
    # No index leads to ready messages or to those in progress.
    "CREATE TABLE loose (id int NOT NULL PRIMARY KEY, state int NOT NULL, payload {text})",
    "CREATE TABLE heaped (state int NOT NULL, payload {text})",
    # Local time, by the column's default.
    "CREATE TABLE local (id int NOT NULL PRIMARY KEY, at {local} NOT NULL DEFAULT {clock})",
)
ROWS: Final = (
    "INSERT INTO tasks (state, run_at, started_at, attempts) VALUES (0, {hour_ago}, NULL, 0), (0, {now}, NULL, 1),"
    " (0, {in_an_hour}, NULL, 0), (1, {hour_ago}, {hour_ago}, 1), (3, {hour_ago}, NULL, 5)",
    "INSERT INTO ranked VALUES (1, 1, 'a'), (2, 5, 'b'), (3, 5, 'c')",
    "INSERT INTO staged VALUES (1, 1, 0, 'a'), (2, 5, 0, 'b'), (3, 5, 1, 'c')",
    "INSERT INTO loose VALUES (1, 0, 'a'), (2, 0, 'b'), (3, 1, 'c')",
    "INSERT INTO heaped VALUES (0, 'a'), (0, 'b'), (1, 'c')",
    "INSERT INTO local (id) VALUES (1), (2)",
)


def layouts(place: Place) -> list[Layout]:
    """Return the layouts of these tables as a configuration would define them."""

    def table(name: str) -> ObjectName:
        return ObjectName(place.schema, name)

    states = StateColumn("state", 0, 1)
    return [
        Layout(
            "tasks",
            "status",
            table("tasks"),
            id="id",
            state=StateColumn("state", 0, 1, dead=3),
            due_at="run_at",
            started_at="started_at",
            attempts="attempts",
            payload="payload",
        ),
        Layout("ranked", "naive", table("ranked"), id="id", priority="rank", payload="payload"),
        Layout("staged", "status", table("staged"), id="id", priority="rank", state=states, payload="payload"),
        Layout("loose", "status", table("loose"), id="id", state=states, payload="payload"),
        Layout("heaped", "status", table("heaped"), state=states, payload="payload"),
        Layout("local", "naive", table("local"), id="id", enqueued_at="at"),
    ]
