"""The names of one version of a crate that its docs leave out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING

from docstow.core.patterns import lazy_pattern
from docstow.languages.rust.check.scope import parse, read_scope
from docstow.languages.rust.check.std import StdTables, standard_types
from docstow.languages.shared.likeness import words

if TYPE_CHECKING:
    from docstow.index.loaded import Index

#: Words of names that are only there on other targets than the one that the docs are made on.
_ELSEWHERE = frozenset(
    {
        *("windows", "wasm", "wasm32", "wasi", "macos", "ios", "apple", "darwin", "android", "bsd"),
        *("freebsd", "netbsd", "openbsd", "solaris", "illumos", "fuchsia", "uefi", "vxworks"),
        *("aarch64", "arm", "neon", "redox", "hermit", "haiku", "emscripten", "kqueue", "iocp"),
    }
)
#: Crates whose items differ from target to target.
_BY_PLATFORM = frozenset({"libc", "winapi", "windows", "windows_sys", "nix", "rustix", "mio"})
#: Bindings that are the same on all targets that have them.
_OF_BROWSERS = frozenset({"web_sys", "js_sys"})
#: Of these the members of a type are the same wherever the type is.
_OF_ALL_PLATFORMS = frozenset({"nix", "rustix", "mio"})
#: Words of features that say nothing of what they bring.
_EVERYDAY_WORDS = frozenset(
    {"default", "new", "from", "to", "with", "no", "use", "async", "full", "error", "std", "is"}
)
_LINKED = lazy_pattern(r"\[`(?:\w+::)*(\w+)!?(?:\(\))?`\]")
_NAMED = lazy_pattern(r"`(?:\w+::)*(\w+)!?(?:\(\))?`")
_PATHS = lazy_pattern(r"(?<![\w])(?:::)?([A-Za-z_]\w*(?:::\w+)+)")
#: A list of features on a crate's front page: its heading, and what its items begin with.
_HEADING = lazy_pattern(r"^#+ .*\b(?:features?|feature flags)\b", re.IGNORECASE | re.MULTILINE)
_LISTED = lazy_pattern(
    r"^[ \t]*[-*+|]\s+(?:\*\*)?`?([a-z][\w-]+)`?(?:\*\*)?(?=\s*(?:$|[:(|\u2013\u2014-]))",
    re.MULTILINE,
)
_TYPE_NAMES = lazy_pattern(r"\b[A-Z]\w*[a-z]\w*")
_CALLED = lazy_pattern(r"\.(\w+)\(")
#: A name that as many examples bring in is there, though hidden; one alone may be an old one.
_ENOUGH = 2


class Undocumented:
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
        if name.startswith("_") or self._differs(owner, name) or name.lower() in _ELSEWHERE:
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
        is_binding = self._root.endswith("_sys") and self._root not in _OF_BROWSERS
        return self._root in _BY_PLATFORM or is_binding

    def _differs(self, owner: str, name: str) -> bool:
        """Tell whether an owner may have a name on other targets."""
        if not self._by_platform:
            return False
        is_same = self._root in _OF_ALL_PLATFORMS and name.islower()
        return not (is_same and owner.rpartition("::")[2][:1].isupper())

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
