"""The source archive, the wheel built from it, and the wheel installed in a new environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import qmon
from tests import schemas
from tests.architecture.installing import EXTRA, strangers
from tests.share import files

pytestmark = pytest.mark.server

CHECKOUT = Path(__file__).parents[2]
NAME = f"qmon_sql-{qmon.__version__}"


def run(*command: str | Path, cwd: Path) -> str:
    """Run a program without access to the checkout and return its standard output. Fails with all its output."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the source archive and the wheel built from it. Needs no network."""
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, CHECKOUT, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def alone(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of a new environment with the wheel. Dependencies come from our own environment."""
    folder = tmp_path_factory.mktemp("alone") / "new environment"
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=built)
    python = folder / "bin" / "python"
    (wheel,) = built.glob("*.whl")
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel, cwd=built)
    (place,) = folder.glob("lib/python*/site-packages")
    lent = sysconfig.get_path("purelib")  # in ASCII: Python before 3.13 reads such a file in the locale's encoding
    (place / "dependencies.pth").write_text(f"import sys; sys.path.append({lent!a})\n")
    return python


def listing(folder: str) -> set[str]:
    """Return the files in a folder of the checkout."""
    top = CHECKOUT / folder
    return {path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()}


def test_the_wheel_contains_the_sql_and_the_manual(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    for folder in ("sql", "docs"):
        inside = f"qmon/_{folder}/"
        assert {name.removeprefix(inside) for name in names if name.startswith(inside)} == listing(folder)
    assert {name.split("/")[0] for name in names} == {"qmon", f"{NAME}.dist-info", f"{NAME}.data"}
    assert {"qmon/tui/qmon.tcss", f"qmon_sql-{qmon.__version__}.dist-info/licenses/LICENSE"} <= names


def test_the_wheel_has_its_own_name_and_never_refers_to_the_other_qmon(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        texts = {name: archive.read(name).decode(errors="replace") for name in archive.namelist()}
    described = Parser().parsestr(texts[f"qmon_sql-{qmon.__version__}.dist-info/METADATA"])
    assert described["Name"] == "qmon-sql"
    assert {name: lines for name, text in texts.items() if (lines := strangers(text))} == {}
    hinted = {name for text in texts.values() for found in EXTRA.findall(text) for name in found.split(",")}
    assert {"demo", "pipeline", "sqlserver"} <= hinted <= set(described.get_all("Provides-Extra", []))


def test_the_readme_on_a_package_index_has_no_broken_links(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        shown = str(Parser().parsestr(archive.read(name).decode()).get_payload())
    written = (CHECKOUT / "README.md").read_text()
    assert "](docs/" in written and "](screenshots/" in written
    assert re.findall(r"\]\((?!https?:|#)[^)]*\)", shown) == []
    assert [line for line in written.splitlines() if line.startswith("#")] == [
        line for line in shown.splitlines() if line.startswith("#")
    ]


def test_the_source_archive_contains_everything_to_build(built: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"{folder}/{name}" for folder in ("sql", "docs") for name in listing(folder)} <= names
    assert {"pyproject.toml", "LICENSE", "README.md", "constraints.txt", "tests/conftest.py"} <= names


def test_the_files_in_the_image_build_the_same_wheel(built: Path, tmp_path: Path) -> None:
    copied = tmp_path / "src"
    for words in re.findall(r"^COPY (.+)$", (CHECKOUT / "Containerfile").read_text(), re.M):
        *names, place = words.split()
        for name in names:
            if (CHECKOUT / name).is_dir():
                shutil.copytree(
                    CHECKOUT / name, tmp_path / place.lstrip("/"), ignore=shutil.ignore_patterns("__pycache__")
                )
            else:
                copied.mkdir(exist_ok=True)
                shutil.copy(CHECKOUT / name, copied)
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path, copied, cwd=tmp_path)
    wheels = *built.glob("*.whl"), *tmp_path.glob("*.whl")
    ours, image = (set(zipfile.ZipFile(wheel).namelist()) for wheel in wheels)
    assert image == ours


def test_the_installed_wheel_finds_its_sql_and_manual(alone: Path, tmp_path: Path) -> None:
    assert qmon.__version__ in run(alone.with_name("qmon"), "--version", cwd=tmp_path)
    where = run(alone, "-c", "import qmon; print(qmon.__file__)", cwd=tmp_path)
    assert where.startswith(str(alone.parents[1]))
    script = "from qmon.engines.sql import queries; print(*(file.path for file in queries.all_files()), sep='\\n')"
    found = set(run(alone, "-c", script, cwd=tmp_path).splitlines())
    assert found == {f"sql/{name}" for name in listing("sql") if name.endswith(".sql")}
    shown = run(alone.with_name("qmon"), "help", "no consumers", cwd=tmp_path)
    assert shown.startswith("### no consumers\n\nMessages are ready")


def test_the_wheel_contains_the_current_man_page_and_completions(alone: Path) -> None:
    place = alone.parents[1] / "share"
    assert {path: (place / path).read_text() for path in files()} == files()


def test_the_wheel_contains_the_schemas(alone: Path) -> None:
    (place,) = alone.parents[1].glob("lib/python3*/site-packages/qmon/_docs/schemas")
    assert {path.name: path.read_text(encoding="utf-8") for path in place.iterdir()} == schemas.files()
