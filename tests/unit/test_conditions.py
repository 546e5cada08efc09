"""Conditions on rows as SQL: every value bound, every name quoted, in the order of the question marks."""

from __future__ import annotations

import re

import pytest

from qmon.engines.base import Engine
from qmon.engines.postgres.postgres_engine import Postgres
from qmon.engines.sql.condition_sql import RowColumn, RowCondition, row_sql
from qmon.engines.sqlserver.sqlserver_engine import SqlServer, SqlServerText
from qmon.errors import BadInput
from qmon.model.groups.conditions import (
    AdvisoryLock,
    AllOf,
    AnyOf,
    ColumnRef,
    Compared,
    Condition,
    Contains,
    Exists,
    IsNull,
    LaterOf,
    Lookup,
    OneOf,
    Renamed,
    Shift,
    Timed,
)
from qmon.model.groups.group import Group
from qmon.model.layout.layout import ObjectName
from qmon.model.layout.time_zones import NUMBER_ZONES, UTC_ZONE, Zone
from tests.wordings import pattern

HOSTILE = "a]\"]b'; drop table x; --"
BOTH: list[Engine] = [Postgres(), SqlServer()]
LOOKUP = Lookup("workers", "id", "worker", "max", OneOf(ColumnRef("kind"), ("w",)))
ALL: dict[str, Condition] = {
    "one": OneOf(ColumnRef(HOSTILE), ("new",)),
    "several": OneOf(ColumnRef(HOSTILE), ("new", 1)),
    "none": OneOf(ColumnRef(HOSTILE), ("new",), negated=True),
    "null": IsNull(ColumnRef(HOSTILE)),
    "number": Compared(ColumnRef(HOSTILE), ">=", 5),
    "column": Compared(ColumnRef(HOSTILE), "<", ColumnRef("most")),
    "past": Timed(ColumnRef(HOSTILE), "<="),
    "late": Timed(ColumnRef(HOSTILE), "<=", 30.0),
    "its own": Timed(ColumnRef(HOSTILE), ">", ColumnRef("seconds")),
    "elsewhere": Exists(HOSTILE, "id", ColumnRef("worker"), OneOf(ColumnRef("kind"), ("w",))),
    "nowhere": Exists(HOSTILE, "id", ColumnRef("worker"), negated=True),
    "contains": Contains(ColumnRef(HOSTILE), HOSTILE),
    "holds the bytes of": Contains(ColumnRef(HOSTILE), HOSTILE, binary=True),
    "looked up": IsNull(ColumnRef("beat", lookup=LOOKUP), negated=True),
    "in JSON": OneOf(ColumnRef(HOSTILE, path=("a", "b")), ("new", 1)),
    "a number in JSON": Compared(ColumnRef(HOSTILE, path=("a",)), "<", ColumnRef("most", path=("b",))),
    "a time in JSON": Timed(ColumnRef(HOSTILE, path=("a",)), "<="),
    "later by seconds": Timed(ColumnRef(HOSTILE, changes=(Shift(60.0),)), "<="),
    "earlier by a column": Timed(ColumnRef(HOSTILE, changes=(Shift(ColumnRef("delay"), back=True),)), ">", 5.0),
    "the later time": Timed(
        ColumnRef("beat", lookup=LOOKUP, changes=(LaterOf((ColumnRef(HOSTILE, changes=(Shift(60.0),)),)),)), "<="
    ),
    "another name": OneOf(ColumnRef("kind", lookup=LOOKUP, changes=(Renamed((("*.DQ", "*"), ("x", "y"))),)), ("new",)),
}


def group(zone: Zone = UTC_ZONE) -> Group:
    """Return a group whose times have this meaning."""
    return Group("jobs", ObjectName("s", "jobs"), "id", (), times=zone.name)


def sql(engine: Engine, condition: Condition, zone: Zone = UTC_ZONE) -> tuple[str, list[object]]:
    """Return the text, and the values in their order."""
    text, values = row_sql(engine, RowCondition(condition, group(zone), "jobs"), "rows")
    return text, list(values.values())


@pytest.mark.parametrize("engine", BOTH, ids=lambda engine: engine.name)
@pytest.mark.parametrize("zone", [UTC_ZONE, *NUMBER_ZONES.values()], ids=lambda zone: zone.name)
@pytest.mark.parametrize("condition", ALL.values(), ids=ALL)
def test_no_value_is_in_the_text_and_no_name_leaves_its_quotes(
    condition: Condition, zone: Zone, engine: Engine
) -> None:
    text, values = sql(engine, condition, zone)
    assert text.count("?") == len(values)
    bare = text.replace(engine.quote((HOSTILE,)), "").replace(engine.quote(("s", HOSTILE)), "")
    assert "drop" not in bare
    assert not {"new", "w"} & set(re.findall(r"\w+", bare.lower()))


def test_values_come_in_the_order_of_their_marks() -> None:
    looked_up = Timed(ColumnRef("beat", lookup=LOOKUP), "<=", 30.0)
    text, values = sql(
        Postgres(), AllOf((OneOf(ColumnRef("state"), ("a", "b")), looked_up, OneOf(ColumnRef("n"), (7,))))
    )
    assert values == ["a", "b", "w", 30.0, 7]
    assert text.index('"state"') < text.index('"kind"') < text.index("make_interval") < text.index('"n"')


def test_an_advisory_lock_is_asked_of_postgres_alone() -> None:
    text, values = sql(Postgres(), AdvisoryLock(ColumnRef(HOSTILE), negated=True))
    assert text.startswith(f"NOT (q.{Postgres().quote((HOSTILE,))} IN (SELECT ")
    assert values == []
    with pytest.raises(BadInput, match=pattern(SqlServerText.NO_ADVISORY_LOCKS)):
        sql(SqlServer(), AdvisoryLock(ColumnRef("id")))


def test_nothing_said_is_true_and_none_of_nothing_is_false() -> None:
    assert sql(Postgres(), AllOf(())) == ("(1 = 1)", [])
    assert sql(Postgres(), AnyOf(())) == ("(1 = 0)", [])


def test_a_negated_list_holds_for_null() -> None:
    text, _ = sql(Postgres(), OneOf(ColumnRef("state"), ("a",), negated=True))
    assert text == '(q."state" IS NULL OR q."state" NOT IN (?))'


def test_a_column_of_the_row_referred_to_is_one_value() -> None:
    text, values = row_sql(Postgres(), RowColumn(ColumnRef("beat", lookup=LOOKUP), group(), "jobs"), "since")
    found = 'SELECT MAX(qx."beat") FROM "s"."workers" AS qx WHERE qx."id" = q."worker" AND qx."kind" = ?'
    assert (text, values) == (f"({found})", {"since_1": "w"})


def test_an_element_of_an_array() -> None:
    assert row_sql(Postgres(), RowColumn(ColumnRef("by", 2), group(), "jobs"), "owner")[0] == 'q."by"[2]'


def test_a_pattern_keeps_the_characters_of_its_star_and_escapes_the_wildcards_of_like() -> None:
    names = (("a_%[!*.DQ", "b*c"), ("it's", "x"))
    renamed = RowColumn(ColumnRef("name", changes=(Renamed(names),)), group(), "jobs")
    text, values = row_sql(Postgres(), renamed, "queue")
    name = 'CAST(q."name" AS text)'
    rest = f"SUBSTRING({name}, 6, length({name}) - 8)"
    assert text == (
        f"CASE WHEN {name} LIKE 'a!_!%![!!%.DQ' ESCAPE '!' THEN CONCAT('b', {rest}, 'c')"
        f" WHEN {name} = 'it''s' THEN 'x' ELSE {name} END"
    )
    assert values == {}


def test_sql_server_computes_the_same_values() -> None:
    later = ColumnRef("a", changes=(LaterOf((ColumnRef("b", path=("x", 'y"'), times="unix_ms"),)),))
    text, values = row_sql(SqlServer(), RowColumn(later, group(), "jobs"), "since")
    assert "(SELECT MAX(t.at) FROM (VALUES (" in text
    assert """, N'$."x"."y\\""')""" in text
    shifted = ColumnRef("a", changes=(Shift(60.0), Shift(ColumnRef("s"), back=True)))
    text, values = row_sql(SqlServer(), RowColumn(shifted, group(), "jobs"), "since")
    assert text.startswith("(SELECT DATEADD(SECOND, CAST(-(q.[s]) AS int), (SELECT DATEADD(SECOND, CAST(? AS int), ")
    assert values == {"since_1": 60.0}
