"""A standalone Spark cluster on this machine: a master and workers, each in its own process."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyspark

from tests.cli.calling import ROOT, surroundings
from tests.facts import wait_until

HOME: Final = Path(pyspark.__file__).parent
WORKERS: Final = 2
# A Java that runs for seconds: start fast, and leave the processors to the others.
_QUICK: Final = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
FEW_ROWS: Final = {
    # Each of three Javas would compile for longer than it computes.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.executor.extraJavaOptions": _QUICK,
    "spark.driver.extraJavaOptions": _QUICK,
    "spark.executor.memory": "512m",
    "spark.driver.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
}
_LONG_S: Final = 240.0


@dataclass(frozen=True, slots=True)
class _Daemon:
    child: subprocess.Popen[bytes]
    log: Path

    def said(self, pattern: str) -> str:
        """Wait until its log matches the pattern, while it runs. Return the pattern's group."""

        def found() -> re.Match[str] | None:
            text = self.log.read_text("utf-8", "replace")
            assert self.child.poll() is None, text
            return re.search(pattern, text)

        match = wait_until(found, _LONG_S, what=f"{self.log.name}: {pattern}")
        assert match is not None
        return match[1]


@dataclass(frozen=True, slots=True)
class Cluster:
    """``url``: the master's address. ``folder``: workers keep fetched files and executors' logs in folders there.

    ``python``: an interpreter without qmon that has all other packages that executors need.
    """

    url: str
    folder: Path
    python: Path

    def submit(
        self, package: Path, *arguments: str, settings: Mapping[str, str] = FEW_ROWS
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of qmon with ``spark-submit`` on all workers, and wait for it. ``settings``: Spark's."""
        options = {
            **settings,
            "spark.executor.cores": "1",
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
            # Each executor has its share: the job waits until all executors are there, and no task waits for a place.
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": f"{_LONG_S:.0f}s",
        }
        command = [str(HOME / "bin" / "spark-submit"), "--master", self.url, "--py-files", str(package)]
        command += [part for name, value in options.items() for part in ("--conf", f"{name}={value}")]
        env = _environment(self.folder, PYSPARK_DRIVER_PYTHON=sys.executable, PYSPARK_PYTHON=str(self.python))
        return _run([*command, str(ROOT / "qmon" / "__main__.py"), *arguments], env, self.folder)

    def worked(self, package: Path) -> list[bool]:
        """Return for each worker whether one of its executors has fetched the package and then run a task."""
        executors = [list((self.folder / f"worker{n}").glob("app-*/*")) for n in range(WORKERS)]
        return [any(_has_run(place, package.name) for place in places) for places in executors]


def _has_run(place: Path, package: str) -> bool:
    return (place / package).exists() and "Running task" in (place / "stderr").read_text("utf-8", "replace")


@contextlib.contextmanager
def cluster(folder: Path, workers: int = WORKERS, memory: str = "600m") -> Iterator[Cluster]:
    """Run a master, and workers with one core and this memory each, on ports that the system chooses.

    All processes are ended afterwards.
    """
    with contextlib.ExitStack() as running:
        ports = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        master = running.enter_context(_daemon(folder, "master", "master.Master", *ports))
        url = master.said(r"Starting Spark master at (spark://\S+)")
        started = []
        for n in range(workers):
            offer = ("--cores", "1", "--memory", memory, "--work-dir", str(folder / f"worker{n}"))
            started.append(running.enter_context(_daemon(folder, f"worker{n}", "worker.Worker", *ports, *offer, url)))
        python = without_qmon(folder / "python")
        for worker in started:
            worker.said(r"Successfully registered with (master)")
        yield Cluster(url, folder, python)


def packed(folder: Path) -> Path:
    """Pack qmon's code for ``--py-files``."""
    code = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "qmon", folder / "packed" / "qmon", ignore=code)
    return Path(shutil.make_archive(str(folder / "qmon"), "zip", folder / "packed"))


def without_qmon(folder: Path) -> Path:
    """Make an environment with this one's packages but not the checkout: its path files are ignored."""
    venv.EnvBuilder(symlinks=True).create(folder)
    (own,) = folder.glob("lib/python*/site-packages")
    (own / "others.pth").write_text(sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8")
    python = folder / "bin" / "python"
    command = [str(python), "-c", "import pyarrow, qmon.pipeline"]
    tried = subprocess.run(
        command, cwd=folder, env=_environment(folder), check=False, capture_output=True, text=True, timeout=_LONG_S
    )
    assert "No module named 'qmon" in tried.stderr, tried.stderr
    return python


def _environment(folder: Path, **more: str) -> dict[str, str]:
    """Return the environment of Spark's programs, without this process's paths and names that need a network."""
    ours = {name: value for name, value in surroundings().items() if name not in ("PYTHONPATH", "SPARK_CONF_DIR")}
    spark = {"SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(folder / "local")}
    spark["SPARK_DAEMON_MEMORY"] = "256m"
    return ours | spark | {"SPARK_DAEMON_JAVA_OPTS": f"{_QUICK} -Dspark.master.rest.enabled=false"} | more


@contextlib.contextmanager
def _daemon(folder: Path, name: str, kind: str, *arguments: str) -> Iterator[_Daemon]:
    """Run one of Spark's daemons until the block ends, then end all its children."""
    log = folder / f"{name}.log"
    command = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", *arguments]
    with log.open("wb") as said:
        child = subprocess.Popen(
            command,
            cwd=folder,
            env=_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    with _ended(child):
        yield _Daemon(child, log)


def _run(command: Sequence[str], env: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    child = subprocess.Popen(
        command,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with _ended(child):
        out, err = child.communicate(timeout=2 * _LONG_S)
    return subprocess.CompletedProcess(command, child.returncode, out, err)


@contextlib.contextmanager
def _ended(child: subprocess.Popen[str] | subprocess.Popen[bytes]) -> Iterator[None]:
    """Ensure that the process and its whole group have ended afterwards, whatever happened in the meantime."""
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(30)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
