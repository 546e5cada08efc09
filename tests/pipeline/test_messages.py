"""Archived messages of a real server in a lake: each once, despite late commits, rollbacks, deletions and
interruptions."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from qmon.cli.commands.pipeline import archived_messages as command
from qmon.cli.commands.pipeline.archived_messages import MessagesText
from qmon.cli.commands.pipeline.pipeline_options import lake_path
from qmon.cli.target_session import SessionText
from qmon.engines.base import Target
from qmon.engines.secret import Secret
from qmon.pipeline.lake.lake import Lake
from qmon.pipeline.lake.maintenance import LakeRetention, tidy_lake
from qmon.pipeline.messages.archive_reader import ArchiveReaderText, ArchiveTable
from qmon.pipeline.messages.message_intake import IntakeResult, MessageIntake
from qmon.pipeline.messages.message_waits import message_times
from qmon.pipeline.messages.spark_source import KeyRangeRead
from qmon.pipeline.pipeline_texts import IntakeText
from qmon.pipeline.report.html import report_page
from qmon.pipeline.report.report_formatting import duration_text, number_text
from tests.cli.calling import call
from tests.facts import connected, query, wait_until
from tests.pipeline.archiving import archive, finished, found, kept
from tests.pipeline.pages import Page, hostile_facts
from tests.queues import ENGINE, made, target_of
from tests.wordings import has

pytestmark = pytest.mark.timeout(1200)
HOSTILE = "ord\"ers]].'x"


class Cut(Exception):
    """The run ends here."""


class Taking:
    """Takes of one archive into one lake."""

    def __init__(self, spark: SparkSession, place: Path, url: str, archive: ArchiveTable) -> None:
        self.spark, self.store = spark, MessageIntake(Lake(spark, str(place)))
        self.url, self.archive = url, archive

    def __call__(self, *redact: str) -> IntakeResult:
        target = target_of(self.url)
        return self.store.take_archive(target, self.archive, payloads=True, redact=redact, connections=2, anew=False)

    def lake(self) -> dict[int, str]:
        """Return number → message in the lake, each once."""
        rows = self.store.all_messages().select("archive_id", "payload").collect()
        assert len(rows) == len({row.archive_id for row in rows})
        return {row.archive_id: row.payload for row in rows}


def test_what_commits_late_is_taken_once_and_what_never_comes_is_given_up(
    spark: SparkSession, tmp_path: Path, database: str
) -> None:
    """1 to 5 commit after two takes, 6 to 10 are rolled back.

    One row is deleted after its take, another before; one take is interrupted.
    """
    layout = made(database, "batch_fast", HOSTILE)
    finished(database, layout, 70)
    take = Taking(spark, tmp_path / "lake", database, found(database, layout))
    table = ENGINE.quote(take.archive.parts)
    with connected(database, autocommit=False) as late, connected(database, autocommit=False) as never:
        assert (archive(late, layout, 5), archive(never, layout, 5)) == (5, 5)
        with connected(database) as other:
            assert archive(other, layout, 20) == 20
            first = take()
            assert (first.messages, first.mark.upto, first.mark.awaited_count) == (20, 30, 10)
            archive(other, layout, 10)
            query(database, f"DELETE FROM {table} WHERE archive_id IN (12, 35)")
            second = take()
            assert (second.messages, second.mark.upto, second.mark.awaited_count) == (9, 40, 11)
            late.commit()
            never.rollback()
            archive(other, layout, 10)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Cut):
        patch.setattr(MessageIntake, "commit_state", cut)
        take()
    assert len(take.lake()) == 29
    third = take("message (5)$")
    assert (third.messages, third.mark.upto, third.mark.awaited_count, third.mark.messages) == (15, 50, 0, 44)
    here, now = take.lake(), kept(database, take.archive)
    assert here.keys() == {*range(1, 6), *range(11, 51)} - {35}
    assert here.keys() - {12} == now.keys()
    covered = {key: "message •••" if key == 5 else text for key, text in now.items()}
    assert {key: here[key] for key in now} == covered
    entries = take.store.read_state().number
    assert (take().messages, take.store.read_state().number) == (0, entries)
    row = take.store.all_messages().where("archive_id = 1").collect()[0].asDict()
    assert (row["queue"], row["target"], row["made"], row["message_id"]) == (HOSTILE, "test", 1, "1")
    assert row["enqueued_at"] <= row["started_at"] <= row["completed_at"] <= row["archived_at"]
    assert (row["attempts"], row["payload_bytes"]) == (1, len("message 1"))
    assert_waited(take)
    assert_tidied(take, tmp_path / "lake")


def assert_waited(take: Taking) -> None:
    """Check the report's table against the messages, one by one."""
    rows = take.store.all_messages().collect()
    found = message_times(take.store.all_messages())
    (one,) = found.collect()
    assert (one.target, one.queue, one.messages, one.again) == ("test", HOSTILE, len(rows), 0.0)
    for what, first, last in (("wait", "enqueued_at", "started_at"), ("work", "started_at", "completed_at")):
        spans = sorted(row[last] - row[first] for row in rows)
        wanted = [spans[math.ceil(share * len(spans)) - 1] for share in (0.5, 0.95, 0.99)]
        assert [one[f"{what}_{p}"] for p in ("p50", "p95", "p99")] == wanted
    facts = replace(hostile_facts(), messages=(one.asDict(),))
    cells = [duration_text(one[f"{what}_{p}"]) for what in ("wait", "work") for p in ("p50", "p95", "p99")]
    assert Page(report_page(facts)).tables["Archived messages"][1] == [HOSTILE, number_text(len(rows)), *cells, "0 %"]


def assert_tidied(take: Taking, place: Path) -> None:
    """Small files are merged, files that no take committed are removed, and the mark of the archive is kept."""
    before, mark = take.lake(), take.store.read_state().watermark_for("test", HOSTILE)
    tidy_lake(str(place), LakeRetention(unused_s=0.0))
    assert len(list((place / "messages").glob("**/bucket=*/*.parquet"))) == 1
    assert (take.lake(), take.store.read_state().watermark_for("test", HOSTILE), take().messages) == (before, mark, 0)


def cut(*_: object) -> None:
    """A kill at this point would leave the messages written, without a mark."""
    raise Cut


@pytest.fixture
def here(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command uses the Spark of these tests, and must not end it."""

    @contextlib.contextmanager
    def lake_here(context: typer.Context, *, little_data: bool = True) -> Iterator[Lake]:
        yield Lake(spark, lake_path(context))

    monkeypatch.setattr(command, "open_lake", lake_here)


def copied(number: int) -> str:
    """Return the line about the first messages of the archive."""
    return MessagesText.COPIED.render(queue="orders", messages=number, number=number, awaited="") + "\n"


def refusal(*arguments: str) -> str:
    """Return the single line of a refusal."""
    done = call("pipeline", "messages", *arguments)
    assert done.exit_code == 2, done.stderr
    (line,) = done.stderr.splitlines()
    return line


@pytest.mark.usefixtures("here")
def test_the_command_takes_in_what_is_new_and_refuses_what_it_cannot_know(
    spark: SparkSession, tmp_path: Path, database: str
) -> None:
    made(database, "fifo", "mails")
    layout = made(database, "flag")
    finished(database, layout, 3)
    query(database, "SELECT orders_archive(10)")
    place = ("--lake", str(tmp_path / "lake"))
    no_archive = refusal(database, "orders", "mails", *place)
    assert has(no_archive, ArchiveReaderText.NO_ARCHIVE, queue="mails", design="fifo")
    not_installed = refusal(database, "nobody", *place)
    assert has(not_installed, SessionText.NOT_INSTALLED, queue="nobody", queues="mails, orders")
    assert has(refusal(database, "orders", "orders", *place), MessagesText.NAMED_TWICE, queue="orders")
    query(database, "ALTER TABLE orders_archive_log DROP COLUMN archive_id")
    not_numbered = refusal(database, "orders", *place)
    assert has(not_numbered, ArchiveReaderText.NOT_NUMBERED, queue="orders")
    helps = not_numbered[not_numbered.index("ALTER TABLE") :]
    assert not (tmp_path / "lake").exists()
    query(database, helps)
    done = call("pipeline", "messages", database, "orders", *place)
    assert done.exit_code == 0, done.stderr
    assert done.stdout == copied(3)

    query(database, "TRUNCATE orders_archive_log RESTART IDENTITY")
    finished(database, layout, 2)
    query(database, "SELECT orders_archive(10)")
    assert has(refusal(database, "orders", *place), IntakeText.RENUMBERED_ARCHIVE, queue="orders", issued=2)
    done = call("pipeline", "messages", database, "orders", *place, "--anew")
    assert done.stdout == copied(2)
    store = MessageIntake(Lake(spark, place[1]))
    rows = store.all_messages().select("made", "archive_id", "payload", "payload_bytes").collect()
    assert sorted(tuple(row) for row in rows) == [(n, k, None, 9) for n, k in ((1, 1), (1, 2), (1, 3), (2, 1), (2, 2))]


@pytest.mark.usefixtures("here")
def test_for_ever_takes_in_what_comes_until_a_signal(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "EVERY_S", 1.0)
    layout, lake, over = made(database, "flag"), tmp_path / "lake", threading.Event()

    def archived(number: int) -> None:
        finished(database, layout, number)
        query(database, "SELECT orders_archive(10)")

    def taken(number: int) -> bool:
        place = str(lake / "messages")
        return DeltaTable.is_deltatable(place) and DeltaTable(place).to_pyarrow_table().num_rows == number

    def meanwhile() -> None:
        try:
            wait_until(lambda: over.is_set() or taken(3), 120.0, what="the first three ingested")
            archived(2)
            wait_until(lambda: over.is_set() or taken(5), 120.0, what="two more ingested")
        finally:
            if not over.is_set():
                os.kill(os.getpid(), signal.SIGTERM)

    archived(3)
    with ThreadPoolExecutor(1) as beside:
        told = beside.submit(meanwhile)
        done = call("pipeline", "messages", database, "orders", "--lake", str(lake), "--continuous")
        over.set()
        told.result()
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith(copied(3))
    assert has(done.stderr, MessagesText.STOPPED)


def test_a_reading_holds_no_password() -> None:
    target = Target("shop", "postgres", {"Server": "db", "UID": "anna"}, password=Secret("s3cr3t-pass"))
    archive = ArchiveTable("orders", ("public", "orders_archive_log"), 7, {"message_id": "id", "payload": None})
    reading = KeyRangeRead(target, archive, [[(1, 2), (5, 9)], [(10, 10)]], payloads=True, redact=("a(b)",))
    told = reading.to_options()
    assert "s3cr3t" not in repr(told) + repr(reading)
    again = KeyRangeRead.from_options(told)
    assert (again.target, again.archive, again.parts, again.redact) == (target, archive, reading.parts, ("a(b)",))
    assert again.target.password is None
