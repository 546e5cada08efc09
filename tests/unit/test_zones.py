"""Times in columns without a time zone follow the configuration or the column's default; otherwise they are unknown."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from qmon.engines.base import EngineName
from qmon.engines.postgres.postgres_engine import Postgres
from qmon.engines.sql import queries
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.errors import BadInput
from qmon.model.layout import table_facts as facts
from qmon.model.layout.layout import Layout, LayoutSource, OwnerColumn, RequeueWrite, StateColumn
from qmon.model.layout.layout_io import LayoutText, layout_from_dict, layout_to_dict
from qmon.model.layout.time_zones import LOCAL_ZONE, NUMBER_ZONES, UNKNOWN_ZONE, UTC_ZONE, TimeColumn, Zone, load_zone
from qmon.model.operation_records import Choice, OwnerState
from qmon.model.sessions.owners import OwnerFacts, owner_proof
from qmon.model.snapshot import QueueSamples as Samples
from qmon.monitor.catalog.catalog import ColumnRow, TableDetails, TableRow, ValuesRow
from qmon.monitor.catalog.column_zones import ZoneText, require_due_zone, with_zones, zone_in_default
from qmon.monitor.state.target_history import TargetHistory
from qmon.operate.actions.purge import _criteria_for as purge_wanted
from qmon.operate.actions.requeue import RequeueText, _why_impossible
from qmon.operate.actions.requeue import _criteria_for as requeue_wanted
from qmon.operate.plan.selection import ChoiceText
from qmon.operate.plan.transitions import Transition, TransitionText, _why_wrong_clock
from qmon.operate.table_structure import TableColumn, TableStructure
from tests.unit.polls import FIFO, poll
from tests.wordings import pattern

SQLSERVER = SqlServer()
NOV = datetime(2026, 11, 22, tzinfo=UTC).timestamp()
BERLIN = load_zone("Europe/Berlin", NOV)
TABLE = TableRow(1, "dbo", "Jobs", True, True, None, 0)


def details(**columns: tuple[str, str | None]) -> TableDetails:
    rows = [ColumnRow(1, name, kind, True, None, None, None, False) for name, (kind, _) in columns.items()]
    values = [ValuesRow(1, name, "default", text) for name, (_, text) in columns.items() if text is not None]
    return TableDetails(TABLE, tuple(rows), values=tuple(values))


def layout(**changes: object) -> Layout:
    base = Layout("q", "status", TABLE.name, id="Id", state=StateColumn("S", 1, 2), started_at="At", enqueued_at="Made")
    return replace(base, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("default", "said"),
    [
        ("(getdate())", "local"),
        ("(sysdatetime())", "local"),
        ("(CONVERT([datetime2](3),getdate()))", "local"),
        ("(getutcdate())", "utc"),
        ("(sysutcdatetime())", "utc"),
        ("(dateadd(minute,(5),getutcdate()))", "utc"),
        ("(sysdatetimeoffset() AT TIME ZONE 'UTC')", "utc"),
        ("(datediff(minute,getdate(),getutcdate()))", "unknown"),
        ("('19000101')", "unknown"),
        ("([dbo].[MyClock]())", "unknown"),
        (None, "unknown"),
        ("now()", "local"),
        ("CURRENT_TIMESTAMP", "local"),
        ("(now())::timestamp without time zone", "local"),
        ("LOCALTIMESTAMP", "local"),
        ("timezone('utc'::text, now())", "utc"),
        ("(now() AT TIME ZONE 'utc'::text)", "utc"),
        ("(CURRENT_TIMESTAMP AT TIME ZONE 'Europe/Berlin'::text)", "Europe/Berlin"),
        ("(now() AT TIME ZONE 'nowhere'::text)", "unknown"),
        ("'2000-01-01 00:00:00'::timestamp without time zone", "unknown"),
    ],
)
def test_the_default_of_a_column_says_by_which_clock_it_is_written(default: str | None, said: str) -> None:
    assert zone_in_default(default) == said


def test_what_is_configured_wins_then_the_default_and_nothing_is_guessed() -> None:
    there = details(At=("datetime", None), Made=("datetime2", "(getdate())"), Due=("datetimeoffset", None))
    found, why = with_zones(layout(due_at="Due"), there, lambda: LOCAL_ZONE)
    assert dict(found.zones) == {"At": UNKNOWN_ZONE, "Made": LOCAL_ZONE}
    assert set(why) == {
        ZoneText.ZONE_UNKNOWN.render(column="At", session="", effect=ZoneText.AGES_UNKNOWN),
        ZoneText.ZONE_IS.render(column="Made", zone=ZoneText.SERVER_TIME, why=ZoneText.BY_DEFAULT),
    }
    assert not found.has_known_time("At")
    assert found.has_known_time("Made")
    assert found.has_known_time("Due")
    assert not found.has_known_time(None)
    said, why = with_zones(layout(times="utc"), there, lambda: LOCAL_ZONE)
    assert (dict(said.zones), why) == ({"At": UTC_ZONE, "Made": UTC_ZONE}, ())
    placed, _ = with_zones(layout(times="Europe/Berlin"), there, lambda: LOCAL_ZONE)
    assert dict(placed.zones)["At"].name == "Europe/Berlin"
    ours, _ = with_zones(layout(source=LayoutSource.REGISTRY), there, lambda: LOCAL_ZONE)
    assert dict(ours.zones)["At"] == UTC_ZONE


def test_a_queue_whose_due_times_could_be_anybodys_is_not_counted() -> None:
    due, _ = with_zones(layout(due_at="Due"), details(Due=("datetime", None)), lambda: LOCAL_ZONE)
    fault = pattern(ZoneText.ZONE_UNKNOWN, column="Due", effect=ZoneText.NOTHING_COUNTED)
    with pytest.raises(BadInput, match=fault):
        require_due_zone(due)
    require_due_zone(replace(due, zones=(("Due", LOCAL_ZONE),)))


def test_a_zone_is_configured_by_its_name() -> None:
    raw = {"name": "q", "table": "dbo.Jobs", "id": "Id", "times": "Europe/Berlin"}
    read = layout_from_dict(raw)
    assert read.times == "Europe/Berlin"
    assert layout_to_dict(read)["times"] == "Europe/Berlin"
    with pytest.raises(BadInput, match=pattern(LayoutText.NOT_A_TIME_ZONE, zone="Berlin", words='"utc" nor "local"')):
        layout_from_dict(raw | {"times": "Berlin"})


# ---------------------------------------------------------------------------------------------------------- acting


def test_requeue_by_age_is_refused_where_no_age_is_known() -> None:
    unknown = layout(zones=(("At", UNKNOWN_ZONE), ("Made", UNKNOWN_ZONE)))
    refused = RequeueText.NO_ZONE.render(advice=ChoiceText.NO_ZONE.render(column="At"))
    assert _why_impossible(unknown, Choice()) == refused
    assert _why_impossible(unknown, Choice(older_than_s=60.0)) == refused
    assert _why_impossible(unknown, Choice(ids=("1",))) is None
    assert _why_impossible(layout(zones=(("At", LOCAL_ZONE),)), Choice()) is None
    owned = replace(unknown, owner=OwnerColumn("O", "session", held_while_working=True))
    assert _why_impossible(owned, Choice(owner_states=frozenset({OwnerState.DEAD}))) is None
    assert requeue_wanted(owned, Choice()).stuck_s is None
    no_zone = re.escape(ChoiceText.PUSH_TIME_ZONE.render(queue="q", advice=ChoiceText.NO_ZONE.render(column="Made")))
    with pytest.raises(BadInput, match=f"^{no_zone}$"):
        requeue_wanted(unknown, Choice(state="done", older_than_s=60.0))
    with pytest.raises(BadInput, match=f"^{no_zone}$"):
        purge_wanted(unknown, Choice(older_than_s=60.0))


def test_the_time_now_is_not_written_where_it_would_be_wrong() -> None:
    structure = TableStructure(TABLE.name, (TableColumn("Done", "datetime2(27,7)", False, False, False),), ())
    made = Transition("dead", "S", 3, (RequeueWrite("dead", "Done", "now"),), frozenset({"Done"}), structure)
    not_utc = TransitionText.NOT_UTC.render(state="dead", column="Done")
    assert _why_wrong_clock(layout(times="local"), made) == not_utc
    assert _why_wrong_clock(layout(zones=(("Done", UNKNOWN_ZONE),)), made) == not_utc
    assert _why_wrong_clock(layout(), made) is None
    zoned = TableStructure(TABLE.name, (TableColumn("Done", "datetimeoffset(34,7)", False, False, False),), ())
    assert _why_wrong_clock(layout(times="local"), replace(made, structure=zoned)) is None


def test_a_lease_that_nobody_can_place_in_time_proves_nothing() -> None:
    leased = layout(owner=OwnerColumn("Until", "lease"), zones=(("Until", UNKNOWN_ZONE),))
    facts = OwnerFacts("", NOV, True, 0.0, False)
    assert owner_proof(leased, facts).kind == "name"
    assert owner_proof(replace(leased, zones=(("Until", LOCAL_ZONE),)), facts).kind == "lease"


# ------------------------------------------------------------------------------------------------------------- SQL


def test_the_changes_of_a_clock_are_those_of_its_zone() -> None:
    assert BERLIN is not None
    said = [(datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M"), ahead) for at, ahead in BERLIN.changes[1:]]
    assert said == [
        ("2025-10-26 01:00", 60),
        ("2026-03-29 01:00", 120),
        ("2026-10-25 01:00", 60),
        ("2027-03-28 01:00", 120),
        ("2027-10-31 01:00", 60),
        ("2028-03-26 01:00", 120),
    ]
    assert load_zone("Asia/Kolkata", NOV) == Zone("Asia/Kolkata", ((BERLIN.changes[0][0], 330),))
    assert load_zone("../etc/passwd", NOV) is None


def reckoned(text: str, written: str) -> datetime:
    """Return the expression's result for a wall clock time: its CASE is evaluated as the server would."""
    never, rest = text.split(" THEN 0 ELSE ", 1)
    bounds = re.findall(r"'([^']+)'", never)
    at = datetime.fromisoformat(written)
    if at < datetime.fromisoformat(bounds[0]) or at >= datetime.fromisoformat(bounds[1]):
        return at
    for since, ahead in re.findall(r">= '([^']+)' THEN (-?\d+)", rest):
        if at >= datetime.fromisoformat(since):
            return datetime.fromtimestamp(at.replace(tzinfo=UTC).timestamp() - 60 * int(ahead), UTC).replace(
                tzinfo=None
            )
    (otherwise,) = re.findall(r"ELSE (-?\d+) END", rest)
    return datetime.fromtimestamp(at.replace(tzinfo=UTC).timestamp() - 60 * int(otherwise), UTC).replace(tzinfo=None)


@pytest.mark.parametrize(
    ("written", "utc"),
    [
        ("2026-10-25T01:59:59", "2026-10-24T23:59:59"),
        ("2026-10-25T02:30:00", "2026-10-25T01:30:00"),  # occurs twice: the later one, so that no age is too high
        ("2026-10-25T03:00:00", "2026-10-25T02:00:00"),
        ("2026-03-29T01:59:59", "2026-03-29T00:59:59"),
        ("2026-03-29T03:00:00", "2026-03-29T01:00:00"),
        ("2026-11-22T12:00:00", "2026-11-22T11:00:00"),
        ("0001-01-01T00:00:00", "0001-01-01T00:00:00"),
        ("9999-12-31T00:00:00", "9999-12-31T00:00:00"),
    ],
)
def test_ages_are_right_on_both_sides_of_a_change_of_the_clock(written: str, utc: str) -> None:
    assert BERLIN is not None
    assert reckoned(SQLSERVER.utc_expression("q.[At]", BERLIN), written) == datetime.fromisoformat(utc)


def test_each_engine_is_told_which_clock_a_column_was_written_by() -> None:
    assert (
        SQLSERVER.utc_expression("[At]", UTC_ZONE)
        == "CAST(SWITCHOFFSET(CAST([At] AS datetimeoffset(7)), 0) AS datetime2(7))"
    )
    assert "ELSE DATEPART(TZOFFSET, SYSDATETIMEOFFSET()) END, CAST([At] AS datetime2(7)))" in SQLSERVER.utc_expression(
        "[At]", LOCAL_ZONE
    )
    assert (SQLSERVER.clock_expression(UTC_ZONE), SQLSERVER.clock_expression(LOCAL_ZONE)) == (
        "SYSUTCDATETIME()",
        "SYSDATETIME()",
    )
    assert SQLSERVER.clock_expression(Zone("x", ((0, 330),))) == "DATEADD(MINUTE, 330, SYSUTCDATETIME())"
    assert Postgres().utc_expression('"at"', Zone("Europe/Berlin")) == "(\"at\" AT TIME ZONE 'Europe/Berlin')"
    assert Postgres().clock_expression(Zone("Europe/Berlin")) == "(clock_timestamp() AT TIME ZONE 'Europe/Berlin')"


@pytest.mark.parametrize("engine", [SqlServer(), Postgres()], ids=lambda engine: engine.name)
@pytest.mark.parametrize("zone", NUMBER_ZONES.values(), ids=lambda zone: zone.name)
def test_a_number_that_is_no_time_is_never_converted(engine: SqlServer | Postgres, zone: Zone) -> None:
    assert zone.count is not None
    expression = engine.utc_expression("[At]", zone)
    start = datetime(1, 1, 1, tzinfo=UTC)
    for number, at in ((zone.count.min_number, start), (zone.count.max_number + 1, datetime(9999, 12, 31, tzinfo=UTC))):
        seconds = number // zone.count.per_s - zone.count.zero_days * 86_400
        assert abs(seconds - at.timestamp()) <= 86_400
    first, last = re.findall(r"WHEN \(?\[At\]\)? [<>] (-?\d+) THEN", expression)
    assert (int(first), int(last)) == (zone.count.min_number, zone.count.max_number)
    assert "ELSE DATEADD" in expression or "ELSE to_timestamp" in expression


@pytest.mark.parametrize("engine", [SqlServer(), Postgres()], ids=lambda engine: engine.name)
def test_probes_compare_each_column_with_its_own_clock(engine: SqlServer | Postgres) -> None:
    name: EngineName = engine.name
    due = queries.load_query(name, "probe/head_due", (16, 0))
    names: dict[str, queries.Name] = dict.fromkeys(due.names, "x")
    zone = Zone("Asia/Kolkata", ((0, 330),))
    texts = [queries.render(due, names | {"due_at": TimeColumn("Due", each)}, engine).text for each in (UTC_ZONE, zone)]
    assert engine.clock_expression(UTC_ZONE) in texts[0]
    assert engine.clock_expression(zone) in texts[1]
    stuck = queries.load_query(name, "probe/progress", (16, 0))
    typed: dict[str, queries.Name] = {"state": facts.Column("Status", "int"), "progress_index": facts.IndexName("x")}
    names = {slot: typed.get(slot, "x") for slot in stuck.names}
    unknown = queries.render(stuck, names | {"started_at": TimeColumn("At", UNKNOWN_ZONE)}, engine).text
    assert engine.utc_expression("NULL", UTC_ZONE) in unknown
    assert "At" not in re.findall(r'["\[](\w+)["\]]', unknown)


# --------------------------------------------------------------------------------------------------------- restart


@pytest.mark.parametrize("change", [3600.0, -3600.0, 1800.0])
def test_a_change_of_the_servers_clock_is_no_restart(change: float) -> None:
    history = TargetHistory()
    history.record_snapshot(poll(1, 100_000.0, Samples(FIFO), started_at=500.0))
    after = history.record_snapshot(poll(2, 100_002.0, Samples(FIFO), started_at=500.0 + change))
    assert after.server.commits.value is not None
    restarted = history.record_snapshot(poll(3, 100_004.0, Samples(FIFO), started_at=100_003.0))
    assert restarted.server.commits.value is None
