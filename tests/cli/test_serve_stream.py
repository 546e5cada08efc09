"""``/stream`` of ``qmon serve``: the polls as lines of a recording, for clients that connect, leave or fall behind."""

from __future__ import annotations

import logging
import random
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.client import HTTPResponse
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from qmon.metrics import metrics_server as serving
from qmon.metrics.metrics_server import MetricsServer, StreamLimitText
from qmon.model.samples.polled_samples import BlockingSample
from qmon.monitor.source import Phase, SourceState
from qmon.recording.format.codec import encode
from qmon.recording.format.records import Line, PhaseChange, parse_line
from qmon.recording.format.redaction import recording_cover
from qmon.redact import build_redactor
from qmon.stream.sending import CLOCK_HEADER, PollStream, SendingText
from tests.facts import wait_until
from tests.recording.made import made
from tests.recording.writing import snapshots

LIVE = SourceState("shop", Phase.LIVE)


@contextmanager
def served(*streams: PollStream) -> Iterator[str]:
    """Run a server of these streams. Yield the URL of its streams."""
    server = MetricsServer("127.0.0.1:0", [], streams=streams)
    try:
        yield server.url.replace("metrics", "stream")
    finally:
        server.close()


@contextmanager
def reading(url: str) -> Iterator[HTTPResponse]:
    """Return the answer to a client."""
    with urlopen(url, timeout=120) as answer:  # noqa: S310
        yield answer


def line(answer: HTTPResponse) -> Line:
    """Return the next line."""
    found = parse_line(answer.readline())
    assert found is not None
    return found


def lines(answer: HTTPResponse, number: int) -> list[Line]:
    """Return the next lines."""
    return [line(answer) for _ in range(number)]


def refused(url: str) -> tuple[int, str]:
    """Return the status and the text of an error."""
    with pytest.raises(HTTPError) as found, urlopen(url, timeout=120):  # noqa: S310
        pass
    with found.value as answer:
        assert answer.headers[CLOCK_HEADER]
        return answer.code, answer.read().decode()


def polls(found: Sequence[Line]) -> list[int]:
    """Return the numbers of the polls among lines."""
    return [each.decode_record().sequence for each in found if each.kind == "snapshot"]


def test_a_client_is_given_the_last_polls_then_each_as_it_comes_and_the_end_as_lines_of_a_recording() -> None:
    stream = PollStream("shop", 2.0, build_redactor(["SELECT"]), "prod")
    statement = "ALTER ROLE a PASSWORD 'hunter2'; SELECT 1"
    session = replace(made(BlockingSample, random.Random(1)), statement=statement)
    before = [replace(each, blocking=(session,)) for each in snapshots(12, seed=2)]
    for field in ("payload", "error"):
        assert any(getattr(m, field) for each in before for queue in each.queues for m in queue.messages or ())
    for each in before[:-1]:
        stream.publish_event(each)
    stream.publish_event(LIVE)
    with served(stream) as url, reading(url) as answer:
        assert float(answer.headers[CLOCK_HEADER]) > 0
        first, *found = lines(answer, 14)
        told = first.decode_record()
        assert (told.target, told.interval_s, told.environment) == ("shop", 2.0, "prod")
        assert [each.kind for each in found] == ["session", *["snapshot"] * 11, "state"]
        assert (found[0].decode_record().version, found[-1].decode_record()) == ("18", PhaseChange(Phase.LIVE))
        stream.publish_event(before[-1])
        found.append(line(answer))
        stream.close()
        found.append(line(answer))
        assert (found[-1].kind, answer.readline()) == ("end", b"")
    assert [each.number for each in (first, *found)] == [*range(1, 17)]
    assert {each.recorder for each in found} == {first.recorder}
    covered = recording_cover(build_redactor(["SELECT"]), payloads=False)
    given = [Line("", 1, 0.0, "snapshot", encode(each, covered)).decode_record() for each in before]
    written = [each.decode_record() for each in found if each.kind == "snapshot"]
    assert repr(written) == repr(given)
    assert not any(m.payload or m.error for each in written for queue in each.queues for m in queue.messages or ())
    statements = [each.statement for poll in written for each in poll.blocking or ()]
    assert set(statements) == {"ALTER ROLE a PASSWORD '***'; ••• 1"}


def test_who_names_no_target_that_is_served_is_told_which_there_are() -> None:
    with served(PollStream("shop", 2.0), PollStream("a/b c", 2.0)) as url:
        targets = "shop, a/b c"
        assert refused(url) == (404, SendingText.CHOOSE_TARGET.render(targets=targets) + "\n")
        no_such = SendingText.NO_SUCH_TARGET.render(target="mails", targets=targets)
        assert refused(url + "?target=mails") == (404, no_such + "\n")
        with reading(url + "?target=a%2Fb%20c") as answer:
            assert line(answer).decode_record().target == "a/b c"


def test_silence_is_broken_by_the_phase_and_who_has_gone_is_forgotten() -> None:
    stream = PollStream("shop", 60.0, silence_s=0.01)
    stream.publish_event(SourceState("shop", Phase.LOST, "no route"))
    with served(stream) as url:
        with reading(url) as answer:
            assert [each.decode_record() for each in lines(answer, 4)[1:]] == [PhaseChange(Phase.LOST, "no route")] * 3
            assert stream.clients == 1
        wait_until(lambda: stream.clients == 0, what="the client that has gone is forgotten")


def taken(url: str) -> bool:
    """Return whether one more client is accepted."""
    try:
        with reading(url) as answer:
            return line(answer).kind == "session"
    except HTTPError as full:
        full.close()
        return False


def test_so_many_clients_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "MAX_STREAMS", 2)
    streams = PollStream("shop", 2.0, silence_s=0.01), PollStream("mails", 2.0)
    with served(*streams) as url:
        with reading(url + "?target=shop") as one, reading(url + "?target=mails") as other:
            assert (line(one).kind, line(other).kind) == ("session", "session")
            assert refused(url + "?target=mails") == (503, f"{StreamLimitText.TOO_MANY.render(count=2)}\n")
        wait_until(lambda: streams[0].clients == 0, what="one has gone")
        wait_until(partial(taken, url + "?target=mails"), what="its place is free")


def test_who_does_not_keep_up_is_dropped_with_one_line_in_the_log_and_holds_up_nobody(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(serving, "WRITE_S", 0.2)
    stream, large = PollStream("shop", 2.0), snapshots(1)[0]
    large = replace(large, queues=large.queues * 50)
    with served(stream) as url, socket.create_connection(("127.0.0.1", int(url.split(":")[2].split("/")[0]))) as idle:
        idle.sendall(b"GET /stream HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
        assert idle.recv(10) == b"HTTP/1.1 2"
        wait_until(lambda: stream.clients == 1, what="it is a client")
        with reading(url) as answer, caplog.at_level(logging.WARNING):
            wait_until(lambda: stream.clients == 2, what="another one")
            sent, number = 0, 0
            while stream.clients > 1:
                number += 1
                stream.publish_event(replace(large, sequence=number))
                while sent < number:  # clients that read go on in the meantime
                    sent = max([sent, *polls([line(answer)])])
            wait_until(lambda: caplog.messages, what="a line in the log")
            stream.publish_event(replace(large, sequence=number + 1))
            assert polls([line(answer)]) == [number + 1]
    assert caplog.messages == ["shop: dropped the client at 127.0.0.1 because it is too slow"]


async def test_polls_that_a_client_does_not_take_are_kept_for_it_up_to_a_bound() -> None:
    stream, given = PollStream("shop", 2.0), snapshots(1)[0]
    sent = stream.client_lines()
    assert b'"session"' in await anext(sent)
    taken = 0
    while stream.clients:
        taken += 1
        assert taken < 100
        stream.publish_event(given)
    with pytest.raises(TimeoutError):
        _ = [each async for each in sent]
