"""Open the screen of a queue or of its first message, with a message made by hand."""

from __future__ import annotations

import json
from dataclasses import replace

from qmon.operate.message import Message, MessageColumn
from qmon.tui.message.message_screen import MessageScreen, MessageScreenText
from tests.tui.driving import Driver
from tests.tui.scripted import NASTY
from tests.wordings import has

PAYLOAD = json.dumps({"to": "ada@example.org", "template": "welcome", "lines": [{"sku": "A-1", "count": 2}, {}]})


async def opened(d: Driver, name: str) -> None:
    """Open the queue screen of one queue."""
    await d.give()
    d.app.screen.query_one("Grid").select(name)  # type: ignore[attr-defined]
    await d.press("enter")
    assert d.app.current_mode == "queue"


def found(payload: str | bytes = PAYLOAD, *, cut: bool = False, size: int | None = None) -> Message:
    """Return a message as the server returns it."""
    of_payload = MessageColumn("payload", "jsonb", len(payload) if size is None else size, payload, cut)
    return Message(
        (
            MessageColumn("id", "bigint", 8, "9120311"),
            MessageColumn("status", "text", 11, "in_progress"),
            MessageColumn("note", "text", 30, NASTY),
            MessageColumn("trace", "bytea", 4, b"\x00\x01\xfe\xff"),
            MessageColumn("secret", "text", grant='GRANT SELECT ("secret") ON "public"."invoices" TO qmon'),
            MessageColumn("nothing", "inet"),
            replace(of_payload, value=payload[:4000], cut=cut or len(payload) > 4000),
        ),
        of_payload,
        pushed_s=7_800.0,
        popped_s=7_512.0,
        owner="app-7/61",
        doing="session 61 (mailer, shop, app-7): idle in transaction for 2 h 05 m, last statement: UPDATE invoices",
    )


async def shown(d: Driver, size: tuple[int, int] | None = None) -> MessageScreen:
    """Open the first message of the invoices with one key from screen 2."""
    await opened(d, "invoices")
    if size is not None:
        await d.resize(*size)
    await d.press("enter")
    screen = d.app.screen
    assert isinstance(screen, MessageScreen)
    await d.until(lambda: not has(d.text(), MessageScreenText.READING), "the message was read")
    return screen
