"""The tool ``get_crate_summary``: what a crate or package is for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.tools import Answer, Tool
from docstow.tools.answers import COUNT, TEXT, list_schema, paged, provenance, result_schema
from docstow.tools.crate_arguments import (
    CRATE,
    CURSOR,
    LANGUAGE_BRIEF,
    LOCKFILE,
    VERSION,
    find_stowed,
    language_of,
)
from docstow.tools.parameters import Parameter

if TYPE_CHECKING:
    from docstow.index.loaded import Index
    from docstow.library import Library

PER_PAGE = 100


def tool(library: Library) -> Tool:
    """Make the tool, bound to a library."""
    module = result_schema({"path": TEXT, "summary": TEXT, "items": COUNT})
    return Tool(
        name="get_crate_summary",
        toolset="rust",
        title="Crate summary",
        description=(
            "What a crate or package is for: features, MSRV, modules. Start here with an "
            "unfamiliar one. Not for finding an item (search_items). "
            'Example: {"crate": "tokio"}.'
        ),
        parameters=(
            CRATE,
            LANGUAGE_BRIEF,
            VERSION,
            LOCKFILE,
            Parameter("module", "string", "", default=""),
            Parameter("depth", "integer", "", default=1, minimum=1, maximum=8),
            CURSOR,
        ),
        run=partial(_run, library),
        output_schema=list_schema(
            module,
            summary=TEXT,
            description=TEXT,
            rust_version=TEXT,
            features={"type": "object"},
            import_names={"type": "array", "items": TEXT},
            readme=TEXT,
            items={"type": "object", "additionalProperties": COUNT},
        ),
    )


def _run(library: Library, arguments: Mapping[str, Any]) -> Answer:
    stowed = find_stowed(library, arguments["crate"], arguments)
    facts = dict(stowed.snapshot.facts)
    if language_of(arguments).packaged:
        index = library.index(stowed.snapshot)
        own, modules = _package_modules(index, arguments["module"], arguments["depth"])
        facts |= own
    elif arguments["module"] or arguments["depth"] > 1:
        from docstow.index.modules import list_modules

        index = library.index(stowed.snapshot)
        own, modules = list_modules(index, arguments["module"], arguments["depth"])
        facts |= own
    else:
        modules = facts.get("modules", [])
    counts = stowed.snapshot.counts.items()
    names = (
        *("description", "features", "rust_version", "published", "format_version", "target"),
        *("import_names", "readme"),
    )
    return Answer(
        provenance(stowed)
        | {"summary": facts.get("summary", ""), "url": facts.get("url", "")}
        | {name: facts[name] for name in names if facts.get(name)}
        | {"items": {k.removeprefix("kind:"): n for k, n in counts if k.startswith("kind:")}}
        | paged(modules, arguments["cursor"], stowed.snapshot.id, PER_PAGE)
    )


def _package_modules(
    index: Index, module: str, depth: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return what a package is for, and its modules; the entry modules are listed with the others.

    Args:
        index: the package.
        module: where to start; all entry modules if empty.
        depth: how many levels are listed.
    """
    from docstow.index.modules import list_modules
    from docstow.text.chunking import first_sentence

    kinds, paths = index.columns["kind"], index.columns["path"]
    tops = index.rows_by_parent.get("", [])
    entries = [str(paths[row]) for row in tops if kinds[row] == "module"]
    facts: dict[str, Any] = {}
    modules: list[dict[str, Any]] = []
    for each in [module] if module else entries:
        own, below = list_modules(index, each, depth)
        facts = facts or own
        if not module:
            items = len(index.rows_by_parent.get(each, ()))
            modules.append({"path": each, "summary": own["summary"], "items": items})
        modules += below
    page = next((row for row in tops if kinds[row] == "page"), None)
    if page is not None and not module:
        facts["readme"] = str(paths[page])
        facts["url"] = str(index.columns["url"][page])
        facts["summary"] = facts.get("summary") or first_sentence(index.document(page).text)
    return facts, modules
