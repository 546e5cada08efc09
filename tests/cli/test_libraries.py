"""``qmon help LIBRARY``: a page for each, generated from its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from qmon.cli.library_page import LibraryPageText, LibraryVerb
from qmon.libraries.library_catalog import all_libraries
from tests.cli.calling import call

KNOWN = all_libraries(Path("/nowhere"))


@pytest.mark.parametrize("name", sorted({library.name for library in KNOWN}))
def test_each_has_a_page_with_its_tables_its_states_and_its_documentation(name: str) -> None:
    done = call("help", name)
    assert done.exit_code == 0, done.output
    for library in (library for library in KNOWN if library.name == name):
        states = [f"    {state['name']}" for raw in library.groups for state in raw["state"]]  # type: ignore[attr-defined]
        for part in (library.docs, library.tested, *states):
            assert part in done.stdout, part


def test_conditions_are_told_in_words() -> None:
    text = call("help", "graphile-worker").stdout
    assert LibraryPageText.BY_COLUMN.render(column="_private_tasks.identifier (by task_id)") in text
    assert "dead: locked_at is NULL and attempts >= max_attempts" in text
    assert "and there is no row of _private_job_queues whose id is job_queue_id where locked_at is set" in text
    assert LibraryVerb.REQUEUE_DEAD in text
    assert "seconds since 1970" in call("help", "laravel").stdout
    assert "whose worker" not in call("help", "river").stdout
