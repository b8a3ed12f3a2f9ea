"""The HTTP face: MCP, plain HTTP, manifest, health and OpenAPI over one registry of tools.

This room knows routes, bodies and how an error becomes a response. It does not know what a tool
does, what MCP's messages mean or where settings come from: all that it needs comes as arguments.
"""

from docstow.server.http import create_app
from docstow.server.middleware import LOOPBACK_HOSTS

__all__ = ["LOOPBACK_HOSTS", "create_app"]
