"""What breaks between two versions of a Python package, as griffe finds it.

This room knows griffe. It does not know where versions come from, nor how an answer looks.
Nothing is run: what cannot be read from its source is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from docstow.errors import UnreadableInput
from docstow.packages.boundary import Boundary

if TYPE_CHECKING:
    import griffe

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Breakage:
    """One change that breaks those who use it.

    Attributes:
        path: dotted.
        kind: as griffe names it: ``parameter_removed``.
        message: one sentence.
        before: what it was; may be empty.
        after: what it is.
    """

    path: str
    kind: str
    message: str
    before: str
    after: str


def breaking_changes(name: str, old: Path, new: Path) -> list[Breakage]:
    """Compare a package in two folders of import names.

    Args:
        name: what is imported.
        old: the folder in which the older version is.
        new: the same of the newer one.

    Raises:
        UnreadableInput: it cannot be loaded from one of them.
    """
    import griffe

    found = griffe.find_breaking_changes(_load(name, old), _load(name, new))
    return sorted(set(_breakages(found)), key=lambda each: (each.path, each.kind, each.message))


def _load(name: str, root: Path) -> griffe.Object | griffe.Alias:
    import griffe

    real = Boundary(root).inside(root)
    loader = griffe.GriffeLoader(
        search_paths=[real], allow_inspection=False, force_inspection=False, store_source=False
    )
    # Path files lead to folders elsewhere.
    loader.finder.search_paths = [real]
    try:
        loaded = loader.load(name, try_relative_path=False)
        loader.resolve_aliases(implicit=False, external=False)
    except (griffe.GriffeError, ImportError, SyntaxError, RecursionError, OSError) as error:
        raise UnreadableInput(f"{name} cannot be compared: it cannot be loaded.") from error
    return loaded


def _breakages(found: Iterator[griffe.Breakage]) -> Iterator[Breakage]:
    for each in found:
        told = each.as_dict(full=False)
        yield Breakage(
            path=str(told["object_path"]),
            kind=each.kind.name,
            message=each.kind.value,
            before=_shown(told["old_value"]),
            after=_shown(told["new_value"]),
        )


def _shown(value: object) -> str:
    """A value of either version: of a thing its path, of nothing nothing."""
    if value is None:
        return ""
    path = getattr(value, "path", None)
    return path if isinstance(path, str) else str(value)[:_LONGEST]
