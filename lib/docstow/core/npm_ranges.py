"""npm's version ranges and package specifiers.

The grammar is that of node-semver's README, "Ranges", in the lenient form with which npm reads it
(``loose``): a prerelease may stand without its hyphen, numbers may begin with zeros, and a word
that is no comparator is passed over where another one is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from docstow.core.errors import InvalidParameter
from docstow.core.patterns import lazy_pattern
from docstow.core.versions import Version

_PRERELEASE_PART = r"(?:\d*[a-zA-Z-][a-zA-Z0-9-]*|\d+)"
_PRERELEASE = rf"-?({_PRERELEASE_PART}(?:\.{_PRERELEASE_PART})*)"
_BUILD = r"\+[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*"
_PREFIX = r"[v= ]*"
_FULL = rf"{_PREFIX}(\d+)\.(\d+)\.(\d+)(?:{_PRERELEASE})?(?:{_BUILD})?"
_PART = r"(\d+|[xX*])"
#: One to three numbers or wildcards.
_PARTIAL = rf"{_PREFIX}{_PART}(?:\.{_PART}(?:\.{_PART}(?:{_PRERELEASE})?)?)?"
_OPERATOR = r"[<>]?=?"

_EXACT = lazy_pattern(_FULL, re.ASCII)
_HYPHEN = lazy_pattern(rf"({_PARTIAL}) - ({_PARTIAL})", re.ASCII)
_SPACED = lazy_pattern(rf"( ?)({_OPERATOR}) ?({_FULL}|{_PARTIAL})", re.ASCII)
_TILDED = lazy_pattern(r"(~>?|\^) ")
_TILDE = lazy_pattern(rf"~>?{_PARTIAL}", re.ASCII)
_CARET = lazy_pattern(rf"\^{_PARTIAL}", re.ASCII)
_SIMPLE = lazy_pattern(rf"({_OPERATOR}) ?{_PARTIAL}", re.ASCII)
_COMPARATOR = lazy_pattern(rf"({_OPERATOR}) ?{_FULL}", re.ASCII)
_STAR = lazy_pattern(r"[<>]?=? ?\*")
_BUILDS = lazy_pattern(_BUILD)

# node-semver's own bounds: numbers are exact in a double, a version has at most 256 characters.
_LARGEST_NUMBER = 2**53 - 1
_LONGEST_VERSION = 256
_LONGEST = 4096
_MOST_SETS = 256
_NO_TAGS: Mapping[str, str] = MappingProxyType({})
_NONE_AVOIDED: Mapping[str, int] = MappingProxyType({})
_ELSEWHERE = lazy_pattern(r"[a-z][a-z+]*:|[^@\s]+@[^:\s]+:|.*/", re.IGNORECASE)
_NAME = lazy_pattern(r"(?:@[^/@\s:]+/)?[^/@\s:]+")


@dataclass(frozen=True, slots=True)
class Comparator:
    """A bound: an operator (``<``, ``<=``, ``>``, ``>=`` or empty for equal) and a version."""

    operator: str
    version: Version

    def matches(self, version: Version) -> bool:
        """Return whether a version is within the bound, apart from the rule on prereleases."""
        match self.operator:
            case "<":
                return version < self.version
            case "<=":
                return version <= self.version
            case ">":
                return version > self.version
            case ">=":
                return version >= self.version
            case _:
                return version == self.version

    def admits(self, version: Version) -> bool:
        """Return whether the bound is a prerelease of the same three numbers."""
        own = self.version
        return bool(own.prerelease) and _numbers(own) == _numbers(version)


@dataclass(frozen=True, slots=True)
class Range:
    """A range of npm.

    Attributes:
        sets: one must match, of which every comparator must; an empty set is any version.
    """

    sets: tuple[tuple[Comparator, ...], ...]

    @classmethod
    def parse(cls, text: str) -> Range:
        """Parse ``^1.2``, ``~1.2.3``, ``1.x``, ``>=1 <2``, ``1.2 - 2.3``, ``1 || 2`` or ``*``.

        Raises:
            ValueError: the text is no range; a tag is none.
        """
        if len(text) > _LONGEST:
            raise ValueError(f"a range has at most {_LONGEST} characters")
        parts = " ".join(text.split()).split("||")
        if len(parts) > _MOST_SETS:
            raise ValueError(f"a range has at most {_MOST_SETS} alternatives")
        sets = [found for part in parts if (found := _parse_set(part.strip())) is not None]
        if not sets:
            raise ValueError(f"{text!r} is not a range")
        # Beside "any version" no other alternative counts, nor the prereleases that it admits.
        return cls(((),)) if () in sets else cls(tuple(sets))

    def matches(self, version: Version) -> bool:
        """Return whether npm takes a version for the range.

        A prerelease matches only where a comparator of the set that matches is a prerelease of
        the same three numbers.
        """
        return any(
            all(each.matches(version) for each in some)
            and (not version.prerelease or any(each.admits(version) for each in some))
            for some in self.sets
        )


def parse_version(text: str) -> Version | None:
    """Return the full version that a text is, ``v`` and ``=`` before it allowed; None if none."""
    text = text.strip()
    if len(text) > _LONGEST_VERSION or not (found := _EXACT.fullmatch(text)):
        return None
    try:
        return _version(found.groups())
    except ValueError:
        return None


def split_alias(name: str, asked: str) -> tuple[str, str]:
    """Return the package that is meant and what is asked of it: ``npm:react@^18`` names another.

    Raises:
        InvalidParameter: it comes from elsewhere than a registry, or is an alias of an alias.
    """
    asked = asked.strip()
    if asked.lower().startswith("npm:"):
        target = asked[4:]
        at = target.find("@", 1)
        name, asked = (target[:at], target[at + 1 :]) if at > 0 else (target, "")
        if not _NAME.fullmatch(name):
            raise InvalidParameter(
                "version", f"npm:{target} names no package; write npm:NAME@RANGE"
            )
    if _ELSEWHERE.match(asked):
        raise InvalidParameter(
            "version",
            f"{asked[:80]!r} is no version of a registry (files, folders, addresses, repositories"
            " and workspaces are read where a project has them installed); give a version, a range"
            " such as ^1.2 or 1.x, or a tag",
        )
    return name, asked


def choose(
    asked: str,
    versions: Iterable[str],
    tags: Mapping[str, str] = _NO_TAGS,
    avoided: Mapping[str, int] = _NONE_AVOIDED,
) -> str | None:
    """Return the version that npm takes for what is asked; None where there is none.

    The rules are those of npm's ``npm-pick-manifest``: an exact version or a tag is itself; of a
    range the version tagged ``latest`` is taken where it is within and not avoided, else the
    highest of those that are avoided least.

    Args:
        asked: a version, a range or a tag; empty for the newest.
        versions: candidates in any order; what is no version can be asked for as it is spelled.
        tags: the registry's versions by tag.
        avoided: versions that are taken only where no other matches: 1 for deprecated ones, 2 for
            those that the present Node does not run, 3 for both.

    Raises:
        InvalidParameter: it comes from elsewhere than a registry.
    """
    known = list(dict.fromkeys(versions))
    asked = split_alias("", asked)[1]
    if asked in known:
        return asked
    parsed = {text: version for text in known if (version := parse_version(text)) is not None}
    if (named := parse_version(asked)) is not None:
        return next((text for text, version in parsed.items() if version == named), None)
    try:
        wanted = Range.parse(asked)
    except ValueError:
        return _tagged(asked, known, parsed, tags)
    latest = tags.get("latest", "")
    fits = wanted.sets == ((),) or (latest in parsed and wanted.matches(parsed[latest]))
    if latest in parsed and latest not in avoided and fits:
        return latest
    matching = [text for text, version in parsed.items() if wanted.matches(version)]
    if not matching and not asked:
        # Something answers where there are prereleases alone.
        matching = list(parsed)
    best = max(matching, key=lambda text: (-avoided.get(text, 0), parsed[text]), default=None)
    return best if best is not None or asked else next(iter(known), None)


def _tagged(
    asked: str, known: list[str], parsed: Mapping[str, Version], tags: Mapping[str, str]
) -> str | None:
    if asked in tags:
        return tags[asked] if tags[asked] in known else None
    # Nothing says what is tagged where versions are installed or stored.
    return choose("", parsed) if asked in ("latest", "newest") and not tags else None


def _parse_set(text: str) -> tuple[Comparator, ...] | None:
    """Parse what stands between ``||``; None where nothing of it is a comparator."""
    text = _BUILDS.sub("", text)
    if found := _HYPHEN.fullmatch(text):
        text = " ".join(_hyphen(found))
    text = _SPACED.sub(r"\1\2\3", text)
    text = _TILDED.sub(r"\1", text)
    words = [each for word in text.split(" ") for each in _expand(word)]
    found_any = False
    comparators = []
    for word in words:
        if not word:
            found_any = True
        elif match := _COMPARATOR.fullmatch(word):
            found_any = True
            if len(word) > _LONGEST_VERSION:
                raise ValueError(f"a version has at most {_LONGEST_VERSION} characters")
            operator, *parts = match.groups()
            bound = Comparator(operator.removeprefix("=") or "", _version(parts))
            # ``>=0.0.0`` is any version, prereleases of 0.0.0 apart.
            if word != ">=0.0.0":
                comparators.append(bound)
    return tuple(comparators) if found_any else None


def _hyphen(found: re.Match[str]) -> list[str]:
    """Return the comparators of ``1.2 - 2.3.4``; a missing number below is 0, above any."""
    low, major, minor, patch, _, high, *upper = found.groups()
    words = []
    if not _is_any(major):
        whole = not _is_any(minor) and not _is_any(patch)
        words.append(f">={low}" if whole else f">={major}.{0 if _is_any(minor) else minor}.0")
    if not _is_any(upper[0]):
        if _is_any(upper[1]):
            words.append(_below(upper[0]))
        elif _is_any(upper[2]):
            words.append(_below(upper[0], upper[1]))
        else:
            words.append(f"<={'.'.join(upper[:3])}-{upper[3]}" if upper[3] else f"<={high}")
    return words


def _expand(word: str) -> list[str]:
    """Return the comparators that a caret, a tilde or a wildcard stands for; "" is any version."""
    if found := _CARET.fullmatch(word):
        return _caret(*found.groups())
    if found := _TILDE.fullmatch(word):
        return _tilde(*found.groups())
    found = _SIMPLE.fullmatch(word)
    words = [word] if found is None else _wildcards(word, *found.groups())
    return [_STAR.sub("", each, count=1) for each in words]


def _caret(major: str, minor: str, patch: str, prerelease: str) -> list[str]:
    if _is_any(major):
        return [""]
    if _is_any(minor):
        return [f">={major}.0.0", _below(major)]
    if _is_any(patch):
        above = _below(major, minor) if major == "0" else _below(major)
        return [f">={major}.{minor}.0", above]
    if major != "0":
        above = _below(major)
    else:
        above = _below(major, minor) if minor != "0" else _below(major, minor, patch)
    return [f">={major}.{minor}.{patch}{_hyphened(prerelease)}", above]


def _tilde(major: str, minor: str, patch: str, prerelease: str) -> list[str]:
    if _is_any(major):
        return [""]
    if _is_any(minor):
        return [f">={major}.0.0", _below(major)]
    if _is_any(patch):
        return [f">={major}.{minor}.0", _below(major, minor)]
    return [f">={major}.{minor}.{patch}{_hyphened(prerelease)}", _below(major, minor)]


def _wildcards(word: str, operator: str, major: str, minor: str, patch: str, _: str) -> list[str]:
    if (_is_any(major) and not _is_any(minor)) or (_is_any(minor) and not _is_any(patch)):
        return [word]  # a number after a wildcard is no comparator
    if _is_any(major):
        # Nothing is above or below any version.
        return ["<0.0.0-0"] if operator in ("<", ">") else [""]
    if not _is_any(patch):
        return [word]
    least = f"{major}.{0 if _is_any(minor) else minor}.0"
    beyond = _below(major) if _is_any(minor) else _below(major, minor)
    match operator:
        case ">":
            return [f">={beyond[1:-2]}"]
        case ">=":
            return [f">={least}"]
        case "<":
            return [f"<{least}-0"]
        case "<=":
            return [beyond]
        case _:
            return [f">={least}", beyond]


def _below(*numbers: str) -> str:
    """Return the bound below the next of some numbers, which its prereleases are not below."""
    following = [*map(int, numbers[:-1]), int(numbers[-1]) + 1, 0, 0][:3]
    return f"<{'.'.join(map(str, following))}-0"


def _is_any(part: str | None) -> bool:
    return not part or part in "xX*"


def _hyphened(prerelease: str) -> str:
    return f"-{prerelease}" if prerelease else ""


def _numbers(version: Version) -> tuple[int, int, int]:
    return version.major, version.minor, version.patch


def _version(parts: Iterable[str]) -> Version:
    major, minor, patch, prerelease = parts
    numbers = []
    for part in (major, minor, patch):
        # The length first: int() of a very long text is slow.
        if len(part) > _LONGEST_VERSION or int(part) > _LARGEST_NUMBER:
            raise ValueError(f"a number of a version is at most {_LARGEST_NUMBER}")
        numbers.append(int(part))
    words = (prerelease or "").split(".")
    plain = ".".join(each.lstrip("0") or "0" if each.isdigit() else each for each in words if each)
    return Version(numbers[0], numbers[1], numbers[2], plain)
