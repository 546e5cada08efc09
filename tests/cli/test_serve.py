"""``qmon serve`` as users run it: a separate program, scraped over HTTP, with one reachable server and one not."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from qmon.cli.commands.record import RecordingText
from qmon.cli.commands.serve import ServeOptionText
from qmon.cli.target_session import SessionText
from qmon.metrics.guarded_server import ServerText
from qmon.metrics.metrics_server import MetricsServer
from qmon.metrics.target_readings import TargetReadings
from qmon.metrics.textfile import TextfileText
from qmon.monitor.source import Phase, SourceState
from qmon.recording.format.records import parse_line
from qmon.recording.read.recording_paths import list_segments
from tests.cli.calling import call, program, surroundings
from tests.contract.watching import installed
from tests.facts import query, wait_until
from tests.increase import scraped
from tests.recording.writing import sequences
from tests.tui.scripted import Clock, view
from tests.wordings import has

pytestmark = pytest.mark.server
CONFIG = """
[target.shop]
connect = "{url}"
[target.gone]
connect = "postgresql://nobody@127.0.0.1:1/nothing"
"""


def test_pushes_are_counted_once_and_a_lost_target_does_not_stop_the_others(tmp_path: Path, database: str) -> None:
    layout = installed(database, "status")[0]
    config = tmp_path / "qmon.toml"
    config.write_text(CONFIG.format(url=database))
    command = program(
        "serve",
        "shop",
        "gone",
        "--every",
        "500ms",
        "--config",
        str(config),
        "--listen",
        "127.0.0.1:0",
        "--textfile",
        str(tmp_path / "qmon.prom"),
        "--record",
        str(tmp_path / "kept"),
    )
    with subprocess.Popen(
        command, env=surroundings(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stderr is not None
            said = child.stderr.readline()
            assert "serving http://127.0.0.1:" in said
            url = said.split("serving ")[1].split(",")[0]
            assert has(said, ServeOptionText.SERVES_AND_RECORDS, folder=f"{tmp_path}/kept")
            assert f"{tmp_path}/qmon.prom" in said
            ready, pushed = "qmon_queue_ready_messages", "qmon_queue_pushed_messages_total"
            wait_until(lambda: (pushed, "shop", "status") in scraped(url), 90.0, what="two polls")
            query(database, f"INSERT INTO {layout.table} ({layout.payload}) SELECT 'x' FROM generate_series(1, 7)")
            wait_until(lambda: scraped(url)[pushed, "shop", "status"] >= 7.0, 90.0, what="seven pushes")
            wait_until(lambda: scraped(url).get((ready, "shop", "status")) == 7.0, 90.0, what="seven ready")
            found = scraped(url)
            assert found[pushed, "shop", "status"] == 7.0
            assert (found["qmon_target_up", "shop", ""], found["qmon_target_up", "gone", ""]) == (1.0, 0.0)
            assert {name for name, target, _ in found if target == "gone"} == {"qmon_target_up"}
            assert answer(url, "healthz") == (200, "ok\n")
            assert answer(url, "readyz") == (200, "shop: polled\ngone: not polled\n")
            assert answer(url, "other")[0] == 404
            with urlopen(url.replace("metrics", "stream?target=shop"), timeout=120) as stream:  # noqa: S310
                kinds = [parse_line(stream.readline()) for _ in range(3)]
                assert [each and each.kind for each in kinds] == ["session", "session", "snapshot"]
            assert 'qmon_target_up{target="shop"}' in (tmp_path / "qmon.prom").read_text()
            child.send_signal(signal.SIGTERM)
            said = child.communicate(timeout=90)[1]
            assert child.returncode == 0, said
            assert has(said, RecordingText.SEALED, target="shop")
        finally:
            child.kill()
    assert not (tmp_path / "qmon.prom").exists()
    assert not any(path.name.startswith("_") for path in list_segments(tmp_path / "kept"))
    assert len(sequences(tmp_path / "kept")) >= 2


def answer(url: str, path: str) -> tuple[int, str]:
    """Return the HTTP status and the text of another path."""
    try:
        with urlopen(url.replace("metrics", path), timeout=120) as found:  # noqa: S310
            return int(found.status), found.read().decode()
    except HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


def test_it_is_ready_once_a_target_is_polled_and_lists_each() -> None:
    shop, gone = TargetReadings("shop", Clock()), TargetReadings("gone", Clock())
    server = MetricsServer("127.0.0.1:0", [shop, gone])
    try:
        assert answer(server.url, "readyz") == (503, "shop: not polled\ngone: not polled\n")
        shop.record_view(view([]))
        assert answer(server.url, "readyz") == (200, "shop: polled\ngone: not polled\n")
        shop.record_event(SourceState("shop", Phase.LOST, "gone"))
        assert answer(server.url, "readyz")[0] == 503
    finally:
        server.close()


def test_bad_input_is_said_before_anything_begins(database: str) -> None:
    for options, text in (
        (("--listen", "0.0.0.0:9777"), ServerText.NEEDS_TLS),
        (("--every", "5m"), SessionText.EVERY),
        (("--keep", "1d"), ServeOptionText.NEED_RECORD),
        (("--textfile", "/nowhere/qmon.prom"), TextfileText.UNWRITABLE),
        (("--textfile", "qmon.prom", "--users", "u"), ServeOptionText.NEED_ADDRESS),
        ((database,), SessionText.NAMED_TWICE),
    ):
        done = call("serve", database, *options)
        assert (done.exit_code, has(done.stderr, text)) == (2, True), done.stderr
