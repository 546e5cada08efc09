"""The pictures of the report in the manual: a real report of artificial recordings, in a real browser."""

from __future__ import annotations

import base64
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tests.browser import Browser, browser
from tests.pipeline.weeks import DAY_S, shop

# A Monday.
START: Final = datetime(2025, 10, 13, tzinfo=UTC).timestamp()
WEEKS: Final = 6
OBJECTIVES: Final = """
[[slo]]
name = "fresh"
queue = ["orders", "mails", "invoices"]
figure = "oldest"
below = "2m"
objective = 0.99
window = "7d"

[[slo]]
name = "short queues"
target = "billing"
figure = "depth"
below = 500
objective = 0.995
"""
_QUALITY: Final = 80
_OF_MAILS: Final = """[...document.querySelectorAll('section h3')].find(e => e.textContent === 'mails')
    .getBoundingClientRect().top"""


def pictures(folder: Path) -> list[Path]:
    """Make the recordings, run the pipeline over them, and take the pictures of its report. Return their paths."""
    with tempfile.TemporaryDirectory(prefix="qmon-report-") as made:
        page = report(Path(made))
        with browser(Path(made)) as seen:
            seen.open(page, 1280)
            desk = _take(seen, folder / "report.webp", 0, 1280, _bottom(seen, "queues") - 20)
            seen.open(page, 390)
            top = float(seen.value(_OF_MAILS))
            phone = _take(seen, folder / "report-phone.webp", top - 12, 390, 860)
    return [desk, phone]


def report(place: Path) -> Path:
    """Return the report's page, of the last week of several, below a folder with the recordings and the lake."""
    (place / "qmon.toml").write_text(OBJECTIVES, encoding="utf-8")
    end = datetime.fromtimestamp(shop(place / "recordings", START, WEEKS), UTC)
    lake, recordings = ("--lake", str(place / "lake")), ("--recordings", str(place / "recordings"))
    week = ("--from", f"{datetime.fromtimestamp(end.timestamp() - 7 * DAY_S, UTC):%Y-%m-%d}", "--to", f"{end:%Y-%m-%d}")
    page = place / "report.html"
    for arguments in (
        ("run", *recordings, *lake),
        ("baselines", *recordings, *lake),
        ("report", *lake, *week, "--file", str(page), "--config", str(place / "qmon.toml")),
    ):
        subprocess.run([sys.executable, "-m", "qmon", "pipeline", *arguments], check=True)
    return page


def _bottom(seen: Browser, name: str) -> float:
    """Return the start of an element, in pixels from the top of the page."""
    return float(seen.value(f"document.getElementById('{name}').getBoundingClientRect().top"))


def _take(seen: Browser, path: Path, top: float, wide: float, high: float) -> Path:
    clip = {"x": 0, "y": top, "width": wide, "height": high, "scale": 1}
    shot = seen.call("Page.captureScreenshot", format="webp", quality=_QUALITY, captureBeyondViewport=True, clip=clip)
    path.write_bytes(base64.b64decode(shot["data"]))
    return path
