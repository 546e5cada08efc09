"""Triggers that name tables without a schema work in qmon's sessions, unless other tables could take their place."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from qmon.errors import QueryFailed
from qmon.model.operation_records import Choice
from qmon.operate.operator import Operator
from tests.contract.operating import applied, desk_at
from tests.facts import query
from tests.queues import made

_AUDITED = """
    CREATE TABLE public.removed (who text);
    CREATE FUNCTION public.audit() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN INSERT INTO removed VALUES (current_user); RETURN OLD; END$$;
    CREATE TRIGGER audited AFTER DELETE ON public.fifo FOR EACH ROW EXECUTE FUNCTION public.audit()
"""


@pytest.mark.parametrize("open_to_all", [False, True])
def test_a_trigger_finds_a_table_of_its_schema_unless_others_may_create_there(
    database: str, tmp_path: Path, open_to_all: bool
) -> None:
    layout = made(database, "fifo", "fifo")
    query(database, _AUDITED)
    query(database, "INSERT INTO public.fifo (payload) VALUES ('a'), ('b')")
    query(
        database,
        f"{'GRANT' if open_to_all else 'REVOKE'} CREATE ON SCHEMA public {'TO' if open_to_all else 'FROM'} PUBLIC",
    )
    prepared = Operator(desk_at(database, tmp_path)).purge(layout, Choice(state="ready"))
    with pytest.raises(QueryFailed, match='"removed" does not exist') if open_to_all else contextlib.nullcontext():
        applied(prepared)
    assert len(query(database, "SELECT who FROM public.removed")) == (0 if open_to_all else 2)
    assert len(query(database, "SELECT payload FROM public.fifo")) == (2 if open_to_all else 0)


def test_the_path_ends_with_the_batch(database: str, tmp_path: Path) -> None:
    layout = made(database, "fifo", "fifo")
    query(database, _AUDITED)
    query(database, "INSERT INTO public.fifo (payload) VALUES ('a')")
    operator = Operator(desk_at(database, tmp_path))
    purged = applied(operator.purge(layout, Choice(state="ready")))
    query(database, "ALTER TABLE public.removed RENAME TO gone")
    undone = applied(operator.undo(purged.operation))
    assert (purged.done, undone.done) == (1, 1)
