"""The queue designs of both engines: the same ones, the same verbs with the same results, under any name."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from qmon.engines.base import Engine, EngineName, Query
from qmon.engines.postgres.postgres_engine import Postgres
from qmon.engines.sql import queries
from qmon.engines.sql.query_text import Placeholder, scan_text
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.model.layout.designs import TRAITS
from qmon.operate.install import object_names
from qmon.operate.install.design_layouts import SHAPES, layout_for
from qmon.operate.install.install_queue import available_designs, number_placeholders

ENGINES: dict[EngineName, Engine] = {"postgres": Postgres(), "sqlserver": SqlServer()}
VERSIONS: dict[EngineName, tuple[int, ...]] = {"postgres": (14, 18), "sqlserver": (10, 11, 12, 13, 14, 15, 16, 17)}
EVERY = [(engine, major) for engine in ENGINES for major in VERSIONS[engine]]
NEWEST: dict[EngineName, tuple[int, int]] = {"postgres": (18, 0), "sqlserver": (17, 0)}
DESIGNS = sorted(set(TRAITS) - {"service_broker"})
HOSTILE = ("[a]]b].[c d]", '"; drop table x; --', "🐘 queue", "it's 100 % {odd} ? :name", "-- /* x", "Ünï.Dots")
# Verbs that only one engine has: sp_sequence_get_range draws a range of numbers at once.
ONLY_HERE = {("sqlserver", "ring"): {"pop_batch"}}


def files(engine: EngineName, design: str, major: int) -> tuple[Query, ...]:
    version = (major, 0)
    return (*queries.design_files(engine, design, version), *queries.uninstall_files(engine, design, version))


def rendered(engine: EngineName, query: Query, schema: str, queue: str) -> str:
    names = object_names.names_for(query, schema, queue, number_placeholders(64, 3))
    return queries.render(query, names, ENGINES[engine]).text


def layout(engine: EngineName, design: str) -> object:
    objects = object_names.object_slots(queries.design_files(engine, design, NEWEST[engine]))
    subscribers = 3 if design == "ring_subscribers" else 0
    return layout_for(
        design,
        "s",
        "q",
        objects=(*objects, *object_names.subscriber_sequences(subscribers)),
        size=64,
        subscribers=subscribers,
        timeout_s=300,
        owner_held_while_working=False,
    )


def verbs(engine: EngineName, design: str) -> set[str]:
    objects = object_names.object_slots(queries.design_files(engine, design, NEWEST[engine]))
    found = layout_for(
        design, "s", "q", objects=objects, size=64, subscribers=1, timeout_s=300, owner_held_while_working=False
    )
    return {verb for verb, _ in found.routines}


def columns(engine: EngineName, design: str, verb: str) -> tuple[str, ...] | None:
    """Return the column names of a routine's result, ``None`` if it returns one unnamed value."""
    for query in queries.design_files(engine, design, NEWEST[engine]):
        if engine == "sqlserver" and f"CREATE PROCEDURE {{{verb}}}" in query.text:
            return query.columns
        if engine == "postgres" and f"CREATE FUNCTION {{{verb}}}(" in query.text:
            table = re.search(r"RETURNS TABLE \((.*?)\)\s*LANGUAGE", query.text, re.DOTALL)
            return None if table is None else tuple(part.split()[0] for part in table[1].split(","))
    raise AssertionError(f"{engine} {design} has no {verb}")


@pytest.mark.parametrize("engine", ENGINES)
def test_every_design_of_the_articles_can_be_installed(engine: EngineName) -> None:
    assert list(queries.designs(engine)) == DESIGNS
    assert list(available_designs(ENGINES[engine])) == DESIGNS
    assert sorted(SHAPES) == DESIGNS


@pytest.mark.parametrize("design", DESIGNS)
def test_both_engines_have_the_same_verbs_with_the_same_results(design: str) -> None:
    both = {engine: verbs(engine, design) - ONLY_HERE.get((engine, design), set()) for engine in ENGINES}
    assert both["postgres"] == both["sqlserver"]
    for verb in both["postgres"]:
        named = columns("postgres", design, verb)
        returned = columns("sqlserver", design, verb)
        assert returned
        if named is None:
            assert len(returned) == 1
        else:
            assert returned == named


@pytest.mark.parametrize("design", DESIGNS)
def test_both_engines_have_the_same_layout_but_for_identities(design: str) -> None:
    found = {engine: layout(engine, design) for engine in ENGINES}
    texts = {
        engine: re.sub(r"sequence=ObjectName\(schema='s', name='q_id_seq'\)", "sequence=None", repr(one))
        for engine, one in found.items()
    }
    without_routines = {engine: re.sub(r"routines=\(.*?\)\), source", "source", text) for engine, text in texts.items()}
    assert without_routines["postgres"] == without_routines["sqlserver"]


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_columns_of_the_layout_are_made(engine: EngineName, design: str) -> None:
    made = "\n".join(
        query.text for query in queries.design_files(engine, design, NEWEST[engine]) if "CREATE TABLE" in query.text
    )
    shape = repr(layout(engine, design))
    for name in re.findall(
        r"\b(?:id|started_at|enqueued_at|due_at|attempts|payload|column|slot|unread|turn)='(\w+)'", shape
    ):
        assert re.search(rf"^\s+{name}\s+\w", made, re.MULTILINE), name


@pytest.mark.parametrize("design", [design for design in DESIGNS if SHAPES[design].attempts])
@pytest.mark.parametrize("engine", ENGINES)
def test_the_states_of_the_layout_are_those_of_the_indexes(engine: EngineName, design: str) -> None:
    made = "\n".join(query.text for query in queries.design_files(engine, design, NEWEST[engine]))
    found = dict(re.findall(r"INDEX \{(\w+)_index\} ON [^;]*? WHERE status = (\d+)", made))
    state = SHAPES[design].state
    assert state is not None
    states = {"ready": state.ready, "work": state.in_progress, "done": state.done, "dead": state.dead}
    assert {"work", "dead"} <= found.keys()
    assert found == {index: str(states[index]) for index in found}


@pytest.mark.parametrize("design", DESIGNS)
def test_any_name_stays_a_name(design: str) -> None:
    read = {(engine, query.path): query for engine, major in EVERY for query in files(engine, design, major)}
    for (engine, path), query in read.items():
        # The text without the quoted names is the same for all: no name has left its quotes.
        plain = bare(engine, query, "s", "q")
        found = {queue: bare(engine, query, "a].b", queue) for queue in HOSTILE}
        assert found == dict.fromkeys(HOSTILE, plain), path


def bare(engine: EngineName, query: Query, schema: str, queue: str) -> str:
    text = rendered(engine, query, schema, queue)
    names = object_names.names_for(query, schema, queue, number_placeholders(64, 3))
    for slot in sorted(query.names - object_names.NUMBER_SLOTS, key=len, reverse=True):
        parts = names[slot]
        assert isinstance(parts, str | tuple)
        quoted = ENGINES[engine].quote((parts,) if isinstance(parts, str) else parts)
        text = text.replace(ENGINES[engine].literal(quoted), f"<{slot}!>").replace(quoted, f"<{slot}>")
    return text


@pytest.mark.parametrize("design", DESIGNS)
def test_what_is_installed_is_uninstalled(design: str) -> None:
    for engine, major in EVERY:
        made = set(object_names.object_slots(queries.design_files(engine, design, (major, 0))))
        gone = set(object_names.object_slots(queries.uninstall_files(engine, design, (major, 0))))
        # Indexes, keys and owned sequences go with their table.
        own = {slot for slot in made if slot.endswith(("index", "key"))}
        if engine == "postgres":
            own |= {slot for slot in made if slot.endswith("seq")} | {f"data_{number}" for number in range(4)}
        assert made - own <= gone, (engine, major)
        assert "table" in gone, (engine, major)


# ------------------------------------------------------------------------------------------------ SQL Server's batches


def procedures() -> Iterable[tuple[str, Query]]:
    for design in DESIGNS:
        for major in VERSIONS["sqlserver"]:
            for query in queries.design_files("sqlserver", design, (major, 0)):
                if "CREATE PROCEDURE" in query.text:
                    yield design, query


def code(query: Query) -> str:
    """The statements, without comments."""
    return re.sub(r"--[^\n]*|/\*.*?\*/", "", query.text, flags=re.DOTALL)


@pytest.mark.parametrize("design", DESIGNS)
def test_a_procedure_view_or_type_is_alone_in_its_batch(design: str) -> None:
    versions = [queries.design_files("sqlserver", design, (major, 0)) for major in VERSIONS["sqlserver"]]
    for query in {query.path: query for found in versions for query in found}.values():
        text = code(query).strip()
        assert not re.search(r"^\s*GO\s*$", text, re.MULTILINE), query.path
        for kind in ("PROCEDURE", "VIEW", "FUNCTION", "TRIGGER"):
            if f"CREATE {kind}" in text:
                assert text.startswith(f"CREATE {kind}"), query.path
                assert text.count(f"CREATE {kind}") == 1, query.path


def test_every_queue_table_keeps_row_locks_and_leaves_statistics_alone() -> None:
    for design in DESIGNS:
        for query in queries.design_files("sqlserver", design, NEWEST["sqlserver"]):
            text = code(query)
            made = set(re.findall(r"CREATE TABLE \{(\w+)\}", text)) - {"archive_log", "readers"}
            assert made == set(re.findall(r"ALTER TABLE \{(\w+)\} SET \(LOCK_ESCALATION = DISABLE\)", text)), query.path
            for index in re.findall(r"(?:CREATE (?:UNIQUE )?NONCLUSTERED INDEX|PRIMARY KEY CLUSTERED)[^;]*", text):
                assert "readers" in text or "STATISTICS_NORECOMPUTE = ON" in index, query.path


def test_who_passes_over_locked_rows_asks_for_locks_of_rows_and_not_for_versions() -> None:
    seen = 0
    for design, query in procedures():
        for hints in re.findall(r"WITH \(([A-Z][^)]*(?:\([^)]*\)[^)]*)?)\)", code(query)):
            words = {word.strip() for word in hints.split(",")}
            if "READPAST" in words:
                seen += 1
                assert {"ROWLOCK", "READCOMMITTEDLOCK"} <= words, query.path
                assert "SET TRANSACTION ISOLATION LEVEL READ COMMITTED" in query.text or query.name.endswith("_take")
                assert design not in ("strict_fifo", "ring_classic")
    assert seen > 100


@pytest.mark.parametrize("design", ["naive", "heap", "fifo", "lifo", "pending", "flag", "status", "batch_fast"])
def test_a_pop_is_one_statement_that_locks_what_it_reads(design: str) -> None:
    verb = "pop_batch" if design == "batch_fast" else "pop"
    (pop,) = (
        code(query)
        for query in queries.design_files("sqlserver", design, NEWEST["sqlserver"])
        if f"CREATE PROCEDURE {{{verb}}}" in query.text
    )
    assert len(re.findall(r"\bFROM \{table\}", pop)) == 1
    assert re.search(r"\bUPDLOCK, READPAST\b", pop)
    assert len(re.findall(r"\bOUTPUT (?:deleted|inserted|CAST)", pop)) == 1
    assert "BEGIN TRANSACTION" not in pop


def test_what_runs_in_the_callers_transaction_ends_what_it_begins_and_nothing_else() -> None:
    for _, query in procedures():
        text = code(query)
        begun, ended = (len(re.findall(rf"\b{word} TRANSACTION\b", text)) for word in ("BEGIN", "COMMIT"))
        assert begun <= ended, query.path
        # A bare ROLLBACK would take the caller's transaction with it.
        assert set(re.findall(r"\bROLLBACK TRANSACTION\b\s*(\w*);", text)) <= {"qmon_draw", "qmon_pop"}, query.path
        # An error raised by a pause or a full ring is meant to end the caller's work.
        assert ("THROW" in text) == ("/switch/02_paused.since_" in query.path or "_full.since_" in query.path), (
            query.path
        )


def test_sequences_are_for_servers_that_have_them() -> None:
    for design in ("naive", "ring", "ring_subscribers", "ring_pointer", "ring_classic"):
        for major in VERSIONS["sqlserver"]:
            text = "\n".join(
                code(query)
                for query in queries.design_files("sqlserver", design, (major, 0))
                if query.name.startswith("design/")
            )
            assert ("CREATE SEQUENCE" in text) == ("NEXT VALUE FOR" in text) == (major >= 11)
            assert ("IDENTITY(" in text and "SAVE TRANSACTION qmon_draw" in text) == (major < 11)
            assert ("SESSION_CONTEXT" in text) == (major >= 13 and design != "naive")


def test_the_options_of_later_versions_stay_out_of_earlier_ones() -> None:
    for design in DESIGNS:
        for major in VERSIONS["sqlserver"]:
            text = "\n".join(code(query) for query in queries.design_files("sqlserver", design, (major, 0)))
            for word, since in (
                ("OPTIMIZE_FOR_SEQUENTIAL_KEY", 15),
                ("SESSION_CONTEXT", 13),
                ("WAIT_AT_LOW_PRIORITY", 12),
                ("sp_sequence_get_range", 11),
            ):
                assert word not in text or major >= since, (design, major, word)
            # From 2012, 2016 and 2022 on: not needed, so not used anywhere.
            for word in ("CONCAT(", "IIF(", "OFFSET", "DROP TABLE IF", "STRING_SPLIT", "OPENJSON", "GREATEST("):
                assert word not in text, (design, major, word)


def test_texts_of_both_engines_are_read_to_the_end() -> None:
    for engine, other in ENGINES.items():
        for design in DESIGNS:
            for query in files(engine, design, NEWEST[engine][0]):
                text = rendered(engine, query, "a].b", HOSTILE[0])
                # Names in brackets or quotes and in literals: no placeholder is left, no quote is open.
                assert not [
                    piece for piece in scan_text(text, other.name, query.path) if isinstance(piece, Placeholder)
                ]


@pytest.mark.parametrize("engine", queries.ENGINES)
def test_only_one_index_of_batch_fast_holds_the_ready_messages_since_each_push_and_pop_writes_it(engine: str) -> None:
    steps = [each for each in queries.all_files() if each.engine == engine and "batch_fast/" in each.name]
    text = "".join(each.file.read_text() for each in steps)
    indexes = re.findall(r"CREATE (?:NONCLUSTERED )?INDEX \{(\w+)\}[^;]*WHERE status = 0", text)
    assert indexes == ["ready_index"]


def test_who_cannot_deadlock_is_said_with_whom_on_sql_server() -> None:
    """Readers with shared locks are outside a design's control: its claims hold for its own procedures only."""
    for file in queries.all_files():
        if file.engine != "sqlserver" or file.kind != "design":
            continue
        text = " ".join(file.file.read_text(encoding="utf-8").replace("\n--", "").split())
        absolute = re.findall(r"No deadlock(?! among producers and consumers|: one row is locked by a call)", text)
        assert absolute == [], file.path
        pops = file.name in ("design/status/09_pop", "design/batch_fast/09_pop_batch")
        assert ("the reader (error 1205)" in text) == pops, file.path
