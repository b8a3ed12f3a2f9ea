"""Lock files that come as text: which versions of a language's packages a project uses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from docstow.core.errors import InvalidParameter
from docstow.core.similar import similar_names
from docstow.languages.shared.language import LANGUAGES, Language
from docstow.languages.shared.project import Locked, LockedVersion

_LONGEST = 8 * 1024 * 1024
_HINTS = 3
_PROJECT = "the project"
_UNKNOWN = (
    "is no lock file that is known; send the whole text of uv.lock, poetry.lock, pdm.lock, "
    "pylock.toml, Pipfile.lock, requirements.txt, package-lock.json, pnpm-lock.yaml, yarn.lock or "
    "bun.lock"
)

#: What only lock files of a language have, in the order of looking; their names are not told.
_MARKS = (
    (
        "typescript",
        re.compile(r'(?m)^(?:[ \t]*"?lockfileVersion"? *:|# yarn lockfile|__metadata:)'),
    ),
    (
        "python",
        re.compile(r'(?m)^(?:[ \t]*"_meta" *:|\[\[packages\]\]|source = \{|content-hash = )'),
    ),
    ("python", re.compile(r"(?m)^(?:python-versions|requires_python|files|groups) = ")),
    ("rust", re.compile(r"(?m)^(?:\[\[package\]\]|\[root\])")),
)


def guess_language(text: str) -> Language:
    """Return the language whose lock file a text is; Python's pins have no mark of their own."""
    return LANGUAGES[next((name for name, mark in _MARKS if mark.search(text)), "python")]


class LockText:
    """A lock file's packages of one language.

    Args:
        text: the whole file, whose name nobody says.
        language: whose packages it locks.

    Raises:
        InvalidParameter: it is none of that language's.
    """

    def __init__(self, text: str, language: Language) -> None:
        self._language = language
        self._key = language.spelling.package_key
        self._by_name: dict[str, list[Locked]] = {}
        for each in _read(text, language):
            self._by_name.setdefault(self._key(each.name), []).append(each)

    def locked(self, name: str) -> LockedVersion:
        """Return the version of a package that a project uses.

        Where several are locked it is one that the project itself asks for, and else the highest.

        Args:
            name: the package's, or an alias by which it is imported.

        Raises:
            InvalidParameter: the file has no such package, or none in a version.
        """
        found = self._by_name.get(self._key(name)) or [
            each for some in self._by_name.values() for each in some if each.imported == name
        ]
        if not found:
            names = sorted({each.name for some in self._by_name.values() for each in some})
            near = [each for each, _ in similar_names(name, names, most=_HINTS)]
            hint = f" (it has {', '.join(near)})" if near else ""
            raise InvalidParameter(
                "lockfile", f"has no package {name}{hint}; give a version instead"
            )
        direct = {each.version for each in found if each.direct and each.version}
        versions = {each.version for each in found if each.version}
        if not versions:
            raise InvalidParameter(
                "lockfile", f"says no version of {name}, which comes from elsewhere; give a version"
            )
        highest = sorted(versions, key=self._language.versions().order, reverse=True)
        chosen = next((each for each in highest if each in direct), highest[0])
        others = tuple(each for each in highest if each != chosen)
        return LockedVersion(chosen, others, (_PROJECT,) if chosen in direct else ())

    def versions(self) -> Mapping[str, str]:
        """Return one version of each package by its key.

        It is empty where several are locked and the project asks for none or several of them.
        """
        chosen = {}
        for name, found in self._by_name.items():
            direct = {each.version for each in found if each.direct}
            several = direct or {each.version for each in found}
            chosen[name] = next(iter(several)) if len(several) == 1 else ""
        return chosen

    def aliases(self) -> Mapping[str, str]:
        """Return the packages that are imported by another name, by that name."""
        return {
            each.imported: each.name
            for some in self._by_name.values()
            for each in some
            if each.imported and each.imported != each.name
        }

    def direct(self) -> Mapping[str, str]:
        """Return the versions of what the project itself asks for; of all where nothing says it."""
        told = any(each.direct for some in self._by_name.values() for each in some)
        return {
            name: self.locked(name).version
            for name, some in self._by_name.items()
            if any(each.version and (each.direct or not told) for each in some)
        }


def _read(text: str, language: Language) -> list[Locked]:
    if len(text) > _LONGEST:
        raise InvalidParameter("lockfile", f"must have at most {_LONGEST} characters")
    for reader in language.scanning().lock_text(text):
        try:
            found = reader(text)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        if found:
            return found
    raise InvalidParameter("lockfile", _UNKNOWN)


@lru_cache(maxsize=4)
def _parsed(text: str, language: str) -> LockText:
    return LockText(text, LANGUAGES[language])


def parse_lock(text: str, language: Language) -> LockText:
    """Parse the text of a lock file; a caller may send the same one with every call.

    Raises:
        InvalidParameter: it is none of that language's.
    """
    return _parsed(text, language.name)
