"""Log entries for real connections and commands: refusals, losses, probes and operations."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from qmon import log
from qmon.config.chosen_target import find_target
from qmon.config.config_file import Config
from qmon.demo.embedded_server import EmbeddedServer
from qmon.engines.base import Bound, Session, Statement
from qmon.engines.postgres.postgres_errors import PostgresErrorText
from qmon.engines.registry import engine_for
from qmon.errors import ConnectionFailed, QueryFailed
from qmon.log import LogText
from qmon.monitor.source import Phase
from tests.cli.calling import call
from tests.contract.watching import connect, installed, watching
from tests.facts import query, wait_until
from tests.jobs import configuration, fill
from tests.wordings import has, pattern

WRONG = "s3cret;w}rd/1"


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Path]:
    """A log of everything, as commands write it."""
    place = tmp_path / "q.log"
    with log.log_to_file(place, logging.DEBUG):
        yield place


@pytest.fixture
def own_server() -> Iterator[EmbeddedServer]:
    """A server that this test may stop."""
    with EmbeddedServer(settings={"fsync": "off"}, tcp=True) as running:
        yield running


def test_a_wrong_password_is_refused_and_not_in_the_log(own_server: EmbeddedServer, kept: Path) -> None:
    url = f"postgresql://joe:{quote(WRONG, safe='')}@127.0.0.1:{own_server.port}/postgres"
    target = find_target(url, Config(Path("none"))).target
    with pytest.raises(ConnectionFailed) as refused:
        engine_for(target).connect(target, Session("test"))
    logging.getLogger("qmon").error("refused %s %s", url, WRONG, exc_info=refused.value)
    text = kept.read_text()
    assert has(text, PostgresErrorText.BAD_CREDENTIALS)
    assert "odbc.connect(" in text
    for part in (WRONG, quote(WRONG, safe=""), "s3cret"):
        assert part not in text


def test_the_log_of_a_command_with_a_wrong_password(
    own_server: EmbeddedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    url = f"postgresql://joe:{quote(WRONG, safe='')}@127.0.0.1:{own_server.port}/postgres"
    place = tmp_path / "q.log"
    for command in ("status", "check", "doctor"):
        done = call("--log-file", str(place), "--log-level", "debug", command, url)
        assert done.exit_code in (1, 3)
    text = place.read_text()
    assert len(re.findall(pattern(PostgresErrorText.BAD_CREDENTIALS), text)) >= 3
    assert text.count("begins: ") == text.count("ends: ") == 3
    assert "ends: status, code 1" in text
    assert "ends: check, code 3" in text
    assert "s3cret" not in text


def test_a_payload_in_an_error_of_the_server_is_not_in_the_log(database: str, kept: Path) -> None:
    query(database, "CREATE TABLE q (id int PRIMARY KEY, body text CHECK (length(body) < 5))")
    query(database, "INSERT INTO q VALUES (1, 'a')")
    texts = (
        "SELECT CAST('Anna''s card 4111' AS int)",
        "SELECT CAST('{\"card\": 4111 Anna}' AS json)",
        "INSERT INTO q VALUES (2, 'Anna 4111')",
        "INSERT INTO q SELECT 1, 'Anna'",
        "SELECT 'Anna 4111' FROM nowhere WHERE x = 'Anna",
    )
    with_errors = connect(database)
    for text in texts:
        with pytest.raises(QueryFailed) as problem:
            with_errors.fetch(Bound(Statement("test", text, (), ())))
        logging.getLogger("qmon").warning("failed: %s", problem.value, exc_info=problem.value)
    with_errors.close()
    logged = kept.read_text()
    assert logged.count("failed: ") == len(texts)
    assert "Anna" not in logged
    assert "4111" not in logged


def test_connects_losses_and_failing_probes_are_logged_as_they_change(own_server: EmbeddedServer, kept: Path) -> None:
    installed(own_server.url(), "fifo")
    with watching(own_server.url()) as watched:
        watched.view(polls=2)
        query(own_server.url(), "ALTER TABLE fifo RENAME TO other")
        wait_until(lambda: "of fifo: " in kept.read_text(), what="a probe that fails")
        query(own_server.url(), "ALTER TABLE other RENAME TO fifo")
        wait_until(lambda: ": works again" in kept.read_text(), what="that works again")
        own_server.kill()
        wait_until(lambda: Phase.LOST in watched.phases, what="lost")
        wait_until(lambda: watched.phases.count(Phase.LOST) > 3, what="lost again")
        own_server.start()
        wait_until(lambda: watched.phases[-1] is Phase.LIVE, what="live again")
    lines = kept.read_text().splitlines()
    connected = [line for line in lines if ": connected" in line and "session" in line]
    assert len(connected) == 2
    assert "connected, try " in connected[1]
    assert 1 <= sum(": lost: " in line and " WARNING " in line for line in lines) < 4
    assert any("connected to PostgreSQL" in line and "psqlodbc" in line and "pyodbc" in line for line in lines)


def test_a_defect_in_the_poll_is_logged_with_its_traceback_and_the_file_is_named(
    database: str, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(database, "fifo")

    payload = "Anna"

    def broken(*_: object) -> None:
        int(f"{payload} 4111")

    monkeypatch.setattr("qmon.monitor.probes.table_counters.split_results", broken)
    with watching(database) as watched:
        wait_until(lambda: watched.phases.count(Phase.LOST) > 1, what="lost twice")
        reason = next(state.reason for state in watched.states if state.phase is Phase.LOST)
    assert has(reason, LogText.DEFECT_WITH_LOG, log=kept)
    logged = kept.read_text()
    assert logged.count("in broken") == 1
    assert "Anna 4111" not in logged + reason


def test_operations_are_logged_without_values(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    fill(database, dead=3, alive=2, ready=4)
    place = tmp_path / "qmon" / "qmon.toml"
    place.parent.mkdir()
    place.write_text(configuration(database), encoding="utf-8")
    done = call("requeue", "shop", "--yes", "--reason", "Anna asked", "--output", "json")
    operation = json.loads(done.stdout)["result"]["operation"]
    text = log.default_path().read_text()
    assert f"operation {operation} on shop: begin, kind requeue, queue jobs, planned 3" in text
    assert f"operation {operation} on shop: end, state done, done 3, skipped 0, changed 0, refused 0" in text
    assert "Anna" not in text
