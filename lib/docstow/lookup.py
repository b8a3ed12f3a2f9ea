"""From the path that a caller wrote to the rows that are meant, or to names that come near.

This room knows the slips people and models make in paths. It does not know how items are shown.
"""

from __future__ import annotations

import re
from typing import Any

from docstow.errors import ItemNotFound
from docstow.index import Index

#: Suggestions below this similarity help nobody.
LEAST_SCORE = 0.6
MOST_SUGGESTIONS = 5

#: What an item scores whose name is the one asked for, if it is one of several.
SAME_NAME = 1.0

_GENERICS = re.compile(r"::<.*?>+|<[^<>]*>")


def normalise(path: str) -> str:
    """A path as it is written in Rust, without what may surround it: ``Vec::<T>::new()``."""
    path = path.strip().strip("`").strip()
    previous = ""
    while previous != path:
        previous, path = path, _GENERICS.sub("", path)
    path = path.removesuffix("()").removesuffix("!").replace(".", "::").replace("#", "::")
    path = re.sub(r"(?<![a-z0-9_])r::(?=[a-z])", "", path)
    return re.sub(r"\s*::\s*", "::", path).strip(":")


def find(index: Index, path: str) -> tuple[int, ...]:
    """Rows of the items that a path means.

    Tried in order: the path or an alias as written; the same below the crate's root; a tail that
    only one item has; any case, with ``-`` for ``_``.

    Raises:
        ItemNotFound: none of these; near names are suggested.
    """
    wanted = normalise(path)
    root = str(index.columns["path"][0]).split("::")[0]
    head, _, tail = wanted.partition("::")
    candidates = [wanted, f"{root}::{wanted}"]
    if head.replace("-", "_") == root or head in {"crate", "self"}:
        candidates.insert(1, f"{root}::{tail}" if tail else root)
    for candidate in candidates:
        if rows := index.find(candidate):
            return rows
    tails = {index.find(name) for name in index.names() if name.endswith(f"::{wanted}")} - {()}
    if len(tails) == 1:
        return tails.pop()
    folded = {candidate.replace("-", "_").lower() for candidate in candidates}
    slips = [name for name in index.names() if name.lower() in folded]
    if slips and not tails:
        return index.find(slips[0])
    raise _not_found(index, wanted, root, {row for rows in tails for row in rows})


def _not_found(index: Index, wanted: str, root: str, tails: set[int]) -> ItemNotFound:
    """What comes near, best first: items of that very name, then names that are spelt alike."""
    from rapidfuzz import fuzz, process

    full = wanted if wanted.split("::")[0] == root else f"{root}::{wanted}"
    near = process.extract(
        full,
        list(index.names()),
        scorer=fuzz.ratio,
        processor=str.lower,
        score_cutoff=LEAST_SCORE * 100,
        limit=MOST_SUGGESTIONS,
    )
    first = {str(index.columns["path"][row]) for row in tails}
    scores = dict.fromkeys(first, SAME_NAME)
    scores |= {name: round(score / 100, 3) for name, score, _ in near if name not in scores}
    ordered = sorted(
        scores, key=lambda name: (name not in first, -scores[name], name.count("::"), name)
    )
    suggestions: list[dict[str, Any]] = [
        {"item_path": name, "score": scores[name]} for name in ordered[:MOST_SUGGESTIONS]
    ]
    version = index.snapshot.revision.version
    advice = "See the suggestions." if suggestions else "Look for it with search_items."
    return ItemNotFound(
        f"There is no item {wanted!r} in {root} {version}. {advice}", suggestions=suggestions
    )
