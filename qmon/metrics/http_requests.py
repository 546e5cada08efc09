"""Reads one HTTP request and checks that its Host and Origin belong to this server."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HOST: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]/@\s]+))(?::\d{1,5})?")
_ONCE: Final = frozenset({"host", "origin", "authorization"})


class Refused(Exception):
    """Ends a request with this status and message."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Request:
    """A client's request. ``headers``: by lower-case name."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]


async def read_request(reader: asyncio.StreamReader) -> Request:
    """Read the request line and the headers, never a body.

    Raises ``Refused``, and ``EOFError`` if the client leaves before the end of the headers.
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        raise Refused(431, "the headers are too long") from None
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, _, rest = first.partition(" ")
    target, _, version = rest.partition(" ")
    if not version.startswith("HTTP/1.") or not target.startswith("/"):
        raise Refused(400, "not an HTTP/1.1 request")
    if method not in ("GET", "HEAD"):
        raise Refused(405, "only GET and HEAD are supported")
    path, _, query = target.partition("?")
    return Request(method, path, query, _parse_headers(lines))


def _parse_headers(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not _TOKEN.fullmatch(name):
            raise Refused(400, "every header must be NAME: VALUE")
        key = name.lower()
        if key in found and key in _ONCE:
            raise Refused(400, f"the header {key} occurs twice")
        found[key] = f"{found[key]}, {value.strip()}" if key in found else value.strip()
    return found


def check_origin(request: Request, local: str, allowed: Collection[str]) -> None:
    """Refuse browsers sent here by another site, including under a name that resolves to us (DNS rebinding).

    Args:
        request: the request.
        local: our address that the client connected to.
        allowed: further host names and addresses, in lower case.

    Raises ``Refused``.
    """
    host = request.headers.get("host", "")
    found = _HOST.fullmatch(host)
    name = (found[1] or found[2]).lower() if found is not None else ""
    if name not in allowed and not _is_own_name(name, local):
        raise Refused(421, "unknown name in the Host header; start qmon serve with --allow-host NAME")
    origin = request.headers.get("origin")
    if origin is not None and origin.lower().partition("://")[2] != host.lower():
        raise Refused(403, "pages of other sites are not allowed to read this")
    if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise Refused(403, "pages of other sites are not allowed to read this")


def _is_own_name(name: str, local: str) -> bool:
    ours = ip_address(local.partition("%")[0])
    if name == "localhost":
        return ours.is_loopback
    try:
        asked = ip_address(name)
    except ValueError:
        return False
    return asked == ours or (asked.is_loopback and ours.is_loopback)
