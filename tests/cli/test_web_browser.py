"""``qmon serve --web`` in a real browser, on a real server."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.browser import FOUND, NAMES, browser
from tests.cli.calling import program, surroundings
from tests.cli.conftest import PASSWORD
from tests.contract.watching import installed
from tests.facts import query, wait_until

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(FOUND is None, reason=f"no browser here: none of {', '.join(NAMES)}"),
]


@pytest.mark.parametrize("guarded", [False, True], ids=["open", "password"])
def test_the_dashboard_is_drawn_and_takes_keys(guarded: bool, users: Path, tmp_path: Path, database: str) -> None:
    layouts = installed(database, "status", "fifo")
    query(database, f"INSERT INTO {layouts[0].table} ({layouts[0].payload}) SELECT 'x' FROM generate_series(1, 7)")
    command = program("serve", database, "--every", "500ms", "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0")
    command += ["--users", str(users)] if guarded else []
    with subprocess.Popen(
        command, env=surroundings(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stderr is not None
            url = next(line for line in child.stderr if "dashboard at " in line).split("dashboard at ")[1].strip()
            with browser(tmp_path) as page:
                page.call(
                    "Emulation.setDeviceMetricsOverride", width=1200, height=700, deviceScaleFactor=1, mobile=False
                )
                login = f"prometheus:{quote(PASSWORD)}@" if guarded else ""
                page.open_url(url.replace("//", f"//{login}"))
                names = [layout.queue.encode() for layout in layouts]
                wait_until(lambda: page.value("1") and all(name in page.received for name in names), 90, what="queues")
                overview = page.picture()
                wait_until(
                    lambda: page.value("document.activeElement.className") == "xterm-helper-textarea", what="focus"
                )
                page.value("navigator.clipboard.writeText = async text => { window.copied = text }; 1")
                page.press("y")
                wait_until(lambda: page.value("window.copied") in {layout.queue for layout in layouts}, what="a copy")
                page.press("?")
                wait_until(lambda: page.value("1") and b"esc closes" in page.received, 30, what="the help")
                wait_until(lambda: page.picture() != overview, what="another picture")
                if folder := os.environ.get("QMON_PICTURES"):
                    (Path(folder) / f"web-{guarded}-overview.png").write_bytes(overview)
                    (Path(folder) / f"web-{guarded}-help.png").write_bytes(page.picture())
                assert page.problems == []
                place = url.split("/")[2]
                assert {each.split("/")[2].split("@")[-1] for each in page.asked} == {place}, "no other site"
                child.terminate()
                wait_until(lambda: "-closed" in page.value("document.body.className"), what="the end on the page")
                assert "The dashboard has ended" in page.value("document.body.innerText")
            assert child.wait(60) == 0
        finally:
            child.kill()
