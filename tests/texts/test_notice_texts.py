"""The wording of lines about receivers of notices."""

from __future__ import annotations

from typing import Any, Final

from qmon.monitor.notify.sender import DeliveryText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    DeliveryText.LINE: ({"receiver": "on-call", "what": "works again"}, "notices to on-call: works again"),
    DeliveryText.WITH_DETAIL: (
        {"line": "notices to on-call: 1 not sent", "detail": "answered 500 Internal Server Error"},
        "notices to on-call: 1 not sent: answered 500 Internal Server Error",
    ),
    DeliveryText.TOO_MANY: ({"most": 500}, "500 notices are queued; qmon drops the oldest"),
    DeliveryText.DROPPED: ({"problem": "answered 404 Not Found"}, "answered 404 Not Found; the notice is dropped"),
    DeliveryText.WORKS_AGAIN: ({}, "works again"),
    DeliveryText.WORKS_AFTER_DROPS: ({"notices": "3 notices"}, "works again; qmon dropped 3 notices in the meantime"),
    DeliveryText.NOT_SENT: ({"lost": 2}, "2 not sent"),
    DeliveryText.NOT_SENT_AND_DROPPED: ({"lost": 2, "dropped": 1200}, "2 not sent, 1,200 dropped earlier"),
    DeliveryText.NO_ANSWER: ({"time": "10 s"}, "no answer within 10 s"),
    DeliveryText.ANSWERED: ({"status": "404 Not Found"}, "answered 404 Not Found"),
    DeliveryText.REDIRECTED: ({"status": "302 Found"}, "answered 302 Found; qmon does not follow redirects"),
    DeliveryText.UNTRUSTED: (
        {"reason": "self-signed certificate"},
        "the server's certificate is not trusted: self-signed certificate",
    ),
    DeliveryText.TLS_FAILED: ({"reason": "WRONG_VERSION_NUMBER"}, "TLS failed: WRONG_VERSION_NUMBER"),
    DeliveryText.UNREACHABLE: ({"reason": "Connection refused"}, "cannot be reached: Connection refused"),
    DeliveryText.CANNOT_RUN: ({}, "the command cannot be run"),
    DeliveryText.TOOK_LONGER: ({"time": "10 s"}, "the command took longer than 10 s and was killed"),
    DeliveryText.EXIT_CODE: ({"code": 7}, "the command ended with exit code 7"),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
