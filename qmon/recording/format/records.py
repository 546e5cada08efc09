"""The lines of a recording: what each kind holds, and how one is written and read. FORMAT.md shows an example of each.

Every line is one JSON object with the format's version, the recorder's id, the line's number (1, 2, 3 … without a
hole, over all segments of that recorder) and the time on the clock of the recording machine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from qmon.model.layout.layout import Layout
from qmon.model.operations import Operation
from qmon.model.snapshot import Snapshot
from qmon.model.view import Verdict
from qmon.recording.format.codec import Change, Codec, Damaged, Plain
from qmon.recording.format.figures import Figures

VERSION: Final = 2
"""Of the format. A reader takes every line whose version is not greater than its own."""

Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SessionLine:
    """What was recorded by whom. ``zone``: IANA name of the recording machine's time zone; ``interval_s``: as asked."""

    target: str
    engine: str
    version: str
    qmon: str
    zone: str
    interval_s: float
    started_at: float
    host: str = ""
    environment: str = ""


@dataclass(frozen=True, slots=True)
class VerdictsLine:
    """All verdicts that hold for a queue from now on, the worst first; written when a code or a severity changes.

    ``standing``: they held before, and are said again because a segment begins.
    """

    queue: str
    holds: tuple[Verdict, ...] = ()
    standing: bool = False


@dataclass(frozen=True, slots=True)
class Changed:
    """The source has changed its phase: connecting, live, late, lost, closed."""

    phase: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """Snapshots that were not recorded since the line before, and why."""

    lost: int
    reason: str


@dataclass(frozen=True, slots=True)
class End:
    """The recorder ended in order, or stopped, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment worth jumping to: ``kind`` operation or verdict (at least a warning that has begun)."""

    at: float
    kind: str
    queue: str
    text: str


@dataclass(frozen=True, slots=True)
class Member:
    """One gzip member: where it begins in the file, the times of its first and last line, and its lines' numbers."""

    offset: int
    first_at: float
    last_at: float
    first: int
    lines: int


@dataclass(frozen=True, slots=True)
class IndexLine:
    """The last line of a sealed segment: everything that is needed to read from the middle."""

    session: SessionLine | None
    members: tuple[Member, ...] = ()
    layouts: Mapping[str, Layout] = field(default_factory=dict)
    texts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    marks: tuple[Mark, ...] = ()


KINDS: Final[dict[str, type]] = {
    "session": SessionLine,
    "layout": Layout,
    "texts": dict,
    "snapshot": Snapshot,
    "delta": dict,
    "figures": Figures,
    "state": Changed,
    "verdict": VerdictsLine,
    "operation": Operation,
    "gap": Gap,
    "end": End,
    "index": IndexLine,
}
PLAIN: Final = Codec()


@dataclass(frozen=True, slots=True)
class Line:
    """One line as read. ``record``: of the type that ``KINDS`` says, still plain for the kinds that refer to others."""

    recorder: str
    number: int
    at: float
    kind: str
    value: Plain
    key: str = ""


def line(recorder: str, number: int, at: float, kind: str, value: Plain, key: str = "") -> bytes:
    """One line, ready to be written. ``key``: what a layout or a set of texts is referred to by."""
    whole = {
        "v": VERSION,
        "r": recorder,
        "n": number,
        "at": at,
        "k": kind,
        **({"key": key} if key else {}),
        kind: value,
    }
    return json.dumps(whole, separators=(",", ":")).encode("ascii") + b"\n"


def read_line(text: bytes) -> Line | None:
    """The line; ``None`` where its version or kind is newer than this qmon. Raises ``Damaged`` where it is no line."""
    try:
        raw = json.loads(text)
        if raw["v"] > VERSION or raw["k"] not in KINDS:
            return None
        return Line(raw["r"], raw["n"], raw["at"], raw["k"], raw[raw["k"]], raw.get("key", ""))
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise Damaged(f"not a line of a recording: {problem!r}") from None


def key_of(value: Plain) -> str:
    """A short name made from what is in it, so that the same layout has the same name in every recording."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("ascii")).hexdigest()[:12]


class Shared:
    """What is written once in a segment and referred to by its key: layouts, and the reasons of unknown figures."""

    def __init__(
        self,
        layouts: Mapping[str, Layout] | None = None,
        texts: Mapping[str, Texts] | None = None,
        change: Change | None = None,
    ) -> None:
        self.layouts = dict(layouts or {})
        self.texts = dict(texts or {})
        self.fresh: list[tuple[str, str, Plain]] = []
        """What was first met since the last ``take``: kind, key, value."""
        self._keys: dict[Layout, str] = {}
        refer: dict[Any, Any] = {Layout: self._layout, Texts: self._texts}
        find: dict[Any, Any] = {Layout: self._find_layout, Texts: self._find_texts}
        self.codec = Codec(refer, find, change)

    def write(self, snapshot: Snapshot) -> Plain:
        """The snapshot with references; its queues have their names beside them, for readers who want no more."""
        value = self.codec.encode(snapshot)
        named = zip(snapshot.queues, value.get("queues", ()), strict=True)
        value["queues"] = [{"queue": samples.layout.queue, **each} for samples, each in named]
        return value

    def read(self, value: Plain) -> Snapshot:
        """The snapshot that ``write`` has written. Raises ``Damaged``."""
        snapshot: Snapshot = self.codec.decode(Snapshot, value)
        return snapshot

    def take(self) -> list[tuple[str, str, Plain]]:
        """What was first met since it was last asked."""
        fresh, self.fresh = self.fresh, []
        return fresh

    def learn(self, read: Line) -> None:
        """Take in a line that others refer to. Raises ``Damaged``."""
        if read.kind == "layout":
            self.layouts[read.key] = PLAIN.decode(Layout, read.value)
        elif read.kind == "texts":
            self.texts[read.key] = dict(read.value)

    def _layout(self, layout: Layout) -> str:
        key = self._keys.get(layout)
        if key is None:
            value = PLAIN.encode(layout)
            key = self._keys[layout] = key_of(value)
            self.layouts[key] = layout
            self.fresh.append(("layout", key, value))
        return key

    def _texts(self, texts: Texts) -> str:
        value = dict(texts)
        key = key_of(value)
        if key not in self.texts:
            self.texts[key] = value
            self.fresh.append(("texts", key, value))
        return key

    def _find_layout(self, key: str) -> Layout:
        return self.layouts[key]

    def _find_texts(self, key: str) -> Texts:
        return self.texts[key]
