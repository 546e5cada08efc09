"""The wording of errors about the configuration file, targets, passwords and receivers."""

from __future__ import annotations

from typing import Any, Final

from qmon.config.chosen_target import TargetText
from qmon.config.config_file import ConfigText
from qmon.config.credentials import CredentialText
from qmon.config.receivers import ReceiverText
from qmon.config.slo import ObjectiveText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    TargetText.VARIABLE_TAKEN: (
        {"variable": "QMON_PASSWORD_SHOP", "targets": "shop, crm", "path": "/etc/qmon.toml"},
        "QMON_PASSWORD_SHOP holds the password of shop, crm in /etc/qmon.toml, but this may be "
        "another server: name that target instead, or unset the variable",
    ),
    TargetText.ALL_AND_NAMES: ({}, "--all selects every target in the configuration: leave out the names"),
    TargetText.ALL_OF_NONE: (
        {"path": "/etc/qmon.toml"},
        "--all selects every target in /etc/qmon.toml, but this file has no targets",
    ),
    TargetText.NO_TARGET: ({}, "TARGET is missing: name one or more targets or fleets, or give --all"),
    TargetText.SHARED_VARIABLE: (
        {"variable": "QMON_PASSWORD_SHOP_2", "target": "shop-2", "others": "shop.2", "service": "qmon"},
        "QMON_PASSWORD_SHOP_2 would hold the password of shop-2 and of shop.2: give one target "
        "another name, or store their passwords with 'keyring set qmon shop-2' and unset the variable",
    ),
    TargetText.KEY: ({"path": "/etc/qmon.toml", "target": "shop"}, "/etc/qmon.toml: target.shop.connect"),
    TargetText.AT_KEY: (
        {
            "key": "/etc/qmon.toml: target.shop.connect",
            "problem": "the postgresql:// URL has no valid port after the host; write host:5432",
        },
        "/etc/qmon.toml: target.shop.connect: the postgresql:// URL has no valid port after the host; write host:5432",
    ),
    TargetText.NOT_FOR_THE_FILE: (
        {
            "key": "/etc/qmon.toml: target.shop.connect",
            "advice": "set QMON_PASSWORD_SHOP, or store it with 'keyring set qmon shop'",
        },
        "/etc/qmon.toml: target.shop.connect: contains a password, which must not be in this file; "
        "remove it and set QMON_PASSWORD_SHOP, or store it with 'keyring set qmon shop'",
    ),
    TargetText.QMON_SERVE: ({}, "only qmon connect can connect to a qmon serve; give the database instead"),
    TargetText.JDBC: (
        {"url": "postgresql://user@host:5432/database"},
        "qmon does not read JDBC URLs; write postgresql://user@host:5432/database",
    ),
    TargetText.ADO_NET: (
        {"url": "mssql://user@host:1433/Database"},
        "the connection string has neither DRIVER nor DSN; if it is for ADO.NET, write mssql://user@host:1433/Database",
    ),
    TargetText.NO_DRIVER: ({}, "the connection string has neither DRIVER nor DSN"),
    TargetText.EMPTY: ({}, "the target is empty: give a DSN, a URL, a connection string, or a name from qmon.toml"),
    TargetText.FLEET: (
        {"name": "night", "path": "/etc/qmon.toml"},
        "'night' is a fleet in /etc/qmon.toml, but this command needs a single target",
    ),
    TargetText.PART_OF_URL: ({}, "this is not a target; a URL starts with postgresql:// or mssql://"),
    TargetText.UNKNOWN: (
        {"name": "shp", "path": "/etc/qmon.toml", "nearest": "; did you mean shop?"},
        "'shp' is neither a target in /etc/qmon.toml nor a DSN; did you mean shop?",
    ),
    ConfigText.NO_FILE: ({"path": "/etc/qmon.toml"}, "/etc/qmon.toml: there is no such file"),
    ConfigText.NOT_UTF8: ({}, "it is not UTF-8 text"),
    ConfigText.UNREADABLE: (
        {"path": "/etc/qmon.toml", "reason": "Is a directory"},
        "/etc/qmon.toml: cannot be read: Is a directory",
    ),
    ConfigText.UNWRITABLE: (
        {"path": "/etc/qmon.toml", "reason": "Permission denied"},
        "/etc/qmon.toml: cannot be written: Permission denied",
    ),
    ConfigText.UNSAFE: (
        {
            "path": "/etc/qmon.toml",
            "what": "a command to run",
            "why": "others may write to /etc/qmon.toml: chmod go-w '/etc/qmon.toml'",
        },
        "/etc/qmon.toml: contains a command to run, but others may write to /etc/qmon.toml: chmod "
        "go-w '/etc/qmon.toml'",
    ),
    ConfigText.A_COMMAND: ({}, "a command to run"),
    ConfigText.A_DRIVER: ({}, "the path of a driver"),
    ConfigText.NESTED: ({"path": "/etc/qmon.toml"}, "/etc/qmon.toml: brackets are nested too deeply"),
    ConfigText.NOT_TOML: (
        {"path": "/etc/qmon.toml", "problem": "Expected '=' after a key in a key/value pair (at line 3, column 7)"},
        "/etc/qmon.toml: Expected '=' after a key in a key/value pair (at line 3, column 7)",
    ),
    ConfigText.NAME_TAKEN: ({}, "a target already has this name"),
    ConfigText.NO_FLEET_NAME: ({}, "a fleet needs a name"),
    ConfigText.NO_FLEET_TARGETS: (
        {"key": "/etc/qmon.toml: fleets.night"},
        "/etc/qmon.toml: fleets.night: a fleet needs targets",
    ),
    ConfigText.NO_SUCH_TARGET: (
        {"key": "/etc/qmon.toml: fleets.night", "pattern": "shp", "nearest": "; did you mean shop?"},
        "/etc/qmon.toml: fleets.night: no target is called 'shp'; did you mean shop?",
    ),
    ConfigText.NO_TARGET_NAME: ({"key": "/etc/qmon.toml: target"}, "/etc/qmon.toml: target: a target needs a name"),
    ConfigText.NO_TARGET_KEYS: ({"key": "/etc/qmon.toml: target"}, "/etc/qmon.toml: target: a target needs keys"),
    ConfigText.AT_KEY: (
        {"key": "/etc/qmon.toml: settings.redact", "problem": "unterminated character set at position 0"},
        "/etc/qmon.toml: settings.redact: unterminated character set at position 0",
    ),
    ConfigText.BUDGET: (
        {"key": "/etc/qmon.toml: target.shop.budget"},
        '/etc/qmon.toml: target.shop.budget: must be like "1%" of one processor, "10ms/s", or "100ms" per poll',
    ),
    ConfigText.QUEUE_TWICE: (
        {"key": "/etc/qmon.toml: target.shop.queue[2]", "queue": "orders"},
        "/etc/qmon.toml: target.shop.queue[2].name: a queue 'orders' is already defined above",
    ),
    ConfigText.INTERVAL: (
        {"key": "/etc/qmon.toml: settings.interval"},
        "/etc/qmon.toml: settings.interval: must be from 500ms to 1m",
    ),
    ConfigText.BUDGET_PERCENT: (
        {"key": "/etc/qmon.toml: settings.budget_percent"},
        "/etc/qmon.toml: settings.budget_percent: must be more than 0 and at most 100",
    ),
    CredentialText.VARIABLE: ({"name": "QMON_PASSWORD"}, "the environment variable QMON_PASSWORD"),
    CredentialText.ADVICE: (
        {"variable": "QMON_PASSWORD_SHOP", "service": "qmon", "target": "shop"},
        "set QMON_PASSWORD_SHOP, or store it with 'keyring set qmon shop'",
    ),
    CredentialText.ON_COMMAND_LINE: (
        {"variable": "QMON_PASSWORD_SHOP"},
        "a password on the command line stays in the shell's history and in the list of processes; use"
        " QMON_PASSWORD_SHOP or the keyring instead",
    ),
    CredentialText.KEYRING: ({"service": "qmon", "user": "shop"}, "keyring, service qmon, user shop"),
    CredentialText.ASKS: (
        {
            "problem": "the server asks for the password of user 'anna', but none is set",
            "advice": "set QMON_PASSWORD_SHOP, or store it with 'keyring set qmon shop'",
        },
        "the server asks for the password of user 'anna', but none is set; set QMON_PASSWORD_SHOP, "
        "or store it with 'keyring set qmon shop', or run qmon on a terminal",
    ),
    CredentialText.URL_OF: ({"receiver": "on-call"}, "url of on-call"),
    CredentialText.NOT_A_KEY: (
        {"origin": "the environment variable QMON_NOTIFY_ON_CALL"},
        "the environment variable QMON_NOTIFY_ON_CALL: not a key: a key has no spaces or line breaks",
    ),
    CredentialText.UNENCRYPTED: (
        {"where": "url of on-call"},
        "url of on-call: must start with https://, because others in the network could read the secret",
    ),
    CredentialText.SET_VARIABLE: ({"variable": "QMON_NOTIFY_ON_CALL"}, "set QMON_NOTIFY_ON_CALL, or "),
    CredentialText.KEYRING_SET: (
        {"service": "qmon", "user": "notify on-call"},
        "'keyring set qmon \"notify on-call\"'",
    ),
    CredentialText.RECEIVER_ADVICE: (
        {"what": "URL", "first": "set QMON_NOTIFY_ON_CALL, or ", "command": "'keyring set qmon \"notify on-call\"'"},
        "the receiver's URL is missing: set QMON_NOTIFY_ON_CALL, or store it with 'keyring set qmon "
        '"notify on-call"\'',
    ),
    ReceiverText.TWICE: (
        {"key": "/etc/qmon.toml: notify[2].name", "name": "on-call"},
        "/etc/qmon.toml: notify[2].name: a receiver 'on-call' is already defined above",
    ),
    ReceiverText.VARIABLE_TAKEN: (
        {"key": "/etc/qmon.toml: notify[2].name", "variable": "QMON_NOTIFY_ON_CALL", "other": "on call"},
        "/etc/qmon.toml: notify[2].name: the variable QMON_NOTIFY_ON_CALL is already the variable of 'on call'",
    ),
    ReceiverText.SHAPE_OR_COMMAND: (
        {"key": "/etc/qmon.toml: notify[1]"},
        "/etc/qmon.toml: notify[1]: needs either shape or command, not both",
    ),
    ReceiverText.BEARER: (
        {"key": "/etc/qmon.toml: notify[1].bearer", "alertmanager": "alertmanager", "json": "json"},
        "/etc/qmon.toml: notify[1].bearer: is only for the url of alertmanager or json",
    ),
    ReceiverText.WEBHOOK_URL: (
        {
            "key": "/etc/qmon.toml: notify[1].url",
            "advice": "remove the key and keep its value in the environment or the keyring: see qmon help "
            "alerts-and-checks",
        },
        "/etc/qmon.toml: notify[1].url: anyone who knows the URL of a webhook can post to it; remove "
        "the key and keep its value in the environment or the keyring: see qmon help "
        "alerts-and-checks",
    ),
    ReceiverText.CONFIDENTIAL_URL: (
        {
            "key": "/etc/qmon.toml: notify[1].url",
            "advice": "remove the key and keep its value in the environment or the keyring: see qmon help "
            "alerts-and-checks",
        },
        "/etc/qmon.toml: notify[1].url: may hold a secret; remove the key and keep its value in the "
        "environment or the keyring: see qmon help alerts-and-checks",
    ),
    ReceiverText.KEY_ADVICE: (
        {},
        "remove the key and keep its value in the environment or the keyring: see qmon help alerts-and-checks",
    ),
    ReceiverText.NOT_A_URL: (
        {"where": "/etc/qmon.toml: notify[1].url"},
        "/etc/qmon.toml: notify[1].url: not a URL; a URL starts with https://",
    ),
    ObjectiveText.TWICE: (
        {"key": "/etc/qmon.toml: slo[2].name", "name": "fresh"},
        "/etc/qmon.toml: slo[2].name: an slo 'fresh' is already defined above",
    ),
    ObjectiveText.NO_SUCH_FIGURE: (
        {"key": "/etc/qmon.toml: slo[1].figure", "figure": "oldst", "nearest": "; did you mean oldest?"},
        "/etc/qmon.toml: slo[1].figure: 'oldst' is not a figure for service levels; did you mean oldest?",
    ),
    ObjectiveText.BELOW: ({"key": "/etc/qmon.toml: slo[1].below"}, "/etc/qmon.toml: slo[1].below: must be more than 0"),
    ObjectiveText.SHARE: (
        {"key": "/etc/qmon.toml: slo[1].objective"},
        "/etc/qmon.toml: slo[1].objective: must be a share of the time, more than 0 and less than 1, "
        "such as 0.99 for 99 %",
    ),
    ObjectiveText.WINDOW: (
        {"key": "/etc/qmon.toml: slo[1].window"},
        "/etc/qmon.toml: slo[1].window: must be at least 1d",
    ),
    ObjectiveText.NAME: ({"figure": "oldest", "number": 1}, "oldest (1)"),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
