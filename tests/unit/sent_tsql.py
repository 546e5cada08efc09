"""T-SQL that qmon sends or prints, in all its forms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

from qmon.engines.base import Bound, Connection, Engine, Rows
from qmon.engines.sql import queries
from qmon.engines.sql.batch_text import list_text
from qmon.engines.sql.whole_row import RowKey, RowValues, StoredColumn
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.libraries.library import Library, TableQueue
from qmon.libraries.library_catalog import all_libraries
from qmon.libraries.recognition import Columns, find_table_queues, recognize_libraries
from qmon.model.groups.group import Group, ResolvedGroup
from qmon.model.samples.group_samples import GroupStateSample
from qmon.monitor.probes.group_probes import GroupProbes
from qmon.monitor.probes.probe_statements import ProbeStatement, StatementCache
from qmon.operate.install import control_setup
from qmon.operate.install.install_queue import available_designs, prepare_install
from qmon.operate.install.install_script import install_script
from tests.library_tables import tables
from tests.tsql_rendered import PROBES, names_for

LIBRARIES: Final = [library for library in all_libraries(Path("/nowhere")) if library.engine == "sqlserver"]
# The types of SQL Server.
COLUMN_TYPES = (
    "bigint",
    "binary",
    "bit",
    "char",
    "date",
    "datetime",
    "datetime2",
    "datetimeoffset",
    "decimal",
    "float",
    "geography",
    "geometry",
    "hierarchyid",
    "image",
    "int",
    "money",
    "nchar",
    "ntext",
    "numeric",
    "nvarchar",
    "real",
    "smalldatetime",
    "smallint",
    "smallmoney",
    "sql_variant",
    "sysname",
    "text",
    "time",
    "timestamp",
    "tinyint",
    "uniqueidentifier",
    "varbinary",
    "varchar",
    "xml",
)
ENGINE: Final = SqlServer()
DESIGNS: Final = available_designs(ENGINE)
HOSTILE: Final = ("[a]]b].[c d]", '"; drop table x; --', "🐘 it's $(x) {odd} ? :name", "-- /* x", "GO")


def one_type(queue: TableQueue) -> Columns:
    """Return the columns of such a table."""
    return {name: types[0] for name, types in queue.columns.items()}


def library_statements(library: Library) -> Iterator[ProbeStatement]:
    """Return all statements for one queue whose messages are shown."""
    given = {"dbo": tables(library, "") | {f"Q{n}": one_type(each) for n, each in enumerate(library.queues)}}
    groups = [group for each in recognize_libraries(LIBRARIES, "sqlserver", given) for group in each.groups]
    for group in (
        *groups,
        *(each for each in find_table_queues(LIBRARIES, "sqlserver", given) if isinstance(each, Group)),
    ):
        probes = GroupProbes(StatementCache(SqlServer(), (11, 0)), ResolvedGroup(group, 1, 1000))
        results = {
            (group.name, f"group_states:{state.key}"): (GroupStateSample(state.name, "mails", 1, 1.0, 0, 1),)
            for state in group.states
        }
        probes.record_results(results, 1.0, 1.0)
        yield from probes.statements_for_poll(100.0, f"{group.name}/mails", 50)


# Those whose queues qmon reads.
WITH_STATEMENTS: Final = [library for library in LIBRARIES if any(library_statements(library))]


def asked_of_libraries() -> list[str]:
    """Return the statements for the queues of libraries."""
    texts = [
        each.bound.statement.text.replace("?", "@x") for library in LIBRARIES for each in library_statements(library)
    ]
    assert {library.name for library in LIBRARIES} - {library.name for library in WITH_STATEMENTS} == {"nservicebus"}
    assert len(texts) > 10
    return texts


def message_row(engine: Engine, *kinds: str) -> str:
    """Return the statement that reads columns of these types, with the first two as the key."""
    columns = [StoredColumn(f"]{kind}]", kind, kind) for kind in kinds]
    names: dict[str, queries.Name] = {
        "table": ("s", 't"]'),
        "key": RowKey(tuple((each, "1") for each in columns[:2])),
        "columns": RowValues(tuple((each, 100) for each in columns)),
    }
    query = queries.load_query(engine.name, "action/message/row", (18, 0))
    statement = queries.render(query, names, engine)
    assert statement.parameters == ("key_1", "key_2")
    assert dict(statement.values) == {"key_1": "1", "key_2": "1"}
    return statement.text


def columns_of_every_type() -> list[str]:
    """A message is read, whatever the types of its columns and its key are."""
    texts = [
        message_row(SqlServer(), *COLUMN_TYPES),
        *(message_row(SqlServer(), kind, "int") for kind in ("varbinary", "varchar")),
    ]
    return [text.replace("?", "N'1'") for text in texts]


def design_script(design: str, major: int, queue: str = "orders") -> str:
    ready = prepare_install(ENGINE, (major, 0), design, schema="a].b", queue=queue, ring_size=64)
    return install_script(ENGINE, (major, 0), ready)


def printed_designs() -> list[str]:
    """Every design for the oldest and the newest server, and for hostile names."""
    texts = []
    for major in (11, 17):
        texts += [design_script(design, major, HOSTILE[number % len(HOSTILE)]) for number, design in enumerate(DESIGNS)]
        texts += [design_script("ring_subscribers", major, queue) for queue in HOSTILE]
    return texts


class Bare:
    """A connection to a database that has a queue, and no objects of qmon."""

    def __init__(self, major: int, table: str) -> None:
        self.version, self._table = (major, 0), table

    def fetch(self, bound: Bound) -> Rows:
        columns = bound.statement.columns
        if bound.statement.name == "catalog/trust":
            return Rows(columns, ())
        if bound.statement.name == "catalog/setup":
            return Rows(columns, (tuple(False for _ in columns),))
        if bound.statement.name == "catalog/setup_objects":
            return Rows(columns, (("dbo", self._table, False, True, False, False),))
        assert bound.statement.name == "catalog/setup_right"
        return Rows(columns, ((True, False),))


def setup_script(major: int, table: str = "orders") -> str:
    """Return the output of ``qmon setup --role operator --print`` for a queue."""
    layout = prepare_install(ENGINE, (major, 0), "batch_fast", schema="dbo", queue=table).layout
    return control_setup.setup_script(
        ENGINE,
        control_setup.plan_control_setup(cast(Connection, Bare(major, table)), ENGINE, "operator", [1], [layout]),
    )


def printed_setups() -> list[str]:
    """Return the output of ``qmon setup`` for old and new servers, and for hostile names."""
    return [setup_script(major, queue) for major, queue in zip((11, 16, 100), HOSTILE, strict=False)]


def listed_probes() -> list[str]:
    """Return a list of every probe, as it is sent."""
    found = [queries.read_query(file) for file in PROBES]
    return [list_text([queries.render(each, names_for(each, filtered=True), SqlServer()) for each in found])]
