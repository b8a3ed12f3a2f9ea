"""Ranking: the best of a score, fused ranks, and a linear model over features of candidates.

The model's weights are fitted by ``tests/evaluation`` and kept as data in ``ranking.json``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from docstow.core.records import dataclass
from docstow.core.spelling import RUST, Spelling, depth
from docstow.index.related import related_terms
from docstow.text import bm25

Floats = NDArray[np.float64]


def top(scores: NDArray[Any], k: int) -> NDArray[np.int64]:
    """Return the rows of the ``k`` highest scores, best first; equal scores in row order.

    Args:
        scores: shape ``(n,)``, without NaN.
        k: how many rows are wanted; fewer come back where there are fewer.
    """
    k = min(k, len(scores))
    if k <= 0:
        return np.empty(0, dtype=np.int64)
    if k == len(scores):
        return (-scores).argsort(kind="stable")
    parted = scores.copy()
    parted.partition(len(scores) - k)
    # argpartition alone would choose freely among the rows that tie at the threshold.
    rows = (scores >= parted[len(scores) - k]).nonzero()[0]
    best: NDArray[np.int64] = rows[(-scores[rows]).argsort(kind="stable")[:k]]
    return best


def top_allowed(scores: NDArray[Any], allowed: NDArray[np.bool_], k: int) -> NDArray[np.int64]:
    """Return the ``k`` allowed rows of the highest scores, best first.

    Args:
        scores: shape ``(n,)``, without NaN.
        allowed: shape ``(n,)``; other rows are left out.
        k: how many rows are wanted.
    """
    rows = allowed.nonzero()[0]
    best: NDArray[np.int64] = rows[top(scores[rows], k)]
    return best


def best_passages(
    scores: NDArray[Any], first: NDArray[np.int64], best: NDArray[Any], rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the best passage of each of some documents, the first of equal ones.

    Args:
        scores: of all passages, in the order of their documents, without NaN.
        first: each document's first passage.
        best: each document's best score.
        rows: of documents.
    """
    begins = first[rows]
    last = rows + 1 == len(first)
    sizes = np.where(last, len(scores), first[np.where(last, rows, rows + 1)]) - begins
    numbers = np.arange(len(rows)).repeat(sizes)
    passages = np.arange(len(numbers)) + (begins - sizes.cumsum() + sizes)[numbers]
    found = (scores[passages] == best[rows][numbers]).nonzero()[0]
    of = numbers[found]
    firsts = np.ones(len(of), np.bool_)
    np.not_equal(of[1:], of[:-1], out=firsts[1:])
    chosen: NDArray[np.int64] = passages[found[firsts]]
    return chosen


def distinct(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the different rows of an array, in order.

    ``np.unique`` does the same and imports masked arrays for it, which nothing else needs.
    """
    ordered = np.sort(rows)
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def reciprocal_rank_fusion(
    rankings: Sequence[NDArray[np.int64]], *, k: int = 60
) -> tuple[NDArray[np.int64], Floats]:
    """Fuse rankings by the mean of ``(k + 1) / (k + rank)``, ranks counted from 1.

    The first row of all rankings has 1. But for a factor it is reciprocal rank fusion:
    G. V. Cormack, C. L. A. Clarke and S. Buettcher, "Reciprocal Rank Fusion outperforms Condorcet
    and individual Rank Learning Methods", SIGIR 2009, which also has k = 60.

    Args:
        rankings: each holds rows, best first, no row twice.
        k: the larger, the less the first ranks stand out.

    Returns:
        All rows that occur, best first, those of equal scores in their order; and the fused scores,
        above 0 and at most 1.
    """
    fused = np.zeros(1 + max([int(each.max(initial=-1)) for each in rankings], default=-1))
    for ranking in rankings:
        fused[ranking] += (k + 1) / (k + np.arange(1, len(ranking) + 1)) / len(rankings)
    rows = fused.nonzero()[0]
    scores = fused[rows]
    order = (-scores).argsort(kind="stable")
    return rows[order], scores[order]


def times_before(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often each value comes before its place."""
    order = values.argsort(kind="stable")
    ordered = values[order]
    places = np.arange(len(values))
    begins = np.ones(len(values), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    before = np.empty(len(values), np.int64)
    before[order] = places - np.maximum.accumulate(np.where(begins, places, 0))
    return before


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

_GROUP_NUMBERS = {name: number for number, name in enumerate(_GROUP_NAMES)}

_GROUP_FEATURES = tuple(f"is_{name}" for name in _GROUP_NAMES)

_ALL_GROUPS = np.arange(len(_GROUP_NAMES), dtype=np.int8)[:, np.newaxis]

#: What is known of items whatever is asked; of ``twin`` it is the word.
_FACTS = (
    *("depth", "in_degree", "members", "length", "bare", "example"),
    *("deprecated", "twin", "of_trait"),
)

_TWIN = _FACTS.index("twin")

#: Features that depend on the item alone, but for ``twin``.
ITEM_FEATURES = (*_FACTS, *_GROUP_FEATURES)

# Words that make a variant of an item when they begin or end its name: `get_mut` beside `get`.
_ENDINGS = ("mut", "ref", "unchecked", "exact", "raw", "owned", "once", "with", "by", "opt")

_CAMEL_ENDINGS = (*(each.capitalize() for each in _ENDINGS), "Async", "Sync")

_BEGINNINGS = ("try", "blocking", "poll", "unchecked", "into")


@dataclass(frozen=True, slots=True)
class Items:
    """The facts of items that ranking weighs, one entry for each; all are known when stowed.

    Attributes:
        kinds: the documents' kinds.
        paths: their paths.
        titles: their last names.
        bare: whether they have no first sentence.
        in_degree: how many other items mention them.
        members: how many documents they own.
        length: characters of their prose.
        example: whether their documentation has one.
        deprecated: whether they are.
        twins: the words that make them variants of plainer siblings; empty for those that are none.
        of_trait: whether they implement or belong to a trait.
    """

    kinds: Sequence[str]
    paths: Sequence[str]
    titles: Sequence[str]
    bare: NDArray[Any]
    in_degree: NDArray[Any]
    members: NDArray[Any]
    length: NDArray[Any]
    example: NDArray[Any]
    deprecated: NDArray[Any]
    twins: Sequence[str]
    of_trait: NDArray[Any]


@dataclass(frozen=True, slots=True)
class DescribedItems:
    """What ranking weighs of items whatever is asked, one entry for each.

    Attributes:
        titles: the last names.
        facts: a row for each of :data:`_FACTS`; ``twin`` has the numbers of words.
        groups: numbers of the kinds' groups; -1 for a kind that is of none.
        twin_words: the terms of the words that make them variants, by number; none for the first.
    """

    titles: NDArray[np.object_]
    facts: Floats
    groups: NDArray[np.int8]
    twin_words: Sequence[frozenset[str]]

    def take(self, rows: NDArray[np.int64]) -> DescribedItems:
        """Return some of the items."""
        return DescribedItems(
            self.titles[rows],
            self.facts[:, rows],
            self.groups[rows],
            self.twin_words,
        )


def describe_items(items: Items) -> DescribedItems:
    """Work out what of items is the same for every query."""
    words = ["", *sorted(set(items.twins) - {""})]
    numbers = {word: number for number, word in enumerate(words)}
    facts = (
        [depth(path) for path in items.paths],
        np.log1p(items.in_degree.astype(np.float64)),
        np.log1p(items.members.astype(np.float64)),
        np.log1p(items.length.astype(np.float64)),
        items.bare,
        items.example,
        items.deprecated,
        [numbers[twin] for twin in items.twins],
        items.of_trait,
    )
    groups = {kind: _GROUP_NUMBERS[group] for kind, group in _KIND_GROUPS.items()}
    return DescribedItems(
        np.array(items.titles, np.object_),
        np.array(facts, np.float64),
        np.array([groups.get(kind, -1) for kind in items.kinds], np.int8),
        [frozenset(bm25.tokens(word)) for word in words],
    )


@dataclass(frozen=True, slots=True)
class Matches:
    """How candidates match a query, one entry for each.

    Ranks count from 1 and are 0 for what is not in the list.

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
        guide_mention: how near a passage of a guide is that names the item; see
            :mod:`docstow.index.guide_mentions`.
        named: how well the query spells the item's name: 2 its path, 1 its title, less the
            beginning of its title, 0 not at all.
    """

    keyword: Floats
    keyword_best: float
    keyword_rank: NDArray[np.int64]
    cosine: Floats
    cosine_best: float
    vector_rank: NDArray[np.int64]
    anchor: Floats
    text_near: Floats
    name_near: Floats
    summary_near: Floats
    leaders: Floats
    related: Floats
    related_best: float
    related_rank: NDArray[np.int64]
    guide_mention: Floats
    named: Floats


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


def describe_candidates(
    items: DescribedItems, matches: Matches, terms: Collection[str]
) -> dict[str, Floats]:
    """Return every feature of candidates by name, each of shape ``(candidates,)``.

    Args:
        items: what is ranked.
        matches: how they match the query.
        terms: of the query.
    """
    return {**describe_matches(items, matches, terms), **_item_features(items)}


def describe_matches(
    items: DescribedItems, matches: Matches, terms: Collection[str]
) -> dict[str, Floats]:
    """Return those features that depend on the query; see :func:`describe_candidates`."""
    asked = frozenset(terms)
    # A query that has the word asks for the variant.
    unasked = [bool(words) and asked.isdisjoint(words) for words in items.twin_words]
    return {
        **_match_features(matches),
        **_title_features(items.titles.tolist(), asked),
        "twin": np.array(unasked, np.float64)[items.facts[_TWIN].astype(np.int64)],
    }


def weigh_items(items: DescribedItems, language: Spelling = RUST) -> Floats:
    """Return what items score whatever is asked: shape ``(items,)``.

    It and the score of the features of :func:`describe_matches` add up to that of all features.
    """
    return score_candidates(_item_features(items), language)


def _match_features(match: Matches) -> dict[str, Floats]:
    fusion = _closeness(match.keyword_rank, 60) + _closeness(match.vector_rank, 60)
    return {
        "fusion": fusion,
        "keyword_place": _closeness(match.keyword_rank, 10),
        "vector_place": _closeness(match.vector_rank, 10),
        "keyword": np.log1p(match.keyword),
        "keyword_share": _share(match.keyword, match.keyword_best),
        "cosine": match.cosine,
        "cosine_gap": match.cosine - match.cosine_best,
        "anchor": np.log1p(match.anchor),
        "text_near": match.text_near,
        "name_near": match.name_near,
        "summary_near": match.summary_near,
        "leaders": match.leaders,
        "related": np.log1p(match.related),
        "related_share": _share(match.related, match.related_best),
        "related_place": _closeness(match.related_rank, 10),
        "guide_mention": match.guide_mention,
        "named": match.named,
    }


def _closeness(ranks: NDArray[np.int64], k: int) -> Floats:
    """Return how near to the top of a list each is: ``k / (k + rank)``, or 0 if not in it."""
    return (ranks > 0) * (k / (k + ranks))


def _share(scores: Floats, best: float) -> Floats:
    return scores / best if best > 0 else np.zeros(len(scores))


def _title_features(titles: Sequence[str], terms: frozenset[str]) -> dict[str, Floats]:
    """Return how much of each title the query has: a word that it lacks makes another thing."""
    wider = terms | _related_to(terms)
    parts = list(map(_title_parts, titles))
    words = np.fromiter(map(len, parts), np.float64, len(parts))
    counts = np.maximum(words, 1)
    asked, related = (
        np.fromiter(map(len, map(each.intersection, parts)), np.float64, len(parts))
        for each in (terms, wider)
    )
    return {
        "title_asked": asked / counts,
        "title_related": related / counts,
        "title_words": words,
    }


@lru_cache(maxsize=1 << 14)
def _title_parts(title: str) -> frozenset[str]:
    """Return the terms of a title's words; the whole identifier is none of several."""
    whole, *parts = bm25.tokens(title) or [""]
    return frozenset(parts or [whole])


@lru_cache(maxsize=64)
def _related_to(terms: frozenset[str]) -> frozenset[str]:
    return frozenset(each for term in terms for each in related_terms(term))


def _item_features(items: DescribedItems) -> dict[str, Floats]:
    """Return the features that are the same for every query."""
    features = dict(zip(_FACTS, items.facts, strict=True))
    del features["twin"]
    groups = (items.groups == _ALL_GROUPS).astype(np.float64)
    return features | dict(zip(_GROUP_FEATURES, groups, strict=True))


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


def score_candidates(features: Mapping[str, Floats], language: Spelling = RUST) -> Floats:
    """Return the weighted sum of each candidate's features, shape ``(candidates,)``."""
    weights = feature_weights(language)
    known = [name for name in features if name in weights]
    described = np.array([features[name] for name in known])
    scores: Floats = np.array([weights[name] for name in known]) @ described
    return scores


@cache
def page_weights(*, with_fields: bool) -> Mapping[str, float]:
    """Return the fitted weight of each feature of a chunk of a page, and of the page itself.

    Args:
        with_fields: whether what pages are about is known; see
            :mod:`docstow.index.page_fields`.
    """
    tables: dict[str, dict[str, float]] = json.loads(WEIGHTS.read_text("utf-8"))
    return tables["page_fields" if with_fields else "pages"]
