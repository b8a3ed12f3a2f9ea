"""The tool ``find_implementations``: who implements a trait, what a type implements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.core.errors import InvalidParameter
from docstow.tools import Answer, Tool
from docstow.tools.answers import (
    COUNT,
    TEXT,
    caveats,
    list_schema,
    paged,
    provenance,
    result_schema,
    shortened,
)
from docstow.tools.crate_arguments import CRATE, CURSOR, LOCKFILE, VERSION, find_stowed
from docstow.tools.parameters import Parameter

if TYPE_CHECKING:
    from docstow.index.implementations import Implementation
    from docstow.library import Library

PER_PAGE = 50
#: Longest header, in characters; macros make some of several thousand.
HEADER = 1200
#: Types listed of those that one blanket implementation covers.
COVERED = 20


def tool(library: Library) -> Tool:
    """Make the tool, bound to a library."""
    mark = {"type": "boolean"}
    names = {"type": "array", "items": TEXT}
    result = result_schema(
        {"type": TEXT, "trait": TEXT, "header": TEXT},
        derived=mark,
        blanket=mark,
        auto=mark,
        negative=mark,
        covered=COUNT,
        covers=names,
    )
    return Tool(
        name="find_implementations",
        toolset="rust",
        title="Implementations",
        description=(
            "All implementations of a trait in a crate, or all traits of a type; foreign ones "
            "too. Not for a trait's methods (get_item_doc). "
            'Example: {"crate": "serde", "trait": "Deserialize"}.'
        ),
        parameters=(
            CRATE,
            Parameter("trait", "string", "", default="", max_length=500),
            Parameter("type", "string", "", default="", max_length=500),
            VERSION,
            LOCKFILE,
            CURSOR,
        ),
        run=partial(_find, library),
        output_schema=list_schema(result, meant=names, total=COUNT, counts={"type": "object"}),
    )


def _find(library: Library, arguments: Mapping[str, Any]) -> Answer:
    from docstow.index.implementations import SORTS, find_by_trait, find_by_type

    trait, named = arguments["trait"].strip(), arguments["type"].strip()
    if bool(trait) == bool(named):
        raise InvalidParameter("trait", "give exactly one of trait and type")
    found = find_stowed(library, arguments["crate"], arguments)
    index = library.index(found.snapshot)
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
    page = paged(rows, arguments["cursor"], scope, PER_PAGE)
    page["results"] = [_shown(each) for each in page["results"]]
    return Answer(answer | page)


def _shown(each: Implementation) -> dict[str, Any]:
    header = shortened(each.header, HEADER)
    shown: dict[str, Any] = {"type": each.type, "trait": each.trait, "header": header}
    if each.sort != "written":
        shown[each.sort] = True
    if each.negative:
        shown["negative"] = True
    if each.covers:
        shown |= {"covered": len(each.covers), "covers": list(each.covers[:COVERED])}
    return shown
