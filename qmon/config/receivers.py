"""Read ``[[notify]]``, the receivers of alerts. The file does not contain secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import PurePath
from typing import Final
from urllib.parse import SplitResult, urlsplit

from qmon.errors import BadInput
from qmon.model.alerts.alert_rules import ANY_NAME, matches_pattern
from qmon.model.alerts.rule_parser import SEVERITIES, parse_patterns
from qmon.model.config_reader import Keys
from qmon.model.figure import Severity
from qmon.texts import Text


class ReceiverText(Text):
    """Faults of a receiver of alerts."""

    TWICE = "{key}: a receiver {name!r} is already defined above"
    VARIABLE_TAKEN = "{key}: the variable {variable} is already the variable of {other!r}"
    SHAPE_OR_COMMAND = "{key}: needs either shape or command, not both"
    BEARER = "{key}: is only for the url of {alertmanager} or {json}"
    WEBHOOK_URL = "{key}: anyone who knows the URL of a webhook can post to it; {advice}"
    CONFIDENTIAL_URL = "{key}: may hold a secret; {advice}"
    KEY_ADVICE = "remove the key and keep its value in the environment or the keyring: see qmon help alerts-and-checks"
    NOT_A_URL = "{where}: not a URL; a URL starts with https://"


SLACK: Final = "slack"
TEAMS: Final = "teams"
PAGERDUTY: Final = "pagerduty"
ALERTMANAGER: Final = "alertmanager"
JSON: Final = "json"
SHAPES: Final = (SLACK, TEAMS, PAGERDUTY, ALERTMANAGER, JSON)
_PRINTABLE: Final = re.compile(r"[!-~]+")
EVENTS_URL: Final = "https://events.pagerduty.com/v2/enqueue"


@dataclass(frozen=True, slots=True)
class Receiver:
    """One ``[[notify]]``. ``shape`` is empty for a ``command``.

    - ``url``: the receiver's URL; empty if the URL is a secret.
    - ``bearer``: true if requests contain a token.
    - ``targets``: patterns of target names.
    - ``severity``: minimum severity of the alerts that the receiver gets.
    - ``timeout_s``: maximum seconds for one request or for the command.
    """

    name: str
    shape: str = ""
    url: str = ""
    bearer: bool = False
    command: tuple[str, ...] = ()
    timeout_s: float = 10.0
    targets: tuple[str, ...] = (ANY_NAME,)
    severity: Severity = Severity.WARNING

    @property
    def variable_name(self) -> str | None:
        """The environment variable with the receiver's URL or key: ``QMON_NOTIFY_ON_CALL`` for ``on-call``."""
        name = to_variable_name(self.name)
        return f"QMON_NOTIFY_{name}" if name else None

    @property
    def needs_secret(self) -> bool:
        """True if the receiver's URL or key is stored outside the file."""
        return bool(self.shape) and (self.bearer or not self.url or self.shape == PAGERDUTY)

    def is_for_target(self, target: str) -> bool:
        """Return whether the receiver gets alerts of this target."""
        return any(matches_pattern(pattern, target) for pattern in self.targets)


def receivers_from_list(raw: Sequence[Mapping[str, object]], where: str) -> tuple[Receiver, ...]:
    """Read the receivers of the tables ``[[notify]]``. The message of a ``BadInput`` begins with the key's path."""
    out: dict[str, Receiver] = {}
    for number, each in enumerate(raw, 1):
        keys = Keys(each, f"{where}[{number}]")
        receiver = _read_receiver(keys)
        if receiver.name in out:
            raise BadInput(ReceiverText.TWICE.render(key=keys.path("name"), name=receiver.name))
        same = next((r for r in out.values() if r.variable_name and r.variable_name == receiver.variable_name), None)
        if same is not None and same.needs_secret and receiver.needs_secret:
            raise BadInput(
                ReceiverText.VARIABLE_TAKEN.render(key=keys.path("name"), variable=same.variable_name, other=same.name)
            )
        out[receiver.name] = receiver
    return tuple(out.values())


def _read_receiver(keys: Keys) -> Receiver:
    shape, command = keys.choice("shape", SHAPES) or "", tuple(keys.texts("command"))
    if bool(shape) is bool(command):
        raise BadInput(ReceiverText.SHAPE_OR_COMMAND.render(key=keys.where))
    name = keys.text("name") or shape or PurePath(command[0]).name
    usual = Receiver(name)
    timeout_s, severity = keys.seconds("timeout"), keys.choice("severity", tuple(SEVERITIES))
    receiver = Receiver(
        name,
        shape,
        _read_url(keys, shape) if shape else "",
        keys.is_set("bearer") if shape else False,
        command,
        usual.timeout_s if timeout_s is None else timeout_s,
        parse_patterns(keys, "target", usual.targets),
        usual.severity if severity is None else SEVERITIES[severity],
    )
    if receiver.bearer and (not receiver.url or shape == PAGERDUTY):
        raise BadInput(ReceiverText.BEARER.render(key=keys.path("bearer"), alertmanager=ALERTMANAGER, json=JSON))
    keys.reject_unknown_keys()
    return receiver


def _read_url(keys: Keys, shape: str) -> str:
    """Return the URL in the file or PagerDuty's default URL, or an empty text if the URL is stored as a secret."""
    text = keys.text("url")
    if text is None:
        return EVENTS_URL if shape == PAGERDUTY else ""
    if shape in (SLACK, TEAMS):
        raise BadInput(ReceiverText.WEBHOOK_URL.render(key=keys.path("url"), advice=ReceiverText.KEY_ADVICE))
    parts = parse_url(text, keys.path("url"))
    if parts.username is not None or parts.query:
        raise BadInput(ReceiverText.CONFIDENTIAL_URL.render(key=keys.path("url"), advice=ReceiverText.KEY_ADVICE))
    return text


def to_variable_name(name: str) -> str:
    """Convert a name to the form of names of environment variables. The result may be empty."""
    return re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")


def is_key(text: str) -> bool:
    """Return whether a text may be used in a header."""
    return _PRINTABLE.fullmatch(text) is not None


def parse_url(url: str, where: str) -> SplitResult:
    """Split the URL of a request. Raises ``BadInput``, whose message does not repeat the URL."""
    try:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and _PRINTABLE.fullmatch(url):
            return parts
    except ValueError:
        pass
    raise BadInput(ReceiverText.NOT_A_URL.render(where=where))


def is_unencrypted(parts: SplitResult) -> bool:
    """Return whether other users of the network could read requests to this URL."""
    host = parts.hostname or ""
    try:
        local = ip_address(host).is_loopback
    except ValueError:
        local = host == "localhost"
    return parts.scheme == "http" and not local
