"""Sessions and queues that cannot be ended or paused, with the reasons; the contract tests PostgreSQL on a server."""

from __future__ import annotations

import pytest

from qmon.model.operation_records import Side
from qmon.model.samples.polled_samples import PauseSample
from qmon.operate.actions.end_session import EndSessionText, _refusal_reason
from qmon.operate.actions.end_sessions import SessionRights, SessionSample
from qmon.operate.actions.pause import PauseText, _describe_active_pause
from qmon.operate.actions.pause_switch import SwitchState


@pytest.mark.parametrize(
    ("percent", "done"),
    [(41.6, EndSessionText.PERCENT_DONE.render(percent=41.6)), (None, "")],
    ids=["known", "unknown"],
)
def test_a_session_that_is_rolled_back_already_is_left_alone(percent: float | None, done: str) -> None:
    found = SessionSample(
        61,
        1,
        2,
        "client backend",
        "shop",
        "mailer",
        "mailer",
        "app-7",
        "rolling back",
        3.0,
        9.0,
        "KILL",
        True,
        4,
        True,
        None,
        8192,
        percent,
    )
    name = EndSessionText.NAME.render(session=61)
    refused = EndSessionText.ROLLING_BACK.render(name=name, done=done)
    assert _refusal_reason(found, None, SessionRights("me", 7, True, "")) == refused


@pytest.mark.parametrize(("long", "shown"), [(200, "x" * 200), (201, "x" * 199 + "…")])
def test_who_pauses_a_paused_side_reads_why_it_is_paused(long: int, shown: str) -> None:
    pause = PauseSample("mails", "", Side.CONSUMERS, 0.0, 3_600.0, "anna@app-7", "x" * long, "switch")
    (risk,) = _describe_active_pause(SwitchState(True, 3_600_000, 7), pause, Side.CONSUMERS)
    since_until = PauseText.SINCE_UNTIL.render(since="1970-01-01 00:00:00 UTC", until="1970-01-01 01:00:00 UTC")
    who = PauseText.AUTHOR.render(by="anna@app-7", since_until=since_until, reason=f": {shown}")
    assert risk == PauseText.ALREADY_PAUSED.render(side=Side.CONSUMERS, who=who)
