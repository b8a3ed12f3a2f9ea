"""A stowed crate as a check of Rust code asks for it: what a path means, and what is certain.

This room knows the tables of an index and what they leave out: items that are hidden, names that
come from other crates, methods that come from traits. It does not know code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from docstow.readers.predicates import BLANKET_TRAITS, DEREFS_TO, DERIVED, WRITTEN
from docstow.verify.nearest import nearest, shape, words
from docstow.verify.std_names import std_traits

if TYPE_CHECKING:
    from docstow.index import Index

STANDARD = frozenset({"std", "core", "alloc", "proc_macro", "test"})
TYPES = frozenset({"struct", "enum", "union"})
#: Kinds whose members are seen in part only, or not at all.
OPAQUE = frozenset({"re-export", "type_alias", "primitive", "assoc_type", "extern_type", "macro"})
#: What is only there on other machines than the one that the docs are made on.
_ELSEWHERE = frozenset(
    {
        *("windows", "wasm", "wasm32", "wasi", "macos", "ios", "apple", "darwin", "android", "bsd"),
        *("freebsd", "netbsd", "openbsd", "solaris", "illumos", "fuchsia", "uefi", "vxworks"),
        *("aarch64", "arm", "neon", "redox", "hermit", "haiku", "emscripten", "kqueue", "iocp"),
    }
)
#: Crates whose items differ from one machine to the other.
_BY_PLATFORM = frozenset(
    {"libc", "winapi", "windows", "windows_sys", "nix", "rustix", "mio", "js_sys", "web_sys"}
)
#: Words of features that say nothing of what they bring.
_EVERYDAY_WORDS = frozenset(
    {"default", "new", "from", "to", "with", "no", "use", "async", "full", "error", "std", "is"}
)


class Crates(Protocol):
    """Where crates are found by the name that code uses."""

    def crate(self, name: str) -> CrateNames | None:
        """The crate in the version that is meant; None where there is none at hand."""
        ...

    def other_versions(self, name: str) -> Sequence[CrateNames]:
        """The same crate in further versions at hand, the newest first."""
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
    def attributes(self) -> Mapping[str, Any]:
        """Its attributes."""
        return self.names.index.attributes(self.row)


class CrateNames:
    """The names of one version of a crate.

    Args:
        index: its tables.
    """

    def __init__(self, index: Index) -> None:
        self.index = index
        self.root = str(index.columns["path"][0]).split("::", 1)[0]

    @property
    def version(self) -> str:
        """The version."""
        return self.index.snapshot.revision.version

    @property
    def package(self) -> str:
        """The crate's name as it spells itself."""
        return self.index.snapshot.revision.source.name

    def find(self, path: str) -> tuple[Found, ...]:
        """What a path or any alias of it means, in all namespaces."""
        return tuple(Found(self, row) for row in self.index.find(path))

    @cached_property
    def by_platform(self) -> bool:
        """Whether other machines see other items."""
        return self.root in _BY_PLATFORM or self.root.endswith("_sys")

    def hides(self, owner: str, name: str) -> bool:
        """Whether a module, type or trait may have a name that its docs do not show."""
        if name.startswith("_") or self.by_platform or name.lower() in _ELSEWHERE:
            return True
        if owner in self._foreign_globs or name in self._passed_on or self._unseen(name):
            return True
        return bool(self._unseen_features) and self._speaks_of(name)

    def _speaks_of(self, name: str) -> bool:
        """Whether the docs link to a name that no item has: they were made without its feature."""
        if name in self._titles:
            return False
        written = re.compile(rf"\[`(?:\w+::)*{re.escape(name)}!?(?:\(\))?`\]")
        return any(name in text and written.search(text) for text in self.index.passages["text"])

    def shows(self, path: str) -> bool:
        """Whether the crate's own examples use a path: it may be hidden, but it is there."""
        whole = re.compile(rf"(?<![\w:]){re.escape(path)}(?!\w)")
        return any(path in code and whole.search(code) for code in self.index.examples["code"])

    @cached_property
    def _titles(self) -> frozenset[str]:
        return frozenset(str(title) for title in self.index.columns["title"])

    @cached_property
    def _passed_on(self) -> frozenset[str]:
        """Names that the crate shows from others: of several places only one is in the tables."""
        columns = self.index.columns
        pairs = zip(columns["title"], columns["kind"], strict=True)
        return frozenset(str(title) for title, kind in pairs if kind == "re-export")

    def _unseen(self, name: str) -> bool:
        """Whether a name may need a feature that the docs were made without."""
        wanted = set(words(name)) - _EVERYDAY_WORDS
        for feature in self._unseen_features:
            brings = set(words(feature)) - _EVERYDAY_WORDS
            if wanted and brings and (wanted <= brings or brings <= wanted):
                return True
        return False

    @cached_property
    def _seen_features(self) -> frozenset[str]:
        attributes = self.index.columns["attributes"]
        return frozenset(
            feature
            for row, text in enumerate(attributes)
            if '"features"' in text
            for feature in self.index.features(row)
        )

    @cached_property
    def defaults(self) -> frozenset[str]:
        """The features that a crate has unless it is told otherwise."""
        features = self.index.snapshot.facts.get("features", {})
        found: set[str] = set()
        pending = ["default"]
        while pending:
            for each in features.get(pending.pop(), ()):
                if each in features and each not in found:
                    found.add(each)
                    pending.append(each)
        return frozenset(found)

    @cached_property
    def _unseen_features(self) -> frozenset[str]:
        """Features that no item is said to need, the everyday ones left out."""
        facts = self.index.snapshot.facts
        needed = {each["name"] for each in facts.get("dependencies", ())}
        everyday = {"default", "std", "alloc", "full", "nightly", "unstable", *needed}
        return frozenset(facts.get("features", {})) - self._seen_features - everyday - self.defaults

    @cached_property
    def _foreign_globs(self) -> frozenset[str]:
        """Modules that show names of crates which are not at hand."""
        parts = {name.replace("-", "_") for name in self.index.snapshot.facts.get("siblings", {})}
        table = self.index.relations
        chosen = table["predicate"] == "re-exports"
        pairs = zip(table["subject"][chosen], table["object"][chosen], strict=True)
        return frozenset(
            str(module)
            for module, target in pairs
            if str(target).endswith("::*") and str(target).split("::", 1)[0] not in parts
        )

    @cached_property
    def re_exports(self) -> Mapping[str, str]:
        """Paths here with the paths in other crates that they mean."""
        table = self.index.relations
        chosen = table["predicate"] == "re-exports"
        pairs = zip(table["subject"][chosen], table["object"][chosen], strict=True)
        return {str(here): str(there) for here, there in pairs if not str(there).endswith("::*")}

    def members(self, path: str) -> list[Found]:
        """What a module, type or trait owns."""
        return [Found(self, row) for row in self.index.rows_by_parent.get(path, ())]

    @cached_property
    def _relations_of(self) -> Mapping[str, list[tuple[str, str]]]:
        table = self.index.relations
        found: dict[str, list[tuple[str, str]]] = {}
        wanted = {WRITTEN, DERIVED, BLANKET_TRAITS, DEREFS_TO}
        columns = (table[name].tolist() for name in ("subject", "predicate", "object"))
        for subject, predicate, target in zip(*columns, strict=True):
            if predicate in wanted:
                found.setdefault(subject, []).append((predicate, target))
        return found

    def traits(self, path: str) -> list[str]:
        """Paths of all traits that a type has, automatic ones left out."""
        found: list[str] = []
        for predicate, target in self._relations_of.get(path, ()):
            if predicate != DEREFS_TO:
                found += [each for each in target.split(" ") if not each.startswith("!")]
        return found

    def derefs(self, path: str) -> list[str]:
        """Paths of what a type dereferences to."""
        return [
            target
            for predicate, target in self._relations_of.get(path, ())
            if predicate == DEREFS_TO
        ]

    def may_deref(self, path: str, name: str) -> bool:
        """Whether a type may have a name from what it dereferences to."""
        for target in self.derefs(path):
            traits = target.removeprefix("dyn ").split(" + ") if target.startswith("dyn ") else [""]
            known = [std_traits().get(each) for each in traits]
            if any(members is None or name in members for members in known):
                return True
        return False

    def trait_has(self, trait: str, member: str, crates: Crates) -> bool | None:
        """Whether a trait, named by any crate's path, brings a member; None where unknown."""
        first, _, _ = trait.partition("::")
        if first in STANDARD:
            known = std_traits().get(trait.rpartition("::")[2])
            return None if known is None else member in known
        names = self if first == self.root else crates.crate(first)
        if names is None:
            return None
        found = [each for each in names.find(trait) if each.kind == "trait"]
        if not found:
            return None
        return any(each.path.rpartition("::")[2] == member for each in names.members(found[0].path))

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
        """Whether what a path leads to, in another crate maybe, can be a trait."""
        found = self.find(path)
        if not found:
            return True
        for each in found:
            if each.kind == "trait":
                return True
            if each.kind == "re-export":
                target = self.re_exports.get(each.path, "")
                first = target.split("::")[0]
                if first in STANDARD:
                    return True
                names = crates.crate(first) if first and first != self.root else None
                if names is None or names.may_be_trait(target, crates):
                    return True
        return False

    def suggest(self, owner: str, name: str, *, anywhere: bool = True) -> tuple[str, ...]:
        """Paths that come near ``owner::name``: beside it, of that name elsewhere, then alike."""
        here = [each.path for each in self.members(owner)]
        here += self.aliases_below(owner)
        # A module's own parts come first, then what bears exactly this name elsewhere.
        moved = [path for path in self._by_last_name.get(name.lower(), ()) if path not in here]
        alike = nearest(name, here, self._everywhere if anywhere else ())
        close = [path for path in alike if path in here and _same_but_case(path, name)]
        moved.sort(key=lambda path: (not path.endswith(f"::{name}"), path.count("::"), len(path)))
        moved = [path for path in moved if shape(path.rpartition("::")[2]) == shape(name)]
        order = [*close, *moved, *alike]
        return tuple(dict.fromkeys(order))[:3] if anywhere else alike

    def aliases_below(self, owner: str) -> list[str]:
        """Further public paths directly below one."""
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
        ]

    @cached_property
    def _by_last_name(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self._everywhere:
            found.setdefault(path.rpartition("::")[2].lower(), []).append(path)
        return found


def _same_but_case(path: str, name: str) -> bool:
    return path.rpartition("::")[2].lower().replace("_", "") == name.lower().replace("_", "")
