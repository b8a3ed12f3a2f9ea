"""The tools that search crates and packages: for items, in one or several, and for examples."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from docstow import languages
from docstow.core.errors import InvalidParameter
from docstow.core.patterns import lazy_pattern
from docstow.index.item_page import HEADINGS
from docstow.index.render import item_docs
from docstow.library import ALL, EXAMPLES, OUTLINE, RANKED
from docstow.text.chunking import plain, sentences
from docstow.text.paging import CHARACTERS_PER_TOKEN
from docstow.tools import (
    TEXT,
    Answer,
    Tool,
    fit,
    json_size,
    list_schema,
    offset,
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
    PACKAGE,
    PACKAGES,
    TARGET,
    VERSION,
    Parameter,
    find_locked,
    find_stowed,
    language_of,
    with_lock_notice,
)

if TYPE_CHECKING:
    from docstow.core.model import Hit
    from docstow.embedding import Embedder
    from docstow.index.loaded import Index
    from docstow.index.search import ItemFilters, SearchedCrate
    from docstow.index.search_pages import ExampleHit
    from docstow.languages import Language, PackageName
    from docstow.library import Library, ResolvedVersion

_NAME_THEM = "name the packages that are wanted of it in packages"
#: Kinds as Rust's keywords and paths of rustdoc's pages name them.
_KEYWORDS = MappingProxyType({"fn": "function", "mod": "module"})
#: Longest header in a list, in characters; the page has the whole.
_LONGEST_HEADER = 400
#: The same of a header and a summary, of results behind one that has its docs.
_LONGEST_LINE = 160
#: Fewer characters of docs than these are not worth showing.
_LEAST_TEXT = 200
_WORD = lazy_pattern(r"[^\W_]+")
#: What of the room that is left the docs of the first result may take, of the second, and so on.
_DOCS_SHARES = (0.7, 1.0)
#: Examples that are looked through for one of an item.
_MOST_EXAMPLES = 20
#: JSON Schema of ``answered``: a version, or the crates of a search over several.
_ANSWERED = {
    "type": ["string", "array"],
    "items": {
        "type": "object",
        "properties": {"crate": TEXT, "version": TEXT, "snapshot": TEXT},
    },
}


def search_items(library: Library) -> Tool:
    """Make the tool, bound to a library."""
    item = result_schema(
        {
            "score": {"type": "number"},
            "item_path": TEXT,
            "item_type": TEXT,
            "header": TEXT,
            "url": TEXT,
        },
        snippet=TEXT,
        features={"type": "array", "items": TEXT},
        deprecated={"type": "boolean"},
        explanation={"type": "object"},
        crate=TEXT,
        version=TEXT,
        text=TEXT,
        example=TEXT,
    )
    return Tool(
        name="search_items",
        toolset="rust",
        title="Search crates",
        description=(
            "Finds a package's functions, types, traits and macros by meaning, name or "
            "signature; without package, in all stowed ones. The best has its docs and an "
            "example (max_tokens 0: none). Not for other docs (get_item_doc). "
            'Example: {"package": "tokio", "query": "run blocking code"}.'
        ),
        parameters=(
            Parameter("query", "string", "Purpose or name", default="", max_length=500),
            Parameter(
                "signature",
                "string",
                "A function's shape: Vec<T> -> &T",
                default="",
                max_length=500,
            ),
            ANY_PACKAGE,
            PACKAGES,
            LANGUAGE,
            VERSION,
            LOCKFILE,
            TARGET,
            Parameter(
                "k", "integer", "Results", default=4, minimum=1, maximum=50, aliases=("limit",)
            ),
            Parameter(
                "type_filter",
                "array",
                "Such as struct, method",
                choices=tuple(HEADINGS),
                synonyms=_KEYWORDS,
            ),
            Parameter("module", "string", "Path", default=""),
            Parameter("feature", "string", "Feature that turns it on", default="", rare=True),
            Parameter("has_examples", "boolean", rare=True),
            Parameter("deprecated", "boolean", rare=True),
            Parameter("max_tokens", "integer", "Budget", default=700, minimum=0, maximum=25000),
            CURSOR,
            Parameter("explain", "boolean", "Say why", default=False, rare=True),
        ),
        run=partial(_search_items, library),
        output_schema=list_schema(item, answered=_ANSWERED),
    )


def _search_items(library: Library, arguments: Mapping[str, Any]) -> Answer:
    from docstow.index.search import ItemFilters, SearchedCrate, search_items

    query, signature = arguments["query"].strip(), arguments["signature"].strip()
    if not query and not signature:
        raise InvalidParameter("query", "must say what is looked for; or give a signature")
    filters = ItemFilters(
        kinds=tuple(arguments["type_filter"] or ()),
        module=arguments["module"].strip(),
        feature=arguments["feature"].strip(),
        has_examples=arguments["has_examples"],
        deprecated=arguments["deprecated"],
    )
    if signature and language_of(arguments).packaged:
        raise InvalidParameter("signature", "is for Rust; say what it does in query")
    if not arguments["package"]:
        show = partial(_describe_hit, explain=arguments["explain"])
        return _search_several(library, arguments, query, filters, show, signature=signature)
    if arguments["packages"]:
        raise InvalidParameter("packages", "give either package or packages, not both")
    stowed, embedder = library.current(find_stowed(library, arguments["package"], arguments))
    tables: tuple[str, ...] = OUTLINE if signature and not query else RANKED
    if arguments["max_tokens"] and not arguments["cursor"]:
        tables += EXAMPLES
    index = library.index(stowed.snapshot, tables)
    limit = offset(arguments["cursor"], stowed.snapshot.id) + arguments["k"] + 1
    unknown_names: Sequence[str] = ()
    if signature:
        from docstow.index.signatures.search import search_by_signature

        found = search_by_signature(index, embedder, signature, query, limit=limit, filters=filters)
        hits, unknown_names = list(found.hits), found.unknown_names
    else:
        explain = arguments["explain"]
        hits = search_items(index, embedder, query, limit=limit, filters=filters, explain=explain)
    rows = [_describe_hit(index, hit, explain=arguments["explain"]) for hit in hits]
    page = paged(rows, arguments["cursor"], stowed.snapshot.id, arguments["k"])
    crate = SearchedCrate(index, embedder, 0.0)
    _open_first(page["results"], [(crate, hit) for hit in hits], arguments)
    answer = provenance(stowed) | page
    notices = [answer["notice"]] if "notice" in answer else []
    if unknown_names:
        unknown = ", ".join(unknown_names)
        notices.append(f"no type of {stowed.name}, read as variables: {unknown}")
    if not hits:
        notices.append(
            "no function has this shape; write _ for what may be any type"
            if signature
            else _explain_nothing(index, stowed.name, filters)
        )
    return Answer(answer | ({"notice": "; ".join(notices)} if notices else {}))


def _explain_nothing(index: Index, name: str, filters: ItemFilters) -> str:
    """Say why a search found nothing, and what there is instead."""
    if filters.module and not index.find(filters.module.removesuffix(index.language.separator)):
        return f"{name} has no module {filters.module}; get_module_tree lists those there are"
    features = {feature for row in range(len(index)) for feature in index.features(row)}
    if filters.feature and filters.feature not in features:
        known = ", ".join(sorted(features)) or "none"
        return f"no item of {name} needs the feature {filters.feature}; known are: {known}"
    if filters == type(filters)():
        return "no word of the query can be searched for; describe what the item does"
    kinds = ", ".join(sorted(set(index.columns["kind"].tolist())))
    return f"nothing passes the filters; {name} has these kinds: {kinds}"


def _describe_hit(index: Index, hit: Hit, *, explain: bool) -> dict[str, Any]:
    row = index.row(hit.path, hit.kind)
    result: dict[str, Any] = {
        "score": round(hit.score, 5),
        "item_path": hit.path,
        "item_type": hit.kind,
        "header": shortened(hit.signature, _LONGEST_HEADER),
        "snippet": hit.snippet,
        "url": hit.url,
    }
    if features := index.features(row):
        result["features"] = features
    if index.is_deprecated(row):
        result["deprecated"] = True
    if explain:
        result["explanation"] = dict(hit.details)
    return result


def _search_several(
    library: Library,
    arguments: Mapping[str, Any],
    query: str,
    filters: ItemFilters,
    result: Callable[[Index, Hit], dict[str, Any]],
    *,
    signature: str = "",
) -> Answer:
    """Search the crates that are named, or else the stowed ones that suit best; one list.

    Args:
        library: has their indexes.
        arguments: the call's, without a crate.
        query: what is looked for.
        filters: what may be in the list.
        result: shows a hit.
        signature: the shape of the functions that are looked for; the query may be empty then.
    """
    from docstow.index.search import SearchedCrate, search_across_crates

    chosen = _choose_crates(library, arguments, query or signature, filters)
    current = [library.current(stowed) for stowed, _ in chosen]
    stowed = [each for each, _ in current]
    indexes = library.indexes([each.snapshot for each in stowed])
    crates = [
        SearchedCrate(index, embedder, score)
        for index, (_, embedder), (_, score) in zip(indexes, current, chosen, strict=True)
    ]
    scope = _scope(stowed)
    limit = offset(arguments["cursor"], scope) + arguments["k"] + 1
    if signature:
        from docstow.index.signatures.search import search_crates_by_signature

        hits = search_crates_by_signature(crates, signature, query, limit=limit, filters=filters)
    else:
        hits = search_across_crates(crates, query, limit=limit, filters=filters)
    rows = [
        {"crate": stowed[found.crate].name, "version": stowed[found.crate].version}
        | result(indexes[found.crate], found.hit)
        for found in hits
    ]
    named = stowed if arguments["packages"] else []
    answer: dict[str, Any] = {
        "asked": ", ".join(f"{each.name} {each.asked}" for each in named) or ALL,
        "answered": [
            {"crate": each.name, "version": each.version, "snapshot": each.snapshot.id}
            for each in stowed
        ],
        "substituted": any(each.substituted for each in stowed),
    }
    notices = [f"{each.name}: {each.notice}" for each in stowed if each.notice]
    if not hits:
        notices.append(_explain_no_hits(stowed, filters))
    if notices:
        answer["notice"] = "; ".join(notices)
    page = paged(rows, arguments["cursor"], scope, arguments["k"])
    _open_first(page["results"], [(crates[each.crate], each.hit) for each in hits], arguments)
    return Answer(answer | page)


def _open_first(
    rows: list[dict[str, Any]],
    found: Sequence[tuple[SearchedCrate, Hit]],
    arguments: Mapping[str, Any],
) -> None:
    """Give the first results of the first page their docs, the best its example too.

    The others are shortened. All results together have ``max_tokens``; where these are 0 nothing
    is changed. Docs that are cut end in ``[…]``.

    Args:
        rows: the results, best first.
        found: the same, and where they are from.
        arguments: the call's.
    """
    limit = arguments["max_tokens"] * CHARACTERS_PER_TOKEN
    if not limit or arguments["cursor"]:
        return
    for each in rows[1:]:
        each["header"] = shortened(each["header"], _LONGEST_LINE)
        each["snippet"] = shortened(next(sentences(each["snippet"])), _LONGEST_LINE)
    for place, share in enumerate(_DOCS_SHARES[: len(rows)]):
        crate, hit = found[place]
        room = int((limit - json_size(rows)) * share)
        if room < _LEAST_TEXT:
            return
        row = rows[place]
        whole = row["header"] == hit.signature
        text = item_docs(crate.index, crate.index.row(hit.path, hit.kind), signature=not whole)
        example = ""
        if place == 0:
            query = arguments["query"] or hit.title
            example = find_example(crate.index, crate.embedder, query, hit)
        if example in text or json_size(example) > room // 2:
            example = ""
        else:
            row["example"] = example
            room -= json_size(example)
        row["text"] = fit(text, room)
        if _shows(row["text"], row["snippet"].strip("… ")):
            del row["snippet"]


def _shows(markdown: str, snippet: str) -> bool:
    """Return whether a text says what a snippet says, which is plain."""
    # Most show it as it is, or lack one of its words; only the others are parsed.
    if " ".join(snippet.split()) in " ".join(markdown.split()):
        return True
    if not set(_WORD.findall(snippet)) <= set(_WORD.findall(markdown)):
        return False
    return snippet in plain(markdown)


def find_example(index: Index, embedder: Embedder | None, query: str, item: Hit) -> str:
    """Return the code block that suits a query best, of an item or else with its name; or none."""
    from docstow.index.search_pages import search_examples

    row, codes = index.row(item.path, item.kind), index.examples["code"]
    found = search_examples([index], embedder, query, limit=_MOST_EXAMPLES)
    if own := next((str(codes[each.row]) for each in found if each.document == row), ""):
        return own
    name = re.compile(rf"\b{re.escape(item.title)}\b")
    # Most do not have it in any form, which a plain search tells many times faster.
    naming = (code for each in found if item.title in (code := str(codes[each.row])))
    return next(filter(name.search, naming), "")


def _choose_crates(
    library: Library, arguments: Mapping[str, Any], query: str, filters: ItemFilters
) -> list[tuple[ResolvedVersion, float]]:
    if arguments["version"]:
        raise InvalidParameter("version", "belongs to one package; name it in package")
    language, lockfile = language_of(arguments), arguments["lockfile"]
    target = arguments["target"].strip()
    named = [languages.parse_package(each, "packages") for each in arguments["packages"] or ()]
    if named:
        crates = [each for each in named if not (each.language or language).packaged]
        if target and len(crates) < len(named):
            raise InvalidParameter("target", "is for crates")
        if lockfile and len({each.language or language for each in named}) > 1:
            raise InvalidParameter("lockfile", "is of one language; name packages of that alone")
        found = _choose_named(library, crates, query, lockfile, target) if crates else []
        if len(crates) == len(named):
            return found
        # Only crates are scored by their cards: beside packages their hits are weighed alike.
        packages = (each for each in named if each not in crates)
        return [(each, 0.0) for each, _ in found] + [
            (find_stowed(library, each.name, _asked(each, language, lockfile)), 0.0)
            for each in dict.fromkeys(packages)
        ]
    if target:
        raise InvalidParameter("target", "belongs to named crates; name one in package")
    if not language.packaged:
        project: Mapping[str, str] = {}
        if lockfile:
            from docstow.languages.rust.cargo_lock import parse

            project = parse(lockfile).direct()
            if not project:
                reason = f"has nothing that a project needs; {_NAME_THEM}"
                raise InvalidParameter("lockfile", reason)
        return library.across(query, filters, project)
    if lockfile:
        raise InvalidParameter("lockfile", _NAME_THEM)
    stored = library.packages(language, query)
    if not stored:
        raise InvalidParameter("package", f"no {language.name} package is stowed yet; name one")
    return [(each, 0.0) for each in stored]


def _asked(named: PackageName, language: Language, lockfile: str) -> dict[str, Any]:
    """Return what a tool would be given of a package of several."""
    of = (named.language or language).name
    locks = "" if named.requirement else lockfile
    return {"version": named.requirement, "lockfile": locks, "language": of}


def _choose_named(
    library: Library, named: Sequence[PackageName], query: str, lockfile: str, target: str
) -> list[tuple[ResolvedVersion, float]]:
    once = {each.name.replace("-", "_"): each for each in named}.values()
    locks = {e.name: None if e.requirement else find_locked(lockfile, e.name) for e in once}
    wanted = {e.name: lock.version if (lock := locks[e.name]) else e.requirement for e in once}
    found = library.several(query, wanted, target)
    return [
        (with_lock_notice(stowed, lock), score)
        for (stowed, score), lock in zip(found, locks.values(), strict=True)
    ]


def _scope(stowed: Sequence[ResolvedVersion]) -> str:
    """Return what a cursor belongs to: these snapshots in this order."""
    identities = " ".join(each.snapshot.id for each in stowed)
    return hashlib.sha256(identities.encode()).hexdigest()[:16]


def _explain_no_hits(stowed: Sequence[ResolvedVersion], filters: ItemFilters) -> str:
    searched = ", ".join(each.name for each in stowed)
    if searched:
        return f"nothing passes the filters in {searched}; leave out type_filter or module"
    wanted = [f"items of the kinds {', '.join(filters.kinds)}"] if filters.kinds else []
    wanted += [f"the module {filters.module}"] if filters.module else []
    return f"no stowed crate has {' in '.join(wanted)}; name the crate, and it is stowed first"


def search_examples(library: Library) -> Tool:
    """Make the tool, bound to a library."""
    example = result_schema(
        {
            "score": {"type": "number"},
            "item_path": TEXT,
            "item_type": TEXT,
            "language": TEXT,
            "context": TEXT,
            "code": TEXT,
            "url": TEXT,
        }
    )
    return Tool(
        name="search_examples",
        toolset="rust",
        title="Code examples",
        description=(
            "Whole code examples from a package's docs, found by what they do. "
            'Example: {"package": "tokio", "query": "read lines from a socket"}.'
        ),
        parameters=(
            Parameter("query", "string", "Purpose or name", required=True, max_length=500),
            PACKAGE,
            replace(LANGUAGE, max_length=200, joined=True),
            VERSION,
            LOCKFILE,
            TARGET,
            Parameter(
                "k", "integer", "Results", default=3, minimum=1, maximum=20, aliases=("limit",)
            ),
            Parameter("code_language", "array", "Such as toml"),
            CURSOR,
        ),
        run=partial(_search_examples, library),
        output_schema=list_schema(example),
    )


def _search_examples(library: Library, arguments: Mapping[str, Any]) -> Answer:
    from docstow.index.search_pages import example_hit, search_examples

    query = arguments["query"].strip()
    if not query:
        raise InvalidParameter("query", "must say what the code should do")
    arguments, wanted = _code_languages(arguments)
    found, embedder = library.current(find_stowed(library, arguments["package"], arguments))
    index = library.index(found.snapshot, EXAMPLES)
    limit = offset(arguments["cursor"], found.snapshot.id) + arguments["k"] + 1
    spellings = [each for language in wanted for each in _code_marks(language)]
    ranked = search_examples([index], embedder, query, limit=limit, languages=spellings)
    results = [_describe_example(index, example_hit(each)) for each in ranked]
    answer = provenance(found) | paged(
        results, arguments["cursor"], found.snapshot.id, arguments["k"]
    )
    if not results:
        there = sorted(set(index.examples["language"].tolist()))
        nothing = f"no example; {found.name} has examples in: {', '.join(there) or 'none'}"
        answer["notice"] = "; ".join(filter(None, (answer.get("notice"), nothing)))
    return Answer(answer)


def _code_marks(language: str) -> tuple[str, ...]:
    """Return what code blocks of a language are marked with."""
    known = languages.of_name(language)
    return (known.examples if known is not None else ()) or (language,)


def _code_languages(arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[str]]:
    """Return the arguments with the package's language alone, and the code blocks' languages.

    What names no language of packages is one of code blocks: the parameter meant these before
    there was ``code_language``.

    Raises:
        InvalidParameter: it names packages of several languages.
    """
    words = [each.strip().lower() for each in arguments["language"].split(",") if each.strip()]
    named = list(dict.fromkeys(each for each in words if each in languages.names()))
    if len(named) > 1:
        raise InvalidParameter("language", "is the package's; name those of code in code_language")
    wanted = [each for each in words if each not in named]
    wanted += [each.lower() for each in arguments["code_language"] or ()]
    return {**arguments, "language": "".join(named)}, wanted


def _describe_example(index: Index, example: ExampleHit) -> dict[str, Any]:
    columns = index.columns
    return {
        "score": round(example.score, 5),
        "item_path": str(columns["path"][example.row]),
        "item_type": str(columns["kind"][example.row]),
        "language": example.language,
        "context": example.context,
        "code": example.code,
        "url": str(columns["url"][example.row]),
    }
