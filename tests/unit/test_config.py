"""The configuration file, and what the user may type as a target."""

from __future__ import annotations

import contextlib
import os
import pickle
import pty
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import ClassVar

import keyring
import keyring.backend
import keyring.errors
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.config import file
from qmon.config.file import Settings, parse_config, read_config
from qmon.config.secrets import from_environment, from_keyring, from_prompt, unlock, variable
from qmon.config.targets import choose
from qmon.config.write import queues_to_toml, target_to_toml
from qmon.engines.base import Target
from qmon.engines.secret import Secret
from qmon.errors import BadInput, PasswordNeeded, Unreachable
from qmon.model.budget import Budget
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
pushers = { application = "shop-api*" }
poppers = { application = "mailer-*" }

[[target.orders.queue]]
name = "mails"
table = "Mail"
id = "Id"

[target.old]
connect = "OldDsn"
engine = "sqlserver"
read_only = true
"""
EMPTY = parse_config("", PATH)


def test_the_whole_file_is_read() -> None:
    config = parse_config(WHOLE, PATH)
    assert config.settings == Settings(1.0, 0.5, "dusk")
    orders, old = config.targets["orders"], config.targets["old"]
    assert (orders.prod, orders.read_only, orders.environment) == (True, False, "Frankfurt")
    assert (old.engine, old.read_only, old.queues) == ("sqlserver", True, ())
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
            pushers=Clients("shop-api*"),
            poppers=Clients("mailer-*"),
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
        ("[target.a]\nconnect = 'x'\npassword = 'y'", "target.a.password: unknown key; there is: "),
        ("[target.a]\nconnect = 'x'\nengine = 'mssql'", "target.a.engine: 'mssql' is unknown; "),
        ("[target.a]\nconnect = 'x'\n[target.a.queue]\nname='q'", "target.a.queue: must be written as [[queue]], not "),
        ("[target.a]\nconnect = 'x'\n[[target.a.queue]]\nname='q'", "target.a.queue[1]: needs an id, "),
        (
            "[target.a]\nconnect = 'x'\n[[target.a.queue]]\nname='q'\ntable='t'\nid='i'\nstate={column='s', redy=1}",
            "target.a.queue[1].state.redy: unknown key; did you mean ready?",
        ),
        (
            "[target.a]\nconnect = 'x'\n" + "[[target.a.queue]]\nname='q'\ntable='t'\nid='i'\n" * 2,
            "target.a.queue[2].name: there is a queue 'q' above already",
        ),
        ("[settings]\nintervall = '2s'", "settings.intervall: unknown key; did you mean interval?"),
        ("[settings]\ninterval = 'soon'", "settings.interval: 'soon' is not a duration: "),
        ("[settings]\ninterval = 0.1", "settings.interval: must be from 500ms to 1m"),
        ("[settings]\nbudget_percent = 0", "settings.budget_percent: must be more than 0 and at most 100"),
        ('[target.t]\nconnect = "x"\nbudget = "1"', 'target.t.budget: is like "1%" of one processor'),
    ],
)
def test_each_fault_is_one_line_with_file_and_key(text: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_config(text, PATH)
    assert str(caught.value).startswith(f"{PATH}: {message}")
    assert "\n" not in str(caught.value)


def test_the_usual_file_need_not_be_there_but_a_named_one_must(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = tmp_path / "qmon.toml"
    monkeypatch.setattr(file, "default_path", lambda: missing)
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


def test_a_name_of_the_file_comes_with_its_queues() -> None:
    chosen = choose("orders", parse_config(WHOLE, PATH), {})
    assert (chosen.target.name, chosen.target.engine, chosen.target.prod) == ("orders", "postgres", True)
    assert chosen.target.parameters == {"Server": "db1", "Database": "shop", "UID": "reader"}
    assert [layout.queue for layout in chosen.queues] == ["orders", "mails"]
    old = choose("old", parse_config(WHOLE, PATH), {}).target
    assert (old.engine, old.parameters, old.read_only) == ("sqlserver", {"DSN": "OldDsn"}, True)


def test_what_is_typed_may_be_a_url_or_a_connection_string() -> None:
    url = choose("postgresql://me@/shop?host=/tmp/s", EMPTY, {}).target
    assert (url.name, url.engine) == ("localhost/shop", "postgres")
    assert url.parameters == {"Server": "/tmp/s", "Database": "shop", "UID": "me"}
    text = choose("Driver={ODBC Driver 18 for SQL Server};Server=tcp:db1,1433;Database=shop;UID=me", EMPTY, {}).target
    assert (text.name, text.engine) == ("db1,1433/shop", "sqlserver")
    assert choose("DSN=x;UID=me", EMPTY, {}).target.name == "x"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the target is empty"),
        ("ordesr", "'ordesr' is neither a target of some/qmon.toml nor a DSN; did you mean orders?"),
        ("u:hush@h/d", "this is no target; a URL begins with postgresql:// or mssql://"),
        ("mysql://u:hush@h/d", "mysql:// is not a kind of URL that qmon knows"),
        ("Server=x;PWD=hush", "the connection string names neither a DRIVER nor a DSN"),
        ("DRIVER={x;PWD=hush", "the connection string is not KEYWORD=value"),
        ("DRIVER=x;pqopt={password=hush}", "a password inside pqopt is not taken; give it as PWD"),
        ("postgresql://u:hush@h:x/d", "the postgresql:// URL has no valid port"),
        ("postgresql://u:hush@h/d/e", "the postgresql:// URL has more than a database"),
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
        choose(text, parse_config(WHOLE, PATH), {})
    assert str(caught.value).startswith(message)
    assert "hush" not in str(caught.value)


# -------------------------------------------------------------------------------------------------------- secrets


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me:h%75sh@db1/shop",
        "postgresql://me@db1/shop?password=hush",
        "DRIVER=psqlodbcw.so;pwd={hush};UID=me",
    ],
)
def test_a_password_typed_with_the_target_is_taken_hidden_and_warned_about(text: str) -> None:
    chosen = choose(text, EMPTY, {"QMON_PASSWORD": "other"})
    assert chosen.target.password is not None
    assert chosen.target.password.reveal() == "hush"
    assert len(chosen.warnings) == 1
    assert "history" in chosen.warnings[0]
    everything = repr(chosen) + str(chosen) + repr(chosen.target.password) + f"{chosen.target.password:>9}"
    assert "hush" not in everything
    assert "hush" not in repr(dict(chosen.target.parameters))


@pytest.mark.parametrize("connect", ["postgresql://me:hush@db1/shop", "DRIVER=psqlodbcw.so;PWD=hush"])
def test_a_password_in_the_file_is_refused(connect: str) -> None:
    config = parse_config(f"[target.my-shop]\nconnect = '{connect}'", PATH)
    with pytest.raises(BadInput) as caught:
        choose("my-shop", config, {})
    assert "QMON_PASSWORD_MY_SHOP" in str(caught.value)
    assert "keyring set qmon my-shop" in str(caught.value)
    assert "hush" not in str(caught.value)


def test_a_fault_in_the_file_s_url_names_the_file() -> None:
    config = parse_config("[target.a]\nconnect = 'postgresql://u:hush@h:x/d'", PATH)
    with pytest.raises(BadInput, match=r"^some/qmon.toml: target.a.connect: the postgresql:// URL has no valid port"):
        choose("a", config, {})


def test_a_variable_that_would_be_the_password_of_two_targets_is_refused() -> None:
    config = parse_config(
        "".join(
            f"[target.{name}]\nconnect = 'postgresql://me@db1/x'\n" for name in ("orders-prod", "orders_prod", "b")
        ),
        PATH,
    )
    shared = {"QMON_PASSWORD_ORDERS_PROD": "hush", "QMON_PASSWORD": "hush, too", "QMON_PASSWORD_B": "b"}
    for name, other in (("orders-prod", "orders_prod"), ("orders_prod", "orders-prod")):
        with pytest.raises(BadInput) as caught:
            choose(name, config, shared)
        assert f"QMON_PASSWORD_ORDERS_PROD would be the password of {name} and of {other}" in str(caught.value)
        assert f"keyring set qmon {name}" in str(caught.value)
        assert "hush" not in str(caught.value)
        password = choose(name, config, {"QMON_PASSWORD": "one for all"}).target.password
        assert password is not None
    password = choose("b", config, shared).target.password
    assert password is not None
    assert password.reveal() == "b"


def test_the_password_of_a_configured_target_is_not_that_of_a_url_with_such_a_name() -> None:
    config = parse_config("[target.localhost-shop]\nconnect = 'postgresql://me@db1/x'\n", PATH)
    shared = {"QMON_PASSWORD_LOCALHOST_SHOP": "hush", "QMON_PASSWORD": "for all"}
    with pytest.raises(BadInput, match="QMON_PASSWORD_LOCALHOST_SHOP is the password of localhost-shop in") as caught:
        choose("postgresql://me@localhost/shop", config, shared)
    assert "hush" not in str(caught.value)
    for text, environment, found in (
        ("localhost-shop", shared, "hush"),
        ("postgresql://me@localhost/shop", {"QMON_PASSWORD": "for all"}, "for all"),
        ("postgresql://me@localhost/other", shared, "for all"),
        ("postgresql://me:mine@localhost/shop", shared, "mine"),
    ):
        password = choose(text, config, environment).target.password
        assert password is not None
        assert password.reveal() == found


def test_a_name_that_no_variable_can_hold_has_none_of_its_own() -> None:
    config = parse_config("[target.'заказы']\nconnect = 'postgresql://me@db1/x'\n", PATH)
    environment = {"QMON_PASSWORD_": "somebody's", "QMON_PASSWORD": "ours"}
    password = choose("заказы", config, environment).target.password
    assert password is not None
    assert password.origin == "the environment variable QMON_PASSWORD"

    def asks(_: Target) -> None:
        raise PasswordNeeded("the server asks")

    with pytest.raises(PasswordNeeded, match="asks; set QMON_PASSWORD, store it with 'keyring set qmon заказы'"):
        unlock(choose("заказы", config, {}).target, asks, ())


def test_the_most_particular_variable_counts() -> None:
    target = Target("orders-prod/ö", "postgres", {})
    every = {"QMON_PASSWORD_ORDERS_PROD": "1", "QMON_PASSWORD": "2", "PGPASSWORD": "3"}
    assert variable(target.name) == "QMON_PASSWORD_ORDERS_PROD"
    found = []
    while (secret := from_environment(target, every)) is not None:
        found.append((secret.reveal(), secret.origin))
        del every[secret.origin.split()[-1]]
    assert found == [
        ("1", "the environment variable QMON_PASSWORD_ORDERS_PROD"),
        ("2", "the environment variable QMON_PASSWORD"),
        ("3", "the environment variable PGPASSWORD"),
    ]
    assert from_environment(Target("x", "sqlserver", {}), {"PGPASSWORD": "3"}) is None


def test_a_password_is_got_only_when_the_server_asks() -> None:
    asked: list[str] = []

    def source(name: str, found: Secret | None) -> object:
        def get(target: Target) -> Secret | None:
            asked.append(name)
            return found

        return get

    def attempt(target: Target) -> str:
        if target.password is None:
            raise PasswordNeeded("asks")
        if target.password.reveal() != "right":
            raise Unreachable("wrong")
        return "connected"

    target = Target("a", "postgres", {})
    both = (source("keyring", None), source("prompt", Secret("right")))
    known = Target("a", "postgres", {}, password=Secret("right"))
    assert unlock(known, attempt, both)[1] == "connected"  # type: ignore[arg-type]
    assert asked == []
    unlocked, result = unlock(target, attempt, both)  # type: ignore[arg-type]
    assert (result, asked) == ("connected", ["keyring", "prompt"])
    assert attempt(unlocked) == "connected"
    with pytest.raises(Unreachable, match="wrong"):
        unlock(target, attempt, (source("keyring", Secret("no")),))  # type: ignore[arg-type]
    with pytest.raises(PasswordNeeded, match="asks; set QMON_PASSWORD_A, store it with 'keyring set qmon a'"):
        unlock(target, attempt, (source("keyring", None),))  # type: ignore[arg-type]


class Ring(keyring.backend.KeyringBackend):
    """A keyring in memory."""

    priority = 1.0
    kept: ClassVar[dict[tuple[str, str], str]] = {("qmon", "a"): "hush"}

    def get_password(self, service: str, username: str) -> str | None:
        if username == "locked":
            raise keyring.errors.KeyringLocked
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password


def test_the_keyring_is_asked_under_qmon_and_the_target_s_name() -> None:
    before = keyring.get_keyring()
    keyring.set_keyring(Ring())  # type: ignore[no-untyped-call]
    try:
        found = from_keyring(Target("a", "postgres", {}))
        assert found is not None
        assert (found.reveal(), found.origin) == ("hush", "keyring, service qmon, user a")
        assert from_keyring(Target("b", "postgres", {})) is None
        assert from_keyring(Target("locked", "postgres", {})) is None
    finally:
        keyring.set_keyring(before)


def test_on_a_terminal_the_password_is_typed_unseen() -> None:
    ours, theirs = pty.openpty()
    program = (
        "from qmon.config.secrets import from_prompt; from qmon.engines.base import Target; "
        "found = from_prompt(Target('shop', None, {})); print(found, found.reveal() == 'hush-hush', found.origin)"
    )
    asked = [sys.executable, "-c", program]
    with subprocess.Popen(asked, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, start_new_session=True) as child:
        os.close(theirs)
        shown = b""
        while b"Password for shop: " not in shown:
            shown += os.read(ours, 1024)
        os.write(ours, b"hush-hush\n")
        said, _ = child.communicate(timeout=30)
        with contextlib.suppress(OSError):  # the other side is closed: nothing more was shown
            while more := os.read(ours, 1024):
                shown += more
    os.close(ours)
    assert said == b"*** True typed\n"
    assert b"hush" not in shown


def test_without_a_terminal_nobody_is_asked() -> None:
    assert from_prompt(Target("a", "postgres", {})) is None


def test_a_target_goes_to_another_process_with_its_password() -> None:
    target = Target("a", "postgres", {}, password=Secret("hush", "typed"))
    copy = pickle.loads(pickle.dumps(target))  # noqa: S301
    assert copy == target
    assert copy.password.reveal() == "hush"


def test_a_target_has_a_budget_of_its_own_or_that_of_the_settings() -> None:
    text = '[settings]\nbudget_percent = 3\n[target.a]\nconnect = "postgresql://h/a"\nbudget = "100ms"\n'
    config = parse_config(text + '[target.b]\nconnect = "postgresql://h/b"\n', Path("qmon.toml"))
    assert choose("a", config, {}).target.budget == Budget(poll_ms=100.0)
    assert choose("b", config, {}).target.budget == Budget(0.03)
    assert choose("postgresql://h/c", config, {}).target.budget == Budget(0.03)


def test_the_file_of_what_is_usual_lies_beside_the_configuration_or_where_it_says() -> None:
    text = '[target.a]\nconnect = "postgresql://h/a"\nbaselines = "usual.json"\n'
    assert parse_config(text, Path("/etc/qmon.toml")).targets["a"].baselines == Path("/etc/usual.json")
    absolute = text.replace("usual.json", "/var/lib/usual.json")
    assert parse_config(absolute, Path("/etc/qmon.toml")).targets["a"].baselines == Path("/var/lib/usual.json")
    home = text.replace("usual.json", "~/usual.json")
    assert parse_config(home, Path("/etc/qmon.toml")).targets["a"].baselines == Path("~/usual.json").expanduser()
    with pytest.raises(BadInput, match=r"target\.a\.baselines: must be a text"):
        parse_config(text.replace('"usual.json"', "5"), Path("/etc/qmon.toml"))
