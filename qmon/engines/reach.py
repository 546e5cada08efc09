"""Why a host cannot be reached, found out by trying: some drivers only say that time ran out."""

from __future__ import annotations

import re
import socket
from typing import Final

DEFAULT_PORT: Final = 1433
_SERVER: Final = re.compile(r"(?:tcp:)?(?P<host>[^,\\]+)(?:\\(?P<instance>[^,]+))?(?:,\s*(?P<port>\d+))?", re.I)


def why_unreachable(server: str, timeout_s: float = 1.0) -> str:
    """Words for why ``host,port`` gives no answer; takes at most about ``timeout_s`` seconds for each of its addresses.

    ``server`` is as in a connection string: ``host``, ``host,port``, ``host\\instance``, with or without ``tcp:``.
    """
    found = _SERVER.fullmatch(server.strip())
    if found is None:
        return f"{server} is not host,port"
    host, instance = found["host"].strip(), found["instance"]
    port = int(found["port"] or DEFAULT_PORT)
    if instance is not None and found["port"] is None:
        return f"no instance {instance} answered on {host}; its SQL Browser (UDP 1434) may be off: give host,port"
    try:
        socket.create_connection((host, port), timeout_s).close()
    except socket.gaierror:
        return f"the host name {host!r} is unknown"
    except TimeoutError:
        return f"no answer from {host} port {port} in time; is a firewall in between?"
    except ConnectionRefusedError:
        return f"nothing listens on {host} port {port}: connection refused; is the server running?"
    except OSError as problem:
        return f"{host} port {port} cannot be reached: {problem.strerror or problem}"
    return f"{host} port {port} takes connections, but no SQL Server answers there in time"
