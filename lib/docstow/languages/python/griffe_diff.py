"""What breaks between two versions of a Python package, as griffe finds it.

Nothing is run: what cannot be read from source is left out.
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
from docstow.text import python_ast

if TYPE_CHECKING:
    import griffe

_LONGEST_VALUE = 200
#: All sources of one version together.
_MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Breakage:
    """A change that breaks users of a package.

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
    """Return what breaks from one version of a package to another, sorted by path.

    Args:
        name: of its module.
        old: the folder of import names with the older version.
        new: the folder with the newer one.

    Raises:
        UnreadableInput: it cannot be loaded from one of them.
    """
    import griffe

    # griffe logs what it cannot resolve.
    logging.getLogger("griffe").setLevel(logging.CRITICAL)
    with TemporaryDirectory(prefix="docstow-") as scratch:
        sides = [
            _copy_sources(name, root, Path(scratch, str(at))) for at, root in enumerate((old, new))
        ]
        found = griffe.find_breaking_changes(*(_load(name, side) for side in sides))
        breakages = set(_breakages(found))
    return sorted(breakages, key=lambda each: (each.path, each.kind, each.message))


def _copy_sources(name: str, root: Path, into: Path) -> Path:
    """Copy the sources of a module to a folder, since griffe would follow links out of theirs."""
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
        """A loader that parses each module while no other thread parses."""

        def _visit_module(self, *args: Any, **named: Any) -> griffe.Module:
            with python_ast.parser_lock():
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
        change = each.as_dict(full=False)
        yield Breakage(
            path=str(change["object_path"]),
            kind=each.kind.name,
            message=each.kind.value,
            before=_format_value(change["old_value"]),
            after=_format_value(change["new_value"]),
        )


def _format_value(value: object) -> str:
    """Return an object's path, or the text of any other value; empty for None."""
    if value is None:
        return ""
    path = getattr(value, "path", None)
    return path if isinstance(path, str) else str(value)[:_LONGEST_VALUE]
