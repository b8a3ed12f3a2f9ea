"""The OpenAPI 3.1 document: one operation for each tool, so that OpenAPI clients can call it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from docstow.core.errors import DocstowError
from docstow.server.rest import ROUTES, operations
from docstow.tools import Tool

ERROR_BODY = {
    "type": "object",
    "properties": {
        "error": {"type": "string", "description": "A stable code"},
        "message": {"type": "string", "description": "What happened and what to do next"},
        "suggestions": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["error", "message"],
}


def document(
    name: str,
    version: str,
    tools: Iterable[tuple[Tool, Mapping[str, Any]]],
    routed: Sequence[tuple[Tool, Mapping[str, Any]]] = (),
) -> dict[str, Any]:
    """Build the document.

    Args:
        name: the server's name.
        version: the server's version.
        tools: each with the JSON Schema of its arguments.
        routed: tools whose own routes are listed too.
    """
    errors = _error_responses()
    schemas = {tool.name: schema for tool, schema in routed}
    calls = {tool.name: _operation(tool, schema, errors) for tool, schema in routed}
    routes = [route for route in ROUTES if route.tool in schemas]
    return {
        "openapi": "3.1.0",
        "info": {"title": name, "version": version},
        "paths": {
            f"/mcp/tools/{tool.name}": {"post": _operation(tool, schema, errors)}
            for tool, schema in tools
        }
        | operations(routes, schemas, calls),
        "components": {
            "schemas": {"Error": ERROR_BODY},
            "responses": {_name(status): response for status, response in errors.items()},
        },
    }


def _operation(tool: Tool, schema: Mapping[str, Any], errors: Iterable[int]) -> dict[str, Any]:
    if tool.output_schema is None:
        content: dict[str, Any] = {"text/markdown": {"schema": {"type": "string"}}}
    else:
        content = {"application/json": {"schema": tool.output_schema}}
    return {
        "operationId": tool.name,
        "summary": tool.title,
        "description": tool.description,
        "tags": [tool.toolset],
        "requestBody": {
            "required": bool(schema.get("required")),
            "content": {"application/json": {"schema": schema}},
        },
        "responses": {
            "200": {"description": "The answer", "content": content},
            **{
                str(status): {"$ref": f"#/components/responses/{_name(status)}"}
                for status in errors
            },
        },
    }


def _error_responses() -> dict[int, dict[str, Any]]:
    """Describe a response for each status, with the codes that have it."""
    codes: dict[int, list[str]] = {}
    for error in DocstowError.__subclasses__():
        codes.setdefault(error.status, []).append(error.code)
    return {
        status: {
            "description": f"{HTTPStatus(status).phrase}: {', '.join(sorted(codes[status]))}",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        }
        for status in sorted(codes)
    }


def _name(status: int) -> str:
    return HTTPStatus(status).phrase.replace(" ", "")
