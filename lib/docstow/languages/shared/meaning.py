"""How near names come in meaning: by words that are used for one another, and by their vectors.

An identifier is taken apart into words; each word of one is paired with what comes nearest to it
in the other. Words that say little (``get``, ``is``, ``to``) count less.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

from docstow.embedding import word_vectors
from docstow.index.related import related_terms
from docstow.text import bm25

_TABLE = Path(__file__).with_name("synonyms.txt")
#: Words that many names have and that tell little of them.
_LITTLE = frozenset(
    {
        *("get", "set", "is", "has", "to", "as", "with", "from", "of", "the", "a", "by", "into"),
        *("in", "on", "for", "at", "and", "do", "be", "it", "mut"),
    }
)
_SHARE_OF_LITTLE = 0.35
#: What a word counts that is used for another one, and from how near on their vectors count.
_RELATED = 0.9
_NEAR = 0.3
_MOST_SUMMARY = 30
#: A word that is cut short (``req``, ``buf``), and what it counts for the whole one.
_SHORTEST_CUT, _CUT = 3, 0.85


def meaning(wanted: str, name: str) -> float:
    """Return from 0 to 1 how near two names come in meaning.

    Args:
        wanted: the name that does not exist, its words parted by spaces.
        name: one that does, likewise.
    """
    mine, its = _terms(wanted), _terms(name)
    if not mine or not its:
        return 0.0
    named = sum(_weight(each) * _best(each, its) for each in mine)
    covered = sum(_weight(each) * _best(each, mine) for each in its)
    return (named + covered) / (sum(map(_weight, mine)) + sum(map(_weight, its)))


def told(wanted: str, name: str, summary: str) -> float:
    """Return from 0 to 1 how much of a name's words another one and its docs have.

    Args:
        wanted: the name that does not exist, its words parted by spaces.
        name: one that does, likewise.
        summary: what its docs say of it first.
    """
    mine = _terms(wanted)
    if not mine:
        return 0.0
    said = (*_terms(summary)[:_MOST_SUMMARY], *_terms(name))
    return sum(_weight(each) * _said(each, said) for each in mine) / sum(map(_weight, mine))


@lru_cache(maxsize=50_000)
def _terms(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(bm25.tokens(text)))


def _weight(term: str) -> float:
    return _SHARE_OF_LITTLE if term in _LITTLE else 1.0


def _best(term: str, others: Sequence[str]) -> float:
    """Return how near the nearest of other terms comes."""
    return 1.0 if term in others else max(_similarity(term, each) for each in others)


def _said(term: str, others: Sequence[str]) -> float:
    """Return whether terms have one, or one that is used for it."""
    if term in others:
        return 1.0
    return 0.0 if _synonyms(term).isdisjoint(others) else _RELATED


@cache
def _groups() -> Mapping[str, frozenset[str]]:
    """The words that names of functions, types and fields have for one another."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for line in _TABLE.read_text("utf-8").splitlines():
        group = set(bm25.tokens(line))
        for term in group:
            found[term] |= group - {term}
    return {term: frozenset(terms) for term, terms in found.items()}


@lru_cache(maxsize=20_000)
def _synonyms(term: str) -> frozenset[str]:
    return _groups().get(term, frozenset()) | frozenset(related_terms(term))


@lru_cache(maxsize=200_000)
def _similarity(one: str, other: str) -> float:
    if one == other:
        return 1.0
    if other in _synonyms(one):
        return _RELATED
    if one in _LITTLE or other in _LITTLE:
        return 0.0
    short, long = sorted((one, other), key=len)
    is_cut = len(short) >= _SHORTEST_CUT and len(long) > len(short) + 1
    if is_cut and long.startswith(short):
        return _CUT
    words = word_vectors()
    numbers = [words.number(one), words.number(other)]
    if None in numbers:
        return 0.0
    vectors, _ = words.vectors([each for each in numbers if each is not None])
    near = float(vectors[0] @ vectors[1])
    return min(near, _RELATED) if near >= _NEAR else 0.0
