"""Convert ``postgresql://`` and ``mssql://`` URLs to ODBC keywords."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from qmon.engines.base import EngineName
from qmon.engines.odbc_keywords import format_conninfo
from qmon.engines.secret import Secret
from qmon.errors import BadInput
from qmon.model.config_reader import suggest_nearest
from qmon.texts import Text


class UrlText(Text):
    """Errors of URLs."""

    UNKNOWN_SCHEME = "qmon does not support {scheme}:// URLs; it supports: {schemes}"
    CANNOT_BE_READ = "the {scheme}:// URL cannot be read; percent-encode special characters, such as %40 for @"
    ONLY_DATABASE = "only a database may follow the host in the {scheme}:// URL; write # and / in names as %23 and %2F"
    NO_PORT = "the {scheme}:// URL has no valid port after the host; write host:5432"
    UNKNOWN_POSTGRES_SETTING = "the postgresql:// URL has the unknown setting {name}{hint}"
    ONE_HOST = "an mssql:// URL names one host: mssql://user@host:1433/database"
    UNKNOWN_MSSQL_SETTING = "the mssql:// URL has the unknown setting {name}{hint}"


SCHEMES: Final[dict[str, EngineName]] = {"postgresql": "postgres", "postgres": "postgres", "mssql": "sqlserver"}

# Settings of libpq that psqlODBC passes on through the keyword pqopt.
_LIBPQ_SETTINGS: Final = [
    "application_name",
    "channel_binding",
    "connect_timeout",
    "gssencmode",
    "hostaddr",
    "keepalives",
    "keepalives_count",
    "keepalives_idle",
    "keepalives_interval",
    "krbsrvname",
    "load_balance_hosts",
    "options",
    "require_auth",
    "service",
    "sslcert",
    "sslcrl",
    "sslkey",
    "ssl_max_protocol_version",
    "ssl_min_protocol_version",
    "sslnegotiation",
    "sslrootcert",
    "sslsni",
    "target_session_attrs",
    "tcp_user_timeout",
]

# Options of an mssql:// URL, and their ODBC keywords.
_MSSQL_OPTIONS: Final = {
    "driver": "DRIVER",
    "trust": "TrustServerCertificate",
    "encrypt": "Encrypt",
    **{
        name.lower(): name
        for name in [
            "TrustServerCertificate",
            "ApplicationIntent",
            "Authentication",
            "Failover_Partner",
            "HostNameInCertificate",
            "IpAddressPreference",
            "MultiSubnetFailover",
            "ServerCertificate",
            "ServerSPN",
            "TDS_Version",
            "Trusted_Connection",
            "WSID",
        ]
    },
}


@dataclass(frozen=True, slots=True)
class Address:
    """The content of a URL. ``place`` is host and database, without secrets."""

    engine: EngineName
    keywords: dict[str, str]
    password: Secret | None
    place: str


@dataclass(frozen=True, slots=True)
class _UrlParts:
    user: str
    password: str
    host: str
    port: str
    database: str
    options: dict[str, str]


def read_url(text: str, origin: str) -> Address:
    """Parse a URL. ``origin``: a description of the source of a password in the URL.

    Raises ``BadInput``. The message never contains the URL, because the URL may contain a password.
    """
    scheme = text.partition("://")[0].lower()
    if scheme not in SCHEMES:
        raise BadInput(UrlText.UNKNOWN_SCHEME.render(scheme=scheme, schemes=", ".join(SCHEMES)))
    parts = _split_url(text, scheme)
    password = parts.options.pop("password", "") or parts.password
    reader = _postgres_keywords if SCHEMES[scheme] == "postgres" else _mssql_keywords
    keywords, place = reader(parts)
    return Address(SCHEMES[scheme], keywords, Secret(password, origin) if password else None, place)


def _split_url(text: str, scheme: str) -> _UrlParts:
    try:
        url = urlsplit(text)
        options = {name.lower(): value for name, value in parse_qsl(url.query, strict_parsing=bool(url.query))}
    except ValueError:
        raise BadInput(UrlText.CANNOT_BE_READ.render(scheme=scheme)) from None
    credentials, _, hosts = url.netloc.rpartition("@")
    user, _, password = credentials.partition(":")
    host, port = _split_hosts(hosts, scheme)
    if url.fragment or "/" in url.path[1:]:
        raise BadInput(UrlText.ONLY_DATABASE.render(scheme=scheme))
    return _UrlParts(unquote(user), unquote(password), host, port, unquote(url.path[1:]), options)


def _split_hosts(text: str, scheme: str) -> tuple[str, str]:
    """Return the hosts, joined by commas, and the ports, joined by commas. libpq tries the hosts in this order."""
    hosts: list[str] = []
    ports: list[str] = []
    for one in text.split(","):
        if one.startswith("["):
            host, _, rest = one[1:].partition("]")
            port = rest.removeprefix(":")
        else:
            host, _, port = one.partition(":")
        if port and not (port.isdigit() and 0 < int(port) < 65536):
            raise BadInput(UrlText.NO_PORT.render(scheme=scheme))
        hosts.append(unquote(host))
        ports.append(port)
    return ",".join(hosts), ",".join(ports) if any(ports) else ""


def _postgres_keywords(parts: _UrlParts) -> tuple[dict[str, str], str]:
    options = dict(parts.options)
    keywords = {
        "Server": options.pop("host", parts.host),
        "Port": options.pop("port", parts.port),
        "Database": options.pop("dbname", parts.database),
        "UID": options.pop("user", parts.user),
        "SSLmode": options.pop("sslmode", ""),
    }
    for name in options:
        if name not in _LIBPQ_SETTINGS:
            known = (*_LIBPQ_SETTINGS, "host", "port", "dbname", "user", "sslmode")
            raise BadInput(UrlText.UNKNOWN_POSTGRES_SETTING.render(name=name, hint=suggest_nearest(name, known)))
    keywords["pqopt"] = format_conninfo(options)
    host = keywords["Server"]
    place = f"{'localhost' if not host or host.startswith('/') else host}/{keywords['Database'] or keywords['UID']}"
    return {name: value for name, value in keywords.items() if value}, place.rstrip("/")


def _mssql_keywords(parts: _UrlParts) -> tuple[dict[str, str], str]:
    if not parts.host or "," in parts.host:
        raise BadInput(UrlText.ONE_HOST)
    keywords = {
        "Server": f"{parts.host},{parts.port}" if parts.port else parts.host,
        "Database": parts.database,
        "UID": parts.user,
    }
    for name, value in parts.options.items():
        if name not in _MSSQL_OPTIONS:
            raise BadInput(UrlText.UNKNOWN_MSSQL_SETTING.render(name=name, hint=suggest_nearest(name, _MSSQL_OPTIONS)))
        keywords[_MSSQL_OPTIONS[name]] = value
    if not parts.user and "Authentication" not in keywords:
        keywords.setdefault("Trusted_Connection", "yes")
    return {name: value for name, value in keywords.items() if value}, f"{parts.host}/{parts.database}".rstrip("/")
