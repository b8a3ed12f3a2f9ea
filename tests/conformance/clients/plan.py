"""What a client is asked to do: every tool, resource, template, completion and prompt, as JSON.

The calls of tools are the first ones of their tutorials.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from docstow.tools.tutorials import TUTORIALS
from tutored import NOTE, World

#: Every toolset, as the server's address selects them.
TOOLSETS = "rust,docs,packages,connectors,sources,collections"
#: Where what stands in capitals in a call comes from: a tool, and the way into its answer.
KEPT: Mapping[str, tuple[str, tuple[str | int, ...]]] = {
    "CHUNK_ID": ("search_docs", ("results", 0, "chunk_id")),
    "RESULT_ID": ("search", ("results", 0, "id")),
    "JOB_ID": ("start_sync", ("id",)),
}
#: Those that need what others give, or delete it.
_LAST = ("get_sync_status", "delete_document", "delete_source")
PROMPTS = {
    "write_code": {"task": "stow a crate"},
    "upgrade": {"package": "stowage", "from_version": "0.1.0"},
    "explain_item": {"item_path": "stowage::Hold"},
    "find_package": {"purpose": "stow cargo"},
    "review_code": {"code": "stowage::Hold::new()"},
}


def make_plan(world: World) -> dict[str, Any]:
    """Return the plan for a server of the tutorials' store."""
    source = world.runtime.registry.get("Harbour").id[:12]
    firsts = [(name, json.loads(world.spell(each.basic[1]))) for name, each in TUTORIALS.items()]
    firsts.sort(key=lambda call: _LAST.index(call[0]) if call[0] in _LAST else -1)
    item, page = "docstow://crate/{name}/{version}/{path}", "docstow://source/{source}/{path}"
    stowage = {"name": "stowage"}
    return {
        "calls": [("create_collection", {"name": "default"}), ("push_document", NOTE), *firsts],
        "kept": KEPT,
        "resources": [
            "docstow://crate/stowage",
            "docstow://crate/stowage/latest",
            "docstow://crate/stowage/0.1.0/stowage::Hold",
            f"docstow://source/{source}",
            f"docstow://source/{source}/guide/moor.md",
        ],
        "prompts": PROMPTS,
        "completions": [
            ("ref/resource", item, "name", "stow", {}),
            ("ref/resource", item, "version", "0", stowage),
            ("ref/resource", item, "path", "stowage::Ho", {**stowage, "version": "0.1.0"}),
            ("ref/resource", page, "path", "guide", {"source": source}),
            ("ref/prompt", "upgrade", "from_version", "0", {"package": "stowage"}),
            ("ref/prompt", "explain_item", "package", "sto", {}),
        ],
    }
