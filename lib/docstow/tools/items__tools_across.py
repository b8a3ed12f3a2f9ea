"""A search over several crates: which of them are searched, and how the answer says so.

This room knows the answer's shape. It does not know how crates are chosen or hits are fused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from docstow.core.errors import InvalidParameter
from docstow.core.language_names import RUST, Language
from docstow.library import ALL
from docstow.tools._tools_registry import Answer
from docstow.tools.answers import TEXT, offset, paged
from docstow.tools.crate_arguments import locked, spoken_in, told

if TYPE_CHECKING:
    from docstow.core.model import Hit
    from docstow.index.loaded import Index
    from docstow.index.search__search import Filters
    from docstow.library import Library, Stowed

#: JSON Schema of ``answered``: a version, or the crates of a search over several.
ANSWERED = {
    "type": ["string", "array"],
    "items": {
        "type": "object",
        "properties": {"crate": TEXT, "version": TEXT, "snapshot": TEXT},
    },
}


def search(
    library: Library,
    arguments: Mapping[str, Any],
    query: str,
    filters: Filters,
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
    from docstow.index import cross_crate as federate
    from docstow.index.signatures import _signatures as signatures

    chosen = _chosen(library, arguments, query or signature, filters)
    current = [library.current(stowed) for stowed, _ in chosen]
    stowed = [each for each, _ in current]
    indexes = library.indexes([each.snapshot for each in stowed])
    parts = [
        federate.Part(index, embedder, score)
        for index, (_, embedder), (_, score) in zip(indexes, current, chosen, strict=True)
    ]
    scope = _scope(stowed)
    limit = offset(arguments["cursor"], scope) + arguments["k"] + 1
    if signature:
        hits = signatures.across(parts, signature, query, limit=limit, filters=filters)
    else:
        hits = federate.across(parts, query, limit=limit, filters=filters)
    rows = [
        {"crate": stowed[found.part].name, "version": stowed[found.part].version}
        | result(indexes[found.part], found.hit)
        for found in hits
    ]
    named = stowed if arguments["crates"] else []
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
        notices.append(_nothing(stowed, filters))
    if notices:
        answer["notice"] = "; ".join(notices)
    return Answer(answer | paged(rows, arguments["cursor"], scope, arguments["k"]))


def _chosen(
    library: Library, arguments: Mapping[str, Any], query: str, filters: Filters
) -> list[tuple[Stowed, float]]:
    if arguments["version"]:
        raise InvalidParameter("version", "belongs to one crate; name it in crate")
    if (language := spoken_in(arguments)) is not RUST:
        return _packages(library, language, arguments["crates"] or (), query)
    names, lockfile = arguments["crates"] or (), arguments["lockfile"]
    if names:
        once = {name.replace("-", "_"): name for name in names}.values()
        locks = {name: locked(lockfile, name) for name in once}
        wanted = {name: lock.version if lock else "" for name, lock in locks.items()}
        found = library.several(query, wanted)
        return [
            (told(stowed, lock), score)
            for (stowed, score), lock in zip(found, locks.values(), strict=True)
        ]
    if lockfile:
        raise InvalidParameter("lockfile", "name the crates that are wanted of it in crates")
    return library.across(query, filters)


def _packages(
    library: Library, language: Language, names: Sequence[str], query: str
) -> list[tuple[Stowed, float]]:
    """Packages that are named, or those that are stowed; their hits are weighed alike."""
    if names:
        return [(library.package(language, name), 0.0) for name in dict.fromkeys(names)]
    found = library.packages(language, query)
    if not found:
        raise InvalidParameter("crate", f"no {language.name} package is stowed yet; name one")
    return [(each, 0.0) for each in found]


def _scope(stowed: Sequence[Stowed]) -> str:
    """What a cursor belongs to: these snapshots in this order."""
    identities = " ".join(each.snapshot.id for each in stowed)
    return hashlib.sha256(identities.encode()).hexdigest()[:16]


def _nothing(stowed: Sequence[Stowed], filters: Filters) -> str:
    searched = ", ".join(each.name for each in stowed)
    if searched:
        return f"nothing passes the filters in {searched}; leave out type_filter or module"
    wanted = [f"items of the kinds {', '.join(filters.kinds)}"] if filters.kinds else []
    wanted += [f"the module {filters.module}"] if filters.module else []
    return f"no stowed crate has {' in '.join(wanted)}; name the crate, and it is stowed first"
