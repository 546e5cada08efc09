"""The log: data that it must never contain, its file, and errors that must not disturb a command."""

from __future__ import annotations

import json
import logging
import os
import re
import stat
import sys
import threading
from pathlib import Path

import pytest

from qmon import log
from qmon.engines.secret import Secret
from qmon.errors import BadInput, QueryFailed
from qmon.redact import hide_values
from tests import needs
from tests.wordings import has, pattern

LOG = logging.getLogger("qmon.test")
PAYLOAD = "Anna O'Brien, card 4111-1111"


@pytest.mark.parametrize(
    "error",
    [
        f'ERROR: invalid input syntax for type integer: "{PAYLOAD}"',
        f'ERROR: invalid input syntax for type integer: "the "table" "{PAYLOAD}"',
        f'ERROR: invalid input syntax for type json; DETAIL: Token "x" is invalid. CONTEXT: JSON data: {PAYLOAD}',
        f"ERROR: new row violates check constraint; DETAIL: Failing row contains (1, {PAYLOAD}, (x)).",
        f"FEHLER: ungültige Eingabesyntax für Typ integer: »{PAYLOAD}«",
        f"Conversion failed when converting the nvarchar value '{PAYLOAD}' to data type int.",
        f"The duplicate key value is (7, {PAYLOAD}).",
        f"String data would be truncated in table 'shop.dbo.q', column 'body'. Truncated value: '{PAYLOAD}",
        f"invalid literal for int() with base 10: {PAYLOAD!r}",
        f"cannot use {PAYLOAD.encode()!r}",
        f"cannot use {json.dumps({'text': PAYLOAD})}",
        f"cannot use <message>{PAYLOAD}</message>",
        f"syntax error in: INSERT INTO q VALUES (N'{PAYLOAD}')",
    ],
)
def test_values_in_an_error_are_covered(error: str) -> None:
    covered = hide_values(error)
    assert not {"Anna", "Brien", "4111"} & set(re.findall(r"\w+", covered))


@pytest.mark.parametrize(
    "error",
    [
        'ERROR: relation "shop.orders" does not exist',
        'ERROR: column "state" of relation "orders" does not exist',
        "Invalid object name 'dbo.orders'.",
        "The DELETE permission was denied on the object 'q', database 'shop', schema 'dbo'.",
        'wrong password for user "joe"',
        "the server's users' tables aren't there",
    ],
)
def test_names_in_an_error_stay(error: str) -> None:
    assert hide_values(error) == error


def _fail(text: str) -> None:
    try:
        int(text)
    except ValueError as problem:
        raise QueryFailed(f'invalid input syntax for type integer: "{text}"') from problem


def test_an_error_has_its_traceback_with_what_led_to_it_and_nothing_secret(tmp_path: Path) -> None:
    secret = Secret("tr0ub;dor}&3")
    with log.log_to_file(tmp_path / "q.log", logging.INFO):
        log.add_cover(lambda text: text.replace("customer 12", "•••"))
        try:
            _fail(PAYLOAD)
        except QueryFailed:
            LOG.exception("customer 12: PWD={tr0ub;dor}}&3} at postgresql://me:tr0ub%3Bdor%7D%263@h/d\n\x1b[2J")
        LOG.debug("not from this level on")
    text = (tmp_path / "q.log").read_text()
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \d+ ERROR test \[MainThread\]: •••: ", text)
    for part in ("in _fail", "int(text)", "ValueError", "which led to:", "QueryFailed", "in test_an_error_has"):
        assert part in text, part
    for part in ("Anna", "Brien", "4111", "tr0ub", "dor", "customer 12", "\x1b", "not from"):
        assert part not in text, part
    assert secret.reveal() == "tr0ub;dor}&3"


def test_a_defect_is_reported_once_with_its_traceback_and_the_file_is_named(tmp_path: Path) -> None:
    place = tmp_path / "q.log"
    line = ""
    with log.log_to_file(place, logging.ERROR):
        for _ in range(3):
            try:
                _fail("x")
            except QueryFailed as problem:
                line = log.report_defect(problem)
    assert has(line, log.LogText.DEFECT_WITH_LOG, log=place)
    assert place.read_text().count("in _fail") == 2  # its cause has one frame there, too
    assert place.read_text().count("again") == 2
    assert log.report_defect(ValueError("x")) == log.LogText.DEFECT.render(kind="ValueError", problem="x")


def test_what_ends_a_thread_is_logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    with log.log_to_file(tmp_path / "q.log", logging.ERROR):
        thread = threading.Thread(target=_fail, args=("x",), name="it")
        thread.start()
        thread.join()
    assert "ERROR qmon [it]: a thread has ended" in (tmp_path / "q.log").read_text()


@needs.posix
def test_the_file_is_private_and_no_link_is_followed(tmp_path: Path) -> None:
    place = tmp_path / "new" / "q.log"
    with log.log_to_file(place, logging.INFO):
        LOG.info("here")
        assert log.log_location() == str(place)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with log.log_to_file(tmp_path / "link", logging.INFO):
        LOG.info("not there")
    assert not (tmp_path / "elsewhere").exists()


def test_full_files_are_moved_aside_and_only_some_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "MAX_BYTES", 1000)
    place = tmp_path / "q.log"
    with log.log_to_file(place, logging.INFO):
        for number in range(100):
            LOG.info("line %d", number)
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["q.log", "q.log.1", "q.log.2", "q.log.3"]
    lines = [line for n in (3, 2, 1, 0) for line in log.rotated_path(place, n).read_text().splitlines()]
    numbers = [int(line.rpartition(" ")[2]) for line in lines]
    assert numbers == list(range(100 - len(numbers), 100))
    assert all(path.stat().st_size <= 1000 for path in tmp_path.iterdir())


def test_several_processes_write_one_file_and_lose_no_line(tmp_path: Path) -> None:
    place = tmp_path / "q.log"
    code = (
        "import logging, sys; from pathlib import Path; from qmon import log; log.MAX_BYTES = 30_000\n"
        "with log.log_to_file(Path(sys.argv[1]), logging.INFO):\n"
        "    for n in range(300): logging.getLogger('qmon.x').info('%s-%d', sys.argv[2], n)\n"
    )
    ids = [
        os.posix_spawn(sys.executable, [sys.executable, "-c", code, str(place), str(k)], os.environ) for k in range(3)
    ]
    assert [os.waitstatus_to_exitcode(os.waitpid(each, 0)[1]) for each in ids] == [0, 0, 0]
    lines = [line for path in tmp_path.iterdir() for line in path.read_text().splitlines()]
    assert sorted(line.rpartition(" ")[2] for line in lines) == sorted(f"{k}-{n}" for k in range(3) for n in range(300))
    assert len(list(tmp_path.iterdir())) > 1


@needs.posix
def test_a_full_disk_and_a_pipe_that_nobody_reads_disturb_nobody(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (Path("/dev/full"), tmp_path / "pipe", Path("/proc/no/q.log"), tmp_path):
        with log.log_to_file(place, logging.INFO):
            LOG.error("lost")
            assert log.write_problem()
            assert f"no log: {place}: " in log.report_defect(ValueError("y"))
    assert capfd.readouterr() == ("", "")


def test_without_a_log_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with log.log_to_file(None, None):
        LOG.error("nowhere")
        assert log.log_location() == log.write_problem() == ""
    assert capfd.readouterr() == ("", "")


def test_what_fails_is_logged_as_it_changes(tmp_path: Path) -> None:
    with log.log_to_file(tmp_path / "q.log", logging.INFO):
        changes = log.FailureLog(LOG)
        for failing in ({"a": "took 1 s"}, {"a": "took 2 s"}, {"a": "gone", "b": "x"}, {"b": "x"}, {"b": "x"}, {}):
            changes.record_failures(failing)
    lines = [line.partition("]: ")[2] for line in (tmp_path / "q.log").read_text().splitlines()]
    assert lines == ["a: took 1 s", "a: gone", "b: x", "a: works again", "b: works again"]


def test_levels() -> None:
    assert log.parse_level("Debug") == logging.DEBUG
    assert log.parse_level("off") is None
    with pytest.raises(BadInput, match=pattern(log.LogText.NO_LEVEL, level="wraning") + ".*warning"):
        log.parse_level("wraning")
