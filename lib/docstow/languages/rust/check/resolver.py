"""Resolve the names of a piece of Rust code, and tell what its traits may bring."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from docstow.languages.rust.check.paths import Paths
from docstow.languages.rust.check.scope import LOCAL_ROOTS, Scope, Segments, segments
from docstow.languages.rust.check.shown_traits import SHOWN_TRAITS
from docstow.languages.rust.check.std import KNOWN, PRELUDE_TYPES, PRIMITIVES, STANDARD, std_traits

if TYPE_CHECKING:
    from tree_sitter import Node

    from docstow.languages.rust.check.crate_items import Found

#: Globs of code with more of them are not resolved.
_MOST_GLOBS = 40


class Resolver:
    """Resolves the names of one piece of code, and knows the traits that it imports.

    Absolute paths begin with the crate's name; what is not certain resolves to None.

    Args:
        scope: the names that the code imports and declares.
        paths: looks up its paths.
    """

    def __init__(self, scope: Scope, paths: Paths) -> None:
        self._scope = scope
        self._paths = paths
        #: Names that traits in scope bring.
        self._trait_names: set[str] = set()
        #: Those of them that the standard library's traits and globs bring.
        self._of_others: set[str] = set()
        #: The methods of the crates' traits that the code imports by name.
        self._methods: dict[str, list[Found]] = {}
        #: Names that traits bring which crates show as their own.
        self._shown: set[str] = set()
        #: Whether a trait with unknown members is in scope.
        self._anything = False

    @property
    def complete(self) -> bool:
        """Whether the code has whole items, and not statements alone."""
        return self._scope.complete

    @property
    def imports_some(self) -> bool:
        """Whether the code imports anything."""
        return bool(self._scope.leaves)

    def may_bring(self, name: str) -> bool:
        """Tell whether a trait in scope may bring a name to types that do not have it."""
        if name in self._scope.brought or not self._has_imports:
            return True  # the imports that the code needs are left out
        return self._looked and (self._anything or name in self._trait_names)

    def is_brought(self, name: str) -> bool:
        """Tell whether a crate's trait in scope may bring a name."""
        known = self._looked and (name in self._methods or name in self._shown)
        return known or self._anything

    def is_unknown_trait(self, name: str) -> bool:
        """Tell whether only a trait in scope that nobody has the docs of may bring a name."""
        is_left_out = name in self._scope.brought or not self._has_imports
        return not is_left_out and self._looked and name not in self._trait_names

    def shows(self, name: str) -> bool:
        """Tell whether a trait brings a name that a crate shows as its own."""
        return self._looked and name in self._shown

    def brought(self, name: str, traits: Sequence[str] = ()) -> Found | None:
        """Return the method that one imported trait, and no other in scope, brings to its types.

        Args:
            name: of the method.
            traits: that the type has, which decide among several.
        """
        if not self.may_bring(name) or not self._has_imports or self._anything:
            return None
        found = self._methods.get(name, [])
        if len(found) > 1:
            found = [each for each in found if each.parent in traits]
        elsewhere = name in self._scope.brought or name in self._of_others
        return found[0] if len(found) == 1 and not elsewhere else None

    def brought_methods(self) -> list[Found]:
        """Return the methods of the crates' traits that the code imports by name."""
        return [each for found in self._methods.values() for each in found] if self._looked else []

    def is_defined(self, name: str) -> bool:
        """Tell whether the code declares or imports a name."""
        return name in self._scope.declared or name in self._scope.imports

    def declares(self, name: str) -> bool:
        """Tell whether the code declares a name."""
        return name in self._scope.declared

    def imports(self, name: str) -> bool:
        """Tell whether the code imports a name."""
        return name in self._scope.imports

    def through_imports(self, path: Segments) -> Segments:
        """Return a path with its import replaced; empty where that is not certain."""
        return self._scope.expand(path) or ()

    def resolve_node(self, node: Node) -> Segments | None:
        """Resolve the path or single name that a node writes."""
        path = segments(node)
        if path is None:
            return None
        if len(path) == 1:
            return self.resolve_name(path)
        return None if node.has_error else self.resolve(path)

    def resolve(self, path: Segments) -> Segments | None:
        """Resolve a path."""
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
            if known or not self._scope.globs:
                return self._rooted(path)
            return self._through_globs(path)
        return self._through_globs(path) or self._from_prelude(path)

    def resolve_name(self, path: Segments) -> Segments | None:
        """Resolve a single name, only where an import or the prelude says what it is."""
        if path[0] in self._scope.imports:
            return self._imported(path)
        if path[0] in self._scope.declared or not path[0][:1].isupper():
            return None
        return self._through_globs(path) or self._from_prelude(path)

    def _imported(self, path: Segments) -> Segments | None:
        """Resolve an import; ``f64`` is the module or, for what that lacks, the primitive."""
        absolute = self._rooted(self._scope.expand(path))
        if path[0] in PRIMITIVES and absolute and absolute[0] in STANDARD:
            found = self._paths.look_up(absolute).found
            return absolute if found or len(path) == 1 else path
        return absolute

    def _rooted(self, path: Segments | None) -> Segments | None:
        return path if path and path[0] not in LOCAL_ROOTS else None

    def _from_prelude(self, path: Segments) -> Segments | None:
        known = PRELUDE_TYPES.get(path[0])
        if path[0] == "Box" and len(path) > 1:
            known = "std::boxed::Box"
        return (*known.split("::"), *path[1:]) if known is not None else None

    def _through_globs(self, path: Segments) -> Segments | None:
        """Resolve a name that one glob, and no other, brings in."""
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
        """The modules that globs bring in; None where one of them is not known."""
        found: dict[Segments, None] = {}
        for base in dict.fromkeys(self._scope.globs):
            absolute = self._scope.expand(base) if base and base[0] not in LOCAL_ROOTS else None
            if absolute is None or self._paths.crate(absolute[0]) is None:
                return None
            found.setdefault(absolute)
            if len(found) > _MOST_GLOBS:
                return None
        return list(found)

    @cached_property
    def _has_imports(self) -> bool:
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
            self._anything |= self._may_be_trait(path[-1])
            return
        if absolute[0] in STANDARD:
            self._add_standard(absolute)
            return
        found = self._paths.look_up(absolute).found
        self._anything |= not found and self._may_be_trait(path[-1])
        for each in found:
            if each.kind == "trait":
                self._add_trait(each)
            elif each.kind == "re-export":
                self._add_shown(each)

    def _add_trait(self, trait: Found) -> None:
        below = trait.names.titles_below(trait.path)
        self._trait_names |= below
        for name in below:
            members = trait.names.find(f"{trait.path}::{name}")
            methods = [one for one in members if one.kind == "method"]
            self._methods.setdefault(name, []).extend(methods)

    def _add_shown(self, found: Found) -> None:
        """Add what another crate's item brings that a crate shows as its own."""
        target = found.names.re_exports.get(found.path, "")
        first = target.partition("::")[0]
        if first not in STANDARD and found.names.may_show_trait(found, self._paths.crates):
            self._paths.crates.behind(found.names, first)
        there = self._paths.look_up(tuple(target.split("::"))).found if target else ()
        if traits := [each for each in there if each.kind == "trait"]:
            for each in traits:
                self._add_trait(each)
            return
        shown = SHOWN_TRAITS.get(target)
        self._shown |= shown or frozenset()
        self._trait_names |= self._shown
        is_open = shown is None and found.names.may_show_trait(found, self._paths.crates)
        self._anything |= is_open

    def _may_be_trait(self, name: str) -> bool:
        """Tell whether an import of which nothing is known may be a trait: no value is of one."""
        return name[:1].isupper() and name not in self._scope.types

    def _add_standard(self, path: Segments) -> None:
        self._of_others |= std_traits().get(path[-1], frozenset())
        self._trait_names |= std_traits().get(path[-1], frozenset())
        if "os" in path and path[-1] not in std_traits():
            self._anything = True  # other machines have traits that are not known here

    def _add_glob(self, path: Segments) -> None:
        absolute = self._scope.expand(path) if path and path[0] not in LOCAL_ROOTS else None
        if absolute is None:
            self._anything = True
        elif absolute[0] in KNOWN:
            of_all = {name for members in std_traits().values() for name in members}
            self._of_others |= of_all
            self._trait_names |= of_all
        else:
            names = self._paths.crate(absolute[0])
            if names is None:
                self._anything = True
                return
            module = names.whole(absolute)
            shown = (found for path in names.aliases_below(module) for found in names.find(path))
            for each in (*names.members(module), *shown):
                if each.kind == "re-export":
                    self._add_shown(each)
                elif each.kind == "trait":
                    self._add_trait(each)
            # Docs leave out the traits that a module shows without a name.
            self._of_others |= names.trait_members - self._methods.keys()
            self._trait_names |= self._of_others
