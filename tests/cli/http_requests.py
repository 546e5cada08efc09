"""HTTP requests to ``qmon serve``, with a password or over TLS."""

from __future__ import annotations

import base64
import ssl
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen


def asked(url: str, authorization: str | None = None, trusted: Path | None = None) -> int:
    """Return the status of an answer."""
    request = Request(url, headers={} if authorization is None else {"Authorization": authorization})  # noqa: S310
    context = None if trusted is None else ssl.create_default_context(cafile=str(trusted))
    try:
        with urlopen(request, timeout=120, context=context) as answer:  # noqa: S310
            return int(answer.status)
    except HTTPError as refused:
        with refused:
            assert refused.code != 401 or refused.headers["WWW-Authenticate"].startswith("Basic ")
            assert b"shop" not in refused.read() or refused.code == 503
            return refused.code


def basic(name: str, password: str) -> str:
    """Return the header of RFC 7617."""
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()
