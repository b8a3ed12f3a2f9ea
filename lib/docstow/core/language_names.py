"""What is different about the paths of each language whose packages are stowed.

This room knows how names are joined and written. It does not know packages or documents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_GENERICS = re.compile(r"::<.*?>+|<[^<>]*>")


@dataclass(frozen=True, slots=True)
class Language:
    """How a language spells its public names.

    Attributes:
        name: as callers say it.
        kind: of the sources that are its packages; empty for Rust, whose crates have two.
        separator: between a name and its owner.
    """

    name: str
    kind: str
    separator: str

    def normalise(self, path: str) -> str:
        """A path as the language writes it, without what may surround it: ``click.echo()``."""
        path = path.strip().strip("`").strip()
        if self is RUST:
            return _rust(path)
        path = path.removesuffix("()").replace("::", ".").replace("#", ".")
        return re.sub(r"\s*\.\s*", ".", path).strip(".:")

    def root(self, path: str) -> str:
        """What a path begins with: a crate, an imported name, an npm package."""
        if self is TYPESCRIPT:
            parts = path.split("/", 2)
            if path.startswith("@") and len(parts) > 1:
                return f"{parts[0]}/{parts[1].split('.')[0]}"
            return parts[0].split(".")[0]
        return path.split(self.separator)[0]

    def last(self, path: str) -> str:
        """The last name of a path."""
        return path.rpartition(self.separator)[2]

    def holds(self, owner: str, path: str) -> bool:
        """Whether a path is an owner's, or that of something below it."""
        joints = (self.separator, "/") if self is TYPESCRIPT else (self.separator,)
        return path == owner or any(path.startswith(owner + joint) for joint in joints)


RUST = Language("rust", "", "::")
PYTHON = Language("python", "python", ".")
TYPESCRIPT = Language("typescript", "node", ".")

#: Kinds of the sources that were read from where a project has them installed.
PACKAGE_KINDS = (PYTHON.kind, TYPESCRIPT.kind)

#: By what callers say.
LANGUAGES = {each.name: each for each in (RUST, PYTHON, TYPESCRIPT)} | {"javascript": TYPESCRIPT}
_BY_KIND = {each.kind: each for each in (PYTHON, TYPESCRIPT)}


def of_kind(kind: str) -> Language:
    """The language of a source's items."""
    return _BY_KIND.get(kind, RUST)


def spoken(path: str) -> str:
    """A path as words, for what has learned from sentences."""
    return re.sub(r"::|[./]", " ", path)


def depth(path: str) -> int:
    """How many names a path has."""
    return 1 + path.count("::") + path.count(".") + path.count("/")


def _rust(path: str) -> str:
    """A path as it is written in Rust: ``Vec::<T>::new()`` is ``Vec::new``."""
    previous = ""
    while previous != path:
        previous, path = path, _GENERICS.sub("", path)
    path = path.removesuffix("()").removesuffix("!").replace(".", "::").replace("#", "::")
    path = re.sub(r"(?<![a-z0-9_])r::(?=[a-z])", "", path)
    return re.sub(r"\s*::\s*", "::", path).strip(":")
