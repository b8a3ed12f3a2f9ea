"""What a package offers to those who import it: symbols, and how they are asked for.

A surface is loaded from an installed package by its language, or from documents
(:mod:`docstow.languages.shared.stored_surface`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from docstow.languages.shared.project import Package

ParameterKind = Literal[
    "positional_only", "positional", "keyword_only", "var_positional", "var_keyword"
]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a call, without the ``self`` or ``cls`` that the caller does not pass.

    Attributes:
        name: of the parameter.
        kind: how it is passed.
        required: it has no default.
        kinds: plain kinds of values that it takes (``str``, ``function``), an empty text among
            them for what is not plain; empty where nothing tells.
    """

    name: str
    kind: ParameterKind
    required: bool
    kinds: tuple[str, ...] = field(default=(), compare=False)


SymbolKind = Literal[
    "module",
    "class",
    "function",
    "method",
    "attribute",
    "property",
    "type",
    "interface",
    "enum",
    "constant",
    "re-export",
]


@dataclass(frozen=True, slots=True)
class Symbol:
    """Something that can be named from outside.

    Attributes:
        path: the path that was asked for: ``fastapi.APIRouter``, ``zod.ZodObject.extend``.
        kind: what it is; ``re-export`` only where the target cannot be opened.
        file: where it is defined, relative to the package's ``files_root`` (of the package that
            defines it); empty where no file says it.
        line: first line of the definition, decorators included, from 1; 0 where there is none.
        end_line: last line.
        signature: the declaration as it would be written; all overloads, one a line.
        docstring: as written, without common indentation.
        deprecated: the reason that is given, or ``deprecated`` where none is; empty otherwise.
        target: where it is defined, if elsewhere than at ``path``: ``fastapi.routing.APIRouter``.
        parameters: of a call of it (a class is called as its constructor is); None where they
            cannot be known: overloads, decorators, metaclasses, synthesized constructors.
        module: the one in which it is written; empty where that is to be seen by its path.
        overloads: the same of each overload, where they tell more and that is certain.
    """

    path: str
    kind: SymbolKind
    file: str
    line: int
    end_line: int
    signature: str
    docstring: str
    deprecated: str = ""
    target: str = ""
    parameters: tuple[Parameter, ...] | None = None
    overloads: tuple[tuple[Parameter, ...], ...] = ()
    module: str = ""

    @property
    def forms(self) -> tuple[tuple[Parameter, ...], ...]:
        """The parameters of each form that a call may have; none where it cannot be known."""
        return self.overloads or ((self.parameters,) if self.parameters is not None else ())


#: What tells a definition from others: its file, its line, its name.
Home = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class Everything:
    """All names of a module or class, for who keeps them where its files are not.

    Attributes:
        names: those that can be written from outside without an underscore before them, each with
            its definition's home; None where nothing says it.
        certain: whether there are no others.
        through: ``name version`` of other packages that have a say in it.
    """

    names: Mapping[str, Home | None]
    certain: bool
    through: tuple[str, ...] = ()


class Openness(IntEnum):
    """What else a module or class may have than what is seen."""

    #: Nothing.
    CLOSED = 0
    #: Values that it holds; functions and methods are all seen.
    DATA = 1
    #: The same, under any name that somebody else chose: columns, keys.
    ITEMS = 2
    #: Some names that are set while it runs: what comes near a name that is seen is a slip.
    FEW = 3
    #: Anything.
    ANY = 4


class Surface(Protocol):
    """The public surface of one package, read only as far as is asked."""

    def modules(self) -> tuple[str, ...]:
        """Return the names of all modules that can be imported, sorted; the entry module first."""
        ...

    def symbol(self, path: str) -> Symbol | None:
        """Return what a dotted path means, seen through re-exports and base classes.

        None: there is no such name, or it cannot be known; ``certain(parent)`` tells which.
        """
        ...

    def members(self, path: str) -> Mapping[str, Symbol] | None:
        """Return the public names of a module, class or enumeration by name; None where unknown."""
        ...

    def listed(self, path: str) -> Iterator[str]:
        """Yield the names of the members of a module, class or enumeration."""
        ...

    def certain(self, path: str, name: str = "") -> bool:
        """Return whether the public names of a module or class are all seen: others are not there.

        Where a name is given: whether it would be seen, though others may not be.
        Names that begin with an underscore are never certain.

        False where static reading cannot see them all (``__getattr__``, native modules without
        stubs, unknown base classes, dynamic ``__all__``, index signatures, ``any``), and for a
        path that does not lead to anything.
        """
        ...

    def openness(self, path: str, name: str = "") -> Openness:
        """Return what else there may be than the names that are seen; ``certain``, with degrees."""
        ...

    def names(self) -> Iterator[str]:
        """Yield public names, for suggestions."""
        ...

    def homes(self, name: str) -> Iterator[str]:
        """Yield modules that may have a name which is not among ``names``."""
        ...


class Surfaces(Protocol):
    """What opens the surfaces of a project's packages."""

    def __call__(self, package: Package) -> Surface:
        """Return the surface of a package; the same one until it is made ready again."""
        ...

    def again(self) -> bool:
        """Make ready for another question; return whether what was read is still so, and not much.

        What is asked then must be answered as if it were the first.
        """
        ...
