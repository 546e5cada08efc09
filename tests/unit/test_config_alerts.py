"""Alerts in the configuration file: rules, and how notices are sent."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qmon.cli.alerting_setup import AlertingText, screen_alerting
from qmon.config.config_file import AlertSettings, parse_config, read_config
from qmon.config.credentials import CredentialText, endpoint_for, receiver_secret, receiver_secret_advice
from qmon.config.receivers import EVENTS_URL, Receiver, ReceiverText
from qmon.errors import BadInput
from qmon.model.alerts.alert_rules import AlertText
from qmon.model.alerts.rule_parser import RuleText
from qmon.model.config_reader import KeyText
from qmon.model.figure import Severity
from qmon.model.formatting import DurationText
from tests.wordings import has, pattern

PATH = Path("some/qmon.toml")
VARIABLE = CredentialText.VARIABLE.render(name="QMON_NOTIFY_A")
WHOLE = """
[alerts]
bell = false
group_wait = "5s"

[[notify]]
command = ["/usr/local/bin/page-me", "--team", "queues"]
timeout = "5s"

[[notify]]
name = "on-call"
shape = "pagerduty"
target = "shop*"
severity = "critical"

[[alert]]
queue = "orders"
figure = "oldest"
warn = "2m"
crit = "10m"
for = "30s"

[[alert]]
name = "anything critical"
verdict = "*"
severity = "critical"
"""


def at(key: str) -> str:
    """Return the key as an error names it."""
    return f"{PATH}: {key}"


def nearest(word: str) -> str:
    """Return the end of an error that suggests this word."""
    return KeyText.DID_YOU_MEAN.render(word=word)


def test_rules_and_how_they_are_told() -> None:
    config = parse_config(WHOLE, PATH)
    assert [rule.name for rule in config.alerts] == ["oldest (1)", "anything critical"]
    assert config.alerting == AlertSettings(False, 5.0)
    assert config.receivers == (
        Receiver("page-me", command=("/usr/local/bin/page-me", "--team", "queues"), timeout_s=5.0),
        Receiver("on-call", "pagerduty", EVENTS_URL, targets=("shop*",), severity=Severity.CRITICAL),
    )


def test_without_any_nothing_is_watched_and_nothing_run() -> None:
    config = parse_config("", PATH)
    assert (config.alerts, config.alerting, config.receivers) == ((), AlertSettings(True, 10.0), ())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "[[alert]]\nfigure = 'redy'\nwarn = 1",
            pattern(RuleText.NO_SUCH_FIGURE, where=at("alert[1].figure"), name="redy", hint=nearest("ready")),
        ),
        (
            "[[alert]]\nverdict = '*'\n[[alert]]\nverdict = 5",
            pattern(KeyText.NOT_TEXTS, path=at("alert[2].verdict"), kind=KeyText.WHOLE_NUMBER),
        ),
        ("[alert]\nfigure = 'ready'", pattern(KeyText.NOT_TABLES, path=at("alert"), name="alert", kind=KeyText.TABLE)),
        ("[alerts]\nbel = true", pattern(KeyText.UNKNOWN_KEY, path=at("alerts.bel"), hint=nearest("bell"))),
        ("[alerts]\nbell = 'no'", pattern(KeyText.NOT_A_BOOLEAN, path=at("alerts.bell"), kind=KeyText.TEXT)),
        (
            "[alerts]\ngroup_wait = 'long'",
            f"{re.escape(at('alerts.group_wait'))}: {pattern(DurationText.NOT_A_DURATION, text='long')}",
        ),
        (
            "[[notify]]\ncommand = 'page-me --now'",
            pattern(KeyText.NOT_TEXTS, path=at("notify[1].command"), kind=KeyText.TEXT),
        ),
        ("[[notify]]\ncommand = []", pattern(ReceiverText.SHAPE_OR_COMMAND, key=at("notify[1]"))),
        ("[[notify]]\ncommand = ['a']\nshape = 'slack'", pattern(ReceiverText.SHAPE_OR_COMMAND, key=at("notify[1]"))),
        ("[[notify]]\ncommand = ['a']\nurl = 'https://a'", pattern(KeyText.UNKNOWN_KEY, path=at("notify[1].url"))),
        (
            "[[notify]]\ncommand = ['a']\ntimeout = 'long'",
            f"{re.escape(at('notify[1].timeout'))}: {pattern(DurationText.NOT_A_DURATION, text='long')}",
        ),
        (
            "[[notify]]\nshape = 'slak'",
            pattern(KeyText.UNKNOWN_VALUE, path=at("notify[1].shape"), value="slak", hint=nearest("slack")),
        ),
        (
            "[[notify]]\nshape = 'slack'\n[[notify]]\nshape = 'slack'",
            pattern(ReceiverText.TWICE, key=at("notify[2].name"), name="slack"),
        ),
        (
            "[[notify]]\nname = 'a b'\nshape = 'slack'\n[[notify]]\nname = 'A-B'\nshape = 'json'",
            pattern(ReceiverText.VARIABLE_TAKEN, key=at("notify[2].name"), variable="QMON_NOTIFY_A_B", other="a b"),
        ),
        (
            "[[notify]]\nshape = 'slack'\nurl = 'https://hooks/S3CRET'",
            pattern(ReceiverText.WEBHOOK_URL, key=at("notify[1].url"), advice=ReceiverText.KEY_ADVICE),
        ),
        (
            "[[notify]]\nshape = 'json'\nurl = 'https://me:S3CRET@a/'",
            pattern(ReceiverText.CONFIDENTIAL_URL, key=at("notify[1].url"), advice=ReceiverText.KEY_ADVICE),
        ),
        (
            "[[notify]]\nshape = 'json'\nurl = 'https://a/?key=S3CRET'",
            pattern(ReceiverText.CONFIDENTIAL_URL, key=at("notify[1].url"), advice=ReceiverText.KEY_ADVICE),
        ),
        (
            "[[notify]]\nshape = 'json'\nurl = 'ftp://a/S3CRET'",
            pattern(ReceiverText.NOT_A_URL, where=at("notify[1].url")),
        ),
        (
            "[[notify]]\nshape = 'json'\nurl = 'https://a:99999/'",
            pattern(ReceiverText.NOT_A_URL, where=at("notify[1].url")),
        ),
        (
            "[[notify]]\nshape = 'json'\nbearer = true",
            pattern(ReceiverText.BEARER, key=at("notify[1].bearer"), alertmanager="alertmanager", json="json"),
        ),
    ],
)
def test_each_fault_is_one_line_with_file_and_key(text: str, fault: str) -> None:
    with pytest.raises(BadInput, match=f"^{fault}") as caught:
        parse_config(text, PATH)
    assert "S3CRET" not in str(caught.value)


def test_the_dashboard_has_alerts_only_where_a_rule_is_about_its_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("QMON_NOTIFY_ON_CALL", raising=False)
    place = tmp_path / "qmon.toml"
    place.write_text(WHOLE.replace('queue = "orders"', 'target = "shop*"').partition('[[alert]]\nname = "any')[0])
    assert screen_alerting(["elsewhere"], read_config(place)) is None
    assert has(capsys.readouterr().err, AlertText.NO_SUCH_TARGET, targets="shop*")
    found = screen_alerting(["shop-1"], read_config(place))
    assert found is not None
    assert found.notifier is not None
    advice = CredentialText.RECEIVER_ADVICE.render(
        what="key",
        first=CredentialText.SET_VARIABLE.render(variable="QMON_NOTIFY_ON_CALL"),
        command=CredentialText.KEYRING_SET.render(service="qmon", user="notify on-call"),
    )
    missing = AlertingText.NOTICES_TO.render(receiver="on-call", advice=advice)
    assert capsys.readouterr().err == AlertingText.NOT_NOTIFIED.render(problem=missing) + "\n"
    place.write_text(place.read_text().replace("[[notify]]", "[[notify]]\ntarget = 'mails'", 1))
    quiet = screen_alerting(["shop-1"], read_config(place))
    assert quiet is not None
    assert quiet.notifier is None


@pytest.mark.parametrize(
    ("receiver", "secret", "fault"),
    [
        (Receiver("a", "slack"), "not a url S3CRET", pattern(ReceiverText.NOT_A_URL, where=VARIABLE)),
        (
            Receiver("a", "slack"),
            "http://hooks.example/S3CRET",
            pattern(CredentialText.UNENCRYPTED, where=VARIABLE),
        ),
        (
            Receiver("a", "json", "http://b", bearer=True),
            "S3CRET",
            pattern(CredentialText.UNENCRYPTED, where=CredentialText.URL_OF.render(receiver="a")),
        ),
        (Receiver("a", "alertmanager"), "https://me:S3CRET@", pattern(ReceiverText.NOT_A_URL, where=VARIABLE)),
        (Receiver("a", "slack"), "https://b/S3CRET\nc", pattern(ReceiverText.NOT_A_URL, where=VARIABLE)),
        (Receiver("a", "pagerduty", EVENTS_URL), "S3CRET\nc", pattern(CredentialText.NOT_A_KEY, origin=VARIABLE)),
    ],
)
def test_a_secret_that_cannot_be_used_is_not_repeated(receiver: Receiver, secret: str, fault: str) -> None:
    with pytest.raises(BadInput, match=f"^{fault}") as caught:
        endpoint_for(receiver, {"QMON_NOTIFY_A": secret})
    assert "S3CRET" not in str(caught.value)


def test_what_is_not_secret_may_go_in_the_clear() -> None:
    found = endpoint_for(Receiver("a", "alertmanager", "http://alerts.internal:9093"), {})
    assert found is not None
    assert (found.url.reveal(), found.key, found.authorization) == (
        "http://alerts.internal:9093/api/v2/alerts",
        None,
        None,
    )
    assert endpoint_for(Receiver("a", "json"), {"QMON_NOTIFY_A": "http://[::1]:8080/"}) is not None


def test_what_is_secret_is_in_the_keyring_where_the_environment_has_it_not(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {("qmon", "notify on-call"): "https://b/kept"}
    monkeypatch.setattr("keyring.get_password", lambda service, user: kept.get((service, user)))
    receiver = Receiver("on-call", "json")
    found, named = (
        receiver_secret(receiver, {}),
        receiver_secret(receiver, {"QMON_NOTIFY_ON_CALL": "https://b/named\n"}),
    )
    assert (found and found.reveal(), named and named.reveal()) == ("https://b/kept", "https://b/named")
    assert receiver_secret(Receiver("other", "json"), {}) is None
    assert receiver_secret_advice(Receiver("–", "json")) == CredentialText.RECEIVER_ADVICE.render(
        what="URL", first="", command=CredentialText.KEYRING_SET.render(service="qmon", user="notify –")
    )


def test_the_examples_of_the_manual_can_be_used() -> None:
    page = (Path(__file__).parents[2] / "docs" / "alerts-and-checks.md").read_text("utf-8")
    examples = [parse_config(text, PATH) for text in re.findall(r"```toml\n(.*?)```", page, re.DOTALL)]
    assert [(len(each.alerts), len(each.receivers)) for each in examples] == [(3, 0), (0, 4)]
    given = {
        "QMON_NOTIFY_ON_CALL": "R0utingKey",
        "QMON_NOTIFY_SLACK": "https://a/b",
        "QMON_NOTIFY_ALERTMANAGER": "t0ken",
    }
    for receiver in examples[1].receivers:
        assert receiver.command or endpoint_for(receiver, given) is not None
