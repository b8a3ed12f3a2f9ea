"""The names of one version of a crate that are in its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Protocol

from docstow.core.model import (
    BLANKET_TRAITS,
    DEREFS_TO,
    DERIVED,
    MENTIONS,
    OPERATES,
    WRITTEN,
    YIELDS,
)
from docstow.languages.rust.check.std import STANDARD, StdTables, is_standard, std_traits, tables
from docstow.languages.rust.check.undocumented import Undocumented
from docstow.languages.shared.findings import nearest
from docstow.languages.shared.likeness import shape

if TYPE_CHECKING:
    from docstow.index.loaded import Index

TYPES = frozenset({"struct", "enum", "union", "primitive"})
FUNCTIONS = frozenset({"function", "method"})
#: Kinds whose members the tables have in part only, or not at all.
OPAQUE = frozenset({"re-export", "type_alias", "assoc_type", "extern_type", "macro"})


class Crates(Protocol):
    """Finds crates by the name that code uses."""

    def crate(self, name: str) -> CrateNames | None:
        """Return the crate in the version that the code uses; None where none is stored."""
        ...

    def behind(self, names: CrateNames, name: str) -> CrateNames | None:
        """Return a crate whose items another one's docs name or show; fetched, where that may be.

        Args:
            names: the other crate.
            name: as paths begin with it.
        """
        ...

    def other_versions(self, name: str) -> Sequence[CrateNames]:
        """Return the same crate in further stored versions, the newest first."""
        ...


@dataclass(frozen=True, slots=True)
class Found:
    """An item of a crate."""

    names: CrateNames
    row: int

    @property
    def path(self) -> str:
        """Its canonical path."""
        return str(self.names.index.columns["path"][self.row])

    @property
    def kind(self) -> str:
        """Its kind."""
        return str(self.names.index.columns["kind"][self.row])

    @property
    def signature(self) -> str:
        """Its declaration."""
        return str(self.names.index.columns["signature"][self.row])

    @property
    def parent(self) -> str:
        """The path of its owner."""
        return str(self.names.index.columns["parent"][self.row])

    @property
    def summary(self) -> str:
        """What its docs say first; empty for the standard library's."""
        summaries = self.names.index.columns.get("summary")
        return str(summaries[self.row]) if summaries is not None else ""

    @property
    def attributes(self) -> Mapping[str, Any]:
        """Its attributes."""
        return self.names.index.attributes(self.row)

    @property
    def recommended(self) -> bool:
        """Whether it is neither deprecated nor unstable."""
        attributes = str(self.names.index.columns["attributes"][self.row])
        return '"deprecated"' not in attributes and '"unstable"' not in attributes


class CrateNames:
    """The names of one version of a crate.

    Args:
        index: its tables.
    """

    def __init__(self, index: Index | StdTables) -> None:
        self.index = index
        path = str(index.columns["path"][0])
        self.root = "std" if is_standard(path) else path.split("::", 1)[0]
        self.undocumented = Undocumented(index, self.root)
        #: Names of crates that its docs name and that cannot be had.
        self.unavailable: set[str] = set()

    @classmethod
    def of(cls, index: Index) -> CrateNames:
        """Return the names of an index, with what was found out about them before."""
        names: CrateNames = index.made.setdefault(cls, cls(index))
        return names

    @property
    def version(self) -> str:
        """The version."""
        return self.index.snapshot.revision.version

    @property
    def package(self) -> str:
        """The crate's name as it spells itself."""
        return self.index.snapshot.revision.source.name

    def find(self, path: str) -> tuple[Found, ...]:
        """Return what a path or any alias of it means, in all namespaces."""
        return tuple(Found(self, row) for row in self.index.find(path))

    def whole(self, path: Sequence[str]) -> str:
        """Return a path as the tables have it, whatever name the code has for the crate."""
        return "::".join(path if self.root == "std" else (self.root, *path[1:]))

    @cached_property
    def re_exports(self) -> Mapping[str, str]:
        """The paths in other crates that paths here mean."""
        return {
            subject: target
            for subject, predicate, target in self._relations()
            if predicate == "re-exports" and not target.endswith("::*")
        }

    def _relations(self) -> Iterator[tuple[str, str, str]]:
        table = self.index.relations
        rows = zip(table["subject"], table["predicate"], table["object"], strict=True)
        return ((str(here), str(predicate), str(there)) for here, predicate, there in rows)

    def members(self, path: str) -> list[Found]:
        """Return what a module, type or trait owns."""
        return [Found(self, row) for row in self.index.rows_by_parent.get(path, ())]

    @cached_property
    def _relations_of(self) -> Mapping[str, list[tuple[str, str]]]:
        found: dict[str, list[tuple[str, str]]] = {}
        wanted = {WRITTEN, DERIVED, BLANKET_TRAITS, DEREFS_TO, YIELDS, OPERATES, MENTIONS}
        for subject, predicate, target in self._relations():
            if predicate in wanted:
                found.setdefault(subject, []).append((predicate, target))
        return found

    def traits(self, path: str) -> list[str]:
        """Return the paths of all traits that a type has, automatic ones left out."""
        found: list[str] = []
        for predicate, target in self._relations_of.get(path, ()):
            if predicate in {WRITTEN, DERIVED, BLANKET_TRAITS}:
                found += [each for each in target.split(" ") if not each.startswith("!")]
        return found

    def derefs(self, path: str) -> list[str]:
        """Return the paths of what a type dereferences to."""
        return self._objects(path, DEREFS_TO)

    def yields(self, path: str) -> list[str]:
        """Return what a type gives one after another or once it is awaited, with whole paths."""
        return self._objects(path, YIELDS)

    def operates(self, path: str, trait: str) -> list[tuple[str, str]]:
        """Return what an operator of a type takes after it, and gives, with whole paths."""
        found = []
        for each in self._objects(path, OPERATES):
            head, _, output = each.partition(" = ")
            name, _, other = head.partition(" ")
            if name == trait:
                found.append((other, output))
        return found

    def mentions(self, path: str) -> dict[str, str]:
        """Return the paths that a declaration means by names that are not unique."""
        found: dict[str, list[str]] = {}
        for each in (path for said in self._objects(path, MENTIONS) for path in said.split(" ")):
            found.setdefault(each.rpartition("::")[2], []).append(each)
        return {name: paths[0] if len(paths) == 1 else "" for name, paths in found.items()}

    @cached_property
    def tells_mentions(self) -> bool:
        """Whether the tables say what declarations mean by names that are not unique."""
        told = {YIELDS, MENTIONS}
        return any(each in told for _, each, _ in self._relations())

    def _objects(self, path: str, wanted: str) -> list[str]:
        return [
            there for predicate, there in self._relations_of.get(path, ()) if predicate == wanted
        ]

    def trait_has(self, trait: str, member: str, crates: Crates) -> bool | None:
        """Tell whether a trait, named by any crate's path, brings a member; None where unknown."""
        first, _, _ = trait.partition("::")
        if first in STANDARD:
            known = std_traits().get(trait.rpartition("::")[2])
            return None if known is None else member in known
        names = self if first == self.root else crates.crate(first)
        if names is None:
            return None
        found = [each for each in names.find(trait) if each.kind == "trait"]
        return member in names.titles_below(found[0].path) if found else None

    def titles_below(self, path: str) -> frozenset[str]:
        """Return the last names of what a module, type or trait owns."""
        if path not in self._titles_below:
            titles = self.index.columns["title"]
            rows = self.index.rows_by_parent.get(path, ())
            self._titles_below[path] = frozenset(str(titles[row]) for row in rows)
        return self._titles_below[path]

    @cached_property
    def _titles_below(self) -> dict[str, frozenset[str]]:
        return {}

    @cached_property
    def trait_members(self) -> frozenset[str]:
        """Names of what any trait of the crate brings."""
        columns = self.index.columns
        pairs = zip(columns["path"], columns["kind"], strict=True)
        traits = (str(path) for path, kind in pairs if kind == "trait")
        return frozenset(name for path in traits for name in self.titles_below(path))

    @cached_property
    def types_by_title(self) -> Mapping[str, list[str]]:
        """Canonical paths of types by their last names."""
        found: dict[str, list[str]] = {}
        columns = self.index.columns
        for row, kind in enumerate(columns["kind"]):
            if kind in TYPES or kind in {"type_alias", "re-export", "trait"}:
                found.setdefault(str(columns["title"][row]), []).append(str(columns["path"][row]))
        return found

    def may_be_trait(self, path: str, crates: Crates) -> bool:
        """Tell whether what a path leads to, in another crate maybe, can be a trait."""
        found = self.find(path)
        traits = any(each.kind == "trait" for each in found)
        return not found or traits or any(self.may_show_trait(each, crates) for each in found)

    def may_show_trait(self, found: Found, crates: Crates) -> bool:
        """Tell whether an item is a re-export of what can be a trait."""
        if found.kind != "re-export":
            return False
        facts = found.attributes
        meant = [facts, *facts.get("further_targets", ())]
        if all(one.get("target_kind", "trait") not in {"trait", "module"} for one in meant):
            return False
        target = self.re_exports.get(found.path, "")
        first = target.split("::")[0]
        if first in STANDARD:
            return True
        names = crates.crate(first) if first and first != self.root else None
        return names is None or names.may_be_trait(target, crates)

    def suggest(self, owner: str, name: str, *, anywhere: bool = True) -> tuple[str, ...]:
        """Return paths near ``owner::name``: beside it, of that name elsewhere, then alike."""
        here = [each.path for each in self.members(owner) if each.recommended]
        here += self.aliases_below(owner)
        # A module's own parts come first, then what bears exactly this name elsewhere.
        moved = [path for path in self._by_last_name.get(name.lower(), ()) if path not in here]
        alike = nearest(name, here, self._everywhere if anywhere else (), filled=not moved)
        close = [path for path in alike if path in here and _same_but_case(path, name)]
        # ``parse_launch`` has become ``parse::launch``.
        parts = name.split("_")
        within = (
            f"{owner}::{'_'.join(parts[:at])}::{'_'.join(parts[at:])}"
            for at in range(1, len(parts))
        )
        close += [path for path in within if self.find(path)]
        moved.sort(key=lambda path: (not path.endswith(f"::{name}"), path.count("::"), len(path)))
        moved = [path for path in moved if shape(path.rpartition("::")[2]) == shape(name)]
        order = [*close, *moved, *alike]
        return tuple(dict.fromkeys(order))[:3] if anywhere else alike

    def aliases_below(self, owner: str) -> list[str]:
        """Return further public paths directly below one."""
        return self._aliases_by_parent.get(owner, [])

    @cached_property
    def _aliases_by_parent(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for alias in self.index.aliases:
            found.setdefault(alias.rpartition("::")[0], []).append(alias)
        return found

    @cached_property
    def _everywhere(self) -> list[str]:
        kinds = self.index.columns["kind"]
        members = {"method", "field", "variant", "assoc_const", "assoc_type"}
        return [
            str(path)
            for path, kind in zip(self.index.columns["path"], kinds, strict=True)
            if kind not in members
            and str(path).startswith(f"{self.root}::")
            and not str(path).endswith("::*")
        ]

    @cached_property
    def _by_last_name(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self._everywhere:
            found.setdefault(path.rpartition("::")[2].lower(), []).append(path)
        return found


def _same_but_case(path: str, name: str) -> bool:
    last = path.rpartition("::")[2]
    is_other = last[:1].islower() and name[:1].isupper() and not name.isupper()
    return not is_other and last.lower().replace("_", "") == name.lower().replace("_", "")


@cache
def standard() -> CrateNames:
    """Return the names of the standard library."""
    return CrateNames(tables())
