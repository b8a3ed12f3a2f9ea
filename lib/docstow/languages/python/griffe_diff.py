"""What breaks between two versions of a Python package, as griffe finds it.

This room knows griffe. It does not know where versions come from, nor how an answer looks.
Nothing is run: what cannot be read from its source is left out.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from docstow.core.errors import DocstowError, UnreadableInput
from docstow.languages.shared.sandbox import Boundary
from docstow.text import python_ast as python_tree

if TYPE_CHECKING:
    import griffe

_LONGEST = 200
#: All sources of one version together.
_MOST_BYTES = 64 * 1024 * 1024


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

    # What it cannot resolve it only tells about.
    logging.getLogger("griffe").setLevel(logging.CRITICAL)
    with TemporaryDirectory(prefix="docstow-") as scratch:
        sides = [_copied(name, root, Path(scratch, str(at))) for at, root in enumerate((old, new))]
        found = griffe.find_breaking_changes(*(_load(name, side) for side in sides))
        breakages = set(_breakages(found))
    return sorted(breakages, key=lambda each: (each.path, each.kind, each.message))


def _copied(name: str, root: Path, into: Path) -> Path:
    """The sources of what is imported, and nothing else: griffe would follow links out."""
    boundary = Boundary(root)
    top = boundary.root / name
    files = [each for each in (top.with_suffix(".py"), top.with_suffix(".pyi")) if each.is_file()]
    left = _MOST_BYTES
    for path in [*files, *(boundary.walk(top) if top.is_dir() else ())]:
        if path.suffix not in (".py", ".pyi"):
            continue
        try:
            body = boundary.read(path)
        except DocstowError:
            continue
        left -= len(body)
        if left < 0:
            raise UnreadableInput(f"{name} cannot be compared: its sources are too large.")
        copy = into / path.relative_to(boundary.root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(body)
    into.mkdir(exist_ok=True)
    return into


def _load(name: str, real: Path) -> griffe.Object | griffe.Alias:
    import griffe

    class Loader(griffe.GriffeLoader):
        """One that parses each module when nobody else does."""

        def _visit_module(self, *args: Any, **named: Any) -> griffe.Module:
            with python_tree.turn():
                return super()._visit_module(*args, **named)

    loader = Loader(
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
