"""The tool ``find_packages``: a package by what it is for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow import languages
from docstow.core.errors import InvalidParameter
from docstow.tools import TEXT, Answer, Tool, list_schema, result_schema
from docstow.tools.parameters import LANGUAGE, Parameter, language_of

if TYPE_CHECKING:
    from docstow.library.finding import Candidate, PackageFinder


def tool(open_finder: Callable[[], PackageFinder]) -> Tool:
    """Make the tool, bound to what finds packages."""
    result = result_schema(
        {"package": TEXT, "language": TEXT, "score": {"type": "number"}},
        description=TEXT,
        stowed=TEXT,
        installed=TEXT,
        rank={"type": "integer"},
    )
    return Tool(
        name="find_packages",
        toolset="rust",
        title="Find a package",
        description=(
            "Finds a package by purpose, of those stowed, installed or most used. Not for "
            "items (search_items). "
            'Example: {"query": "parse command lines", "language": "rust"}.'
        ),
        parameters=(
            Parameter("query", "string", "Purpose", required=True, max_length=500),
            LANGUAGE,
            Parameter(
                "limit", "integer", "Results", default=5, minimum=1, maximum=50, aliases=("k",)
            ),
        ),
        run=partial(_find, open_finder),
        output_schema=list_schema(result),
        open_world=False,
    )


def _find(open_finder: Callable[[], PackageFinder], arguments: Mapping[str, Any]) -> Answer:
    query = arguments["query"].strip()
    if not query:
        raise InvalidParameter("query", "must say what the package is for")
    chosen = languages.documented()
    if arguments["language"].strip():
        chosen = (language_of(arguments),)
    finder = open_finder()
    found = finder.find(query, chosen, arguments["limit"])
    best = max((score for _, score in found), default=1.0)
    notices = []
    if bare := [each.name for each in chosen if each.packaged and not finder.described(each)]:
        names = " ".join(f"{name}:1000" for name in bare)
        notices.append(
            f"most packages of {', '.join(bare)} are known by name alone; an operator gets"
            f" descriptions by: docstow ingest descriptions {names}"
        )
    if not found:
        notices.append("no package has a word of the query; say it in other words")
    return Answer(
        {
            "asked": query,
            "answered": ", ".join(each.name for each in chosen),
            "substituted": False,
            **({"notice": "; ".join(notices)} if notices else {}),
            "results": [_describe(each, score / max(best, 1.0)) for each, score in found],
            "cursor": None,
        }
    )


def _describe(each: Candidate, score: float) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "package": each.name,
        "language": each.language.name,
        "score": round(score, 4),
    }
    further = {
        "description": each.about,
        "stowed": each.stowed,
        "installed": each.installed,
        "rank": None if each.rank is None else each.rank + 1,
    }
    return shown | {name: value for name, value in further.items() if value}
