"""The wording of texts about tables, libraries and discovered queues."""

from __future__ import annotations

from typing import Any, Final

from qmon.libraries.library import LibraryFileText
from qmon.libraries.recognition import RecognitionText
from qmon.model.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    LibraryFileText.NEEDS_TABLES: ({"where": "own.toml"}, "own.toml: needs [tables], which identify the library"),
    LibraryFileText.NEEDS_GROUP: ({"where": "own.toml"}, "own.toml: needs a [[group]] with its queues"),
    LibraryFileText.NEEDS_DESIGN: (
        {"where": "own.toml: queue[1]"},
        "own.toml: queue[1]: needs a design or states, for one table",
    ),
    LibraryFileText.NEEDS_COLUMNS: (
        {"where": "own.toml: queue[1]"},
        "own.toml: queue[1]: needs columns with their types, which identify the tables",
    ),
    RecognitionText.LINE: (
        {"library": "oban", "schema": "app", "result": "recognized by oban_jobs"},
        "oban in schema app: recognized by oban_jobs",
    ),
    RecognitionText.RECOGNIZED: (
        {"tables": "procrastinate_events, procrastinate_jobs"},
        "recognized by procrastinate_events, procrastinate_jobs",
    ),
    RecognitionText.NOT_RECOGNIZED: (
        {"reasons": "there is no table procrastinate_events"},
        "not recognized: there is no table procrastinate_events",
    ),
    RecognitionText.NO_TABLE: ({"table": "procrastinate_events"}, "there is no table procrastinate_events"),
    RecognitionText.NO_COLUMNS: (
        {"table": "procrastinate_jobs", "columns": "attempts, priority"},
        "procrastinate_jobs has no attempts, priority",
    ),
    RecognitionText.OTHER_TYPE: (
        {"column": "jobs.available_at", "type": "datetime2", "library": "laravel", "needed": "seconds since 1970"},
        "jobs.available_at is datetime2, but laravel has seconds since 1970",
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
