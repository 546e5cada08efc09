"""Behind a pooler, qmon leaves nothing in a session that others get, and refuses to run without its own session."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from qmon.cli.commands.doctor.doctor import ExaminationText
from qmon.demo.embedded_server import EmbeddedServer
from qmon.engines.base import Session
from qmon.engines.postgres.pooler import PoolerText
from qmon.engines.postgres.postgres_errors import PostgresErrorText
from qmon.errors import BadInput, QueryFailed, StatementStopped
from tests.cli.calling import call
from tests.contract.engines import open_target, opened, sql
from tests.contract.pooling import looks, pgbouncer
from tests.contract.watching import installed
from tests.facts import query
from tests.wordings import has, pattern

WATCHING = Session("poll", statement_timeout_s=1.0, lock_timeout_s=0.5, read_only=True, repeats=True)
UNTOUCHED = {
    "default_transaction_read_only": "off",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "application_name": "shop",
    "plan_cache_mode": "auto",
    "extra_float_digits": "1",
    "prepared": "None",
}


def name_of(database: str) -> str:
    return database.rpartition("/")[2].partition("?")[0]


@pytest.fixture
def pooled(database: str) -> str:
    """A database in which the pooler's role has only pg_catalog in its search path, as the manual requires."""
    query(database, f"ALTER ROLE postgres IN DATABASE {name_of(database)} SET search_path = pg_catalog, pg_temp")
    return database


@pytest.mark.parametrize("drops_options", [True, False])
def test_a_pool_whose_sessions_may_look_elsewhere_is_refused(
    server: EmbeddedServer, database: str, tmp_path: Path, drops_options: bool
) -> None:
    with pgbouncer(server, "session", 2, drops_options=drops_options) as pool:
        done = call("status", pool.format(name_of(database)), environment={"XDG_CONFIG_HOME": str(tmp_path)})
        assert done.exit_code == 2, done.output
        (line,) = done.stderr.splitlines()
        assert has(line, PostgresErrorText.NO_SEARCH_PATH)
        assert looks(pool.format(name_of(database)), 2) == [UNTOUCHED] * 2


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("mode", ["transaction", "statement"])
def test_a_pool_that_shares_sessions_out_is_refused_and_none_is_changed(
    server: EmbeddedServer, pooled: str, tmp_path: Path, mode: str, size: int
) -> None:
    with pgbouncer(server, mode, size) as pool:
        url, hold = pool.format(name_of(pooled)), mode == "transaction"
        assert looks(url, size, hold=hold) == [UNTOUCHED] * size
        for command in ("doctor", "status", "connect"):
            done = call(command, url, environment={"XDG_CONFIG_HOME": str(tmp_path)})
            assert done.exit_code == 2, done.output
            (line,) = done.stderr.splitlines()
            assert has(line, PoolerText.SHARED_SESSIONS, mode=mode)
        assert looks(url, size, hold=hold) == [UNTOUCHED] * size


def test_a_pool_that_gives_its_sessions_out_in_turn_is_refused(server: EmbeddedServer, pooled: str) -> None:
    with pgbouncer(server, "transaction", 2, "server_round_robin = 1") as pool:
        url = pool.format(name_of(pooled))
        looks(url, 2)
        for _ in range(5):
            with pytest.raises(BadInput, match=pattern(PoolerText.SHARED_SESSIONS, mode="transaction")):
                open_target(url, WATCHING)


@pytest.mark.parametrize("reset", ["DISCARD ALL", ""])
def test_through_a_pool_in_session_mode_qmon_works_and_leaves_nothing_even_where_nobody_tidies_up(
    server: EmbeddedServer, pooled: str, tmp_path: Path, reset: str
) -> None:
    installed(pooled, "fifo")
    query(pooled, "INSERT INTO public.fifo (payload) VALUES ('a')")
    with pgbouncer(server, "session", 3, f"server_reset_query = {reset}") as pool:
        url = pool.format(name_of(pooled))
        for arguments in (
            ("doctor", url),
            ("status", url),
            ("purge", url, "fifo", "--state", "ready", "--yes", "--reason", "test"),
        ):
            done = call(*arguments, environment={"XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)})
            assert done.exit_code == 0, done.output
            assert ExaminationText.POOLED in done.stdout or arguments[0] != "doctor"
        assert looks(url, 3) == [UNTOUCHED] * 3
    assert query(pooled, "SELECT payload FROM public.fifo") == []


def test_what_a_session_is_set_to_holds_through_a_pool(server: EmbeddedServer, pooled: str) -> None:
    query(pooled, "CREATE TABLE public.t (i int)")
    with pgbouncer(server, "session", 5) as pool, opened(pool.format(name_of(pooled)), WATCHING) as connection:
        assert connection.is_pooled
        for name, value in (
            ("application_name", "qmon poll"),
            ("statement_timeout", "1s"),
            ("lock_timeout", "500ms"),
            ("idle_in_transaction_session_timeout", "1min"),
            ("transaction_read_only", "on"),
            ("TimeZone", "UTC"),
        ):
            assert connection.fetch(sql(f"SHOW {name}")).rows == ((value,),)
        with pytest.raises(QueryFailed, match="read-only transaction"):
            connection.execute(sql("INSERT INTO public.t VALUES (1)"))
        with pytest.raises(StatementStopped):
            connection.fetch(sql("SELECT pg_sleep(60)"))
        before = connection.commits
        asked = [sql("SELECT ? AS a", "a", x=1), sql("SELECT ? AS a", "a", x="b")]
        for _ in range(5):  # often enough to be prepared, if that left nothing behind
            assert [rows.rows for rows in connection.fetch_batch(asked)] == [((1,),), (("b",),)]
        assert connection.commits == before + 5
        assert connection.fetch(sql("SELECT count(*) FROM pg_prepared_statements WHERE from_sql")).rows == ((0,),)
    with pgbouncer(server, "session", 5) as pool, opened(pool.format(name_of(pooled))) as connection:
        with contextlib.suppress(ZeroDivisionError), connection.transaction():
            connection.execute(sql("INSERT INTO public.t VALUES (2)"))
            _ = 1 / 0
        connection.execute(sql("INSERT INTO public.t VALUES (3)"))
    assert query(pooled, "SELECT i FROM public.t") == [(3,)]


def test_where_the_pool_has_no_second_session_the_first_is_ours(server: EmbeddedServer, pooled: str) -> None:
    with (
        pgbouncer(server, "session", 1) as pool,
        opened(pool.format(name_of(pooled)), WATCHING) as connection,
    ):
        assert connection.fetch(sql("SELECT 1 AS one", "one")).rows == ((1,),)


def test_a_server_itself_is_not_taken_for_a_pooler(database: str) -> None:
    for session in (
        WATCHING,
        Session(application="a name that the server cuts off " * 4),
        Session(application="é\n{;}"),
    ):
        with opened(database, session) as connection:
            assert not connection.is_pooled
            assert connection.session_id == connection.fetch(sql("SELECT pg_backend_pid() AS n")).rows[0][0]
