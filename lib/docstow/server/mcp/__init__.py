"""The Model Context Protocol in all its versions, without I/O: bytes in, bytes out.

Like h11, it takes a message and returns a finished :class:`Reply`, or a :class:`Pending` whose
tool calls the server runs and hands back.
"""

from docstow.server.mcp.protocol import DEFAULT, Pending, Protocol, Reply, Selection, ToolCall

__all__ = ["DEFAULT", "Pending", "Protocol", "Reply", "Selection", "ToolCall"]
