"""How like a name is to one that does not exist: by letters, by words, as initials, in meaning.

What each counts is fitted to names that users of other libraries guess, over packages of three
languages (``tests/evaluation/guesses.py``), and then to programs with one wrong name
(``tests/evaluation/suggestions.py``).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from docstow.languages.shared import compounds
from docstow.languages.shared.meaning import (
    are_opposed,
    is_word,
    meaning,
    told,
    vector_similarity,
)

#: Names that differ in case and underscores alone.
SAME = 100.0
#: What each feature counts, in the order of :func:`features`.
WEIGHTS: Mapping[str, float] = {
    "spelt": 1.6,
    "told": 2.3,
    "last": 0.4,
    "length": -1.4,
    "initials": 8.6,
    "turned": 9.5,
    "denial": 8.8,
    "asks": 1.7,
    "shape": 6.3,
    "named": 1.7,
    "covered": 1.4,
    "whole": 1.7,
    "rare": -0.3,
    "slip": 9.0,
    "letters": 7.8,
    "odd": -0.5,
    "letter": 11.0,
    "vector": 3.1,
    "opposed": -2.1,
}
#: Of a name whose docs nobody has, its meaning counts this much of what docs would.
_WITHOUT_DOCS = 0.6
_MOST_LENGTH = 10
#: What the start of both counts less by letters than all of them.
_START = 12
#: From how much on names are alike by letters.
_ALIKE = 55.0
_DENYING = ("un", "de", "dis", "non")
#: What it counts that one name denies the other, of what two count that deny the same.
_OPPOSITE = -0.7
#: What names of questions begin with.
_ASKING = frozenset({("is",), ("has",), ("are",), ("can",), ("should",), ("was",)})
_SHORTEST_INITIALS, _LONGEST_INITIALS = 3, 5
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@lru_cache(maxsize=10_000)
def words(name: str) -> tuple[str, ...]:
    """Return the words of an identifier in lower case: ``HTTPClient`` as ``http_client``."""
    return tuple(word.lower() for word in _WORDS.findall(name))


@lru_cache(maxsize=5_000)
def parts(name: str) -> tuple[str, ...]:
    """Return the words of an identifier, those that are written as one taken apart."""
    return tuple(part for word in words(name) for part in compounds.parts(word))


@lru_cache(maxsize=5_000)
def shape(name: str) -> str:
    """Return whether a name is written as a type, a constant or anything else is."""
    bare = name.strip("_")
    if not bare or not bare[0].isupper():
        return "lower"
    return "constant" if len(bare) > 1 and bare.isupper() else "type"


def name_similarity(wanted: str, name: str) -> float:
    """Return from 0 to 100 how alike two names are, by letters, by words, and as parts."""
    from rapidfuzz import fuzz

    one, other = wanted.lower().strip("_"), name.lower().strip("_")
    if one.replace("_", "") == other.replace("_", ""):
        return SAME
    mine, its = words(wanted), words(name)
    common = len(set(mine) & set(its))
    together = 100.0 * 2 * common / (len(set(mine)) + len(set(its))) if mine and its else 0.0
    sorted_ratio = fuzz.ratio(" ".join(sorted(mine)), " ".join(sorted(its)))
    return max(_by_letters(one, other), 0.5 * together + 0.5 * sorted_ratio, 0.88 * together)


def rarity(names: Iterable[str]) -> Mapping[str, float]:
    """Return how rare each word of some names is among them, from 0 to about 1."""
    found = [set(words(each)) for each in names]
    counts = Counter(word for each in found for word in each)
    total = len(found)
    return {
        word: math.log((total + 1) / (count + 0.5)) / math.log(total + 2)
        for word, count in counts.items()
    }


def features(
    wanted: str,
    name: str,
    summary: str,
    rare: Mapping[str, float],
    about: frozenset[str] = frozenset(),
) -> Mapping[str, float]:
    """Return what tells how like a name is to a wanted one, each from about 0, or -1, to 1.

    Args:
        wanted: the name that does not exist.
        name: one that does.
        summary: what its docs say of it first; empty where nobody has them.
        rare: how rare words are among the names that exist.
        about: words of their owner.
    """
    mine, its = parts(wanted), parts(name)
    one, other = wanted.lower().strip("_"), name.lower().strip("_")
    spelt = name_similarity(wanted, name) / 100
    meant = meaning(mine, its, about)
    unknown = _share_of_slips(words(wanted))
    by_letters = _by_letters(one, other) / 100
    common, all_words = set(mine) & set(its), set(mine) | set(its)
    total = sum(rare.get(each, 1.0) for each in all_words)
    is_turned = len(mine) == 2 and mine[1] + mine[0] == other
    is_turned = is_turned or (len(its) == 2 and its[1] + its[0] == one)
    docs = told(mine, its, summary) if summary else 0.0
    return {
        "spelt": spelt,
        "told": docs or _WITHOUT_DOCS * (meant.named + meant.covered) / 2,
        "last": mine[-1:] == its[-1:],
        "length": min(_MOST_LENGTH, abs(len(one) - len(other))) / _MOST_LENGTH,
        "initials": max(_initials(mine, its), _initials(its, mine)),
        "turned": is_turned,
        "denial": _denial(one, other),
        "asks": (mine[:1] in _ASKING) == (its[:1] in _ASKING),
        "shape": shape(name) == shape(wanted),
        "named": meant.named,
        "covered": meant.covered,
        "whole": meant.whole,
        "rare": sum(rare.get(each, 1.0) for each in common) / total if total else 0.0,
        "slip": spelt * unknown,
        "letters": by_letters * unknown,
        "odd": by_letters * _share_of_slips(words(name)),
        "letter": unknown * _differ_in_one_letter(wanted, name),
        "vector": vector_similarity(mine, its),
        "opposed": are_opposed(mine, its),
    }


def likeness(
    wanted: str,
    name: str,
    summary: str,
    rare: Mapping[str, float],
    about: frozenset[str] = frozenset(),
) -> tuple[float, float]:
    """Return how like a name is to a wanted one, and from 0 to 100 how much it helps at all.

    By the first names are ordered; the arguments are those of :func:`features`.
    """
    found = features(wanted, name, summary, rare, about)
    score = sum(WEIGHTS[each] * value for each, value in found.items())
    spelt = 100 * found["spelt"]
    near = 50 * (found["named"] + found["covered"])
    helps = max(spelt, near, 68 * found["told"] + 0.3 * near, 0.45 * spelt + 0.55 * near)
    if found["initials"] or found["turned"] or found["whole"]:
        helps = SAME
    if spelt >= _ALIKE and _differ_in_one_letter(wanted, name):
        # A letter that is wrong is no worse than one that is too much.
        helps = max(helps, 100.0 - 50.0 / len(name))
    # Nothing is more like than the name itself, in other letters.
    return score + SAME * (spelt >= SAME), helps


def _by_letters(one: str, other: str) -> float:
    from rapidfuzz import fuzz
    from rapidfuzz.distance import JaroWinkler

    return max(fuzz.ratio(one, other), 100 * JaroWinkler.similarity(one, other) - _START)


@lru_cache(maxsize=5_000)
def _share_of_slips(mine: tuple[str, ...]) -> float:
    """Return which part of a name's letters is in words that are none."""
    total = sum(map(len, mine))
    return sum(len(each) for each in mine if not is_word(each)) / total if total else 1.0


def _differ_in_one_letter(one: str, other: str) -> bool:
    return len(one) == len(other) and sum(a != b for a, b in zip(one, other, strict=True)) == 1


def _initials(mine: Sequence[str], its: Sequence[str]) -> float:
    """Return the share of words that others have, one of them as initials (``dag``); 0 without."""
    initials = "".join(each[0] for each in its)
    for each in mine:
        is_long = _SHORTEST_INITIALS <= len(each) <= _LONGEST_INITIALS
        if is_long and each not in its and (at := initials.find(each)) >= 0:
            rest = {*its[:at], *its[at + len(each) :]}
            return (1 + len(rest.intersection(mine))) / len(mine)
    return 0.0


def _denial(one: str, other: str) -> float:
    """Return what counts that one name denies the other, or both the same (``un``, ``de``)."""
    (mine, bare), (its, other_bare) = _without_denial(one), _without_denial(other)
    if bare != other_bare or mine == its:
        return 0.0
    return 1.0 if mine and its else _OPPOSITE


def _without_denial(name: str) -> tuple[str, str]:
    for each in _DENYING:
        if name.startswith(each) and len(name) > len(each) + 3:
            return each, name.removeprefix(each)
    return "", name
