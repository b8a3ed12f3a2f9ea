"""The tool ``search_examples``: whole code blocks of a crate's docs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow import languages
from docstow.core.errors import (
    CrateNotDocumented,
    CrateNotFound,
    InvalidParameter,
    PackageNotFound,
    UpstreamError,
    UpstreamTimeout,
)
from docstow.tools import Answer, Tool
from docstow.tools.answers import TEXT, list_schema, offset, paged, provenance, result_schema
from docstow.tools.crate_arguments import CRATE, CURSOR, LOCKFILE, VERSION, find_stowed
from docstow.tools.parameters import Parameter

if TYPE_CHECKING:
    from docstow.index.loaded import Index
    from docstow.index.search import ExampleHit
    from docstow.library import Library, ResolvedVersion


def tool(library: Library) -> Tool:
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
            "Whole code examples from a crate's docs, found by what they do. Not for "
            "signatures (search_items). "
            'Example: {"crate": "tokio", "query": "read lines from a socket"}.'
        ),
        parameters=(
            Parameter("query", "string", "", required=True, max_length=500),
            CRATE,
            VERSION,
            LOCKFILE,
            Parameter("k", "integer", "", default=3, minimum=1, maximum=20),
            Parameter("language", "array", ""),
            CURSOR,
        ),
        run=partial(_search, library),
        output_schema=list_schema(example),
    )


def _search(library: Library, arguments: Mapping[str, Any]) -> Answer:
    from docstow.index.search import search_examples

    query = arguments["query"].strip()
    if not query:
        raise InvalidParameter("query", "must say what the code should do")
    wanted = [language.lower() for language in arguments["language"] or ()]
    found, embedder = library.current(_find_documented(library, arguments, wanted))
    index = library.index(found.snapshot)
    limit = offset(arguments["cursor"], found.snapshot.id) + arguments["k"] + 1
    spellings = [each for language in wanted for each in _marks(language)]
    examples = search_examples([index], embedder, query, limit=limit, languages=spellings)
    results = [_result(index, example) for example in examples]
    answer = provenance(found) | paged(
        results, arguments["cursor"], found.snapshot.id, arguments["k"]
    )
    if not results:
        there = sorted(set(index.examples["language"].tolist()))
        nothing = f"no example; {found.name} has examples in: {', '.join(there) or 'none'}"
        answer["notice"] = "; ".join(filter(None, (answer.get("notice"), nothing)))
    return Answer(answer)


def _marks(language: str) -> tuple[str, ...]:
    """Return what code blocks of a language are marked with."""
    known = languages.of_name(language)
    return (known.examples if known is not None else ()) or (language,)


def _find_documented(
    library: Library, arguments: Mapping[str, Any], wanted: Sequence[str]
) -> ResolvedVersion:
    """Find the package of the wanted language; a crate's docs have other languages too."""
    crate = {**arguments, "language": ""}
    if not (known := [each for each in wanted if each in languages.names()]):
        return find_stowed(library, arguments["crate"], crate)
    try:
        return find_stowed(library, arguments["crate"], {**arguments, "language": known[0]})
    except PackageNotFound as miss:
        try:
            return find_stowed(library, arguments["crate"], crate)
        except (CrateNotFound, CrateNotDocumented, UpstreamError, UpstreamTimeout):
            raise miss from None


def _result(index: Index, example: ExampleHit) -> dict[str, Any]:
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
