"""Tools that the official judges ask for by name, behind docstow's own protocol and app.

By hand: ``python -m servers.mcp_fixture_server`` speaks MCP over standard streams,
``python -m servers.mcp_fixture_server --port 8080`` over HTTP.
"""

from __future__ import annotations

import argparse
import json
import re
import threading
from collections.abc import Mapping
from typing import Any

import uvicorn
from starlette.applications import Starlette

from docstow.core import calls
from docstow.core.errors import (
    CrateNotFound,
    DocstowError,
    Ingesting,
    InvalidParameter,
    TooManyRequests,
)
from docstow.server import stdio
from docstow.server.http import create_app, fastapi_app
from docstow.server.mcp import Protocol
from docstow.tools import Answer, Tool, Toolbox
from docstow.tools.offers import (
    Argument,
    Contents,
    Prompt,
    Resource,
    ResourcePage,
    Resources,
    say,
)
from docstow.tools.parameters import Parameter

# One red pixel, and a tenth of nothing to hear.
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAF"
    "BQIAX8jx0gAAAABJRU5ErkJggg=="
)
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="

TEXT = {"type": "text", "text": "Multiple content types test:"}
IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": WAV, "mimeType": "audio/wav"}
RESOURCE = {
    "type": "resource",
    "resource": {
        "uri": "test://embedded-resource",
        "mimeType": "text/plain",
        "text": "This is an embedded resource content.",
    },
}

# What the suite wants to find again, keyword for keyword.
KEYWORDS = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
ADDITION = {
    "type": "object",
    "properties": {"sum": {"type": "integer"}, "terms": {"type": "array"}},
    "required": ["sum", "terms"],
    "additionalProperties": False,
}


class FixtureToolbox(Toolbox):
    """A toolbox with two tools whose schemas say more than parameters can."""

    def schema(self, tool: Tool, *, plain: bool = False, brief: bool = False) -> dict[str, Any]:
        if tool.name == "json_schema_2020_12_tool":
            return KEYWORDS
        if tool.name == "test_mirrored_argument":
            named = {"type": "string", "x-mcp-header": "Region"}
            return {"type": "object", "properties": {"region": named}, "required": ["region"]}
        return super().schema(tool, plain=plain, brief=brief)


class Meeting:
    """Tool calls that wait for each other, so that tests know them to be under way at once."""

    def __init__(self, parties: int) -> None:
        self.barrier = threading.Barrier(parties, timeout=60)

    def tool(self) -> Tool:
        def run(arguments: Mapping[str, Any]) -> Answer:
            self.barrier.wait()
            return Answer(text=f"met as {arguments['name']}")

        who = Parameter("name", "string", "Who comes.", required=True)
        return _tool("meet", run, who, description="Waits until all are there.")


def _tool(
    name: str,
    run: Any,
    *parameters: Parameter,
    toolset: str = "fixtures",
    description: str = "A tool for tests.",
    output_schema: Mapping[str, Any] | None = None,
    **more: Any,
) -> Tool:
    title = name.replace("_", " ").capitalize()
    return Tool(name, toolset, title, description, parameters, run, output_schema, **more)


def _content(*blocks: Mapping[str, Any]) -> Any:
    return lambda arguments: Answer(content=blocks)


def _add(arguments: Mapping[str, Any]) -> Answer:
    terms = [arguments["a"], arguments["b"]]
    return Answer({"sum": sum(terms), "terms": terms})


def _fail(arguments: Mapping[str, Any]) -> Answer:
    raise CrateNotFound(
        "There is no crate 'tokyo'. Did you mean tokio?",
        suggestions=[{"name": "tokio", "score": 0.8}],
    )


def _wait(arguments: Mapping[str, Any]) -> Answer:
    raise Ingesting("tokio is being stowed; ask again soon.", job_id="j1", retry_after_s=5)


def _limit(arguments: Mapping[str, Any]) -> Answer:
    raise TooManyRequests("Slow down.", retry_after_s=1.5)


def _break(arguments: Mapping[str, Any]) -> Answer:
    raise RuntimeError("the secret is /etc/shadow")


def _print(arguments: Mapping[str, Any]) -> Answer:
    print("a library that prints", flush=True)
    return Answer(text="printed")


def _log(arguments: Mapping[str, Any]) -> Answer:
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        calls.tell(said)
    return Answer(text="logged")


def _progress(arguments: Mapping[str, Any]) -> Answer:
    for done in (0, 50, 100):
        calls.report(done, 100)
    return Answer(text="done")


def _list_versions(arguments: Mapping[str, Any]) -> Answer:
    return Answer({"crate": arguments["crate"], "requirement": arguments["requirement"]})


def fixture_tools() -> list[Tool]:
    """Tools for every kind of answer, the suite's names among them."""
    a = Parameter("a", "integer", "One term.", required=True, minimum=-1000, maximum=1000)
    b = Parameter("b", "integer", "Another term.", default=1)
    region = Parameter("region", "string", "Stands in a header, too.", required=True)
    crate = Parameter("crate", "string", "A crate.", required=True)
    requirement = Parameter("requirement", "string", "Versions to list.", default="*")
    simple = "This is a simple text response for testing."
    return [
        _tool("test_simple_text", lambda arguments: Answer(text=simple)),
        _tool("test_image_content", _content(IMAGE)),
        _tool("test_audio_content", _content(AUDIO)),
        _tool("test_embedded_resource", _content(RESOURCE)),
        _tool("test_multiple_content_types", _content(TEXT, IMAGE, RESOURCE)),
        _tool("test_error_handling", _fail),
        _tool("test_missing_capability", _content(TEXT), client_capabilities=("sampling",)),
        # The suite looks at what else comes on this call's response; nothing ever does.
        _tool("test_streaming_elicitation", _content(TEXT)),
        _tool("test_logging_tool", _log),
        _tool("test_tool_with_logging", _log),
        _tool("test_tool_with_progress", _progress),
        _tool("test_reconnection", _log),
        _tool("json_schema_2020_12_tool", _content(TEXT)),
        _tool("test_mirrored_argument", _content(TEXT), region),
        _tool("add", _add, a, b, output_schema=ADDITION, open_world=False),
        _tool("print", _print),
        _tool("wait", _wait, toolset="trouble"),
        _tool("limit", _limit, toolset="trouble"),
        _tool("break", _break, toolset="trouble"),
        _tool(
            "list_versions", _list_versions, crate, requirement, output_schema={"type": "object"}
        ),
    ]


#: What the suite reads, by URI.
STATIC = {
    "test://static-text": Contents(
        "test://static-text", "text/plain", "This is the content of the static text resource."
    ),
    "test://static-binary": Contents("test://static-binary", "image/png", blob=PNG),
    "test://watched-resource": Contents("test://watched-resource", "text/plain", "Watched."),
}
TEMPLATE = "test://template/{id}/data"


def _read(uri: str, request_id: str) -> Contents | DocstowError:
    if uri in STATIC:
        return STATIC[uri]
    if found := re.fullmatch(r"test://template/([^/]+)/data", uri):
        text = json.dumps({"id": found[1], "templateTest": True})
        return Contents(uri, "application/json", text)
    return InvalidParameter("uri", "is no resource of this server")


def _list_resources(cursor: str) -> ResourcePage:
    """Return one resource a page."""
    addresses = list(STATIC)
    number = int(cursor or 0)
    shown = [
        Resource(uri, uri.rpartition("/")[2], "A resource for tests", STATIC[uri].mime_type)
        for uri in addresses[number : number + 1]
    ]
    return ResourcePage(shown, str(number + 1) if number + 1 < len(addresses) else None)


def fixture_resources() -> Resources:
    """The resources that the suite asks for by URI."""
    template = Resource(TEMPLATE, "data", "Data of an id", "application/json")
    return Resources([template], _list_resources, _read, lambda *given: [f"{given[2]}1"])


def fixture_prompts() -> list[Prompt]:
    """The prompts that the suite asks for by name."""

    def embed(given: Mapping[str, str]) -> list[Any]:
        held = {"uri": given["resourceUri"], "mimeType": "text/plain", "text": "Embedded."}
        return [
            {"role": "user", "content": {"type": "resource", "resource": held}},
            *say("Please process the embedded resource above."),
        ]

    def greet(given: Mapping[str, str]) -> Any:
        return say(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")

    first = Argument("arg1", "First", complete=lambda value, given: [f"{value}ed"], required=True)
    second = Argument("arg2", "Second", required=True)
    uri = Argument("resourceUri", "URI of the resource", required=True)
    image = [{"role": "user", "content": IMAGE}, *say("Please analyze the image above.")]
    return [
        Prompt("test_simple_prompt", "Simple", "Simple", (), lambda given: say("A simple prompt.")),
        Prompt("test_prompt_with_arguments", "Arguments", "Two", (first, second), greet),
        Prompt("test_prompt_with_embedded_resource", "Embedded", "Embeds", (uri,), embed),
        Prompt("test_prompt_with_image", "Image", "An image", (), lambda given: image),
        Prompt("trouble", "Trouble", "Needs", (), lambda given: say("Wait."), ("wait", "limit")),
    ]


def fixture_protocol(*further: Tool) -> Protocol:
    """A server of the fixture tools; the toolset ``trouble`` is not among the default ones."""
    toolbox = FixtureToolbox([*fixture_tools(), *further], default_toolsets=["fixtures"])
    return Protocol(
        "fixtures",
        "1.2.3",
        "Tools for tests.",
        toolbox,
        open_resources=fixture_resources,
        open_prompts=fixture_prompts,
    )


def fixture_app(*further: Tool, **options: Any) -> Starlette:
    """The fixture server's HTTP face, made by FastAPI as that of ``docstow serve``."""
    options.setdefault("health", lambda: {"status": "ok"})
    options.setdefault("app", fastapi_app())
    options.setdefault("streams", True)
    return create_app(fixture_protocol(*further), **options)


def main() -> None:
    """Serve over standard streams or HTTP."""
    parser = argparse.ArgumentParser(prog="python -m servers.mcp_fixture_server")
    parser.add_argument("--port", type=int)
    port = parser.parse_args().port
    if port is None:
        stdio.run(fixture_protocol())
    else:
        uvicorn.run(fixture_app(), host="127.0.0.1", port=port)


if __name__ == "__main__":
    main()
