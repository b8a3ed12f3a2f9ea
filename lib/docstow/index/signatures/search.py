"""Search one or several loaded indexes for functions of a given shape."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from docstow.core.errors import InvalidParameter
from docstow.core.model import Hit
from docstow.index import cross_crate as federate
from docstow.index import ranking as rank
from docstow.index.loaded import Index
from docstow.index.search import Filters, allowed, search
from docstow.index.signatures.catalogue import MOST_ARGUMENTS
from docstow.index.signatures.cursor import BadSignature
from docstow.index.signatures.functions import query
from docstow.index.signatures.tree import Function, Type, Variable, nodes
from docstow.text import chunking as chunk

if TYPE_CHECKING:
    from docstow.embedding import Embedder
    from docstow.index.cross_crate import Part


# From the signature that a caller wrote to hits over one loaded index.


#: What another name than the one asked for counts, in units of distance.
OTHER_NAME = 0.5


#: What counts as little as another name: functions for nightly compilers or single processors.
REMOTE = 0.6


#: So many results of the words are fused with those of the shape.
BY_WORDS = 200


_ARCH = re.compile(r"(std|core)::(arch|intrinsics)::")


@dataclass(frozen=True, slots=True)
class Found:
    """What a signature brought up.

    Attributes:
        hits: best first.
        unbound: names that the crate does not have, read as variables.
    """

    hits: Sequence[Hit]
    unbound: Sequence[str]


def parsed(text: str) -> Function:
    """The shape that a caller asks for.

    Raises:
        InvalidParameter: what is wrong with the text, and where.
    """
    try:
        wanted = query(text)
    except BadSignature as error:
        raise InvalidParameter("signature", f"{error}: {text!r}") from error
    trees = [*wanted.inputs, *([wanted.output] if wanted.output is not None else [])]
    named = any(isinstance(node, Type) for tree in trees for node in nodes(tree))
    if not (named or any(isinstance(tree, Variable) and tree.name != "_" for tree in trees)):
        raise InvalidParameter("signature", "must name a type, such as (&str) -> Result<T, _>")
    if len(wanted.inputs) > MOST_ARGUMENTS:
        raise InvalidParameter("signature", f"has more than {MOST_ARGUMENTS} arguments")
    return wanted


def search_by_signature(
    index: Index,
    embedder: Embedder | None,
    signature: str,
    words: str = "",
    *,
    limit: int,
    filters: Filters | None = None,
) -> Found:
    """The functions that are shaped as asked, exact before approximate.

    Args:
        index: the loaded snapshot.
        embedder: as for :func:`docstow.index.search.search`.
        signature: such as ``Vec<T> -> Option<&T>``.
        words: if given, matches are ordered by reciprocal rank fusion with the search for these.
        limit: the largest number of hits.
        filters: what may be in the list.

    Raises:
        InvalidParameter: the signature cannot be read.
    """
    wanted = index.shapes.plain(parsed(signature), f"{index.columns['path'][0]}::")
    filters = filters or Filters()
    passing = allowed(index, filters)
    far = {
        row: each + _of_name(index, row, wanted.name) + _of_place(index, row)
        for row, each in index.shapes.catalogue.distances(wanted).items()
        if passing[row]
    }
    unbound = index.shapes.catalogue.unbound(wanted)
    if not words:
        hits = [_hit(index, row, far[row], _score(far[row])) for row in _nearest(index, far, limit)]
        return Found(hits, unbound)
    by_words = [
        row
        for hit in search(index, embedder, words, limit=BY_WORDS, filters=filters)
        if (row := index.row(hit.path, hit.kind)) in far
    ]
    places = {row: place for place, row in enumerate(by_words)}
    # Sorting keeps the order of equals; among those of one distance the words decide.
    rows = sorted(_nearest(index, far, len(far)), key=lambda row: places.get(row, BY_WORDS))
    rows.sort(key=lambda row: round(far[row], 6))
    lists = [np.array(rows, np.int64), np.array(by_words, np.int64)]
    fused = rank.reciprocal_rank_fusion(lists)[:limit]
    return Found([_hit(index, row, far[row], score) for row, score in fused], unbound)


def across(
    parts: Sequence[Part], signature: str, words: str = "", *, limit: int, filters: Filters
) -> list[federate.Found]:
    """The functions of several crates that are shaped as asked, exact before approximate.

    A crate that lacks a name which another has is left out: the name is no variable there.

    Args:
        parts: the crates.
        signature: such as ``Vec<T> -> Option<&T>``.
        words: as for :func:`search_by_signature`.
        limit: the largest number of hits.
        filters: what may be in the list.

    Raises:
        InvalidParameter: the signature cannot be read.
    """
    lists = []
    for number, part in enumerate(parts):
        found = search_by_signature(
            part.index, part.embedder, signature, words, limit=limit, filters=filters
        )
        lists.append((found.unbound, [federate.Found(hit, 0.0, number) for hit in found.hits]))
    fewest = min((len(unbound) for unbound, _ in lists), default=0)
    hits = [hit for unbound, found in lists if len(unbound) == fewest for hit in found]
    return sorted(hits, key=lambda found: -found.hit.score)[:limit]


def _nearest(index: Index, far: Mapping[int, float], limit: int) -> list[int]:
    """The nearest rows; only among those that may be shown is the order of equals worked out."""
    rounded = {row: round(each, 6) for row, each in far.items()}
    last = sorted(rounded.values())[:limit][-1] if rounded and limit else 0.0
    rows = [row for row, each in rounded.items() if each <= last]
    return sorted(rows, key=lambda row: (rounded[row], *_prominence(index, row)))[:limit]


def _of_name(index: Index, row: int, name: str) -> float:
    return OTHER_NAME if name not in {"", index.columns["title"][row]} else 0.0


def _of_place(index: Index, row: int) -> float:
    """What it counts that few can, or should, call a function."""
    text = index.columns["attributes"][row]
    if '"unstable"' in text and json.loads(text).get("stability", {}).get("level") == "unstable":
        return REMOTE
    return REMOTE if _ARCH.match(index.columns["path"][row]) else 0.0


def _score(far: float) -> float:
    return 1 / (1 + far)


def _prominence(index: Index, row: int) -> tuple[object, ...]:
    """Order among equals: what people use first."""
    columns = index.columns
    depth = columns["path"][row].count("::")
    return (
        bool(columns["deprecated"][row]),
        bool(columns["of_trait"][row]),
        -int(columns["in_degree"][row]),
        depth,
        row,
    )


def _hit(index: Index, row: int, far: float, score: float) -> Hit:
    columns = index.columns
    passage = int(index.first_passage[row])
    return Hit(
        path=str(columns["path"][row]),
        kind=str(columns["kind"][row]),
        title=str(columns["title"][row]),
        signature=str(columns["signature"][row]),
        heading_path=str(index.passages["heading_path"][passage]),
        snippet=chunk.snippet(str(index.passages["text"][passage]), ()),
        score=score,
        url=str(columns["url"][row]),
        details={"distance": round(far, 4)},
    )
