"""``qmon connect`` to a ``qmon serve``: refused options, and a lost source that returns with true ages."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from qmon.cli.commands.connect import ConnectText
from qmon.config.chosen_target import TargetText
from qmon.config.credentials import CredentialText
from qmon.errors import BadInput
from qmon.metrics.access import read_users, tls_context
from qmon.metrics.metrics_server import MetricsServer
from qmon.model.snapshot import Snapshot
from qmon.monitor.notify.sender import DeliveryText
from qmon.monitor.source import Event, Phase, SourceState
from qmon.stream import reading, served_source
from qmon.stream.reading import ServeText
from qmon.stream.sending import PollStream, SendingText
from qmon.stream.serve_address import AddressText, parse_address
from qmon.stream.served_source import ServedSource
from qmon.tui.run import TerminalText
from qmon.tui.shared.header import HeaderText
from tests.cli.calling import call
from tests.cli.conftest import PASSWORD
from tests.cli.pseudo_terminal import Terminal
from tests.facts import wait_until
from tests.listener import listening
from tests.needs import posix
from tests.tui.scripted import snapshot
from tests.wordings import has

LIVE = SourceState("shop", Phase.LIVE)


@contextmanager
def served(*streams: PollStream, listen: str = "127.0.0.1:0", **guard: object) -> Iterator[str]:
    """Run a serve of these streams. Yield its URL without a target."""
    server = MetricsServer(listen, [], streams=streams, **guard)  # type: ignore[arg-type]
    try:
        yield server.url.removesuffix("metrics")
    finally:
        server.close()


def refusal(*arguments: str, **environment: str) -> str:
    """Return the single line of a refusal."""
    done = call("connect", *arguments, environment=environment)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.stderr
    return done.stderr


def test_who_cannot_be_read_is_told_why_in_one_line() -> None:
    with served(PollStream("shop", 2.0), PollStream("db1/mails", 2.0)) as url:
        assert has(refusal(url), SendingText.CHOOSE_TARGET, targets="shop, db1/mails")
        assert has(refusal(url + "none"), SendingText.NO_SUCH_TARGET, target="none", targets="shop, db1/mails")
        for target in ("shop", "db1/mails", "db1%2Fmails"):
            assert has(refusal(url + target), TerminalText.NO_TERMINAL), "it is there"
        assert has(refusal(url, "--interval", "1s"), ConnectText.POLLED_BY_SERVE)
    with listening() as other:
        why = ServeText.ANSWER.render(status=501, phrase="Not Implemented")
        assert has(refusal(other.url("/shop")), ServeText.NOT_A_SERVE, place=f"127.0.0.1:{other.port}", why=why)
    for wrong in ("http://", "https://host:x/shop", "http://127.0.0.1/shop?x=1", "http://127.0.0.1/a b"):
        assert has(refusal(wrong), AddressText.FORM)
    assert has(refusal("http://192.0.2.1:9777/shop"), AddressText.UNENCRYPTED)
    assert has(refusal("http://127.0.0.1:1/shop", "--ca", __file__), AddressText.CA_NEEDS_TLS)
    assert has(refusal("orders-prod", "--ca", __file__), ConnectText.CA_NEEDS_URL)
    done = call("status", "http://127.0.0.1:1/shop")
    assert (done.exit_code, has(done.stderr, TargetText.QMON_SERVE)) == (2, True)
    assert has(refusal("https://127.0.0.1:1/shop", "--ca", __file__), AddressText.NO_CERTIFICATES, ca=__file__)


def test_what_answers_otherwise_is_no_serve_or_a_newer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {
        b'{"v":2,"r":"0","n":1,"at":1.0,"k":"session","session":{}}\n': ServeText.NEWER,
        b'{"v":1,"r":"0","n":1,"at":1.0,"k":"end","end":{"reason":""}}\n': ServeText.NOT_A_SERVE,
        b'{"v":1,"r":"0","n":1,"at":1.0,"k":"session","session":{}}\n': ServeText.NOT_A_SERVE,
        b"<html>\n": ServeText.NOT_A_SERVE,
        b"": ServeText.NOT_A_SERVE,
    }
    for text, why in said.items():

        async def lines(self: PollStream, text: bytes = text) -> AsyncGenerator[bytes, None]:
            yield text

        monkeypatch.setattr(PollStream, "client_lines", lines)
        with served(PollStream("shop", 2.0)) as url:
            assert has(refusal(url), why)


def test_a_password_is_needed_where_one_is_and_is_shown_nowhere(users: Path, certificate: tuple[Path, Path]) -> None:
    trusted = ("--ca", str(certificate[0]))
    with served(PollStream("shop", 2.0), users=read_users(users), tls=tls_context(*certificate)) as url:
        named = url.replace("https://", "https://prometheus@") + "shop"
        place = url.removeprefix("https://").rstrip("/")
        assert has(refusal(url), DeliveryText.UNTRUSTED)
        assert has(refusal(url, *trusted), ServeText.NEEDS_NAME, place=place)
        assert has(refusal(url, *trusted, QMON_PASSWORD="hunter22"), ServeText.NEEDS_NAME, place=place)
        done = call("connect", named, *trusted)
        assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
        assert has(done.stderr, ServeText.NEEDS_LOGIN, place=place, user="prometheus")
        assert "QMON_PASSWORD_127_0_0_1_" in done.stderr
        done = call("connect", named, *trusted, environment={"QMON_PASSWORD": "hunter22"})
        assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
        assert has(done.stderr, ServeText.LOGIN_REJECTED, place=place)
        assert "QMON_PASSWORD" in done.stderr
        assert "hunter22" not in done.stderr
        assert has(refusal(named, *trusted, QMON_PASSWORD=PASSWORD), TerminalText.NO_TERMINAL)
        done = call("connect", named.replace("prometheus@", "prometheus:hunter22@"), *trusted)
        assert has(done.stderr, CredentialText.ON_COMMAND_LINE)
        assert has(done.stderr, ServeText.LOGIN_REJECTED, place=place, origin="the command line")
        assert "hunter22" not in done.stderr


@posix
def test_the_dashboard_asks_for_the_password_and_shows_what_is_served(
    users: Path, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    stream = PollStream("shop", 60.0, environment="staging")
    stream.publish_event(LIVE)
    stream.publish_event(poll(1))
    with served(stream, users=read_users(users), tls=tls_context(*certificate)) as url:
        named = url.replace("https://", "https://prometheus@") + "shop"
        terminal = Terminal("connect", named, "--ca", str(certificate[0]), home=tmp_path)
        terminal.expect("Password for 127.0.0.1:")
        terminal.type("hunter22")
        place = url.removeprefix("https://").rstrip("/")
        terminal.expect(ServeText.LOGIN_REJECTED.render(place=place, origin="typed"))
        terminal.expect("Password for 127.0.0.1:", times=2)
        terminal.type(PASSWORD)
        terminal.expect(HeaderText.FROM_SERVE.render(address="127.0.0.1:"))
        terminal.expect(HeaderText.LIVE.split()[1])
        terminal.expect("staging")
        terminal.type("q")
        assert terminal.end() == 0
    assert PASSWORD not in terminal.seen
    written = "".join(path.read_text() for path in tmp_path.rglob("*.log"))
    assert "begins: connect" in written
    assert PASSWORD not in written


class Watching:
    """The events of a source. ``at``: arrival of each snapshot on our clock."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.source = ServedSource(parse_address(url, None, "a test"), clock=clock)
        self.states: list[SourceState] = []
        self.polls: list[Snapshot] = []
        self.source.start(self.take)

    def take(self, event: Event) -> None:
        """The sink."""
        if isinstance(event, SourceState):
            self.states.append(event)
        else:
            self.polls.append(event)

    def phase(self, phase: Phase) -> SourceState:
        """Wait until it is in a phase. Return the state."""
        wait_until(lambda: self.states and self.states[-1].phase is phase, what=f"{phase} in {self.states}")
        return self.states[-1]

    def sequences(self, *wanted: int) -> None:
        """Wait until exactly these polls have come."""
        wait_until(lambda: len(self.polls) >= len(wanted), what=f"the polls {wanted}")
        assert [poll.sequence for poll in self.polls] == [*wanted]


@contextmanager
def watching(url: str, clock: Callable[[], float] = time.monotonic) -> Iterator[Watching]:
    """Run a source until the end of the block; then none of its threads is left."""
    found = Watching(url, clock)
    try:
        yield found
    finally:
        found.source.close()
        assert "qmon-served" not in {thread.name for thread in threading.enumerate()}


def poll(sequence: int, age_s: float = 0.0) -> Snapshot:
    """Return a poll as the serve has it, with this age by its clock."""
    return replace(snapshot(sequence), taken_at=time.monotonic() - age_s)


def test_polls_are_as_old_as_they_are_by_whatever_clocks() -> None:
    def ahead() -> float:
        return time.monotonic() + 5000.0

    stream = PollStream("shop", 60.0)
    stream.publish_event(LIVE)
    stream.publish_event(poll(1, age_s=50.0))
    with served(stream) as url, watching(url, ahead) as found:
        found.sequences(1)
        age_s = ahead() - found.polls[0].taken_at
        assert 50.0 <= age_s < 60.0
        stream.publish_event(poll(2, age_s=-30.0))  # its clock has gone wrong: a poll is never from the future
        found.sequences(1, 2)
        assert found.polls[1].taken_at <= ahead()
        assert (found.source.target, found.source.interval_s) == ("shop", 60.0)


def test_a_serve_that_goes_is_lost_and_goes_on_where_it_was_once_it_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served_source, "BACK_OFF_S", (0.01,))
    with socket.create_server(("127.0.0.1", 0)) as free:
        listen = f"127.0.0.1:{free.getsockname()[1]}"
    with watching(f"http://{listen}/shop") as found:
        assert has(found.phase(Phase.LOST).reason, ServeText.UNREACHABLE, place=listen)
        stream = PollStream("shop", 2.0)
        stream.publish_event(LIVE)
        stream.publish_event(poll(1))
        server = MetricsServer(listen, [], streams=[stream])
        found.sequences(1)
        found.phase(Phase.LIVE)
        stream.publish_event(SourceState("shop", Phase.LOST, "no route to the database"))
        assert found.phase(Phase.LOST).reason == "no route to the database", "the serve's own error message"
        server.close()
        stopped = ServeText.STOPPED.render(place=listen)
        wait_until(lambda: stopped in [each.reason for each in found.states], what="the end is reported")
        again = PollStream("shop", 2.0)
        again.publish_event(LIVE)
        again.publish_event(poll(1))
        with served(again, listen=listen):
            found.sequences(1, 1)
            found.phase(Phase.LIVE)


def test_a_new_connection_repeats_no_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served_source, "RENEW_S", -1e9)  # a new connection after each poll, without a visible effect
    stream = PollStream("shop", 2.0)
    stream.publish_event(LIVE)
    stream.publish_event(poll(1))
    with served(stream) as url, watching(url) as found:
        for number in range(2, 6):
            found.sequences(*range(1, number))
            stream.publish_event(poll(number))
        found.sequences(1, 2, 3, 4, 5)
        assert [state.phase for state in found.states] == [Phase.CONNECTING, Phase.LIVE]


def test_a_serve_that_says_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LOST_AFTER_S", 0.05)
    stream = PollStream("shop", 2.0, silence_s=60.0)
    stream.publish_event(LIVE)
    with served(stream) as url, watching(url) as found:
        wait_until(lambda: any(has(each.reason, ServeText.SILENT) for each in found.states), what="it is lost")


def test_what_is_no_address_is_refused_without_repeating_it() -> None:
    with pytest.raises(BadInput) as refused:
        parse_address("https://anna:hunter22@host:x/shop", None, "a test")
    assert "hunter22" not in str(refused.value)
    made = partial(parse_address, ca=None, origin="a test")
    assert made("https://ops-1/a%20b").host_and_port == "ops-1:443"
    assert (made("http://[::1]:9777/x/y").host_and_port, made("http://[::1]:9777/x/y").target) == ("[::1]:9777", "x/y")
