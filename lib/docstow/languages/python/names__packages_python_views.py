"""What a name of a Python package may lead to: a module, a definition in a file, or neither.

This room knows the words in which answers are given. It does not know how names are found
(:mod:`docstow.languages.python.names`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from docstow.languages.python.files import Layer, ModuleFiles
from docstow.languages.python.source.facts import Definition

if TYPE_CHECKING:
    from docstow.languages.python.names import Names


@dataclass(frozen=True, slots=True)
class ModuleView:
    """A module."""

    names: Names
    module: ModuleFiles

    @property
    def path(self) -> str:
        """Its dotted name."""
        return self.module.name


@dataclass(frozen=True, slots=True)
class View:
    """One file's definition of something.

    Attributes:
        names: of the package that has it.
        module: dotted.
        layer: the file.
        path: canonical: where it is defined.
        definition: what is written there.
        several: other branches define it otherwise.
        owner: the class in which it is defined.
    """

    names: Names
    module: str
    layer: Layer
    path: str
    definition: Definition
    several: bool = False
    owner: View | None = None


@dataclass(frozen=True, slots=True)
class Outside:
    """Something of a package that is not here, or of the standard library."""

    path: str


Seen = ModuleView | View | Outside
Trail = tuple[tuple[int, str, str], ...]


def view_step(view: Seen, name: str, trail: Trail = ()) -> list[Seen]:
    """What a name means inside of something."""
    if isinstance(view, ModuleView):
        return view.names.in_module(view.module, name, trail)
    if isinstance(view, Outside):
        return [Outside(f"{view.path}.{name}")]
    if view.definition.kind == "class":
        return view.names.in_class(view, name, trail)
    return []


def nearest(found: list[Seen], view: View) -> Seen | None:
    """Of several views of a base class the one that is as close to the class as can be."""
    views = [each for each in found if isinstance(each, View)]
    same = [
        each for each in views if (each.layer.role == "source") == (view.layer.role == "source")
    ]
    return next(iter(same or views or found), None)


def doubted(view: Seen) -> Seen:
    """The same, with a note that other branches bind it otherwise."""
    if not isinstance(view, View) or view.several:
        return view
    return replace(view, several=True)


def unique(views: Iterable[Seen]) -> list[Seen]:
    """Each view once; what is not here only where nothing else is."""
    found: list[Seen] = []
    marks = set()
    for each in views:
        layer = each.layer.path if isinstance(each, View) else None
        mark = (type(each), each.path, layer)
        if mark not in marks:
            marks.add(mark)
            found.append(each)
    inside: list[Seen] = [each for each in found if not isinstance(each, Outside)]
    return inside or found
