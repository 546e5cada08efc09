"""Features of tables only in SQL Server: masks, types without comparison, partitions, names, and settings."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from qmon.errors import BadInput
from qmon.model.layout.layout import Layout, LayoutSource, ObjectName, StateColumn
from qmon.model.operation_records import Choice
from qmon.monitor.catalog.proposed_indexes import propose_indexes
from qmon.monitor.catalog.resolve import resolve_queues
from qmon.monitor.probe_checks import check_rights
from qmon.operate.actions.archiver import check_can_archive
from qmon.operate.install.install_queue import prepare_install
from qmon.operate.install.install_script import install_script
from qmon.operate.operator import Operator
from qmon.operate.plan.required_rights import RightsText
from tests.contract.anywhere import Place, execute
from tests.contract.anywhere_server import Server
from tests.contract.anywhere_sql import MASKS, PARTITIONED, UNQUOTED, WORDS_OF_XML
from tests.wordings import has

pytestmark = pytest.mark.once

READY = Choice(state="ready")


@pytest.fixture(autouse=True)
def _only_sqlserver(anywhere: Server) -> None:
    if not anywhere.is_sqlserver:
        pytest.skip("PostgreSQL has none of this")


# A user's table with states.
JOBS = Layout(
    "jobs",
    "status",
    ObjectName("dbo", "jobs"),
    id="id",
    state=StateColumn("state", 0, 1, 2, 3),
    payload="payload",
    source=LayoutSource.CONFIGURATION,
)


def made(place: Place, payload: str, value: str = "NULL") -> Layout:
    """Create the table with one ready and one dead message of this type."""
    place.run(
        f"CREATE TABLE jobs (id int NOT NULL PRIMARY KEY, state int NOT NULL, payload {payload} NULL)",
        f"INSERT INTO jobs VALUES (1, 0, {value}), (2, 3, {value})",
    )
    return JOBS


def test_masked_columns_are_refused_and_not_shown(anywhere: Server, place: Place, tmp_path: Path) -> None:
    if anywhere.version < 13:
        pytest.skip("dynamic data masking is in SQL Server from 2016 on")
    layout = made(place, "nvarchar(100) MASKED WITH (FUNCTION = 'default()')", "N'secret'")
    place.run(*MASKS)
    with anywhere.login(place) as anna:
        place.run(f"GRANT SELECT, INSERT, UPDATE, DELETE ON jobs TO [{anna.name}]")
        operator = Operator(anna.place.context(tmp_path))
        for plan in (operator.purge(layout, READY).plan, operator.requeue(layout, Choice(state="dead")).plan):
            assert "is masked for this login" in (plan.refused or "")
        message = operator.read_message(layout, "1")
        assert message is not None
        assert [each.name for each in message.columns if each.value is not None] == ["id"]
        archived = replace(layout, routines=(("archive", ObjectName(place.schema, "none")),))
        with anna.place.opened() as connection, pytest.raises(BadInput, match="is masked for this login"):
            check_can_archive(connection, place.engine, archived)
    seen = Operator(place.context(tmp_path)).purge(layout, READY).plan
    assert any(has(risk, RightsText.MASKED_COPIES, columns="state, payload") for risk in seen.risks)


@pytest.mark.parametrize(
    ("kind", "value"), [("hierarchyid", "'/1/'"), ("xml(dbo.words)", "N'<a>x</a>'")], ids=["CLR", "typed XML"]
)
def test_messages_of_types_that_cannot_be_compared_are_shown_and_not_purged(
    place: Place, operator: Operator, kind: str, value: str
) -> None:
    place.run(WORDS_OF_XML)
    layout = made(place, kind, value)
    assert "cannot compare values of its type" in (operator.purge(layout, READY).plan.refused or "")
    message = operator.read_message(layout, "1")
    assert message is not None and message.payload is not None
    assert message.payload.value in ("/1/", "<a>x</a>")


def test_an_image_is_shown_and_purged(place: Place, operator: Operator) -> None:
    layout = made(place, "image", "0x6D30")
    plan = operator.purge(layout, READY).plan
    assert (plan.refused, plan.count, [row.payload for row in plan.first]) == (None, 1, ["m0"])
    message = operator.read_message(layout, "1")
    assert message is not None and message.payload is not None
    assert message.payload.value == "m0"


def test_rights_are_known_in_a_database_whose_name_has_a_dot_and_a_bracket(anywhere: Server, tmp_path: Path) -> None:
    with anywhere.database(ending=".b]") as place:
        layout = made(place, "nvarchar(100)")
        with place.opened("rights", watch=True) as connection:
            assert all(right.held for right in check_rights(connection, place.engine))
        assert Operator(place.context(tmp_path)).requeue(layout, Choice(state="dead")).plan.count == 1


def test_partitions_by_another_column_leave_the_head_to_scans_and_no_index_is_proposed(place: Place) -> None:
    place.run(*PARTITIONED)
    layout = replace(JOBS, state=None)
    with place.opened("queues", watch=True) as connection:
        facts = resolve_queues(connection, place.engine, [layout]).facts["jobs"]
    assert facts.divided_by == {"day"}
    assert "head" not in facts.indexes
    assert propose_indexes(layout, facts, place.engine) == []


def test_a_script_installs_a_queue_where_identifiers_are_not_quoted(place: Place) -> None:
    with place.opened() as connection:
        version = connection.version
        ready = prepare_install(place.engine, version, "pending", schema=place.schema, queue="orders", ring_size=64)
        execute(connection, UNQUOTED)
        for batch in re.split(r"^GO$", install_script(place.engine, version, ready), flags=re.MULTILINE):
            if batch.strip():
                execute(connection, batch)
    with place.opened() as connection:
        place.push(connection, ready.layout, 2)
        assert place.popped(connection, ready.layout) == ["m0", "m1"]
