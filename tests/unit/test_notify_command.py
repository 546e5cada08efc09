"""Notices to a command, with real programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import pytest

from qmon.config.receivers import Receiver
from qmon.engines.secret import Secret
from qmon.model.formatting import duration
from qmon.monitor.notify.command import CommandDelivery
from qmon.monitor.notify.sender import DeliveryText, Sender
from tests.facts import wait_until
from tests.schemas import valid
from tests.unit.notices import notice
from tests.wordings import has

# Time limit, in seconds, for a program that is not meant to time out; enough for a busy machine.
END_S: Final = 240.0
KEEP: Final = (
    "import os, sys; out = open(sys.argv[1], 'a'); out.write(sys.stdin.read()); "
    "out.write(''.join(f'{k}={v}\\n' for k, v in os.environ.items()) if len(sys.argv) > 2 else '')"
)


def keeping(place: Path, *more: str) -> tuple[str, ...]:
    """Return a program that writes its input to a file, and with ``more`` its environment too."""
    return (sys.executable, "-c", KEEP, str(place), *more)


def told(command: tuple[str, ...], said: list[str], timeout_s: float = END_S) -> Sender:
    """Return a sender to a command. Its reports are added to ``said``."""
    return Sender(
        "page-me", CommandDelivery(Receiver("page-me", command=command, timeout_s=timeout_s)), report=said.append
    )


def line(what: str) -> str:
    """Return the line of the receiver."""
    return DeliveryText.LINE.render(receiver="page-me", what=what)


def end(sender: Sender) -> None:
    sender.close()
    assert sender.join(END_S) in ("", line(DeliveryText.NOT_SENT.render(lost=0)))


def test_it_gets_each_notice_in_order_as_a_line_of_json(tmp_path: Path) -> None:
    place, said = tmp_path / "said", list[str]()
    sender = told(keeping(place), said)
    for number in range(5):
        sender.send(notice(number, text="請求書; $(rm -rf /) `x` \n"))
    end(sender)
    lines = [valid(line, "notice") for line in place.read_text().splitlines()]
    assert [each["queues"] for each in lines] == [["q0"], ["q1"], ["q2"], ["q3"], ["q4"]]
    assert lines[0]["words"] == "請求書; $(rm -rf /) `x` \n"
    assert said == []


def test_it_is_run_without_a_shell_and_without_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "a; touch b"
    Secret("kn0wn-s3cretword")
    for name, value in {
        "QMON_PASSWORD": "s3cretword",
        "QMON_PASSWORD_ORDERS_PROD": "s3cretword",
        "PGPASSWORD": "s3cretword",
        "QMON_NOTIFY_ON_CALL": "s3cretword",
        "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer s3cretword",
        "OTEL_EXPORTER_OTLP_METRICS_HEADERS": "a=s3cretword",
        "DATABASE_URL": "postgres://me:s3cretword@h/d",
        "ORDERS": "Driver=x;UID=me;PWD=s3cretword",
        "ELSEWHERE": "token kn0wn-s3cretword",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HTTPS_PROXY", "http://me:its-own@proxy:3128")
    monkeypatch.setenv("PAGER_TOKEN", "its own")
    sender = told(keeping(place, "with its environment"), [])
    sender.send(notice())
    end(sender)
    text = place.read_text()
    assert "PAGER_TOKEN=its own" in text
    assert "HTTPS_PROXY=http://me:its-own@proxy:3128" in text
    assert "s3cretword" not in text
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    ("command", "problem", "detail"),
    [
        (("/nonexistent/page-me",), DeliveryText.CANNOT_RUN, "No such file or directory"),
        (
            (sys.executable, "-c", "import sys; sys.exit('no\\nservice')"),
            DeliveryText.EXIT_CODE.render(code=1),
            "no service",
        ),
        (
            (sys.executable, "-c", "import os; os.close(0); os._exit(7)"),
            DeliveryText.EXIT_CODE.render(code=7),
            "",
        ),
        (("a\0b",), DeliveryText.CANNOT_RUN, "embedded null byte"),
    ],
)
def test_a_failure_is_told_once_and_what_it_wrote_is_not_logged(
    command: tuple[str, ...], problem: str, detail: str, caplog: pytest.LogCaptureFixture
) -> None:
    said: list[str] = []
    sender = told(command, said)
    for number in range(3):
        sender.send(notice(number))
    sender.close()
    assert has(sender.join(END_S), DeliveryText.NOT_SENT_AND_DROPPED, lost=0, dropped=3)
    dropped = line(DeliveryText.DROPPED.render(problem=problem))
    assert said == [DeliveryText.WITH_DETAIL.render(line=dropped, detail=detail) if detail else dropped]
    assert "no service" not in caplog.text


def test_a_failure_is_told_again_after_it_worked(tmp_path: Path) -> None:
    said: list[str] = []
    program = tmp_path / "page-me"
    sender = told((str(program),), said)
    sender.send(notice(1))
    wait_until(lambda: len(said) == 1, what="the first failure")
    program.write_text(f"#!/bin/sh\ncat > '{tmp_path / 'said'}'\n")
    program.chmod(0o700)
    sender.send(notice(2))
    wait_until(lambda: len(said) == 2, what="the program runs")
    program.unlink()
    sender.send(notice(3))
    sender.close()
    sender.join(END_S)
    dropped = line(DeliveryText.DROPPED.render(problem=DeliveryText.CANNOT_RUN))
    failed = DeliveryText.WITH_DETAIL.render(line=dropped, detail="No such file or directory")
    assert said == [failed, line(DeliveryText.WORKS_AFTER_DROPS.render(notices="1 notice")), failed]


def test_what_takes_too_long_is_killed_with_its_children_and_holds_up_nobody(tmp_path: Path) -> None:
    child = tmp_path / "child"
    for limit_s in (1.5, 6.0, 24.0):  # on a busy machine the program may be killed before it has its child
        said: list[str] = []
        sender = told(("/bin/sh", "-c", f"sleep 600 & echo $! > '{child}'; wait"), said, limit_s)
        sender.send(notice())
        assert said == [], "telling returns before the program ends"
        wait_until(lambda said=said: said, END_S, what="the end of the program")  # type: ignore[misc]
        sender.close()
        sender.join(END_S)
        killed = DeliveryText.TOOK_LONGER.render(time=duration(limit_s))
        assert said == [line(DeliveryText.DROPPED.render(problem=killed))]
        if child.exists() and child.read_text():
            break
    pid = int(child.read_text())
    wait_until(lambda: not Path(f"/proc/{pid}").exists() or _is_zombie(pid), what="the end of its child")


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True
