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
from qmon.config.chosen_target import TargetText, expand_names, find_target
from qmon.config.config_file import ConfigText, Settings, parse_config, read_config
from qmon.config.known_targets import KnownTarget, known_targets
from qmon.config.toml_writer import queue_to_toml, queues_to_toml, target_to_toml
from qmon.engines.odbc_keywords import KeywordText
from qmon.engines.urls import UrlText
from qmon.errors import BadInput
from qmon.files import FileText
from qmon.model.config_reader import KeyText
from qmon.model.cost_budget import Budget
from qmon.model.formatting import DurationText
from qmon.model.groups.configured_queue import configured_name
from qmon.model.layout.layout import ClientPatterns, Layout, ObjectName, OwnerColumn, StateColumn
from qmon.model.layout.layout_io import LayoutText
from tests.strategies import layouts
from tests.wordings import has, pattern

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
            ObjectName("dbo", "OrderQueue"),
            id="Id",
            state=StateColumn("Status", 1, 2),
            started_at="StartedAt",
            owner=OwnerColumn("Owner", "session"),
            timeout_s=300.0,
            producers=ClientPatterns("shop-api*"),
            consumers=ClientPatterns("mailer-*"),
        ),
        Layout("mails", "fifo", ObjectName("", "Mail"), id="Id"),
    )


def at(key: str) -> str:
    """Return the key as an error names it."""
    return f"{PATH}: {key}"


def unknown_key(key: str, nearest: str) -> str:
    """Return the pattern of the error about an unknown key."""
    return pattern(KeyText.UNKNOWN_KEY, path=at(key), hint=KeyText.DID_YOU_MEAN.render(word=nearest))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[target", pattern(ConfigText.NOT_TOML, path=PATH)),
        ("[targets.a]\nconnect = 'x'", unknown_key("targets", "target")),
        ("target = 5", pattern(KeyText.NOT_A_TABLE, path=at("target"), kind=KeyText.WHOLE_NUMBER)),
        ("[target]\na = 5", pattern(KeyText.NOT_A_TABLE, path=at("target.a"), kind=KeyText.WHOLE_NUMBER)),
        ("[target.a]\nprod = true", pattern(KeyText.MISSING, path=at("target.a"), name="connect")),
        (
            "[target.a]\nconnect = 'x'\nprod = 'yes'",
            pattern(KeyText.NOT_A_BOOLEAN, path=at("target.a.prod"), kind=KeyText.TEXT),
        ),
        ("[target.a]\nconnect = 'x'\nread-only = true", unknown_key("target.a.read-only", "read_only")),
        (
            "[target.a]\nconnect = 'x'\npassword = 'y'",
            pattern(KeyText.UNKNOWN_KEY, path=at("target.a.password")) + pattern(KeyText.CHOOSE_FROM),
        ),
        (
            "[target.a]\nconnect = 'x'\nengine = 'mssql'",
            pattern(KeyText.UNKNOWN_VALUE, path=at("target.a.engine"), value="mssql"),
        ),
        (
            "[target.a]\nconnect = 'x'\n[target.a.queue]\nname='q'",
            pattern(KeyText.NOT_TABLES, path=at("target.a.queue"), name="target.a.queue", kind=KeyText.TABLE),
        ),
        (
            "[target.a]\nconnect = 'x'\n[[target.a.queue]]\nname='q'",
            pattern(KeyText.MISSING, path=at("target.a.queue[1]"), name=LayoutText.ID_OR_DESIGN),
        ),
        (
            "[target.a]\nconnect = 'x'\n[[target.a.queue]]\nname='q'\ntable='t'\nid='i'\nstate={column='s', redy=1}",
            unknown_key("target.a.queue[1].state.redy", "ready"),
        ),
        (
            "[target.a]\nconnect = 'x'\n" + "[[target.a.queue]]\nname='q'\ntable='t'\nid='i'\n" * 2,
            pattern(ConfigText.QUEUE_TWICE, key=at("target.a.queue[2]"), queue="q"),
        ),
        ("[target.a]\nconect = 'x'", unknown_key("target.a.conect", "connect")),
        (
            "[target.a]\nconnect = 'x'\n[[target.a.queue]]\nnane='q'\ntable='t'\nid='i'",
            unknown_key("target.a.queue[1].nane", "name"),
        ),
        (
            "[target.a]\nconnect = 'x'\n[[target.a.queue]]\nname='q'\ntabel='t'\nid='i'",
            unknown_key("target.a.queue[1].tabel", "table"),
        ),
        (
            "[target.a]\nconnect = 'x'\n[[target.a.queue]]\nname='q'\ntable='t'\ndesing='fifo'",
            unknown_key("target.a.queue[1].desing", "design"),
        ),
        ("[settings]\nintervall = '2s'", unknown_key("settings.intervall", "interval")),
        (
            "[settings]\ninterval = 'soon'",
            f"{re.escape(at('settings.interval'))}: {pattern(DurationText.NOT_A_DURATION, text='soon')}",
        ),
        ("[settings]\ninterval = '100ms'", pattern(ConfigText.INTERVAL, key=at("settings.interval"))),
        ("[settings]\nbudget_percent = 0", pattern(ConfigText.BUDGET_PERCENT, key=at("settings.budget_percent"))),
        ('[target.t]\nconnect = "x"\nbudget = "1"', pattern(ConfigText.BUDGET, key=at("target.t.budget"))),
    ],
)
def test_each_fault_is_one_line_with_file_and_key(text: str, fault: str) -> None:
    with pytest.raises(BadInput, match=f"^{fault}") as caught:
        parse_config(text, PATH)
    assert "\n" not in str(caught.value)


def test_the_usual_file_need_not_be_there_but_a_named_one_must(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = tmp_path / "qmon.toml"
    monkeypatch.setattr(config_file, "default_path", lambda: missing)
    assert read_config().targets == {}
    with pytest.raises(BadInput, match=pattern(ConfigText.NO_FILE, path=missing)):
        read_config(missing)
    missing.write_bytes(b"\xff")
    with pytest.raises(BadInput, match=pattern(ConfigText.UNREADABLE, path=missing, reason=ConfigText.NOT_UTF8)):
        read_config()
    missing.unlink()
    missing.mkdir(stat.S_IRWXU)
    with pytest.raises(BadInput, match=pattern(ConfigText.UNREADABLE, path=missing, reason="Is a directory")):
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
    assert has(odd.problem, TargetText.NOT_FOR_THE_FILE, key=TargetText.KEY.render(path=PATH, target="odd"))
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
    ("text", "fault"),
    [
        ("", pattern(TargetText.EMPTY)),
        (
            "ordesr",
            pattern(TargetText.UNKNOWN, name="ordesr", path=PATH, nearest=KeyText.DID_YOU_MEAN.render(word="orders")),
        ),
        ("u:hush@h/d", pattern(TargetText.PART_OF_URL)),
        ("mysql://u:hush@h/d", pattern(UrlText.UNKNOWN_SCHEME, scheme="mysql")),
        ("Server=x;PWD=hush", pattern(TargetText.ADO_NET, url="mssql://user@host:1433/Database")),
        (
            "Data Source=h;Initial Catalog=d;User ID=u;Password=hush;Encrypt=true",
            pattern(TargetText.ADO_NET, url="mssql://user@host:1433/Database"),
        ),
        (
            'Server=tcp:h,1433;Database=d;User Id=u;Password="hush;{"',
            pattern(TargetText.ADO_NET, url="mssql://user@host:1433/Database"),
        ),
        (
            "Host=h;Username=u;Password=hush;Database=d",
            pattern(TargetText.ADO_NET, url="postgresql://user@host:5432/database"),
        ),
        (
            "jdbc:sqlserver://h:1433;databaseName=d;user=u;password=hush;encrypt=true",
            pattern(TargetText.JDBC, url="mssql://user@host:1433/Database"),
        ),
        (
            "jdbc:postgresql://h/d?user=u&password=hush",
            pattern(TargetText.JDBC, url="postgresql://user@host:5432/database"),
        ),
        ("DRIVER={x;PWD=hush", pattern(KeywordText.NOT_KEYWORDS)),
        ("DRIVER=x;pqopt={password=hush}", pattern(KeywordText.CREDENTIALS_IN_PQOPT)),
        ("postgresql://u:hush@h:x/d", pattern(UrlText.NO_PORT, scheme="postgresql")),
        ("postgresql://u:hush@h/d/e", pattern(UrlText.ONLY_DATABASE, scheme="postgresql")),
        (
            "postgresql://u:hush@h/d?sslmod=require",
            pattern(UrlText.UNKNOWN_POSTGRES_SETTING, name="sslmod", hint=KeyText.DID_YOU_MEAN.render(word="sslmode")),
        ),
        ("postgresql://u:hush@[h/d", pattern(UrlText.CANNOT_BE_READ, scheme="postgresql")),
        ("mssql://u:hush@/d", pattern(UrlText.ONE_HOST)),
        (
            "mssql://u:hush@h/d?trusted=1",
            pattern(UrlText.UNKNOWN_MSSQL_SETTING, name="trusted", hint=KeyText.DID_YOU_MEAN.render(word="trust")),
        ),
    ],
)
def test_what_cannot_be_a_target_is_named_without_what_may_be_secret(text: str, fault: str) -> None:
    with pytest.raises(BadInput, match=f"^{fault}") as caught:
        find_target(text, parse_config(WHOLE, PATH), {})
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
    with pytest.raises(BadInput, match=pattern(KeyText.NOT_A_TEXT, path="/etc/qmon.toml: target.a.baselines")):
        parse_config(text.replace('"usual.json"', "5"), Path("/etc/qmon.toml"))


def test_a_fleet_stands_for_its_targets_each_once() -> None:
    targets = "".join(f'[target.{name}]\nconnect = "{name}"\n' for name in ("crm", "orders-eu", "orders-us"))
    config = parse_config('[fleets]\norders = ["orders-*"]\nnight = ["crm", "orders-us"]\n' + targets, PATH)
    assert expand_names(["orders"], config) == ["orders-eu", "orders-us"]
    assert expand_names(["night", "orders", "other"], config) == ["crm", "orders-us", "orders-eu", "other"]
    assert expand_names(["crm", "night"], config) == ["crm", "orders-us"], "each target is listed once"
    assert expand_names([], config, all_targets=True) == ["crm", "orders-eu", "orders-us"]
    for texts, everything, where, why in (
        ([], False, config, pattern(TargetText.NO_TARGET)),
        (["crm"], True, config, pattern(TargetText.ALL_AND_NAMES)),
        ([], True, EMPTY, pattern(TargetText.ALL_OF_NONE, path=PATH)),
    ):
        with pytest.raises(BadInput, match=why):
            expand_names(texts, where, all_targets=everything)
    with pytest.raises(BadInput, match=pattern(TargetText.FLEET, name="night", path=PATH)):
        find_target("night", config, {})


@pytest.mark.parametrize(
    ("fleets", "why"),
    [
        ('crm = ["crm"]', re.escape(f"{at('fleets.crm')}: {ConfigText.NAME_TAKEN}")),
        ("night = []", pattern(ConfigText.NO_FLEET_TARGETS, key=at("fleets.night"))),
        (
            'night = ["cmr"]',
            pattern(
                ConfigText.NO_SUCH_TARGET,
                key=at("fleets.night"),
                pattern="cmr",
                nearest=KeyText.DID_YOU_MEAN.render(word="crm"),
            ),
        ),
        ('night = "crm"', pattern(KeyText.NOT_TEXTS, path=at("fleets.night"), kind=KeyText.TEXT)),
    ],
)
def test_a_fleet_that_cannot_be_is_refused_with_its_key(fleets: str, why: str) -> None:
    with pytest.raises(BadInput, match=f"^{why}$"):
        parse_config(f'[target.crm]\nconnect = "x"\n[fleets]\n{fleets}\n', PATH)


@pytest.mark.parametrize("path", ["~no-such-user/usual.json", "~no-such-user", "a\\u0000b"])
def test_a_path_that_cannot_be_read_is_one_line_with_its_key(path: str) -> None:
    text = f'[target.a]\nconnect = "postgresql://h/a"\nbaselines = "{path}"\n'
    with pytest.raises(
        BadInput, match=rf"target\.a\.baselines: ({pattern(FileText.HOME_UNKNOWN)}|{pattern(FileText.NOT_A_NAME)})"
    ):
        parse_config(text, Path("/etc/qmon.toml"))


def test_a_list_of_tables_has_a_line_for_each_of_them() -> None:
    queue = {"id": ["tenant", "seq"], "steps": [{"at": "created_at", "pushed": True}, {"at": "ended_at"}]}
    assert queue_to_toml("shop", queue).splitlines()[1:] == [
        'id = ["tenant", "seq"]',
        "steps = [",
        '    { at = "created_at", pushed = true },',
        '    { at = "ended_at" },',
        "]",
    ]
