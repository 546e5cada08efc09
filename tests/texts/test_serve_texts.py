"""The wording of errors about ``qmon serve``, its users and its clients."""

from __future__ import annotations

from typing import Any, Final

from qmon.metrics.access import AccessFileText
from qmon.metrics.guarded_server import ServerText
from qmon.metrics.http_requests import RequestText
from qmon.metrics.metrics_server import StreamLimitText
from qmon.metrics.textfile import TextfileText
from qmon.stream.reading import ServeText
from qmon.stream.sending import SendingText
from qmon.stream.serve_address import AddressText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    AccessFileText.NOT_A_HASH: (
        {"path": "/etc/qmon/users", "line": 3},
        "--users /etc/qmon/users: line 3 is not a name with a bcrypt hash; create it with: htpasswd "
        "-B /etc/qmon/users NAME",
    ),
    AccessFileText.COSTLY_HASH: (
        {"path": "/etc/qmon/users", "line": 3, "limit": 16},
        "--users /etc/qmon/users: line 3 has a bcrypt cost above 16, too slow to check; create it "
        "with: htpasswd -B -C 12 /etc/qmon/users NAME",
    ),
    AccessFileText.NO_USERS: (
        {"path": "/etc/qmon/users"},
        "--users /etc/qmon/users: the file has no users; add one with: htpasswd -B -c /etc/qmon/users NAME",
    ),
    AccessFileText.NOT_A_CERTIFICATE: (
        {"certificate": "cert.pem", "key": "key.pem", "problem": "KEY_VALUES_MISMATCH"},
        "--certificate cert.pem, --key key.pem: not a certificate with its key: KEY_VALUES_MISMATCH",
    ),
    AccessFileText.UNREADABLE: (
        {"option": "--users", "path": "/etc/qmon/users", "problem": "Permission denied"},
        "--users /etc/qmon/users: Permission denied",
    ),
    AccessFileText.NOT_TEXT: ({"option": "--users", "path": "/etc/qmon/users"}, "--users /etc/qmon/users: not text"),
    ServerText.LOGIN_REQUIRED: ({}, "a name and a password are required"),
    ServerText.TOO_MANY_FAILURES: ({}, "too many wrong passwords from this address; try again in a minute"),
    ServerText.TOO_MANY_CHECKS: ({}, "too many password checks are pending; try again"),
    ServerText.NOT_AN_ADDRESS: (
        {"option": "--listen", "address": "9777"},
        "--listen must be an address and a port, such as 127.0.0.1:9777, not '9777'",
    ),
    ServerText.PORT: ({"option": "--listen", "port": 70000}, "--listen: the port must be 0 to 65535, not 70000"),
    ServerText.NEEDS_TLS: (
        {"option": "--listen", "address": "0.0.0.0:9777"},
        "--listen 0.0.0.0:9777: access from other machines needs TLS and passwords: add --certificate, --key and"
        " --users",
    ),
    ServerText.CANNOT_LISTEN: (
        {"option": "--listen", "address": "0.0.0.0:9777", "problem": "Address already in use"},
        "--listen 0.0.0.0:9777: Address already in use",
    ),
    RequestText.LONG_HEADERS: ({}, "the headers are too long"),
    RequestText.NOT_HTTP: ({}, "not an HTTP/1.1 request"),
    RequestText.GET_AND_HEAD: ({}, "only GET and HEAD are supported"),
    RequestText.HEADER_FORM: ({}, "every header must be NAME: VALUE"),
    RequestText.HEADER_TWICE: ({"header": "host"}, "the header host occurs twice"),
    RequestText.UNKNOWN_HOST: ({}, "unknown name in the Host header; start qmon serve with --allow-host NAME"),
    RequestText.OTHER_SITE: ({}, "pages of other sites may not read from this server"),
    TextfileText.ENDS_IN_PROM: (
        {"path": "/var/lib/node_exporter/qmon.txt"},
        "--textfile /var/lib/node_exporter/qmon.txt: the name must end in .prom, which node_exporter requires",
    ),
    TextfileText.UNWRITABLE: (
        {"path": "/var/lib/node_exporter/qmon.prom", "problem": "Permission denied"},
        "--textfile /var/lib/node_exporter/qmon.prom: Permission denied",
    ),
    ServeText.TOO_LATE: ({}, "the answer did not arrive in time"),
    ServeText.NAME_CA: (
        {"problem": "certificate verify failed: self-signed certificate"},
        "certificate verify failed: self-signed certificate; name its CA or self-signed certificate with --ca FILE",
    ),
    ServeText.AT_PLACE: (
        {
            "place": "https://ops-1:9777",
            "why": "certificate verify failed: self-signed certificate; name its CA or self-signed certificate "
            "with --ca FILE",
        },
        "https://ops-1:9777: certificate verify failed: self-signed certificate; name its CA or "
        "self-signed certificate with --ca FILE",
    ),
    ServeText.UNREACHABLE: (
        {"place": "https://ops-1:9777", "why": "Connection refused"},
        "qmon serve at https://ops-1:9777: Connection refused",
    ),
    ServeText.OTHER_FORMAT: ({}, "its answer has another format"),
    ServeText.NOT_A_SERVE: (
        {"place": "https://ops-1:9777", "why": "its answer has another format"},
        "https://ops-1:9777 is not a qmon serve: its answer has another format",
    ),
    ServeText.NEEDS_NAME: (
        {"place": "https://ops-1:9777"},
        "https://ops-1:9777 requires a name and a password: put the name into the URL: https://NAME@…",
    ),
    ServeText.NEEDS_LOGIN: (
        {"place": "https://ops-1:9777", "user": "anna"},
        "https://ops-1:9777 requires the password of anna",
    ),
    ServeText.LOGIN_REJECTED: (
        {"place": "https://ops-1:9777", "origin": "the environment variable QMON_PASSWORD_OPS_1"},
        "https://ops-1:9777 rejected the name or the password (the environment variable QMON_PASSWORD_OPS_1)",
    ),
    ServeText.ANSWER: ({"status": 503, "phrase": "Service Unavailable"}, "it answers 503 Service Unavailable"),
    ServeText.REFUSED: (
        {"place": "https://ops-1:9777", "words": "target 'shp' is not served here; available: shop, crm"},
        "qmon serve at https://ops-1:9777: target 'shp' is not served here; available: shop, crm",
    ),
    ServeText.NO_RECORDING: ({}, "it does not send a recording"),
    ServeText.NEWER: (
        {"place": "https://ops-1:9777", "version": "1.0.0"},
        "qmon serve at https://ops-1:9777 is newer than this qmon (1.0.0): upgrade this qmon",
    ),
    ServeText.NO_HEADER: ({}, "its stream does not start like a recording"),
    ServeText.STOPPED: ({"place": "https://ops-1:9777"}, "qmon serve at https://ops-1:9777 was stopped"),
    ServeText.SILENT: (
        {"place": "https://ops-1:9777", "duration": "15 s"},
        "no complete line arrived from https://ops-1:9777 for 15 s",
    ),
    ServeText.LONG_LINE: (
        {"place": "https://ops-1:9777", "megabytes": 64},
        "https://ops-1:9777 sent a line longer than 64 MB",
    ),
    ServeText.LOST: ({"place": "https://ops-1:9777"}, "the connection to https://ops-1:9777 was lost"),
    SendingText.CHOOSE_TARGET: ({"targets": "shop, crm"}, "choose a target: shop, crm"),
    SendingText.NO_SUCH_TARGET: (
        {"target": "shp", "targets": "shop, crm"},
        "target 'shp' is not served here; available: shop, crm",
    ),
    AddressText.FORM: (
        {},
        "the URL of a qmon serve looks like https://ops-1:9777/orders-prod; write special characters as %20",
    ),
    AddressText.UNENCRYPTED: ({}, "http:// is not encrypted, so it only works for this machine; use https://"),
    AddressText.CA_NEEDS_TLS: ({}, "--ca works only with https:// URLs"),
    AddressText.NO_CERTIFICATES: ({"ca": "ca.pem"}, "--ca ca.pem: contains no PEM certificates"),
    AddressText.CA_UNREADABLE: (
        {"ca": "ca.pem", "problem": "No such file or directory"},
        "--ca ca.pem: No such file or directory",
    ),
    StreamLimitText.TOO_MANY: ({"count": 64}, "64 clients are already connected, which is the limit"),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
