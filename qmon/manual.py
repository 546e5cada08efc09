"""The manual: the pages in ``docs/``, their sections, and search. The command line and the screens use it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from types import MappingProxyType
from typing import Final

from qmon import bundled
from qmon.errors import BadInput, QmonError
from qmon.model.config_reader import suggest_nearest
from qmon.texts import Text


class ManualText(Text):
    """Errors about the manual."""

    MISSING = "the manual is missing: repeat the installation"
    NO_TOPIC = "the manual has no topic {topic!r}{hint}"
    TOPICS = "; qmon help lists the topics"


# The page with a section for each verdict and for each reason why a figure is unknown.
VERDICTS: Final = "verdicts"

# The page with a section for each figure.
FIGURES: Final = "figures"
# The page that lists all other pages.
INDEX: Final = "index.md"
# Terms of other queue systems, in lower case with spaces. Each is mapped to the page, heading or command that explains
# it.
ALIASES: Final = MappingProxyType(
    {
        "enqueue": "push rate",
        "publish": "push rate",
        "dequeue": "pop rate",
        "producer": "producers",
        "publisher": "producers",
        "consumer": "consumers",
        "subscriber": "consumers",
        "ack": "complete rate",
        "nack": "requeue",
        "visibility timeout": "stuck",
        "stalled": "stuck",
        "dead letter": "dead",
        "dlq": "dead",
        "backlog": "ready",
        "depth": "ready",
        "lag": "oldest",
        "latency": "oldest",
        "in flight": "in progress",
        "unacked": "in progress",
        "retry": "requeue",
        "redrive": "requeue",
        "poison": "poison message at the head",
    }
)
_LISTED: Final = re.compile(r"^\d+\. \[[^\]]+\]\(([\w-]+\.md)\)", re.M)
_HEADING: Final = re.compile(r"(#+) (.*)")
_IMAGE: Final = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n*", re.M)
_LINK: Final = re.compile(r"\[([^\]]*)\]\((?!https?:)[^)]*\)")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with the text up to the next heading. ``level`` is 1 for the title of the page."""

    page: str
    heading: str
    level: int
    text: str

    def has_heading(self, heading: str) -> bool:
        """Return whether these words match the heading.

        In a heading, `` · `` separates alternatives and ``…`` is any text.
        """
        patterns = self.heading.replace("[", "[[]").replace("…", "*").lower().split(" · ")
        return any(fnmatchcase(heading.lower(), pattern) for pattern in patterns)


@cache
def pages() -> tuple[str, ...]:
    """Return the names of the pages (such as ``acting``) in the order of the index.

    Raises ``QmonError`` if the index is missing.
    """
    folder = bundled.bundled_folder("docs")
    names = {entry.name for entry in folder.iterdir()} if folder is not None else set[str]()
    if folder is None or INDEX not in names:
        raise QmonError(ManualText.MISSING)
    listed = [INDEX, *_LISTED.findall((folder / INDEX).read_text(encoding="utf-8"))]
    return tuple(name.removesuffix(".md") for name in dict.fromkeys(listed) if name in names)


@cache
def sections(page: str) -> tuple[Section, ...]:
    """Return the sections of a page, without images. Links to other pages are replaced by their text."""
    folder = bundled.bundled_folder("docs")
    assert folder is not None  # noqa: S101 - callers get the name from pages()
    text = _LINK.sub(r"\1", _IMAGE.sub("", (folder / f"{page}.md").read_text(encoding="utf-8")))
    out: list[Section] = []
    heading, level, lines, code = "", 0, list[str](), False
    for line in text.splitlines():
        code ^= line.startswith("```")
        found = None if code else _HEADING.fullmatch(line)
        if found is None:
            lines.append(line)
            continue
        if level:
            out.append(Section(page, heading, level, "\n".join(lines).strip("\n")))
        heading, level, lines = found[2], len(found[1]), []
    return (*out, Section(page, heading, level, "\n".join(lines).strip("\n")))


def page_summary(page: str) -> str:
    """Return the first paragraph of a page on one line."""
    return " ".join(sections(page)[0].text.partition("\n\n")[0].split())


def normalize_words(text: str) -> str:
    """Return the words in lower case, separated by single spaces. ``-`` and ``_`` also separate words."""
    return " ".join(text.lower().replace("-", " ").replace("_", " ").split())


def find_topic(topic: str) -> str | None:
    """Return the topic with this name as Markdown, or ``None`` if there is no such topic."""
    try:
        return topic_text(topic)
    except BadInput:
        return None


def topic_text(topic: str) -> str:
    """Return as Markdown the page with this name or title, or all sections with this heading. Raises ``BadInput``."""
    wanted = normalize_words(topic)
    for page in pages():
        if wanted in (page.replace("-", " "), sections(page)[0].heading.lower()):
            return _to_markdown(sections(page))
    found = [part for page in pages() for part in _matching_sections(page, topic.strip())]
    if not found:
        headings = {part.heading for part in _explanation_sections() if "…" not in part.heading}
        hint = suggest_nearest(topic, [*pages(), *headings], otherwise=ManualText.TOPICS)
        raise BadInput(ManualText.NO_TOPIC.render(topic=topic, hint=hint))
    return _to_markdown(found)


def explanation_text(topic: str) -> str:
    """Return the manual's text about a verdict, a figure or a reason, as plain text.

    The result is empty if the manual has no such section.
    """
    text = next((part.text for part in _explanation_sections() if part.has_heading(topic)), "")
    return " ".join(text.replace("`", "").replace("*", "").split())


def find_lines(text: str, page: str | None = None, *, whole_words: bool = False) -> Iterator[tuple[Section, str]]:
    """Yield every line that contains ``text``, with its section. The case of letters is ignored.

    Args:
        text: the text to find.
        page: search only this page.
        whole_words: true to match whole words only.
    """
    pattern = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)" if whole_words else re.escape(text), re.IGNORECASE)
    for name in pages() if page is None else (page,):
        for part in sections(name):
            for line in (part.heading, *part.text.splitlines()):
                if pattern.search(line):
                    yield part, line.strip()


def _explanation_sections() -> list[Section]:
    """Return the sections that each explain one item on the screens."""
    return [part for page in (VERDICTS, FIGURES) for part in sections(page) if part.level == 3]


def _matching_sections(page: str, topic: str) -> Iterator[Section]:
    """Yield the sections with this heading and their subsections."""
    level = 0
    for part in sections(page):
        if part.has_heading(topic):
            level = part.level
        elif part.level <= level:
            level = 0
        if level:
            yield part


def _to_markdown(parts: tuple[Section, ...] | list[Section]) -> str:
    return "\n\n".join(f"{'#' * part.level} {part.heading}\n\n{part.text}".rstrip() for part in parts)
