"""The configuration file, and the ways to name a target."""

from __future__ import annotations

import re
import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.config import config_file
from qmon.config.chosen_target import expand_names, find_target
from qmon.config.config_file import Settings, parse_config, read_config
from qmon.config.known_targets import KnownTarget, known_targets
from qmon.config.toml_writer import queues_to_toml, target_to_toml
from qmon.errors import BadInput
from qmon.model.cost_budget import Budget
from qmon.model.groups.configured_queue import configured_name
from qmon.model.layout.layout import Clients, Layout, OwnerColumn, StateColumn, TableName
from tests.strategies import layouts

PATH = Path("some/qmon.toml")
WHOLE = """
[settings]
interval = "1s"
budget_percent = 0.5
theme = "dusk"

[target.orders]
connect = "postgresql://reader@db1/shop"
prod = true
environment = "Frankfurt"

[[target.orders.queue]]
name = "orders"
table = "dbo.OrderQueue"
design = "status"
id = "Id"
state = { column = "Status", ready = 1, in_progress = 2 }
started_at = "StartedAt"
owner = { column = "Owner", kind = "session", held_while_working = false }
timeout = "5m"
producers = { application = "shop-api*" }
consumers = { application = "mailer-*" }

[[target.orders.queue]]
name = "mails"
table = "Mail"
id = "Id"

[target.old]
connect = "OldDsn"
engine = "sqlserver"
read_only = true
schema_owner = "dba"
"""
EMPTY = parse_config("", PATH)


def test_the_whole_file_is_read() -> None:
    config = parse_config(WHOLE, PATH)
    assert config.settings == Settings(1.0, 0.5, "dusk")
    orders, old = config.targets["orders"], config.targets["old"]
    assert (orders.prod, orders.read_only, orders.environment) == (True, False, "Frankfurt")
    assert (old.engine, old.read_only, old.schema_owner, old.queues) == ("sqlserver", True, "dba", ())
    assert orders.queues == (
        Layout(
            "orders",
            "status",
            TableName("dbo", "OrderQueue"),
            id="Id",
            state=StateColumn("Status", 1, 2),
            started_at="StartedAt",
            owner=OwnerColumn("Owner", "session"),
            timeout_s=300.0,
            producers=Clients("shop-api*"),
            consumers=Clients("mailer-*"),
        ),
        Layout("mails", "fifo", TableName("", "Mail"), id="Id"),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[target", "Expected ']' at the end of a table declaration (at end of document)"),
        ("[targets.a]\nconnect = 'x'", "targets: unknown key; did you mean target?"),
        ("target = 5", "target: must be a table of keys, not a whole number"),
        ("[target]\na = 5", "target.a: must be a table of keys, not a whole number"),
        ("[target.a]\nprod = true", "target.a: needs connect"),
        ("[target.a]\nconnect = 'x'\nprod = 'yes'", "target.a.prod: must be true or false, not a text"),
        ("[target.a]\nconnect = 'x'\nread-only = true", "target.a.read-only: unknown key; did you mean read_only?"),
        ("[target.a]\nconnect = 'x'\npassword = 'y'", "target.a.password: unknown key; choose from: "),
        ("[target.a]\nconnect = 'x'\nengine = 'mssql'", "target.a.engine: 'mssql' is unknown; "),
        ("[target.a]\nconnect = 'x'\n[target.a.queue]\nname='q'", "target.a.queue: must be written as [[queue]], not "),
        ("[target.a]\nconnect = 'x'\n[[target.a.queue]]\nname='q'", "target.a.queue[1]: needs an id, "),
        (
            "[target.a]\nconnect = 'x'\n[[target.a.queue]]\nname='q'\ntable='t'\nid='i'\nstate={column='s', redy=1}",
            "target.a.queue[1].state.redy: unknown key; did you mean ready?",
        ),
        (
            "[target.a]\nconnect = 'x'\n" + "[[target.a.queue]]\nname='q'\ntable='t'\nid='i'\n" * 2,
            "target.a.queue[2].name: a queue 'q' is already defined above",
        ),
        ("[target.a]\nconect = 'x'", "target.a.conect: unknown key; did you mean connect?"),
        (
            "[target.a]\nconnect = 'x'\n[[target.a.queue]]\nnane='q'\ntable='t'\nid='i'",
            "target.a.queue[1].nane: unknown key; did you mean name?",
        ),
        (
            "[target.a]\nconnect = 'x'\n[[target.a.queue]]\nname='q'\ntabel='t'\nid='i'",
            "target.a.queue[1].tabel: unknown key; did you mean table?",
        ),
        (
            "[target.a]\nconnect = 'x'\n[[target.a.queue]]\nname='q'\ntable='t'\ndesing='fifo'",
            "target.a.queue[1].desing: unknown key; did you mean design?",
        ),
        ("[settings]\nintervall = '2s'", "settings.intervall: unknown key; did you mean interval?"),
        ("[settings]\ninterval = 'soon'", "settings.interval: 'soon' is not a duration: "),
        ("[settings]\ninterval = '100ms'", "settings.interval: must be from 500ms to 1m"),
        ("[settings]\nbudget_percent = 0", "settings.budget_percent: must be more than 0 and at most 100"),
        ('[target.t]\nconnect = "x"\nbudget = "1"', 'target.t.budget: must be like "1%" of one processor'),
    ],
)
def test_each_fault_is_one_line_with_file_and_key(text: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_config(text, PATH)
    assert str(caught.value).startswith(f"{PATH}: {message}")
    assert "\n" not in str(caught.value)


def test_the_usual_file_need_not_be_there_but_a_named_one_must(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = tmp_path / "qmon.toml"
    monkeypatch.setattr(config_file, "default_path", lambda: missing)
    assert read_config().targets == {}
    with pytest.raises(BadInput, match="there is no such file"):
        read_config(missing)
    missing.write_bytes(b"\xff")
    with pytest.raises(BadInput, match="cannot be read: it is not UTF-8 text"):
        read_config()
    missing.unlink()
    missing.mkdir(stat.S_IRWXU)
    with pytest.raises(BadInput, match="cannot be read: Is a directory"):
        read_config()


@given(
    st.text(min_size=1, max_size=20).filter(str.strip), st.lists(layouts, max_size=4, unique_by=lambda one: one.queue)
)
def test_what_is_written_is_read_back(name: str, written: list[Layout]) -> None:
    text = target_to_toml(name, "a\\b\"'\x7f\n") + "\n" + queues_to_toml(name, written)
    assert tomllib.loads(text)["target"][name]["connect"] == "a\\b\"'\x7f\n"
    assert parse_config(text, PATH).targets[name].queues == tuple(written)


# -------------------------------------------------------------------------------------------------------- targets


@pytest.mark.server  # the driver manager
def test_known_targets_are_those_of_the_file_and_then_the_dsns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "odbc.ini").write_text(
        "[old]\nDriver=FreeTDS\n[OldDsn]\nDriver=ODBC Driver 18 for SQL Server\n[a dsn]\nDriver=PostgreSQL Unicode\n"
    )
    monkeypatch.setenv("ODBCINI", str(tmp_path / "odbc.ini"))
    more = "[target.odd]\nconnect = 'postgresql://me:hush@db1/shop'\n[target.plain]\nconnect = 'DSN=x;Database=y'\n"
    first, second, odd, plain, *dsns = known_targets(parse_config(WHOLE + more, PATH))
    assert first == KnownTarget("orders", "postgres", "db1/shop", environment="Frankfurt", prod=True, queues=2)
    assert second == KnownTarget("old", "sqlserver", "DSN OldDsn", read_only=True)
    assert "contains a password" in odd.problem
    assert "hush" not in repr(odd)
    assert plain.place == "x"
    assert [each for each in dsns if each.name in ("old", "OldDsn", "a dsn")] == [
        KnownTarget("OldDsn", "sqlserver", "ODBC Driver 18 for SQL Server", dsn=True, dsn_of="user"),
        KnownTarget("a dsn", "postgres", "PostgreSQL Unicode", dsn=True, dsn_of="user"),
    ], "that name means the configuration's own `old`"


def test_a_name_of_the_file_comes_with_its_queues() -> None:
    chosen = find_target("orders", parse_config(WHOLE, PATH), {})
    assert (chosen.target.name, chosen.target.engine, chosen.target.prod) == ("orders", "postgres", True)
    assert chosen.target.parameters == {"Server": "db1", "Database": "shop", "UID": "reader"}
    assert [configured_name(queue) for queue in chosen.queues] == ["orders", "mails"]
    old = find_target("old", parse_config(WHOLE, PATH), {}).target
    assert (old.engine, old.parameters, old.read_only) == ("sqlserver", {"DSN": "OldDsn"}, True)


def test_what_is_typed_may_be_a_url_or_a_connection_string() -> None:
    url = find_target("postgresql://me@/shop?host=/tmp/s", EMPTY, {}).target
    assert (url.name, url.engine) == ("localhost/shop", "postgres")
    assert url.parameters == {"Server": "/tmp/s", "Database": "shop", "UID": "me"}
    text = find_target(
        "Driver={ODBC Driver 18 for SQL Server};Server=tcp:db1,1433;Database=shop;UID=me", EMPTY, {}
    ).target
    assert (text.name, text.engine) == ("db1,1433/shop", "sqlserver")
    assert find_target("DSN=x;UID=me", EMPTY, {}).target.name == "x"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the target is empty"),
        ("ordesr", "'ordesr' is neither a target in some/qmon.toml nor a DSN; did you mean orders?"),
        ("u:hush@h/d", "this is not a target; a URL starts with postgresql:// or mssql://"),
        ("mysql://u:hush@h/d", "qmon does not support mysql:// URLs"),
        ("Server=x;PWD=hush", "the connection string has neither DRIVER nor DSN"),
        (
            "Data Source=h;Initial Catalog=d;User ID=u;Password=hush;Encrypt=true",
            "the connection string has neither DRIVER nor DSN; if it is for ADO.NET, write mssql://user@host:",
        ),
        (
            'Server=tcp:h,1433;Database=d;User Id=u;Password="hush;{"',
            "the connection string has neither DRIVER nor",
        ),
        (
            "Host=h;Username=u;Password=hush;Database=d",
            "the connection string has neither DRIVER nor DSN; if it is for ADO.NET, write postgresql://user@",
        ),
        (
            "jdbc:sqlserver://h:1433;databaseName=d;user=u;password=hush;encrypt=true",
            "qmon does not read JDBC URLs; write mssql://user@host:1433/Database",
        ),
        (
            "jdbc:postgresql://h/d?user=u&password=hush",
            "qmon does not read JDBC URLs; write postgresql://user@host:5432/database",
        ),
        ("DRIVER={x;PWD=hush", "the connection string is not KEYWORD=value"),
        ("DRIVER=x;pqopt={password=hush}", "a password inside pqopt is not accepted; give it as PWD"),
        ("postgresql://u:hush@h:x/d", "the postgresql:// URL has no valid port"),
        ("postgresql://u:hush@h/d/e", "only a database may follow the host in the postgresql:// URL"),
        (
            "postgresql://u:hush@h/d?sslmod=require",
            "the postgresql:// URL has the unknown setting sslmod; did you mean ",
        ),
        ("postgresql://u:hush@[h/d", "the postgresql:// URL cannot be read"),
        ("mssql://u:hush@/d", "an mssql:// URL names one host"),
        ("mssql://u:hush@h/d?trusted=1", "the mssql:// URL has the unknown setting trusted; did you mean "),
    ],
)
def test_what_cannot_be_a_target_is_named_without_what_may_be_secret(text: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        find_target(text, parse_config(WHOLE, PATH), {})
    assert str(caught.value).startswith(message)
    assert "hush" not in str(caught.value)


def test_a_target_has_a_budget_of_its_own_or_that_of_the_settings() -> None:
    text = '[settings]\nbudget_percent = 3\n[target.a]\nconnect = "postgresql://h/a"\nbudget = "100ms"\n'
    config = parse_config(text + '[target.b]\nconnect = "postgresql://h/b"\n', Path("qmon.toml"))
    assert find_target("a", config, {}).target.budget == Budget(poll_ms=100.0)
    assert find_target("b", config, {}).target.budget == Budget(0.03)
    assert find_target("postgresql://h/c", config, {}).target.budget == Budget(0.03)


def test_the_file_of_what_is_usual_lies_beside_the_configuration_or_where_it_says() -> None:
    text = '[target.a]\nconnect = "postgresql://h/a"\nbaselines = "usual.json"\n'
    assert parse_config(text, Path("/etc/qmon.toml")).targets["a"].baselines == Path("/etc/usual.json")
    absolute = text.replace("usual.json", "/var/lib/usual.json")
    assert parse_config(absolute, Path("/etc/qmon.toml")).targets["a"].baselines == Path("/var/lib/usual.json")
    home = text.replace("usual.json", "~/usual.json")
    assert parse_config(home, Path("/etc/qmon.toml")).targets["a"].baselines == Path("~/usual.json").expanduser()
    with pytest.raises(BadInput, match=r"target\.a\.baselines: must be a text"):
        parse_config(text.replace('"usual.json"', "5"), Path("/etc/qmon.toml"))


def test_a_fleet_stands_for_its_targets_each_once() -> None:
    targets = "".join(f'[target.{name}]\nconnect = "{name}"\n' for name in ("crm", "orders-eu", "orders-us"))
    config = parse_config('[fleets]\norders = ["orders-*"]\nnight = ["crm", "orders-us"]\n' + targets, PATH)
    assert expand_names(["orders"], config) == ["orders-eu", "orders-us"]
    assert expand_names(["night", "orders", "other"], config) == ["crm", "orders-us", "orders-eu", "other"]
    assert expand_names(["crm", "night"], config) == ["crm", "orders-us"], "each target is listed once"
    assert expand_names([], config, all_targets=True) == ["crm", "orders-eu", "orders-us"]
    for texts, everything, where, why in (
        ([], False, config, "TARGET is missing"),
        (["crm"], True, config, "leave out the names"),
        ([], True, EMPTY, "but this file has no targets"),
    ):
        with pytest.raises(BadInput, match=why):
            expand_names(texts, where, all_targets=everything)
    with pytest.raises(BadInput, match="'night' is a fleet in"):
        find_target("night", config, {})


@pytest.mark.parametrize(
    ("fleets", "why"),
    [
        ('crm = ["crm"]', "fleets.crm: a target already has this name"),
        ("night = []", "fleets.night: a fleet needs targets"),
        ('night = ["cmr"]', "fleets.night: no target is called 'cmr'; did you mean crm"),
        ('night = "crm"', "fleets.night: must be a list of texts"),
    ],
)
def test_a_fleet_that_cannot_be_is_refused_with_its_key(fleets: str, why: str) -> None:
    with pytest.raises(BadInput, match=re.escape(why)):
        parse_config(f'[target.crm]\nconnect = "x"\n[fleets]\n{fleets}\n', PATH)


@pytest.mark.parametrize("path", ["~no-such-user/usual.json", "~no-such-user", "a\\u0000b"])
def test_a_path_that_cannot_be_read_is_one_line_with_its_key(path: str) -> None:
    text = f'[target.a]\nconnect = "postgresql://h/a"\nbaselines = "{path}"\n'
    with pytest.raises(BadInput, match=r"target\.a\.baselines: .*(is unknown; write the whole path|not a file name)"):
        parse_config(text, Path("/etc/qmon.toml"))
