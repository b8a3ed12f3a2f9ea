"""A tutorial for each tool: three calls to copy, and what comes back.

They stand in ``/mcp/manifest`` and ``/commands``, not in ``tools/list``, which models pay for. A
test makes each call. What a call has from an earlier answer is in capitals (``CHUNK_ID``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: What a call does, and its arguments.
Call = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Tutorial:
    """Three calls of a tool, at most 200 tokens as JSON.

    Attributes:
        answers: what comes back, in one line.
        basic: the least that it takes.
        filtered: chooses what is looked at.
        tuned: says how much comes back, in which form or from which version.
    """

    answers: str
    basic: Call
    filtered: Call
    tuned: Call

    @property
    def calls(self) -> Mapping[str, Call]:
        """The calls by what they are."""
        return {"basic": self.basic, "filtered": self.filtered, "tuned": self.tuned}

    def describe(self) -> dict[str, Any]:
        """Return it as JSON."""
        shown = {
            name: {"does": does, "arguments": dict(arguments)}
            for name, (does, arguments) in self.calls.items()
        }
        return {**shown, "answers": self.answers}


def tutorial(name: str) -> dict[str, Any]:
    """Return ``{"tutorial": …}`` of a tool as JSON; nothing where it has none."""
    found = TUTORIALS.get(name)
    return {"tutorial": found.describe()} if found else {}


_SITE = "https://docs.example/"
_LOCK = (
    '[[package]]\nname="stowage"\nversion="0.1.0"\ndependencies=["rope"]\n'
    '[[package]]\nname="rope"\nversion="1.0.0"'
)
_CHUNK = {"chunk_id": "CHUNK_ID"}

#: By the names of tools.
TUTORIALS: Mapping[str, Tutorial] = {
    "get_package_summary": Tutorial(
        "JSON: summary, how to depend on it, items at the root, an example, features, status",
        ("Tells what a crate is for", {"package": "stowage"}),
        ("One module of it", {"package": "stowage", "module": "stowage::cargo"}),
        ("A Python package, modules two levels deep", {"package": "python:httpx", "depth": 2}),
    ),
    "find_packages": Tutorial(
        "JSON: results with language, package, description; get_package_summary tells more",
        ("Finds packages for a purpose", {"query": "stow cargo"}),
        ("Of one language", {"query": "parse command lines", "language": "rust"}),
        ("Twenty of them", {"query": "send HTTP requests", "language": "python", "limit": 20}),
    ),
    "search_items": Tutorial(
        "JSON: results with item_path, signature and score; the first has docs and an example",
        ("Finds items by purpose", {"package": "stowage", "query": "put crates into the hold"}),
        (
            "Methods of one module, by the shape of a function",
            {
                "package": "stowage",
                "signature": "Hold -> f64",
                "type_filter": ["method"],
                "module": "stowage",
            },
        ),
        (
            "Ten of one version, without docs",
            {"package": "stowage", "query": "weight", "version": "0.1", "k": 10, "max_tokens": 0},
        ),
    ),
    "get_item_doc": Tutorial(
        "Markdown: path and version, signature, docs, members; a cursor where there is more",
        ("Reads a type with its members", {"item_path": "stowage::Hold"}),
        (
            "The trait alone, of one version",
            {"item_path": "trait@stowage::Strategy", "version": "0.1.0"},
        ),
        (
            "A Python method in few tokens",
            {"item_path": "httpx.Client.get", "language": "python", "max_tokens": 800},
        ),
    ),
    "list_versions": Tutorial(
        "JSON: results with version, date, yanked; the latest, and what the requirement matches",
        ("All versions, newest first", {"package": "stowage"}),
        ("What a requirement resolves to", {"package": "stowage", "requirement": "^0.1"}),
        (
            "Of a Python package",
            {"package": "httpx", "language": "python", "requirement": ">=0.20"},
        ),
    ),
    "get_module_tree": Tutorial(
        "JSON: modules with path, first sentence and counts of items by kind",
        ("Shows where things are", {"package": "stowage"}),
        ("Below one module", {"package": "stowage", "module": "stowage::strategy"}),
        ("Only the first level", {"package": "python:httpx", "depth": 1}),
    ),
    "search_examples": Tutorial(
        "JSON: results with code, its language, item_path and the sentence before it",
        ("Finds code that does something", {"package": "stowage", "query": "load a hold"}),
        (
            "Only code in Rust",
            {"package": "stowage", "query": "load a hold", "code_language": ["rust"]},
        ),
        ("The best one of a version", {"package": "stowage@0.1.0", "query": "load a hold", "k": 1}),
    ),
    "get_dependencies": Tutorial(
        "JSON: results with requirement, kind and resolved version; the tree",
        ("What it depends on, by a lock file", {"package": "stowage", "lockfile": _LOCK}),
        (
            "Only what it runs with",
            {"package": "stowage", "lockfile": _LOCK, "kinds": ["normal"]},
        ),
        (
            "The tree as a diagram",
            {"package": "stowage", "lockfile": _LOCK, "depth": 3, "graph": True},
        ),
    ),
    "find_implementations": Tutorial(
        "JSON: results with the trait, the type and the impl's header; total counts all",
        ("Who implements a trait", {"package": "stowage", "trait": "Strategy"}),
        ("Which traits a type has", {"package": "stowage", "type": "stowage::Hold"}),
        (
            "A trait of the standard library, in one version",
            {"package": "stowage", "trait": "Debug", "version": "0.1.0"},
        ),
    ),
    "diff_versions": Tutorial(
        "JSON: verdict, counts, and results with path, rule, before and after, breaking ones first",
        ("From a version to the newest", {"package": "stowage", "from_version": "0.1.0"}),
        (
            "Only the items that are used",
            {"package": "stowage", "from_version": "0.1.0", "paths": ["stowage::Hold"]},
        ),
        (
            "Between two versions",
            {"package": "stowage", "from_version": "0.1", "to_version": "0.1.0"},
        ),
    ),
    "search_docs": Tutorial(
        "JSON: results with text, headings, url, chunk_id and doc_id, whole passages first",
        ("Searches all stowed pages", {"query": "lash the crates"}),
        (
            "Pages of one source below a path",
            {"query": "moor", "source_id": "Harbour", "filters": {"path": "guide/"}},
        ),
        (
            "Ten snippets by their words alone",
            {"query": "moor", "top_k": 10, "mode": "keyword", "max_tokens": 0},
        ),
    ),
    "get_doc": Tutorial(
        "Markdown: title, source and URL, then the page; a cursor where there is more",
        ("Reads a page by the end of its path", {"doc": "moor.md"}),
        (
            "One section of a page of one source",
            {"doc": "guide/install.md#on-linux", "source_id": "Harbour"},
        ),
        ("In pages of 500 tokens", {"doc": "guide/install.md", "max_tokens": 500}),
    ),
    "get_chunk": Tutorial(
        "JSON: the text, its headings, url, and the chunks beside it",
        ("The whole text of a search_docs result", _CHUNK),
        ("With what stands before and after it", {**_CHUNK, "neighbours": 1}),
        (
            "As a kept snapshot has it (list_snapshots)",
            {**_CHUNK, "snapshot_id": "SNAPSHOT_ID"},
        ),
    ),
    "ask": Tutorial(
        "JSON: results with text, version, url and the call that reads on in next",
        ("Asks all that the project uses", {"question": "how is a hold loaded"}),
        (
            "With the pages of one source",
            {"question": "how is a ship moored", "sources": ["Harbour"]},
        ),
        (
            "In 600 tokens, for the versions of a lock file",
            {
                "question": "stowage: load a hold",
                "lockfile": _LOCK,
                "max_tokens": 600,
            },
        ),
    ),
    "scan_packages": Tutorial(
        "JSON: packages with ecosystem, name, version and the call that tells more",
        ("All packages of the project", {}),
        ("Its own of one language", {"ecosystem": "python", "direct": True}),
        ("Only what code or an error names", {"text": "import httpx", "details": True}),
    ),
    "read_package": Tutorial(
        "Markdown: public surface and files, or the file, lines or definition asked for",
        ("What a package offers, and its files", {"package_name": "httpx"}),
        ("One definition", {"package_name": "httpx", "symbol": "httpx.Client.get"}),
        (
            "Lines of a file in few tokens",
            {
                "package_name": "httpx",
                "file_path": "httpx/_api.py",
                "lines": "1-60",
                "max_tokens": 600,
            },
        ),
    ),
    "verify_code": Tutorial(
        "JSON: results with line, name, message, suggestions; counts, not_checked_share, reasons",
        ("Checks code", {"code": "import httpx\nhttpx.gett('/')", "language": "python"}),
        (
            "Against one version of a crate",
            {
                "code": "use stowage::Hould;",
                "language": "rust",
                "versions": {"stowage": "0.1.0"},
            },
        ),
        ("Lists what is right, too", {"code": "import httpx", "language": "python", "all": True}),
    ),
    "search": Tutorial(
        "JSON: results with id, title and url; fetch reads one by its id",
        ("Searches items and pages", {"query": "hold"}),
        ("Those of one package, by its name", {"query": "stowage: load a hold"}),
        ("Those of one source", {"query": "Harbour: moor a ship"}),
    ),
    "fetch": Tutorial(
        "JSON: id, title, text, url and metadata",
        ("Reads a result of search", {"id": "RESULT_ID"}),
        ("Reads a page by its path", {"id": "get_doc?doc=guide/moor.md"}),
        (
            "Reads an item of one version",
            {"id": "get_item_doc?item_path=stowage%3A%3AHold&version=0.1.0"},
        ),
    ),
    "create_source": Tutorial(
        "JSON: source_id, whether it was created, and with sync the job",
        ("Registers a website", {"kind": "site", "uri": _SITE}),
        (
            "Only pages below a path",
            {"kind": "site", "uri": _SITE, "options": {"include": ["/guide/**"]}},
        ),
        (
            "Stows it now, and again each day",
            {
                "kind": "site",
                "uri": _SITE,
                "title": "Quay",
                "options": {"max_pages": 50},
                "keep": 2,
                "refresh_hours": 24,
                "sync": True,
            },
        ),
    ),
    "list_sources": Tutorial(
        "JSON: results with source_id, uri, options, snapshot, counts and the last job",
        ("All sources", {}),
        ("Only websites", {"kind": "site"}),
        ("What was registered elsewhere a moment ago, too", {"consistent": True}),
    ),
    "delete_source": Tutorial(
        "JSON: source_id, and deleted: whether it was there",
        ("By its URL", {"source_id": _SITE}),
        ("By its title, where one source has it", {"source_id": "Quay"}),
        ("By the id of list_sources", {"source_id": "SOURCE_ID"}),
    ),
    "start_sync": Tutorial(
        "JSON: the job with its id and state; get_sync_status tells how far it is",
        ("Stows what has changed", {"source_id": _SITE}),
        ("Of a source by its title", {"source_id": "Quay", "mode": "incremental"}),
        ("Reads everything anew", {"source_id": _SITE, "mode": "full"}),
    ),
    "get_sync_status": Tutorial(
        "JSON: state, counts of pages, what was skipped or failed and why",
        ("How far a job is", {"job_id": "JOB_ID"}),
        ("The newest job of a source", {"source_id": _SITE}),
        ("As the store has it now", {"job_id": "JOB_ID", "consistent": True}),
    ),
    "list_snapshots": Tutorial(
        "JSON: results with snapshot, which is its id, created_at and counts, newest first",
        ("Those of a source", {"source_id": "Harbour"}),
        ("Those of a website", {"source_id": _SITE}),
        ("With what was published a moment ago", {"source_id": "Harbour", "consistent": True}),
    ),
    "export_snapshot": Tutorial(
        "Text: a line with the cursor of the next page, then the export",
        ("A crate as JSON Lines", {"package": "stowage"}),
        ("A source as llms.txt", {"source_id": "Harbour", "format": "llms"}),
        (
            "One version as Markdown, 500 tokens a page",
            {"package": "stowage", "version": "0.1.0", "format": "markdown", "max_tokens": 500},
        ),
    ),
    "push_document": Tutorial(
        "JSON: doc_id, collection, and replaced: whether the uri was there",
        ("Stows a note", {"text": "# Release\n\nTag, then publish."}),
        (
            "With fields for the filters of search_docs",
            {"text": "Tag it.", "uri": "tag.md", "metadata": {"team": "docs"}},
        ),
        (
            "In a collection, under a title",
            {"text": "Tag it.", "uri": "tag.md", "title": "Tags", "collection": "notes"},
        ),
    ),
    "delete_document": Tutorial(
        "JSON: doc_id and collection of what is gone",
        ("By the uri that it was pushed with", {"uri": "tag.md"}),
        ("Of one collection", {"uri": "tag.md", "collection": "notes"}),
        ("By the doc_id that push_document gave", {"doc_id": "DOC_ID"}),
    ),
    "create_collection": Tutorial(
        "JSON: source_id, and created: whether it is new",
        ("Makes a collection", {"name": "notes"}),
        ("With a title, by which it is found too", {"name": "notes", "title": "Our notes"}),
        ("Under a name with parts", {"name": "team/notes", "title": "Notes of the team"}),
    ),
    "list_collections": Tutorial(
        "JSON: results with source_id, title, and counts of texts and chunks",
        ("All collections", {}),
        ("Those behind a page, by its cursor; empty for the first", {"cursor": ""}),
        ("With what was pushed a moment ago", {"consistent": True}),
    ),
    "get_metrics": Tutorial(
        "JSON: calls, seconds and errors by tool; sources, documents, chunks, jobs by state",
        ("Calls and the store's size", {}),
        ("Fresh from the store", {"consistent": True}),
        ("Up to five seconds old, which is quicker", {"consistent": False}),
    ),
}
