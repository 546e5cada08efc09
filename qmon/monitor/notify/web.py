"""Send notices over HTTP. This is the only module that sends HTTP requests. Redirects are not followed."""

from __future__ import annotations

import contextlib
import email.utils
import http.client
import json
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from qmon import __version__
from qmon.config.credentials import Endpoint
from qmon.config.receivers import ALERTMANAGER, PAGERDUTY, SLACK, TEAMS, Receiver
from qmon.model.alerts.notice_formats import (
    alertmanager_alerts,
    notice_report,
    pagerduty_event,
    slack_message,
    teams_message,
)
from qmon.model.alerts.notices import Notice
from qmon.model.formatting import duration
from qmon.monitor.notify.sender import Delivery, DeliveryText

# Seconds after which a lasting alert is sent to Alertmanager again. It expects alerts every 30 to 180 seconds.
AGAIN_S: Final = 60.0

# Seconds after which Alertmanager considers an alert resolved if it is not sent again.
LASTING_S: Final = 4 * AGAIN_S

# Status codes, other than 5xx, after which the same request may succeed later.
_LATER: Final = frozenset({408, 425, 429})
_CUT_EVERY_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class WebDelivery:
    """Deliver notices to one receiver in its format."""

    receiver: Receiver
    endpoint: Endpoint
    wall: Callable[[], float] = time.time

    def __call__(self, notices: Sequence[Notice]) -> Delivery:
        """Send the notices. ``problem`` contains neither the URL nor the notices."""
        headers = {"Content-Type": "application/json", "User-Agent": f"qmon/{__version__}"}
        if self.endpoint.authorization is not None:
            headers["Authorization"] = self.endpoint.authorization.reveal()
        body = json.dumps(self.body(notices), ensure_ascii=False).encode("utf-8", "replace")
        return post_request(self.endpoint.url.reveal(), body, headers, self.receiver.timeout_s, self.wall)

    def body(self, notices: Sequence[Notice]) -> Any:
        """Return the JSON body. Only Alertmanager accepts more than one notice at a time."""
        if self.receiver.shape == ALERTMANAGER:
            return alertmanager_alerts(notices, self.wall(), LASTING_S)
        (notice,) = notices
        if self.receiver.shape == PAGERDUTY:
            return pagerduty_event(notice, self.endpoint.key.reveal() if self.endpoint.key is not None else "")
        return {SLACK: slack_message, TEAMS: teams_message}.get(self.receiver.shape, notice_report)(notice)


def post_request(
    url: str, body: bytes, headers: Mapping[str, str], timeout_s: float, wall: Callable[[], float] = time.time
) -> Delivery:
    """Send one POST request that ends within about ``timeout_s`` seconds, however slowly the server answers."""
    deadline = _Deadline(timeout_s)
    request = urllib.request.Request(url, body, dict(headers), method="POST")  # noqa: S310  # the scheme is checked
    opener = urllib.request.build_opener(_NoRedirects, _Http(deadline), _Https(deadline))
    try:
        with deadline, opener.open(request, timeout=timeout_s):
            return Delivery()
    except urllib.error.HTTPError as answer:
        with contextlib.suppress(OSError):
            answer.close()
        return _refused_delivery(answer.code, answer.headers.get("Retry-After"), wall())
    except Exception as problem:  # any exception may contain the URL
        why = problem.reason if isinstance(problem, urllib.error.URLError) else problem
        late = deadline.is_over or isinstance(why, TimeoutError)
        no_answer = DeliveryText.NO_ANSWER.render(time=duration(timeout_s))
        return Delivery(no_answer if late else connection_problem_text(why), again=True)


def _refused_delivery(code: int, after: str | None, now: float) -> Delivery:
    status = f"{code} {http.client.responses.get(code, '')}".rstrip()
    if 300 <= code < 400:
        return Delivery(DeliveryText.REDIRECTED.render(status=status))
    again = code >= 500 or code in _LATER
    return Delivery(DeliveryText.ANSWERED.render(status=status), again, parse_retry_after(after, now))


def parse_retry_after(text: str | None, now: float) -> float | None:
    """Return the seconds in a Retry-After header: a number, or a date (RFC 9110, 10.2.3); ``None`` for other text."""
    if text is None:
        return None
    if text.strip().isdecimal():
        return float(text.strip()[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def connection_problem_text(problem: object) -> str:
    """Return the reason as the system describes it, without the address."""
    if isinstance(problem, ssl.SSLCertVerificationError):
        return DeliveryText.UNTRUSTED.render(reason=problem.verify_message)
    if isinstance(problem, ssl.SSLError):
        return DeliveryText.TLS_FAILED.render(reason=problem.reason or type(problem).__name__)
    if isinstance(problem, OSError) and problem.strerror:
        return DeliveryText.UNREACHABLE.render(reason=problem.strerror)
    return DeliveryText.UNREACHABLE.render(reason=type(problem).__name__)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follow no redirects, so that secrets only go to the configured address."""

    def redirect_request(self, *args: object) -> None:
        """Follow no redirect."""


class _Deadline:
    """Close the connection of a request when its time is over. A socket timeout would restart with each byte."""

    def __init__(self, seconds: float) -> None:
        self.is_over = False
        self._seconds = seconds
        self._done = threading.Event()
        self._connection: http.client.HTTPConnection | None = None

    def connection_factory(self, kind: type[http.client.HTTPConnection]) -> Callable[..., http.client.HTTPConnection]:
        """Return a factory for connections of this kind that can be closed at the deadline."""

        def open_connection(*args: Any, **named: Any) -> http.client.HTTPConnection:
            self._connection = kind(*args, **named)
            return self._connection

        return open_connection

    def __enter__(self) -> None:
        threading.Thread(target=self._cut_when_over, name="qmon-deadline", daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self._done.set()

    def _cut_when_over(self) -> None:
        wait_s = self._seconds
        while not self._done.wait(wait_s):
            self.is_over, wait_s = True, _CUT_EVERY_S
            found = self._connection.sock if self._connection is not None else None
            if found is not None:
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(found, socket.SHUT_RDWR)


class _Http(urllib.request.HTTPHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._deadline.connection_factory(http.client.HTTPConnection), req)


class _Https(urllib.request.HTTPSHandler):
    """Verify certificates against the certificates of the system, or against SSL_CERT_FILE."""

    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        kind = self._deadline.connection_factory(http.client.HTTPSConnection)
        return self.do_open(kind, req, context=ssl.create_default_context())
