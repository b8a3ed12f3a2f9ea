"""A local server: a listening socket and uvicorn.

This room knows how an app is run in a process of its own. It does not know what it serves.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import uvicorn

from docstow.core.errors import ConfigurationError

if TYPE_CHECKING:
    from fastapi import FastAPI


def listen(host: str, port: int) -> socket.socket:
    """Take an address before anything is said about it.

    Args:
        host: a name or an address, IPv4 or IPv6.
        port: 0 lets the system choose.

    Raises:
        ConfigurationError: the address is taken or is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigurationError(
            f"cannot listen on {host} port {port}: {reason}; choose another with --host and --port"
        ) from error


def run(app: FastAPI, listener: socket.socket, log_level: str) -> None:
    """Serve until the process is told to stop."""
    config = uvicorn.Config(app, log_level=log_level, access_log=False, lifespan="off")
    uvicorn.Server(config).run(sockets=[listener])
