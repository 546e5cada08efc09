"""DSNs, and detection of the engine of a target."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from qmon.config.chosen_target import TargetText, find_target
from qmon.config.config_file import Config
from qmon.engines.base import Session, Target
from qmon.engines.odbc_keywords import parse_conninfo
from qmon.engines.postgres.postgres_engine import DRIVER_FOLDERS, DRIVER_LIBRARY, Postgres
from qmon.engines.postgres.postgres_errors import PostgresErrorText
from qmon.engines.registry import engine_for, engine_named
from qmon.errors import BadInput, MissingDriver
from tests.contract.engines import opened, sql
from tests.facts import odbc
from tests.wordings import pattern


@pytest.fixture
def ini(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of ODBC settings with two DSNs to the database; one driver's name does not show the engine."""
    parts = urlsplit(database)
    where = {name: values[0] for name, values in parse_qs(parts.query).items()}
    common = (
        f"Servername={where['host']}\nPort={where['port']}\nDatabase={parts.path[1:]}\nUsername=postgres\n"
        "pqopt=options='-c work_mem=7MB'\n"
    )
    enigma = tmp_path / "enigma.so"
    enigma.symlink_to(next(path for folder in DRIVER_FOLDERS if (path := Path(folder, DRIVER_LIBRARY)).is_file()))
    drivers = {"plain": "PostgreSQL Unicode", "odd": str(enigma)}
    sections = [f"[{name}]\nDriver={driver}\n{common}" for name, driver in drivers.items()]
    (tmp_path / "odbc.ini").write_text("".join(sections))
    monkeypatch.setenv("ODBCINI", str(tmp_path / "odbc.ini"))
    return tmp_path


@pytest.mark.parametrize(("dsn", "known"), [("plain", "postgres"), ("odd", None)])
def test_a_dsn_is_enough(ini: Path, dsn: str, known: str | None) -> None:
    target = find_target(dsn, Config(ini / "qmon.toml"), {}).target
    assert (target.name, target.engine) == (dsn, known)
    assert engine_for(target) is engine_named("postgres")
    with opened(dsn, Session("poll", statement_timeout_s=3)) as connection:
        for name, value in (("application_name", "qmon poll"), ("statement_timeout", "3s"), ("work_mem", "7MB")):
            assert connection.fetch(sql(f"SHOW {name}")).rows == ((value,),)
        assert connection.fetch(sql("SELECT true AS yes")).rows == ((True,),)


def test_a_dsn_in_a_connection_string_may_be_overruled(ini: Path) -> None:
    with pytest.raises(Exception, match=pattern(PostgresErrorText.NO_DATABASE)), opened("DSN=odd;Database=elsewhere"):
        pass


def test_settings_in_a_file_dsn_are_kept_and_a_search_path_in_it_comes_before_ours(ini: Path) -> None:
    # The driver managers handle the file differently: unixODBC passes none of it to the driver.
    file = ini / "file.dsn"
    file.write_text("[ODBC]\nDRIVER=PostgreSQL Unicode\npqopt=options='-c search_path=public -c work_mem=9MB'\n")
    keywords = Postgres().odbc_keywords(Target("t", "postgres", {"FILEDSN": str(file)}), Session("poll"))
    options = parse_conninfo(keywords["pqopt"])["options"]
    assert options.startswith("-c search_path=public -c work_mem=9MB -c search_path=pg_catalog,\\ pg_temp ")
    assert keywords["FILEDSN"] == str(file)


def test_a_driver_is_found_in_a_folder_of_any_name(database: str, tmp_path: Path) -> None:
    library = tmp_path / "trëiber ✓" / DRIVER_LIBRARY
    library.parent.mkdir()
    library.symlink_to(next(path for folder in DRIVER_FOLDERS if (path := Path(folder, DRIVER_LIBRARY)).is_file()))
    with opened(odbc(database).replace("Driver=PostgreSQL Unicode", f"Driver={library}")) as connection:
        assert connection.fetch(sql("SELECT true AS yes")).rows == ((True,),)


def test_a_mistyped_dsn_is_put_right(ini: Path) -> None:
    with pytest.raises(BadInput, match=pattern(TargetText.UNKNOWN, name="plian")):
        find_target("plian", Config(ini / "qmon.toml"), {})


def test_no_driver_is_found_where_none_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from qmon.engines import odbc
    from qmon.engines.postgres import postgres_engine

    monkeypatch.setattr(odbc, "installed_drivers", lambda: ("FreeTDS",))
    library = tmp_path / "psqlodbcw.so"
    monkeypatch.setattr(postgres_engine, "DRIVER_FOLDERS", (str(tmp_path),))
    with pytest.raises(MissingDriver, match="apt install odbc-postgresql"):
        postgres_engine.find_driver()
    library.touch()
    assert postgres_engine.find_driver() == str(library)
