"""The paths that names in Rust code mean: through its imports, its globs and the prelude.

This room knows scopes. It does not know which members types have.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from docstow.languages.rust.check.paths import Paths
from docstow.languages.rust.check.scope import LOCAL_ROOTS, Scope, Segments, segments
from docstow.languages.rust.check.std__verify_std_names import PRELUDE_TYPES, PRIMITIVES, STANDARD

if TYPE_CHECKING:
    from tree_sitter import Node

#: Code with more globs is not looked through.
_MOST_GLOBS = 40


class Meant:
    """What the names of one piece of code mean.

    Args:
        names: its scope.
        paths: where its paths are looked up.
    """

    def __init__(self, names: Scope, paths: Paths) -> None:
        self._scope = names
        self._paths = paths

    def own(self, name: str) -> bool:
        """Whether the code itself says what a name is."""
        return name in self._scope.declared or name in self._scope.imports

    def declares(self, name: str) -> bool:
        """Whether the code defines a name itself."""
        return name in self._scope.declared

    def imports(self, name: str) -> bool:
        """Whether the code imports a name."""
        return name in self._scope.imports

    def expanded(self, path: Segments) -> Segments:
        """A path through the imports; empty where it is not certain."""
        return self._scope.expand(path) or ()

    def absolute(self, node: Node) -> Segments | None:
        """The path that a node means, the crate's name first; None where it is not certain."""
        path = segments(node) if not node.has_error else None
        return self.path(path) if path else None

    def path(self, path: Segments) -> Segments | None:
        """The path that names mean, the crate's first; None where it is not certain."""
        if path[0] in LOCAL_ROOTS:
            return None
        first = path[0]
        if first in self._scope.imports:
            return self._imported(path)
        if first in self._scope.declared:
            return None
        if first in PRIMITIVES:
            return path
        if first == "":
            return self._rooted(path[1:])
        if len(path) > 1 and (first[0].islower() or first[0] == "_"):
            known = self._paths.crate(first) is not None
            return self._rooted(path) if known or not self._scope.globs else None
        return self._through_globs(path) or self._from_prelude(path)

    def named(self, path: Segments) -> Segments | None:
        """A single name, only where an import or the prelude says what it is."""
        if path[0] in self._scope.imports:
            return self._imported(path)
        if path[0] in self._scope.declared or not path[0][:1].isupper():
            return None
        return self._through_globs(path) or self._from_prelude(path)

    def _imported(self, path: Segments) -> Segments | None:
        """Of ``use std::f64`` the module or, where it has no such name, the primitive."""
        absolute = self._rooted(self._scope.expand(path))
        if path[0] in PRIMITIVES and absolute and absolute[0] in STANDARD:
            found = self._paths.look_up(absolute).found
            return absolute if found or len(path) == 1 else path
        return absolute

    def _rooted(self, path: Segments | None) -> Segments | None:
        return path if path and path[0] not in LOCAL_ROOTS else None

    def _from_prelude(self, path: Segments) -> Segments | None:
        known = PRELUDE_TYPES.get(path[0])
        return (*known.split("::"), *path[1:]) if known is not None else None

    def _through_globs(self, path: Segments) -> Segments | None:
        """A name that one glob, and no other, brings in."""
        if path[0] not in self._by_glob:
            bases = self._globbed
            fitting = {base for base in bases or () if self._paths.look_up((*base, path[0])).found}
            self._by_glob[path[0]] = fitting.pop() if len(fitting) == 1 else None
        base = self._by_glob[path[0]]
        return (*base, *path) if base is not None else None

    @cached_property
    def _by_glob(self) -> dict[str, Segments | None]:
        return {}

    @cached_property
    def _globbed(self) -> list[Segments] | None:
        """The modules whose names are all brought in; None where one of them is not known."""
        found: dict[Segments, None] = {}
        for base in dict.fromkeys(self._scope.globs):
            absolute = self._scope.expand(base) if base and base[0] not in LOCAL_ROOTS else None
            if absolute is None or self._paths.crate(absolute[0]) is None:
                return None
            found.setdefault(absolute)
            if len(found) > _MOST_GLOBS:
                return None
        return list(found)
