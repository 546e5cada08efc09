"""The embedded server: it starts, survives attacks, and does what its owner asks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pyodbc
import pytest

from qmon.demo import processes, programs
from qmon.demo.demo_texts import DemoServerText
from qmon.demo.embedded_server import EmbeddedServer
from qmon.errors import BadInput, ConnectionFailed
from tests.facts import connected, odbc, query, wait_until
from tests.wordings import pattern

INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


@pytest.fixture
def own() -> Iterator[EmbeddedServer]:
    with EmbeddedServer() as server:
        yield server


def test_stop_and_start_keep_the_data(own: EmbeddedServer) -> None:
    query(own.url(), "CREATE TABLE kept (n int)")
    before = own.pid
    own.stop()
    assert not own.is_running
    own.stop()
    own.start()
    assert own.pid != before
    own.start()
    assert query(own.url(), "SELECT count(*) FROM kept") == [(0,)]


@pytest.mark.parametrize("bin_dir", [programs.packaged_bin_dir(), *INSTALLED], ids=lambda path: path.parent.name)
def test_every_installed_version_restarts(bin_dir: Path) -> None:
    with EmbeddedServer(bin_dir=bin_dir, settings={"shared_preload_libraries": "pg_stat_statements"}) as server:
        query(server.url(), "CREATE EXTENSION pg_stat_statements")
        server.stop()
        server.start()
        assert query(server.url(), "SELECT count(*) > 0 FROM pg_stat_statements") == [(True,)]


def test_it_recovers_what_was_committed_before_a_kill(own: EmbeddedServer) -> None:
    with connected(own.url()) as connection:
        connection.execute("CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n")
        own.kill()
        assert not own.is_running
        with pytest.raises(pyodbc.Error):
            connection.execute("SELECT 1")
    own.start()
    assert query(own.url(), "SELECT count(*) FROM kept") == [(1000,)]


def test_a_frozen_server_answers_nothing_until_it_is_thawed(own: EmbeddedServer) -> None:
    answers: list[tuple[object, ...]] = []
    with connected(own.url()) as connection:
        own.freeze()
        assert {processes.process_state(pid) for pid in processes.marked_pids(own.mark)} == {"T"}
        asking = threading.Thread(target=lambda: answers.append(tuple(connection.execute("SELECT 42").fetchone())))
        asking.start()
        asking.join(0.3)
        assert asking.is_alive()
        assert answers == []
        own.thaw()
        asking.join(120)
        assert answers == [(42,)]


def test_a_frozen_server_can_be_stopped(own: EmbeddedServer) -> None:
    own.freeze()
    own.stop()
    assert not own.is_running
    assert processes.marked_pids(own.mark) == set()


def test_its_folder_has_a_short_plain_path_and_is_gone_in_the_end() -> None:
    with EmbeddedServer() as server:
        folder = server.folder
        assert query(server.url(), "SHOW data_directory") == [(str(folder / "data"),)]
        assert len(str(server.socket_dir)) < 90
    assert not folder.exists()


def test_databases_with_hostile_names(own: EmbeddedServer) -> None:
    for name in ("spaced out", "it's", 'say "hi"', "-w", "naïve 🐘", "a=b"):
        own.create_database(name)
    names = {str(row[0]) for row in query(own.url(), "SELECT datname FROM pg_database")}
    assert {"spaced out", "it's", 'say "hi"', "-w", "naïve 🐘", "a=b"} < names
    with connected(own.url("spaced out")) as connection:
        query(own.url(), 'DROP DATABASE "spaced out" WITH (FORCE)')
        with pytest.raises(pyodbc.Error):
            connection.execute("SELECT 1")
    with pytest.raises(BadInput, match="already exists"):
        own.create_database("it's")


def test_tcp_asks_for_the_password() -> None:
    with EmbeddedServer(tcp=True) as server:
        assert query(server.url(), "SELECT inet_server_port()") == [(server.port,)]
        wrong = server.url().replace("@127", "x@127")
        with pytest.raises(pyodbc.Error, match="password authentication failed"):
            pyodbc.connect(odbc(wrong))


def test_without_tcp_nothing_listens(own: EmbeddedServer) -> None:
    assert query(own.url(), "SHOW listen_addresses") == [("",)]
    assert own.socket_dir.stat().st_mode & 0o077 == 0


def test_settings_are_quoted_and_override_ours() -> None:
    with EmbeddedServer(settings={"log_line_prefix": "it's \\ %m ", "max_connections": "20"}) as server:
        assert query(server.url(), "SHOW log_line_prefix") == [("it's \\ %m ",)]
        assert query(server.url(), "SHOW max_connections") == [("20",)]


def test_a_server_that_cannot_start_says_why() -> None:
    server = EmbeddedServer(settings={"shared_preload_libraries": "no_such_library"})
    with pytest.raises(ConnectionFailed, match="no_such_library"), server:
        pass
    assert not server.folder.exists()


def test_a_folder_without_programs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=pattern(DemoServerText.NOT_A_BIN_FOLDER, folder=tmp_path, program="postgres")):
        EmbeddedServer(bin_dir=tmp_path).start()


def test_it_says_that_it_does_not_run() -> None:
    server = EmbeddedServer()
    with pytest.raises(BadInput):
        server.url()
    with pytest.raises(ConnectionFailed):
        _ = server.pid
    server.destroy()


def test_two_at_a_time(own: EmbeddedServer) -> None:
    with EmbeddedServer() as other:
        own.kill()
        assert query(other.url(), "SELECT 1") == [(1,)]
        wait_until(lambda: not processes.marked_pids(own.mark))
        assert other.is_running
