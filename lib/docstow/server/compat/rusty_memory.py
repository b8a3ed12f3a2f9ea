"""The forms of Rusty Memory, a store of texts.

They are those of https://github.com/CaliLuke/rusty-mcp. Its MCP tools and its routes spelled
answers differently; here both have one form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from docstow.core.errors import SourceNotFound
from docstow.server.compat import Form, Services, System
from docstow.server.rest import ToolRoute
from docstow.store.heads import consistently
from docstow.tools.parameters import LONGEST_FILE, Parameter


def _push(services: Services, arguments: Mapping[str, Any]) -> dict[str, Any]:
    collection = arguments["collection"].strip()
    asked = {"text": arguments["text"], "collection": collection or None}
    try:
        pushed = services.call("push_document", asked)
    except SourceNotFound:
        services.call("create_collection", {"name": collection})
        pushed = services.call("push_document", asked)
    chunks = 0
    if pushed["snapshot_id"]:
        with consistently():
            chunks = len(services.prose.document(pushed["doc_id"]).chunks)
    with services.tally.lock:
        services.tally.documents += 1
        services.tally.chunks += chunks
    return {
        # What a worker elsewhere has not stowed yet is safe, but has no chunks to be counted.
        "status": "ok" if pushed["snapshot_id"] else "queued",
        "collection": collection or "default",
        "chunksIndexed": chunks,
    }


def _list_collections(services: Services, arguments: Mapping[str, Any]) -> dict[str, Any]:
    del arguments
    return {"collections": [row["uri"] for row in services.rows("list_collections", {})]}


def _new_collection(services: Services, arguments: Mapping[str, Any]) -> dict[str, Any]:
    name, wanted = arguments["name"].strip(), arguments["vector_size"]
    services.call("create_collection", {"name": name})
    size = services.dimensions()
    notice = f"vectors have the {size} numbers of the server's model, not {wanted}"
    return {
        "status": "ok",
        "collection": name,
        "vectorSize": size,
        **({"notice": notice} if wanted not in (None, size) else {}),
    }


def _count_pushes(services: Services, arguments: Mapping[str, Any]) -> dict[str, Any]:
    del arguments
    with services.tally.lock:
        tally = services.tally
        return {"documents_indexed": tally.documents, "chunks_indexed": tally.chunks}


RUSTY_MEMORY = System(
    "rusty-memory",
    "A memory of texts: push stows one in a collection, get-collections lists these, "
    "new-collection makes one, metrics counts what was pushed.",
    (
        Form(
            "push",
            "push_document",
            "Index a text in a collection, which is made if need be.",
            (
                Parameter(
                    "text",
                    "string",
                    "Document contents to index",
                    required=True,
                    max_length=LONGEST_FILE,
                ),
                Parameter("collection", "string", default="", max_length=200),
            ),
            _push,
        ),
        Form("get-collections", "list_collections", "List collections.", (), _list_collections),
        Form(
            "new-collection",
            "create_collection",
            "Ensure that a collection exists.",
            (
                Parameter("name", "string", required=True, max_length=200),
                Parameter("vector_size", "integer", "The model decides it", minimum=1),
            ),
            _new_collection,
        ),
        Form("metrics", "get_metrics", "Count pushed documents and chunks.", (), _count_pushes),
    ),
    (
        ToolRoute("POST", "/index", "push"),
        ToolRoute("GET", "/collections", "get-collections"),
        ToolRoute("POST", "/collections", "new-collection"),
        ToolRoute("GET", "/metrics", "metrics"),
    ),
)
