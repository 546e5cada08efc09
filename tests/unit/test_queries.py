"""Every SQL file of the project is reachable and as it should be; versions choose; rendering quotes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from qmon.engines import queries
from qmon.engines.base import EngineName, Query
from qmon.engines.queries import Name, SqlFile
from qmon.engines.sqlfile import parse
from qmon.engines.sqltext import QueryFileError
from qmon.errors import BadInput


class Quoter:
    """Quotes as PostgreSQL does; connecting is another test's business."""

    name: EngineName = "postgres"

    def quote(self, parts: Sequence[str]) -> str:
        return ".".join('"' + part.replace('"', '""') + '"' for part in parts)

    def literal(self, text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    def connect(self, *_: object) -> object:
        raise AssertionError("nothing here connects")


def rendered(text: str, names: dict[str, Name]) -> tuple[str, tuple[str, ...]]:
    statement = queries.render(parse(text, "postgres", "action/x", "sql/x.sql"), names, Quoter())  # type: ignore[arg-type]
    return statement.text, statement.parameters


@pytest.mark.parametrize("file", queries.all_files(), ids=lambda file: file.path)
def test_every_file_is_parsed_and_reachable(file: SqlFile) -> None:
    query = queries.read(file)
    assert query.purpose
    assert queries.load(file.engine, file.name, (max(file.since, 1), 0)) == query


def test_every_file_in_the_folder_is_known() -> None:
    folder = Path(str(queries.root()))
    found = {f"sql/{path.relative_to(folder).as_posix()}" for path in folder.rglob("*.sql")}
    assert found == set(queries.all_paths())


def test_a_step_that_another_design_has_too_is_written_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for design in ("a", "b", "c", "d"):
        (tmp_path / "postgres" / "designs" / design).mkdir(parents=True)
    (tmp_path / "sqlserver").mkdir()
    steps = tmp_path / "postgres" / "designs"
    (steps / "a" / "01_x.sql").write_text("-- it\n-- {t}\nDROP TABLE {t}\n")
    (steps / "b" / "07_x.sql").write_text("-- same as a/01_x.sql\n")
    (steps / "c" / "01_x.sql").write_text("-- same as b/07_x.sql\n")
    (steps / "d" / "01_x.sql").write_text("-- same as a/02_y.sql\n")
    monkeypatch.setattr(queries, "root", lambda: tmp_path)
    cached = (queries.all_files, queries._by_name, queries.load)
    for function in cached:
        function.cache_clear()
    try:
        shared = queries.load("postgres", "design/b/07_x", (18, 0))
        assert (shared.name, shared.text) == ("design/b/07_x", "DROP TABLE {t}")
        assert shared.names == {"t"}
        with pytest.raises(QueryFileError, match="there is no statement"):
            queries.load("postgres", "design/c/01_x", (18, 0))
        with pytest.raises(QueryFileError, match=r"designs/d/01_x\.sql:1: .*a/02_y\.sql, but that is no step"):
            queries.load("postgres", "design/d/01_x", (18, 0))
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
    for function in (queries.all_files, queries._by_name, queries.load):
        function.cache_clear()
    monkeypatch.setattr(queries, "root", lambda: tmp_path)
    try:
        chosen = {major: queries.load("postgres", "probe/a", (major, 3)).text for major in (8, 9, 13, 14, 18)}
        assert chosen == {8: "SELECT 0 AS a", 9: "SELECT 9 AS a", 13: "SELECT 9 AS a"} | {
            major: "SELECT 14 AS a" for major in (14, 18)
        }
        assert not queries.exists("postgres", "probe/b", (15, 9))
        assert queries.exists("postgres", "probe/b", (16, 0))
        with pytest.raises(QueryFileError, match="no probe/b for postgres before version 16"):
            queries.load("postgres", "probe/b", (15, 9))
        (probes / "c-d.sql").write_text("-- x\nSELECT 1\n")
        queries.all_files.cache_clear()
        with pytest.raises(QueryFileError, match=r"sql/postgres/probes/c-d\.sql"):
            queries.all_files()
    finally:
        for function in (queries.all_files, queries._by_name, queries.load):
            function.cache_clear()


def test_an_unknown_query_or_design_is_named() -> None:
    with pytest.raises(QueryFileError, match="no probe/nothing for postgres"):
        queries.load("postgres", "probe/nothing", (18, 0))
    with pytest.raises(BadInput, match="no design 'nothing' for postgres"):
        queries.design_files("postgres", "nothing", (18, 0))


def test_designs_install_in_order_without_the_uninstall_file() -> None:
    for engine in queries.ENGINES:
        for design in queries.designs(engine):
            names = [query.name for query in queries.design_files(engine, design, (18, 0))]
            switch = [name for name in names if name.startswith("switch/")]
            assert names == sorted(switch) + sorted(set(names) - set(switch))
            assert len(names) > len(switch) == 2
            assert queries.load(engine, f"design/{design}/uninstall", (18, 0)).name not in names


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
        ("{n}", {}, "needs a name for n"),
        ("{n}", {"n": "a", "o": "b"}, "no use for o"),
        ("{n}", {"n": None}, "cannot do without n"),
        ("{n}", {"n": 5}, "takes an identifier for n"),
        ("{n!int}", {"n": "5"}, "whole number for n"),
        ("{n!int}", {"n": True}, "whole number for n"),
        ("{n!int}", {"n": None}, "cannot do without n"),
        ("{n!list}", {"n": "a"}, "a list of columns for n"),
    ],
)
def test_wrong_names_are_refused(used: str, names: dict[str, Name], part: str) -> None:
    with pytest.raises(BadInput, match=part):
        rendered(f"-- x\n-- {{n}}\nSELECT {used}", names)


def test_a_query_is_compiled_once() -> None:
    query: Query = parse("-- x\n-- {t}\nSELECT {t}", "postgres", "action/x", "sql/x.sql")
    statements = {queries.render(query, {"t": "a"}, Quoter()).text for _ in range(3)}  # type: ignore[arg-type]
    assert statements == {'/* qmon action/x */\nSELECT "a"'}
