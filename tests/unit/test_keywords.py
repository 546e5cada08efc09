"""Connection strings, settings of libpq and URLs, as users and programs write them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.engines.base import Session, Target
from qmon.engines.drivers import MANAGER_HINT
from qmon.engines.odbc import OdbcText
from qmon.engines.odbc_keywords import (
    format_connection_string,
    format_conninfo,
    lookup_keyword,
    parse_connection_string,
    parse_conninfo,
    respell_keywords,
)
from qmon.engines.postgres.postgres_engine import DRIVER_SETTINGS, Postgres, _Introduction, _is_direct
from qmon.engines.urls import read_url

names = st.from_regex(r"[A-Za-z][A-Za-z_ ]{0,8}[A-Za-z]", fullmatch=True)
plain = st.text(st.characters(exclude_characters="\0"), max_size=12)


@given(st.dictionaries(names, plain, max_size=4).filter(lambda d: len({name.lower() for name in d}) == len(d)))
def test_keywords_come_back_as_they_were(keywords: dict[str, str]) -> None:
    assert parse_connection_string(format_connection_string(keywords)) == keywords


@given(st.dictionaries(st.from_regex(r"[a-z_]+", fullmatch=True), plain, max_size=4))
def test_settings_of_libpq_come_back_as_they_were(settings: dict[str, str]) -> None:
    assert parse_conninfo(format_conninfo(settings)) == settings


def test_the_first_of_a_repeated_keyword_counts() -> None:
    found = parse_connection_string(" ;DSN=a; dsn = b ;UID={};Database=x y;")
    assert found == {"DSN": "a", "UID": "", "Database": "x y"}
    assert lookup_keyword(found, "Nothing", "dATABASE") == "x y"
    assert lookup_keyword(found, "Nothing") is None


@pytest.mark.parametrize(
    ("url", "keywords", "place"),
    [
        ("postgresql://", {}, "localhost"),
        ("postgres://h", {"Server": "h"}, "h"),
        ("postgresql://u@h:5433/d", {"Server": "h", "Port": "5433", "Database": "d", "UID": "u"}, "h/d"),
        ("postgresql://u@[::1]:5433/d", {"Server": "::1", "Port": "5433", "Database": "d", "UID": "u"}, "::1/d"),
        ("postgresql://a:1,b:2/d", {"Server": "a,b", "Port": "1,2", "Database": "d"}, "a,b/d"),
        ("postgresql://u%40x@h/d%2Fe%23", {"Server": "h", "Database": "d/e#", "UID": "u@x"}, "h/d/e#"),
        ("postgresql:///d?host=/run/pg&user=u", {"Server": "/run/pg", "Database": "d", "UID": "u"}, "localhost/d"),
        ("postgresql://%2Frun%2Fpg/d", {"Server": "/run/pg", "Database": "d"}, "localhost/d"),
        (
            "postgresql://h/d?sslmode=verify-full&sslrootcert=/a%20b/c.crt",
            {"Server": "h", "Database": "d", "SSLmode": "verify-full", "pqopt": "sslrootcert='/a b/c.crt'"},
            "h/d",
        ),
    ],
)
def test_urls_say_where(url: str, keywords: dict[str, str], place: str) -> None:
    address = read_url(url, "a test")
    assert (address.keywords, address.place, address.password) == (keywords, place, None)


def test_names_travel_as_settings_of_libpq_which_take_any_characters() -> None:
    parameters = {"Server": "h", "UID": "a;b}'", "Database": "{", "pqopt": "connect_timeout=9", "DRIVER": "x"}
    found = Postgres().odbc_keywords(Target("t", "postgres", parameters), Session("poll", login_timeout_s=2.5))
    settings = parse_conninfo(found.pop("pqopt"))
    assert settings.items() >= {
        ("host", "h"),
        ("user", "a;b}'"),
        ("dbname", "{"),
        ("connect_timeout", "9"),
        ("application_name", "qmon poll"),
    }
    assert found == {**DRIVER_SETTINGS, "DRIVER": "x"}


def test_choosing_a_target_loads_no_driver() -> None:
    program = (
        "import sys; from pathlib import Path; from qmon.config.config_file import Config; "
        "from qmon.config.chosen_target import find_target; from qmon.engines.registry import engine_for; "
        "target = find_target('postgresql://u@h/d', Config(Path('x'))).target; "
        "print(engine_for(target).quote(('a', 'b')), 'pyodbc' in sys.modules, 'keyring' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == '"a"."b" False False'


def test_without_a_driver_manager_it_is_said_what_to_install() -> None:
    program = (
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'pyodbc':\n"
        "            raise ImportError('libodbc.so.2: cannot open shared object file: No such file or directory')\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from qmon.engines.base import Session, Target\n"
        "from qmon.engines.registry import engine_for\n"
        "from qmon.errors import MissingDriver\n"
        "target = Target('t', 'postgres', {'Server': 'h'})\n"
        "try:\n"
        "    engine_for(target).connect(target, Session())\n"
        "except MissingDriver as problem:\n"
        "    print(problem)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == OdbcText.NO_DRIVER_MANAGER.render(hint=MANAGER_HINT)


@pytest.mark.parametrize(
    ("source", "began_as", "age_s", "direct"),
    [
        ("client", "qmon poll", 1.5, True),
        ("client", "qmon poll", 1.6, False),
        ("client", "", 0.5, False),
        ("database", "qmon poll", 0.5, False),
    ],
)
def test_a_session_older_than_our_connection_or_begun_under_another_name_is_a_poolers(
    source: str, began_as: str, age_s: float, direct: bool
) -> None:
    found = _Introduction(18, 0, 61, "me", began_as, source, age_s, False, "pg_catalog, pg_temp", "UTF8")
    assert _is_direct(found, "qmon poll", took_s=0.5) is direct


def test_keywords_are_respelled_each_time_in_another_way_and_mean_the_same() -> None:
    given = {"DRIVER": "{x}", "UID": "Ada", "pqopt": "A b"}
    seen = [tuple(respell_keywords(given, number).items()) for number in range(1000)]
    assert len(set(seen)) == 1000
    assert seen[0] == tuple(given.items())
    assert {tuple((name.lower(), value) for name, value in each) for each in seen} == {
        (("driver", "{x}"), ("uid", "Ada"), ("pqopt", "A b"))
    }
