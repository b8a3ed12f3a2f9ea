"""The toolset ``collections``: texts that clients push, and what the server counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.core.errors import InvalidParameter
from docstow.ingest.jobs import FAILED, QUEUED, RUNNING, SUCCESS
from docstow.tools import COUNT, TEXT, Answer, Tool, page_schema, paged, result_schema
from docstow.tools.parameters import CURSOR, LONGEST_FILE, Parameter
from docstow.tools.sources import describe, describe_all

if TYPE_CHECKING:
    from docstow.ingest.pushed_texts import Collections, Pushed
    from docstow.tools import Metrics
    from docstow.tools.sources import SourceServices

COLLECTION = Parameter(
    "collection", "string", "Name, title or id; default: default", default="", max_length=200
)


def tools(collections: Collections, services: SourceServices, metrics: Metrics) -> list[Tool]:
    """Make the tools, bound to what they work on."""
    return [
        _push_document(collections),
        _delete_document(collections),
        _create_collection(collections),
        _list_collections(collections, services),
        _get_metrics(services, metrics),
    ]


def _push_document(collections: Collections) -> Tool:
    return Tool(
        name="push_document",
        toolset="collections",
        title="Push a text",
        description=(
            "Stows a text, Markdown or plain, in a collection, where search_docs finds it; one of "
            "the same uri is replaced. Not for websites or repositories (create_source). "
            'Example: {"text": "# Release steps\\n\\nTag, then publish.", "uri": "release.md"}.'
        ),
        parameters=(
            Parameter("text", "string", "Markdown", required=True, max_length=LONGEST_FILE),
            Parameter(
                "title",
                "string",
                "Default: its first heading",
                default="",
                max_length=500,
            ),
            Parameter("uri", "string", "Names it", default="", max_length=2000),
            COLLECTION,
            Parameter("metadata", "object", "For filters"),
        ),
        run=partial(_push, collections),
        output_schema=result_schema(
            {"doc_id": TEXT, "collection": TEXT, "replaced": {"type": "boolean"}}
        ),
        read_only=False,
        destructive=True,
        open_world=False,
    )


def _delete_document(collections: Collections) -> Tool:
    return Tool(
        name="delete_document",
        toolset="collections",
        title="Delete a pushed text",
        description=(
            "Removes a pushed text from its collection, by uri or doc_id. Not for a whole source "
            '(delete_source). Example: {"uri": "release.md"}.'
        ),
        parameters=(
            Parameter("uri", "string", "As pushed", default="", max_length=2000),
            Parameter("doc_id", "string", "Instead of uri", default="", max_length=100),
            COLLECTION,
        ),
        run=partial(_delete, collections),
        output_schema=result_schema({"doc_id": TEXT, "collection": TEXT}),
        read_only=False,
        destructive=True,
        open_world=False,
    )


def _create_collection(collections: Collections) -> Tool:
    return Tool(
        name="create_collection",
        toolset="collections",
        title="Create a collection",
        description=(
            "Makes a collection for pushed texts; one of that name is left as it is. Not for "
            'pushing (push_document). Example: {"name": "notes", "title": "Our notes"}.'
        ),
        parameters=(
            Parameter("name", "string", "As callers write it", required=True, max_length=200),
            Parameter("title", "string", "For people", default="", max_length=200),
        ),
        run=partial(_create, collections),
        output_schema=result_schema({"source_id": TEXT, "created": {"type": "boolean"}}),
        read_only=False,
        open_world=False,
    )


def _list_collections(collections: Collections, services: SourceServices) -> Tool:
    return Tool(
        name="list_collections",
        toolset="collections",
        title="List collections",
        description=(
            "The collections of pushed texts, each with how much it holds. Not for other sources "
            "(list_sources). Example: {}."
        ),
        parameters=(CURSOR,),
        run=partial(_list, collections, services),
        output_schema=page_schema({"source_id": TEXT, "title": TEXT}),
        open_world=False,
    )


def _get_metrics(services: SourceServices, metrics: Metrics) -> Tool:
    return Tool(
        name="get_metrics",
        toolset="collections",
        title="Metrics",
        description=(
            "How often each tool was called in this process, how long that took and which errors "
            "there were; and how much the store holds. Not for the state of one source "
            "(list_sources). Example: {}."
        ),
        parameters=(),
        run=partial(_measure, services, metrics),
        output_schema=result_schema(
            {
                "tools": {"type": "object"},
                "sources": COUNT,
                "documents": COUNT,
                "chunks": COUNT,
                "snapshots": COUNT,
                "jobs": {"type": "object", "additionalProperties": COUNT},
            }
        ),
        open_world=False,
    )


def _push(collections: Collections, arguments: Mapping[str, Any]) -> Answer:
    if not arguments["text"].strip():
        raise InvalidParameter("text", "must not be empty; delete_document removes a text")
    pushed = collections.push(
        arguments["collection"].strip(),
        arguments["text"],
        title=arguments["title"],
        uri=arguments["uri"].strip(),
        metadata=arguments["metadata"] or {},
    )
    return Answer(_describe_pushed(pushed))


def _describe_pushed(pushed: Pushed) -> dict[str, Any]:
    members = asdict(pushed)
    return {"doc_id": members.pop("document_id"), **members}


def _delete(collections: Collections, arguments: Mapping[str, Any]) -> Answer:
    uri, identity = arguments["uri"].strip(), arguments["doc_id"].strip()
    if bool(uri) == bool(identity):
        raise InvalidParameter("uri", "give exactly one of uri and doc_id")
    deleted = _describe_pushed(collections.delete(arguments["collection"].strip(), uri or identity))
    return Answer({**deleted, "deleted": True})


def _create(collections: Collections, arguments: Mapping[str, Any]) -> Answer:
    registration, created = collections.create(arguments["name"].strip(), arguments["title"])
    return Answer({**describe(registration), "created": created})


def _list(
    collections: Collections, services: SourceServices, arguments: Mapping[str, Any]
) -> Answer:
    found = collections.all()
    page = paged(found, arguments["cursor"], "collections")
    page["results"] = describe_all(services, page["results"])
    return Answer({"total": len(found), **page})


def _measure(services: SourceServices, metrics: Metrics, arguments: Mapping[str, Any]) -> Answer:
    del arguments
    registered = services.registry.all()
    total = services.totals.read()
    states = services.jobs.states()
    return Answer(
        {
            "tools": metrics.tools(),
            "sources": len(registered),
            "documents": total.documents,
            "chunks": total.chunks,
            "snapshots": total.snapshots,
            "jobs": {name: states[name] for name in (QUEUED, RUNNING, SUCCESS, FAILED)},
        }
    )
