"""Types of Python values, as far as they are certain."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from docstow.languages.python.check.scopes import Scope
from docstow.languages.shared.lookup import Installed
from docstow.languages.shared.surface import Openness, Symbol

_MOST_ALTERNATIVES = 4


@dataclass(frozen=True, slots=True)
class PackageType:
    """An instance of a package's class, or the class itself.

    Attributes:
        path: the class, by a path that its package knows.
        package: whose it is.
        arguments: the type arguments of the class, as far as they are known.
        subclasses: classes that it may be an instance of instead.
        open_ended: it may be an instance of classes that nobody can list; its names say nothing.
        is_class: it is the class.
        alternatives: further classes of the package of which it may be an instance as well.
    """

    path: str
    package: Installed
    arguments: tuple[ValueType | None, ...] = ()
    subclasses: tuple[str, ...] = ()
    open_ended: bool = False
    is_class: bool = False
    alternatives: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """All classes of which it may be an instance."""
        return (self.path, *self.subclasses, *self.alternatives)

    @property
    def openness(self) -> Openness:
        """What else it may have than the names that are seen."""
        return max(self.package.surface.openness(each) for each in self.paths)

    def each_alternative(self) -> tuple[PackageType, ...]:
        """Return what it may be, one by one."""
        plain = replace(self, alternatives=(), arguments=())
        return (plain, *(replace(plain, path=path, subclasses=()) for path in self.alternatives))

    def certainly_lacks(self, name: str) -> bool:
        """Return whether none of its classes is seen to have a public name."""
        if name.startswith("_") or self.open_ended:
            return False
        members = [f"{each}.{name}" for each in self.paths]
        symbol, lacks = self.package.surface.symbol, self.package.lacks
        return all(symbol(each) is None and lacks(each) is not False for each in members)


@dataclass(frozen=True, slots=True)
class LocalType:
    """An instance of a class that the code itself defines, or the class itself.

    Attributes:
        node: the class.
        scope: in which it is defined.
        is_class: it is the class.
        is_receiver: it is what a method of the class receives, so that it may be of any subclass.
    """

    node: ast.ClassDef
    scope: Scope = field(compare=False)
    is_class: bool = False
    is_receiver: bool = field(default=False, compare=False)


ValueType = PackageType | LocalType


class NoneValue:
    """The type of ``None``: a value whose names are used is not meant to be it."""


NONE = NoneValue()
Inferred = ValueType | NoneValue | None


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a dotted name of an annotation leads to.

    Attributes:
        path: by which it is asked for.
        defined_at: the path of its definition.
        symbol: what is there.
        package: whose it is.
    """

    path: str
    defined_at: str
    symbol: Symbol
    package: Installed


@dataclass(frozen=True, slots=True)
class AnnotationContext:
    """Where an annotation is written.

    Attributes:
        resolve: what a name or chain of attributes means there.
        receiver: the instance that a method belongs to.
        type_variables: what type variables stand for.
    """

    resolve: Callable[[ast.expr], Resolved | LocalType | None]
    receiver: ValueType | None = None
    type_variables: Mapping[str, ValueType | None] = field(default_factory=dict)


def join(types: Iterable[Inferred]) -> Inferred:
    """Return the type of a value that is one of several; None where that is not certain."""
    every = list(types)
    if not every or None in every:
        return None
    left = [each for each in every if isinstance(each, ValueType)]
    if not left:
        return NONE
    first = left[0]
    if all(each == first for each in left):
        return first
    of_packages = [each for each in left if isinstance(each, PackageType)]
    if len(of_packages) < len(left) or not isinstance(first, PackageType):
        return None
    if len({(each.path, each.is_class) for each in of_packages}) == 1:
        return replace(first, arguments=())
    if any(each.is_class or each.package.name != first.package.name for each in of_packages):
        return None
    path, *more = dict.fromkeys(
        path for each in of_packages for path in (each.path, *each.alternatives)
    )
    if len(more) >= _MOST_ALTERNATIVES:
        return None
    return PackageType(
        path,
        first.package,
        subclasses=tuple(dict.fromkeys(path for each in of_packages for path in each.subclasses)),
        open_ended=any(each.open_ended for each in of_packages),
        alternatives=tuple(more),
    )


def without_none(inferred: Inferred) -> ValueType | None:
    """Return the type, if it is not that of ``None``."""
    return None if isinstance(inferred, NoneValue) else inferred
