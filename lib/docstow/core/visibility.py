"""What a credential is bound to: patterns over the names of sources.

A pattern is ``KIND:NAME`` or ``NAME``, in which ``*`` stands for any characters. A page's source is
named by its URI, a crate or package by its name, a project by its own. A pattern without a kind
means sources of pages alone, so that crates and packages are seen by patterns that say so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache

from docstow.core import spelling
from docstow.core.model import CRATE, LOCAL, Revision, Source, source_id
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass

#: The kind that stands for projects in patterns; no source has it.
PROJECT = "project"
#: What sees everything, as a credential that is not bound.
EVERYTHING = "*:*"
#: Between the patterns of one credential.
SEPARATOR = ";"

# A URL's scheme is no kind.
_KIND = lazy_pattern(r"([a-z][a-z0-9_-]*):(?!//)(.*)")
_PATTERN = lazy_pattern(r"[!-~]{1,500}")
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Visibility:
    """The sources that a credential is bound to; without patterns none.

    Attributes:
        patterns: as they were given.
    """

    patterns: tuple[str, ...] = ()

    def sees(self, kind: str, name: str) -> bool:
        """Return whether a source of that kind and name is among them; one without name never."""
        folded = _folded(kind, name)
        return bool(name) and any(_matches(each, folded) for each in _globs(self.patterns, kind))


def bound_to(patterns: Iterable[str]) -> Visibility | None:
    """Return what patterns let a credential see; None for everything."""
    given = tuple(patterns)
    return None if EVERYTHING in given else Visibility(given)


def read_patterns(text: str, kinds: Collection[str]) -> Visibility | None:
    """Read the patterns of a setting, with ``;`` between them.

    Args:
        text: at least one pattern.
        kinds: those that a pattern may name.

    Raises:
        ValueError: with what is wrong, for people.
    """
    patterns = [each for each in text.split(SEPARATOR) if each]
    if not patterns or len(patterns) > _LONGEST:
        raise ValueError(f"names 1 to {_LONGEST} patterns, with {SEPARATOR} between them")
    for each in patterns:
        if not _PATTERN.fullmatch(each):
            raise ValueError("has a pattern that is longer than 500 characters, or not ASCII")
        match = _KIND.fullmatch(each)
        if match and kinds and match[1] not in kinds:
            known = ", ".join(sorted(kinds))
            raise ValueError(f"has a pattern of the kind {match[1]!r}; there are {known}")
    return bound_to(patterns)


def named(kind: str) -> bool:
    """Return whether sources of a kind are stored under their names; of pages it is an id."""
    return kind in (CRATE, LOCAL, PROJECT) or kind in spelling.package_kinds()


def name_of(revision: Revision) -> str:
    """Return the name that patterns are about; empty where a snapshot does not prove it."""
    return name_at(revision.source, revision.url)


def name_at(source: Source, address: str) -> str:
    """Return the name that patterns are about: of pages the address, if it is of that source."""
    if named(source.kind):
        return source.name
    return address if source_id(source.kind, address) == source.name else ""


def is_open(source: Source, bound: Visibility | None) -> bool:
    """Return whether a source may be seen, as far as the key of its head tells.

    Of pages that shows only in their record, which :func:`name_of` reads.
    """
    return bound is None or not named(source.kind) or bound.sees(source.kind, source.name)


@lru_cache(maxsize=4096)
def _globs(patterns: tuple[str, ...], kind: str) -> tuple[tuple[str, ...], ...]:
    """Return those patterns that are about a kind, each as the texts around its stars."""
    found = []
    for each in patterns:
        match = _KIND.fullmatch(each)
        if match is None and not named(kind):
            found.append(each)
        elif match is not None and match[1] == kind:
            found.append(_folded(kind, match[2]))
    return tuple(tuple(each.split("*")) for each in found)


def _matches(glob: tuple[str, ...], name: str) -> bool:
    """Return whether a name has the texts in their order; in linear time."""
    first, *rest = glob
    if not rest:
        return name == first
    last = rest.pop()
    if len(name) < len(first) + len(last) or not (name.startswith(first) and name.endswith(last)):
        return False
    at, end = len(first), len(name) - len(last)
    for part in rest:
        found = name.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _folded(kind: str, name: str) -> str:
    """Return a name as its registry compares it: of crates and packages of Python."""
    if kind in (CRATE, LOCAL):
        return name.replace("-", "_").lower()
    return spelling.of_kind(kind).package_key(name)
