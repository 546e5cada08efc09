"""Alerts in the configuration file: rules, and how they are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from qmon.cli.commands.connect import alerting_for
from qmon.config.file import AlertDelivery, parse_config, read_config
from qmon.errors import BadInput

PATH = Path("some/qmon.toml")
WHOLE = """
[alerts]
bell = false
command = ["/usr/local/bin/page-me", "--team", "queues"]
timeout = "5s"

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
    assert config.telling == AlertDelivery(False, ("/usr/local/bin/page-me", "--team", "queues"), 5.0)


def test_without_any_nothing_is_watched_and_nothing_run() -> None:
    config = parse_config("", PATH)
    assert (config.alerts, config.telling) == ((), AlertDelivery(True, (), 10.0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[alert]]\nfigure = 'redy'\nwarn = 1", "alert[1].figure: 'redy' is no figure; did you mean ready?"),
        ("[[alert]]\nverdict = '*'\n[[alert]]\nverdict = 5", "alert[2].verdict: must be a list of texts, not a whole"),
        ("[alert]\nfigure = 'ready'", "alert: must be written as [[alert]], not as a table of keys"),
        ("[alerts]\nbel = true", "alerts.bel: unknown key; did you mean bell?"),
        ("[alerts]\nbell = 'no'", "alerts.bell: must be true or false, not a text"),
        ("[alerts]\ncommand = 'page-me --now'", "alerts.command: must be a list of texts, not a text"),
        ("[alerts]\ncommand = []", "alerts.command: is empty; leave the key out instead"),
        ("[alerts]\ntimeout = 'long'", "alerts.timeout: 'long' is not a duration"),
    ],
)
def test_each_fault_is_one_line_with_file_and_key(text: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_config(text, PATH)
    assert str(caught.value).startswith(f"{PATH}: {message}")


def test_the_dashboard_has_alerts_only_where_a_rule_is_about_its_target(tmp_path: Path) -> None:
    place = tmp_path / "qmon.toml"
    place.write_text(WHOLE.replace('queue = "orders"', 'target = "shop*"').partition('[[alert]]\nname = "any')[0])
    assert alerting_for("elsewhere", read_config(place)) is None
    found = alerting_for("shop-1", read_config(place))
    assert found is not None
    assert found.hook is not None
    place.write_text(place.read_text().replace("command =", "# command ="))
    quiet = alerting_for("shop-1", read_config(place))
    assert quiet is not None
    assert quiet.hook is None
