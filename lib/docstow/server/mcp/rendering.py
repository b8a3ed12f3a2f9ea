"""How tools, resources and prompts, and what comes of them, are written in MCP."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from docstow.core.errors import (
    CrateNotFound,
    DocstowError,
    DocumentNotFound,
    InvalidParameter,
    ItemNotFound,
    PackageNotFound,
    SourceNotFound,
)
from docstow.core.patterns import lazy_pattern
from docstow.server.mcp.messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    RESOURCE_NOT_FOUND,
    RpcError,
)
from docstow.tools import Answer, Tool
from docstow.tools.offers import Contents, Prompt, Resource

#: What a URI that names nothing ends in.
_NOTHING = (
    CrateNotFound,
    DocumentNotFound,
    InvalidParameter,
    ItemNotFound,
    PackageNotFound,
    SourceNotFound,
)
#: Where a message is cut into what may be left out of it.
_CLAUSE = lazy_pattern(r"(?<=[.;])\s+")


def describe(tool: Tool, input_schema: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a tool in full."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": input_schema,
        "annotations": {
            "readOnlyHint": tool.read_only,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent,
            "openWorldHint": tool.open_world,
        },
    }


def describe_briefly(tool: Tool, input_schema: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a tool as ``tools/list`` does.

    Models pay for what they read, so that what clients assume anyway is left out: of a tool that
    only reads, hints of what it may destroy. ``/commands`` and the OpenAPI document have the rest.
    """
    described = describe(tool, input_schema)
    del described["title"]
    if tool.read_only:
        world = {} if tool.open_world else {"openWorldHint": False}
        described["annotations"] = {"readOnlyHint": True, **world}
    return described


def call_result(
    outcome: Answer | DocstowError,
    describe_error: Callable[[DocstowError], Mapping[str, Any]] = DocstowError.body,
    withheld: Collection[str] = (),
) -> dict[str, Any]:
    """Render the result of ``tools/call``.

    An error's body is text alone: as structured content it would break the tool's output schema.

    Args:
        outcome: the tool's.
        describe_error: makes the body of an error.
        withheld: names of tools that the client does not have, which no advice may name.
    """
    if isinstance(outcome, DocstowError):
        body = dict(describe_error(outcome))
        for name in ("message", "reason"):
            if isinstance(body.get(name), str):
                body[name] = advise(body[name], withheld)
        text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
        return {"content": [{"type": "text", "text": text}], "isError": True}
    content = outcome.content
    structured = outcome.structured
    if structured is not None and isinstance(notice := structured.get("notice"), str):
        structured = {**structured, "notice": advise(notice, withheld)}
    if content is None:
        content = [{"type": "text", "text": Answer(structured, outcome.text).render()}]
    shown = {} if structured is None else {"structuredContent": structured}
    return {"content": content, **shown, "isError": False}


def advise(text: str, withheld: Collection[str]) -> str:
    """Return a message of ours without the clauses that name tools which a client lacks.

    Names of one word are words, too, and are let stand.
    """
    if not any("_" in name and name in text for name in withheld):
        return text
    names = "|".join(re.escape(each) for each in withheld if "_" in each)
    named = re.compile(rf"\b(?:{names})\b")
    kept = [each for each in _CLAUSE.split(text) if not named.search(each)]
    said = " ".join(kept).rstrip(" ;,")
    if not said:
        return named.sub("a tool of another toolset", text)
    return said if said.endswith(".") or not text.endswith(".") else f"{said}."


def describe_resource(resource: Resource, key: str) -> dict[str, Any]:
    """Describe a resource or a template; ``key`` is what the list calls its URI."""
    return {
        key: resource.uri,
        "name": resource.name,
        "description": resource.description,
        "mimeType": resource.mime_type,
    }


def read_result(
    uri: str, outcome: Contents | DocstowError, withheld: Collection[str], *, stateless: bool
) -> dict[str, Any]:
    """Render the result of ``resources/read``.

    Raises:
        RpcError: it cannot be read; the data have its URI.
    """
    if isinstance(outcome, DocstowError):
        body = outcome.body()
        message = advise(outcome.message, withheld)
        code = INTERNAL_ERROR
        if isinstance(outcome, _NOTHING):
            code = INVALID_PARAMS if stateless else RESOURCE_NOT_FOUND
        raise RpcError(code, message, {"uri": uri, **body, "message": message})
    held = {"blob": outcome.blob} if outcome.blob else {"text": outcome.text}
    return {"contents": [{"uri": outcome.uri, "mimeType": outcome.mime_type, **held}]}


def raised(outcome: object, result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a result where the outcome of a call is no error.

    Raises:
        RpcError: it is one.
    """
    if isinstance(outcome, DocstowError):
        code = INVALID_PARAMS if isinstance(outcome, _NOTHING) else INTERNAL_ERROR
        raise RpcError(code, outcome.message, outcome.body())
    return result


def describe_prompt(prompt: Prompt) -> dict[str, Any]:
    """Describe a prompt as ``prompts/list`` does."""
    return {
        "name": prompt.name,
        "title": prompt.title,
        "description": prompt.description,
        "arguments": [
            {"name": each.name, "description": each.description, "required": each.required}
            for each in prompt.arguments
        ],
    }


def completion(values: Sequence[str] | DocstowError, most: int) -> dict[str, Any]:
    """Render the result of ``completion/complete``; what cannot be known has no values."""
    found = [] if isinstance(values, DocstowError) else list(values)
    shown = {"values": found[:most], "total": len(found), "hasMore": len(found) > most}
    return {"completion": shown}
