"""Search one or several loaded indexes for functions of a given signature."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from docstow.core.errors import InvalidParameter
from docstow.core.model import Hit
from docstow.index.loaded import Index
from docstow.index.ranking import reciprocal_rank_fusion
from docstow.index.search import CrateHit, ItemFilters, SearchedCrate, make_hit, search_items
from docstow.index.signatures.crate_signatures import MOST_ARGUMENTS
from docstow.index.signatures.functions import Function, Type, Variable, nodes, read_query
from docstow.index.signatures.syntax import BadSignature

if TYPE_CHECKING:
    from docstow.embedding import Embedder

#: What another name than the one asked for counts, in units of distance.
_OTHER_NAME = 0.5

#: What it counts that few can call a function: on nightly compilers or single processors only.
_SPECIALISED = 0.6

#: So many results of the words are fused with those of the signature.
_WORDS_DEPTH = 200

_ARCH = re.compile(r"(std|core)::(arch|intrinsics)::")


@dataclass(frozen=True, slots=True)
class SignatureHits:
    """The functions that a signature finds.

    Attributes:
        hits: best first.
        unknown_names: names that the crate does not have, read as variables.
    """

    hits: Sequence[Hit]
    unknown_names: Sequence[str]


def parse_query(text: str) -> Function:
    """Parse the signature that a caller asks for.

    Raises:
        InvalidParameter: the text cannot be read, or asks for nothing in particular.
    """
    try:
        wanted = read_query(text)
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
    filters: ItemFilters | None = None,
) -> SignatureHits:
    """Return the functions of a crate with that signature, exact before approximate.

    Args:
        index: the loaded snapshot.
        embedder: as for :func:`docstow.index.search.search_items`.
        signature: such as ``Vec<T> -> Option<&T>``.
        words: if given, matches are ordered by reciprocal rank fusion with the search for these.
        limit: the largest number of hits.
        filters: what may be in the list.

    Raises:
        InvalidParameter: the signature cannot be read.
    """
    signatures = index.signatures
    wanted = signatures.expand_aliases(parse_query(signature), f"{index.columns['path'][0]}::")
    filters = filters or ItemFilters()
    passing = filters.match(index)
    distances = {
        row: each + _name_distance(index, row, wanted.name) + _place_distance(index, row)
        for row, each in signatures.index.distances(wanted).items()
        if passing[row]
    }
    unknown_names = signatures.index.unknown_names(wanted)
    if not words:
        nearest = _nearest(index, distances, limit)
        hits = [_hit(index, row, distances[row], 1 / (1 + distances[row])) for row in nearest]
        return SignatureHits(hits, unknown_names)
    by_words = [
        row
        for hit in search_items(index, embedder, words, limit=_WORDS_DEPTH, filters=filters)
        if (row := index.row(hit.path, hit.kind)) in distances
    ]
    ranks = {row: rank for rank, row in enumerate(by_words)}
    # Sorting keeps the order of equals; among those of one distance the words decide.
    rows = _nearest(index, distances, len(distances))
    rows.sort(key=lambda row: ranks.get(row, _WORDS_DEPTH))
    rows.sort(key=lambda row: round(distances[row], 6))
    fused, scores = reciprocal_rank_fusion([np.array(rows, np.int64), np.array(by_words, np.int64)])
    best = zip(fused[:limit].tolist(), scores[:limit].tolist(), strict=True)
    hits = [_hit(index, row, distances[row], score) for row, score in best]
    return SignatureHits(hits, unknown_names)


def search_crates_by_signature(
    crates: Sequence[SearchedCrate],
    signature: str,
    words: str = "",
    *,
    limit: int,
    filters: ItemFilters,
) -> list[CrateHit]:
    """Return the functions of several crates with that signature, exact before approximate.

    A crate that lacks a name which another has is left out: the name is no variable there.

    Args:
        crates: to search.
        signature: such as ``Vec<T> -> Option<&T>``.
        words: as for :func:`search_by_signature`.
        limit: the largest number of hits.
        filters: what may be in the list.

    Raises:
        InvalidParameter: the signature cannot be read.
    """
    lists = []
    for number, crate in enumerate(crates):
        found = search_by_signature(
            crate.index, crate.embedder, signature, words, limit=limit, filters=filters
        )
        unknown = len(found.unknown_names)
        lists.append((unknown, [CrateHit(hit, 0.0, number) for hit in found.hits]))
    fewest = min((unknown for unknown, _ in lists), default=0)
    hits = [hit for unknown, found in lists if unknown == fewest for hit in found]
    return sorted(hits, key=lambda found: -found.hit.score)[:limit]


def _nearest(index: Index, distances: Mapping[int, float], limit: int) -> list[int]:
    """Return the nearest rows; the order of equals is worked out only among those."""
    rounded = {row: round(each, 6) for row, each in distances.items()}
    last = sorted(rounded.values())[:limit][-1] if rounded and limit else 0.0
    rows = [row for row, each in rounded.items() if each <= last]
    return sorted(rows, key=lambda row: (rounded[row], *_prominence(index, row)))[:limit]


def _name_distance(index: Index, row: int, name: str) -> float:
    return _OTHER_NAME if name not in {"", index.columns["title"][row]} else 0.0


def _place_distance(index: Index, row: int) -> float:
    """Return what it counts that few can, or should, call a function."""
    text = index.columns["attributes"][row]
    if '"unstable"' in text and json.loads(text).get("stability", {}).get("level") == "unstable":
        return _SPECIALISED
    return _SPECIALISED if _ARCH.match(index.columns["path"][row]) else 0.0


def _prominence(index: Index, row: int) -> tuple[object, ...]:
    """Return what sorts equals: what people use first."""
    columns = index.columns
    depth = columns["path"][row].count("::")
    return (
        bool(columns["deprecated"][row]),
        bool(columns["of_trait"][row]),
        -int(columns["in_degree"][row]),
        depth,
        row,
    )


def _hit(index: Index, row: int, distance: float, score: float) -> Hit:
    first = int(index.first_passage[row])
    return make_hit(index, row, first, (), score, {"distance": round(distance, 4)})
