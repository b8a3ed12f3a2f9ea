"""Ranking: the best of a score, fused ranks, and a linear model over features of candidates.

The model's weights are fitted by ``tests/evaluation`` and kept as data in ``ranking.json``.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from docstow.core.spelling import RUST, Spelling, depth
from docstow.index.related import related_terms
from docstow.text import bm25


def top(scores: NDArray[Any], k: int) -> NDArray[np.int64]:
    """Return the rows of the ``k`` highest scores, best first; equal scores in row order.

    Args:
        scores: shape ``(n,)``, without NaN.
        k: how many rows are wanted; fewer come back where there are fewer.
    """
    k = min(k, len(scores))
    if k <= 0:
        return np.empty(0, dtype=np.int64)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    # argpartition alone would choose freely among the rows that tie at the threshold.
    above = np.flatnonzero(scores > threshold)
    level = np.flatnonzero(scores == threshold)[: k - len(above)]
    best = above[np.argsort(-scores[above], kind="stable")]
    return np.concatenate([best, level]).astype(np.int64)


def top_allowed(scores: NDArray[Any], allowed: NDArray[np.bool_], k: int) -> NDArray[np.int64]:
    """Return the ``k`` allowed rows of the highest scores, best first.

    Args:
        scores: shape ``(n,)``, without NaN.
        allowed: shape ``(n,)``; other rows are left out.
        k: how many rows are wanted.
    """
    rows = np.flatnonzero(allowed)
    best: NDArray[np.int64] = rows[top(scores[rows], k)]
    return best


def reciprocal_rank_fusion(
    rankings: Sequence[NDArray[np.int64]], *, k: int = 60
) -> list[tuple[int, float]]:
    """Fuse rankings by the mean of ``(k + 1) / (k + rank)``, ranks counted from 1.

    The first row of all rankings has 1. But for a factor it is reciprocal rank fusion:
    G. V. Cormack, C. L. A. Clarke and S. Buettcher, "Reciprocal Rank Fusion outperforms Condorcet
    and individual Rank Learning Methods", SIGIR 2009, which also has k = 60.

    Args:
        rankings: each holds rows, best first, no row twice.
        k: the larger, the less the first ranks stand out.

    Returns:
        All rows that occur, with their fused scores above 0 and at most 1, best first; equal
        scores in row order.
    """
    fused: defaultdict[int, float] = defaultdict(float)
    for ranking in rankings:
        for rank, row in enumerate(ranking.tolist(), start=1):
            fused[row] += (k + 1) / (k + rank) / len(rankings)
    return sorted(fused.items(), key=lambda item: (-item[1], item[0]))


class Scale(NamedTuple):
    """Where a score means an even chance, and how much of it multiplies the odds by e."""

    middle: float
    width: float


def calibrate(score: float, scale: Scale) -> float:
    """Return a score as a number from 0 to 1 that keeps the order of scores."""
    return 1 / (1 + math.exp(min((scale.middle - score) / scale.width, _MOST_EXPONENT)))


#: Keeps the exponential of a hopeless score finite.
_MOST_EXPONENT = 500.0

WEIGHTS = Path(__file__).parent / "ranking.json"

#: Kinds that share a feature; any other kind is the baseline.
_KIND_GROUPS = {
    "function": "function",
    "method": "method",
    "struct": "type",
    "enum": "type",
    "union": "type",
    "type_alias": "type",
    "class": "class",
    "interface": "type",
    "type": "type",
    "primitive": "type",
    "extern_type": "type",
    "trait": "trait",
    "trait_alias": "trait",
    "macro": "macro",
    "attribute_macro": "macro",
    "derive_macro": "macro",
    "module": "module",
    "variant": "variant",
    "field": "field",
    "attribute": "field",
    "property": "field",
    "assoc_type": "associated",
    "assoc_const": "associated",
    "constant": "constant",
    "static": "constant",
    "re-export": "pointer",
    "page": "page",
}


_GROUP_NAMES = tuple(sorted(set(_KIND_GROUPS.values())))

#: The features that tell of what group an item is, by the group.
_GROUP_FEATURES = {
    group: {f"is_{name}": float(group == name) for name in _GROUP_NAMES}
    for group in ("", *_GROUP_NAMES)
}

#: Features that depend on the item alone, but for ``twin``.
ITEM_FEATURES = (
    *("depth", "in_degree", "members", "length", "bare", "example"),
    *("deprecated", "twin", "of_trait"),
    *(f"is_{name}" for name in _GROUP_NAMES),
)

# Words that make a variant of an item when they begin or end its name: `get_mut` beside `get`.
_ENDINGS = ("mut", "ref", "unchecked", "exact", "raw", "owned", "once", "with", "by", "opt")

_CAMEL_ENDINGS = (*(each.capitalize() for each in _ENDINGS), "Async", "Sync")

_BEGINNINGS = ("try", "blocking", "poll", "unchecked", "into")


@dataclass(frozen=True, slots=True)
class Item:
    """The facts of an item that ranking weighs; all are known when it is indexed.

    Attributes:
        kind: the document's kind.
        path: its path.
        title: its last name.
        summary: its first sentence.
        in_degree: how many other items mention it.
        members: how many documents it owns.
        length: characters of its prose.
        example: whether its documentation has one.
        deprecated: whether it is.
        twin: the word that makes it a variant of a plainer sibling; empty if it is none.
        of_trait: whether it implements or belongs to a trait.
    """

    kind: str
    path: str
    title: str
    summary: str
    in_degree: int
    members: int
    length: int
    example: bool
    deprecated: bool
    twin: str
    of_trait: bool


@dataclass(frozen=True, slots=True)
class Match:
    """How a candidate matches a query; ranks count from 1 and are 0 where it is not in the list.

    Attributes:
        keyword: BM25's score.
        keyword_best: the best one of the query.
        keyword_rank: rank in the keyword list.
        cosine: product of the item's best vector with the query's.
        cosine_best: the best one of the query.
        vector_rank: rank in the vector list.
        anchor: BM25's score of what other texts say of the item.
        text_near: how much of the query words of its text mean, where words of like meaning count
            in part; see :mod:`docstow.index.near_words`.
        name_near: how much of it close words of its name mean.
        summary_near: how much of it words of its summary mean.
        leaders: cosine of the item's best passage with the mean of those of the query's first
            few items; see :func:`docstow.index.search.find_candidates`.
        related: BM25's score with related words; see :mod:`docstow.index.related`.
        related_best: the best one of the query.
        related_rank: rank in the list of related words.
        told: how near a passage of a guide is that names the item; see
            :mod:`docstow.index.told`.
        named: how well the query spells the item's name: 2 its path, 1 its title, less the
            beginning of its title, 0 not at all.
    """

    keyword: float
    keyword_best: float
    keyword_rank: int
    cosine: float
    cosine_best: float
    vector_rank: int
    anchor: float
    text_near: float
    name_near: float
    summary_near: float
    leaders: float
    related: float
    related_best: float
    related_rank: int
    told: float
    named: float


def twin_word(title: str, siblings: Collection[str]) -> str:
    """Return what makes a name a variant of a sibling's: ``try`` for ``try_send``, or ""."""
    for word in _ENDINGS:
        if title.endswith(f"_{word}") and title.removesuffix(f"_{word}") in siblings:
            return word
    if title[:1].islower() and "_" not in title:
        for word in _CAMEL_ENDINGS:
            if title.endswith(word) and title.removesuffix(word) in siblings:
                return word.lower()
    for word in _BEGINNINGS:
        if title.startswith(f"{word}_") and title.removeprefix(f"{word}_") in siblings:
            return word
    return ""


def describe_candidate(item: Item, match: Match, terms: Collection[str]) -> dict[str, float]:
    """Return every feature of a candidate by name.

    Args:
        item: what is ranked.
        match: how it matches the query.
        terms: of the query.
    """
    return {
        **_match_features(match),
        **_title_features(item.title, frozenset(terms)),
        **_item_features(item, terms),
    }


def _match_features(match: Match) -> dict[str, float]:
    ranks = (match.keyword_rank, match.vector_rank, match.related_rank)
    steep = [10 / (10 + rank) if rank else 0.0 for rank in ranks]
    return {
        "fusion": sum(60 / (60 + rank) for rank in ranks[:2] if rank),
        "keyword_place": steep[0],
        "vector_place": steep[1],
        "keyword": math.log1p(match.keyword),
        "keyword_share": match.keyword / match.keyword_best if match.keyword_best > 0 else 0.0,
        "cosine": match.cosine,
        "cosine_gap": match.cosine - match.cosine_best,
        "anchor": math.log1p(match.anchor),
        "text_near": match.text_near,
        "name_near": match.name_near,
        "summary_near": match.summary_near,
        "leaders": match.leaders,
        "related": math.log1p(match.related),
        "related_share": match.related / match.related_best if match.related_best > 0 else 0.0,
        "related_place": steep[2],
        "told": match.told,
        "named": match.named,
    }


def _title_features(title: str, terms: frozenset[str]) -> dict[str, float]:
    """Return how much of a title the query has: a word that it lacks makes another thing of it."""
    parts = _title_parts(title)
    count = max(len(parts), 1)
    return {
        "title_asked": len(parts & terms) / count,
        "title_related": len(parts & (terms | _related_to(terms))) / count,
        "title_words": float(len(parts)),
    }


@lru_cache(maxsize=1 << 14)
def _title_parts(title: str) -> frozenset[str]:
    """Return the terms of a title's words; the whole identifier is none of several."""
    whole, *parts = bm25.tokens(title) or [""]
    return frozenset(parts or [whole])


@lru_cache(maxsize=64)
def _related_to(terms: frozenset[str]) -> frozenset[str]:
    return frozenset(each for term in terms for each in related_terms(term))


def _item_features(item: Item, terms: Collection[str]) -> dict[str, float]:
    group = _KIND_GROUPS.get(item.kind, "")
    # A query that has the word asks for the variant.
    unasked = item.twin != "" and not set(bm25.tokens(item.twin)) & set(terms)
    return {
        "depth": float(depth(item.path)),
        "in_degree": math.log1p(item.in_degree),
        "members": math.log1p(item.members),
        "length": math.log1p(item.length),
        "bare": float(not item.summary),
        "example": float(item.example),
        "deprecated": float(item.deprecated),
        "twin": float(unasked),
        "of_trait": float(item.of_trait),
        **_GROUP_FEATURES[group],
    }


#: Weight of a name that the query spells: no other feature outweighs it.
_NAMED_WEIGHT = 10.0


@cache
def feature_weights(language: Spelling = RUST) -> Mapping[str, float]:
    """Return the fitted weight of each feature; one without a weight counts nothing.

    Packages have a table of their own: in Rust a type is rarely what is asked for, in Python a
    class often is, and what lies deep in a package is mostly internal. What counts for pages is
    chosen by questions that guides answer: those that the weights are fitted to have items alone
    for answers, and would put every guide last.
    """
    tables: dict[str, dict[str, float]] = json.loads(WEIGHTS.read_text("utf-8"))
    kind = "packages" if language.packaged else "crates"
    own = tables["packages" if language.packaged else "weights"]
    return {**own, "is_page": tables["guides"][kind], "named": _NAMED_WEIGHT}


def score_candidate(features: Mapping[str, float], language: Spelling = RUST) -> float:
    """Return the weighted sum of a candidate's features."""
    weights = feature_weights(language)
    # Most of the features that tell kinds apart are 0.
    return sum([weights.get(name, 0.0) * value for name, value in features.items() if value])


@cache
def page_weights() -> Mapping[str, float]:
    """Return the fitted weight of each feature of a chunk of a page, and of the page itself."""
    tables: dict[str, dict[str, float]] = json.loads(WEIGHTS.read_text("utf-8"))
    return tables["pages"]
