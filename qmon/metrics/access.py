"""Who may read the metrics: TLS, and names with passwords from a file as ``htpasswd -B`` writes it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import bcrypt

from qmon.errors import BadInput

_NOBODY: Final = bcrypt.hashpw(secrets.token_bytes(16), bcrypt.gensalt(10))
"""What the password of a name that is not in the file is compared with, so that both take as long."""


class Users:
    """Names with the bcrypt hashes of their passwords. May be asked from any thread."""

    def __init__(self, hashes: Mapping[str, bytes]) -> None:
        self._hashes = dict(hashes)
        self._key = secrets.token_bytes(32)
        self._known = frozenset[bytes]()
        """Digests of what was found right before: bcrypt takes long on purpose, and scrapes come every few seconds."""

    def allows(self, authorization: str) -> bool:
        """Whether a header ``Authorization`` (RFC 7617) has the password of one of them."""
        kind, _, encoded = authorization.partition(" ")
        try:
            name, colon, password = base64.b64decode(encoded, validate=True).partition(b":")
        except (binascii.Error, ValueError):
            return False
        if kind.lower() != "basic" or not colon:
            return False
        digest = hmac.digest(self._key, name + b":" + password, hashlib.sha256)
        if any(hmac.compare_digest(digest, each) for each in self._known):
            return True
        stored = self._hashes.get(name.decode("utf-8", "replace"))
        try:
            right = bcrypt.checkpw(password, stored or _NOBODY) and stored is not None
        except ValueError:  # longer than 72 bytes, or with a NUL
            return False
        if right:
            self._known |= {digest}
        return right


def users_of(path: Path) -> Users:
    """Read the file. Raises ``BadInput``, which says of a wrong line its number alone."""
    hashes: dict[str, bytes] = {}
    for number, line in enumerate(_text(path, "--users").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, hashed = line.strip().partition(":")
        try:
            bcrypt.checkpw(b"", hashed.encode())
        except ValueError:
            raise BadInput(
                f"--users {path}: line {number} is no name with a bcrypt hash; make it by: htpasswd -B {path} NAME"
            ) from None
        hashes[name] = hashed.encode()
    if not hashes:
        raise BadInput(f"--users {path}: nobody is in it; make it by: htpasswd -B -c {path} NAME")
    return Users(hashes)


def tls_of(certificate: Path, key: Path) -> ssl.SSLContext:
    """A context with a certificate and its key, both PEM. Raises ``BadInput`` where they cannot be used."""
    _text(certificate, "--certificate")
    _text(key, "--key")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key, password=lambda: "")
    except (ssl.SSLError, ValueError) as problem:
        words = getattr(problem, "reason", None) or problem
        raise BadInput(f"--certificate {certificate}, --key {key}: not a certificate with its key: {words}") from None
    return context


def _text(path: Path, option: str) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as problem:
        raise BadInput(f"{option} {path}: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{option} {path}: not text") from None
