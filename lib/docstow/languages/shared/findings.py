"""The findings of a check of code, and the names that are suggested where one does not exist."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from docstow.languages.shared.meaning import meaning, told

Status = Literal["ok", "unknown", "deprecated", "wrong_argument", "not_checked"]
#: What a caller should look at.
PROBLEMS: frozenset[Status] = frozenset({"unknown", "deprecated", "wrong_argument"})
MOST = 3
#: Names less alike than this help nobody.
LEAST = 55.0
#: Names that differ in case and underscores alone.
SAME = 100.0
#: What is less alike than this by its letters alone is not compared more closely.
_ROUGHLY = 50.0
_MOST_ROUGHLY = 100
#: Of more names than this those that are alike at all are sifted first.
_MANY = 100
#: What counts of likeness by words and parts, by letters alone, in meaning, by docs, and of the
#: last word; fitted to wrong names of three languages (``tests/evaluation/programs.py``).
_SPELT, _LETTERS, _MEANT, _TOLD, _LAST_WORD = 0.33, 0.19, 0.28, 0.13, 7.0
#: What a letter more or less counts, initials for words, words in another order, one name that
#: denies the other, and two that deny the same.
_LENGTH, _INITIALS, _ORDER, _OPPOSITE, _AS_OPPOSITE = 1.1, 25.0, 24.0, -10.0, 14.0
_MOST_LENGTH = 10
#: What it counts that both are written as types are, or as functions.
_SHAPE = 10.0
#: What it counts that one letter is another.
_ONE_LETTER = 8.0
#: Of a name whose docs nobody has, its meaning counts this much of what docs would.
_WITHOUT_DOCS = 0.6
_DENYING = ("un", "de", "dis", "non")
_SHORTEST_INITIALS, _LONGEST_INITIALS = 3, 5
#: Of more names beside a wanted one those that are alike by letters are sifted first.
_MOST_MEANT = 400
_SEPARATORS = re.compile(r"::|[.#/]")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known of one name in the code.

    Attributes:
        line: from 1.
        column: from 1.
        name: as the code means it, through its imports: ``tokio::sync::mpsc::channel``.
        status: ``not_checked`` wherever it cannot be known for certain.
        message: what is wrong and what to do; empty where nothing is.
        suggestions: nearest valid names, the likeliest first.
        path: the item that answers, or that the missing name was looked for in.
        package: whose it is; empty where it is nobody's.
        version: of that package.
        engine: the type checker that says so; empty for our own reader.
        successor: the one name that the maintainers say takes its place.
        patch: the line as it should be, where that is certain.
    """

    line: int
    column: int
    name: str
    status: Status
    message: str = ""
    suggestions: tuple[str, ...] = ()
    path: str = ""
    package: str = ""
    version: str = ""
    engine: str = ""
    successor: str = ""
    patch: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The findings in the order of the code, and what could not be looked at.

    Attributes:
        findings: one a name and place.
        missing: packages that the code uses and nobody has a version of.
        features: features that the used items need, by package (Rust).
        unread: lines that could not be parsed, or are too deep to follow; nothing is said of what
            begins there.
    """

    findings: tuple[Finding, ...]
    missing: tuple[str, ...] = ()
    features: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unread: tuple[int, ...] = ()

    def problems(self) -> tuple[Finding, ...]:
        """Return the findings that a caller should look at."""
        return tuple(each for each in self.findings if each.status in PROBLEMS)


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings by place; of one place and name keep what is wrong before what is not."""
    kept: dict[tuple[int, int, str], Finding] = {}
    for each in findings:
        place = (each.line, each.column, each.name)
        if place not in kept or kept[place].status not in PROBLEMS:
            kept[place] = each
    return tuple(kept[place] for place in sorted(kept))


@lru_cache(maxsize=20_000)
def words(name: str) -> tuple[str, ...]:
    """Return the words of an identifier in lower case: ``HTTPClient`` as ``http_client``."""
    return tuple(word.lower() for word in _WORDS.findall(name))


@lru_cache(maxsize=20_000)
def shape(name: str) -> str:
    """Return whether a name is written as a type, a constant or anything else is."""
    bare = name.strip("_")
    if not bare or not bare[0].isupper():
        return "lower"
    return "constant" if len(bare) > 1 and bare.isupper() else "type"


def name_similarity(wanted: str, name: str) -> float:
    """Return from 0 to 100 how alike two names are, by letters, by words, and as parts."""
    from rapidfuzz import fuzz
    from rapidfuzz.distance import JaroWinkler

    one, other = wanted.lower().strip("_"), name.lower().strip("_")
    if one.replace("_", "") == other.replace("_", ""):
        return SAME
    mine, its = words(wanted), words(name)
    common = len(set(mine) & set(its))
    together = 100.0 * 2 * common / (len(set(mine)) + len(set(its))) if mine and its else 0.0
    sorted_ratio = fuzz.ratio(" ".join(sorted(mine)), " ".join(sorted(its)))
    spelt = max(fuzz.ratio(one, other), 100 * JaroWinkler.similarity(one, other) - 12)
    return max(spelt, 0.5 * together + 0.5 * sorted_ratio, 0.88 * together)


class Listing:
    """Many names, of which few are ever alike.

    Args:
        paths: full names; those with a private part are left out.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_last: dict[str, list[str]] = {}
        for path in paths:
            parts = _SEPARATORS.split(path)
            if not any(part.startswith("_") for part in parts):
                self._by_last.setdefault(parts[-1], []).append(path)
        self._rough = _Rough(list(self._by_last))

    def named(self, last: str) -> list[str]:
        """Return the full names that end in a name."""
        return self._by_last.get(last, [])

    def like(self, wanted: str) -> list[str]:
        """Return the names that may come near a name, by their letters or by their words."""
        return [path for last in self._rough.like(wanted) for path in self._by_last[last]]


class _Rough:
    """Identifiers that are sifted before they are compared one by one."""

    def __init__(self, lasts: list[str]) -> None:
        self._lasts = lasts
        self._lower = [each.lower() for each in lasts]
        self._sorted = [" ".join(sorted(words(each))) for each in lasts]

    def like(self, wanted: str) -> list[str]:
        """Return the names that may come near a name, by their letters or by their words."""
        from rapidfuzz import fuzz, process

        places: dict[int, None] = {}
        word_by_word = " ".join(sorted(words(wanted)))
        for query, choices in ((wanted.lower(), self._lower), (word_by_word, self._sorted)):
            found = process.extract(
                query, choices, scorer=fuzz.ratio, score_cutoff=_ROUGHLY, limit=_MOST_ROUGHLY
            )
            places |= dict.fromkeys(place for _, _, place in found)
        return [self._lasts[place] for place in places]


def _differ_in_one_letter(one: str, other: str) -> bool:
    return len(one) == len(other) and sum(a != b for a, b in zip(one, other, strict=True)) == 1


def _likeness(wanted: str, name: str, summary: str) -> tuple[float, float]:
    """Return how alike names are from 0 to about 100, and the same without what tells names apart.

    By the first they are ordered; the second says whether a name helps at all.
    """
    from rapidfuzz import fuzz
    from rapidfuzz.distance import JaroWinkler

    mine, its = words(wanted), words(name)
    spelt = name_similarity(wanted, name)
    one, other = wanted.lower().strip("_"), name.lower().strip("_")
    letters = max(fuzz.ratio(one, other), 100 * JaroWinkler.similarity(one, other) - 12)
    near = 100.0 * meaning(" ".join(mine), " ".join(its))
    docs = 100.0 * told(" ".join(mine), " ".join(its), summary) if summary else 0.0
    docs = docs or _WITHOUT_DOCS * near
    score = _SPELT * spelt + _LETTERS * letters + _MEANT * near + _TOLD * docs
    score += _LAST_WORD * (mine[-1:] == its[-1:])
    score -= _LENGTH * min(_MOST_LENGTH, abs(len(one) - len(other)))
    share = max(_initials(mine, its), _initials(its, mine))
    is_turned = len(mine) == 2 and mine[1] + mine[0] == other
    is_turned = is_turned or (len(its) == 2 and its[1] + its[0] == one)
    score += _INITIALS * share + _ORDER * is_turned + _denial(one, other)
    helps = max(spelt, near, 0.68 * docs + 0.3 * near, 0.45 * spelt + 0.55 * near)
    return score, max(helps, SAME * (share > 0 or is_turned))


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
    return _AS_OPPOSITE if mine and its else _OPPOSITE


def _without_denial(name: str) -> tuple[str, str]:
    for each in _DENYING:
        if name.startswith(each) and len(name) > len(each) + 3:
            return each, name.removeprefix(each)
    return "", name


def nearest(
    wanted: str,
    siblings: Iterable[str],
    others: Iterable[str] = (),
    *,
    most: int = MOST,
    shaped: bool = True,
    summaries: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Return the names most like a wanted one, by their letters, by their words and in meaning.

    Args:
        wanted: the last segment that was not found.
        siblings: full names of what stands beside it; they count more.
        others: full names of what is elsewhere: of these only near misses count.
        most: how many at most.
        shaped: types are only suggested for types, functions for functions.
        summaries: what the docs of full names say first.
    """
    scores: dict[str, float] = {}
    for names, extra, least in ((siblings, 6.0, LEAST), (others, 0.0, 80.0)):
        by_last: dict[str, list[str]] = {}
        for full in names:
            by_last.setdefault(_SEPARATORS.split(full)[-1], []).append(full)
        # What stands beside a name is compared in meaning too, what is elsewhere by letters alone.
        many = len(by_last) > (_MOST_MEANT if extra else _MANY)
        few = _Rough(list(by_last)).like(wanted) if many else by_last
        for last in few:
            if last.startswith("_") and not wanted.startswith("_"):
                continue
            spelt = name_similarity(wanted, last)
            if shaped and spelt < SAME and shape(last) != shape(wanted):
                continue
            # Of what is elsewhere only letters count.
            told_first = (summaries or {}).get(by_last[last][0], "") if extra else ""
            score, helps = _likeness(wanted, last, told_first)
            helps = helps if extra else spelt
            if spelt >= LEAST and _differ_in_one_letter(wanted, last):
                # A letter that is wrong is no worse than one that is too much.
                helps = max(helps, 100.0 - 50.0 / len(last))
                score += _ONE_LETTER
            # Nothing is more alike than the name itself, in other letters.
            score += _SHAPE * (shape(last) == shape(wanted)) + SAME * (spelt >= SAME)
            if helps >= least:
                for full in by_last[last]:
                    scores[full] = max(score + extra, scores.get(full, -SAME))
    ordered = sorted(scores, key=lambda full: (-scores[full], len(full), full))
    return tuple(ordered[:most])
