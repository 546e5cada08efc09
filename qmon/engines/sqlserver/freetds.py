"""Convert keywords of Microsoft's driver to keywords of FreeTDS.

FreeTDS 1.3.17 silently ignores unknown keywords, including ``Encrypt``. It turns ``Server=host,port`` into a name that
ends in a NUL, which some servers refuse. It checks a server's certificate only if freetds.conf has ``ca file``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from qmon.engines.odbc_keywords import lookup_keyword, without_keywords
from qmon.errors import BadInput
from qmon.texts import Text


class FreeTdsText(Text):
    """Errors of FreeTDS settings."""

    NO_ENCRYPTION = (
        "FreeTDS does not support encryption {value!r}: use yes or no; Microsoft's driver also supports strict"
    )


# Encrypted unless the user asks otherwise.
DEFAULTS: Final = {"Encryption": "require", "TDS_Version": "7.4"}
_SERVER: Final = re.compile(r"(?:tcp:)?([^,\\]+?)\s*,\s*(\d+)", re.I)
_ENCRYPTION: Final = {
    **dict.fromkeys(("yes", "true", "mandatory"), "require"),
    **dict.fromkeys(("no", "false", "optional"), "off"),
}


def is_freetds(driver: str) -> bool:
    """Return whether a driver with this name or path is FreeTDS."""
    return re.search("freetds|tdsodbc", driver, re.I) is not None


def to_freetds(keywords: Mapping[str, str]) -> dict[str, str]:
    """Return the keywords for FreeTDS. Raises ``BadInput`` for an encryption that FreeTDS would silently ignore."""
    out = dict(keywords)
    server = lookup_keyword(keywords, "Server", "Address")
    if server is not None and lookup_keyword(keywords, "Port") is None and (found := _SERVER.fullmatch(server.strip())):
        out = without_keywords(out, ("Server", "Address")) | {"Server": found[1], "Port": found[2]}
    wanted = lookup_keyword(keywords, "Encrypt")
    if wanted is None:
        return out
    encryption = _ENCRYPTION.get(wanted.strip().lower())
    if encryption is None:
        raise BadInput(FreeTdsText.NO_ENCRYPTION.render(value=wanted))
    return {"Encryption": encryption} | without_keywords(out, ("Encrypt",))
