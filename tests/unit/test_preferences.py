"""The dashboard's preferences: kept in a file that several dashboards share, and empty if the file is damaged."""

from __future__ import annotations

import json
import logging
import stat
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from qmon.config.preferences import Preferences, TargetPreferences

pytestmark = pytest.mark.unit


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a file that does not exist, in a folder that does not exist."""
    return tmp_path / "state" / "screen.json"


def test_what_is_remembered_is_there_the_next_time(place: Path) -> None:
    first = Preferences(place)
    assert (first.theme, first.target_preferences("shop")) == ("", TargetPreferences())
    first.set_theme("nord")
    first.change_target("shop", lambda of: replace(of, interval_s=5.0, columns=("queue", "dead")))
    first.change_target("shop", lambda of: replace(of, sort=("ready", True)))
    again = Preferences(place)
    assert again.theme == "nord"
    assert again.target_preferences("shop") == TargetPreferences(("queue", "dead"), ("ready", True), 5.0)
    assert again.target_preferences("crm") == TargetPreferences()
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert sorted(each.name for each in place.parent.iterdir()) == ["screen.json", "screen.lock"], "no draft is left"


def test_without_a_file_it_is_remembered_until_the_end() -> None:
    given = Preferences()
    given.set_theme("nord")
    given.change_target("shop", lambda of: replace(of, columns=("queue",)))
    assert (given.theme, given.target_preferences("shop").columns) == ("nord", ("queue",))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"theme": 5}',
        '{"targets": {"shop": {"columns": "all"}}}',
        '{"targets": {"shop": {"sort": [1]}}}',
        "[" * 100_000,
        '{"theme": "' + "x" * 1_000_000 + '"}',
        "\udcff",
    ],
    ids=["empty", "cut", "no object", "theme", "columns", "sort", "deep", "large", "no text"],
)
def test_a_damaged_file_counts_as_nothing_and_is_one_line_in_the_log(
    place: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    place.parent.mkdir()
    place.write_bytes(text.encode("utf-8", "surrogateescape"))
    with caplog.at_level(logging.WARNING):
        given = Preferences(place)
    assert (given.theme, given.target_preferences("shop")) == ("", TargetPreferences())
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == [f"{place} is ignored"]
    given.set_theme("nord")
    assert Preferences(place).theme == "nord"


def test_what_a_later_version_writes_is_left_out(place: Path) -> None:
    place.parent.mkdir()
    place.write_text(
        json.dumps({"theme": "nord", "sound": True, "targets": {"shop": {"colour": 1, "interval_s": 0.0}}})
    )
    given = Preferences(place)
    assert (given.theme, given.target_preferences("shop")) == ("nord", TargetPreferences())


def test_where_it_cannot_be_written_it_is_remembered_until_the_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    given = Preferences(tmp_path / "file" / "screen.json")
    caplog.clear()
    given.set_theme("nord")
    given.change_target("shop", lambda of: replace(of, columns=("queue",)))
    assert (given.theme, given.target_preferences("shop").columns) == ("nord", ("queue",))
    assert len(caplog.records) == 1


def test_several_dashboards_lose_nothing_of_each_other(place: Path) -> None:
    def remember(number: int) -> None:
        given = Preferences(place)
        for n in range(10):
            given.change_target(f"target-{number}", lambda of, n=n: replace(of, interval_s=float(n + 1)))  # type: ignore[misc]

    threads = [threading.Thread(target=remember, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = Preferences(place)
    assert [found.target_preferences(f"target-{number}").interval_s for number in range(4)] == [10.0] * 4
