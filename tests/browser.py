"""A real headless browser: screenshots of a page, JavaScript values, and the page's network requests.

It is controlled over two pipes (the DevTools protocol of Chromium: a JSON text and a zero byte per message), so no port
and no package is needed.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FOUND: Final = next((path for name in NAMES if (path := shutil.which(name))), None)
_OPTIONS: Final = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-extensions",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
_LONG_S: Final = 240.0


@dataclass
class Browser:
    """One page.

    ``asked``: the addresses it has requested since it was opened, including its own. ``received``: the data its
    WebSockets received. ``problems``: errors on the console.
    """

    reads: int
    writes: int
    session: str = ""
    asked: list[str] = field(default_factory=list)
    received: bytes = b""
    problems: list[str] = field(default_factory=list)
    _number: int = 0
    _loaded: int = 0
    _rest: bytes = b""

    def open(self, path: Path, width: int) -> None:
        """Open a file in a window of this width, in pixels, and wait until it is loaded. Below 600 it is a phone."""
        size = {"width": width, "height": 844, "deviceScaleFactor": 2, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.open_url(path.as_uri())

    def open_url(self, url: str) -> None:
        """Open a page and wait until it is loaded."""
        self.asked.clear()
        before = self._loaded
        self.call("Page.navigate", url=url)
        while self._loaded == before:
            self._take()

    def value(self, script: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        told = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def press(self, key: str) -> None:
        """Type a character."""
        self.call("Input.dispatchKeyEvent", type="char", text=key)

    def picture(self) -> bytes:
        """Return a screenshot as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])

    def call(self, method: str, **values: object) -> dict[str, Any]:
        """Call a method of the browser and wait for the answer. Events that arrive in the meantime are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": values}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writes, json.dumps(message).encode() + b"\0")
        while (told := self._take()).get("id") != self._number:
            pass
        assert "error" not in told, (method, told)
        return dict(told["result"])

    def _take(self) -> dict[str, Any]:
        deadline = time.monotonic() + _LONG_S
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self.reads], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            more = os.read(self.reads, 1 << 16)
            assert more, "the browser has ended"
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\0")
        told: dict[str, Any] = json.loads(text)
        if told.get("method") == "Network.requestWillBeSent":
            self.asked.append(told["params"]["request"]["url"])
        elif told.get("method") == "Network.webSocketFrameReceived":
            self.received += base64.b64decode(told["params"]["response"]["payloadData"])
        elif told.get("method") == "Runtime.exceptionThrown":
            self.problems.append(str(told["params"]["exceptionDetails"])[:1500])
        elif told.get("method") == "Log.entryAdded" and told["params"]["entry"]["level"] == "error":
            self.problems.append(told["params"]["entry"]["text"])
        self._loaded += told.get("method") == "Page.loadEventFired"
        return told


@contextlib.contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Start a browser with an empty page and its profile in ``folder``. At the end, all its processes are ended."""
    assert FOUND is not None
    (to_read, writes), (reads, to_write) = os.pipe(), os.pipe()
    command = [FOUND, *_OPTIONS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
    child = subprocess.Popen(  # the pipes are its files 3 and 4
        ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "bash", *command],
        pass_fds=(to_read, to_write),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(to_read)
    os.close(to_write)
    try:
        found = Browser(reads, writes)
        target = found.call("Target.createTarget", url="about:blank")["targetId"]
        found.session = found.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            found.call(f"{domain}.enable")
        yield found
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        os.close(reads)
        os.close(writes)
