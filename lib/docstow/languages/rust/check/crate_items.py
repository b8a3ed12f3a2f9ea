"""The names of one version of a crate: those in its tables, and those that its docs leave out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Protocol

from docstow.core.model import BLANKET_TRAITS, DEREFS_TO, DERIVED, MENTIONS, WRITTEN, YIELDS
from docstow.languages.rust.check.scope import parse, read_scope
from docstow.languages.rust.check.std import (
    STANDARD,
    StdTables,
    is_standard,
    standard_types,
    std_traits,
    tables,
)
from docstow.languages.shared.findings import nearest
from docstow.languages.shared.likeness import shape, words

if TYPE_CHECKING:
    from docstow.index.loaded import Index

TYPES = frozenset({"struct", "enum", "union", "primitive"})
FUNCTIONS = frozenset({"function", "method"})
#: Kinds whose members the tables have in part only, or not at all.
OPAQUE = frozenset({"re-export", "type_alias", "assoc_type", "extern_type", "macro"})
#: Words of names that are only there on other targets than the one that the docs are made on.
_ELSEWHERE = frozenset(
    {
        *("windows", "wasm", "wasm32", "wasi", "macos", "ios", "apple", "darwin", "android", "bsd"),
        *("freebsd", "netbsd", "openbsd", "solaris", "illumos", "fuchsia", "uefi", "vxworks"),
        *("aarch64", "arm", "neon", "redox", "hermit", "haiku", "emscripten", "kqueue", "iocp"),
    }
)
#: Crates whose items differ from target to target.
_BY_PLATFORM = frozenset(
    {"libc", "winapi", "windows", "windows_sys", "nix", "rustix", "mio", "js_sys", "web_sys"}
)
#: Words of features that say nothing of what they bring.
_EVERYDAY_WORDS = frozenset(
    {"default", "new", "from", "to", "with", "no", "use", "async", "full", "error", "std", "is"}
)
_LINKED = re.compile(r"\[`(?:\w+::)*(\w+)!?(?:\(\))?`\]")
_NAMED = re.compile(r"`(?:\w+::)*(\w+)!?(?:\(\))?`")
_PATHS = re.compile(r"(?<![\w])(?:::)?([A-Za-z_]\w*(?:::\w+)+)")
#: A list of features on a crate's front page: its heading, and what its items begin with.
_HEADING = re.compile(r"^#+ .*\b(?:features?|feature flags)\b", re.IGNORECASE | re.MULTILINE)
_LISTED = re.compile(
    r"^[ \t]*[-*+|]\s+(?:\*\*)?`?([a-z][\w-]+)`?(?:\*\*)?(?=\s*(?:$|[:(|\u2013\u2014-]))",
    re.MULTILINE,
)
_TYPE_NAMES = re.compile(r"\b[A-Z]\w*[a-z]\w*")
_CALLED = re.compile(r"\.(\w+)\(")
#: A name that as many examples bring in is there, though hidden; one alone may be an old one.
_ENOUGH = 2


class Crates(Protocol):
    """Finds crates by the name that code uses."""

    def crate(self, name: str) -> CrateNames | None:
        """Return the crate in the version that the code uses; None where none is stored."""
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
        self.undocumented = _Undocumented(index, self.root)

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
        wanted = {WRITTEN, DERIVED, BLANKET_TRAITS, DEREFS_TO, YIELDS, MENTIONS}
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
        if not found:
            return True
        for each in found:
            if each.kind == "trait":
                return True
            if each.kind == "re-export":
                facts = each.attributes
                meant = [facts, *facts.get("further_targets", ())]
                if all(one.get("target_kind", "trait") not in {"trait", "module"} for one in meant):
                    continue
                target = self.re_exports.get(each.path, "")
                first = target.split("::")[0]
                if first in STANDARD:
                    return True
                names = crates.crate(first) if first and first != self.root else None
                if names is None or names.may_be_trait(target, crates):
                    return True
        return False

    def suggest(self, owner: str, name: str, *, anywhere: bool = True) -> tuple[str, ...]:
        """Return paths near ``owner::name``: beside it, of that name elsewhere, then alike."""
        here = [each.path for each in self.members(owner) if each.recommended]
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
    return path.rpartition("::")[2].lower().replace("_", "") == name.lower().replace("_", "")


@cache
def standard() -> CrateNames:
    """Return the names of the standard library."""
    return CrateNames(tables())


class _Undocumented:
    """The names that the docs of one version of a crate leave out.

    Items are hidden, need a feature that the docs were made without, or are there on other
    targets.

    Args:
        index: its tables.
        root: the crate's name in paths.
    """

    def __init__(self, index: Index | StdTables, root: str) -> None:
        self._index = index
        self._root = root

    def may_have(self, owner: str, name: str) -> bool:
        """Tell whether a module, type or trait may have a name that its docs do not show."""
        if name.startswith("_") or self._by_platform or name.lower() in _ELSEWHERE:
            return True
        if owner in self._foreign_globs or name in self._reexported or self._may_need_feature(name):
            return True
        if name in self._foreign_types and self._used[f"{owner}::{name}"]:
            return True
        if self._called[name] >= _ENOUGH and name not in self._titles:
            return True
        return bool(self._unseen_features) and self._is_linked(name)

    def is_in_examples(self, path: str) -> bool:
        """Tell whether the crate's own examples use a path: it may be hidden, but it is there."""
        return path in self._shown or self._used[path] >= _ENOUGH or path in self._hidden

    @cached_property
    def default_features(self) -> frozenset[str]:
        """The features that are on by default, those that they turn on included."""
        features = self._index.snapshot.facts.get("features", {})
        found: set[str] = set()
        pending = ["default"]
        while pending:
            for each in features.get(pending.pop(), ()):
                if each in features and each not in found:
                    found.add(each)
                    pending.append(each)
        return frozenset(found)

    @cached_property
    def _by_platform(self) -> bool:
        return self._root in _BY_PLATFORM or self._root.endswith("_sys")

    def _is_linked(self, name: str) -> bool:
        """Tell whether the docs link to a name that no item has: its feature was off."""
        return name in self._linked and name not in self._titles

    @cached_property
    def _linked(self) -> frozenset[str]:
        """Names that the docs link to, and those in code spans of sections about features."""
        linked = {name for text in self._index.passages["text"] for name in _LINKED.findall(text)}
        return frozenset(linked.union(*map(_NAMED.findall, self._feature_sections)))

    @cached_property
    def _shown(self) -> frozenset[str]:
        """All paths that examples write out, and their beginnings."""
        written = {path for code in self._examples for path in _PATHS.findall(code)}
        return frozenset(path[:end] for path in written for end in (*_ends(path), len(path)))

    @cached_property
    def _hidden(self) -> frozenset[str]:
        """Paths of the crate in lines that rustdoc compiles and does not show."""
        if isinstance(self._index, StdTables):
            return frozenset()
        line = re.compile(rf"^[ \t]*# (.*\b{self._root}::.*)$", re.MULTILINE)
        texts = map(self._index.text, range(len(self._index)))
        found: set[str] = set()
        for each in {code for text in texts if "\n# " in text for code in line.findall(text)}:
            found.update(_PATHS.findall(each))
            if each.startswith(("use ", "pub use ")):
                found |= {"::".join(leaf.path) for leaf in read_scope(parse(each).root_node).leaves}
        return frozenset(path[:end] for path in found for end in (*_ends(path), len(path)))

    @cached_property
    def _used(self) -> Counter[str]:
        """Counts of the examples that import a path or write it below an import.

        An example that is said to need a feature is not an old one: it counts as enough of them.
        """
        found: Counter[str] = Counter()
        for code, context in self._examples.items():
            if "use " in code:
                names = read_scope(parse(code).root_node)
                used = {"::".join(leaf.path).removeprefix("::") for leaf in names.leaves}
                written = (tuple(path.split("::")) for path in _PATHS.findall(code))
                below = (names.expand(path) for path in written if path[0] in names.imports)
                used |= {"::".join(path) for path in below if path}
                found.update(dict.fromkeys(used, _ENOUGH if "feature" in context else 1))
        return found

    @cached_property
    def _called(self) -> Counter[str]:
        """Counts of the examples that call a name as a method."""
        return Counter(name for code in self._examples for name in set(_CALLED.findall(code)))

    @cached_property
    def _examples(self) -> dict[str, str]:
        """The code of examples with the sentence before it."""
        examples = self._index.examples
        contexts = examples.get("context", ())
        pairs = zip_longest(examples["code"], contexts, fillvalue="")
        return {str(code): str(context) for code, context in pairs}

    @cached_property
    def _titles(self) -> frozenset[str]:
        return frozenset(str(title) for title in self._index.columns["title"])

    @cached_property
    def _reexported(self) -> frozenset[str]:
        """Names re-exported from other crates: of several places only one is in the tables."""
        columns = self._index.columns
        pairs = zip(columns["title"], columns["kind"], strict=True)
        return frozenset(str(title) for title, kind in pairs if kind == "re-export")

    @cached_property
    def _foreign_types(self) -> frozenset[str]:
        """Types in signatures that the docs do not have: the crate may re-export them, hidden."""
        signatures = self._index.columns["signature"]
        written = {name for text in signatures for name in _TYPE_NAMES.findall(text)}
        return frozenset(written) - self._titles - standard_types()

    def _may_need_feature(self, name: str) -> bool:
        """Tell whether a name may need a feature that the docs were made without.

        A feature of many words brings no name of one of them: ``max_level_info`` no ``Info``.
        """
        wanted = set(words(name)) - _EVERYDAY_WORDS
        return bool(wanted) and any(
            brings <= wanted or (wanted <= brings and 2 * len(wanted) >= len(brings))
            for brings in self._feature_words
        )

    @cached_property
    def _feature_words(self) -> list[set[str]]:
        """The words of each feature that the docs may have been made without."""
        found = (set(words(feature)) - _EVERYDAY_WORDS for feature in self._unseen_features)
        return [each for each in found if each]

    @cached_property
    def _documented_features(self) -> frozenset[str]:
        attributes = self._index.columns["attributes"]
        return frozenset(
            feature
            for row, text in enumerate(attributes)
            if '"features"' in text
            for feature in self._index.features(row)
        )

    @cached_property
    def _unseen_features(self) -> frozenset[str]:
        """Features that no documented item needs, the everyday ones left out."""
        facts = self._index.snapshot.facts
        needed = {each["name"] for each in facts.get("dependencies", ())}
        everyday = {"default", "std", "alloc", "full", "nightly", "unstable", *needed}
        declared = frozenset(facts.get("features", {})) | self._listed_features
        return declared - self._documented_features - everyday - self.default_features

    @cached_property
    def _listed_features(self) -> frozenset[str]:
        """Features that the crate's front page lists: records of it may know fewer."""
        return frozenset(
            feature for text in self._feature_sections for feature in _LISTED.findall(text)
        )

    @cached_property
    def _feature_sections(self) -> list[str]:
        """The passages of the front page that speak of features."""
        passages = self._index.passages
        return [
            str(text)
            for number, text in enumerate(passages["text"])
            if passages["document"][number] == 0
            and _HEADING.search(f"# {passages['heading_path'][number]}\n{text}")
        ]

    @cached_property
    def _foreign_globs(self) -> frozenset[str]:
        """Modules with globs of crates that are no part of this one's tables."""
        parts = {name.replace("-", "_") for name in self._index.snapshot.facts.get("siblings", {})}
        table = self._index.relations
        rows = zip(table["subject"], table["predicate"], table["object"], strict=True)
        return frozenset(
            str(module)
            for module, predicate, target in rows
            if predicate == "re-exports"
            and str(target).endswith("::*")
            and str(target).split("::", 1)[0] not in parts
        )


def _ends(path: str) -> Iterator[int]:
    """Yield where each part of a path ends, the last and the first left out."""
    at = path.find("::", path.find("::") + 2)
    while at >= 0:
        yield at
        at = path.find("::", at + 2)
