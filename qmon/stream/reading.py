"""One connection to a ``qmon serve``: yields phase changes, and polls with times on the local clock."""

from __future__ import annotations

import base64
import contextlib
import errno
import http.client
import io
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlencode

from qmon import __version__
from qmon.errors import BadInput, ConnectionFailed, ConnectionLost, PasswordNeeded, WrongPassword
from qmon.model.formatting import duration
from qmon.monitor.notify.web import connection_problem_text
from qmon.monitor.source import Event, Phase, SourceState
from qmon.recording.format.frames import Damaged
from qmon.recording.format.records import Line, PhaseChange, SessionLine, parse_line
from qmon.stream.sending import CLOCK_HEADER, SILENCE_S, STREAM_PATH
from qmon.stream.serve_address import ServeAddress
from qmon.texts import Text


class ServeText(Text):
    """Why a `qmon serve` cannot be read."""

    TOO_LATE = "the answer did not arrive in time"
    NAME_CA = "{problem}; name its CA or self-signed certificate with --ca FILE"
    AT_PLACE = "{place}: {why}"
    UNREACHABLE = "qmon serve at {place}: {why}"
    OTHER_FORMAT = "its answer has another format"
    NOT_A_SERVE = "{place} is not a qmon serve: {why}"
    NEEDS_NAME = "{place} requires a name and a password: put the name into the URL: https://NAME@…"
    NEEDS_LOGIN = "{place} requires the password of {user}"
    LOGIN_REJECTED = "{place} rejected the name or the password ({origin})"
    ANSWER = "it answers {status} {phrase}"
    REFUSED = "qmon serve at {place}: {words}"
    NO_RECORDING = "it does not send a recording"
    NEWER = "qmon serve at {place} is newer than this qmon ({version}): upgrade this qmon"
    NO_HEADER = "its stream does not start like a recording"
    STOPPED = "qmon serve at {place} was stopped"
    SILENT = "no complete line arrived from {place} for {duration}"
    LONG_LINE = "{place} sent a line longer than {megabytes} MB"
    LOST = "the connection to {place} was lost"


CONNECT_S: Final = 5.0

# If no complete line arrives for this number of seconds, the connection counts as lost.
LOST_AFTER_S: Final = 3 * SILENCE_S

# Maximum bytes of a line. The line of a poll of a thousand queues has about 2 MB.
MAX_LINE_BYTES: Final = 64 * 1024 * 1024
_MESSAGE_BYTES: Final = 1000
_PERMANENT_STATUSES: Final = frozenset({403, 404, 421})


class OpenStream:
    """An open connection whose first line was read. Not thread-safe, except for ``interrupt``.

    Raises ``BadInput`` if the other side is not a ``qmon serve`` of this version, does not serve the target, or refuses
    the password. Raises ``PasswordNeeded`` if a password is missing. Raises ``ConnectionFailed``.

    Attributes:
        recorder: the id of the sender. If a new connection has another id, poll numbers have started again.
        session: the sender's description of the target.
    """

    def __init__(self, address: ServeAddress, clock: Callable[[], float]) -> None:
        self._place = address.host_and_port
        self._clock = clock
        self._connection = _connection_for(address)
        self._answer: http.client.HTTPResponse | None = None
        try:
            self.recorder, self.session = self._open_stream(address)
        except BaseException as problem:
            self.close()
            if isinstance(problem, ssl.SSLCertVerificationError):
                why = ServeText.NAME_CA.render(problem=connection_problem_text(problem))
                raise BadInput(ServeText.AT_PLACE.render(place=self._place, why=why)) from None
            if isinstance(problem, OSError):
                raise ConnectionFailed(
                    ServeText.UNREACHABLE.render(place=self._place, why=connection_problem_text(problem))
                ) from None
            if isinstance(problem, http.client.HTTPException | ValueError):
                raise self._not_a_serve(ServeText.OTHER_FORMAT) from None
            raise

    def _open_stream(self, address: ServeAddress) -> tuple[str, SessionLine]:
        self._connection.connect()
        self._socket = self._connection.sock
        self._due = _DeadlineReader(self._socket)
        self._due.set_deadline(CONNECT_S)
        # http.client restarts its timeout for each byte, so a server that sends slowly could block this thread
        self._connection.response_class = self._due.open_response  # type: ignore[assignment]
        asked_at = self._clock()
        query = urlencode({"target": address.target}) if address.target else ""
        self._connection.request("GET", f"{STREAM_PATH}?{query}", headers=_request_headers(address))
        self._answer = answer = self._connection.getresponse()
        self._check_answer(answer, address)
        # The server reads its clock after our request, so a poll never appears to be younger than it is.
        self._ahead_s = asked_at - float(answer.headers[CLOCK_HEADER])
        return self._read_first(answer)

    def _not_a_serve(self, why: str) -> BadInput:
        return BadInput(ServeText.NOT_A_SERVE.render(place=self._place, why=why))

    def _check_answer(self, answer: http.client.HTTPResponse, address: ServeAddress) -> None:
        """Raise the matching error if the answer is not a stream."""
        if answer.status == 401:
            if not address.user:
                raise BadInput(ServeText.NEEDS_NAME.render(place=self._place))
            if address.password is None:
                raise PasswordNeeded(ServeText.NEEDS_LOGIN.render(place=self._place, user=address.user))
            raise WrongPassword(ServeText.LOGIN_REJECTED.render(place=self._place, origin=address.password.origin))
        if CLOCK_HEADER not in answer.headers:
            raise self._not_a_serve(
                ServeText.ANSWER.render(
                    status=answer.status, phrase=http.client.responses.get(answer.status, "")
                ).rstrip()
            )
        if answer.status != 200:
            words = " ".join(answer.read(_MESSAGE_BYTES).decode("utf-8", "replace").split())
            problem = ServeText.REFUSED.render(place=self._place, words=words)
            raise BadInput(problem) if answer.status in _PERMANENT_STATUSES else ConnectionFailed(problem)

    def _read_first(self, answer: http.client.HTTPResponse) -> tuple[str, SessionLine]:
        """Return the recorder's id and the session line."""
        try:
            self._due.set_deadline(LOST_AFTER_S)
            first = parse_line(answer.readline(MAX_LINE_BYTES))
            session = first.decode_record() if first is not None else None
        except Damaged:
            raise self._not_a_serve(ServeText.NO_RECORDING) from None
        if first is None:
            raise BadInput(ServeText.NEWER.render(place=self._place, version=__version__))
        if not isinstance(session, SessionLine):
            raise self._not_a_serve(ServeText.NO_HEADER)
        return first.recorder, session

    def events(self) -> Iterator[Event]:
        """Yield events until the connection breaks. Then raise ``ConnectionLost`` with the reason."""
        while True:
            read = self._read_line()
            if read is None:  # this version of qmon does not know this kind of line
                continue
            if read.kind == "snapshot":
                poll = read.decode_record()
                yield replace(poll, taken_at=min(self._clock(), poll.taken_at + self._ahead_s))
            elif read.kind == "state":
                changed: PhaseChange = read.decode_record()
                if changed.phase in set(Phase):
                    yield SourceState(self.session.target, Phase(changed.phase), changed.reason, None, self._clock())
            elif read.kind == "session":
                self.session = read.decode_record()
            elif read.kind == "end":
                raise ConnectionLost(ServeText.STOPPED.render(place=self._place))

    def _read_line(self) -> Line | None:
        self._due.set_deadline(LOST_AFTER_S)
        try:
            text = self._answer.readline(MAX_LINE_BYTES) if self._answer is not None else b""
        except TimeoutError:
            raise ConnectionLost(ServeText.SILENT.render(place=self._place, duration=duration(LOST_AFTER_S))) from None
        except OSError as problem:
            raise ConnectionLost(
                ServeText.UNREACHABLE.render(place=self._place, why=connection_problem_text(problem))
            ) from None
        except (http.client.HTTPException, ValueError):  # the answer was cut off, or our process closed it
            text = b""
        if len(text) >= MAX_LINE_BYTES:
            raise ConnectionLost(ServeText.LONG_LINE.render(place=self._place, megabytes=MAX_LINE_BYTES // 2**20))
        if not text.endswith(b"\n"):
            raise ConnectionLost(ServeText.LOST.render(place=self._place))
        return parse_line(text)

    def interrupt(self) -> None:
        """End the wait for a line. Thread-safe."""
        with contextlib.suppress(OSError):
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def close(self) -> None:
        if self._answer is not None:  # the answer owns the connection, because no other answer uses this connection
            self._answer.close()
        self._connection.close()


class _DeadlineReader(io.RawIOBase):
    """Reads a socket up to a deadline. Bytes that arrive do not extend the deadline."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._raw = connected.makefile("rb", buffering=0)
        self._at = 0.0

    def set_deadline(self, seconds: float) -> None:
        """Set the deadline: all data that is read from now on must arrive within ``seconds`` in total."""
        self._at = time.monotonic() + seconds

    def open_response(self, connected: socket.socket, **options: Any) -> http.client.HTTPResponse:
        """Return an HTTP answer that reads through this object."""
        return http.client.HTTPResponse(self, **options)  # type: ignore[arg-type]  # the answer only calls makefile

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return the file that ``http.client`` reads from."""
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into ``buffer``. Raises ``TimeoutError`` after the deadline, and ``OSError`` if reading fails."""
        left = self._at - time.monotonic()
        if left <= 0:
            raise TimeoutError(errno.ETIMEDOUT, ServeText.TOO_LATE)
        self._socket.settimeout(left)
        try:
            return self._raw.readinto(buffer) or 0
        except TimeoutError:
            raise TimeoutError(errno.ETIMEDOUT, ServeText.TOO_LATE) from None

    def close(self) -> None:
        self._raw.close()
        super().close()


def _connection_for(address: ServeAddress) -> http.client.HTTPConnection:
    if address.trust is None:
        return http.client.HTTPConnection(address.host, address.port, timeout=CONNECT_S)
    return http.client.HTTPSConnection(address.host, address.port, timeout=CONNECT_S, context=address.trust)


def _request_headers(address: ServeAddress) -> dict[str, str]:
    headers = {"User-Agent": f"qmon/{__version__}"}
    if address.user and address.password is not None:
        whose = f"{address.user}:{address.password.reveal()}"
        headers["Authorization"] = "Basic " + base64.b64encode(whose.encode()).decode()
    return headers
