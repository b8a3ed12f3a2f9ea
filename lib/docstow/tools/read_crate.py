"""The tools that read one crate or package: its summary, modules, items and implementations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.core.errors import InvalidParameter
from docstow.core.model import STANDARD
from docstow.library import OUTLINE, PAGE
from docstow.tools import (
    COUNT,
    TEXT,
    Answer,
    Tool,
    caveats,
    list_schema,
    page_answer,
    paged,
    provenance,
    provenance_line,
    result_schema,
    shortened,
)
from docstow.tools.package_status import describe_status
from docstow.tools.parameters import (
    ANY_PACKAGE,
    CURSOR,
    LANGUAGE,
    LOCKFILE,
    PACKAGE,
    TARGET,
    VERSION,
    Parameter,
    find_stowed,
    language_of,
)

if TYPE_CHECKING:
    from docstow.core.model import Snapshot
    from docstow.index.families import Family
    from docstow.index.implementations import Implementation
    from docstow.index.loaded import Index
    from docstow.languages.shared.language import Language
    from docstow.library import Library, ResolvedVersion
    from docstow.sources.advisories import Advisories

#: Implementations on a page.
_PER_PAGE = 50
#: Longest header, in characters; macros make some of several thousand.
_LONGEST_HEADER = 1200
#: Passages of guides on an item's page.
_MOST_MENTIONS = 3
#: Types listed of those that one blanket implementation covers.
_MOST_COVERED = 20


def get_package_summary(library: Library, advisories: Advisories | None) -> Tool:
    """Make the tool.

    Args:
        library: where crates and packages are found.
        advisories: those that the operator has, if any.
    """
    module = result_schema({"path": TEXT, "summary": TEXT, "items": COUNT})
    return Tool(
        name="get_package_summary",
        aliases=("get_crate_summary",),
        toolset="rust",
        title="Package summary",
        description=(
            "What a package is for, how to depend on it, what it has at its root, an "
            "example, features, modules; status: last release, yanks, deprecation, licence, "
            "advisories. Start here with an unfamiliar one. Not for an item (search_items). "
            'Example: {"package": "tokio"}.'
        ),
        parameters=(
            PACKAGE,
            LANGUAGE,
            VERSION,
            LOCKFILE,
            TARGET,
            Parameter("module", "string", "Path", default=""),
            Parameter("depth", "integer", "Levels", default=1, minimum=1, maximum=8),
            CURSOR,
        ),
        run=partial(_summarise, library, advisories),
        output_schema=list_schema(
            module,
            summary=TEXT,
            status={"type": "object"},
            scarcity=TEXT,
            left_out={"type": "array", "items": TEXT},
            description=TEXT,
            rust_version=TEXT,
            features={"type": "object"},
            import_names={"type": "array", "items": TEXT},
            readme=TEXT,
            install=TEXT,
            links={"type": "object", "additionalProperties": TEXT},
            guides={"type": "array", "items": TEXT},
            guide=TEXT,
            license=TEXT,
            keywords={"type": "array", "items": TEXT},
            example=TEXT,
            contents={"type": "object", "additionalProperties": {"type": "array", "items": TEXT}},
            further={"type": "object", "additionalProperties": COUNT},
            items={"type": "object", "additionalProperties": COUNT},
        ),
    )


def _summarise(
    library: Library, advisories: Advisories | None, arguments: Mapping[str, Any]
) -> Answer:
    stowed = find_stowed(library, arguments["package"], arguments)
    facts = dict(stowed.snapshot.facts)
    if language_of(arguments).packaged:
        index = library.index(stowed.snapshot, OUTLINE)
        own, modules = _list_package_modules(index, arguments["module"], arguments["depth"])
        facts |= own
    elif arguments["module"] or arguments["depth"] > 1:
        from docstow.index.lookup import list_modules

        index = library.index(stowed.snapshot, OUTLINE)
        own, modules = list_modules(index, arguments["module"], arguments["depth"])
        facts |= own
    else:
        modules = facts.get("modules", [])
    counts = stowed.snapshot.counts.items()
    guide = library.guides.find(stowed.snapshot) if library.guides is not None else None
    if str(facts.get("summary", "")).startswith(("- ", "* ")) and facts.get("description"):
        # A list of parameters is no sentence on the package.
        facts["summary"] = facts["description"]
    if _is_told(facts.get("description", ""), facts.get("summary", "")):
        facts.pop("description", None)
    names = [
        "scarcity",
        "left_out",
        "description",
        "rust_version",
        "published",
        "format_version",
        "target",
    ]
    names += ["import_names", "readme", "links", "guides", "license", "keywords", "example"]
    names += ["contents", "further", "features"]
    install = _install_line(stowed.snapshot, language_of(arguments))
    status, notices = describe_status(library, language_of(arguments), stowed, advisories)
    notices = [*caveats(stowed), *([guide.notice] if guide is not None else []), *notices]
    notices = [each for each in notices if each]
    return Answer(
        provenance(stowed)
        | ({"notice": "; ".join(notices)} if notices else {})
        | {"summary": facts.get("summary", ""), "url": facts.get("url", "")}
        | ({"install": install} if install else {})
        | ({"status": status} if status else {})
        | {name: facts[name] for name in names if facts.get(name)}
        | ({"guide": guide.url} if guide is not None else {})
        | {"items": {k.removeprefix("kind:"): n for k, n in counts if k.startswith("kind:")}}
        | paged(modules, arguments["cursor"], stowed.snapshot.id)
    )


def _is_told(description: str, summary: str) -> bool:
    """Return whether a description says no more than the summary."""
    told, said = ("".join(filter(str.isalnum, each)).casefold() for each in (description, summary))
    return told in said


def _install_line(snapshot: Snapshot, language: Language) -> str:
    """Return how a project asks for the package: a manifest's line or a command; perhaps none."""
    from docstow.index.item_facts import Package

    if language.packaged:
        name, version = snapshot.revision.source.name, snapshot.revision.version
        return " # or: ".join(each.format(name=name, version=version) for each in language.install)
    if snapshot.revision.source.name in STANDARD:
        return ""
    package = Package.of(snapshot)
    suggested = snapshot.facts.get("suggested_features", ())
    return package.dependency(
        [e for e in suggested if not package.features or e in package.features]
    )


def _list_package_modules(
    index: Index, module: str, depth: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return what a package is for, and its modules; the entry modules are listed with the others.

    Args:
        index: the package.
        module: where to start; all entry modules if empty.
        depth: how many levels are listed.
    """
    from docstow.index.lookup import list_modules
    from docstow.languages.shared.guides import README
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
    pages = [row for row in tops if kinds[row] == "page"]
    page = next((row for row in pages if index.attributes(row).get("role", README) == README), None)
    if page is not None and not module:
        facts["readme"] = str(paths[page])
        facts["url"] = str(index.columns["url"][page])
        facts["summary"] = facts.get("summary") or first_sentence(index.document(page).text)
    return facts, modules


def get_module_tree(library: Library) -> Tool:
    """Make the tool, bound to a library."""
    counts = {"type": "object", "additionalProperties": COUNT}
    node = result_schema({"path": TEXT, "depth": COUNT, "summary": TEXT, "items": counts})
    return Tool(
        name="get_module_tree",
        toolset="rust",
        title="Module tree",
        description=(
            "A crate's modules, each with its first sentence and item counts: where things "
            "are. Not for finding an item (search_items). "
            'Example: {"package": "tokio", "module": "tokio::sync"}.'
        ),
        parameters=(
            PACKAGE,
            LANGUAGE,
            VERSION,
            LOCKFILE,
            TARGET,
            Parameter("module", "string", "Path", default=""),
            Parameter("depth", "integer", "Levels", default=3, minimum=1, maximum=20),
            CURSOR,
        ),
        run=partial(_read_modules, library),
        output_schema=list_schema(node, total=COUNT),
    )


def _read_modules(library: Library, arguments: Mapping[str, Any]) -> Answer:
    from docstow.index.lookup import module_tree

    found = find_stowed(library, arguments["package"], arguments)
    index = library.index(found.snapshot, OUTLINE)
    nodes = module_tree(index, arguments["module"], arguments["depth"])
    page = paged(nodes, arguments["cursor"], found.snapshot.id)
    return Answer(provenance(found) | {"total": len(nodes)} | page)


def get_item_doc(library: Library) -> Tool:
    """Make the tool, bound to a library."""
    return Tool(
        name="get_item_doc",
        toolset="rust",
        title="Item documentation",
        description=(
            "One item's whole documentation, with signature and members. Any public path works. "
            "Not for finding a path (search_items). "
            'Example: {"item_path": "tokio::sync::Mutex::lock"}.'
        ),
        parameters=(
            Parameter("item_path", "string", "Public path", required=True, max_length=500),
            ANY_PACKAGE,
            LANGUAGE,
            VERSION,
            LOCKFILE,
            TARGET,
            Parameter(
                "max_tokens",
                "integer",
                "Budget",
                default=8000,
                minimum=100,
                maximum=25000,
                rare=True,
            ),
            CURSOR,
        ),
        run=partial(_read_item, library),
    )


def open_item(
    library: Library, arguments: Mapping[str, Any]
) -> tuple[ResolvedVersion, dict[str, str]]:
    """Return what answers for an item's path, and by URL the pages of all that it means.

    Args:
        library: where it is.
        arguments: those of ``get_item_doc``, checked.

    Raises:
        InvalidParameter: the path is none.
        ItemNotFound: there is no such item; with suggestions.
    """
    from docstow.index.lookup import find_items
    from docstow.index.render import item_page

    language = language_of(arguments)
    path = language.spelling.normalise(arguments["item_path"])
    if not path:
        raise InvalidParameter("item_path", "must be a path such as tokio::sync::Mutex")
    stowed = find_stowed(library, arguments["package"] or language.spelling.root(path), arguments)
    index = library.index(stowed.snapshot, PAGE)
    pages: dict[str, str] = {}
    for row in find_items(index, arguments["item_path"]):
        url = str(index.columns["url"][row])
        text = item_page(index, row, provenance_line(stowed, url))
        text += _in_the_guide(library, index, row)
        pages[url] = f"{pages[url]}\n---\n\n{text}" if url in pages else text
    return stowed, pages


def _in_the_guide(library: Library, index: Index, row: int) -> str:
    """Return what the package's guides say of an item, as the end of its page."""
    if library.guides is None or index.columns["kind"][row] == "page":
        return ""
    found = library.guides.mentions(index, row, _MOST_MENTIONS)
    lines = [
        f"- **{each.heading}**" + (f": {each.line}" if each.line else "") + f" ({each.place})"
        for each in found
    ]
    guide = library.guides.find(index.snapshot)
    if guide is not None and guide.notice:
        lines.append(f"- *{guide.notice}*")
    return "\n".join(["\n## In the guide\n", *lines, ""]) if lines else ""


def _read_item(library: Library, arguments: Mapping[str, Any]) -> Answer:
    stowed, pages = open_item(library, arguments)
    scope = f"{stowed.snapshot.id} {arguments['item_path']}"
    return page_answer("", "\n---\n\n".join(pages.values()), arguments, scope)


def find_implementations(library: Library) -> Tool:
    """Make the tool, bound to a library."""
    mark = {"type": "boolean"}
    names = {"type": "array", "items": TEXT}
    result = result_schema(
        {"type": TEXT, "trait": TEXT, "header": TEXT},
        derived=mark,
        blanket=mark,
        auto=mark,
        negative=mark,
        available=TEXT,
        covered=COUNT,
        covers=names,
        grouped=COUNT,
        sizes=TEXT,
        last_header=TEXT,
    )
    return Tool(
        name="find_implementations",
        toolset="rust",
        title="Implementations",
        description=(
            "All implementations of a trait in a crate, or all traits of a type; foreign ones "
            "too. Not for a trait's methods (get_item_doc). "
            'Example: {"package": "serde", "trait": "Deserialize"}.'
        ),
        parameters=(
            PACKAGE,
            Parameter("trait", "string", "Path or name", default="", max_length=500),
            Parameter("type", "string", "Path or name", default="", max_length=500),
            VERSION,
            LOCKFILE,
            TARGET,
            CURSOR,
        ),
        run=partial(_find_implementations, library),
        output_schema=list_schema(result, meant=names, total=COUNT, counts={"type": "object"}),
    )


def _find_implementations(library: Library, arguments: Mapping[str, Any]) -> Answer:
    from docstow.index.families import group_families
    from docstow.index.implementations import SORTS, find_by_trait, find_by_type

    trait, named = arguments["trait"].strip(), arguments["type"].strip()
    if bool(trait) == bool(named):
        raise InvalidParameter("trait", "give exactly one of trait and type")
    found = find_stowed(library, arguments["package"], arguments)
    index = library.index(found.snapshot, OUTLINE)
    by_trait = bool(trait)
    search = find_by_trait if by_trait else find_by_type
    meant, rows = search(index, trait or named)
    counts = Counter(each.sort for each in rows)
    answer = provenance(found) | {
        "meant": meant,
        "total": len(rows),
        "counts": {sort: counts[sort] for sort in SORTS if counts[sort]},
    }
    lib = str(index.columns["path"][0]).split("::")[0]
    if elsewhere := sorted({path.split("::")[0] for path in meant if "::" in path} - {lib}):
        note = f"only what {found.name} implements; see also the crates {', '.join(elsewhere)}"
        answer["notice"] = "; ".join([*caveats(found), note])
    scope = f"{found.snapshot.id}/{trait}/{named}"
    families = group_families(
        rows, lambda each: each.header, lambda each: (each.trait, each.sort, each.negative)
    )
    page = paged(families, arguments["cursor"], scope, _PER_PAGE)
    page["results"] = [_describe_family(each) for each in page["results"]]
    return Answer(answer | page)


def _describe_family(family: Family[Implementation]) -> dict[str, Any]:
    """Describe the smallest of a family, with the number of all, their sizes and the largest."""
    first, last = family.rows[0], family.rows[-1]
    if last is first:
        return _describe_implementation(first)
    covers = sorted({each for row in family.rows for each in row.covers})
    shown = _describe_implementation(replace(first, covers=tuple(covers)))
    if last.type != first.type:
        shown["type"] = f"{first.type} … {last.type}"
    largest = shortened(last.header, _LONGEST_HEADER)
    return shown | {"grouped": len(family.rows), "sizes": family.sizes, "last_header": largest}


def _describe_implementation(each: Implementation) -> dict[str, Any]:
    header = shortened(each.header, _LONGEST_HEADER)
    shown: dict[str, Any] = {"type": each.type, "trait": each.trait, "header": header}
    if each.sort != "written":
        shown[each.sort] = True
    if each.negative:
        shown["negative"] = True
    if each.available:
        shown["available"] = each.available
    if each.covers:
        shown |= {"covered": len(each.covers), "covers": list(each.covers[:_MOST_COVERED])}
    return shown
