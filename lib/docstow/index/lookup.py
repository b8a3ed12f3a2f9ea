"""From the path that a caller wrote to the rows that are meant, or to names that come near.

This room knows the slips people and models make in paths. It does not know how items are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from docstow.core.errors import ItemNotFound
from docstow.core.language_names import RUST, depth
from docstow.index.loaded import Index, PageIndex

# Pages that come near what a caller wrote, for when there is none of that name.


#: Suggestions below this similarity help nobody.
LEAST_PAGE_SCORE = 0.5


def near(indexes: Sequence[PageIndex], ref: str) -> list[dict[str, Any]]:
    """The pages whose title, path or URL is most like what was written, best first."""
    from rapidfuzz import fuzz, process

    scores: dict[tuple[int, int], float] = {}
    for number, index in enumerate(indexes):
        for name in ("title", "path", "url"):
            found = process.extract(
                ref,
                index.columns[name].tolist(),
                scorer=fuzz.ratio,
                processor=str.lower,
                score_cutoff=LEAST_PAGE_SCORE * 100,
                limit=MOST_SUGGESTIONS,
            )
            for _, score, row in found:
                scores[number, row] = max(score, scores.get((number, row), 0.0))
    best = sorted(scores, key=lambda place: (-scores[place], place))[:MOST_SUGGESTIONS]
    return [suggestion(indexes[number], row, scores[number, row] / 100) for number, row in best]


def suggestion(index: PageIndex, row: int, score: float) -> dict[str, Any]:
    """A page that may be meant."""
    return {
        "document_id": str(index.columns["id"][row]),
        "title": str(index.columns["title"][row]),
        "path": str(index.columns["path"][row]),
        "score": round(score, 3),
    }


#: Suggestions below this similarity help nobody.
LEAST_SCORE = 0.6


MOST_SUGGESTIONS = 5


#: What an item scores whose name is the one asked for, if it is one of several.
SAME_NAME = 1.0


def normalise(path: str) -> str:
    """A path as it is written in Rust, without what may surround it: ``Vec::<T>::new()``."""
    return RUST.normalise(path)


def find(index: Index, path: str) -> tuple[int, ...]:
    """Rows of the items that a path means.

    Tried in order: the path or an alias as written; the same below the crate's root; a tail that
    only one item has; any case, with ``-`` for ``_``.

    Raises:
        ItemNotFound: none of these; near names are suggested.
    """
    language = index.language
    wanted = language.normalise(path)
    root = _root(index)
    joint = language.separator
    head, _, tail = wanted.partition(joint)
    candidates = [wanted, f"{root}{joint}{wanted}"]
    if head.replace("-", "_") == root or head in {"crate", "self"}:
        candidates.insert(1, f"{root}{joint}{tail}" if tail else root)
    for candidate in candidates:
        if rows := index.find(candidate):
            return rows
    tails = {index.find(name) for name in index.names() if name.endswith(f"{joint}{wanted}")} - {()}
    if len(tails) == 1:
        return tails.pop()
    folded = {candidate.replace("-", "_").lower() for candidate in candidates}
    slips = [name for name in index.names() if name.lower() in folded]
    if slips and not tails:
        return index.find(slips[0])
    raise _not_found(index, wanted, root, {row for rows in tails for row in rows})


def _root(index: Index) -> str:
    """The module that holds the others."""
    if index.language.packaged:
        for row in index.rows_by_parent.get("", ()):
            if index.columns["kind"][row] == "module":
                return str(index.columns["path"][row])
    return index.language.root(str(index.columns["path"][0]))


def _not_found(index: Index, wanted: str, root: str, tails: set[int]) -> ItemNotFound:
    """What comes near, best first: items of that very name, then names that are spelt alike."""
    from rapidfuzz import fuzz, process

    language = index.language
    full = wanted if language.contains(root, wanted) else f"{root}{language.separator}{wanted}"
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
    ordered = sorted(scores, key=lambda name: (name not in first, -scores[name], depth(name), name))
    suggestions: list[dict[str, Any]] = [
        {"item_path": name, "score": scores[name]} for name in ordered[:MOST_SUGGESTIONS]
    ]
    version = index.snapshot.revision.version
    advice = "See the suggestions." if suggestions else "Look for it with search_items."
    return ItemNotFound(
        f"There is no item {wanted!r} in {root} {version}. {advice}", suggestions=suggestions
    )
