"""How MCP shows a tool and its answer.

This room knows the members of those objects. It does not know messages, eras or transports.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from docstow.core.errors import DocstowError
from docstow.tools import Answer, Tool


def describe(tool: Tool, input_schema: Mapping[str, Any]) -> dict[str, Any]:
    """A tool as ``tools/list`` shows it."""
    described: dict[str, Any] = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": input_schema,
    }
    if tool.output_schema is not None:
        # A list of tools is read by models and paid for by the token: here stands that the answer
        # is structured, and in the OpenAPI document what it has.
        described["outputSchema"] = {"type": "object"}
    # Clients take the worst for any hint that is left out, so all are given.
    described["annotations"] = {
        "readOnlyHint": tool.read_only,
        "destructiveHint": tool.destructive,
        "idempotentHint": tool.idempotent,
        "openWorldHint": tool.open_world,
    }
    return described


def call_result(outcome: Answer | DocstowError) -> dict[str, Any]:
    """The result of ``tools/call``.

    An error's body is text alone: as structured content it would break the tool's output schema.
    """
    if isinstance(outcome, DocstowError):
        text = json.dumps(outcome.body(), separators=(",", ":"), ensure_ascii=False)
        return {"content": [{"type": "text", "text": text}], "isError": True}
    content = outcome.content
    if content is None:
        content = [{"type": "text", "text": outcome.render()}]
    structured = {} if outcome.structured is None else {"structuredContent": outcome.structured}
    return {"content": content, **structured, "isError": False}
