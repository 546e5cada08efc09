"""``qmon serve`` as users run it: a program of its own, scraped over HTTP, with one server there and one not."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.cli.calling import call, program, surroundings
from tests.contract.watching import installed
from tests.facts import query, wait_until

pytestmark = pytest.mark.server
CONFIG = """
[target.shop]
connect = "{url}"
[target.gone]
connect = "postgresql://nobody@127.0.0.1:1/nothing"
"""


def scraped(url: str) -> dict[tuple[str, str, str], float]:
    """The samples, by name, target and queue."""
    with urlopen(url, timeout=30) as answer:  # noqa: S310
        text = answer.read().decode()
    return {
        (sample.name, sample.labels["target"], sample.labels.get("queue", "")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_pushes_are_counted_once_and_a_lost_target_does_not_stop_the_others(tmp_path: Path, database: str) -> None:
    layout = installed(database, "status")[0]
    config = tmp_path / "qmon.toml"
    config.write_text(CONFIG.format(url=database))
    command = program("serve", "shop", "gone", "--every", "500ms", "--config", str(config), "--listen", "127.0.0.1:0")
    with subprocess.Popen(
        command, env=surroundings(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stderr is not None
            said = child.stderr.readline()
            assert "serving http://127.0.0.1:" in said
            url = said.split()[-1]
            ready, pushed = "qmon_queue_ready_messages", "qmon_queue_pushed_messages_total"
            wait_until(lambda: (pushed, "shop", "status") in scraped(url), 90.0, what="two polls")
            query(database, f"INSERT INTO {layout.table} ({layout.payload}) SELECT 'x' FROM generate_series(1, 7)")
            wait_until(lambda: scraped(url)[pushed, "shop", "status"] >= 7.0, 90.0, what="seven pushes")
            wait_until(lambda: scraped(url).get((ready, "shop", "status")) == 7.0, 90.0, what="seven ready")
            found = scraped(url)
            assert found[pushed, "shop", "status"] == 7.0
            assert (found["qmon_target_up", "shop", ""], found["qmon_target_up", "gone", ""]) == (1.0, 0.0)
            assert {name for name, target, _ in found if target == "gone"} == {"qmon_target_up"}
            for path, code in (("healthz", 200), ("readyz", 200), ("other", 404)):
                assert status(url.replace("metrics", path)) == code
            child.send_signal(signal.SIGTERM)
            assert child.wait(90) == 0
        finally:
            child.kill()


def status(url: str) -> int:
    """The HTTP status."""
    try:
        with urlopen(url, timeout=30) as answer:  # noqa: S310
            return int(answer.status)
    except HTTPError as refused:
        with refused:
            return refused.code


def test_bad_input_is_said_before_anything_begins(database: str) -> None:
    for options, why in (
        (("--listen", "0.0.0.0:9777"), "only 127.0.0.1 is served"),
        (("--every", "5m"), "--every is"),
        ((database,), "named twice"),
    ):
        done = call("serve", database, *options)
        assert (done.exit_code, why in done.stderr) == (2, True), done.stderr
