"""Find Microsoft's ODBC driver in the wheel ``mssql-python-odbc``. The driver manager has no name for this driver."""

from __future__ import annotations

import importlib.util
import platform
from pathlib import Path
from typing import Final

WHEEL_PACKAGE: Final = "mssql_python_odbc"

# Microsoft's installer gives the same driver this name.
DRIVER_NAME: Final = "ODBC Driver 18 for SQL Server"


def library_named(name: str) -> str | None:
    """Return the wheel's library if ``name`` is the driver name that Microsoft's installer uses, else ``None``."""
    return find_wheel_driver() if name.casefold() == DRIVER_NAME.casefold() else None


def known_names() -> tuple[str, ...]:
    """Return the names that ``library_named`` accepts, or nothing if the wheel is not installed."""
    return (DRIVER_NAME,) if find_wheel_driver() is not None else ()


def find_wheel_driver() -> str | None:
    """Return the driver's library inside Microsoft's wheel, or ``None`` if it is missing. The wheel is not imported.

    The wheel contains libraries for several distributions. The result is the library for this machine.
    """
    spec = importlib.util.find_spec(WHEEL_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    machine = {"amd64": "x86_64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine().lower())
    found: list[Path] = []
    for place in spec.submodule_search_locations:
        found.extend(sorted(Path(place).rglob("libmsodbcsql*")))
    fitting = [path for path in found if machine in path.parts and path.is_file()]
    family = _system_family()
    best = [path for path in fitting if family in path.parts] or fitting
    return str(best[-1]) if best else None


def _system_family() -> str:
    """Return the wheel's name for this kind of system."""
    if platform.system() == "Darwin":
        return "macos"
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return "debian_ubuntu"
    kinds = {release.get("ID", ""), *release.get("ID_LIKE", "").split()}
    if "alpine" in kinds:
        return "alpine"
    if kinds & {"rhel", "fedora", "centos"}:
        return "rhel"
    return "suse" if kinds & {"suse", "sles", "opensuse"} else "debian_ubuntu"
