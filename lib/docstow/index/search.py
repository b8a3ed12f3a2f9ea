"""Search for items: in a loaded snapshot, and over several crates.

Items are ranked by a linear model over features of each candidate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import Hit
from docstow.core.records import dataclass
from docstow.index.guide_mentions import find_guide_mentions
from docstow.index.loaded import Index, fold_title
from docstow.index.lookup import of_kinds
from docstow.index.ranking import (
    DescribedItems,
    Floats,
    Items,
    Matches,
    Scale,
    best_passages,
    calibrate,
    describe_candidates,
    describe_items,
    describe_matches,
    feature_weights,
    score_candidates,
    top_allowed,
    weigh_items,
)
from docstow.index.related import related_terms
from docstow.text import bm25
from docstow.text.chunking import snippet

if TYPE_CHECKING:
    from docstow.embedding import Embedder

#: How many of each list become candidates.
_ITEM_DEPTH = 60
_ANCHOR_DEPTH = 30

#: So many candidates show what the others must be like; they are first by cosine, to which the
#: share of the best keyword score adds so much.
_LEADERS = 3
_LEADER_SHARE = 0.3

#: Scales of the model's scores in one crate, and of those that are fused over several: fitted to
#: which of the first ten hits answer the development questions (Platt, 1999).
ITEM_SCALE = Scale(7.95, 1.74)
ACROSS_SCALE = Scale(5.72, 0.83)

#: A word that the crate does not have is read as the nearest one that it has, from this
#: similarity on: 0 to 1, by rapidfuzz's Damerau-Levenshtein ratio.
_LEAST_SIMILARITY = 0.8

#: What so many words of queries are read as is kept for an index.
_KEPT_WORDS = 512

_LETTERS = re.compile(r"([A-Za-z_]+)")

#: A name of more words than this and one is rare; a question that short is not.
_MOST_SPACES = 2


@dataclass(frozen=True, slots=True)
class ItemFilters:
    """Which items may be in the list; a filter that is empty or None lets everything pass.

    Attributes:
        kinds: kinds of documents.
        module: paths must lie in it, or be re-exported by it.
        feature: a feature that the item requires.
        has_examples: whether the item's docs have a code block.
        deprecated: whether the item is deprecated.
    """

    kinds: Collection[str] = ()
    module: str = ""
    feature: str = ""
    has_examples: bool | None = None
    deprecated: bool | None = None

    def match(self, index: Index) -> NDArray[np.bool_]:
        """Return for each document whether it may be in the list."""
        columns = index.columns
        passing = np.ones(len(index), np.bool_)
        if self.kinds:
            passing &= np.isin(columns["kind"].astype(str), list(self.kinds))
        else:
            # They have all words of a package; who wants pages asks for them.
            passing[index.changelogs] = False
        if self.module:
            prefix = self.module.removesuffix(index.language.separator)
            inside = np.array([index.language.contains(prefix, each) for each in columns["path"]])
            for alias in index.aliases_by_parent.get(prefix, ()):
                inside[list(index.find(alias))] = True
            passing &= inside
        if self.has_examples is not None:
            passing &= (columns["examples"] > 0) == self.has_examples
        if self.deprecated is not None:
            passing &= columns["deprecated"].astype(np.bool_) == self.deprecated
        if self.feature:
            required = [self.feature in index.features(row) for row in range(len(index))]
            passing &= np.array(required, np.bool_)
        return passing


#: Lets everything pass but changelogs.
_ANY = ItemFilters()


@dataclass(frozen=True, slots=True)
class Candidates:
    """The items that may answer a query, before they are sorted.

    Attributes:
        terms: the query's terms.
        similarity: product of every passage's vector with the query's.
        lists: rows of each list, best first: ``keyword``, ``vector``, ``anchor``, ``related``,
            ``guide_mention`` and ``name``.
        rows: those of any list, in their order.
        items: what is known of each row whatever is asked.
        matches: how each row matches the query.
        scores: of each row.
    """

    terms: list[str]
    similarity: NDArray[np.float32]
    lists: Mapping[str, NDArray[np.int64]]
    rows: NDArray[np.int64]
    items: DescribedItems
    matches: Matches
    scores: Floats

    @property
    def ranks(self) -> Mapping[str, NDArray[np.int64]]:
        """Each row's rank in each list, counted from 1; 0 where it is not in it."""
        return {name: _ranks(each, self.rows) for name, each in self.lists.items()}

    @property
    def features(self) -> Mapping[str, Floats]:
        """The features by name, each of shape ``(rows,)``; their weighted sums are the scores."""
        return describe_candidates(self.items, self.matches, self.terms)


def search_items(
    index: Index,
    embedder: Embedder | None,
    query: str,
    *,
    limit: int,
    filters: ItemFilters | None = None,
    explain: bool = True,
) -> list[Hit]:
    """Return the best items for a query, best first.

    Candidates come from BM25F over the documents, in the query's words and in related ones
    (:mod:`docstow.index.related`), and over what other texts say of them
    (:mod:`docstow.index.anchors`), exact cosine over their passages, what the nearest passages of
    guides name (:mod:`docstow.index.guide_mentions`), and names that the query spells. They are
    sorted by a linear model over the features of :mod:`docstow.index.ranking`, of which reciprocal
    rank fusion (k = 60; Cormack, Clarke and Büttcher, SIGIR 2009) is one.

    Args:
        index: the loaded snapshot.
        embedder: the model that made the index's vectors; None: words alone count.
        query: what is looked for; a sentence, an identifier, a path or an error code.
        limit: the largest number of hits.
        filters: what may be in the list.
        explain: whether hits have details of their scores.
    """
    found = find_candidates(index, embedder, query, filters or _ANY)
    best = (-found.scores).argsort(kind="stable")[:limit]
    scores = [calibrate(each, ITEM_SCALE) for each in found.scores[best].tolist()]
    return [
        _item_hit(index, place, score, found, explain=explain)
        for place, score in zip(best.tolist(), scores, strict=True)
    ]


def find_candidates(
    index: Index, embedder: Embedder | None, query: str, filters: ItemFilters
) -> Candidates:
    """Return all items that may answer a query, with the features that ranking weighs."""
    choice = index.language.choose(query)
    if choice.word:
        query = choice.path
        filters = replace(filters, kinds=filters.kinds or {*choice.kinds, "re-export"})
    query = _correct_spelling(index, query)
    terms = index.profile.query_terms(query)
    passing, everything = _passing(index, filters)

    def allowed(scores: NDArray[np.float32]) -> NDArray[np.float32]:
        return scores if everything else np.where(passing, scores, 0)

    similarity = np.zeros(len(index.passages["document"]), np.float32)
    if embedder is not None:
        similarity = index.matrix @ embedder.embed_query(query)
    vector = np.maximum.reduceat(similarity, index.first_passage)
    keyword = allowed(bm25.score(index.postings, terms, len(index)))
    anchor = allowed(bm25.score(index.anchor_postings, terms, len(index)))
    akin = allowed(index.related_scores.score(terms))
    mentioned = {
        row: near for row, near in find_guide_mentions(index, similarity).items() if passing[row]
    }
    named = {row: quality for row, quality in _find_named(index, query).items() if passing[row]}
    lists = {
        "keyword": top_allowed(keyword, keyword > 0, _ITEM_DEPTH),
        "vector": top_allowed(vector, passing & (vector != 0), _ITEM_DEPTH),
        "anchor": top_allowed(anchor, anchor > 0, _ANCHOR_DEPTH),
        "related": top_allowed(akin, akin > 0, _ITEM_DEPTH),
        "guide_mention": _best(mentioned)[:_ITEM_DEPTH],
        "name": _best(named),
    }
    listed = np.zeros(len(index), np.bool_)
    for each in lists.values():
        listed[each] = True
    rows = listed.nonzero()[0]
    none = np.zeros(len(rows), np.float32)
    text_near, name_near, summary_near, leaders = none, none, none, none
    if not index.language.packaged and len(rows):
        # For packages they add nothing to related words, and cost as much as all the rest.
        if terms:
            text_near, name_near, summary_near = _near_query(index, terms, rows)
        if embedder is not None:
            leaders = _near_leaders(index, rows, vector, keyword, similarity)
    best = [float(each.max(initial=0.0)) for each in (keyword, vector, akin)]
    matches = Matches(
        keyword=keyword[rows].astype(np.float64),
        keyword_best=best[0],
        keyword_rank=_ranks(lists["keyword"], rows),
        cosine=vector[rows].astype(np.float64),
        cosine_best=best[1],
        vector_rank=_ranks(lists["vector"], rows),
        anchor=anchor[rows].astype(np.float64),
        text_near=text_near.astype(np.float64),
        name_near=name_near.astype(np.float64),
        summary_near=summary_near.astype(np.float64),
        leaders=leaders.astype(np.float64),
        related=akin[rows].astype(np.float64),
        related_best=best[2],
        related_rank=_ranks(lists["related"], rows),
        guide_mention=_spread(mentioned, rows),
        named=_spread(named, rows),
    )
    described, worth = _described(index)
    items = described.take(rows)
    scores = worth[rows] + score_candidates(describe_matches(items, matches, terms), index.language)
    return Candidates(terms, similarity, lists, rows, items, matches, scores)


def _passing(index: Index, filters: ItemFilters) -> tuple[NDArray[np.bool_], bool]:
    """Return which items filters let pass, and whether all do; kept for what has no filter."""
    found: tuple[NDArray[np.bool_], bool] | None = None
    if filters == _ANY:
        found = index.made.get(ItemFilters)
    if found is None:
        passing = filters.match(index)
        found = passing, bool(passing.all())
        if filters == _ANY:
            index.made[ItemFilters] = found
    return found


def _spread(scores: Mapping[int, float], rows: NDArray[np.int64]) -> Floats:
    """Return the score of each row; 0 for one without."""
    if not scores:
        return np.zeros(len(rows))
    return np.array([scores.get(row, 0.0) for row in rows.tolist()])


def _near_query(
    index: Index, terms: Sequence[str], rows: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Return how much of a query the words of items mean: of texts, names and summaries, 0 to 1.

    Similarities to words of names are cubed, so that only close words count. Those to words of
    summaries count as they are: an author says the same in other words.
    """
    near = index.near_words
    asked, shares = near.weigh(terms)
    best = index.near_items.compare(asked, rows)
    names, summaries = best[:, 0] ** 3, np.ascontiguousarray(best[:, 1])
    return near.in_texts(asked, shares, rows), shares @ names, shares @ summaries


def _near_leaders(
    index: Index,
    rows: NDArray[np.int64],
    vector: NDArray[np.float32],
    keyword: NDArray[np.float32],
    similarity: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Return how near candidates are to the first ones: shape ``(rows,)``, -1 to 1.

    What answers a question is like other things that do: pseudo-relevance feedback by Rocchio's
    mean (J. J. Rocchio, "Relevance Feedback in Information Retrieval", 1971).

    Args:
        index: the loaded snapshot.
        rows: of the candidates.
        vector: cosine of each item's best passage, shape ``(items,)``.
        keyword: BM25's score of each item, shape ``(items,)``.
        similarity: cosine of every passage.
    """
    if not len(rows):
        return np.zeros(0, np.float32)
    share = keyword[rows] / (keyword[rows].max() or 1)
    best = best_passages(similarity, index.first_passage, vector, rows)
    vectors = index.matrix[best].astype(np.float32, copy=False)
    leading = (-(vector[rows] + _LEADER_SHARE * share)).argsort(kind="stable")[:_LEADERS]
    middle = vectors[leading].mean(axis=0)
    near: NDArray[np.float32] = vectors @ (middle / (np.sqrt(middle @ middle) or 1))
    return near


def _best(scores: Mapping[int, float]) -> NDArray[np.int64]:
    """Return the rows of some scores, best first; equal scores in row order."""
    return np.array(sorted(scores, key=lambda row: (-scores[row], row)), np.int64)


def _ranks(ranking: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rank in a list of each row, counted from 1; 0 where it is not in it."""
    ranks = np.zeros(len(rows), np.int64)
    ranks[rows.searchsorted(ranking)] = np.arange(1, len(ranking) + 1)
    return ranks


def _correct_spelling(index: Index, query: str) -> str:
    """Return the query with words that no document has replaced by the nearest that one has.

    A word that has related ones is no slip.
    """
    correct: Callable[[str], str] | None = index.made.get(_correct_word)
    if correct is None:
        correct = index.made[_correct_word] = lru_cache(_KEPT_WORDS)(partial(_correct_word, index))
    # Words and what is between them take turns.
    parts = _LETTERS.split(query)
    parts[1::2] = map(correct, parts[1::2])
    return "".join(parts)


def _correct_word(index: Index, word: str) -> str:
    """Return a word, or the nearest one that a document has if none has it."""
    if len(word) < 4 or any(
        index.postings(term) is not None or related_terms(term) for term in bm25.tokens(word)
    ):
        return word
    return _nearest_word(index, word.lower()) or word


def _nearest_word(index: Index, word: str) -> str:
    """Return the name or term of the index most like a misspelt one; empty if none is."""
    from rapidfuzz import process
    from rapidfuzz.distance import DamerauLevenshtein

    for vocabulary in index.vocabularies:
        found = process.extractOne(
            word,
            vocabulary.near(word, _LEAST_SIMILARITY),
            scorer=DamerauLevenshtein.normalized_similarity,
            score_cutoff=_LEAST_SIMILARITY,
        )
        if found is not None:
            return str(found[0])
    return ""


def _find_named(index: Index, query: str) -> dict[int, float]:
    """Return the rows whose name the query spells, with how well; see :attr:`Match.named`.

    Words with spaces between them spell a title too: ``join handle`` is ``JoinHandle``.
    """
    language = index.language
    path = language.normalise(query)
    *owner, title = path.split(language.separator)
    if " " in title and (owner or title.count(" ") > _MOST_SPACES):
        return {}
    found = dict.fromkeys(index.find(path) or _find_ending(index, path), 2.0)
    kinds = language.choose(query).kinds
    if any(of_kinds(index, row, kinds) for row in found):
        found = {row: quality for row, quality in found.items() if of_kinds(index, row, kinds)}
    folded = fold_title(title)
    if owner or not folded:
        return found
    rows = index.rows_by_title
    for row in rows.get(folded, ()):
        found.setdefault(row, 1.0)
    if " " not in title:
        longer = (name for name in rows if name != folded and name.startswith(folded))
        for row in [row for name in longer for row in rows[name]][:_ITEM_DEPTH]:
            found.setdefault(row, 0.3)
    return found


def _find_ending(index: Index, tail: str) -> tuple[int, ...]:
    """Return the rows of the paths that end in a tail of several segments: ``Mutex::lock``."""
    joint = index.language.separator
    if joint not in tail:
        return ()
    ending = f"{joint}{tail}".lower()
    return tuple(
        row
        for path, rows in index.rows_by_path.items()
        if path.lower().endswith(ending)
        for row in rows
    )


def _described(index: Index) -> tuple[DescribedItems, Floats]:
    """Return what ranking weighs of all items whatever is asked, and what that scores; kept."""
    found: tuple[DescribedItems, Floats] | None = index.made.get(describe_items)
    if found is None:
        items = describe_items(_items(index))
        found = index.made[describe_items] = items, weigh_items(items, index.language)
    return found


def _items(index: Index) -> Items:
    columns = index.columns
    summaries, titles = columns["summary"].tolist(), columns["title"].tolist()
    bare = np.array([not summary for summary in summaries], np.bool_)
    if index.language.packaged:
        # Names often say all there is to say, and say it without documentation.
        bare &= np.array([not title for title in titles], np.bool_)
    return Items(
        kinds=columns["kind"].tolist(),
        paths=columns["path"].tolist(),
        titles=titles,
        bare=bare,
        in_degree=columns["in_degree"],
        members=columns["members"],
        length=columns["length"],
        example=columns["examples"] > 0,
        deprecated=columns["deprecated"],
        twins=columns["twin"].tolist(),
        of_trait=columns["of_trait"],
    )


def _item_hit(index: Index, place: int, score: float, found: Candidates, *, explain: bool) -> Hit:
    row = int(found.rows[place])
    rows = index.passage_rows(row)
    best = rows.start + int(found.similarity[rows.start : rows.stop].argmax())
    details = _explain(index, place, found) if explain else {}
    return make_hit(index, row, best, found.terms, score, details)


def make_hit(
    index: Index,
    row: int,
    passage_row: int,
    terms: Collection[str],
    score: float,
    details: Mapping[str, Any],
) -> Hit:
    """Return an item as a hit.

    Args:
        index: the item's.
        row: the item's.
        passage_row: of the passage that its snippet is taken from.
        terms: of the query.
        score: of the hit.
        details: of the score.
    """
    columns = index.columns
    return Hit(
        path=str(columns["path"][row]),
        kind=str(columns["kind"][row]),
        title=str(columns["title"][row]),
        signature=str(columns["signature"][row]),
        heading_path=str(index.passages["heading_path"][passage_row]),
        snippet=snippet(str(index.passages["text"][passage_row]), terms),
        score=score,
        url=str(columns["url"][row]),
        details=details,
    )


def _explain(index: Index, place: int, found: Candidates) -> dict[str, object]:
    """Return a candidate's rank in each list, and what each feature adds to its score."""
    weights = feature_weights(index.language)
    shares = {
        name: round(weights.get(name, 0.0) * value, 4)
        for name, values in found.features.items()
        if (value := float(values[place]))
    }
    return {
        "ranks": {name: int(ranks[place]) or None for name, ranks in found.ranks.items()},
        "features": {name: share for name, share in shares.items() if share},
    }


# Several crates

#: So many hits each crate gives; they also set the scale.
CRATE_DEPTH = 20

#: What a hit's cosine and its crate's score count beside its own score within the crate.
_COSINE_WEIGHT = 0.25
_CRATE_WEIGHT = 0.2


@dataclass(frozen=True, slots=True)
class SearchedCrate:
    """One crate to search.

    Attributes:
        index: its loaded tables.
        embedder: the model of its vectors; None where they cannot be compared with.
        score: how well the crate suits the query.
    """

    index: Index
    embedder: Embedder | None
    score: float


@dataclass(frozen=True, slots=True)
class CrateHit:
    """A hit, the cosine of its best passage, and the number of the crate that it is from."""

    hit: Hit
    cosine: float
    crate: int


def search_across_crates(
    crates: Sequence[SearchedCrate], query: str, *, limit: int, filters: ItemFilters
) -> list[CrateHit]:
    """Return the best hits of several crates, best first.

    Args:
        crates: to search.
        query: what is looked for.
        limit: the largest number of hits.
        filters: what may be in the list.
    """
    found = [find_candidates(each.index, each.embedder, query, filters) for each in crates]
    lists, places = [], []
    for crate, candidates in zip(crates, found, strict=True):
        worth = candidates.scores
        # The same depth for every page: a deeper list would change the order of the first pages.
        best = (-worth).argsort(kind="stable")[:CRATE_DEPTH].tolist()
        cosines = [_best_cosine(crate, candidates, place) for place in best]
        lists.append(list(zip(worth[best].tolist(), cosines, strict=True)))
        places.append(best)
    hits = []
    # Hits are made of the few that are returned: their snippets take longer than their scores.
    for fused, number, rank in _fuse(lists, [crate.score for crate in crates])[:limit]:
        worth, cosine = lists[number][rank]
        hit = _item_hit(
            crates[number].index, places[number][rank], worth, found[number], explain=True
        )
        made = _fused_hit(CrateHit(hit, cosine, number), fused, crates[number].score, rank)
        calibrated = calibrate(fused, ACROSS_SCALE)
        hits.append(replace(made, hit=replace(made.hit, score=calibrated)))
    return hits


def fuse_crates(lists: Sequence[Sequence[CrateHit]], scores: Sequence[float]) -> list[CrateHit]:
    """Merge ranked lists into one, best first.

    A hit's score becomes the weighted sum of three: its score within its list and its cosine,
    both as standard scores over the first :data:`CRATE_DEPTH` hits of all lists, and the score of
    its list. So the scale on which lists were scored makes no difference, and asking for longer
    lists leaves the order of those hits as it was.

    Args:
        lists: hits, best first, scored by one rule.
        scores: one for each list; larger is better.
    """
    pairs = [[(found.hit.score, found.cosine) for found in each] for each in lists]
    return [
        _fused_hit(lists[number][rank], fused, scores[number], rank)
        for fused, number, rank in _fuse(pairs, scores)
    ]


def _fuse(
    lists: Sequence[Sequence[tuple[float, float]]], scores: Sequence[float]
) -> list[tuple[float, int, int]]:
    """Return score, list and place in it of all that lists of scores and cosines have."""
    first = [pair for each in lists for pair in each[:CRATE_DEPTH]]
    relevance = _Scale([worth for worth, _ in first])
    cosine = _Scale([near for _, near in first])
    merged = [
        (
            relevance(worth) + _COSINE_WEIGHT * cosine(near) + _CRATE_WEIGHT * score,
            number,
            rank,
        )
        for number, (each, score) in enumerate(zip(lists, scores, strict=True))
        for rank, (worth, near) in enumerate(each)
    ]
    # Sorting keeps the order of equals: that of the lists and within them.
    return sorted(merged, key=lambda each: -each[0])


def _fused_hit(found: CrateHit, fused: float, score: float, rank: int) -> CrateHit:
    crate = {"score": round(score, 4), "place": rank + 1, "cosine": found.cosine}
    details = {**found.hit.details, "crate": crate}
    return replace(found, hit=replace(found.hit, score=fused, details=details))


class _Scale:
    """Standard scores by the mean and deviation of some values; all 0 where these are equal."""

    def __init__(self, values: Sequence[float]) -> None:
        self._mean = float(np.mean(values)) if values else 0.0
        self._spread = float(np.std(values)) if values else 0.0

    def __call__(self, value: float) -> float:
        return (value - self._mean) / self._spread if self._spread > 1e-9 else 0.0


def _best_cosine(crate: SearchedCrate, found: Candidates, place: int) -> float:
    """Return the cosine of a candidate's best passage; 0 where words alone were searched."""
    rows = crate.index.passage_rows(int(found.rows[place]))
    return round(float(found.similarity[rows.start : rows.stop].max()), 4)
