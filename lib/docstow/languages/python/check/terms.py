"""The words in which it is said what a Python value certainly is.

This room knows terms and how two become one. It does not know where they come from.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from docstow.languages.shared.lookup import Installed
from docstow.text import python_ast as python_tree

if TYPE_CHECKING:
    from docstow.languages.python.check.scopes import Scope
    from docstow.languages.shared.surface import Symbol


@dataclass(frozen=True, slots=True)
class Made:
    """An instance of a package's class, or the class itself.

    Attributes:
        path: the class, by a path that its package knows.
        package: whose it is.
        given: what the class is subscripted with, as far as it is known.
        others: classes that it may be an instance of instead.
        vague: it may be an instance of classes that nobody can list; its names say nothing.
        itself: it is the class.
        union: further classes of the package of which it may be an instance as well.
    """

    path: str
    package: Installed
    given: tuple[Term | None, ...] = ()
    others: tuple[str, ...] = ()
    vague: bool = False
    itself: bool = False
    union: tuple[str, ...] = ()

    def each(self) -> tuple[Made, ...]:
        """What it may be, one by one."""
        plain = replace(self, union=(), given=())
        return (plain, *(replace(plain, path=path, others=()) for path in self.union))


@dataclass(frozen=True, slots=True)
class Own:
    """An instance of a class that the code itself defines, or the class itself.

    Attributes:
        node: the class.
        scope: in which it is defined.
        itself: it is the class.
        received: it is what a method of the class receives, so that it may be of any heir.
    """

    node: ast.ClassDef
    scope: Scope = field(compare=False)
    itself: bool = False
    received: bool = field(default=False, compare=False)


Term = Made | Own


@dataclass(frozen=True, slots=True)
class Found:
    """What a dotted name of an annotation leads to.

    Attributes:
        path: by which it is asked for.
        home: where it is defined.
        symbol: what is there.
        package: whose it is.
    """

    path: str
    home: str
    symbol: Symbol
    package: Installed


class Nothing:
    """None: whatever is asked of a value for its names, it is not meant to be this."""


NOTHING = Nothing()
_MOST_WAYS = 4
Read = Term | Nothing | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where an annotation is written.

    Attributes:
        find: what a name or chain of attributes means there.
        me: the instance that a method belongs to.
        bound: what type variables stand for.
    """

    find: Callable[[ast.expr], Found | Own | None]
    me: Term | None = None
    bound: Mapping[str, Term | None] = field(default_factory=dict)


def joined(terms: Iterable[Read]) -> Read:
    """What a value is that is one of several things; None where that says nothing."""
    left: list[Term] = []
    every = list(terms)
    for each in every:
        if each is None:
            return None
        if not isinstance(each, Nothing) and each not in left:
            left.append(each)
    if not left:
        return NOTHING if every else None
    first = left[0]
    if all(each == first for each in left):
        return first
    made = [each for each in left if isinstance(each, Made)]
    if len(made) == len(left) and len({(each.path, each.itself) for each in made}) == 1:
        return replace(made[0], given=())
    if len(made) == len(left) and len({each.package.name for each in made}) == 1:
        paths = dict.fromkeys(path for each in made for path in (each.path, *each.union))
        if len(paths) <= _MOST_WAYS and not any(each.itself for each in made):
            others = tuple(dict.fromkeys(path for each in made for path in each.others))
            vague = any(each.vague for each in made)
            path, *more = paths
            return Made(path, made[0].package, (), others, vague, union=tuple(more))
    return None


def known(read: Read) -> Term | None:
    """The term, if it is one."""
    return None if isinstance(read, Nothing) else read


def expression(text: str) -> ast.expr | None:
    """An annotation that is written as a string."""
    try:
        return python_tree.expression(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
