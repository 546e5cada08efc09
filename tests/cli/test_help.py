"""``qmon help``: the pages of the manual, the paragraph of a verdict, search, and unknown topics."""

from __future__ import annotations

import os
import subprocess

import pytest

from qmon import manual
from qmon.cli.app import PANELS
from qmon.cli.commands.help import HelpText
from qmon.manual import ManualText
from qmon.model.config_reader import KeyText
from qmon.model.reasons import Reason
from qmon.model.verdicts import RULES
from tests import needs
from tests.cli.calling import ROOT, call, program, surroundings
from tests.wordings import has


def test_without_a_topic_it_lists_the_pages() -> None:
    done = call("help")
    assert done.exit_code == 0
    listed = [line.split()[0] for line in done.stdout.splitlines()[1:]]
    assert sorted(listed) == sorted(page.stem for page in (ROOT / "docs").glob("*.md"))
    assert listed[:4] == [
        "index",
        "quickstart-postgresql",
        "quickstart-sql-server",
        "concepts",
    ]  # in the order of the index
    assert all(len(line.split()) > 4 for line in done.stdout.splitlines()[1:])  # each line describes its page


@pytest.mark.parametrize("page", manual.pages())
def test_a_page_is_shown_whole_without_its_pictures(page: str) -> None:
    done = call("help", page)
    assert done.exit_code == 0
    written = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    assert "](" not in done.stdout
    for line in written.splitlines():
        if "[" not in line and "](" not in line:  # not part of a link or a picture
            assert line.rstrip() in done.stdout


def test_a_page_is_found_by_its_title_and_in_any_case() -> None:
    assert call("help", "SQL", "server").stdout == call("help", "sql-server").stdout != ""


@pytest.mark.parametrize("code", [rule.code for rule in RULES])
def test_a_verdict_has_its_paragraph(code: str) -> None:
    done = call("help", code)
    assert done.exit_code == 0
    assert done.stdout.startswith(f"### {code}\n\n")
    assert done.stdout.count("### ") == 1


def test_a_reason_for_an_unknown_figure_is_found_with_the_names_in_it() -> None:
    assert "no such numbers" in call("help", Reason.IDS_NOT_NUMBERS.render(type="uuid")).stdout
    assert "Several" not in manual.explanation_text(Reason.NOTHING_READY)
    assert manual.explanation_text("what nobody says") == ""


def test_a_heading_comes_with_those_below_it() -> None:
    done = call("help", "Rings")
    assert [line for line in done.stdout.splitlines() if line.startswith("#")] == [
        "## Rings",
        "### ring hole",
        "### ring orphans",
        "### ring full",
    ]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("actin", KeyText.DID_YOU_MEAN.render(word="acting")),
        ("no consumrs", KeyText.DID_YOU_MEAN.render(word="no consumers")),
        ("zzqq\x1b[31m", ManualText.TOPICS),
    ],
)
def test_an_unknown_topic_is_one_line_and_exit_code_2(words: str, hint: str) -> None:
    done = call("help", words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("qmon: ")
    assert done.stderr.endswith(f"{hint}\n")
    assert has(done.stderr, ManualText.NO_TOPIC, hint=hint)
    assert "\x1b" not in done.stderr


def test_search_lists_the_lines_with_their_page_and_section() -> None:
    done = call("help", "--search", "POOLER")
    assert done.exit_code == 0
    rows = done.stdout.splitlines()[1:]
    assert all("pooler" in row.lower() for row in rows)
    assert any(row.split()[:2] == ["connecting", "PostgreSQL"] for row in rows)
    assert {row.split()[0] for row in call("help", "acting", "--search", "trash").stdout.splitlines()[1:]} == {"acting"}


def test_a_search_that_finds_nothing_says_so() -> None:
    done = call("help", "--search", "xyzzy")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == HelpText.NOT_FOUND.render(word="xyzzy") + "\n"
    assert call("help", "--search", " ").exit_code == 2
    assert call("help", "actin", "--search", "trash").exit_code == 2


@pytest.mark.parametrize("word", manual.ALIASES)
def test_every_word_of_other_systems_leads_to_its_topic(word: str) -> None:
    done = call("help", *word.split())
    assert (done.exit_code, len(done.stdout) > 100) == (0, True)
    assert call("help", word.upper().replace(" ", "-")).exit_code == 0


@pytest.mark.parametrize(
    "word",
    [
        *("enqueue", "dequeue", "consumer", "producer", "ack", "nack", "visibility timeout", "dead letter", "DLQ"),
        *("backlog", "lag", "in flight", "retry", "stalled", "poison"),
    ],
)
def test_the_words_of_the_field_are_known(word: str) -> None:
    assert manual.normalize_words(word) in manual.ALIASES


@pytest.mark.parametrize("name", [name for names in PANELS.values() for name in names])
def test_every_command_has_its_help(name: str) -> None:
    done = call("help", name)
    assert done.exit_code == 0
    assert f"qmon {name} " in done.stdout


def test_a_command_comes_before_a_page_and_a_page_before_an_alias() -> None:
    assert "Usage: " in call("help", "requeue").stdout
    assert "Usage: " in call("help", "retry").stdout, "an alias of a command"
    assert call("help", "rights").stdout.startswith("# ")
    assert call("help", "metrics").stdout.startswith("# "), "a page, and an alias of serve"
    assert call("help", "poison").stdout.startswith("### poison message at the head\n")
    assert "poison" in call("help", "poison").stderr


def test_a_key_is_explained() -> None:
    assert "requeue" in call("help", "r").stdout
    assert "repair ring" in call("help", "R").stdout


def test_other_words_are_searched() -> None:
    rows = call("help", "pgbouncer").stdout.splitlines()[1:]
    assert rows and all("pgbouncer" in row.lower() for row in rows)


@needs.posix
def test_on_a_terminal_it_is_laid_out_and_paged() -> None:
    import pty

    screen, inside = pty.openpty()
    pager = "tr a-z A-Z"
    with subprocess.Popen(
        program("help", "no consumers"),
        env=surroundings(PAGER=pager, TERM="xterm", COLUMNS="80"),
        stdin=inside,
        stdout=inside,
        stderr=inside,
    ) as child:
        os.close(inside)
        shown = b""
        while part := _read(screen):
            shown += part
    os.close(screen)
    assert child.returncode == 0
    text = shown.decode()
    assert "MESSAGES ARE READY" in text  # it went through the pager
    assert "###" not in text
    assert "`" not in text


def _read(terminal: int) -> bytes:
    """Return the next output, nothing once the other end is closed, which Linux reports as an error."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
