"""Plain HTTP beside MCP: the routes that stand for tools, OpenAPI and Prometheus' text format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from docstow.core.errors import DocstowError
from docstow.core.records import dataclass
from docstow.tools import Tool

#: Media type of the format.
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
_ERROR_BODY = {
    "type": "object",
    "properties": {
        "error": {"type": "string", "description": "A stable code"},
        "message": {"type": "string", "description": "What happened and what to do next"},
        "suggestions": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["error", "message"],
}


@dataclass(frozen=True, slots=True)
class ToolRoute:
    """A method and a path that stand for one tool.

    Attributes:
        method: GET and DELETE have their arguments in the query, POST in a JSON body.
        path: with the argument that it names in braces.
        tool: the tool's name.
        renamed: names of the query's members that have another name as arguments.
    """

    method: str
    path: str
    tool: str
    renamed: tuple[tuple[str, str], ...] = ()

    @property
    def operation(self) -> str:
        """The operation id in the OpenAPI document, where the tool itself has its name already."""
        words = self.path.strip("/").replace("{", "by_").replace("}", "").replace(":path", "")
        return f"{self.method.lower()}_{words.replace('/', '_')}"

    @property
    def template(self) -> str:
        """The path as OpenAPI writes it."""
        return self.path.replace(":path", "")

    @property
    def argument(self) -> str:
        """The argument in the path; empty where there is none."""
        return self.template.partition("{")[2].partition("}")[0]


ROUTES = (
    ToolRoute("POST", "/sources", "create_source"),
    ToolRoute("GET", "/sources", "list_sources"),
    ToolRoute("DELETE", "/sources/{source_id:path}", "delete_source"),
    ToolRoute("POST", "/sync", "start_sync"),
    ToolRoute("GET", "/jobs/{job_id}", "get_sync_status"),
    ToolRoute("GET", "/snapshots", "list_snapshots"),
    ToolRoute("POST", "/search", "search_docs"),
    ToolRoute("GET", "/chunks/{chunk_id}", "get_chunk"),
    ToolRoute("GET", "/docs", "get_doc", renamed=(("ref", "doc"),)),
    # An address in the path has its slashes and its query escaped, or is given as ?ref=.
    ToolRoute("GET", "/docs/{doc:path}", "get_doc"),
    ToolRoute("POST", "/index", "push_document"),
    ToolRoute("GET", "/collections", "list_collections"),
    ToolRoute("POST", "/collections", "create_collection"),
    ToolRoute("GET", "/metrics", "get_metrics"),
)


def collect_arguments(
    route: ToolRoute,
    body: Mapping[str, Any],
    query: Iterable[tuple[str, str]],
    path: Mapping[str, str],
) -> dict[str, Any]:
    """Collect a request's arguments; a query member that comes more than once is an array."""
    renamed = dict(route.renamed)
    given: dict[str, Any] = dict(body)
    for sent, value in () if route.method == "POST" else query:
        name = renamed.get(sent, sent)
        before = given.get(name)
        given[name] = value if before is None else [*_several(before), value]
    return {**given, **path}


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def openapi(
    name: str,
    version: str,
    tools: Iterable[tuple[Tool, Mapping[str, Any]]],
    routed: Iterable[tuple[Tool, Mapping[str, Any]]],
) -> dict[str, Any]:
    """Build the OpenAPI 3.1 document: an operation for each tool, and one for each of its routes.

    Args:
        name: the server's name.
        version: the server's version.
        tools: each with the JSON Schema of its arguments.
        routed: tools whose own routes are listed too.
    """
    errors = _error_responses()
    paths: dict[str, dict[str, Any]] = {
        f"/mcp/tools/{tool.name}": {"post": _operation(tool, schema, errors)}
        for tool, schema in tools
    }
    offered = {tool.name: (tool, schema) for tool, schema in routed}
    for route in ROUTES:
        if route.tool not in offered:
            continue
        tool, schema = offered[route.tool]
        operation = _operation(tool, schema, errors) | {"operationId": route.operation}
        if route.method != "POST":
            del operation["requestBody"]
            operation["parameters"] = list(_parameters(route, schema))
        paths.setdefault(route.template, {})[route.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": name, "version": version},
        "paths": paths,
        "components": {
            "schemas": {"Error": _ERROR_BODY},
            "responses": {_phrase(status): response for status, response in errors.items()},
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
                str(status): {"$ref": f"#/components/responses/{_phrase(status)}"}
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


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase.replace(" ", "")


def _parameters(route: ToolRoute, schema: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    shown = {argument: sent for sent, argument in route.renamed}
    for name, each in schema["properties"].items():
        in_path = name == route.argument
        yield {
            "name": shown.get(name, name),
            "in": "path" if in_path else "query",
            "required": in_path or name in schema.get("required", ()),
            "schema": each,
        }


def prometheus(metrics: Mapping[str, Any]) -> str:
    """Return the answer of the tool ``get_metrics`` as Prometheus' text format.

    Args:
        metrics: with ``tools`` as :meth:`docstow.tools.Metrics.tools` gives them,
            ``jobs`` by state, and the counts of what the store has.
    """
    tools: Mapping[str, Any] = metrics["tools"]
    blocks = [
        _block(
            "docstow_tool_calls_total",
            "counter",
            "Calls of a tool.",
            (({"tool": tool}, each["calls"]) for tool, each in tools.items()),
        ),
        _block(
            "docstow_tool_errors_total",
            "counter",
            "Calls of a tool that ended in an error.",
            (
                ({"tool": tool, "error": code}, count)
                for tool, each in tools.items()
                for code, count in each["errors"].items()
            ),
        ),
        _block(
            "docstow_tool_seconds_total",
            "counter",
            "Seconds that the calls of a tool took.",
            (({"tool": tool}, each["seconds"]) for tool, each in tools.items()),
        ),
        _block(
            "docstow_jobs",
            "gauge",
            "Jobs in a state.",
            (({"state": state}, count) for state, count in metrics["jobs"].items()),
        ),
    ]
    for name in ("sources", "documents", "chunks", "snapshots"):
        text = f"What the store has of {name} of prose."
        blocks.append(_block(f"docstow_{name}", "gauge", text, [({}, metrics[name])]))
    return "".join(line for block in blocks for line in block)


def _block(
    name: str, kind: str, text: str, samples: Iterable[tuple[Mapping[str, str], float]]
) -> Iterator[str]:
    yield f"# HELP {name} {text}\n# TYPE {name} {kind}\n"
    for labels, value in samples:
        shown = ",".join(f'{label}="{_escaped(each)}"' for label, each in labels.items())
        yield f"{name}{{{shown}}} {value}\n" if shown else f"{name} {value}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
