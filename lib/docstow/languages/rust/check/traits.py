"""The names that the traits in scope of a piece of Rust code may bring to any type."""

from __future__ import annotations

from functools import cached_property

from docstow.languages.rust.check.paths import Paths
from docstow.languages.rust.check.scope import LOCAL_ROOTS, Scope, Segments
from docstow.languages.rust.check.std import KNOWN, STANDARD, std_traits


class TraitsInScope:
    """The traits that one piece of code imports.

    Args:
        scope: the names that the code imports and declares.
        paths: looks up its paths.
    """

    def __init__(self, scope: Scope, paths: Paths) -> None:
        self._scope = scope
        self._paths = paths
        self._names: set[str] = set()
        #: Whether a trait with unknown members is in scope.
        self._anything = False

    @property
    def complete(self) -> bool:
        """Whether the code has whole items, and not statements alone."""
        return self._scope.complete

    def may_bring(self, name: str) -> bool:
        """Tell whether a trait in scope may bring a name to types that do not have it."""
        if name in self._scope.declared or not self._imports:
            return True  # the imports that the code needs are left out
        return self._looked and (self._anything or name in self._names)

    @cached_property
    def _imports(self) -> bool:
        """Whether the code seems to have all of its imports."""
        return bool(self._scope.leaves or self._scope.complete) and self._scope.closed

    @cached_property
    def _looked(self) -> bool:
        """Read all imports, once; always true."""
        targets = {path for paths in self._scope.imports.values() for path in paths}
        targets |= {leaf.path for leaf in self._scope.leaves if leaf.alias == "_"}
        for path in targets:
            self._add(path)
        for path in dict.fromkeys(self._scope.globs):
            self._add_glob(path)
        return True

    def _add(self, path: Segments) -> None:
        if path[-1][:1].islower() and path[0] not in LOCAL_ROOTS:
            return  # traits are written as types are
        absolute = self._scope.expand(path) if path[0] in self._scope.imports else path
        if absolute is None or absolute[0] in LOCAL_ROOTS:
            self._anything |= path[-1][:1].isupper()
            return
        if absolute[0] in STANDARD:
            self._add_standard(absolute)
            return
        found = self._paths.look_up(absolute).found
        self._anything |= not found
        for each in found:
            if each.kind == "trait":
                self._names |= each.names.titles_below(each.path)
            elif each.kind == "re-export":
                self._anything |= each.names.may_be_trait(each.path, self._paths.crates)

    def _add_standard(self, path: Segments) -> None:
        self._names |= std_traits().get(path[-1], frozenset())
        if "os" in path and path[-1] not in std_traits():
            self._anything = True  # other machines have traits that are not known here

    def _add_glob(self, path: Segments) -> None:
        absolute = self._scope.expand(path) if path and path[0] not in LOCAL_ROOTS else None
        if absolute is None:
            self._anything = True
        elif absolute[0] in KNOWN:
            self._names |= {name for members in std_traits().values() for name in members}
        else:
            names = self._paths.crate(absolute[0])
            self._anything |= names is None
            self._names |= names.trait_members if names is not None else set()
