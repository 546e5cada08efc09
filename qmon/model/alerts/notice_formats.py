"""Notices as JSON-ready objects in the format of each receiver's API.

Sources: Slack's Block Kit reference (a section has at most 3,000 characters; ``& < >`` are escaped in ``text``),
Microsoft's references of Adaptive Cards (a ``TextRun`` has no Markdown) and Teams webhooks, PagerDuty's Events API v2
(``summary``: 1,024 characters), and the OpenAPI file of Alertmanager's API v2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, TypedDict

from qmon.model.alerts.notices import Notice
from qmon.model.figure import Severity
from qmon.model.report_shapes import fill
from qmon.model.status_report import iso
from qmon.texts import Text


class NoticeText(Text):
    """Lines of a notice."""

    QUEUES = "{count:,} queues"
    ALERT = "alert {name}, {event} at {at}, since {since}"
    CAUSE = "cause: {cause}"
    QUEUES_LINE = "queues: {queues}"
    AND_MORE = " and {count:,} more"


SCHEMA: Final = 1
MAX_SLACK_LENGTH: Final = 3_000
MAX_SUMMARY_LENGTH: Final = 1_024

# Maximum number of queues named in a text.
_MAX_QUEUES: Final = 20
_MARKS: Final = {Severity.WARNING: "▲", Severity.CRITICAL: "■"}
_COLOURS: Final = {Severity.WARNING: "warning", Severity.CRITICAL: "attention"}


def notice_headline(notice: Notice) -> str:
    """Return one line: ``■ CRITICAL shop: orders: oldest 14 m 05 s, above 10 m 00 s`` or ``✓ CLEARED …``."""
    state = "✓ CLEARED" if notice.is_over else f"{_MARKS.get(notice.severity, '·')} {notice.severity.name}"
    about = NoticeText.QUEUES.render(count=len(notice.queues)) if len(notice.queues) > 1 else "".join(notice.queues)
    return one_line_text(
        ": ".join(part for part in (f"{state} {notice.target}", about, notice.text) if part), MAX_SUMMARY_LENGTH
    )


def notice_detail_lines(notice: Notice) -> list[str]:
    """Return additional lines: cause, queues, start."""
    since = NoticeText.ALERT.render(name=notice.name, event=notice.event, at=iso(notice.at), since=iso(notice.since_at))
    lines = [
        NoticeText.CAUSE.render(cause=notice.cause) if notice.cause else "",
        NoticeText.QUEUES_LINE.render(queues=_queue_list(notice)),
        since,
    ]
    return [
        one_line_text(line, MAX_SUMMARY_LENGTH)
        for line in (lines if len(notice.queues) > 1 else [lines[0], since])
        if line
    ]


def _queue_list(notice: Notice) -> str:
    more = len(notice.queues) - _MAX_QUEUES
    return one_line_text(", ".join(notice.queues[:_MAX_QUEUES]), MAX_SUMMARY_LENGTH) + (
        NoticeText.AND_MORE.render(count=more) if more > 0 else ""
    )


def one_line_text(text: str, max_length: int) -> str:
    """Return the text on one line of at most ``max_length`` characters, without terminal control sequences."""
    shown = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return shown if len(shown) <= max_length else f"{shown[: max_length - 1]}…"


class NoticeReport(TypedDict):
    """A notice as JSON. ``key`` identifies the alert. ``queues`` is empty for the target. Times are ISO 8601 in UTC."""

    schema: Literal[1]
    event: str
    key: str
    target: str
    name: str
    cause: str | None
    queues: list[str]
    severity: str
    words: str
    value: float | None
    since: str
    at: str


def notice_report(notice: Notice) -> NoticeReport:
    """Return a notice as plain JSON, which notification commands also receive (see the manual)."""
    return fill(
        NoticeReport,
        notice,
        schema=SCHEMA,
        event=notice.event.value,
        queues=list(notice.queues),
        severity=notice.severity.name.lower(),
        words=notice.text,
        since=iso(notice.since_at),
        at=iso(notice.at),
    )


def slack_message(notice: Notice) -> dict[str, Any]:
    """Return a message for an incoming webhook. The blocks are plain text, so that no name triggers a mention."""
    head = notice_headline(notice)
    text = head.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {"text": text, "blocks": [_section(head), _section("\n".join(notice_detail_lines(notice)))]}


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "plain_text", "text": text[:MAX_SLACK_LENGTH], "emoji": False}}


def teams_message(notice: Notice) -> dict[str, Any]:
    """Return an Adaptive Card for a Workflows webhook."""
    colour = "good" if notice.is_over else _COLOURS.get(notice.severity, "default")
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [
            _rich_text_block(notice_headline(notice), weight="bolder", color=colour),
            *(_rich_text_block(line, isSubtle=True) for line in notice_detail_lines(notice)),
        ],
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [attachment]}


def _rich_text_block(text: str, **style: object) -> dict[str, Any]:
    return {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text, **style}]}


def pagerduty_event(notice: Notice, routing_key: str) -> dict[str, Any]:
    """Return an event for PagerDuty's Events API v2."""
    event: dict[str, Any] = {
        "routing_key": routing_key,
        "event_action": "resolve" if notice.is_over else "trigger",
        "dedup_key": notice.key,
    }
    if notice.is_over:
        return event
    payload = {
        "summary": notice_headline(notice),
        "source": one_line_text(notice.target, MAX_SUMMARY_LENGTH),
        "severity": notice.severity.name.lower(),
        "timestamp": iso(notice.since_at),
        "class": one_line_text(notice.name, MAX_SUMMARY_LENGTH),
        "custom_details": {"cause": notice.cause or None, "queues": _queue_list(notice), "since": iso(notice.since_at)},
    }
    return {**event, "client": "qmon", "payload": payload}


def alertmanager_alerts(notices: Sequence[Notice], now: float, expires_after_s: float) -> list[dict[str, Any]]:
    """Return alerts for Alertmanager. An alert that is not sent again ends ``expires_after_s`` seconds after ``now``.

    The severity is a label, and labels identify alerts. If the severity changes, the alert with the old severity is
    therefore ended.
    """
    out = []
    for notice in notices:
        out.append(
            _alertmanager_alert(
                notice, notice.severity, max(notice.at, notice.since_at) if notice.is_over else now + expires_after_s
            )
        )
        if notice.was is not None:
            out.append(_alertmanager_alert(notice, notice.was, max(notice.at, notice.since_at)))
    return out


def _alertmanager_alert(notice: Notice, severity: Severity, ends_at: float) -> dict[str, Any]:
    labels = {
        "alertname": notice.name,
        "target": notice.target,
        "queue": "" if notice.cause else "".join(notice.queues),
        "cause": notice.cause,
        "severity": severity.name.lower(),
    }
    annotations = {"summary": notice_headline(notice), "queues": _queue_list(notice), "key": notice.key}
    return {
        "labels": {name: value for name, value in labels.items() if value},
        "annotations": {name: value for name, value in annotations.items() if value},
        "startsAt": iso(notice.since_at),
        "endsAt": iso(ends_at),
    }
