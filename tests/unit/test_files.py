"""Files are private whatever the umask is, and either complete or unchanged, even on a full disk."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from qmon import files
from qmon.cli.commands.queues import QueuesText
from qmon.cli.commands.queues import write_config as write_proposal
from qmon.config.add_queues import append_blocks
from qmon.config.config_file import ConfigText, read_config
from qmon.errors import BadInput
from qmon.model.formatting import count_text
from qmon.operate.audit import Audit
from qmon.recording.write.segment_writer import SegmentWriter
from tests.wordings import has, pattern

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps rights in lists of its own")
OLD = 'x = "' + "old" * 1000 + '"\n'


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=["umask 000", "umask 022", "umask 077"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@contextmanager
def full_disk(after: int) -> Iterator[None]:
    """Limit the size of this process's files, in bytes: writing more fails as on a full disk."""
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (after, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@posix
def test_what_is_made_is_the_user_s_alone_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    home = tmp_path / "made" / "by" / "qmon"
    write_proposal(home / "qmon.toml", "", force=False)
    append_blocks(home / "other" / "qmon.toml", "shop", "postgresql://h/shop", [])
    Audit(home / "state" / "operations.jsonl").write("begin", {})
    files.write_user_file(home / "saved.csv", "a,b\n")
    files.replace_file(home / "report.html", "<html>")
    SegmentWriter(home / "recordings" / "shop" / "open", home / "recordings" / "shop" / "sealed")
    made = sorted(path for path in (tmp_path / "made").rglob("*"))
    assert len(made) >= 11, count_text(len(made), "file")
    assert {mode(path) for path in made if path.is_dir()} | {mode(tmp_path / "made")} == {0o700}
    assert {mode(path) for path in made if path.is_file()} == {0o600}


@posix
def test_a_mode_that_the_user_has_chosen_stays_and_so_does_a_link(tmp_path: Path) -> None:
    place, link = tmp_path / "dotfiles.toml", tmp_path / "qmon.toml"
    place.write_text("old")
    place.chmod(0o640)
    link.symlink_to(place)
    files.replace_file(link, "new")
    assert (place.read_text(), mode(place), link.is_symlink()) == ("new", 0o640, True)


@posix
@pytest.mark.parametrize("room", [0, 1, 1000])
def test_a_full_disk_leaves_the_old_file_whole(tmp_path: Path, room: int) -> None:
    place = tmp_path / "qmon.toml"
    place.write_text(OLD)
    with full_disk(room):
        with pytest.raises(BadInput, match=pattern(QueuesText.UNWRITABLE, path=place, problem="File too large")):
            write_proposal(place, "y = 1\n" * 1000, force=True)
        with pytest.raises(OSError, match="File too large"):
            files.replace_file(place, "y = 1\n" * 1000)
        with pytest.raises(BadInput, match=pattern(files.FileText.UNWRITABLE, path=tmp_path / "saved.csv")):
            files.write_user_file(tmp_path / "saved.csv", "x" * 2000)
    assert place.read_text() == OLD
    assert [path.name for path in tmp_path.iterdir()] == ["qmon.toml"]


@posix
def test_a_kill_while_it_writes_leaves_the_old_file_whole(tmp_path: Path) -> None:
    place = tmp_path / "qmon.toml"
    place.write_text(OLD)
    code = (
        "import os, signal, sys; from pathlib import Path; from qmon import files\n"
        "os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)\n"
        "files.replace_file(Path(sys.argv[1]), 'new')"
    )
    done = subprocess.run([sys.executable, "-c", code, str(place)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert place.read_text() == OLD


def test_a_file_that_is_replaced_on_request_is_kept(tmp_path: Path) -> None:
    place = tmp_path / "qmon.toml"
    place.write_text(OLD)
    kept = write_proposal(place, "", force=True)
    assert kept is not None
    assert (kept.read_text(), place.read_text()) == (OLD, "")


@posix
def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        files.replace_file(pipe, "report")
        assert os.read(reader, 100) == b"report"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@posix
def test_the_pipes_of_a_shell_are_written_to_and_read(tmp_path: Path) -> None:
    code = "from pathlib import Path; from qmon import files; files.replace_file(Path('/dev/stdout'), 'report')"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "report"
    code = (
        "from pathlib import Path; from qmon.config.config_file import read_config\n"
        "print(read_config(Path('/dev/stdin')).receivers)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, input=COMMAND)
    assert "page-me" in done.stdout


COMMAND = '[[notify]]\nname = "page"\ncommand = ["/usr/bin/page-me"]\n'
LIBRARIES = (
    '[target.a]\nconnect = "Driver=/tmp/evil.so;Server=h"\n',
    '[target.a]\nconnect = "Server=h;DRIVER={/tmp/evil.so}"\n',
    '[target.a]\nconnect = "mssql://h/d?driver=%2Ftmp%2Fevil.so"\n',
)


@posix
@pytest.mark.parametrize("text", [COMMAND, *LIBRARIES])
@pytest.mark.parametrize(
    ("file", "folder", "which"), [(0o620, 0o700, "qmon.toml"), (0o602, 0o700, "qmon.toml"), (0o600, 0o770, "conf")]
)
def test_a_configuration_that_others_may_change_runs_nothing(
    tmp_path: Path, text: str, file: int, folder: int, which: str
) -> None:
    place = tmp_path / "conf" / "qmon.toml"
    place.parent.mkdir()
    place.write_text(text)
    place.chmod(file)
    place.parent.chmod(folder)
    with pytest.raises(BadInput) as refused:
        read_config(place)
    told = str(refused.value)
    assert "\n" not in told
    assert has(told, ConfigText.UNSAFE, path=place)
    assert has(told, files.FileText.OTHERS_MAY_WRITE, path=place if which == "qmon.toml" else place.parent)
    place.chmod(0o644)
    place.parent.chmod(0o1777)  # like /tmp: no other user can replace the file
    assert read_config(place).path == place


@posix
def test_a_configuration_that_others_may_change_is_read_if_it_names_nothing_to_run(tmp_path: Path) -> None:
    place = tmp_path / "qmon.toml"
    place.write_text('[target.a]\nconnect = "Driver={PostgreSQL Unicode};Server=h"\n')
    place.chmod(0o666)
    assert list(read_config(place).targets) == ["a"]


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_configuration_of_another_user_runs_nothing(tmp_path: Path) -> None:
    place = tmp_path / "qmon.toml"
    place.write_text(COMMAND)
    os.chown(place, 12_345, -1)
    with pytest.raises(
        BadInput,
        match=pattern(
            ConfigText.UNSAFE,
            path=place,
            what=ConfigText.A_COMMAND,
            why=files.FileText.OTHER_OWNER.render(path=place, user=0),
        ),
    ):
        read_config(place)


def test_links_that_form_a_circle_and_a_working_folder_that_is_gone_raise_what_is_documented(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    unusable = f"{pattern(ConfigText.UNREADABLE)}|{pattern(ConfigText.UNWRITABLE)}"
    for path in (tmp_path / "a", tmp_path / "a" / "qmon.toml"):
        with pytest.raises(BadInput, match=unusable):
            append_blocks(path / "qmon.toml", "x", "postgresql://h/x", [])
    if sys.platform == "win32":
        return  # a folder that a process is in cannot be deleted
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(BadInput, match=pattern(files.FileText.NO_WORKING_FOLDER, reason="No such file or directory")):
        files.resolve_user_path("a.csv")
    with pytest.raises(BadInput, match=unusable):
        append_blocks(Path("qmon.toml"), "x", "postgresql://h/x", [])
    assert files.resolve_user_path("/tmp/a.csv") == Path("/tmp/a.csv")
    assert files.resolve_user_path("a.csv", Path("/etc")) == Path("/etc/a.csv")
