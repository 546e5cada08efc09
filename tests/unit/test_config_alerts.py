"""Alerts in the configuration file: rules, and how notices are sent."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qmon.cli.alerting_setup import screen_alerting
from qmon.config.config_file import AlertSettings, parse_config, read_config
from qmon.config.credentials import endpoint_for, receiver_secret, receiver_secret_advice
from qmon.config.receivers import EVENTS_URL, Receiver
from qmon.errors import BadInput
from qmon.model.figure import Severity

PATH = Path("some/qmon.toml")
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
    ("text", "message"),
    [
        ("[[alert]]\nfigure = 'redy'\nwarn = 1", "alert[1].figure: 'redy' is not a figure; did you mean ready?"),
        ("[[alert]]\nverdict = '*'\n[[alert]]\nverdict = 5", "alert[2].verdict: must be a list of texts, not a whole"),
        ("[alert]\nfigure = 'ready'", "alert: must be written as [[alert]], not as a table of keys"),
        ("[alerts]\nbel = true", "alerts.bel: unknown key; did you mean bell?"),
        ("[alerts]\nbell = 'no'", "alerts.bell: must be true or false, not a text"),
        ("[alerts]\ngroup_wait = 'long'", "alerts.group_wait: 'long' is not a duration"),
        ("[[notify]]\ncommand = 'page-me --now'", "notify[1].command: must be a list of texts, not a text"),
        ("[[notify]]\ncommand = []", "notify[1]: needs either shape or command, not both"),
        ("[[notify]]\ncommand = ['a']\nshape = 'slack'", "notify[1]: needs either shape or command, not both"),
        ("[[notify]]\ncommand = ['a']\nurl = 'https://a'", "notify[1].url: unknown key"),
        ("[[notify]]\ncommand = ['a']\ntimeout = 'long'", "notify[1].timeout: 'long' is not a duration"),
        ("[[notify]]\nshape = 'slak'", "notify[1].shape: 'slak' is unknown; did you mean slack?"),
        (
            "[[notify]]\nshape = 'slack'\n[[notify]]\nshape = 'slack'",
            "notify[2].name: a receiver 'slack' is already defined above",
        ),
        (
            "[[notify]]\nname = 'a b'\nshape = 'slack'\n[[notify]]\nname = 'A-B'\nshape = 'json'",
            "notify[2].name: the variable QMON_NOTIFY_A_B is already the variable of 'a b'",
        ),
        (
            "[[notify]]\nshape = 'slack'\nurl = 'https://hooks/S3CRET'",
            "notify[1].url: anyone who knows the URL of a webhook",
        ),
        ("[[notify]]\nshape = 'json'\nurl = 'https://me:S3CRET@a/'", "notify[1].url: may hold a secret"),
        ("[[notify]]\nshape = 'json'\nurl = 'https://a/?key=S3CRET'", "notify[1].url: may hold a secret"),
        ("[[notify]]\nshape = 'json'\nurl = 'ftp://a/S3CRET'", "notify[1].url: not a URL"),
        ("[[notify]]\nshape = 'json'\nurl = 'https://a:99999/'", "notify[1].url: not a URL"),
        ("[[notify]]\nshape = 'json'\nbearer = true", "notify[1].bearer: is only for the url of alertmanager or json"),
    ],
)
def test_each_fault_is_one_line_with_file_and_key(text: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_config(text, PATH)
    assert str(caught.value).startswith(f"{PATH}: {message}")
    assert "S3CRET" not in str(caught.value)


def test_the_dashboard_has_alerts_only_where_a_rule_is_about_its_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("QMON_NOTIFY_ON_CALL", raising=False)
    place = tmp_path / "qmon.toml"
    place.write_text(WHOLE.replace('queue = "orders"', 'target = "shop*"').partition('[[alert]]\nname = "any')[0])
    assert screen_alerting("elsewhere", read_config(place)) is None
    assert "applies to no target: no target is called shop*" in capsys.readouterr().err
    found = screen_alerting("shop-1", read_config(place))
    assert found is not None
    assert found.notifier is not None
    assert capsys.readouterr().err == (
        "qmon: notices to on-call: the receiver's key is missing: set QMON_NOTIFY_ON_CALL, or store it with "
        "'keyring set qmon \"notify on-call\"'; this dashboard does not notify this receiver\n"
    )
    place.write_text(place.read_text().replace("[[notify]]", "[[notify]]\ntarget = 'mails'", 1))
    quiet = screen_alerting("shop-1", read_config(place))
    assert quiet is not None
    assert quiet.notifier is None


@pytest.mark.parametrize(
    ("receiver", "secret", "message"),
    [
        (Receiver("a", "slack"), "not a url S3CRET", "the environment variable QMON_NOTIFY_A: not a URL"),
        (
            Receiver("a", "slack"),
            "http://hooks.example/S3CRET",
            "the environment variable QMON_NOTIFY_A: must start with https://",
        ),
        (Receiver("a", "json", "http://b", bearer=True), "S3CRET", "url of a: must start with https://"),
        (Receiver("a", "alertmanager"), "https://me:S3CRET@", "the environment variable QMON_NOTIFY_A: not a URL"),
        (Receiver("a", "slack"), "https://b/S3CRET\nc", "the environment variable QMON_NOTIFY_A: not a URL"),
        (Receiver("a", "pagerduty", EVENTS_URL), "S3CRET\nc", "the environment variable QMON_NOTIFY_A: not a key"),
    ],
)
def test_a_secret_that_cannot_be_used_is_not_repeated(receiver: Receiver, secret: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        endpoint_for(receiver, {"QMON_NOTIFY_A": secret})
    assert str(caught.value).startswith(message)
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
    assert (
        receiver_secret_advice(Receiver("–", "json"))
        == "the receiver's URL is missing: store it with 'keyring set qmon \"notify –\"'"
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
