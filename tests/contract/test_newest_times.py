"""If the time zone of a table's times is not known, its newest rows are compared with the clock."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.layout.time_zones import UNKNOWN_ZONE
from qmon.model.reasons import Reason
from qmon.monitor.catalog.catalog import Catalog
from qmon.monitor.catalog.newest_times import NewestTimeText, compare_unknown_zones_with_clock
from qmon.monitor.poll.poller import POLL
from qmon.monitor.state.sample_figures import FigureText
from tests.cli.calling import call
from tests.contract.watching import watching
from tests.facts import query
from tests.queues import ENGINE, target_of
from tests.wordings import has

pytestmark = pytest.mark.server

MAILS = Layout(
    "mail_queue",
    "fifo",
    ObjectName("public", "mail_queue"),
    "id",
    enqueued_at="created_at",
    zones=(("created_at", UNKNOWN_ZONE),),
)


def _mails(url: str, key: str = "PRIMARY KEY") -> None:
    query(
        url,
        f"CREATE TABLE mail_queue (id bigserial {key}, payload text, attempts int,"
        " status text NOT NULL CHECK (status IN ('ready', 'working')) DEFAULT 'ready',"
        " created_at timestamp DEFAULT now())",
    )


def _push(url: str, zone: str, values: str = "DEFAULT") -> None:
    query(url, f"SET timezone = '{zone}'; INSERT INTO mail_queue (created_at) VALUES ({values})")


def _lines(url: str) -> list[str]:
    connection = ENGINE.connect(target_of(url), POLL)
    try:
        return list(compare_unknown_zones_with_clock(Catalog(connection, ENGINE), [MAILS]).get(MAILS.table, ()))
    finally:
        connection.close()


def test_it_tells_by_the_newest_row_and_says_if_sessions_differ(database: str) -> None:
    _mails(database)
    assert _lines(database) == []
    _push(database, "Asia/Tokyo")
    (line,) = _lines(database)
    assert line.endswith(NewestTimeText.AHEAD.render(time="9 h 00 m"))
    _push(database, "UTC")
    _push(database, "UTC", "'infinity'")
    first, second = _lines(database)
    assert first.endswith(NewestTimeText.FITS.render(zones='"utc" and "local"'))
    assert has(second, NewestTimeText.GOES_BACK, count=2, column="created_at")


def test_without_an_index_to_the_newest_rows_nothing_is_read(database: str) -> None:
    _mails(database, key="")
    _push(database, "UTC")
    assert _lines(database) == []


def test_init_and_doctor_show_it(database: str, tmp_path: Path) -> None:
    _mails(database)
    _push(database, "Asia/Kolkata")
    place = tmp_path / "shop.toml"
    assert call("init", database, "--config", str(place)).exit_code == 0
    assert has(" ".join(place.read_text().replace("\n#", "").split()), NewestTimeText.AHEAD, time="5 h 30 m")
    done = call("doctor", database, "--output", "json")
    assert has(done.output, NewestTimeText.AHEAD, time="5 h 30 m")


@pytest.mark.parametrize("times", [None, "utc"], ids=["unknown", "stated and contradicted"])
def test_ages_come_from_watching_if_times_are_unknown_or_contradicted(database: str, times: str | None) -> None:
    _mails(database)
    query(database, "CREATE INDEX ON mail_queue (status, id)")
    _push(database, "Asia/Tokyo")
    layout = replace(MAILS, design="status", state=StateColumn("status", "ready", "working"), times=times, zones=())
    with watching(database, [layout]) as watched:
        waiting = watched.queue("mail_queue", lambda q: (q.oldest.value or 0) > 1).oldest
        assert waiting.at_least, "it may have waited before qmon started"
        _push(database, "Asia/Tokyo")
        watched.queue("mail_queue", lambda q: q.ready.value == 2, polls=2)
        query(database, "DELETE FROM mail_queue WHERE id = 1")
        arrived = watched.queue("mail_queue", lambda q: q.ready.value == 1 and q.oldest.estimated).oldest
        before = query(
            database, "SELECT extract(epoch FROM now() - created_at AT TIME ZONE 'Asia/Tokyo') FROM mail_queue"
        )
    no_time = FigureText.NO_USABLE_TIME.render(column="created_at")
    assert waiting.reason == arrived.reason == Reason.WATCHED.render(reason=no_time)
    assert 0 <= (arrived.value or 0) <= float(str(before[0][0]))
