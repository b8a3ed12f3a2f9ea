"""Plain HTTP beside MCP: which method and path stands for which tool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


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


def operations(
    routes: Iterable[ToolRoute],
    schemas: Mapping[str, Mapping[str, Any]],
    calls: Mapping[str, Mapping[str, Any]],
) -> dict[str, dict[str, Any]]:
    """Describe the routes as OpenAPI's paths.

    Args:
        routes: the routes.
        schemas: by tool, the JSON Schema of its arguments.
        calls: by tool, the operation of ``POST /mcp/tools/…``, which these resemble.
    """
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        alike = {**calls[route.tool], "operationId": route.operation}
        if route.method != "POST":
            del alike["requestBody"]
            alike["parameters"] = list(_parameters(route, schemas[route.tool]))
        paths.setdefault(route.template, {})[route.method.lower()] = alike
    return paths


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
