"""``qmon help``: the pages of the manual, the paragraph of a verdict, search, and what it says of an unknown topic."""

from __future__ import annotations

import os
import subprocess

import pytest

from qmon import manual
from qmon.model.reasons import Reason
from qmon.model.verdicts import RULES
from tests import needs
from tests.cli.calling import ROOT, call, program, surroundings


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
    ]  # as the index has them
    assert all(len(line.split()) > 4 for line in done.stdout.splitlines()[1:])  # each says what it is about


@pytest.mark.parametrize("page", manual.pages())
def test_a_page_is_shown_whole_without_its_pictures(page: str) -> None:
    done = call("help", page)
    assert done.exit_code == 0
    written = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    assert "](" not in done.stdout
    for line in written.splitlines():
        if "[" not in line and "](" not in line:  # no part of a link or a picture
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
    assert "no such numbers" in call("help", Reason.IDS_NOT_NUMBERS.format(type="uuid")).stdout
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
    ("words", "end"),
    [
        ("actin", "the manual has no topic 'actin'; did you mean acting?"),
        ("no consumer", "the manual has no topic 'no consumer'; did you mean no consumers?"),
        ("zzqq\x1b[31m", "qmon help lists the topics"),
    ],
)
def test_an_unknown_topic_is_one_line_and_exit_code_2(words: str, end: str) -> None:
    done = call("help", words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("qmon: ")
    assert done.stderr.endswith(f"{end}\n")
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
    assert done.stderr == "qmon: the manual does not contain 'xyzzy'\n"
    assert call("help", "--search", " ").exit_code == 2
    assert call("help", "actin", "--search", "trash").exit_code == 2


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
    """What comes next; nothing once the other end is closed, which Linux reports as an error."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
