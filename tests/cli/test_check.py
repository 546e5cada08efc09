"""``qmon check`` as monitoring systems call it: each exit code on a real database, and one line whatever happens."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from qmon.cli.commands.check import CheckText
from qmon.config.chosen_target import TargetText
from qmon.config.config_file import ConfigText
from qmon.engines.postgres.postgres_errors import PostgresErrorText
from qmon.engines.urls import UrlText
from qmon.model.alerts.alert_rules import AlertText
from qmon.model.alerts.nagios import NagiosText
from qmon.model.alerts.rule_parser import RuleText
from qmon.model.alerts.target_check import TargetCheckText
from qmon.model.config_reader import KeyText
from qmon.model.formatting import DurationText
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.monitor.catalog.resolve import ResolveText
from qmon.texts import Text
from tests.cli.calling import call, run
from tests.facts import query
from tests.queues import call as routine
from tests.queues import made
from tests.queues import opened as qmon_connection
from tests.schemas import valid
from tests.wordings import has

NOWHERE: Final = "postgresql://me:s3cretword@127.0.0.1:1/shop"
QUICK: Final = '[settings]\ninterval = "500ms"\n'


@pytest.fixture
def quick(own_home: Path) -> Path:
    """Write a configuration that polls at the highest rate."""
    own_home.parent.mkdir(parents=True)
    own_home.write_text(QUICK)
    return own_home


def checked(*arguments: str) -> tuple[int, str]:
    """Return the exit code and the only line of output."""
    done = call("check", *arguments)
    (line,) = done.stdout.splitlines()
    return done.exit_code, line


def as_json(*arguments: str) -> dict[str, Any]:
    done = call("check", *arguments, "--output", "json")
    told = valid(done.stdout, "check")
    assert done.exit_code == told["exit_code"]
    return told


@contextmanager
def growing(url: str, rows: int = 20) -> Iterator[None]:
    """Push messages continuously without any consumer."""
    layout, enough = made(url, "fifo", "growing"), threading.Event()

    def push() -> None:
        with qmon_connection(url) as connection:
            while not enough.wait(0.02):
                for _ in range(rows):
                    routine(connection, layout, "push", "'x'::bytea")

    producer = threading.Thread(target=push)
    producer.start()
    try:
        yield
    finally:
        enough.set()
        producer.join()


def stuck_queue(url: str, ready: int = 3, stuck: int = 2) -> None:
    """Create a queue with ready messages, and some in progress for an hour."""
    query(
        url,
        "CREATE TABLE jobs (id bigserial PRIMARY KEY, status text NOT NULL DEFAULT 'ready', "
        "started_at timestamptz, created_at timestamptz NOT NULL DEFAULT now(), payload text)",
    )
    query(url, "CREATE INDEX ON jobs (id) WHERE status = 'ready'")
    query(url, "CREATE INDEX ON jobs (started_at) WHERE status = 'running'")
    query(url, f"INSERT INTO jobs (created_at) SELECT now() - interval '1 hour' FROM generate_series(1, {ready})")
    query(
        url,
        "INSERT INTO jobs (status, started_at) SELECT 'running', now() - interval '1 hour' "
        f"FROM generate_series(1, {stuck})",
    )


def configured(home: Path, url: str, *alerts: str) -> None:
    """The stuck queue under the target ``shop``."""
    queue = (
        f'[target.shop]\nconnect = "{url}"\n[[target.shop.queue]]\nname = "jobs"\ntable = "public.jobs"\nid = "id"\n'
        'design = "status"\nstate = { column = "status", ready = "ready", in_progress = "running" }\n'
        'started_at = "started_at"\nenqueued_at = "created_at"\ntimeout = "5m"\n'
    )
    home.write_text(QUICK + queue + "".join(f"[[alert]]\n{alert}\n" for alert in alerts))


def test_a_queue_at_rest_is_ok_with_its_figures(database: str, quick: Path) -> None:
    made(database, "fifo", "orders")
    code, line = checked(database)
    assert code == 0
    text, data = line.split(" | ")
    assert text.startswith("QMON OK - ")
    assert has(text, NagiosText.QUEUES, count=1, state="fine", ready=0)
    assert {"'orders.depth'=0;;;0", "'orders.push_rate'=0;;;0", "'orders.pop_rate'=0;;;0"} <= set(data.split())


def test_a_growing_queue_crosses_limits_of_depth_and_of_rates(database: str, quick: Path) -> None:
    with growing(database):
        code, line = checked(database, "--warn", "depth>10", "--crit", "depth>1000000", "--polls", "3")
        assert (code, line.split(" - ")[0]) == (1, "QMON WARNING")
        assert ";10;1000000;0 " in line
        told = as_json(database, "--queue", "growing", "--crit", "push_rate>10", "--polls", "3")
    assert (told["state"], told["exit_code"]) == ("critical", 2)
    (problem,) = told["problems"]
    assert (problem["queue"], problem["rule"]) == ("growing", "push_rate above")
    assert problem["value"] > 10
    assert told["queues"][0]["push_rate"] == pytest.approx(problem["value"], abs=0.001)


def test_stuck_messages_are_critical_by_verdict_and_as_the_configuration_says(database: str, quick: Path) -> None:
    stuck_queue(database)
    configured(quick, database)
    code, line = checked("shop")
    assert code == 2
    late = FlowText.LATE.render(count="2", longer=FlowText.LATE_BY_TIMEOUT.render(timeout="5 m 00 s"))
    assert line.startswith(f"QMON CRITICAL - shop: jobs: stuck in progress: {late}")
    assert "'jobs.stuck'=2;;;0" in line
    configured(quick, database, 'figure = "stuck"\nwarn = 1\ncrit = 5\nfor = "1h"')
    code, line = checked("shop")
    assert code == 1
    assert "jobs: stuck 2, above 1 | " in line
    assert "'jobs.stuck'=2;1;5;0" in line
    configured(quick, database, 'figure = "oldest"\nqueue = "other*"\nwarn = "1s"')
    assert checked("shop")[0] == 2, "a queue without a rule is judged by its verdict"
    configured(quick, database, 'figure = "stuck"\ntarget = "prod*"\ncrit = 1000')
    assert checked("shop")[0] == 2, "the rule is about other targets"
    assert checked("shop", "--warn", "oldest>2h")[0] == 0, "with rules on the command line, only these count"
    assert checked("shop", "--crit", "oldest>30m")[0] == 2
    assert checked("shop", "--warn", "verdict=stuck*")[0] == 1


def test_one_poll_cannot_tell_rates(database: str, quick: Path) -> None:
    made(database, "fifo", "orders")
    code, line = checked(database, "--polls", "1", "--warn", "pop_rate<1")
    assert code == 1, "further polls measure the rate"
    assert "pop_rate 0/s, below 1.0/s" in line


def test_queues_are_chosen_by_name(database: str, quick: Path) -> None:
    stuck_queue(database)
    configured(quick, database)
    made(database, "fifo", "orders")
    assert checked("shop", "-q", "orders")[0] == 0
    assert checked("shop", "-q", "orders", "-q", "jobs")[0] == 2
    code, line = checked("shop", "-q", "orders", "--crit", "fill>0.9")
    assert (code, has(line, AlertText.FIGURE_UNKNOWN, figure="fill")) == (3, True), "a named queue must have the figure"
    assert checked("shop", "--crit", "fill>0.9")[0] == 0
    code, line = checked("shop", "-q", "orders", "-q", "ordres")
    assert code == 3
    assert has(line, TargetCheckText.NO_SUCH_QUEUE)
    assert "ordres: " in line


@pytest.mark.server
@pytest.mark.parametrize(
    ("arguments", "text", "fields"),
    [
        (["nowhere-at-all"], TargetText.UNKNOWN, {"name": "nowhere-at-all"}),
        ([NOWHERE], PostgresErrorText.REFUSED, {"where": PostgresErrorText.HOST_PORT.render(host="127.0.0.1", port=1)}),
        (["postgres://u:s3cretword@h:port/db"], UrlText.NO_PORT, {"scheme": "postgres"}),
        (["shop", "--config", "/nonexistent/qmon.toml"], ConfigText.NO_FILE, {"path": "/nonexistent/qmon.toml"}),
        (["shop", "--warn", "depth"], RuleText.NOT_A_RULE, {"text": "depth"}),
        (["shop", "--crit", "depht>5"], KeyText.DID_YOU_MEAN, {"word": "depth"}),
        (["shop", "--polls", "0"], "--polls", {}),
        (["shop", "--timeout", "soon"], DurationText.NOT_A_DURATION, {"text": "soon"}),
        (["shop", "--bogus"], "--bogus", {}),
        ([], "TARGET", {}),
    ],
)
def test_bad_input_and_what_cannot_be_reached_are_unknown_in_one_line(
    arguments: list[str], text: Text | str, fields: dict[str, str]
) -> None:
    code, line = checked(*arguments)
    assert code == 3
    assert line.startswith("QMON UNKNOWN - ")
    assert has(line, text, **fields) if isinstance(text, Text) else text in line
    assert "s3cretword" not in line


def test_polls_that_take_longer_than_allowed_are_refused(own_home: Path) -> None:
    code, line = checked(NOWHERE, "--polls", "10", "--timeout", "5s")
    assert code == 3
    assert has(line, CheckText.TOO_SLOW, polls=10, every="2.0 s", timeout="5.0 s")


@pytest.mark.server
def test_as_a_program_its_exit_codes_are_the_same() -> None:
    done = run("check", NOWHERE, "--output", "json")
    assert done.returncode == 3
    assert valid(done.stdout, "check")["state"] == "unknown"
    assert run("check", "--warn").returncode == 3


def test_as_a_program_a_configured_queue_whose_table_is_missing_is_critical_with_the_reason(
    database: str, quick: Path
) -> None:
    configured(quick, database)
    done = run("check", "shop", XDG_CONFIG_HOME=str(quick.parents[1]))
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout.startswith("QMON CRITICAL - shop: jobs: cannot see: ")
    assert has(done.stdout, ResolveText.NO_TABLE, name="public.jobs")
    assert "'jobs.depth'=U;;;0" in done.stdout, "unknown is not 0"
    assert done.stderr == ""


@pytest.mark.server
def test_a_server_that_hangs_or_is_stopped_is_unknown_in_time(quick: Path) -> None:
    from qmon.demo.embedded_server import EmbeddedServer

    with EmbeddedServer() as server:
        made(server.url(), "fifo", "orders")
        assert checked(server.url())[0] == 0
        server.freeze()
        try:
            done = run("check", server.url(), "--timeout", "2s", XDG_CONFIG_HOME=str(quick.parents[1]))
        finally:
            server.thaw()
        assert done.returncode == 3, done.stdout + done.stderr
        assert done.stdout.startswith("QMON UNKNOWN - ")
        assert has(done.stdout, CheckText.NO_ANSWER)
        server.stop()
        code, line = checked(server.url())
    assert (code, line.split(" - ")[0]) == (3, "QMON UNKNOWN")


def test_it_has_help_with_an_example() -> None:
    done = call("check", "--help")
    assert done.exit_code == 0
    assert "Example: qmon check" in done.stdout
    assert "  check " in call("--help").stdout


def test_stuck_messages_that_no_index_leads_to_are_never_ok(database: str, quick: Path) -> None:
    stuck_queue(database, ready=0, stuck=500)
    query(database, "DROP INDEX jobs_started_at_idx")
    configured(quick, database)
    code, line = checked("shop")
    assert code in (2, 3), line
    assert "jobs: stuck in progress: " in line or "jobs: cannot tell: " in line
    if code == 3:
        assert "stuck" in line.partition(" | ")[0]
        assert checked("shop", "--unknown", "warning")[0] == 1
        assert checked("shop", "--crit", "stuck>1")[0] == 3
    assert checked("shop", "--crit", "depth>10")[0] == 0, "the checked figure is known"
    assert "fine" not in checked("shop", "--crit", "depth>10")[1]


@pytest.mark.parametrize(
    ("wrong", "code", "text", "fields"),
    [
        (
            'queue = "jbos"',
            3,
            TargetCheckText.NO_SUCH_QUEUE_OF_ALERT,
            {"hint": KeyText.DID_YOU_MEAN.render(word="jobs")},
        ),
        ('target = "sh*"\nqueue = "jbos"', 3, TargetCheckText.NO_SUCH_QUEUE_OF_ALERT, {"alert": "deep"}),
        ('target = "shpo"', 0, AlertText.NO_SUCH_TARGET, {"name": "deep", "targets": "shpo"}),
        ('target = "crm"\nqueue = "jbos"', 0, None, {}),
    ],
)
def test_an_alert_that_can_never_be_raised_is_not_silently_ok(
    database: str, quick: Path, wrong: str, code: int, text: Text | None, fields: dict[str, str]
) -> None:
    made(database, "fifo", "jobs")
    quick.write_text(
        f'{QUICK}[target.shop]\nconnect = "{database}"\n[target.crm]\nconnect = "{NOWHERE}"\n'
        f'[[alert]]\nname = "deep"\nfigure = "ready"\nwarn = 5\n{wrong}\n'
    )
    if "target" not in wrong:  # otherwise it may be for the other target
        quick.write_text(quick.read_text().replace("[target.crm]", "[target.shop2]").replace(NOWHERE, database))
        quick.write_text(quick.read_text().replace("[[alert]]", '[[alert]]\ntarget = "shop"'))
    done = call("check", "shop")
    assert done.exit_code == code, done.output
    assert (code == 0) == ("QMON OK" in done.stdout)
    assert text is None or has(done.stdout if code else done.stderr, text, **fields)
    told = call("doctor", "shop").stderr
    assert "crm" in wrong or "'deep'" in told
