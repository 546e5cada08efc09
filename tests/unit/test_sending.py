"""Sending: the requests that a real HTTP server gets while it works, fails, hangs, drops its answer, and recovers."""

from __future__ import annotations

import logging
import shutil
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Final, cast

import pytest

from qmon.config.credentials import endpoint_for
from qmon.config.receivers import Receiver
from qmon.engines.secret import Secret
from qmon.log import Formatter
from qmon.model.alerts.latches import AlertEvent
from qmon.model.alerts.notices import Notice
from qmon.model.figure import Severity
from qmon.monitor.notify.notifier import Notifier
from qmon.monitor.notify.sender import BackOff, Delivery, DeliveryText, Sender
from qmon.monitor.notify.web import WebDelivery, parse_retry_after, post_request
from tests.facts import wait_until
from tests.listener import Answer, Listener, listening
from tests.unit.notices import notice
from tests.wordings import has

END_S: Final = 60.0
SECRET: Final = "T0k3nOfTheWebhookXYZ"
SOON: Final = BackOff(first_s=0.001, most_s=0.01)


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listener]:
    monkeypatch.setenv("no_proxy", "*")
    with listening() as found:
        yield found


def way(listener: Listener, shape: str = "json", timeout_s: float = END_S) -> WebDelivery:
    """Return the receiver's settings: the listener, at a secret path."""
    receiver = Receiver("hook", shape, timeout_s=timeout_s)
    found = endpoint_for(receiver, {"QMON_NOTIFY_HOOK": listener.url(f"/services/{SECRET}?sig={SECRET}")})
    assert found is not None
    return WebDelivery(receiver, found)


class Sending:
    """A sender to the listener that remembers its reports."""

    def __init__(self, listener: Listener, *answers: Answer, timeout_s: float = END_S, **more: Any) -> None:
        listener.answers.extend(answers)
        self.said: list[str] = []
        self.sender = Sender(
            "hook", way(listener, timeout_s=timeout_s), report=self.said.append, **{"back_off": SOON, **more}
        )

    def send(self, *notices: Notice) -> None:
        for each in notices:
            self.sender.send(each)

    def end(self) -> str:
        self.sender.close()
        return self.sender.join(END_S)


def line(what: str) -> str:
    """Return the line of the receiver."""
    return DeliveryText.LINE.render(receiver="hook", what=what)


def answered(status: str) -> str:
    return DeliveryText.ANSWERED.render(status=status)


def told(listener: Listener) -> list[tuple[str, str]]:
    return [(body["queues"][0], body["event"]) for body in listener.taken]


# ---------------------------------------------------------------------------------------- each exactly once, in order


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([], id="works"),
        pytest.param([500, 502, 503, 504], id="fails"),
        pytest.param([(429, {"Retry-After": "0"}), 408, 500, 200, 500], id="is busy"),
        pytest.param(["hang", "drip", 500], id="hangs"),
    ],
)
def test_each_is_taken_once_and_in_order_whatever_happens_before(listener: Listener, answers: list[Answer]) -> None:
    hanging = "hang" in answers
    sending = Sending(listener, *answers, timeout_s=0.2 if hanging else END_S)
    wanted = [notice(1), notice(2), notice(1, AlertEvent.CLEARED), notice(3)]
    sending.send(*wanted)
    wait_until(lambda: len(listener.taken) == 4, what="all notices")
    assert sending.end() == ""
    assert told(listener) == [("q1", "raised"), ("q2", "raised"), ("q1", "cleared"), ("q3", "raised")]
    assert len(listener.seen) == 4 + sum(answer != 200 for answer in answers)


def test_who_is_away_gets_each_once_when_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with listening() as gone:
        port = gone.port
        sending = Sending(gone)
    sending.send(notice(1), notice(2), notice(1, AlertEvent.CLEARED))
    wait_until(lambda: sending.said, what="the failure")
    assert sending.said == [line(DeliveryText.UNREACHABLE.render(reason="Connection refused"))]
    with listening(port) as back:
        wait_until(lambda: len(back.taken) == 3, what="all notices")
        assert told(back) == [("q1", "raised"), ("q2", "raised"), ("q1", "cleared")]
        wait_until(lambda: len(sending.said) == 2, what="the news")
        assert sending.said[1] == line(DeliveryText.WORKS_AGAIN)
        assert sending.end() == ""


def test_what_was_taken_and_whose_answer_was_lost_comes_again_the_same(listener: Listener) -> None:
    sending = Sending(listener, "lose")
    sending.send(notice(1))
    wait_until(lambda: len(listener.taken) == 2, what="the second time")
    assert sending.end() == ""
    first, second = listener.taken
    assert first == second


def test_newer_words_replace_those_that_wait_and_an_end_is_kept_apart() -> None:
    gate, got = threading.Event(), list[Notice]()

    def deliver(batch: Any) -> Delivery:
        gate.wait(END_S)
        got.extend(batch)
        return Delivery()

    sender = Sender("hook", deliver)
    sender.send(notice(0))
    wait_until(lambda: not sender._waiting, what="the first is under way")
    worse = [notice(n, AlertEvent.WORSE, was=Severity.WARNING, severity=Severity.CRITICAL) for n in (1, 2)]
    for each in (notice(1), worse[0], notice(1, AlertEvent.CLEARED), notice(1), worse[1]):
        sender.send(each)
    gate.set()
    sender.close()
    assert sender.join(END_S) == ""
    assert [(n.queues[0], n.event.value, n.severity.name) for n in got[1:]] == [
        ("q1", "raised", "CRITICAL"),
        ("q1", "cleared", "WARNING"),
        ("q1", "raised", "WARNING"),
        ("q2", "worse", "CRITICAL"),
    ]


def test_what_it_refuses_for_good_is_dropped_counted_and_said_once(listener: Listener) -> None:
    sending = Sending(listener, 404, 404, 302, 200)
    sending.send(*(notice(number) for number in range(4)))
    wait_until(lambda: len(listener.taken) == 1, what="the one that was taken")
    wait_until(lambda: len(sending.said) == 3, what="the news")
    assert sending.said == [
        line(DeliveryText.DROPPED.render(problem=answered("404 Not Found"))),
        line(DeliveryText.DROPPED.render(problem=DeliveryText.REDIRECTED.render(status="302 Found"))),
        line(DeliveryText.WORKS_AFTER_DROPS.render(notices="3 notices")),
    ]
    assert sending.end() == ""
    assert told(listener) == [("q3", "raised")]


def test_beyond_the_bound_the_oldest_is_dropped_never_an_end_and_all_is_counted(listener: Listener) -> None:
    sending = Sending(listener, 500, back_off=BackOff(first_s=END_S), most=3)
    sending.send(notice(0))
    wait_until(lambda: sending.said, what="the failure")
    sending.send(notice(1, AlertEvent.CLEARED), *(notice(number) for number in range(2, 6)))
    assert sending.said[1:] == [line(DeliveryText.TOO_MANY.render(most=3))]
    assert sending.end() == ""
    assert sending.said[2:] == [line(DeliveryText.WORKS_AFTER_DROPS.render(notices="3 notices"))]
    assert told(listener) == [("q1", "cleared"), ("q4", "raised"), ("q5", "raised")]


# --------------------------------------------------------------------------------------------------------- how long


def test_pauses_double_up_to_a_limit_differ_by_chance_and_are_as_long_as_asked() -> None:
    full, half = BackOff(chance=lambda: 1.0), BackOff(chance=lambda: 0.0)
    assert [full.pause(n, None) for n in (1, 2, 3, 9, 10, 10_000)] == [1.0, 2.0, 4.0, 256.0, 300.0, 300.0]
    assert half.pause(3, None) == 2.0
    assert half.pause(1, 30.0) == 30.0
    assert full.pause(1, 1e9) == 3_600.0
    assert full.pause(5, 2.0) == 16.0


def test_retry_after_is_a_number_or_a_date() -> None:
    assert parse_retry_after("120", 0.0) == 120.0
    assert parse_retry_after(formatdate(1_000_090, usegmt=True), 1_000_000.0) == 90.0
    assert parse_retry_after(formatdate(5, usegmt=True), 1_000_000.0) == 0.0
    assert [parse_retry_after(text, 0.0) for text in (None, "", "soon", "-5", "1e5")] == [None] * 5


def test_what_the_answer_asks_for_reaches_the_pause(listener: Listener) -> None:
    listener.answers.append((429, {"Retry-After": "77"}))
    assert way(listener)([notice()]) == Delivery(answered("429 Too Many Requests"), True, 77.0)


@pytest.mark.parametrize("answer", ["hang", "drip"])
def test_a_request_has_a_deadline_however_slowly_it_is_answered(listener: Listener, answer: Answer) -> None:
    listener.answers.append(answer)
    assert way(listener, timeout_s=0.2)([notice()]) == Delivery(DeliveryText.NO_ANSWER.render(time="0.2 s"), True)


def test_a_receiver_that_hangs_holds_up_neither_others_nor_the_end(listener: Listener) -> None:
    listener.answers.extend(["hang"])
    hanging = way(listener)
    with listening() as other:
        notifier = Notifier([(Receiver("hook", "json"), hanging), (Receiver("other", "json"), way(other))])
        notifier.send(notice(1))
        wait_until(lambda: listener.seen and other.taken, what="both were asked")
        notifier.send(notice(2))
        wait_until(lambda: len(other.taken) == 2, what="the second notice")
        began = time.monotonic()
        assert notifier.close(0.05) == [line(DeliveryText.NOT_SENT.render(lost=2))]
        assert time.monotonic() - began < END_S / 2


def test_the_end_tries_once_more_without_waiting(listener: Listener) -> None:
    sending = Sending(listener, 500, 500, back_off=BackOff(first_s=3_600.0))
    sending.send(notice(1))
    wait_until(lambda: sending.said, what="the failure")
    unsent = line(DeliveryText.NOT_SENT.render(lost=1))
    problem = answered("500 Internal Server Error")
    assert sending.end() == DeliveryText.WITH_DETAIL.render(line=unsent, detail=problem)
    assert len(listener.seen) == 2


def test_alertmanager_hears_again_of_what_goes_on_all_at_once_until_it_is_over(listener: Listener) -> None:
    sender = Sender("hook", way(listener, "alertmanager"), again_s=0.01, back_off=SOON)
    sender.send(notice(1))
    sender.send(notice(2))
    wait_until(lambda: any(len(body) == 2 for body in listener.taken[1:]), what="both again")
    sender.send(notice(1, AlertEvent.CLEARED))
    ended = "2001-09-09T01:46:40.000Z"
    wait_until(lambda: any(each["endsAt"] == ended for body in listener.taken for each in body), what="the end")
    count = len(listener.taken)
    wait_until(lambda: len(listener.taken) > count + 3, what="more")
    assert {each["labels"]["queue"] for body in listener.taken[count + 1 :] for each in body} == {"q2"}
    sender.close()
    assert sender.join(END_S) == ""


def test_alertmanager_hears_again_of_what_it_refused(listener: Listener) -> None:
    listener.answers.append(400)
    sender = Sender("hook", way(listener, "alertmanager"), again_s=0.01, back_off=SOON)
    sender.send(notice(1))
    wait_until(lambda: listener.taken, what="the second time")
    sender.close()
    assert sender.join(END_S) == ""


# ----------------------------------------------------------------------------------------------------------- secrets


@pytest.mark.parametrize("answer", [404, 500, "hang", "lose", "nobody", "defect"])
def test_no_word_of_a_failure_holds_the_url(
    listener: Listener, answer: int | str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    deliver = way(listener, timeout_s=0.2 if answer == "hang" else END_S)
    if answer == "nobody":
        nowhere = Secret(f"http://127.0.0.1:9/services/{SECRET}")
        deliver = replace(deliver, endpoint=replace(deliver.endpoint, url=nowhere))
    elif answer == "defect":
        deliver = replace(deliver, endpoint=replace(deliver.endpoint, url=Secret(f"{SECRET}://nothing")))
    else:
        listener.answers.append(cast("Answer", answer))
    said: list[str] = []
    sender = Sender("hook", deliver, report=said.append, back_off=SOON)
    sender.send(notice(3))
    wait_until(lambda: said, what="the failure")
    sender.close()
    sender.join(END_S)
    written = [Formatter().format(record) for record in caplog.records]
    assert written
    assert SECRET not in "\n".join((*written, *said, repr(deliver), str(deliver.endpoint)))


def test_a_traceback_with_the_url_in_its_words_is_logged_without(listener: Listener) -> None:
    url = way(listener).endpoint.url.reveal()
    problem = ValueError(f"{url!r} or /services/{SECRET} or sig={SECRET} alone")
    text = "\n".join(Formatter().traceback_lines(problem))
    assert SECRET not in text
    assert "***" in text


def test_the_request_carries_what_it_should_and_follows_no_redirect(listener: Listener) -> None:
    listener.answers.append((307, {"Location": listener.url("/elsewhere")}))
    deliver = way(listener)
    assert has(deliver([notice()]).problem, DeliveryText.REDIRECTED)
    assert deliver([notice()]).problem == ""
    (path, headers, body) = listener.seen[-1]
    assert path == f"/services/{SECRET}?sig={SECRET}"
    assert headers["Content-Type"] == "application/json"
    assert headers["User-Agent"].startswith("qmon/")
    assert (body["schema"], body["event"], body["queues"]) == (1, "raised", ["q0"])
    assert len(listener.seen) == 2


@pytest.mark.parametrize(
    ("receiver", "given", "path", "authorization"),
    [
        (Receiver("am", "alertmanager", "{}/am/"), {}, "/am/api/v2/alerts", None),
        (
            Receiver("am", "alertmanager", "{}", bearer=True),
            {"QMON_NOTIFY_AM": "t0ken-of-mine"},
            "/api/v2/alerts",
            "Bearer t0ken-of-mine",
        ),
        (
            Receiver("am", "alertmanager"),
            {"QMON_NOTIFY_AM": "http://me:p%40ss@127.0.0.1:{port}"},
            "/api/v2/alerts",
            "Basic bWU6cEBzcw==",
        ),
        (Receiver("pd", "pagerduty", "{}/v2/enqueue"), {"QMON_NOTIFY_PD": "R0utingKey"}, "/v2/enqueue", None),
    ],
)
def test_urls_and_keys_come_from_file_and_environment(
    listener: Listener, receiver: Receiver, given: dict[str, str], path: str, authorization: str | None
) -> None:
    receiver = replace(receiver, url=receiver.url.replace("{}", listener.url("")))
    found = endpoint_for(receiver, {name: text.replace("{port}", str(listener.port)) for name, text in given.items()})
    assert found is not None
    assert WebDelivery(receiver, found)([notice()]) == Delivery()
    ((asked, headers, body),) = listener.seen
    assert (asked, headers.get("Authorization")) == (path, authorization)
    if receiver.shape == "pagerduty":
        assert (body["routing_key"], body["dedup_key"]) == ("R0utingKey", notice().key)


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl makes the certificate")
    pem = tmp_path / "both.pem"
    subprocess.run(
        [
            openssl,
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-keyout",
            pem,
            "-out",
            tmp_path / "cert",
            "-days",
            "9",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
        ],
        check=True,
        capture_output=True,
    )
    cert = tmp_path / "cert"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, pem)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is printed."""

    class Server(HTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """The test expects a failed handshake."""

    server = Server(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    url = f"https://localhost:{server.server_port}/"
    try:
        refused = post_request(url, b"{}", {}, END_S)
        monkeypatch.setenv("SSL_CERT_FILE", str(cert))
        trusted = post_request(url, b"{}", {}, END_S)
    finally:
        server.shutdown()
        server.server_close()
    assert has(refused.problem, DeliveryText.UNTRUSTED)
    assert "self" in refused.problem, "the reason of the system"
    assert trusted == Delivery()
