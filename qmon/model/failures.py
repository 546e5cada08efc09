"""Groups failed and retried messages by the text of their last error."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from qmon.model.samples.polled_samples import MessageSample

# The text of a group whose messages have no error text.
NO_ERROR: Final = "(no error text)"
# Maximum number of characters of a folded error. Longer texts that share this beginning are one group.
MAX_CHARS: Final = 200


def _fold_json_text(match: re.Match[str]) -> str:
    """Return a name of a JSON object unchanged, and ``<text>`` for any other quoted text."""
    return match[1] or "<text>"


# Each part of an error that differs from message to message, with its replacement. The order matters: a quoted value
# may contain ids and numbers, and an id contains numbers.
_FOLDS: Final[tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]] = (
    # Names in JSON ("error": …) stay. Their pattern comes first, so that no value begins at the end of a name.
    (re.compile(r'("(?:[^"\\]|\\.){0,200}"\s*:)|"(?:[^"\\]|\\.){0,200}"'), _fold_json_text),
    (re.compile(r"(?<!\w)'(?:[^'\\]|\\.){0,200}'(?!\w)"), "<text>"),
    (re.compile(r"`[^`]{0,200}`"), "<text>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    # A word of letters and digits is an id if it is long: a UUID, a hash, `order-4711`.
    (re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[^\W\d_])[\w-]{6,}\b"), "<id>"),
    (re.compile(r"(?<![\w.])[+-]?\d+(?:[.,:/-]\d+)*(?!\w)|\d+"), "<n>"),
    (re.compile(r"\s+"), " "),
)
# The last element of a list of errors as JSON. Its message is the error, and the other fields differ from try to try.
_JSON_MESSAGE: Final = re.compile(r'"(?:error|message|msg|exception)"\s*:\s*"((?:[^"\\]|\\.)*)')


def fold_error(error: str | None) -> str:
    """Return the error without the parts that differ from message to message, at most ``MAX_CHARS`` characters.

    Numbers become ``<n>``, ids ``<id>``, times ``<time>``, and quoted values ``<text>``. Of an error in JSON, only its
    message is used. An empty error is ``NO_ERROR``.
    """
    text = (error or "").strip()
    if text[:1] in "{[" and (found := _JSON_MESSAGE.search(text)) is not None:
        text = found[1].replace(r"\n", " ").replace(r"\"", '"')
    for pattern, replacement in _FOLDS:
        text = pattern.sub(replacement, text)
    return text.strip()[:MAX_CHARS] or NO_ERROR


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Messages with the same folded error, newest first.

    Attributes:
        error: the folded error, which identifies the group.
        first_at: time of the oldest of these messages, seconds since the epoch; ``None`` if no time is known.
        last_at: time of the newest of these messages.
        states: number of messages in each state.
    """

    error: str
    messages: tuple[MessageSample, ...]
    first_at: float | None
    last_at: float | None
    states: Mapping[str, int]

    @property
    def count(self) -> int:
        """Number of messages."""
        return len(self.messages)

    def ids_in(self, *states: str) -> tuple[str, ...]:
        """Return the ids of the messages in these states."""
        return tuple(message.id for message in self.messages if message.state in states)


def group_failures(messages: Iterable[MessageSample], read_at: float) -> tuple[FailureGroup, ...]:
    """Group messages by folded error, the largest group first, and the newest first among groups of one size.

    ``read_at``: when the messages were read, seconds since the epoch. The ages of the messages are relative to it.
    """
    found: dict[str, list[MessageSample]] = {}
    for message in messages:
        found.setdefault(fold_error(message.error), []).append(message)
    groups = [_group(error, listed, read_at) for error, listed in found.items()]
    return tuple(sorted(groups, key=lambda group: (-group.count, -(group.last_at or 0.0), group.error)))


def _group(error: str, messages: list[MessageSample], read_at: float) -> FailureGroup:
    ages = [message.age_s for message in messages if message.age_s is not None]
    return FailureGroup(
        error,
        tuple(sorted(messages, key=lambda message: float("inf") if message.age_s is None else message.age_s)),
        read_at - max(ages) if ages else None,
        read_at - min(ages) if ages else None,
        Counter(message.state for message in messages),
    )
