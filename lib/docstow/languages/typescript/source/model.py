"""The names that one TypeScript or JavaScript file declares, imports and exports.

Places are bytes of the file, so that a declaration is read in detail only on demand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

DeclarationKind = Literal[
    "class", "interface", "function", "constant", "type", "enum", "namespace", "value"
]
#: The local name of what ``export default`` gives no name.
DEFAULT = "*default*"


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes ``start`` to ``end`` of a file, and their lines, from 1."""

    start: int
    end: int
    line: int
    end_line: int


@dataclass(frozen=True, slots=True, eq=False)
class Declaration:
    """One declaration of a name; a name may have several, which are merged.

    Attributes:
        name: local; :data:`DEFAULT` where there is none.
        kind: ``value`` is an expression, exported as it is.
        span: the whole statement.
        doc: the documentation comment before it, as written; empty without one.
        scope: what a namespace holds.
    """

    name: str
    kind: DeclarationKind
    span: Span
    doc: str = ""
    scope: Scope | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that stands for another one.

    Attributes:
        module: the specifier of the other module; empty for a name of this file.
        path: the names that lead to it; empty for the module itself.
        whole: ``import x = require()`` or ``module.exports = require()``: what the module *is*,
            where ``export =`` makes that something else than its namespace.
    """

    module: str
    path: tuple[str, ...] = ()
    whole: bool = False


@dataclass(slots=True, eq=False)
class Scope:
    """The names of a file, a namespace or an ambient module.

    Attributes:
        names: declarations by local name.
        imports: what imported and aliased names stand for.
        exports: what exported names stand for.
        stars: specifiers of ``export * from``.
        equals: what the module is as a whole: ``export =``, ``module.exports =``; in JavaScript
            there may be several, one of which is assigned when it runs.
        explicit: whether only what is exported by name is visible from outside.
        dynamic: whether there may be exports that are not seen: broken syntax, computed names.
    """

    names: dict[str, list[Declaration]] = field(default_factory=dict)
    imports: dict[str, Reference] = field(default_factory=dict)
    exports: dict[str, Reference] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    equals: list[Reference] = field(default_factory=list)
    explicit: bool = False
    dynamic: bool = False

    def declare(self, declaration: Declaration) -> None:
        """Add a declaration to those of its name."""
        self.names.setdefault(declaration.name, []).append(declaration)


@dataclass(slots=True, eq=False)
class Source:
    """One file.

    Attributes:
        body: its bytes.
        script: whether it is JavaScript, whose types nothing declares.
        scope: the names of the file itself.
        ambient: what ``declare module "x"`` holds, by specifier; one that is declared without a
            body may hold anything.
        ambient_globals: what ``declare global`` holds.
        module: whether it imports or exports anything; the others declare globals.
    """

    body: bytes
    script: bool
    scope: Scope
    ambient: dict[str, Scope] = field(default_factory=dict)
    ambient_globals: Scope = field(default_factory=Scope)
    module: bool = False
