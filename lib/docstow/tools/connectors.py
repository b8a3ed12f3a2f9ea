"""The pair ``search`` and ``fetch``, by which ChatGPT reads a server: of all that is stowed.

Both have one string, and answers of the members that https://platform.openai.com/docs/mcp names.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from docstow.core.errors import InvalidParameter
from docstow.tools import TEXT, Answer, Tool, result_schema
from docstow.tools.docs import describe_snapshot
from docstow.tools.parameters import Parameter, validate
from docstow.tools.read_crate import open_item

if TYPE_CHECKING:
    from docstow.library import Library
    from docstow.library.prose import Prose

TOOLSET = "connectors"
#: Results of a search.
_MOST = 20
_ITEM, _PAGE = "get_item_doc", "get_doc"


def tools(library: Library, prose: Prose, ask: Tool, read_item: Tool) -> list[Tool]:
    """Make the tools, bound to what is stowed.

    Args:
        library: the crates and packages.
        prose: the pages.
        ask: searches both.
        read_item: the tool that reads an item; its parameters are those of an item's id.
    """
    found = result_schema({"id": TEXT, "title": TEXT, "url": TEXT})
    return [
        Tool(
            name="search",
            toolset=TOOLSET,
            title="Search",
            description=(
                'Searches all that is stowed; fetch reads a result. Example: {"query": "retry"}.'
            ),
            parameters=(
                Parameter("query", "string", "Words or a question", required=True, max_length=500),
            ),
            run=partial(_search, ask),
            output_schema=result_schema({"results": {"type": "array", "items": found}}),
            open_world=False,
            http_only=True,
        ),
        Tool(
            name="fetch",
            toolset=TOOLSET,
            title="Fetch",
            description=(
                "A result of search, or a page by its URL, as a whole. "
                'Example: {"id": "get_doc?doc=a.md"}.'
            ),
            parameters=(
                Parameter("id", "string", "Of a result, or a URL", required=True, max_length=4000),
            ),
            run=partial(_fetch, library, prose, read_item),
            output_schema=result_schema(
                {"id": TEXT, "title": TEXT, "text": TEXT, "url": TEXT},
                metadata={"type": "object", "additionalProperties": TEXT},
            ),
            http_only=True,
        ),
    ]


def _search(ask: Tool, arguments: Mapping[str, Any]) -> Answer:
    query = arguments["query"].strip()
    if not query:
        raise InvalidParameter("query", "must say what is looked for")
    limit = next(each.maximum for each in ask.parameters if each.name == "max_tokens")
    wide = validate(ask.parameters, {"question": query, "max_tokens": limit})
    results: dict[str, dict[str, str]] = {}
    for row in (ask.run(wide).structured or {})["results"]:
        call = row["next"]
        if call["tool"] not in (_ITEM, _PAGE):
            continue
        identity = f"{call['tool']}?{urlencode(call['arguments'])}"
        title = f"{row['title']} · {row['source']} {row['version']}".rstrip()
        url = row["url"] or _own_address(identity)
        results.setdefault(identity, {"id": identity, "title": title, "url": url})
    return Answer({"results": list(results.values())[:_MOST]})


def _own_address(identity: str) -> str:
    """Return an address to cite of what has none on the web."""
    return f"docstow:{identity}"


def _fetch(library: Library, prose: Prose, read_item: Tool, arguments: Mapping[str, Any]) -> Answer:
    identity = arguments["id"].strip()
    tool, _, query = identity.partition("?")
    if tool == _ITEM:
        asked = validate(read_item.parameters, dict(parse_qsl(query)))
        stowed, pages = open_item(library, asked)
        members = {
            "title": f"{asked['item_path']} · {stowed.name} {stowed.version}",
            "text": "\n---\n\n".join(pages.values()),
            "url": next(iter(pages)),
            "metadata": {
                "package": stowed.name,
                "version": stowed.version,
                "snapshot": stowed.snapshot.id,
                **({"notice": stowed.notice} if stowed.notice else {}),
            },
        }
    else:
        ref = dict(parse_qsl(query)).get("doc", "") if tool == _PAGE else identity
        if not ref:
            raise InvalidParameter("id", "must be that of a result of search, or a page's URL")
        page = prose.document(ref)
        members = {
            "title": page.document.title,
            "text": page.document.text,
            "url": page.document.url,
            "metadata": describe_snapshot(page.registration, page.snapshot),
        }
    members["url"] = members["url"] or _own_address(identity)
    return Answer({"id": identity, **members})
