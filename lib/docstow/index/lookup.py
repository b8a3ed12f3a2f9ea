"""Lookup of items by path, of the modules of a crate, and of pages by reference."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from docstow.core.errors import InvalidParameter, ItemNotFound
from docstow.core.patterns import lazy_pattern
from docstow.core.spelling import depth, disambiguated
from docstow.core.urls import canonical_url
from docstow.index.loaded import Index, page_key

MOST_SUGGESTIONS = 5

_SCHEME = lazy_pattern(r"https?://")

#: Items less similar than this to what was asked for are not suggested.
LEAST_ITEM_SCORE = 0.6

#: The same for pages.
_LEAST_PAGE_SCORE = 0.5

#: What an item scores whose name is the one asked for, if it is one of several.
_SAME_NAME_SCORE = 1.0


def find_items(index: Index, path: str) -> tuple[int, ...]:
    """Return the rows of the items that a path means.

    Tried in order: the path or an alias as written; the same below the crate's root; a tail that
    only one item has; any case, with ``-`` for ``_``. Types and traits come first; a
    disambiguator (``derive@serde::Serialize``, ``tokio::join!``) chooses among kinds.

    Raises:
        ItemNotFound: none of these; similar names are suggested.
    """
    language = index.language
    choice = language.choose(path)
    # The path of a page may have dots that are none of the language.
    named = index.find(path.strip()) if "/" in path else ()
    rows = named or _find_path(index, language.normalise(path))
    chosen = tuple(row for row in rows if of_kinds(index, row, choice.kinds))
    if not chosen and choice.word:
        raise _wrong_kind(index, choice.word, rows)
    return chosen or rows


def of_kinds(index: Index, row: int, kinds: Collection[str]) -> bool:
    """Return whether an item is of one of these kinds, if any are given; or re-exports such."""
    kind = str(index.columns["kind"][row])
    if not kinds or kind in kinds:
        return True
    if kind != "re-export":
        return False
    attributes = index.attributes(row)
    targets = (attributes, *attributes.get("further_targets", ()))
    return any(each.get("target_kind") in kinds for each in targets)


def spellings(index: Index, rows: Iterable[int]) -> list[tuple[str, str]]:
    """Return kind and path of items, the path with the disambiguator that chooses the item."""
    found = []
    for row in rows:
        kind, path = str(index.columns["kind"][row]), str(index.columns["path"][row])
        meant = _target_kind(index, row) if kind == "re-export" else kind
        shown = f"{kind} of a {meant}" if kind == "re-export" and meant else kind
        found.append((shown.replace("_", " "), disambiguated(path, meant)))
    return found


def _target_kind(index: Index, row: int) -> str:
    return str(index.attributes(row).get("target_kind", ""))


def _wrong_kind(index: Index, word: str, rows: Sequence[int]) -> ItemNotFound:
    found = spellings(index, rows)
    path = str(index.columns["path"][rows[0]])
    there = ", ".join(f"{kind} {spelt}" for kind, spelt in found)
    return ItemNotFound(
        f"There is no {word}@{path}, but {there}.",
        suggestions=[{"item_path": spelt, "score": _SAME_NAME_SCORE} for _, spelt in found],
    )


def _find_path(index: Index, wanted: str) -> tuple[int, ...]:
    """Return the rows of all items that a path without disambiguator means."""
    language = index.language
    root = _root(index)
    joint = language.separator
    head, _, tail = wanted.partition(joint)
    candidates = [wanted, f"{root}{joint}{wanted}"]
    if head.replace("-", "_") == root or head in {"crate", "self"}:
        candidates.insert(1, f"{root}{joint}{tail}" if tail else root)
    for candidate in candidates:
        if rows := index.find(candidate):
            return rows
    ends = {index.find(name) for name in index.names() if name.endswith(f"{joint}{wanted}")} - {()}
    if len(ends) == 1:
        return ends.pop()
    folded = {candidate.replace("-", "_").lower() for candidate in candidates}
    misspelt = [name for name in index.names() if name.lower() in folded]
    if misspelt and not ends:
        return index.find(misspelt[0])
    raise _item_not_found(index, wanted, root, {row for rows in ends for row in rows})


def list_modules(
    index: Index, module: str, depth: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a module's own facts, and the modules below it, in the order of paths.

    Args:
        index: the crate.
        module: path of the module to start at; the crate's root when empty.
        depth: how many levels below it are listed, from 1.

    Raises:
        ItemNotFound: there is no such item.
        InvalidParameter: the path is not a module.
    """
    paths = index.columns["path"]
    own = [_find_module(index, module)]
    found: list[dict[str, Any]] = []
    level = own
    for _ in range(depth):
        level = [
            child
            for row in level
            for child in index.rows_by_parent.get(str(paths[row]), ())
            if index.columns["kind"][child] == "module"
        ]
        found += [_entry(index, row) for row in level]
    facts = {
        "summary": str(index.columns["summary"][own[0]]),
        "url": str(index.columns["url"][own[0]]),
    }
    return facts, sorted(found, key=lambda entry: str(entry["path"]))


def module_tree(index: Index, module: str, depth: int) -> list[dict[str, Any]]:
    """Return a module and those below it, in the order of paths, with counts by kind of item.

    Args:
        index: the crate.
        module: path of the module to start at; the crate's root when empty.
        depth: how many levels below it are shown.

    Raises:
        ItemNotFound: there is no such item.
        InvalidParameter: the path is not a module.
    """
    nodes: list[dict[str, Any]] = []

    def visit(row: int, level: int) -> None:
        path = str(index.columns["path"][row])
        children = index.rows_by_parent.get(path, [])
        kinds = Counter(str(index.columns["kind"][child]) for child in children)
        if aliases := index.aliases_by_parent.get(path):
            kinds["re-export"] += len(aliases)
        nodes.append(
            {
                "path": path,
                "depth": level,
                "summary": str(index.columns["summary"][row]),
                "items": dict(sorted(kinds.items())),
            }
        )
        for child in children if level < depth else ():
            if index.columns["kind"][child] == "module":
                visit(child, level + 1)

    visit(_find_module(index, module), 0)
    return nodes


def find_pages(index: Index, ref: str) -> tuple[int, list[int]]:
    """Return how surely the pages of a reference are found, and their rows; more than one may be.

    Args:
        index: of a source of pages.
        ref: an id, URL or path, with or without fragment, slash or ``index.html`` at its end and
            suffix; a tail of one of these by whole segments; or the address that the page itself
            gives as canonical.

    Returns:
        3 for the id, URL or path as it is; 2 for another spelling of it; 1 for a tail; else 0.
    """
    bare = ref.strip().partition("#")[0]
    wanted = page_key(bare)
    if not wanted and "index" not in bare.casefold():
        return 0, []
    spellings = [ref, bare, unquote(bare), bare.removeprefix("./").strip("/")]
    with contextlib.suppress(InvalidParameter, ValueError):
        spellings.append(canonical_url(bare))
    for each in spellings:
        if (row := index.page_row(each)) is not None:
            return 3, [row]
    # A repository's file is known by the path of its published address too.
    path = wanted.partition("/")[2] if _SCHEME.match(bare) else ""
    names = [wanted, path] if path else [wanted]
    keys = index.rows_by_page_key
    for name in [form for each in names for form in (each, each.casefold())]:
        if rows := keys.get(name):
            return 2, sorted(rows)
    for name in filter(None, map(str.casefold, names)):
        if rows := {row for key in keys if key.endswith(f"/{name}") for row in keys[key]}:
            return 1, sorted(rows)
    return 0, []


def suggest_pages(indexes: Sequence[Index], ref: str) -> list[dict[str, Any]]:
    """Return the pages whose title, path or URL is most similar to a reference, best first."""
    scores: dict[tuple[int, int], float] = {}
    for number, index in enumerate(indexes):
        for name in ("title", "path", "url"):
            names = dict(enumerate(index.columns[name].tolist()))
            for row, score in find_similar(ref, names, _LEAST_PAGE_SCORE):
                scores[number, row] = max(score, scores.get((number, row), 0.0))
    best = sorted(scores, key=lambda place: (-scores[place], place))[:MOST_SUGGESTIONS]
    return [page_suggestion(indexes[number], row, scores[number, row]) for number, row in best]


def page_suggestion(index: Index, row: int, score: float) -> dict[str, Any]:
    """Return a page as a suggestion."""
    return {
        "document_id": str(index.columns["id"][row]),
        "title": str(index.columns["title"][row]),
        "path": str(index.columns["path"][row]),
        "score": round(score, 3),
    }


def find_similar(wanted: str, names: Mapping[Any, str], least: float) -> list[tuple[Any, float]]:
    """Return the keys of the names most similar to a text, with their scores, best first.

    Args:
        wanted: the text; case makes no difference.
        names: by their keys.
        least: the least score; scores are rapidfuzz's ratio, from 0 to 1.
    """
    from rapidfuzz import fuzz, process

    found = process.extract(
        wanted,
        names,
        scorer=fuzz.ratio,
        processor=str.lower,
        score_cutoff=least * 100,
        limit=MOST_SUGGESTIONS,
    )
    return [(key, score / 100) for _, score, key in found]


def _root(index: Index) -> str:
    """Return the path of the module that holds the others."""
    if index.language.packaged:
        for row in index.rows_by_parent.get("", ()):
            if index.columns["kind"][row] == "module":
                return str(index.columns["path"][row])
    return index.language.root(str(index.columns["path"][0]))


def _item_not_found(index: Index, wanted: str, root: str, same_name: set[int]) -> ItemNotFound:
    """Suggest the items of that very name, then those of similar names, best first."""
    language = index.language
    full = wanted if language.contains(root, wanted) else f"{root}{language.separator}{wanted}"
    first = {str(index.columns["path"][row]) for row in same_name}
    scores = dict.fromkeys(first, _SAME_NAME_SCORE)
    for name, score in find_similar(full, {name: name for name in index.names()}, LEAST_ITEM_SCORE):
        scores.setdefault(name, round(score, 3))
    ordered = sorted(scores, key=lambda name: (name not in first, -scores[name], depth(name), name))
    suggestions: list[dict[str, Any]] = [
        {"item_path": name, "score": scores[name]} for name in ordered[:MOST_SUGGESTIONS]
    ]
    version = index.snapshot.revision.version
    advice = "See the suggestions." if suggestions else "Look for it with search_items."
    return ItemNotFound(
        f"There is no item {wanted!r} in {root} {version}. {advice}", suggestions=suggestions
    )


def _find_module(index: Index, path: str) -> int:
    """Return the row of a module; of the crate's root when the path is empty."""
    start = find_items(index, path) if path else index.rows_by_parent[""]
    for row in start:
        if index.columns["kind"][row] == "module":
            return row
    raise InvalidParameter("module", f"{path} is not a module; read it with get_item_doc")


def _entry(index: Index, row: int) -> dict[str, Any]:
    path = str(index.columns["path"][row])
    return {
        "path": path,
        "summary": str(index.columns["summary"][row]),
        "items": len(index.rows_by_parent.get(path, ()))
        + len(index.aliases_by_parent.get(path, ())),
    }
