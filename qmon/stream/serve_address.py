"""Parses URLs of targets that a ``qmon serve`` provides."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from qmon.config import receivers
from qmon.engines.secret import Secret
from qmon.errors import BadInput
from qmon.texts import Text


class AddressText(Text):
    """Faults of the URL of a `qmon serve`."""

    FORM = "the URL of a qmon serve looks like https://ops-1:9777/orders-prod; write special characters as %20"
    UNENCRYPTED = "http:// is not encrypted, so it only works for this machine; use https://"
    CA_NEEDS_TLS = "--ca works only with https:// URLs"
    NO_CERTIFICATES = "--ca {ca}: contains no PEM certificates"
    CA_UNREADABLE = "--ca {ca}: {problem}"


@dataclass(frozen=True, slots=True)
class ServeAddress:
    """The address of a ``qmon serve``.

    ``target``: the name of one of its targets; empty for the only target. ``trust``: TLS context; ``None`` without TLS.
    """

    host: str
    port: int
    user: str = ""
    password: Secret | None = None
    target: str = ""
    trust: ssl.SSLContext | None = None

    @property
    def host_and_port(self) -> str:
        """Host and port, without secrets."""
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


def parse_address(text: str, ca: Path | None, origin: str) -> ServeAddress:
    """Parse a URL. ``origin``: the place where the user wrote the URL and the password in the URL.

    ``ca``: PEM file with certificates to trust instead of the system's certificates. Raises ``BadInput``, whose message
    never contains the URL.
    """
    try:
        parts = receivers.parse_url(text.strip(), "")
    except BadInput:
        parts = None
    if parts is None or parts.query or parts.fragment:
        raise BadInput(AddressText.FORM)
    if receivers.is_unencrypted(parts):
        raise BadInput(AddressText.UNENCRYPTED)
    if ca is not None and parts.scheme == "http":
        raise BadInput(AddressText.CA_NEEDS_TLS)
    return ServeAddress(
        parts.hostname or "",
        parts.port or (443 if parts.scheme == "https" else 80),
        unquote(parts.username or ""),
        Secret(unquote(parts.password), origin) if parts.password else None,
        unquote(parts.path.removeprefix("/")),
        _tls_context(ca) if parts.scheme == "https" else None,
    )


def _tls_context(ca: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca)
    except ssl.SSLError:
        raise BadInput(AddressText.NO_CERTIFICATES.render(ca=ca)) from None
    except OSError as problem:
        raise BadInput(AddressText.CA_UNREADABLE.render(ca=ca, problem=problem.strerror)) from None
