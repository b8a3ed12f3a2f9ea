"""The findings of a check of code, and the names that are suggested where one does not exist."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from docstow.languages.shared.likeness import (
    SAME,
    likeness,
    name_similarity,
    parts,
    rarity,
    shape,
    words,
)
from docstow.languages.shared.meaning import may_mean

Status = Literal["ok", "unknown", "deprecated", "wrong_argument", "not_checked"]
#: What a caller should look at.
PROBLEMS: frozenset[Status] = frozenset({"unknown", "deprecated", "wrong_argument"})
#: Why a name is not checked, as it is told.
NO_TYPE = "the type of its value is not known"
OPEN = "what runs may have more than is declared"
NOT_AT_HAND = "no version of its package is at hand"
ALLOWED_FOR = "the code itself allows for its absence"
HIDDEN = "it stands behind what is not read, as a re-export or a macro"
ANOTHER_PACKAGE = "another package is likely meant"
MOST = 3
#: Names less alike than this help nobody.
LEAST = 55.0
#: Where nothing helps, what helps so much is told however many names stand beside the wanted one.
_LEAST_OF_MANY = 45.0
#: What it counts that a name fits its place.
_FIT = 1.6
#: What is less alike than this by its letters alone is not compared more closely.
_ROUGHLY = 50.0
_MOST_ROUGHLY = 100
#: So many names are told where none is alike.
_FEW = 20
#: Of more names than this those that are alike at all are sifted first.
_MANY = 100
#: What stands beside a name counts more than what is elsewhere.
_BESIDE = 0.5
#: Of more names beside a wanted one those that may be alike, or meant, are sifted first.
_MOST_MEANT = 400
#: So many last parts of an owner's path tell what its members are about.
_TELLING = 2
_SEPARATORS = re.compile(r"::|[.#/]")


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
        reason: why it is not checked, where that is told; see :attr:`why`.
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
    reason: str = ""

    @property
    def why(self) -> str:
        """Why it is not checked; empty for what is."""
        if self.status != "not_checked":
            return ""
        return self.reason or (OPEN if self.package else NO_TYPE)


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


#: Longer names are none that somebody means.
_LONGEST_WANTED = 200
#: The least length of a word that tells what is meant, however the whole name is written.
_LEAST_WORD = 5
_ADVICE = re.compile(r"; (?:did you mean .*\?|it has .*\.)$")


def nearest(
    wanted: str,
    siblings: Iterable[str],
    others: Iterable[str] = (),
    *,
    most: int = MOST,
    shaped: bool = True,
    filled: bool = False,
    every: bool = False,
    summaries: Mapping[str, str] | None = None,
    owner: str = "",
    fits: Callable[[str], float] | None = None,
) -> tuple[str, ...]:
    """Return the names most like a wanted one, by their letters, by their words and in meaning.

    Args:
        wanted: the last segment that was not found.
        siblings: full names of what stands beside it; they count more.
        others: full names of what is elsewhere: of these only near misses count.
        most: how many at most.
        shaped: types are only suggested for types, functions for functions.
        filled: where the best one helps but a little, others that do are told too, and all where
            they are few.
        every: what helps a little is told after what helps, too.
        summaries: what the docs of full names say first.
        owner: what has no such name, where the full names do not tell it.
        fits: from -1 to 1, how a full name beside the wanted one fits the place: what is called
            can be, and takes what is given.
    """
    if len(wanted) > _LONGEST_WANTED:
        return ()
    scores: dict[str, float] = {}
    helping: set[str] = set()
    for names, beside, least in ((siblings, True, LEAST), (others, False, 80.0)):
        by_last: dict[str, list[str]] = {}
        for full in names:
            by_last.setdefault(_SEPARATORS.split(full)[-1], []).append(full)
        # What stands beside a name is compared in meaning too, what is elsewhere by letters alone.
        few: Iterable[str] = by_last
        if len(by_last) > (_MOST_MEANT if beside else _MANY):
            alike = _Rough(list(by_last)).like(wanted)
            meant = [e for e in by_last if beside and may_mean(words(wanted), words(e))]
            few = dict.fromkeys((*alike, *meant[:_MOST_MEANT]))
        rare, about = rarity(by_last), owner_words(owner or _owner_of(by_last))
        for last in few:
            if last.startswith("_") and not wanted.startswith("_"):
                continue
            spelt = name_similarity(wanted, last)
            is_other = shaped and spelt < SAME and shape(last) != shape(wanted)
            if (is_other and not (beside and _has_all(wanted, last))) or (
                not beside and spelt < least
            ):
                continue
            told_first = (summaries or {}).get(by_last[last][0], "") if beside else ""
            score, helps = likeness(wanted, last, told_first, rare, about)
            is_told = beside and filled and (helps >= _LEAST_OF_MANY or len(by_last) <= _FEW)
            for full in by_last[last] if helps >= least or is_told else ():
                fit = _FIT * fits(full) if fits is not None and beside else 0.0
                scores[full] = max(score + _BESIDE * beside + fit, scores.get(full, -SAME))
                helping |= {full} if helps >= least else set()
    ordered = sorted(scores, key=lambda full: (-scores[full], len(full), full))
    if ordered and ordered[0] in helping:
        spare = [each for each in ordered if each not in helping] if every else []
        ordered = [each for each in ordered if each in helping] + spare
    return tuple(ordered[:most])


def prepare() -> None:
    """Load what names are compared by, so that the first one that is absent does not wait."""
    _Rough(["fetch_name"]).like("get_name")
    likeness("get_name", "fetch_name", "Return the name of it.", {})


def _has_all(wanted: str, name: str) -> bool:
    """Return whether a name has all words of a wanted one: ``LpMinimize`` of ``MINIMIZE``."""
    mine = set(words(wanted))
    return max(map(len, mine), default=0) >= _LEAST_WORD and mine <= set(words(name))


def owner_words(owner: str) -> frozenset[str]:
    """Return the words of what has members, and of what that is in."""
    named = _SEPARATORS.split(owner)[-_TELLING:]
    return frozenset(word for each in named for word in parts(each))


def _owner_of(by_last: Mapping[str, Sequence[str]]) -> str:
    """Return the owner of the first of some full names; empty where they have none."""
    first = next((paths[0] for paths in by_last.values()), "")
    return first[: -len(_SEPARATORS.split(first)[-1])].rstrip(":.#/") if first else ""


def advice(wanted: str, near: Sequence[str]) -> str:
    """Return the end of a message about a name that is not there, with what is there instead.

    Args:
        wanted: the last segment that was not found.
        near: what is suggested, as from :func:`nearest`.
    """
    if not near:
        return "."
    last = _SEPARATORS.split(near[0])[-1]
    if likeness(wanted, last, "", {})[1] >= LEAST:
        return f"; did you mean {near[0]}?"
    return f"; it has {', '.join(_SEPARATORS.split(each)[-1] for each in near)}."


def advised(message: str, wanted: str, near: Sequence[str]) -> str:
    """Return a message that ends with :func:`advice` with that of other names instead."""
    told = _ADVICE.search(message)
    return f"{message[: told.start()]}{advice(wanted, near)}" if told is not None else message
