"""Versions and requirements: SemVer 2 precedence and Cargo's requirement language."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from functools import total_ordering
from typing import TypeVar

from docstow.core.errors import InvalidParameter
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass

_T = TypeVar("_T")

_NUMBER = r"(?:0|[1-9][0-9]*)"
_IDENTIFIERS = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_VERSION = lazy_pattern(
    rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-({_IDENTIFIERS}))?(?:\+({_IDENTIFIERS}))?"
)
_COMPARATOR = lazy_pattern(
    rf"(?P<operator>=|>=|>|<=|<|~|\^)? *(?P<major>{_NUMBER})"
    rf"(?:\.(?P<minor>{_NUMBER}|[*xX]))?(?:\.(?P<patch>{_NUMBER}|[*xX]))?"
    rf"(?:-(?P<prerelease>{_IDENTIFIERS}))?(?:\+{_IDENTIFIERS})?"
)
_WILDCARDS = frozenset("*xX")
# Cargo's own bounds: its numbers are 64 bits wide, a requirement has at most 32 parts.
_LARGEST_NUMBER = 2**64 - 1
_MOST_COMPARATORS = 32
_LATEST = frozenset({"", "*", "latest", "newest"})


@total_ordering
@dataclass(frozen=True, slots=True)
class Version:
    """A version after https://semver.org (2.0.0).

    Build metadata takes no part in equality or order, as the specification asks.

    Attributes:
        major: grows with incompatible changes.
        minor: grows with additions.
        patch: grows with fixes.
        prerelease: the dotted identifiers after the hyphen; empty for a stable version.
        build: the text after the plus.
    """

    major: int
    minor: int
    patch: int
    prerelease: str = ""
    build: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text: str) -> Version:
        """Parse a full version such as ``1.2.3-rc.1+linux``.

        Raises:
            ValueError: the text is not three numbers with optional prerelease and build.
        """
        match = _VERSION.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not a version of the form MAJOR.MINOR.PATCH")
        prerelease, build = match[4] or "", match[5] or ""
        _check_prerelease(prerelease)
        return cls(_number(match[1]), _number(match[2]), _number(match[3]), prerelease, build)

    def __str__(self) -> str:
        tail = f"-{self.prerelease}" if self.prerelease else ""
        tail += f"+{self.build}" if self.build else ""
        return f"{self.major}.{self.minor}.{self.patch}{tail}"

    def __lt__(self, other: Version) -> bool:
        return self._precedence() < other._precedence()

    def _precedence(self) -> tuple[int, int, int, bool, tuple[tuple[bool, int, str], ...]]:
        """Return the sort key of SemVer 2, section 11: numbers below words, stable above all."""
        return (
            self.major,
            self.minor,
            self.patch,
            not self.prerelease,
            _identifiers(self.prerelease),
        )


@dataclass(frozen=True, slots=True)
class Comparator:
    """One part of a requirement: an operator and a version whose last numbers may be omitted.

    Attributes:
        operator: ``=``, ``>``, ``>=``, ``<``, ``<=``, ``~`` or ``^``.
        major: the first number.
        minor: None where omitted or a wildcard.
        patch: None where omitted or a wildcard.
        prerelease: the dotted identifiers; only with a patch.
    """

    operator: str
    major: int
    minor: int | None = None
    patch: int | None = None
    prerelease: str = ""

    def matches(self, version: Version) -> bool:
        """Return whether a version satisfies this part, apart from the rule on prereleases.

        Omitted numbers are not compared: ``>1`` means 2.0.0 and beyond. The cases are
        those of the ``semver`` crate's ``eval.rs``.
        """
        equal = self._shares(version, 3) and version.prerelease == self.prerelease
        match self.operator:
            case "=":
                return equal
            case ">":
                return self._compare(version) > 0
            case ">=":
                return equal or self._compare(version) > 0
            case "<":
                return self._compare(version) < 0
            case "<=":
                return equal or self._compare(version) < 0
            case "~":
                admitted = self.patch is not None or not version.prerelease
                return admitted and self._shares(version, 2) and self._compare(version) >= 0
            case _:
                return self._shares(version, self._fixed()) and self._compare(version) >= 0

    def admits_prerelease(self, version: Version) -> bool:
        """Return whether this part is a prerelease of the same three numbers."""
        return bool(self.prerelease) and self._shares(version, 3)

    def _fixed(self) -> int:
        """Return how many numbers a caret fixes: up to the first that is not zero."""
        if self.major:
            return 1
        return 2 if self.minor or self.patch is None else 3

    def _given(self) -> list[int]:
        return [n for n in (self.major, self.minor, self.patch) if n is not None]

    def _shares(self, version: Version, count: int) -> bool:
        """Return whether the first ``count`` numbers, as far as given, are those of the version."""
        given = self._given()[:count]
        return given == [version.major, version.minor, version.patch][: len(given)]

    def _compare(self, version: Version) -> int:
        """Compare a version with the given numbers: -1 below, 0 equal, 1 above."""
        given = self._given()
        numbers = [version.major, version.minor, version.patch][: len(given)]
        if numbers != given or self.patch is None:
            return (numbers > given) - (numbers < given)
        own = Version(self.major, self.minor or 0, self.patch, self.prerelease)
        return (version > own) - (version < own)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A requirement in the language of Cargo's manifests.

    The rules are those of the Cargo book, "Specifying Dependencies", with the corner cases of
    the ``semver`` crate that Cargo uses.

    Attributes:
        comparators: all must match; empty for ``*``.
    """

    comparators: tuple[Comparator, ...]

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Parse ``1``, ``~1.2``, ``^0.8``, ``>=1, <2``, ``1.*``, ``=1.2.3-rc.1`` or ``*``.

        Raises:
            ValueError: the text is none of these; the message names the part.
        """
        parts = [part.strip(" ") for part in text.split(",")]
        if len(parts) == 1 and parts[0] in _WILDCARDS:
            return cls(())
        if len(parts) > _MOST_COMPARATORS:
            raise ValueError(f"a requirement has at most {_MOST_COMPARATORS} parts")
        return cls(tuple(_comparator(part) for part in parts))

    @property
    def exact(self) -> Version | None:
        """The version that ``=1.2.3`` names; None for every wider requirement."""
        if len(self.comparators) != 1:
            return None
        only = self.comparators[0]
        if only.operator != "=" or only.minor is None or only.patch is None:
            return None
        return Version(only.major, only.minor, only.patch, only.prerelease)

    def matches(self, version: Version) -> bool:
        """Return whether Cargo would select this version.

        A prerelease matches only where a part is a prerelease of the same three numbers.
        """
        if not all(part.matches(version) for part in self.comparators):
            return False
        return not version.prerelease or any(
            part.admits_prerelease(version) for part in self.comparators
        )


def exact(asked: str) -> Version | None:
    """Return the version that a ``version`` parameter names: ``1.2.3`` or ``=1.2.3``; else None.

    A bare full version means that version here; to Cargo it is a caret requirement.

    Raises:
        InvalidParameter: not a version, a requirement or a word for the latest.
    """
    text = asked.strip()
    if text in _LATEST:
        return None
    if _VERSION.fullmatch(text):
        return _checked(Version.parse, text)
    return _checked(Requirement.parse, text).exact


def choose(asked: str, versions: Iterable[str]) -> str | None:
    """Return the newest version that matches a ``version`` parameter, as spelled; else None.

    Args:
        asked: an exact version, a Cargo requirement, or empty, ``latest``, ``newest`` or ``*``
            for the highest stable one (the highest prerelease where there is none).
        versions: candidates in any order; texts that are not versions are ignored.

    Raises:
        InvalidParameter: not a version, a requirement or a word for the latest.
    """
    parsed = [(version, text) for text in versions if (version := _version(text)) is not None]
    text = asked.strip()
    if text in _LATEST:
        matching = [pair for pair in parsed if not pair[0].prerelease] or parsed
    elif (named := exact(text)) is not None:
        matching = [pair for pair in parsed if pair[0] == named]
    else:
        requirement = _checked(Requirement.parse, text)
        matching = [pair for pair in parsed if requirement.matches(pair[0])]
    return max(matching, key=lambda pair: pair[0])[1] if matching else None


def _version(text: str) -> Version | None:
    try:
        return Version.parse(text)
    except ValueError:
        return None


def _checked(parse: Callable[[str], _T], text: str) -> _T:
    try:
        return parse(text)
    except ValueError as error:
        raise InvalidParameter(
            "version",
            f"{error}; give an exact version such as 1.2.3, a Cargo requirement such as ^1.2 or"
            ' ">=1, <2", or leave it out for the latest.',
        ) from error


def _comparator(part: str) -> Comparator:
    match = _COMPARATOR.fullmatch(part)
    if match is None:
        if part.lstrip("=<>~^ ") in _WILDCARDS:
            raise ValueError("the wildcard * stands alone, without operators or other parts")
        raise ValueError(f"{part!r} is not a version with an optional operator")
    wildcard = match["minor"] in _WILDCARDS or match["patch"] in _WILDCARDS
    minor, patch = _optional(match["minor"]), _optional(match["patch"])
    if minor is None and patch is not None:
        raise ValueError(f"{part!r} has a number after a wildcard")
    if match["prerelease"] and patch is None:
        raise ValueError(f"{part!r} has a prerelease without all three numbers")
    _check_prerelease(match["prerelease"] or "")
    operator = match["operator"] or ("=" if wildcard else "^")
    return Comparator(operator, _number(match["major"]), minor, patch, match["prerelease"] or "")


def _optional(text: str | None) -> int | None:
    return None if text is None or text in _WILDCARDS else _number(text)


def _number(text: str) -> int:
    # The length first: int() of a very long text is slow, and an error in newer Pythons.
    if len(text) > len(str(_LARGEST_NUMBER)) or int(text) > _LARGEST_NUMBER:
        raise ValueError(f"a number of a version is at most {_LARGEST_NUMBER}")
    return int(text)


def _check_prerelease(prerelease: str) -> None:
    for identifier in prerelease.split("."):
        if identifier.isdigit() and identifier != "0" and identifier.startswith("0"):
            raise ValueError(f"{identifier!r} in a prerelease has a leading zero")


def _identifiers(prerelease: str) -> tuple[tuple[bool, int, str], ...]:
    """Return sort keys: numbers (without leading zeros) by length, then digits; words by text."""
    if not prerelease:
        return ()
    return tuple(
        (False, len(each), each) if each.isdigit() else (True, 0, each)
        for each in prerelease.split(".")
    )
