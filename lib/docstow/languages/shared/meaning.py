"""How near names come in meaning: by words that are used for one another, and by their vectors.

An identifier is taken apart into words, and runs of words of one are paired with what comes nearest
to them in the other: ``push_front`` with ``appendleft``. Words that say little (``get``, ``is``,
``to``) count less. The parts of a name of several words are joined by underscores in the tables:

* ``synonyms.txt`` has on each line what libraries call one thing;
* ``guesses.txt`` a name of a library and what is guessed in its place;
* ``opposites.txt`` words of which one is never meant by another one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from docstow.embedding import word_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TABLE = Path(__file__).with_name("synonyms.txt")
_GUESSES = Path(__file__).with_name("guesses.txt")
_OPPOSITES = Path(__file__).with_name("opposites.txt")
#: Words that many names have and that tell little of them.
_LITTLE = frozenset(
    {
        *("get", "set", "is", "has", "to", "as", "with", "from", "of", "the", "a", "by", "into"),
        *("in", "on", "for", "at", "and", "do", "be", "it", "mut"),
    }
)
_SHARE_OF_LITTLE = 0.35
#: Words before a name that does not need them: ``getsize`` is ``size``.
_BEFORE = ("get", "set", "to")
_WITHOUT = 0.9
#: What a word counts that is used for another one, and from how near on their vectors count.
_RELATED = 0.9
_NEAR = 0.3
#: A word that is less near to any other is not meant by one.
_MEANT = 0.5
#: What has many synonyms has each of them less: what the rarer of two loses for each, and keeps.
_LOSS, _LEAST_RELATED = 0.012, 0.55
_MOST_SUMMARY = 30
_NONE: frozenset[str] = frozenset()
_LONGEST_RUN = 3
#: A word that is cut short (``req``, ``buf``), and what it counts for the whole one.
_SHORTEST_CUT, _CUT = 3, 0.85
_SHORTEST_PLURAL = 4
#: The words of names in a table that :func:`_singular` shortens.
_PLURAL_WORD = re.compile(r"(?<![a-z0-9])([a-z0-9]{2,}[a-hj-rtv-z0-9])s(?![a-z0-9])")
#: Words that begin with so many letters, and end in few others, are forms of one.
_SHORTEST_STEM, _LONGEST_ENDING = 5, 2


@dataclass(frozen=True, slots=True)
class Meaning:
    """How near a name comes to a wanted one in meaning, each from 0 to 1.

    Attributes:
        named: how much of the wanted name the other one has.
        covered: how much of the other one the wanted name has.
        whole: whether both are wholly used for one another.
    """

    named: float
    covered: float
    whole: float


@dataclass(frozen=True, slots=True)
class _Run:
    begin: int
    end: int
    key: str
    others: Mapping[str, float]


@lru_cache(maxsize=2_000)
def meaning(
    wanted: tuple[str, ...], name: tuple[str, ...], about: frozenset[str] = frozenset()
) -> Meaning:
    """Return how near two names come in meaning.

    Args:
        wanted: the words of the name that does not exist, in lower case.
        name: those of one that does, likewise.
        about: words of their owner, which may be left out of a name: ``Mail.send_mail``.
    """
    mine, its = wanted, name
    if not mine or not its:
        return Meaning(0.0, 0.0, 0.0)
    named = [max(_similarity(each, other) for other in its) for each in mine]
    covered = [max(_similarity(other, each) for other in mine) for each in its]
    is_same = all(v >= 1.0 for w, v in zip(mine + its, named + covered, strict=True) if _tells(w))
    whole = 1.0 if is_same and any(map(_tells, mine)) else 0.0
    for one in _runs(mine):
        for other in _runs(its):
            near = _run_similarity(one, other)
            if near <= 0.0:
                continue
            for at in range(one.begin, one.end):
                named[at] = max(named[at], near)
            for at in range(other.begin, other.end):
                covered[at] = max(covered[at], near)
            if one.end - one.begin == len(mine) and other.end - other.begin == len(its):
                whole = max(whole, near)
    return Meaning(_mean(mine, named, about), _mean(its, covered, about), whole)


def told(wanted: Sequence[str], name: Sequence[str], summary: str) -> float:
    """Return from 0 to 1 how much of a name's words another one and its docs have.

    Args:
        wanted: the words of the name that does not exist, in lower case.
        name: those of one that does, likewise.
        summary: what its docs say of it first.
    """
    if not wanted:
        return 0.0
    said = frozenset((*_terms(summary)[:_MOST_SUMMARY], *map(_term, name)))
    return _mean(wanted, [_said(_term(each), said) for each in wanted])


def vector_similarity(wanted: Sequence[str], name: Sequence[str]) -> float:
    """Return from -1 to 1 how near the sums of the vectors of two names' words are."""
    mine, its = _sum(tuple(wanted)), _sum(tuple(name))
    return float(mine @ its) if mine is not None and its is not None else 0.0


def are_opposed(wanted: Sequence[str], name: Sequence[str]) -> bool:
    """Return whether one name has the opposite of a word of the other one, in its place."""
    mine, its = set(wanted), set(name)
    return any(not _opposites().get(each, _NONE).isdisjoint(its - mine) for each in mine - its)


def may_mean(wanted: Sequence[str], name: Sequence[str]) -> bool:
    """Return whether something in one name is used for something in the other one."""
    meant = _meant(tuple(wanted))
    return any(each.key in meant for each in _runs(tuple(name)))


@lru_cache(maxsize=1_000)
def _meant(wanted: tuple[str, ...]) -> frozenset[str]:
    runs = [each for each in _runs(wanted) if each.key not in _LITTLE]
    return frozenset(key for each in runs for key in (each.key, *each.others))


@lru_cache(maxsize=2_000)
def _sum(name: tuple[str, ...]) -> NDArray[np.float32] | None:
    """Return the unit vector of some words; None where none of them is known."""
    vectors = word_vectors()
    numbers = [number for each in name if (number := vectors.number(each)) is not None]
    if not numbers:
        return None
    total = vectors.sum(numbers)
    length = float(total @ total) ** 0.5
    return total / length if length > 0 else None


@cache
def _opposites() -> Mapping[str, frozenset[str]]:
    lines = [line.split() for line in _OPPOSITES.read_text("utf-8").splitlines()]
    found: defaultdict[str, set[str]] = defaultdict(set)
    for line in lines:
        for each in line:
            found[each] |= set(line) - {each}
    return {word: frozenset(words) for word, words in found.items()}


def is_word(word: str) -> bool:
    """Return whether a word is one that names or docs have, and no slip for another one."""
    return _is_named(_key((word,))) or word_vectors().number(_term(word)) is not None


def _tokens(text: str) -> Iterable[str]:
    from docstow.text import bm25  # numpy, which only names that are compared need

    return bm25.tokens(text)


def _related(term: str) -> Collection[str]:
    from docstow.index.related import related_terms

    return related_terms(term)


def _tells(word: str) -> bool:
    return word not in _LITTLE


def _mean(
    words: Sequence[str], values: Sequence[float], about: Collection[str] = frozenset()
) -> float:
    weights = [
        _SHARE_OF_LITTLE if each in _LITTLE or (value < _MEANT and each in about) else 1.0
        for each, value in zip(words, values, strict=True)
    ]
    return sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)


@lru_cache(maxsize=5_000)
def _terms(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_tokens(text)))


@lru_cache(maxsize=5_000)
def _term(word: str) -> str:
    """Return a word's stem."""
    return next(iter(_tokens(word)), word)


def _said(term: str, others: frozenset[str]) -> float:
    """Return whether terms have one, or one that is used for it."""
    if term in others:
        return 1.0
    return 0.0 if _synonyms(term).isdisjoint(others) else _RELATED


def _key(words: Sequence[str]) -> str:
    """Return what names have in common that differ in underscores, capitals and plurals."""
    return "".join(map(_singular, words))


def _singular(word: str) -> str:
    is_plural = len(word) >= _SHORTEST_PLURAL and word.endswith("s")
    return word[:-1] if is_plural and not word.endswith(("ss", "us", "is")) else word


@cache
def _index() -> Mapping[str, tuple[str, ...]]:
    """Return the lines of both tables by each key in them, with their names as keys."""
    text = "\n".join(each.read_text("utf-8") for each in (_TABLE, _GUESSES))
    found: dict[str, tuple[str, ...]] = {}
    # All keys at once: one by one they would take longer than what is compared by them.
    for line in _PLURAL_WORD.sub(r"\1", text).replace("_", "").splitlines():
        here = (line,)  # which most keys share, that are in one line only
        for key in line.split():
            found[key] = found[key] + here if key in found else here
    return found


@lru_cache(maxsize=4_000)
def _beside(key: str) -> frozenset[str]:
    """Return the keys of the names that are used for that of a key."""
    every = (each for line in _index().get(key, ()) for each in line.split())
    return frozenset(every) - {key}


@lru_cache(maxsize=2_000)
def _group(key: str) -> Mapping[str, float]:
    """Return what is used for the name of a key, and how surely."""
    others = _beside(key)
    return {
        other: max(_LEAST_RELATED, 1.0 - _LOSS * min(len(others), len(_beside(other))))
        for other in others
    }


def _is_named(key: str) -> bool:
    return key in _index()


@cache
def _synonyms_of_terms() -> Mapping[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for line in _TABLE.read_text("utf-8").splitlines():
        group = {_term(each) for each in line.split() if "_" not in each}
        for term in group:
            found[term] |= group - {term}
    return {term: frozenset(terms) for term, terms in found.items()}


@lru_cache(maxsize=2_000)
def _synonyms(term: str) -> frozenset[str]:
    return _synonyms_of_terms().get(term, frozenset()) | frozenset(_related(term))


@lru_cache(maxsize=1_000)
def _runs(words: tuple[str, ...]) -> Sequence[_Run]:
    """Return the runs of words of a name, each with what is used for it."""
    found = []
    for begin in range(len(words)):
        for end in range(begin + 1, min(len(words), begin + _LONGEST_RUN) + 1):
            key = _key(words[begin:end])
            others = dict(_group(key))
            if bare := _bare(key):
                others.setdefault(bare, _WITHOUT)
                for other, near in _group(bare).items():
                    others.setdefault(other, _WITHOUT * near)
            found.append(_Run(begin, end, key, others))
    return found


def _bare(key: str) -> str:
    """Return a name without a word before it that it does not need; empty where it has none."""
    found = (key.removeprefix(each) for each in _BEFORE if key.startswith(each))
    return next((each for each in found if _is_named(each)), "")


def _run_similarity(one: _Run, other: _Run) -> float:
    if one.key == other.key:
        return 1.0
    return max(one.others.get(other.key, 0.0), other.others.get(one.key, 0.0))


@lru_cache(maxsize=10_000)
def _similarity(one: str, other: str) -> float:
    """Return how near two words come that are used for one another, cut short or alike in docs."""
    if _singular(one) == _singular(other):
        return 1.0
    if one in _LITTLE or other in _LITTLE:
        return 0.0
    mine, its = _term(one), _term(other)
    if mine == its:
        return 1.0
    if its in _related(mine):
        return _RELATED
    short, long = sorted((mine, its), key=len)
    if long == short + short[-1]:
        return 1.0  # ``cancel`` and ``cancelled``
    stem = max(_SHORTEST_STEM, len(long) - _LONGEST_ENDING)
    if len(short) >= stem and long.startswith(short[:stem]):
        return _RELATED  # ``modified`` and ``modification``
    is_cut = len(short) >= _SHORTEST_CUT and len(long) > len(short) + 1
    if is_cut and long.startswith(short):
        return _CUT
    vectors = word_vectors()
    numbers = [vectors.number(mine), vectors.number(its)]
    if None in numbers:
        return 0.0
    found, _ = vectors.vectors([each for each in numbers if each is not None])
    near = float(found[0] @ found[1])
    return min(near, _RELATED) if near >= _NEAR else 0.0
