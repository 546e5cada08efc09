"""Connections on a real server: results, deadlines, cancelling, transactions, lost connections."""

from __future__ import annotations

import gc
import random
import threading
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qmon.demo.embedded_server import EmbeddedServer
from qmon.engines.base import BindingText, Connection, Rows, Session
from qmon.engines.driver_calls import DriverCallText
from qmon.engines.odbc import OdbcText
from qmon.engines.postgres.postgres_errors import PostgresErrorText
from qmon.engines.result_records import ResultText
from qmon.errors import BadInput, ConnectionLost, PermissionMissing, QmonError, QueryFailed, StatementStopped
from tests.contract.engines import open_target, opened, sql
from tests.facts import query, wait_until
from tests.wordings import pattern

ALIVE = sql("SELECT 1 AS alive", "alive")


@pytest.fixture
def connection(database: str) -> Iterator[Connection]:
    with opened(database, Session("poll")) as found:
        yield found


def is_good(connection: Connection) -> bool:
    return connection.fetch(ALIVE) == Rows(("alive",), ((1,),))


def in_background(work: object) -> tuple[threading.Thread, list[object]]:
    """Run ``work`` in another thread; append its result or exception to the list."""
    out: list[object] = []

    def run() -> None:
        try:
            out.append(work())  # type: ignore[operator]
        except QmonError as problem:
            out.append(problem)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, out


def runs(database: str, session: int, text: str = "pg_sleep") -> bool:
    """Return whether that session is running a statement with this text."""
    asked = "SELECT 1 FROM pg_stat_activity WHERE pid = ? AND state = 'active' AND strpos(query, ?) > 0"
    return bool(query(database, asked, session, text))


# ----------------------------------------------------------------------------------------------------- the session


def test_the_session_is_as_asked_for(database: str) -> None:
    wanted = Session("poll", statement_timeout_s=1.5, lock_timeout_s=0.25, read_only=True)
    names = (
        "application_name",
        "default_transaction_read_only",
        "idle_in_transaction_session_timeout",
        "lock_timeout",
        "plan_cache_mode",
        "statement_timeout",
        "TimeZone",
    )
    with opened(database, wanted) as connection:
        found = {name: connection.fetch(sql(f"SHOW {name}")).rows[0][0] for name in names}
        assert connection.fetch(sql("SELECT pg_backend_pid() AS pid")).rows == ((connection.session_id,),)
        number = connection.fetch(sql("SELECT current_setting('server_version_num')::int AS n")).rows[0][0]
        assert connection.version[0] * 10000 + connection.version[1] == number
    assert found == dict(
        zip(names, ("qmon poll", "on", "1min", "250ms", "force_custom_plan", "1500ms", "UTC"), strict=True)
    )


def test_what_is_not_asked_for_stays_as_the_server_has_it(database: str) -> None:
    name = database.partition("/test_")[2].partition("?")[0]
    query(database, f'ALTER DATABASE "test_{name}" SET statement_timeout = 12345')
    with opened(database, Session()) as connection:
        assert connection.fetch(sql("SHOW statement_timeout")).rows == (("12345ms",),)
        assert connection.fetch(sql("SHOW lock_timeout")).rows == (("0",),)


def test_a_watching_session_cannot_write(database: str) -> None:
    with opened(database, Session("poll", read_only=True)) as connection:
        with pytest.raises(QueryFailed, match="read-only transaction") as caught:
            connection.execute(sql("CREATE TABLE t (i int)"))
        assert caught.value.sqlstate == "25006"
        assert is_good(connection)


# --------------------------------------------------------------------------------------------------------- results


def test_a_batch_mixes_values_of_every_kind(connection: Connection) -> None:
    hostile = 'it\'s \\ "a" ?:x{y}; -- /* $$ %s \U0001f600\n'
    results = connection.fetch_batch(
        [
            sql("SELECT CAST(? AS text) AS a, CAST(? AS bigint) AS b -- the end", "a b", x=hostile, y=2**62),
            sql("SELECT 'a ? {b} :c' AS a WHERE false", "a"),
            sql("SELECT CAST(? AS text) AS a, CAST(? AS boolean) AS b", "a b", x=None, y=True),
            sql("SELECT CAST(? AS bigint) AS a, CAST(? AS double precision) AS b", "a b", x=-(2**63), y=0.1),
            sql("SELECT CAST(? AS bytea) AS a /* the end */", "a", x=b"\x00'\\\xff"),
        ]
    )
    assert [rows.rows for rows in results] == [
        ((hostile, 2**62),),
        (),
        ((None, True),),
        ((-(2**63), 0.1),),
        ((b"\x00'\\\xff",),),
    ]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1, max_size=3))
def test_any_text_comes_back_alone_and_in_a_batch(connection: Connection, texts: list[str]) -> None:
    asked = [sql("SELECT CAST(? AS text) AS a", "a", x=text) for text in texts]
    assert [rows.rows[0][0] for rows in connection.fetch_batch(asked)] == texts
    assert [connection.fetch(one).rows[0][0] for one in asked] == texts


@pytest.mark.parametrize("value", [2**63, "\ud800", "a\0b"])
def test_a_value_that_cannot_be_stored_is_refused_not_changed(connection: Connection, value: str | int) -> None:
    with pytest.raises(
        (QueryFailed, BadInput), match=f"{pattern(DriverCallText.CANNOT_BE_SENT)}|{pattern(BindingText.NUL_CHARACTER)}"
    ):
        connection.fetch(sql("SELECT CAST(? AS text) AS a", "a", x=value))
    assert is_good(connection)


def test_values_are_those_the_statement_names(connection: Connection) -> None:
    asked = sql("SELECT CAST(? AS text) AS a", "a", x="1")
    with pytest.raises(BadInput, match=pattern(BindingText.VALUE_MISSING, query="test/statement", value="x")):
        connection.fetch(type(asked)(asked.statement, {}))
    with pytest.raises(BadInput, match=pattern(BindingText.VALUE_UNUSED, query="test/statement", value="y")):
        connection.fetch(type(asked)(asked.statement, {"x": "1", "y": "2"}))


def test_columns_are_those_the_statement_declares(connection: Connection) -> None:
    for wrong in ("b", "a b", "b a"):
        with pytest.raises(
            QueryFailed, match=pattern(ResultText.WRONG_COLUMNS, given="a", declared=", ".join(wrong.split())) + "$"
        ):
            connection.fetch(sql("SELECT 1 AS a", wrong))
        with pytest.raises(QueryFailed, match=pattern(ResultText.WRONG_COLUMNS, given="a")):
            connection.fetch_batch([ALIVE, sql("SELECT 1 AS a", wrong)])
    with pytest.raises(QueryFailed, match=pattern(OdbcText.WRONG_RESULTS, results="0 results")):
        connection.fetch(sql("SET work_mem = '1MB'"))
    with pytest.raises(QueryFailed, match=pattern(OdbcText.WRONG_RESULTS, results="2 results")):
        connection.fetch(sql("SELECT 1 AS a; SELECT 2 AS a", "a"))
    assert is_good(connection)


def test_one_bad_statement_fails_the_batch_and_no_more(connection: Connection) -> None:
    missing = sql("SELECT a FROM nothing_there", "a")
    with pytest.raises(QueryFailed, match="nothing_there") as caught:
        connection.fetch_batch([ALIVE, missing, ALIVE])
    assert (caught.value.sqlstate, caught.value.query) == ("42P01", "batch")
    assert connection.fetch_batch([ALIVE, ALIVE]) == [Rows(("alive",), ((1,),))] * 2
    assert connection.fetch_batch([]) == []


def test_rows_affected_are_counted(connection: Connection) -> None:
    connection.execute(sql("CREATE TABLE t (i int)"))
    assert connection.execute(sql("INSERT INTO t SELECT generate_series(1, 7)")) == 7
    assert connection.execute(sql("DELETE FROM t WHERE i > CAST(? AS int)", x=5)) == 2


# ------------------------------------------------------------------------------------------- deadlines and cancelling


def test_a_deadline_ends_the_statement_not_the_connection(database: str) -> None:
    with opened(database, Session("poll", statement_timeout_s=0.05)) as connection:
        with pytest.raises(StatementStopped) as caught:
            connection.fetch(sql("SELECT pg_sleep(60) AS s"))
        assert (caught.value.sqlstate, caught.value.query) == ("57014", "test/statement")
        assert is_good(connection)


def test_waiting_for_a_lock_has_its_own_deadline(database: str) -> None:
    query(database, "CREATE TABLE t (i int)")
    with opened(database) as holder, opened(database, Session("poll", lock_timeout_s=0.02)) as connection:
        with holder.transaction():
            holder.execute(sql("LOCK TABLE t"))
            with pytest.raises(StatementStopped, match=pattern(PostgresErrorText.LOCK_TIMEOUT)):
                connection.fetch(sql("SELECT i FROM t"))
        assert is_good(connection)


def test_another_thread_cancels(connection: Connection, database: str) -> None:
    for asked in (sql("SELECT pg_sleep(60) AS s"), sql("SELECT pg_sleep(CAST(? AS int)) AS s", x=60)):
        thread, out = in_background(lambda asked=asked: connection.fetch(asked))
        wait_until(lambda: runs(database, connection.session_id))
        connection.cancel()
        thread.join(120)
        assert isinstance(out[0], StatementStopped)
        assert is_good(connection)


def test_a_cancel_at_any_moment_leaves_whole_results_or_none(connection: Connection) -> None:
    """Cancel the driver between two results, at a point where it answers in odd ways."""
    series = "SELECT g FROM generate_series(1, CAST(? AS int)) AS g"
    asked = [sql(series, "g", n=n) for n in (3000, 1, 500)]
    begun, done = threading.Semaphore(0), threading.Event()

    def harass() -> None:
        while begun.acquire() and not done.is_set():
            for _ in range(random.randrange(20_000)):
                pass
            connection.cancel()

    thread = threading.Thread(target=harass, daemon=True)
    thread.start()
    outcomes = []
    for _ in range(150):
        begun.release()
        try:
            outcomes.append([len(rows.rows) for rows in connection.fetch_batch(asked)])
        except StatementStopped:
            outcomes.append([])
    done.set()
    begun.release()
    thread.join(120)
    assert all(outcome in ([3000, 1, 500], []) for outcome in outcomes)
    assert is_good(connection)


def test_a_frozen_server_is_survived() -> None:
    with EmbeddedServer() as server:
        connection = open_target(server.url())
        thread, out = in_background(lambda: connection.fetch(sql("SELECT pg_sleep(60) AS s")))
        wait_until(lambda: runs(server.url(), connection.session_id))
        server.freeze()
        canceller, _ = in_background(connection.cancel)
        server.thaw()
        for one in (canceller, thread):
            one.join(120)
        assert isinstance(out[0], StatementStopped)
        assert is_good(connection)
        connection.close()


def test_cancelling_nothing_harms_nothing(connection: Connection) -> None:
    for _ in range(20):
        connection.cancel()
        assert is_good(connection)
    connection.close()
    connection.cancel()


# ---------------------------------------------------------------------------------------------------- transactions


def test_a_transaction_is_all_or_nothing(connection: Connection) -> None:
    connection.execute(sql("CREATE TABLE t (i int)"))
    add = sql("INSERT INTO t VALUES (1)")
    with connection.transaction():
        connection.execute(add)
    with pytest.raises(ZeroDivisionError), connection.transaction():
        connection.execute(add)
        raise ZeroDivisionError
    connection.execute(add)
    assert connection.fetch(sql("SELECT count(*) AS n FROM t")).rows == ((2,),)


def test_a_failed_statement_dooms_its_transaction_even_when_caught(connection: Connection) -> None:
    connection.execute(sql("CREATE TABLE t (i int)"))
    with pytest.raises(QueryFailed, match=pattern(OdbcText.NOTHING_COMMITTED)), connection.transaction():
        connection.execute(sql("INSERT INTO t VALUES (1)"))
        with pytest.raises(QueryFailed, match="division by zero"):
            connection.fetch(sql("SELECT 1 / 0"))
    assert connection.fetch(sql("SELECT count(*) AS n FROM t")).rows == ((0,),)
    with connection.transaction():
        connection.execute(sql("INSERT INTO t VALUES (1)"))
    assert connection.fetch(sql("SELECT count(*) AS n FROM t")).rows == ((1,),)


def test_a_commit_that_fails_is_an_error(connection: Connection) -> None:
    connection.execute(sql("CREATE TABLE t (i int UNIQUE DEFERRABLE INITIALLY DEFERRED)"))
    with pytest.raises(QueryFailed, match="commit: duplicate key"), connection.transaction():
        connection.execute(sql("INSERT INTO t VALUES (1), (1)"))
    assert connection.fetch(sql("SELECT count(*) AS n FROM t")).rows == ((0,),)


def test_transactions_do_not_nest(connection: Connection) -> None:
    with (
        connection.transaction(),
        pytest.raises(RuntimeError, match=pattern(OdbcText.NESTED_TRANSACTION)),
        connection.transaction(),
    ):
        pass
    assert is_good(connection)


def test_a_session_that_sits_in_a_transaction_is_ended(database: str) -> None:
    holder = open_target(database, Session("act", idle_transaction_timeout_s=0.05))
    asked = "SELECT 1 FROM pg_stat_activity WHERE pid = ?"
    with pytest.raises(ConnectionLost), holder.transaction():
        holder.fetch(ALIVE)
        wait_until(lambda: not query(database, asked, holder.session_id))
        holder.fetch(ALIVE)
    holder.close()


# ------------------------------------------------------------------------------------------------------- being lost


def test_an_ended_session_is_lost_for_good(connection: Connection, database: str) -> None:
    query(database, "SELECT pg_terminate_backend(?, 5000)", connection.session_id)
    for _ in range(2):
        with pytest.raises(ConnectionLost, match=pattern(PostgresErrorText.CONNECTION_LOST)) as caught:
            connection.fetch(ALIVE)
        assert "\n" not in str(caught.value)
    with pytest.raises(ConnectionLost), connection.transaction():
        pass
    connection.cancel()
    connection.close()
    connection.close()


def test_a_session_ended_at_its_statement_or_in_its_transaction_is_lost(database: str) -> None:
    connection = open_target(database)
    thread, out = in_background(lambda: connection.fetch(sql("SELECT pg_sleep(60) AS s")))
    wait_until(lambda: runs(database, connection.session_id))
    query(database, "SELECT pg_terminate_backend(?)", connection.session_id)
    thread.join(120)
    assert isinstance(out[0], ConnectionLost)
    other = open_target(database)
    with pytest.raises(ConnectionLost), other.transaction():
        other.fetch(ALIVE)
        query(database, "SELECT pg_terminate_backend(?, 5000)", other.session_id)
        other.fetch(ALIVE)
    for lost in (connection, other):
        lost.close()


def test_an_ended_session_that_nobody_closed_raises_nothing(database: str) -> None:
    """If a driver does not free its cursor (psqlODBC 17), pyodbc raises that error at a random place in Python."""
    for text in ("SELECT 1 AS one", "SELECT 1 / 0 AS none"):
        connection = open_target(database)
        query(database, "SELECT pg_terminate_backend(?, 5000)", connection.session_id)
        with pytest.raises(ConnectionLost):
            connection.fetch(sql(text, "one"))
        del connection
        gc.collect()
    assert query(database, "SELECT 1 AS alive")


def test_a_killed_server_is_lost_not_hung() -> None:
    with EmbeddedServer() as server:
        connection = open_target(server.url())
        thread, out = in_background(lambda: connection.fetch(sql("SELECT pg_sleep(60) AS s")))
        wait_until(lambda: runs(server.url(), connection.session_id))
        server.kill()
        thread.join(120)
        assert isinstance(out[0], ConnectionLost)
        connection.close()


def test_after_closing_all_is_lost(connection: Connection) -> None:
    connection.close()
    with pytest.raises(ConnectionLost, match=pattern(DriverCallText.CLOSED)):
        connection.fetch(ALIVE)


# ------------------------------------------------------------------------------------------------------ permissions


@pytest.mark.parametrize(
    ("make", "use", "grant"),
    [
        ("CREATE TABLE t (i int)", "SELECT i FROM t", "GRANT SELECT ON t TO"),
        ("CREATE VIEW t AS SELECT 1 AS i", "SELECT i FROM t", "GRANT SELECT ON t TO"),
        ("CREATE SEQUENCE t", "SELECT last_value FROM t", "GRANT SELECT ON SEQUENCE t TO"),
        ("CREATE SCHEMA t CREATE TABLE u (i int)", "SELECT i FROM t.u", "GRANT USAGE ON SCHEMA t TO"),
    ],
)
def test_a_missing_permission_comes_with_the_grant_that_helps(
    database: str, server: EmbeddedServer, make: str, use: str, grant: str
) -> None:
    role = f'Odd "role" {database[-6:]}'
    quoted = '"' + role.replace('"', '""') + '"'
    query(database, f"CREATE ROLE {quoted} LOGIN")
    try:
        query(database, make)
        with opened(server.url(database.rpartition("/")[2].partition("?")[0], role)) as connection:
            with pytest.raises(PermissionMissing) as caught:
                connection.fetch(sql(use))
            assert caught.value.grant == f"{grant} {quoted}"
            assert str(caught.value).endswith(caught.value.grant)
            query(database, caught.value.grant)
            if "SCHEMA" in grant:
                with pytest.raises(PermissionMissing, match=r"GRANT SELECT ON t\.u TO"):
                    connection.fetch(sql(use))
            else:
                connection.fetch(sql(use))
    finally:
        query(database, f"DROP OWNED BY {quoted}")
        query(database, f"DROP ROLE {quoted}")
