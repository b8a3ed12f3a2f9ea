"""Which names the traits in view of a piece of Rust code may bring to any type.

This room knows imports and traits. It does not note findings.
"""

from __future__ import annotations

from collections.abc import Iterator

from docstow.verify.rust_names import STANDARD, Crates, Found
from docstow.verify.rust_paths import look_up
from docstow.verify.rust_scope import LOCAL_ROOTS, Scope, Segments
from docstow.verify.std_names import PRELUDE, std_traits


class View:
    """The traits that one piece of code has in view.

    Args:
        names: its scope.
        crates: the crates it may use.
    """

    def __init__(self, names: Scope, crates: Crates) -> None:
        self._scope = names
        self._crates = crates

    def _by_trait(self, name: str) -> bool:
        """Whether a trait that is in view may bring a name to types that do not have it."""
        if name in self._scope.declared or not self._scope.leaves:
            return True  # without any import, those that it needs are left out
        if any(name in std_traits().get(trait, ()) for trait in PRELUDE):
            return True
        targets = [path for paths in self._scope.imports.values() for path in paths]
        targets += [leaf.path for leaf in self._scope.leaves if leaf.alias == "_"]
        return any(self._may_bring(path, name) for path in targets) or any(
            self._glob_may_bring(path, name) for path in self._scope.globs
        )

    def _may_bring(self, path: Segments, name: str) -> bool:
        if path[-1][:1].islower() and path[0] not in LOCAL_ROOTS:
            return False  # traits are written as types are
        absolute = self._scope.expand(path) if path[0] in self._scope.imports else path
        if absolute is None or absolute[0] in LOCAL_ROOTS:
            return path[-1][:1].isupper()
        if absolute[0] in STANDARD:
            return name in std_traits().get(absolute[-1], ())
        found = look_up(absolute, self._crates).found
        if not found:
            return True
        for each in found:
            if each.kind == "trait":
                if each.names.trait_has(each.path, name, self._crates) is not False:
                    return True
            elif each.kind == "re-export" and each.names.may_be_trait(each.path, self._crates):
                return True
        return False

    def _glob_may_bring(self, path: Segments, name: str) -> bool:
        absolute = self._scope.expand(path) if path and path[0] not in LOCAL_ROOTS else None
        if absolute is None:
            return True
        if absolute[0] in STANDARD:
            return any(name in members for members in std_traits().values())
        names = self._crates.crate(absolute[0])
        if names is None:
            return True
        return any(
            each.rpartition("::")[2] == name and owner.kind == "trait"
            for owner, each in _trait_members(names.find(names.root))
        )


def _trait_members(found: tuple[Found, ...]) -> Iterator[tuple[Found, str]]:
    """All members of all traits of a crate."""
    for root in found[:1]:
        columns = root.names.index.columns
        for row, kind in enumerate(columns["kind"]):
            if kind == "trait":
                owner = Found(root.names, row)
                for each in root.names.members(owner.path):
                    yield owner, each.path
