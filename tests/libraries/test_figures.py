"""qmon's figures of libraries' queues, without any configuration, match their tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from qmon.cli.commands.queues import ListingText
from qmon.libraries.recognition import RecognitionText
from tests.cli.calling import call
from tests.libraries.every import LIBRARIES
from tests.libraries.figures import agrees, of_queue
from tests.libraries.library import ATTEMPTS, QUEUES, Library
from tests.libraries.procrastinate import procrastinate
from tests.schemas import valid

pytestmark = pytest.mark.server


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest, database: str) -> Library:
    """Each library, with its tables in a fresh database."""
    made: Library = request.param()
    made.install(database)
    return made


def test_each_queue_has_the_figures_of_its_tables(library: Library, database: str, tmp_path: Path) -> None:
    mails, invoices = QUEUES
    library.push(database, mails, ["one", "two", "three"])
    library.push(database, mails, ["tomorrow", "as well"], due_in_s=86_400)
    library.push(database, invoices, ["one"])
    library.push(database, invoices, ["dead"], fails=ATTEMPTS)
    view = agrees(library, database)
    assert sorted(queue.name.rpartition("/")[2] for queue in view.queues) == sorted(QUEUES)
    assert (of_queue(view, mails).oldest.value or 0) < 60

    with library.start(database, tmp_path, "worker", QUEUES) as worker:
        worker.wait(5, "completed", "failed")
        worker.stop()
    agrees(library, database)

    library.push(database, invoices, ["stuck"])
    with library.start(database, tmp_path, "doomed", [invoices], seconds_per_job=3600) as doomed:
        doomed.kill()
    agrees(library, database)


def test_queues_names_them_and_explains_why(database: str) -> None:
    library = procrastinate()
    library.install(database)
    for name in QUEUES:
        library.push(database, name, ["one"])
    said = call("queues", database, "--explain")
    assert said.exit_code == 0, said.output
    lines = [line.split() for line in said.output.splitlines()]
    assert [line[:2] for line in lines[1:4]] == [
        ["procrastinate", "table"],
        ["procrastinate/invoices", "procrastinate"],
        ["procrastinate/mails", "procrastinate"],
    ]
    assert lines[1][-2:] == ListingText.QUEUES.render(count=2).split()
    recognized = RecognitionText.RECOGNIZED.render(tables="procrastinate_events, procrastinate_jobs")
    line = RecognitionText.LINE.render(library="procrastinate", schema="public", result=recognized)
    assert line in said.output
    told = valid(call("queues", database, "--output", "json").output, "queues")
    assert [each["queues"] for each in told["libraries"]] == [["procrastinate/invoices", "procrastinate/mails"]]
    assert told["queues"] == []
