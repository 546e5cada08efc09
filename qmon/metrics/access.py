"""Controls access to the metrics server: TLS, and names and passwords from a file written by ``htpasswd -B``."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import re
import secrets
import ssl
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import bcrypt

from qmon.errors import BadInput
from qmon.texts import Text


class AccessFileText(Text):
    """Why files of users or certificates cannot be used."""

    NOT_A_HASH = "--users {path}: line {line} is not a name with a bcrypt hash; create it with: htpasswd -B {path} NAME"
    COSTLY_HASH = (
        "--users {path}: line {line} has a bcrypt cost above {limit}, too slow to check; create it with: htpasswd -B"
        " -C 12 {path} NAME"
    )
    NO_USERS = "--users {path}: the file has no users; add one with: htpasswd -B -c {path} NAME"
    NOT_A_CERTIFICATE = "--certificate {certificate}, --key {key}: not a certificate with its key: {problem}"
    UNREADABLE = "{option} {path}: {problem}"
    NOT_TEXT = "{option} {path}: not text"


# Maximum number of wrong passwords that are checked per address and minute.
WRONG_PER_MINUTE: Final = 20

# Maximum number of passwords that wait for a check, for all addresses together.
MAX_WAITING: Final = 32
_MINUTE_S: Final = 60.0
_HASH: Final = re.compile(r"\$2[abxy]\$(\d\d)(\$[./A-Za-z0-9]{22})[./A-Za-z0-9]{31}")
_MIN_COST: Final = 4

# Maximum cost of a hash. A check takes 4 s at this cost. Each increase of the cost by 1 doubles the time.
_MAX_COST: Final = 16

# A name and a password.
Credentials = tuple[bytes, bytes]


class Users:
    """Names with the bcrypt hashes of their passwords. Thread-safe.

    Every check takes as long as a check of the most expensive hash. So response times do not reveal which names exist.

    Args:
        hashes: valid bcrypt hashes, keyed by name.
    """

    def __init__(self, hashes: Mapping[str, bytes]) -> None:
        self._hashes = dict(hashes)
        self._cost = max(map(_hash_cost, self._hashes.values()))
        self._salt = bcrypt.gensalt(_MIN_COST)[len("$2b$04") :]
        self._key = secrets.token_bytes(32)
        # Digests of verified credentials. They are stored because bcrypt is slow on purpose, and scrapes come every few
        # seconds.
        self._verified = frozenset[bytes]()

    def was_verified(self, credentials: Credentials) -> bool:
        """Return true if this name and password were verified before. Takes microseconds."""
        digest = self._digest(credentials)
        return any([hmac.compare_digest(digest, each) for each in self._verified])

    def verify_password(self, credentials: Credentials) -> bool:
        """Return true if the password is correct. Uses bcrypt and takes equally long for every name."""
        name, password = credentials
        stored = self._hashes.get(name.decode("utf-8", "replace"))
        try:
            if stored is None:
                bcrypt.hashpw(password, self._salt_with_cost(self._cost))
                return False
            right = bcrypt.checkpw(password, stored)
            # 2^c + 2^c + 2^(c+1) + … + 2^(max-1) = 2^max
            for cost in range(_hash_cost(stored), self._cost):
                bcrypt.hashpw(password, self._salt_with_cost(cost))
        except ValueError:  # the password is longer than 72 bytes or contains a NUL
            return False
        if right:
            self._verified |= {self._digest(credentials)}
        return right

    def _digest(self, credentials: Credentials) -> bytes:
        return hmac.digest(self._key, b":".join(credentials), hashlib.sha256)

    def _salt_with_cost(self, cost: int) -> bytes:
        return b"$2b$%02d" % cost + self._salt


def _hash_cost(hashed: bytes) -> int:
    return int(hashed[4:6])


class PasswordGate:
    """Checks passwords one at a time.

    Limits the number of wrong passwords per address. Only the thread of one event loop may use this object.

    Args:
        users: the users that may log in.
        clock: monotonic, seconds.
    """

    def __init__(self, users: Users, clock: Callable[[], float] = time.monotonic) -> None:
        self._users = users
        self._clock = clock
        self._executor = ThreadPoolExecutor(1, "qmon-passwords")  # so that a flood of passwords uses one processor
        self._waiting = Counter[str]()
        self._wrong = Counter[str]()
        self._until = 0.0

    async def status_for(self, client: str, authorization: str) -> int:
        """Return the status for a header ``Authorization`` (RFC 7617).

        The status is 200, 401 (password missing or wrong), 429 (too many wrong passwords) or 503 (busy). ``client``:
        the address for which wrong passwords are counted.
        """
        credentials = credentials_from(authorization)
        if credentials is None:
            return 401
        if self._users.was_verified(credentials):
            return 200
        if self._clock() >= self._until:
            self._wrong.clear()
            self._until = self._clock() + _MINUTE_S
        if self._wrong[client] + self._waiting[client] >= WRONG_PER_MINUTE:
            return 429
        if self._waiting.total() >= MAX_WAITING:
            return 503
        self._waiting[client] += 1
        try:
            right = await asyncio.get_running_loop().run_in_executor(
                self._executor, self._users.verify_password, credentials
            )
        finally:
            self._waiting -= Counter([client])
        if not right:
            self._wrong[client] += 1
        return 200 if right else 401

    def close(self) -> None:
        """Stop the thread after the current check."""
        self._executor.shutdown(wait=False, cancel_futures=True)


def credentials_from(authorization: str) -> Credentials | None:
    """Return name and password in a header ``Authorization``, or ``None`` if it is malformed or has another scheme."""
    kind, _, encoded = authorization.partition(" ")
    try:
        name, colon, password = base64.b64decode(encoded, validate=True).partition(b":")
    except (binascii.Error, ValueError):
        return None
    return (name, password) if kind.lower() == "basic" and colon else None


def read_users(path: Path) -> Users:
    """Read a users file. Raises ``BadInput``, which contains the number of a wrong line, but not its text."""
    hashes: dict[str, bytes] = {}
    for number, line in enumerate(_read_option_file(path, "--users").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, hashed = line.strip().partition(":")
        if not _is_hash(hashed):
            raise BadInput(AccessFileText.NOT_A_HASH.render(path=path, line=number))
        if _hash_cost(hashed.encode()) > _MAX_COST:
            raise BadInput(AccessFileText.COSTLY_HASH.render(path=path, line=number, limit=_MAX_COST))
        hashes[name] = hashed.encode()
    if not hashes:
        raise BadInput(AccessFileText.NO_USERS.render(path=path))
    return Users(hashes)


def _is_hash(text: str) -> bool:
    """Return true if bcrypt can check a password against this hash.

    To find out, compute one hash with the same salt at the lowest cost.
    """
    found = _HASH.fullmatch(text)
    if found is None or int(found[1]) < _MIN_COST:
        return False
    try:
        bcrypt.hashpw(b"", f"$2b${_MIN_COST:02d}{found[2]}".encode())
    except ValueError:
        return False
    return True


def generate_login(name: str) -> tuple[Users, str]:
    """Return a ``Users`` that contains only ``name`` with a random password, and return this password.

    Programs that qmon starts log in with it.
    """
    password = secrets.token_urlsafe(32)  # 43 characters; bcrypt allows 72 bytes
    users = Users({name: bcrypt.hashpw(password.encode(), bcrypt.gensalt(_MIN_COST))})
    users.verify_password((name.encode(), password.encode()))  # so that later checks of this password are immediate
    return users, password


def tls_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return a TLS context for a certificate and its key (PEM files). Raises ``BadInput`` if they cannot be used."""
    _read_option_file(certificate, "--certificate")
    _read_option_file(key, "--key")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key, password=lambda: "")
    except (ssl.SSLError, ValueError) as problem:
        words = getattr(problem, "reason", None) or problem
        raise BadInput(
            AccessFileText.NOT_A_CERTIFICATE.render(certificate=certificate, key=key, problem=words)
        ) from None
    return context


def _read_option_file(path: Path, option: str) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as problem:
        raise BadInput(AccessFileText.UNREADABLE.render(option=option, path=path, problem=problem.strerror)) from None
    except UnicodeDecodeError:
        raise BadInput(AccessFileText.NOT_TEXT.render(option=option, path=path)) from None
