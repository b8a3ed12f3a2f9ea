"""The HTTP face: MCP, plain HTTP, manifest, health and OpenAPI over one registry of tools.

This room knows routes, bodies and how an error becomes a response. It does not know what a tool
does, what MCP's messages mean or where settings come from: all that it needs comes as arguments.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import uvicorn

from docstow.core.errors import ConfigurationError
from docstow.server.http import create_app
from docstow.server.middleware import LOOPBACK_HOSTS

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["LOOPBACK_HOSTS", "create_app"]


# A local server


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
