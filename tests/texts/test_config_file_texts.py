"""The wording of errors about the configuration file, targets, passwords and receivers."""

from __future__ import annotations

from typing import Any, Final

from qmon.config.chosen_target import TargetText
from qmon.config.config_file import ConfigText
from qmon.config.credentials import CredentialText
from qmon.config.receivers import ReceiverText
from qmon.config.slo import ObjectiveText
from qmon.model.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    TargetText.VARIABLE_TAKEN: (
        {"variable": "QMON_PASSWORD_SHOP", "targets": "shop, crm", "path": "/etc/qmon/file"},
        "QMON_PASSWORD_SHOP holds the password of shop, crm in /etc/qmon/file, but this may be another server: name"
        " that target instead, or unset the variable",
    ),
    TargetText.ALL_AND_NAMES: ({}, "--all selects every target in the configuration: leave out the names"),
    TargetText.ALL_OF_NONE: (
        {"path": "/etc/qmon/file"},
        "--all selects every target in /etc/qmon/file, but this file has no targets",
    ),
    TargetText.NO_TARGET: ({}, "TARGET is missing: name one or more targets or fleets, or give --all"),
    TargetText.SHARED_VARIABLE: (
        {"variable": "QMON_PASSWORD_SHOP", "target": "shop", "others": "shop.2", "service": "qmon"},
        "QMON_PASSWORD_SHOP would hold the password of shop and of shop.2: give one target another name, or store"
        " their passwords with 'keyring set qmon shop' and unset the variable",
    ),
    TargetText.KEY: ({"path": "/etc/qmon/file", "target": "shop"}, "/etc/qmon/file: target.shop.connect"),
    TargetText.AT_KEY: (
        {"key": "qmon.toml: target.shop", "problem": "the server said no"},
        "qmon.toml: target.shop: the server said no",
    ),
    TargetText.NOT_FOR_THE_FILE: (
        {"key": "qmon.toml: target.shop", "advice": "run qmon setup"},
        "qmon.toml: target.shop: contains a password, which must not be in this file; remove it and run qmon setup",
    ),
    TargetText.QMON_SERVE: ({}, "only qmon connect can connect to a qmon serve; give the database instead"),
    TargetText.JDBC: (
        {"url": "postgresql://user@host:5432/database"},
        "qmon does not read JDBC URLs; write postgresql://user@host:5432/database",
    ),
    TargetText.ADO_NET: (
        {"url": "postgresql://user@host:5432/database"},
        "the connection string has neither DRIVER nor DSN; if it is for ADO.NET, write"
        " postgresql://user@host:5432/database",
    ),
    TargetText.NO_DRIVER: ({}, "the connection string has neither DRIVER nor DSN"),
    TargetText.EMPTY: ({}, "the target is empty: give a DSN, a URL, a connection string, or a name from qmon.toml"),
    TargetText.FLEET: (
        {"name": "night", "path": "/etc/qmon/file"},
        "'night' is a fleet in /etc/qmon/file, but this command needs a single target",
    ),
    TargetText.PART_OF_URL: ({}, "this is not a target; a URL starts with postgresql:// or mssql://"),
    TargetText.UNKNOWN: (
        {"name": "shp", "path": "/etc/qmon/file", "nearest": "; did you mean shop?"},
        "'shp' is neither a target in /etc/qmon/file nor a DSN; did you mean shop?",
    ),
    ConfigText.NO_FILE: ({"path": "/etc/qmon/file"}, "/etc/qmon/file: there is no such file"),
    ConfigText.NOT_UTF8: ({}, "it is not UTF-8 text"),
    ConfigText.UNREADABLE: (
        {"path": "/etc/qmon/file", "reason": "Is a directory"},
        "/etc/qmon/file: cannot be read: Is a directory",
    ),
    ConfigText.UNWRITABLE: (
        {"path": "/etc/qmon/file", "reason": "Permission denied"},
        "/etc/qmon/file: cannot be written: Permission denied",
    ),
    ConfigText.UNSAFE: (
        {"path": "/etc/qmon/file", "what": "a command to run", "why": "others may write to it"},
        "/etc/qmon/file: contains a command to run, but others may write to it",
    ),
    ConfigText.A_COMMAND: ({}, "a command to run"),
    ConfigText.A_DRIVER: ({}, "the path of a driver"),
    ConfigText.NESTED: ({"path": "/etc/qmon/file"}, "/etc/qmon/file: brackets are nested too deeply"),
    ConfigText.NOT_TOML: (
        {"path": "/etc/qmon/file", "problem": "the server said no"},
        "/etc/qmon/file: the server said no",
    ),
    ConfigText.NAME_TAKEN: ({}, "a target already has this name"),
    ConfigText.NO_FLEET_NAME: ({}, "a fleet needs a name"),
    ConfigText.NO_FLEET_TARGETS: ({"key": "qmon.toml: target.shop"}, "qmon.toml: target.shop: a fleet needs targets"),
    ConfigText.NO_SUCH_TARGET: (
        {"key": "qmon.toml: target.shop", "pattern": "shp", "nearest": "; did you mean shop?"},
        "qmon.toml: target.shop: no target is called 'shp'; did you mean shop?",
    ),
    ConfigText.NO_TARGET_NAME: ({"key": "qmon.toml: target.shop"}, "qmon.toml: target.shop: a target needs a name"),
    ConfigText.NO_TARGET_KEYS: ({"key": "qmon.toml: target.shop"}, "qmon.toml: target.shop: a target needs keys"),
    ConfigText.AT_KEY: (
        {"key": "qmon.toml: target.shop", "problem": "the server said no"},
        "qmon.toml: target.shop: the server said no",
    ),
    ConfigText.BUDGET: (
        {"key": "qmon.toml: target.shop"},
        'qmon.toml: target.shop: must be like "1%" of one processor, "10ms/s", or "100ms" per poll',
    ),
    ConfigText.QUEUE_TWICE: (
        {"key": "qmon.toml: target.shop", "queue": "orders"},
        "qmon.toml: target.shop.name: a queue 'orders' is already defined above",
    ),
    ConfigText.INTERVAL: ({"key": "qmon.toml: target.shop"}, "qmon.toml: target.shop: must be from 500ms to 1m"),
    ConfigText.BUDGET_PERCENT: (
        {"key": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: must be more than 0 and at most 100",
    ),
    CredentialText.VARIABLE: ({"name": "QMON_PASSWORD"}, "the environment variable QMON_PASSWORD"),
    CredentialText.ADVICE: (
        {"variable": "QMON_PASSWORD_SHOP", "service": "qmon", "target": "shop"},
        "set QMON_PASSWORD_SHOP, store it with 'keyring set qmon shop'",
    ),
    CredentialText.ON_COMMAND_LINE: (
        {"variable": "QMON_PASSWORD_SHOP"},
        "a password on the command line stays in the shell's history and in the list of processes; use"
        " QMON_PASSWORD_SHOP or the keyring instead",
    ),
    CredentialText.KEYRING: ({"service": "qmon", "user": "shop"}, "keyring, service qmon, user shop"),
    CredentialText.ASKS: (
        {"problem": "the server said no", "advice": "run qmon setup"},
        "the server said no; run qmon setup, or run qmon on a terminal",
    ),
    CredentialText.URL_OF: ({"receiver": "on-call"}, "url of on-call"),
    CredentialText.NOT_A_KEY: (
        {"origin": "the environment variable QMON_NOTIFY_A"},
        "the environment variable QMON_NOTIFY_A: not a key: a key has no spaces or line breaks",
    ),
    CredentialText.UNENCRYPTED: (
        {"where": "notify[1].url"},
        "notify[1].url: must start with https://, because others in the network could read the secret",
    ),
    CredentialText.SET_VARIABLE: ({"variable": "QMON_NOTIFY_A"}, "set QMON_NOTIFY_A, or "),
    CredentialText.KEYRING_SET: ({"service": "qmon", "user": "shop"}, "'keyring set qmon \"shop\"'"),
    CredentialText.RECEIVER_ADVICE: (
        {"what": "URL", "first": "set QMON_NOTIFY_A, or ", "command": "'keyring set qmon \"notify a\"'"},
        "the receiver's URL is missing: set QMON_NOTIFY_A, or store it with 'keyring set qmon \"notify a\"'",
    ),
    ReceiverText.TWICE: (
        {"key": "qmon.toml: target.shop", "name": "on-call"},
        "qmon.toml: target.shop: a receiver 'on-call' is already defined above",
    ),
    ReceiverText.VARIABLE_TAKEN: (
        {"key": "qmon.toml: target.shop", "variable": "QMON_NOTIFY_A", "other": "a b"},
        "qmon.toml: target.shop: the variable QMON_NOTIFY_A is already the variable of 'a b'",
    ),
    ReceiverText.SHAPE_OR_COMMAND: (
        {"key": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: needs either shape or command, not both",
    ),
    ReceiverText.BEARER: (
        {"key": "qmon.toml: target.shop", "alertmanager": "alertmanager", "json": "json"},
        "qmon.toml: target.shop: is only for the url of alertmanager or json",
    ),
    ReceiverText.WEBHOOK_URL: (
        {"key": "qmon.toml: target.shop", "advice": "run qmon setup"},
        "qmon.toml: target.shop: anyone who knows the URL of a webhook can post to it; run qmon setup",
    ),
    ReceiverText.CONFIDENTIAL_URL: (
        {"key": "qmon.toml: target.shop", "advice": "run qmon setup"},
        "qmon.toml: target.shop: may hold a secret; run qmon setup",
    ),
    ReceiverText.KEY_ADVICE: (
        {},
        "remove the key and keep its value in the environment or the keyring: see qmon help alerts-and-checks",
    ),
    ReceiverText.NOT_A_URL: ({"where": "notify[1].url"}, "notify[1].url: not a URL; a URL starts with https://"),
    ObjectiveText.TWICE: (
        {"key": "qmon.toml: target.shop", "name": "oldest (1)"},
        "qmon.toml: target.shop: an slo 'oldest (1)' is already defined above",
    ),
    ObjectiveText.NO_SUCH_FIGURE: (
        {"key": "qmon.toml: target.shop", "figure": "oldst", "nearest": "; did you mean shop?"},
        "qmon.toml: target.shop: 'oldst' is not a figure for service levels; did you mean shop?",
    ),
    ObjectiveText.BELOW: ({"key": "qmon.toml: target.shop"}, "qmon.toml: target.shop: must be more than 0"),
    ObjectiveText.SHARE: (
        {"key": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: must be a share of the time, more than 0 and less than 1, such as 0.99 for 99 %",
    ),
    ObjectiveText.WINDOW: ({"key": "qmon.toml: target.shop"}, "qmon.toml: target.shop: must be at least 1d"),
    ObjectiveText.NAME: ({"figure": "oldest", "number": 1}, "oldest (1)"),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
