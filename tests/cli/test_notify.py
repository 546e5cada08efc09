"""Notices from the commands: a test notice, and one transaction on a real server that blocks eleven queues."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from qmon.cli.alerting_setup import AlertingText, headless_alerting
from qmon.cli.target_session import resolve_targets
from qmon.cli.trial_notice import TrialText
from qmon.config.credentials import CredentialText
from qmon.errors import BadInput
from qmon.log import LogText
from qmon.model.verdicts.access_verdicts import AccessVerdictText
from qmon.model.waits.lock_holders import LockHolderText
from qmon.monitor.notify.sender import DeliveryText
from qmon.monitor.source import Phase, SourceState
from qmon.recording.write.headless_target import HeadlessTarget
from tests.cli.calling import call
from tests.facts import connected, query, wait_until
from tests.listener import Listener, listening
from tests.wordings import has

TOKEN: Final = "T0kenInTheUrl"
NAMES: Final = [f"q{number:02}" for number in range(11)]
TWO: Final = (
    '[[notify]]\nname = "chat"\nshape = "slack"\n[[notify]]\nname = "on-call"\nshape = "pagerduty"\nurl = "{}"\n'
)


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listener]:
    monkeypatch.setenv("no_proxy", "*")
    with listening() as found:
        monkeypatch.setenv("QMON_NOTIFY_CHAT", found.url(f"/{TOKEN}"))
        monkeypatch.setenv("QMON_NOTIFY_ON_CALL", "R0utingKey")
        yield found


@pytest.fixture
def two(own_home: Path, listener: Listener) -> Path:
    """A configuration with two receivers."""
    own_home.parent.mkdir(parents=True)
    own_home.write_text(TWO.replace("{}", listener.url("/v2/enqueue")))
    return own_home


def test_a_trial_is_raised_and_cleared_at_each_receiver_or_those_named(two: Path, listener: Listener) -> None:
    done = call("check", "--test-notice", "all")
    assert (done.exit_code, done.stdout) == (0, "chat: accepted\non-call: accepted\n")
    chat, cleared, trigger, resolve = listener.taken
    assert chat["text"].startswith("▲ WARNING qmon on ")
    assert chat["text"].endswith(f": {TrialText.SUMMARY}")
    assert cleared["text"].startswith("✓ CLEARED")
    assert (trigger["event_action"], resolve["event_action"]) == ("trigger", "resolve")
    assert trigger["dedup_key"] == resolve["dedup_key"]
    assert call("check", "--test-notice", "chat").stdout == "chat: accepted\n"


def test_a_trial_that_fails_says_why_and_no_secret(
    two: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener.answers.extend([403, 500])
    done = call("check", "--test-notice", "all")
    assert done.exit_code == 1
    answers = {"chat": "403 Forbidden", "on-call": "500 Internal Server Error"}
    assert done.stdout.splitlines() == [
        f"{receiver}: {DeliveryText.ANSWERED.render(status=status)}" for receiver, status in answers.items()
    ]
    monkeypatch.delenv("QMON_NOTIFY_CHAT")
    monkeypatch.setenv("QMON_NOTIFY_ON_CALL", f"{TOKEN} two words")
    done = call("check", "--test-notice", "all")
    assert done.exit_code == 2
    assert has(done.stderr, CredentialText.NOT_A_KEY)
    assert "QMON_NOTIFY_ON_CALL" in done.stderr
    done = call("check", "--test-notice", "chat")
    assert done.exit_code == 1
    assert has(done.stderr, CredentialText.RECEIVER_ADVICE, what="URL")
    assert "QMON_NOTIFY_CHAT" in done.stderr
    assert TOKEN not in done.output
    assert call("check", "--test-notice", "chta").exit_code == 2
    two.write_text("")
    assert has(call("check", "--test-notice", "all").stderr, TrialText.NO_RECEIVER, path=two)


def test_who_needs_a_secret_that_is_missing_is_refused_before_anything_begins(
    two: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("QMON_NOTIFY_CHAT")
    two.write_text(two.read_text() + '[[alert]]\nverdict = "*"\n')
    for command in (("record", "--to", str(tmp_path / "there")), ("serve", "--listen", "127.0.0.1:0")):
        done = call(*command, "postgresql://me@127.0.0.1:1/shop")
        assert done.exit_code == 2
        advice = CredentialText.RECEIVER_ADVICE
        assert has(done.stderr, AlertingText.NOTICES_TO, receiver="chat") and has(done.stderr, advice, what="URL")
    assert not (tmp_path / "there").exists()


def test_a_target_that_is_lost_is_told_of_without_a_poll(
    two: Path, listener: Listener, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = '[[alert]]\nverdict = "unreachable"\nfor = "1s"\n[alerts]\ngroup_wait = "1ms"\n'
    two.write_text(rule + '[[notify]]\nname = "chat"\nshape = "json"\n')
    known = resolve_targets(["postgresql://me@127.0.0.1:1/shop"], None)
    with headless_alerting(known) as told:
        told(known[0].target.name, SourceState(known[0].target.name, Phase.LOST, "connection refused"))
        wait_until(lambda: listener.taken, what="the notice")
    (notice,) = listener.taken
    assert (notice["event"], notice["cause"], notice["queues"]) == ("raised", AccessVerdictText.NO_CONNECTION, [])
    assert capsys.readouterr().err == ""


def test_a_defect_in_alerts_is_said_once_and_holds_up_no_poll(
    two: Path, listener: Listener, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError(f"at {listener.url(f'/{TOKEN}')}")

    monkeypatch.setattr("qmon.monitor.alerting.find_changes", fail)
    two.write_text(two.read_text() + '[[alert]]\nverdict = "*"\n')
    known = resolve_targets(["postgresql://me@127.0.0.1:1/shop"], None)
    with headless_alerting(known) as told:
        for _ in range(3):
            told(known[0].target.name, SourceState(known[0].target.name, Phase.LIVE))
    (line,) = capsys.readouterr().err.splitlines()
    assert has(line, LogText.DEFECT, kind="ValueError")
    assert TOKEN not in line


@pytest.mark.server
@pytest.mark.long
def test_a_transaction_that_blocks_eleven_queues_is_one_notice_and_cleared_once_it_ends(
    database: str, own_home: Path, listener: Listener, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queues = []
    for name in NAMES:
        query(database, f"CREATE TABLE public.{name} (id bigint PRIMARY KEY, state int NOT NULL)")
        query(database, f"INSERT INTO public.{name} SELECT i, 0 FROM generate_series(1, 5) AS i")
        queues.append(
            f'[[target.shop.queue]]\nname = "{name}"\ntable = "public.{name}"\ndesign = "status"\n'
            'id = "id"\nstate = { column = "state", ready = 0, in_progress = 1 }\n'
        )
    own_home.parent.mkdir(parents=True)
    own_home.write_text(
        f'[target.shop]\nconnect = "{database}"\nbudget = "100%"\n'
        + "".join(queues)
        + '[[alert]]\nname = "locks"\nverdict = "everything locked"\n[alerts]\ngroup_wait = "3s"\n'
        '[[notify]]\nname = "chat"\nshape = "json"\n'
    )
    (known,) = resolve_targets(["shop"], None)
    with connected(database, autocommit=False) as holder, headless_alerting([known]) as told:
        holder.execute("; ".join(f"SELECT id FROM public.{name} FOR UPDATE" for name in NAMES))
        (session,) = holder.execute("SELECT pg_backend_pid()").fetchone()
        recorder = HeadlessTarget(
            known.target, known.configured, tmp_path, interval_s=0.5, on_view=lambda event: told("shop", event)
        )
        try:
            wait_until(lambda: any(len(each["queues"]) == 11 for each in listener.taken), 90.0, what="the notice")
            holder.rollback()
            wait_until(lambda: listener.taken[-1]["event"] == "cleared", 90.0, what="its end")
        finally:
            recorder.close("over")
    cause = LockHolderText.SESSION.render(session=session)
    assert {(each["name"], each["cause"]) for each in listener.taken} == {("everything locked", cause)}
    assert [each["event"] for each in listener.taken if each["event"] != "more"] == ["raised", "cleared"]
    assert listener.taken[-1]["queues"] == NAMES
    assert len({each["key"] for each in listener.taken}) == 1
    assert TOKEN not in capsys.readouterr().err


def test_the_reason_of_a_missing_secret_is_bad_input(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QMON_NOTIFY_CHAT", "http://hooks.example/" + TOKEN)
    known = resolve_targets(["postgresql://me@127.0.0.1:1/shop"], None)
    with pytest.raises(BadInput) as caught, headless_alerting(known):
        pass
    assert TOKEN not in str(caught.value)
