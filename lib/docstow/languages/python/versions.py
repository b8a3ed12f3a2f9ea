"""Versions of Python packages: PEP 440's order and requirements."""

from __future__ import annotations

import re
from collections.abc import Iterable

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from docstow.core.errors import InvalidParameter
from docstow.languages.shared.language import Versions

_LATEST = frozenset({"", "*", "latest", "newest"})
_PREFIX = re.compile(r"v?(\d+(?:\.\d+)*)(?:\.[*xX])?")
_WHOLE = re.compile(r"v?\d+\.\d+(?:\.\d+)+")
_LONGEST = 200
_PINS = ("==", "===")


def parse(text: str) -> Version | None:
    """Return a version after PEP 440; None where the text is none."""
    try:
        return Version(text) if len(text) <= _LONGEST else None
    except ValueError:
        # The library's own error is one, and so is that of a number with thousands of digits.
        return None


def parse_requirement(asked: str) -> SpecifierSet:
    """Parse what a caller asks for.

    Args:
        asked: ``>=1.2,<2``, ``~=1.4``, ``==1.*``, ``!=1.3``; a version's beginning, such as
            ``0.27`` or ``2.x``; an exact version such as ``2.0rc1``; empty or ``latest`` for any.

    Raises:
        InvalidParameter: it is none of these.
    """
    text = asked.strip()[: _LONGEST + 1]
    if text in _LATEST:
        return SpecifierSet()
    try:
        if found := _PREFIX.fullmatch(text):
            return SpecifierSet(f"=={found[1]}.*")
        if (named := parse(text)) is not None:
            return SpecifierSet(f"=={named}")
        return SpecifierSet(text if len(text) <= _LONGEST else "?")
    except InvalidSpecifier:
        raise InvalidParameter(
            "version",
            f"{text[:80]!r} is no version or requirement of Python; give an exact version such as"
            ' 0.27.2, its beginning such as 0.27, a requirement after PEP 440 such as ">=0.27,<1"'
            " or ~=0.27, or leave it out for the newest.",
        ) from None


def is_pinned(asked: str) -> bool:
    """Return whether a request names one version, which then may be a withdrawn one: PEP 592."""
    text = asked.strip()
    if text in _LATEST:
        return False
    specifiers = parse_requirement(text)
    return (
        any(each.operator in _PINS and not each.version.endswith(".*") for each in specifiers)
        or parse(text) is not None
    )


def choose(asked: str, versions: Iterable[str]) -> str | None:
    """Return the newest version that is asked for, as pip would; None where there is none.

    Prereleases count where they are asked for, or where nothing else matches.

    Args:
        asked: as :func:`parse_requirement` takes it. A version that is among them is meant itself.
        versions: candidates; texts that are no versions count only where they are asked for.

    Raises:
        InvalidParameter: it is no request.
    """
    known = list(dict.fromkeys(versions))
    text = asked.strip()
    if text in known:
        return text
    wanted = parse_requirement(text)
    if _WHOLE.fullmatch(text):
        # One that is equal, as 1.1 is to 1.1.0, is meant before one that begins so.
        named = [each for each in known if parse(each) == parse(text)]
        known = named or known
    parsed = {each: version for each in known if (version := parse(each)) is not None}
    matching = set(wanted.filter(parsed.values()))
    found = [each for each, version in parsed.items() if version in matching]
    return max(found, key=parsed.__getitem__, default=None)


def order(version: str) -> tuple[bool, Version | str]:
    """Return what versions are sorted by; texts that are none come first."""
    parsed = parse(version)
    return (parsed is not None, parsed if parsed is not None else version)


VERSIONS = Versions(choose=choose, order=order)
