"""``qmon doctor --bundle``: writes an archive for a bug report, without passwords, payloads and literals."""

from __future__ import annotations

import contextlib
import io
import json
import os
import platform
import re
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from qmon import __version__, files, log
from qmon.cli.output import Format, print_output, print_report
from qmon.errors import BadInput, ConnectionFailed, QmonError
from qmon.model.formatting import duration
from qmon.redact import COVER, hide_secrets, hide_values
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.cli.target_session import ConnectedTarget
    from qmon.config.config_file import Config
    from qmon.model.snapshot import Snapshot


class BundleText(Text):
    """Errors and advice about an archive for a bug report."""

    INCOMPLETE = "incomplete: {problem}"
    REVIEW = (
        "review the archive before you send it: it contains names of hosts, databases, roles, tables and applications"
    )
    SUFFIX = "{path}: a bundle must be a {zip} or {tar} file; nothing was written"
    UNCREATABLE = "cannot create {path}: {problem}; nothing was written"
    UNWRITABLE = "cannot write {path}: {problem}"
    NO_POLL = "no poll finished within {duration}"


class BundleFileText(Text):
    """The contents of the files of an archive."""

    README = "Archive for a bug report of qmon. Review it before you send it.\n\n{files}"
    VERSIONS = "versions of qmon, Python, its packages, the ODBC drivers and the server"
    CONFIG = "qmon.toml as qmon read it, without passwords, redact patterns and command arguments"
    DOCTOR = "output of qmon doctor: probes with their times or problems, and rights"
    SNAPSHOT = "one poll as recorded, without payloads; statements are cut at their first literal"
    LOG = "the log; older files have a number"


_PACKAGE: Final = "qmon-sql"
_ZIP: Final = ".zip"
_TAR: Final = (".tar.gz", ".tgz")
_POLL_TIMEOUT_S: Final = 15.0
_LITERAL: Final = re.compile(r"""['"]|\$\w*\$|(?<![\w$@])\d""")

# Fields of a snapshot that may contain text from the server.
_REASON_FIELDS: Final = frozenset({"reason", "problem", "unknown"})
_ABOUT: Final = {
    "versions.json": BundleFileText.VERSIONS,
    "config.json": BundleFileText.CONFIG,
    "doctor.json": BundleFileText.DOCTOR,
    "snapshot.json": BundleFileText.SNAPSHOT,
    "qmon.log": BundleFileText.LOG,
}


def write_bundle(file: Path, text: str | None, path: Path | None, output: Format) -> None:
    """Write the archive and list its contents. Exits with code 1 if part of the target's data is missing.

    ``text``: the target, or ``None``. Raises ``BadInput`` if the file exists, cannot be created, or has another suffix.
    """
    with _create_archive(file) as add:
        problem = _fill_archive(add, text, path)
        names = add.names
    size = file.stat().st_size
    if output != "table":
        from qmon.cli.reports.target_reports import BundleReport

        print_report(
            output, {"schema": 1, "bundle": str(file), "files": names, "problem": problem or None}, BundleReport
        )
    else:
        print_output(f"{file}, {size / 1000:,.0f} kB:")
        for name in names:
            print_output(f"  {name}{': ' if name in _ABOUT else ''}{_ABOUT.get(name, '')}")
        print_output(BundleText.REVIEW)
        if problem:
            print_output(BundleText.INCOMPLETE.render(problem=problem))
    if problem:
        raise typer.Exit(1)


class _Archive:
    """Collects files by name."""

    def __init__(self, write: Callable[[str, bytes], None]) -> None:
        self._write = write
        self.names: list[str] = []

    def add_text(self, name: str, text: str) -> None:
        self.names.append(name)
        self._write(name, text.encode("utf-8", "backslashreplace"))

    def add_object(self, name: str, value: object) -> None:
        """Add an object as JSON. Secrets in the object's texts are covered."""
        self.add_text(name, json.dumps(_cover_secrets(value), indent=1, ensure_ascii=False, default=str) + "\n")


@contextlib.contextmanager
def _create_archive(file: Path) -> Iterator[_Archive]:
    """Create an archive that only the user can read. Delete the archive if the block raises an error."""
    if not file.name.endswith((_ZIP, *_TAR)):
        raise BadInput(BundleText.SUFFIX.render(path=file, zip=_ZIP, tar=_TAR[0]))
    try:
        made = files.open_private(file, os.O_RDWR | os.O_EXCL)
    except OSError as problem:
        raise BadInput(BundleText.UNCREATABLE.render(path=file, problem=problem.strerror)) from None
    try:
        with os.fdopen(made, "wb") as out:
            if file.name.endswith(_ZIP):
                with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as zipped:
                    yield _Archive(zipped.writestr)
            else:
                with tarfile.open(fileobj=out, mode="w:gz") as tar:
                    yield _Archive(lambda name, data: _add_to_tar(tar, name, data))
    except BaseException as problem:
        file.unlink(missing_ok=True)
        if isinstance(problem, OSError):
            raise BadInput(BundleText.UNWRITABLE.render(path=file, problem=problem.strerror)) from problem
        raise


def _add_to_tar(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = len(data), 0o600, int(time.time())
    tar.addfile(entry, io.BytesIO(data))


def _fill_archive(archive: _Archive, text: str | None, path: Path | None) -> str:
    """Add all files. Return why the target's data is missing, or an empty text."""
    server: dict[str, object] = {}
    problem = _add_target(archive, text, path, server) if text is not None else ""
    archive.add_object("versions.json", _local_versions() | server)
    archive.add_object("config.json", _config_object(path))
    for file in log.log_files():
        with contextlib.suppress(OSError):
            archive.add_text(
                f"qmon.log{file.name.partition('.log')[2]}", hide_secrets(file.read_text("utf-8", "replace"))
            )
    about = "".join(f"{name}: {_ABOUT[name]}\n" for name in archive.names if name in _ABOUT)
    archive.add_text("README.txt", BundleFileText.README.render(files=about))
    return problem


def _add_target(archive: _Archive, text: str, path: Path | None, server: dict[str, object]) -> str:
    from qmon.cli.commands.doctor.examination import examine_target
    from qmon.cli.target_session import open_target

    try:
        with open_target(text, path, "doctor") as at:
            server |= _server_versions(at)
            found = [
                _add_or_explain(archive, "doctor.json", lambda: _cover_values(examine_target(at).to_object())),
                _add_or_explain(archive, "snapshot.json", lambda: _snapshot_object(at)),
            ]
    except QmonError as problem:
        return _log_problem(problem)
    return "; ".join(filter(None, found))


def _add_or_explain(archive: _Archive, name: str, make: Callable[[], object]) -> str:
    """Add the object that ``make`` returns.

    Return why the object is missing, or an empty text. The function does not raise errors, because the reason is part
    of the bug report.
    """
    try:
        made = make()
    except Exception as problem:
        return f"{name}: {_log_problem(problem) if isinstance(problem, QmonError) else log.report_defect(problem)}"
    archive.add_object(name, made)
    return ""


def _log_problem(problem: QmonError) -> str:
    log.log_shown_error(problem)
    return hide_secrets(hide_values(str(problem)))


def _local_versions() -> dict[str, object]:
    """Return the versions of qmon, Python, packages and drivers."""
    packages: dict[str, str] = {}
    with contextlib.suppress(metadata.PackageNotFoundError):  # qmon runs from its source tree
        wanted = [each for each in metadata.requires(_PACKAGE) or () if "dev" not in each.partition(";")[2]]
        for name in sorted({re.split(r"[^\w.-]", each, maxsplit=1)[0] for each in wanted}):
            with contextlib.suppress(metadata.PackageNotFoundError):  # an extra that is not installed
                packages[name] = metadata.version(name)
    try:
        from qmon.engines import odbc

        drivers: object = odbc.installed_drivers()
    except QmonError as problem:
        drivers = str(problem)
    return {
        "qmon": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": packages,
        "drivers": drivers,
    }


def _server_versions(at: ConnectedTarget) -> dict[str, object]:
    from qmon.engines.odbc import OdbcConnection

    version = ".".join(map(str, at.connection.version))
    driver = at.connection.driver if isinstance(at.connection, OdbcConnection) else None
    return {"target": at.target.name, "engine": at.engine.name, "server": version, "driver": driver}


def _config_object(path: Path | None) -> object:
    """Return the configuration as read, or the reason why it cannot be read."""
    from qmon.config.config_file import read_config

    try:
        config = read_config(path)
    except BadInput as problem:
        return {"problem": hide_values(str(problem))}
    return asdict(_without_secrets(config))


def _without_secrets(config: Config) -> Config:
    """Return the configuration without values that may be secret."""
    targets = {
        name: replace(target, connect=re.sub(r"://.*@", f"://{COVER}@", target.connect))
        for name, target in config.targets.items()
    }
    receivers = tuple(
        replace(each, command=(*each.command[:1], *(COVER for _ in each.command[1:]))) for each in config.receivers
    )
    redact = tuple(COVER for _ in config.settings.redact)
    return replace(
        config,
        targets=targets,
        settings=replace(config.settings, redact=redact),
        receivers=receivers,
    )


def _snapshot_object(at: ConnectedTarget) -> object:
    """Return the first poll of the target, in the format of recordings."""
    from qmon.recording.format.codec import encode
    from qmon.recording.format.redaction import recording_cover
    from qmon.redact import build_redactor

    redact = build_redactor(at.config.settings.redact)
    cover = recording_cover(lambda text: redact(_until_literal(text)), payloads=False)
    return {"snapshot": _cover_values(json.loads(encode(poll_once(at), cover)))}


def poll_once(at: ConnectedTarget) -> Snapshot:
    """Poll once. Raises ``ConnectionFailed`` if no poll succeeds in time."""
    from qmon.model.cost_budget import UNLIMITED
    from qmon.model.snapshot import Snapshot
    from qmon.monitor.open import open_poller
    from qmon.monitor.source import Event, Phase

    found: list[Snapshot] = []
    problems: list[str] = []
    done = threading.Event()

    def sink(event: Event) -> None:
        if isinstance(event, Snapshot):
            found.append(event)
        elif event.phase is Phase.LOST:
            problems.append(event.reason)
        else:
            return
        done.set()

    poller = open_poller(at.target, at.configured, budget=UNLIMITED, within_s=_POLL_TIMEOUT_S)
    poller.start(sink)
    done.wait(_POLL_TIMEOUT_S)
    poller.close()
    if not found:
        raise ConnectionFailed(
            problems[0] if problems else BundleText.NO_POLL.render(duration=duration(_POLL_TIMEOUT_S))
        )
    return found[0]


def _until_literal(statement: str) -> str:
    found = _LITERAL.search(statement)
    return statement if found is None else statement[: found.start()] + COVER


def _cover_values(value: Any, *, every: bool = False) -> Any:
    """Cover values in texts that the server reported: the texts in ``_REASON_FIELDS``, or all texts if ``every``."""
    if isinstance(value, Mapping):
        return {k: _cover_values(v, every=every or k in _REASON_FIELDS) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_cover_values(each, every=every) for each in value]
    return hide_values(value) if every and isinstance(value, str) else value


def _cover_secrets(value: Any) -> Any:
    """Cover secrets in every text of an object."""
    if isinstance(value, Mapping):
        return {str(k): _cover_secrets(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_cover_secrets(each) for each in value]
    return hide_secrets(value) if isinstance(value, str) else value
