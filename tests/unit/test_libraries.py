"""The catalog of libraries: each file is read, and its tables are recognized."""

from __future__ import annotations

from pathlib import Path

import pytest

from qmon.errors import BadInput
from qmon.libraries.library import Library, LibraryFileText, library_from_dict, with_prefix
from qmon.libraries.library_catalog import all_libraries
from qmon.libraries.recognition import (
    Columns,
    RecognitionText,
    explain_recognition,
    may_belong_to_library,
    recognize_libraries,
)
from qmon.model.config_reader import KeyText
from qmon.model.groups.group_parser import GroupText
from qmon.model.layout.layout_io import LayoutText
from tests.library_tables import tables
from tests.wordings import has, pattern

KNOWN = all_libraries(Path("/nowhere"))
NAMED = [library for library in KNOWN if library.tables]


@pytest.mark.parametrize("library", NAMED, ids=lambda library: f"{library.name}-{library.engine}")
def test_its_tables_are_recognised_and_no_other_librarys(library: Library) -> None:
    for prefix in library.prefixes:
        found = recognize_libraries(KNOWN, library.engine, {"app": tables(library, prefix)})
        assert [each.library.name for each in found] == [library.name]
        assert found[0].groups
        assert all(group.schema == "app" and group.name.startswith(library.name) for group in found[0].groups)


@pytest.mark.parametrize("library", NAMED, ids=lambda library: f"{library.name}-{library.engine}")
def test_a_column_that_is_missing_makes_it_another_table(library: Library) -> None:
    given = tables(library, library.prefixes[0])
    name = with_prefix(next(iter(library.tables)), library.prefixes[0])
    given[name] = dict(list(given[name].items())[1:])
    assert recognize_libraries([library], library.engine, {"app": given}) == ()


@pytest.mark.parametrize("library", KNOWN, ids=lambda library: f"{library.name}-{library.engine}")
def test_it_says_where_to_read_on_and_how_it_was_tested(library: Library) -> None:
    assert library.docs.startswith("https://")
    assert library.tested


def test_a_file_of_the_user_adds_one_or_takes_the_place_of_one(tmp_path: Path) -> None:
    text = 'name = "oban"\n[tables]\nown_jobs = ["id"]\n[[group]]\ntable = "own_jobs"\nid = "id"\n'
    text += '[[group.state]]\nname = "ready"\nwhen = { state = "new" }\n'
    (tmp_path / "own.toml").write_text(text)
    found = {(library.name, library.engine): library for library in all_libraries(tmp_path)}
    assert len(found) == len(KNOWN)
    assert found["oban", "postgres"].tables == {"own_jobs": ("id",)}
    assert may_belong_to_library("own_jobs", found.values())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("name = ", "own.toml: Invalid value"),
        ('name = "x"\n', pattern(LibraryFileText.NEEDS_TABLES, where="own.toml")),
        ('name = "x"\n[tables]\nt = "id"\n', pattern(LibraryFileText.NEEDS_GROUP, where="own.toml")),
        (
            'name = "x"\n[tables]\nt = "id"\n[[group]]\ntable = "t"\n',
            pattern(GroupText.NEEDS_READY, where="own.toml: group[1]"),
        ),
        (
            'name = "x"\n[[queue]]\ndesign = "fifo"\n',
            pattern(LibraryFileText.NEEDS_COLUMNS, where="own.toml: queue[1]"),
        ),
        (
            'name = "x"\n[[queue]]\ncolumns = { a = "int" }\n',
            pattern(KeyText.MISSING, path="own.toml: queue[1]", name=LayoutText.ID_OR_DESIGN),
        ),
        (
            'name = "x"\n[[queue]]\ncolumns = { a = 1 }\ndesign = "fifo"\n',
            pattern(KeyText.NOT_A_TEXT, path="own.toml: queue[1].columns.a", kind=KeyText.WHOLE_NUMBER),
        ),
        ('name = "x"\n[[queue]]\ncolumns = { a = "int" }\nlibrary = "y"\n', r"own.toml: queue\[1\].library"),
    ],
)
def test_each_fault_of_such_a_file_is_named(tmp_path: Path, text: str, fault: str) -> None:
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(BadInput, match=fault):
        all_libraries(tmp_path)


def test_without_the_table_of_workers_nobody_is_called_gone() -> None:
    library = next(each for each in KNOWN if each.name == "oban")
    alone = tables(library, "")
    found = [
        recognize_libraries(KNOWN, "postgres", {"app": given}) for given in (alone, alone | {"oban_producers": {}})
    ]
    assert [each[0].groups[0].gone is None for each in found] == [True, False]


def test_what_is_missing_is_explained() -> None:
    library = next(each for each in KNOWN if each.name == "procrastinate")
    whole = tables(library, "")
    old = {name: kind for name, kind in whole["procrastinate_jobs"].items() if name != "attempts"}
    given: dict[str, dict[str, Columns]] = {"app": whole, "old": {"procrastinate_jobs": old}}
    assert explain_recognition([library], "postgres", given) == (
        RecognitionText.LINE.render(
            library="procrastinate",
            schema="app",
            result=RecognitionText.RECOGNIZED.render(tables="procrastinate_events, procrastinate_jobs"),
        ),
        RecognitionText.LINE.render(
            library="procrastinate",
            schema="old",
            result=RecognitionText.NOT_RECOGNIZED.render(
                reasons=f"{RecognitionText.NO_COLUMNS.render(table='procrastinate_jobs', columns='attempts')}; "
                f"{RecognitionText.NO_TABLE.render(table='procrastinate_events')}"
            ),
        ),
    )
    assert explain_recognition([library], "postgres", {"app": {"orders": {"id": "bigint"}}}) == ()


def test_tables_in_two_schemas_are_two() -> None:
    library = next(each for each in KNOWN if each.name == "pg-boss")
    both = {schema: tables(library, "") for schema in ("a", "b")}
    found = recognize_libraries(KNOWN, "postgres", both)
    assert [group.name for each in found for group in each.groups] == ["a.pg-boss", "b.pg-boss"]


def test_the_first_group_of_a_library_is_read_when_the_file_is() -> None:
    raw = {"name": "x", "tables": {"t": "id"}, "group": [{"table": "t", "id": "id", "state": [{"name": "ready"}]}]}
    with pytest.raises(BadInput, match=pattern(GroupText.NEEDS_WHEN)):
        library_from_dict(raw, "x.toml")


@pytest.mark.parametrize("engine", ["postgres", "sqlserver"])
def test_a_table_of_its_names_with_times_of_another_type_is_not_its(engine: str) -> None:
    library = next(each for each in KNOWN if (each.name, each.engine) == ("laravel", engine))
    given = tables(library, "")
    kind = "timestamp with time zone" if engine == "postgres" else "datetime2"
    other = given | {"jobs": {**given["jobs"], "available_at": kind, "reserved_at": kind}}
    assert recognize_libraries([library], engine, {"app": other}) == ()
    (line,) = explain_recognition([library], engine, {"app": other})
    for column in ("jobs.available_at", "jobs.reserved_at"):
        assert has(line, RecognitionText.OTHER_TYPE, column=column, type=kind, library="laravel")
