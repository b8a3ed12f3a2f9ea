"""The toolset ``docs``: what an agent asks about websites, repositories, folders and texts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from docstow.core.errors import InvalidParameter
from docstow.core.model import Passage, document_id
from docstow.sources import page_kinds
from docstow.text.invisible import INVISIBLE
from docstow.text.markdown import without_links
from docstow.text.paging import CHARACTERS_PER_TOKEN, part
from docstow.text.sections import find_section
from docstow.tools import (
    COUNT,
    TEXT,
    Answer,
    Tool,
    caveats,
    cursor_at,
    list_schema,
    offset,
    page_answer,
    paged,
    provenance,
    result_schema,
    shortened,
)
from docstow.tools.parameters import (
    ANY_PACKAGE,
    CURSOR,
    LANGUAGE,
    LOCKFILE,
    VERSION,
    Parameter,
    find_stowed,
    language_of,
)

if TYPE_CHECKING:
    from docstow.core.model import Registration, Snapshot
    from docstow.index.search_pages import ChunkHit, PageFilters
    from docstow.library import Library, ResolvedVersion
    from docstow.library.guides import GuidePassage
    from docstow.library.page_sources import Answered
    from docstow.library.prose import Prose

SOURCE = Parameter("source_id", "string", "Id, URI or title", default="", max_length=2000)
SNAPSHOT = Parameter("snapshot_id", "string", "A kept snapshot", default="", max_length=64)
MODES = ("hybrid", "vector", "keyword")
_MOST_NEIGHBOURS = 5
#: Sources that are named where nothing was found in them.
_MOST_TITLES = 5
#: Characters that a result has beside its passages: ids, title, URL.
_AROUND = 330
#: The least of a passage that is cut, and what is shown of one as a snippet.
_LEAST, _SNIPPET = 400, 240
#: So many times the hits are looked at where some may be of other versions.
_DEEPER = 4
#: Characters of a fragment that a page does not have, in the line above it.
_LONGEST_FRAGMENT = 60
#: What filters there are, each with the types of its values.
_FILTERS: Mapping[str, tuple[type, ...]] = {
    "path": (str,),
    "kinds": (str, list),
    "language": (str,),
    "metadata": (dict,),
}
_SHAPES: Mapping[tuple[type, ...], str] = {
    (str,): "a string",
    (str, list): "an array of strings",
    (dict,): "an object",
}


def describe_snapshot(registration: Registration, snapshot: Snapshot) -> dict[str, Any]:
    """Describe which snapshot of which source an answer is from."""
    members = {
        "source_id": registration.id,
        "source": registration.title,
        "kind": registration.kind,
        "uri": registration.uri,
        "snapshot": snapshot.id,
        "created_at": snapshot.created_at.isoformat(),
    }
    version = snapshot.revision.validator or snapshot.revision.version
    return members | ({"version": version} if version else {})


def provenance_line(
    registration: Registration, snapshot: Snapshot, url: str, facts: Sequence[str] = ()
) -> str:
    """Format the provenance of a page, and facts about it: one line of Markdown."""
    version = snapshot.revision.validator or snapshot.revision.version
    parts = [
        f"{registration.title} ({registration.kind})",
        f"version {version[:40]}" if version else "",
        f"<{url}>" if url else "",
        f"snapshot {snapshot.id[:12]} of {snapshot.created_at:%Y-%m-%d}",
        *facts,
        "third-party text",
    ]
    return f"*{' · '.join(filter(None, parts))}*"


def tools(prose: Prose, library: Library) -> list[Tool]:
    """Make the tools, bound to what is stowed."""
    return [_search_docs(prose, library), _get_doc(prose), _get_chunk(prose)]


def _search_docs(prose: Prose, library: Library) -> Tool:
    hit = result_schema(
        {
            "chunk_id": TEXT,
            "score": {"type": "number"},
            "title": TEXT,
            "url": TEXT,
            "heading_path": TEXT,
            "doc_id": TEXT,
            "source": TEXT,
        },
        text=TEXT,
        snippet=TEXT,
        next={"type": "object"},
    )
    return Tool(
        name="search_docs",
        toolset="docs",
        title="Search documentation",
        description=(
            "Whole passages of the stowed websites, repositories, folders and texts, best first, "
            "within max_tokens (0: snippets); with package its README, docs and website. "
            "filters: path, kinds, language, metadata. Not for a "
            "whole page (get_doc) nor for crates (search_items). "
            'Example: {"query": "retry a failed request", "top_k": 5}.'
        ),
        parameters=(
            Parameter("query", "string", "Question or words", required=True, max_length=500),
            SOURCE,
            Parameter("sources", "array", "Several", max_length=50),
            ANY_PACKAGE,
            LANGUAGE,
            VERSION,
            LOCKFILE,
            SNAPSHOT,
            Parameter(
                "top_k",
                "integer",
                "Results",
                default=5,
                minimum=1,
                maximum=50,
                aliases=("k", "limit"),
            ),
            Parameter("mode", "string", "How to rank", default="hybrid", choices=MODES, rare=True),
            Parameter("filters", "object", "path, kinds"),
            Parameter("max_tokens", "integer", "Budget", default=1000, minimum=0, maximum=25000),
            CURSOR,
        ),
        run=partial(_search, prose, library),
        output_schema=list_schema(
            hit,
            searched=COUNT,
            answered={"type": "array", "items": {"type": "object", "required": ["snapshot"]}},
        ),
    )


def _get_doc(prose: Prose) -> Tool:
    return Tool(
        name="get_doc",
        toolset="docs",
        title="Read a page",
        description=(
            "A stowed page as Markdown, and its chunks; with a #fragment that section. Takes its "
            "id, URL, path or a tail of it. Not for finding a page (search_docs). "
            ' Example: {"doc": "guide/install.md", '
            '"source_id": "owner/repo"}.'
        ),
        parameters=(
            Parameter("doc", "string", "Id, URL or path", required=True, max_length=4000),
            SOURCE,
            SNAPSHOT,
            Parameter("max_tokens", "integer", "Budget", default=8000, minimum=100, maximum=25000),
            CURSOR,
        ),
        run=partial(_read_page, prose),
        open_world=False,
    )


def _get_chunk(prose: Prose) -> Tool:
    return Tool(
        name="get_chunk",
        toolset="docs",
        title="Read a chunk",
        description=(
            "The whole text of one search result, with so many neighbours on either side. Not for "
            'the whole page (get_doc). Example: {"chunk_id": "0123456789ab.0123456789abcdef.'
            '0123456789ab", "neighbours": 1}.'
        ),
        parameters=(
            Parameter("chunk_id", "string", "Of a result", required=True, max_length=100),
            Parameter(
                "neighbours",
                "integer",
                "On each side",
                default=0,
                minimum=0,
                maximum=_MOST_NEIGHBOURS,
            ),
            SNAPSHOT,
        ),
        run=partial(_read_chunk, prose),
        output_schema={
            "type": "object",
            "properties": {
                "chunk_id": TEXT,
                "doc_id": TEXT,
                "title": TEXT,
                "url": TEXT,
                "heading_path": TEXT,
                "text": TEXT,
                "tokens": COUNT,
                "snapshot": TEXT,
                "before": {"type": "array", "items": {"type": "object"}},
                "after": {"type": "array", "items": {"type": "object"}},
            },
            "required": ["chunk_id", "doc_id", "text", "snapshot"],
        },
        open_world=False,
    )


def _search(prose: Prose, library: Library, arguments: Mapping[str, Any]) -> Answer:
    if arguments["package"].strip():
        return _search_package(prose, library, arguments)
    return _search_pages(prose, arguments)


def _search_package(prose: Prose, library: Library, arguments: Mapping[str, Any]) -> Answer:
    """Search the pages that a package carries, and its website, together."""
    from docstow.library.guides import search_own

    if not (query := arguments["query"].strip()):
        raise InvalidParameter("query", "must say what is looked for, in 1 to 500 characters")
    for name in ("snapshot_id", "filters"):
        if arguments[name]:
            raise InvalidParameter(name, "is not for the guides of a package; leave it out")
    stowed = find_stowed(library, arguments["package"].strip(), arguments)
    guide = library.guides.find(stowed.snapshot) if library.guides is not None else None
    named = [*filter(None, [arguments["source_id"].strip()]), *(arguments["sources"] or ())]
    if guide is not None and guide.snapshot is not None and guide.registration is not None:
        named.append(guide.registration.id)
    stowed, embedder = library.current(stowed)
    scope = json.dumps([query, stowed.snapshot.id, named, arguments["mode"]])
    limit = offset(arguments["cursor"], scope) + arguments["top_k"] + 1
    index = library.index(stowed.snapshot)
    own = search_own(index, None if arguments["mode"] == "keyword" else embedder, query, limit)
    rows = [_describe_own(stowed, each, arguments) for each in own]
    hits: list[ChunkHit] = []
    parts: list[Answered] = []
    if named:
        # Pages of other versions of a site make room for those of the package's.
        deep = limit if guide is None or guide.place is None else _DEEPER * limit
        hits, parts = prose.search(query, source_ids=named, limit=deep, mode=arguments["mode"])
        if guide is not None and guide.registration is not None:
            site = guide.registration.id
            hits = [each for each in hits if each.source_id != site or guide.holds(each.url)]
        hits = hits[:limit]
    titles = {registration.id: registration.title for registration, _ in parts}
    indexes = {registration.id: prose.index(snapshot) for registration, snapshot in parts}
    others = []
    for hit in hits:
        of = indexes[hit.source_id]
        row = of.find_passage(hit.chunk_id)
        text = str(of.passages["text"][row]) if row is not None else hit.snippet
        others.append(_describe_hit(hit, titles) | {"text": text})
    merged = [row for pair in zip_longest(others, rows) for row in pair if row is not None]
    merged = [each | {"text": without_links(each["text"])} for each in merged]
    if not arguments["max_tokens"]:
        shown = [
            {k: v for k, v in e.items() if k != "text"} | {"snippet": e["text"][:_SNIPPET]}
            for e in merged
        ]
        page = paged(shown, arguments["cursor"], scope, arguments["top_k"])
    else:
        page = _within_budget(merged, arguments, scope)
    notices = [*caveats(stowed), guide.notice if guide is not None else ""]
    if not merged:
        notices.append("it carries no guides that answer; use other words, or search_items")
    notice = "; ".join(filter(None, notices))
    return Answer(
        {
            **provenance(stowed),
            "searched": len(parts) + 1,
            "sources": [describe_snapshot(*part) for part in parts],
            **({"notice": notice} if notice else {}),
            **page,
        }
    )


def _describe_own(
    stowed: ResolvedVersion, found: GuidePassage, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    path = found.document.path
    call = {"package": stowed.name, "item_path": path, "version": stowed.version}
    language = language_of(arguments)
    if language.packaged:
        call["language"] = language.name
    return {
        "chunk_id": "",
        "score": round(found.score, 5),
        "title": found.document.title,
        "url": found.url,
        "heading_path": found.heading_path,
        "doc_id": path,
        "source": f"{stowed.name} {stowed.version}",
        "next": {"tool": "get_item_doc", "arguments": call},
        "text": found.text,
    }


def _within_budget(
    rows: Sequence[Mapping[str, Any]], arguments: Mapping[str, Any], scope: str
) -> dict[str, Any]:
    """Return rows while their passages fit; the first is shown even if it has to be cut."""
    begin = offset(arguments["cursor"], scope)
    limit = arguments["max_tokens"] * CHARACTERS_PER_TOKEN
    shown: list[Mapping[str, Any]] = []
    used = 0
    for row in rows[begin : begin + arguments["top_k"]]:
        size = len(row["text"]) + _AROUND
        if shown and used + size > limit:
            break
        room = max(limit - _AROUND, _LEAST)
        shown.append({**row, "text": part(row["text"], 0, room).text} if size > limit else row)
        used += size
    end = begin + len(shown)
    return {"results": shown, "cursor": cursor_at(end, scope) if len(rows) > end else None}


def _search_pages(prose: Prose, arguments: Mapping[str, Any]) -> Answer:
    query = arguments["query"].strip()
    if not query:
        raise InvalidParameter("query", "must say what is looked for, in 1 to 500 characters")
    named = [*filter(None, [arguments["source_id"].strip()]), *(arguments["sources"] or ())]
    # The list of one question; that of a changed source may begin anew at a cursor.
    names = ("snapshot_id", "mode", "filters")
    scope = json.dumps([query, named, *(arguments[name] for name in names)], sort_keys=True)
    hits, parts = prose.search(
        query,
        source_ids=named,
        snapshot_id=arguments["snapshot_id"],
        limit=offset(arguments["cursor"], scope) + arguments["top_k"] + 1,
        mode=arguments["mode"],
        filters=_parse_filters(arguments["filters"] or {}),
        snippets=not arguments["max_tokens"],
    )
    titles = {registration.id: registration.title for registration, _ in parts}
    notices = [prose.notice(parts) if arguments["mode"] != "keyword" else ""]
    if not hits:
        notices.append(_explain_nothing(parts, filtered=bool(arguments["filters"])))
    notice = "; ".join(filter(None, notices))
    if arguments["max_tokens"]:
        page = _excerpts(prose, hits, parts, arguments, scope)
    else:
        rows = [_describe_hit(hit, titles) | {"snippet": hit.snippet} for hit in hits]
        page = paged(rows, arguments["cursor"], scope, arguments["top_k"])
    shown = {row["doc_id"][:12] for row in page["results"]}
    return Answer(
        {
            "asked": ", ".join(named) or "all sources",
            "searched": len(parts),
            "answered": [describe_snapshot(*part) for part in parts if part[0].id[:12] in shown],
            "substituted": False,
            **({"notice": notice} if notice else {}),
            **page,
        }
    )


def _excerpts(
    prose: Prose,
    hits: Sequence[ChunkHit],
    parts: Sequence[Answered],
    arguments: Mapping[str, Any],
    scope: str,
) -> dict[str, Any]:
    """Return a page of whole passages, with ``cursor`` where hits are left."""
    from docstow.index.excerpts import make_excerpts

    begin = offset(arguments["cursor"], scope)
    indexes = {registration.id: prose.index(snapshot) for registration, snapshot in parts}
    titles = {registration.id: registration.title for registration, _ in parts}
    excerpts, count = make_excerpts(
        lambda hit: indexes[hit.source_id],
        hits[begin : begin + arguments["top_k"]],
        arguments["max_tokens"] * CHARACTERS_PER_TOKEN,
        around=_AROUND,
    )
    end = begin + count
    return {
        "results": [_describe_hit(each.hit, titles) | {"text": each.text} for each in excerpts],
        "cursor": cursor_at(end, scope) if len(hits) > end else None,
    }


def _parse_filters(given: Mapping[str, Any]) -> PageFilters:
    from docstow.index.search_pages import PageFilters

    checked = {key: value for key, value in given.items() if value is not None}
    for name, value in checked.items():
        if name not in _FILTERS:
            known = ", ".join(_FILTERS)
            raise InvalidParameter("filters", f"unknown filter {name[:80]!r}; known are {known}")
        if not isinstance(value, _FILTERS[name]):
            raise InvalidParameter("filters", f"{name} must be {_SHAPES[_FILTERS[name]]}")
    if isinstance(kinds := checked.get("kinds"), str):
        checked["kinds"] = [kinds]
    for kind in checked.get("kinds", ()):
        if kind not in page_kinds():
            raise InvalidParameter("filters", f"kinds are {', '.join(page_kinds())}")
    return PageFilters(**checked)


def _describe_hit(hit: ChunkHit, titles: Mapping[str, str]) -> dict[str, Any]:
    return {
        "chunk_id": hit.chunk_id,
        "score": round(hit.score, 5),
        "title": hit.title,
        "url": hit.url,
        "heading_path": hit.heading_path,
        "doc_id": hit.document_id,
        "source": titles[hit.source_id],
    }


def _explain_nothing(parts: Sequence[Answered], *, filtered: bool) -> str:
    if not parts and filtered:
        return "no synced source passes the filters; leave out kinds"
    if not parts:
        return "nothing is synced yet; create_source adds a source and start_sync stows it"
    searched = ", ".join(registration.title for registration, _ in parts[:_MOST_TITLES])
    if len(parts) > _MOST_TITLES:
        searched = f"{searched} and {len(parts) - _MOST_TITLES} more"
    advice = "leave out filters" if filtered else "use other words, or the mode vector"
    return f"nothing is found in {searched}; {advice}"


def _read_page(prose: Prose, arguments: Mapping[str, Any]) -> Answer:
    ref = arguments["doc"].strip()
    if not ref:
        raise InvalidParameter("doc", "must be the id, URL or path of a page")
    opened = prose.document(
        ref, source=arguments["source_id"].strip(), snapshot_id=arguments["snapshot_id"]
    )
    document = opened.document
    facts = []
    if "words" in document.attributes:
        # Rounded down, so that a page that lost a word is never said to be whole.
        share = int(1000 * float(document.attributes.get("kept", 1.0))) / 10
        facts.append(f"{share:g} % of {document.attributes['words']} words kept")
    if dropped := document.attributes.get(INVISIBLE):
        facts.append(f"{dropped} invisible characters dropped")
    text = document.text.strip()
    if not text.startswith("# "):
        text = f"# {document.title}\n\n{text}"
    fragment = unquote(ref.partition("#")[2])
    section = (
        find_section(
            text,
            fragment,
            document.attributes.get("anchors", ()),
            document.attributes.get("terms", ()),
        )
        if fragment
        else None
    )
    if fragment and section is None:
        facts.append(f"no section #{shortened(fragment, _LONGEST_FRAGMENT)}: this is the page")
    lines = [f"- `{each.id}` {each.heading_path}".rstrip() for each in opened.chunks]
    whole = "\n".join([text, "", "---", "", "Chunks of this page:", "", *lines, ""])
    url = f"{document.url}#{fragment}" if section and document.url else document.url
    line = provenance_line(opened.registration, opened.snapshot, url, facts)
    scope = f"{opened.snapshot.id} {document.path}" + (f"#{fragment}" if section else "")
    return page_answer(line, section or whole, arguments, scope)


def _read_chunk(prose: Prose, arguments: Mapping[str, Any]) -> Answer:
    opened = prose.chunk(
        arguments["chunk_id"].strip(),
        neighbours=arguments["neighbours"],
        snapshot_id=arguments["snapshot_id"],
    )
    members: dict[str, Any] = {
        "doc_id": document_id(opened.registration.id, opened.document.path),
        "title": opened.document.title,
        "url": opened.document.url,
        **describe_snapshot(opened.registration, opened.snapshot),
    }
    if opened.notice:
        members["notice"] = opened.notice
    if arguments["neighbours"]:
        members["before"] = [_describe_chunk(each) for each in opened.before]
        members["after"] = [_describe_chunk(each) for each in opened.after]
    return Answer(_describe_chunk(opened.chunk) | members)


def _describe_chunk(chunk: Passage) -> dict[str, Any]:
    return {
        "chunk_id": chunk.id,
        "heading_path": chunk.heading_path,
        "text": chunk.text,
        "tokens": chunk.tokens,
    }
