"""Serve the tools over HTTP: MCP, plain routes, manifest, health and OpenAPI.

Everything that the app needs comes as an argument; no setting is read here.
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


def listen(host: str, port: int) -> socket.socket:
    """Bind an address and listen.

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
    """Serve an app on a listening socket until the process is told to stop."""
    config = uvicorn.Config(app, log_level=log_level, access_log=False, lifespan="off")
    uvicorn.Server(config).run(sockets=[listener])
