"""Every SQL file of the project is reachable and valid; versions select files; rendering quotes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from qmon.engines.base import EngineName, Query
from qmon.engines.sql import queries
from qmon.engines.sql.queries import Name, QueryText, SqlFile
from qmon.engines.sql.query_file import QueryFileText, parse_query
from qmon.engines.sql.query_text import QueryFileError
from qmon.engines.sqlserver.sqlserver_engine import _parse_version as version
from qmon.errors import BadInput
from tests.sqlfiles import each_folder
from tests.wordings import pattern


class Quoter:
    """Quotes as PostgreSQL does. Another test covers connecting."""

    name: EngineName = "postgres"

    def quote(self, parts: Sequence[str]) -> str:
        return ".".join('"' + part.replace('"', '""') + '"' for part in parts)

    def literal(self, text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    def connect(self, *_: object) -> object:
        raise AssertionError("nothing here connects")


def rendered(text: str, names: dict[str, Name]) -> tuple[str, tuple[str, ...]]:
    statement = queries.render(parse_query(text, "postgres", "action/x", "sql/x.sql"), names, Quoter())  # type: ignore[arg-type]
    return statement.text, statement.parameters


@each_folder(queries.all_files())
def test_every_file_is_parsed_and_reachable(files: tuple[SqlFile, ...]) -> None:
    for file in files:
        query = queries.read_query(file)
        assert query.purpose, file.path
        assert queries.load_query(file.engine, file.name, (max(file.since, 1), 0)) == query, file.path


def test_every_file_in_the_folder_is_known() -> None:
    folder = Path(str(queries.sql_folder()))
    found = {f"sql/{path.relative_to(folder).as_posix()}" for path in folder.rglob("*.sql")}
    assert found == {file.path for file in queries.all_files()}


def test_a_step_that_another_design_has_too_is_written_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for design in ("a", "b", "c", "d"):
        (tmp_path / "postgres" / "designs" / design).mkdir(parents=True)
    (tmp_path / "sqlserver").mkdir()
    steps = tmp_path / "postgres" / "designs"
    (steps / "a" / "01_x.sql").write_text("-- it\n-- {t}\nDROP TABLE {t}\n")
    (steps / "b" / "07_x.sql").write_text("-- same as a/01_x.sql\n")
    (steps / "c" / "01_x.sql").write_text("-- same as b/07_x.sql\n")
    (steps / "d" / "01_x.sql").write_text("-- same as a/02_y.sql\n")
    monkeypatch.setattr(queries, "sql_folder", lambda: tmp_path)
    cached = (queries.all_files, queries._files_by_name, queries.load_query)
    for function in cached:
        function.cache_clear()
    try:
        shared = queries.load_query("postgres", "design/b/07_x", (18, 0))
        assert (shared.name, shared.text) == ("design/b/07_x", "DROP TABLE {t}")
        assert shared.names == {"t"}
        with pytest.raises(QueryFileError, match=pattern(QueryFileText.NO_STATEMENT)):
            queries.load_query("postgres", "design/c/01_x", (18, 0))
        with pytest.raises(QueryFileError, match=pattern(QueryText.NO_STEP, file="sql/postgres/designs/d/01_x.sql")):
            queries.load_query("postgres", "design/d/01_x", (18, 0))
    finally:
        for function in cached:
            function.cache_clear()


def test_what_is_for_later_versions_only_is_not_there_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    probes = tmp_path / "postgres" / "probes"
    probes.mkdir(parents=True)
    (tmp_path / "sqlserver").mkdir()
    for suffix, value in (("", 0), (".since_14", 14), (".since_9", 9)):
        (probes / f"a{suffix}.sql").write_text(f"-- x\n-- > a  it\nSELECT {value} AS a\n")
    (probes / "b.since_16.sql").write_text("-- x\n-- > a  it\nSELECT 1 AS a\n")
    for function in (queries.all_files, queries._files_by_name, queries.load_query):
        function.cache_clear()
    monkeypatch.setattr(queries, "sql_folder", lambda: tmp_path)
    try:
        chosen = {major: queries.load_query("postgres", "probe/a", (major, 3)).text for major in (8, 9, 13, 14, 18)}
        assert chosen == {8: "SELECT 0 AS a", 9: "SELECT 9 AS a", 13: "SELECT 9 AS a"} | {
            major: "SELECT 14 AS a" for major in (14, 18)
        }
        assert not queries.has_query("postgres", "probe/b", (15, 9))
        assert queries.has_query("postgres", "probe/b", (16, 0))
        with pytest.raises(
            QueryFileError,
            match=pattern(
                QueryText.NO_QUERY, query="probe/b", engine="postgres", hint=QueryText.BEFORE_VERSION.render(version=16)
            ),
        ):
            queries.load_query("postgres", "probe/b", (15, 9))
        (probes / "c-d.sql").write_text("-- x\nSELECT 1\n")
        queries.all_files.cache_clear()
        with pytest.raises(QueryFileError, match=r"sql/postgres/probes/c-d\.sql"):
            queries.all_files()
    finally:
        for function in (queries.all_files, queries._files_by_name, queries.load_query):
            function.cache_clear()


# Servers, and their version; for the two in Azure, `catalog/session_watch` returns it.
PRODUCTS: Final[dict[EngineName, dict[str, tuple[int, int]]]] = {
    "postgres": {f"PostgreSQL {major}": (major, 3) for major in range(13, 19)},
    "sqlserver": {
        "SQL Server 2008 R2": version("10.50.6000.34"),
        "SQL Server 2012": version("11.0.7001.0"),
        "SQL Server 2014": version("12.0.6449.1"),
        "SQL Server 2016": version("13.0.6300.2"),
        "SQL Server 2017": version("14.0.3456.2"),
        "SQL Server 2019": version("15.0.4236.7"),
        "SQL Server 2022": version("16.0.4135.4"),
        "SQL Server 2025": version("17.0.1000.7"),
        "Azure SQL Managed Instance": version("16.0"),
        "Azure SQL Database": version("100.0"),
        "Azure SQL Database Basic": version("101.0"),
    },
}


def in_folder(engine: EngineName) -> dict[str, dict[int, str]]:
    """Return every query that has files for several versions: the path by first version."""
    folder = Path(str(queries.sql_folder()))
    found: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for path in (folder / engine).rglob("*.sql"):
        stem, _, since = path.stem.partition(".since_")
        kind, *rest = path.relative_to(folder / engine).with_name(stem).parts
        found["/".join((queries.FOLDER_KINDS[kind], *rest))][int(since or 0)] = (
            f"sql/{path.relative_to(folder).as_posix()}"
        )
    return {name: files for name, files in found.items() if set(files) != {0}}


SEVERAL: Final = [(engine, name, files) for engine in queries.ENGINES for name, files in in_folder(engine).items()]


@pytest.mark.parametrize(
    ("engine", "name", "files"), SEVERAL, ids=lambda value: value if isinstance(value, str) else ""
)
def test_each_version_gets_its_file_and_the_one_before_it_another(
    engine: EngineName, name: str, files: dict[int, str]
) -> None:
    for first in files:
        if first:
            taken(engine, name, (first, 0), files, first)
            taken(engine, name, (first - 1, 99), files, max((each for each in files if each < first), default=None))
    for product, is_version in PRODUCTS[engine].items():
        fitting = [each for each in files if each <= is_version[0]]
        assert "Azure SQL Database Basic" not in product or max(fitting) == max(files)
        taken(engine, name, is_version, files, max(fitting, default=None))


def taken(engine: EngineName, name: str, of: tuple[int, int], files: dict[int, str], wanted: int | None) -> None:
    """Check that a server of version ``of`` gets the file of version ``wanted``; ``None``: it gets none."""
    assert queries.has_query(engine, name, of) == (wanted is not None)
    if wanted is None:
        with pytest.raises(
            QueryFileError,
            match=pattern(
                QueryText.NO_QUERY, query=name, engine=engine, hint=QueryText.BEFORE_VERSION.render(version=min(files))
            ),
        ):
            queries.load_query(engine, name, of)
    else:
        (file,) = (each for each in queries.all_files() if each.path == files[wanted])
        assert queries.load_query(engine, name, of) == queries.read_query(file)


def test_there_are_files_for_several_versions_of_both_engines() -> None:
    assert {(engine, max(files)) for engine, _, files in SEVERAL} >= {("sqlserver", 101), ("sqlserver", 100)}
    assert {engine for engine, *_ in SEVERAL} == set(queries.ENGINES)
    for name in ("session_watch", "session_act"):
        text = " ".join(queries.load_query("sqlserver", f"catalog/{name}", (11, 0)).text.split())
        azure = "CASE @restricted WHEN 1 THEN N'101.0' ELSE N'100.0' END"
        assert f"CAST(SERVERPROPERTY('EngineEdition') AS int) IN (5, 12) THEN {azure}" in text
        assert "EngineEdition') AS int) = 8 AND CAST(SERVERPROPERTY('ProductVersion')" in text
        assert "LIKE N'12.%' THEN N'16.0'" in text


def test_an_unknown_query_or_design_is_named() -> None:
    with pytest.raises(QueryFileError, match=pattern(QueryText.NO_QUERY, query="probe/nothing", engine="postgres")):
        queries.load_query("postgres", "probe/nothing", (18, 0))
    with pytest.raises(BadInput, match=pattern(QueryText.NO_DESIGN, design="nothing", engine="postgres")):
        queries.design_files("postgres", "nothing", (18, 0))


def test_designs_install_in_order_without_the_uninstall_file() -> None:
    for engine in queries.ENGINES:
        for design in queries.designs(engine):
            names = [query.name for query in queries.design_files(engine, design, (18, 0))]
            switch = [name for name in names if name.startswith("switch/")]
            assert names == sorted(switch) + sorted(set(names) - set(switch))
            assert len(names) > len(switch) == 2
            assert queries.load_query(engine, f"design/{design}/uninstall", (18, 0)).name not in names


def test_a_value_used_twice_is_bound_twice() -> None:
    text, parameters = rendered("-- x\n-- :a\n-- :b\nSELECT :a, :b, :a::int, 'it: :a'", {})
    assert text == "/* qmon action/x */\nSELECT ?, ?, ?::int, 'it: :a'"
    assert parameters == ("a", "b", "a")


@pytest.mark.parametrize(
    ("used", "value", "expected"),
    [
        ("{n}", "a", '"a"'),
        ("{n}", ("s", "a"), '"s"."a"'),
        ("{n}", '"; drop table x; --', '"""; drop table x; --"'),
        ("{n}", "{m} :v ?", '"{m} :v ?"'),
        ("{n?}", None, "NULL"),
        ("{n?}", "a", '"a"'),
        ("{n!literal}", ("it's", "a"), "'\"it''s\".\"a\"'"),
        ("{n?!literal}", None, "NULL"),
        ("{n!int}", 1024, "1024"),
        ("{n!int}", -1, "-1"),
        ("{n!list}", ("a", 'b"'), '"a", "b"""'),
        ("{n!list.q}", ("a", "b"), 'q."a", q."b"'),
        ("{n!set.q}", ("a", "b"), '"a" = q."a", "b" = q."b"'),
    ],
)
def test_names_are_quoted(used: str, value: Name, expected: str) -> None:
    declared = "{n?}" if "?" in used else "{n}"
    assert rendered(f"-- x\n-- {declared}\nSELECT {used}", {"n": value})[0] == f"/* qmon action/x */\nSELECT {expected}"


@pytest.mark.parametrize(
    ("used", "names", "part"),
    [
        ("{n}", {}, pattern(QueryText.NAMES_MISSING, names="n")),
        ("{n}", {"n": "a", "o": "b"}, pattern(QueryText.NAMES_UNUSED, names="o")),
        ("{n}", {"n": None}, pattern(QueryText.LAYOUT_LACKS, name="n")),
        ("{n}", {"n": 5}, pattern(QueryText.NEEDS_IDENTIFIER, name="n")),
        ("{n!int}", {"n": "5"}, pattern(QueryText.NEEDS_WHOLE_NUMBER, name="n")),
        ("{n!int}", {"n": True}, pattern(QueryText.NEEDS_WHOLE_NUMBER, name="n")),
        ("{n!int}", {"n": None}, pattern(QueryText.LAYOUT_LACKS, name="n")),
        ("{n!list}", {"n": "a"}, pattern(QueryText.NEEDS_COLUMNS, name="n")),
    ],
)
def test_wrong_names_are_refused(used: str, names: dict[str, Name], part: str) -> None:
    with pytest.raises(BadInput, match=part):
        rendered(f"-- x\n-- {{n}}\nSELECT {used}", names)


def test_a_query_is_compiled_once() -> None:
    query: Query = parse_query("-- x\n-- {t}\nSELECT {t}", "postgres", "action/x", "sql/x.sql")
    statements = {queries.render(query, {"t": "a"}, Quoter()).text for _ in range(3)}  # type: ignore[arg-type]
    assert statements == {'/* qmon action/x */\nSELECT "a"'}
