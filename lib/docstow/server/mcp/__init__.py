"""The Model Context Protocol, both eras, without I/O: bytes in, bytes out.

This room knows JSON-RPC and what MCP's methods answer. It does not know sockets, threads or
web frameworks: like h11, it is fed a message and returns a finished :class:`Reply`, or a
:class:`Pending` whose tool calls the face runs and hands back.
"""

from docstow.server.mcp.protocol import DEFAULT, Pending, Protocol, Reply, Selection, ToolCall

__all__ = ["DEFAULT", "Pending", "Protocol", "Reply", "Selection", "ToolCall"]
