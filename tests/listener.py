"""An HTTP server for notices that accepts, refuses, hangs, or loses its answer."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

# A status code, a code with headers, no answer, no answer after accepting, or an endless answer.
Answer = int | tuple[int, dict[str, str]] | Literal["hang", "lose", "drip"]


@dataclass
class Listener:
    """``answers``: for the next requests, then 200. ``seen``: all requests. ``taken``: those accepted."""

    port: int = 0
    answers: deque[Answer] = field(default_factory=deque)
    seen: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    taken: list[Any] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def url(self, path: str = "/") -> str:
        """Return the URL of the listener."""
        return f"http://127.0.0.1:{self.port}{path}"


@contextmanager
def listening(port: int = 0) -> Iterator[Listener]:
    """Run a listener and release hanging requests at the end."""
    listener = Listener()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = listener.answers.popleft() if listener.answers else 200
            listener.seen.append((self.path, dict(self.headers.items()), body))
            if answer == "hang":
                listener.released.wait(60.0)
            elif answer == "drip":
                while not listener.released.wait(0.02):
                    self.wfile.write(b"H")
            elif answer == "lose":
                listener.taken.append(body)
            else:
                code, headers = answer if isinstance(answer, tuple) else (int(answer), {})
                if 200 <= code < 300:
                    listener.taken.append(body)
                self.send_response(code)
                for name, value in {"Content-Length": "2", **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(b"ok")

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """Ignore clients that disconnected."""

    server = Server(("127.0.0.1", port), Handler)
    listener.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield listener
    finally:
        listener.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
