"""Reads one HTTP request, checks that its headers Host and Origin name this server, and writes the answer."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from ipaddress import ip_address
from typing import Final

from qmon.stream.sending import CLOCK_HEADER
from qmon.texts import Text


class RequestText(Text):
    """Why a request is refused."""

    LONG_HEADERS = "the headers are too long"
    NOT_HTTP = "not an HTTP/1.1 request"
    GET_AND_HEAD = "only GET and HEAD are supported"
    HEADER_FORM = "every header must be NAME: VALUE"
    HEADER_TWICE = "the header {header} occurs twice"
    UNKNOWN_HOST = "unknown name in the Host header; start qmon serve with --allow-host NAME"
    OTHER_SITE = "pages of other sites may not read from this server"


_TEXT: Final = "text/plain; charset=utf-8"
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HOST: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]/@\s]+))(?::\d{1,5})?")
_ONCE: Final = frozenset({"host", "origin", "authorization"})


class Refused(Exception):
    """Raised to end a request with this status and message."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Request:
    """A client's request. ``headers``: keyed by lower-case name."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]


async def read_request(reader: asyncio.StreamReader) -> Request:
    """Read the request line and the headers of a request. A body is never read.

    Raises ``Refused``. Raises ``EOFError`` if the client disconnects before the end of the headers.
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        raise Refused(431, RequestText.LONG_HEADERS) from None
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, _, rest = first.partition(" ")
    target, _, version = rest.partition(" ")
    if not version.startswith("HTTP/1.") or not target.startswith("/"):
        raise Refused(400, RequestText.NOT_HTTP)
    if method not in ("GET", "HEAD"):
        raise Refused(405, RequestText.GET_AND_HEAD)
    path, _, query = target.partition("?")
    return Request(method, path, query, _parse_headers(lines))


def _parse_headers(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not _TOKEN.fullmatch(name):
            raise Refused(400, RequestText.HEADER_FORM)
        key = name.lower()
        if key in found and key in _ONCE:
            raise Refused(400, RequestText.HEADER_TWICE.render(header=key))
        found[key] = f"{found[key]}, {value.strip()}" if key in found else value.strip()
    return found


def check_origin(
    request: Request, local: str, allowed: Collection[str], *, allows_cross_site_links: bool = False
) -> None:
    """Refuse requests that other sites cause a browser to send, including requests by DNS rebinding.

    Args:
        request: the request.
        local: our address that the client connected to.
        allowed: further host names and addresses, in lower case.
        allows_cross_site_links: whether a link on a page of another site may open a page of this server in its own tab.

    Raises ``Refused``.
    """
    host = request.headers.get("host", "")
    found = _HOST.fullmatch(host)
    name = (found[1] or found[2]).lower() if found is not None else ""
    if name not in allowed and not _is_own_name(name, local):
        raise Refused(421, RequestText.UNKNOWN_HOST)
    origin = request.headers.get("origin")
    if origin is not None and origin.lower().partition("://")[2] != host.lower():
        raise Refused(403, RequestText.OTHER_SITE)
    fetch = [request.headers.get(f"sec-fetch-{name}", "none") for name in ("site", "mode", "dest")]
    is_link = allows_cross_site_links and fetch[1:] == ["navigate", "document"]
    if fetch[0] not in ("none", "same-origin") and not is_link:
        raise Refused(403, RequestText.OTHER_SITE)


def _is_own_name(name: str, local: str) -> bool:
    ours = ip_address(local.partition("%")[0])
    if name == "localhost":
        return ours.is_loopback
    try:
        asked = ip_address(name)
    except ValueError:
        return False
    return asked == ours or (asked.is_loopback and ours.is_loopback)


class Response:
    """An answer. ``body``: ``None`` if the body follows separately and ends when the connection is closed.

    ``clock``: add a header with the current time of the clock that times polls.
    """

    def __init__(
        self,
        status: int,
        body: bytes | None,
        content_type: str = _TEXT,
        *,
        clock: bool = False,
        more_headers: Mapping[str, str] | None = None,
    ) -> None:
        self._body = body
        headers = {
            "Server": "qmon",
            "Date": formatdate(usegmt=True),
            "Connection": "close",
            "Content-Type": content_type,
            "X-Content-Type-Options": "nosniff",
            **(more_headers or {}),
        }
        if body is not None:
            headers["Content-Length"] = str(len(body))
        if status == 401:
            headers["WWW-Authenticate"] = 'Basic realm="qmon", charset="UTF-8"'
        if status == 405:
            headers["Allow"] = "GET, HEAD"
        if clock:
            headers[CLOCK_HEADER] = repr(time.monotonic())
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{name}: {headers[name]}" for name in headers)]
        self._head = "".join(f"{line}\r\n" for line in [*lines, ""]).encode("latin-1")

    def bytes_for(self, request: Request | None) -> bytes:
        """Return the bytes to send for a request method. The answer to a HEAD request has no body."""
        bare = self._body is None or (request is not None and request.method == "HEAD")
        return self._head if bare else self._head + (self._body or b"")
