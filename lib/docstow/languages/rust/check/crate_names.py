"""What the docs of a crate leave out: items that are hidden, or need a feature or another machine.

This room knows what tells of such names. It does not know code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Protocol

from docstow.languages.rust.check.scope import scope
from docstow.languages.rust.check.std__verify_std_names import standard_types
from docstow.languages.rust.check.types__verify_rust_types import parser
from docstow.languages.shared.suggestions import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from docstow.core.model import Snapshot

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
_LINKED = re.compile(r"\[`(?:\w+::)*(\w+)!?(?:\(\))?`\]")
_NAMED = re.compile(r"`(?:\w+::)*(\w+)!?(?:\(\))?`")
_PATHS = re.compile(r"(?<![\w])(?:::)?([A-Za-z_]\w*(?:::\w+)+)")
#: A list of features on a crate's front page: its heading, and what its items begin with.
_HEADING = re.compile(r"^#+ .*\b(?:features?|feature flags)\b", re.IGNORECASE | re.MULTILINE)
_LISTED = re.compile(
    r"^\s*[-*+|]\s+(?:\*\*)?`?([a-z][\w-]+)`?(?:\*\*)?(?=\s*(?:$|[:(|\u2013\u2014-]))", re.MULTILINE
)
_TYPE_NAMES = re.compile(r"\b[A-Z]\w*[a-z]\w*")
_CALLED = re.compile(r"\.(\w+)\(")
#: A name that as many examples bring in is there, though hidden; one alone may be an old one.
_ENOUGH = 2


class Tables(Protocol):
    """What is asked of a crate's tables, as :class:`docstow.index.loaded.Index` has them."""

    @property
    def snapshot(self) -> Snapshot:
        """What they belong to."""
        ...

    @property
    def columns(self) -> Mapping[str, Any]:
        """Columns of the items."""
        ...

    @property
    def relations(self) -> Mapping[str, Any]:
        """The columns subject, predicate and object."""
        ...

    @property
    def aliases(self) -> Mapping[str, str]:
        """Each further public path with the canonical path of its item."""
        ...

    @property
    def rows_by_parent(self) -> Mapping[str, Sequence[int]]:
        """Rows of the direct members of each path."""
        ...

    @property
    def passages(self) -> Mapping[str, Any]:
        """The column text."""
        ...

    @property
    def examples(self) -> Mapping[str, Any]:
        """The columns language and code, and what introduces it in context."""
        ...

    def find(self, path: str) -> tuple[int, ...]:
        """Rows of what a path or any alias of it means."""
        ...

    def attributes(self, row: int) -> dict[str, Any]:
        """An item's attributes."""
        ...

    def features(self, row: int) -> list[str]:
        """The features that an item needs."""
        ...


class Gaps:
    """What the docs of one version of a crate leave out.

    Args:
        index: its tables.
        root: the crate's name in paths.
    """

    def __init__(self, index: Tables, root: str) -> None:
        self._index = index
        self._root = root

    def hides(self, owner: str, name: str) -> bool:
        """Whether a module, type or trait may have a name that its docs do not show."""
        if name.startswith("_") or self._by_platform or name.lower() in _ELSEWHERE:
            return True
        if owner in self._foreign_globs or name in self._passed_on or self._unseen(name):
            return True
        if name in self._foreign_types and self._used[f"{owner}::{name}"]:
            return True
        if self._called[name] >= _ENOUGH and name not in self._titles:
            return True
        return bool(self._unseen_features) and self._speaks_of(name)

    def shows(self, path: str) -> bool:
        """Whether the crate's own examples use a path: it may be hidden, but it is there."""
        return path in self._shown or self._used[path] >= _ENOUGH

    @cached_property
    def defaults(self) -> frozenset[str]:
        """The features that a crate has unless it is told otherwise."""
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

    def _speaks_of(self, name: str) -> bool:
        """Whether the docs link to a name that no item has: they were made without its feature."""
        return name in self._linked and name not in self._titles

    @cached_property
    def _linked(self) -> frozenset[str]:
        """Names that the docs link to, and those that they name where they speak of features."""
        linked = {name for text in self._index.passages["text"] for name in _LINKED.findall(text)}
        return frozenset(linked.union(*map(_NAMED.findall, self._of_features)))

    @cached_property
    def _shown(self) -> frozenset[str]:
        """All paths that examples write out, and what these begin with."""
        written = {path for code in self._codes() for path in _PATHS.findall(code)}
        return frozenset(path[:end] for path in written for end in (*_ends(path), len(path)))

    @cached_property
    def _used(self) -> Counter[str]:
        """Paths that examples import or write below an import, with the count of examples that do.

        What is said to need a feature is not an old example: it counts as enough of them do.
        """
        found: Counter[str] = Counter()
        for code, context in self._introduced.items():
            if "use " in code:
                names = scope(parser().parse(code.encode()).root_node)
                used = {"::".join(leaf.path).removeprefix("::") for leaf in names.leaves}
                written = (tuple(path.split("::")) for path in _PATHS.findall(code))
                below = (names.expand(path) for path in written if path[0] in names.imports)
                used |= {"::".join(path) for path in below if path}
                found.update(dict.fromkeys(used, _ENOUGH if "feature" in context else 1))
        return found

    @cached_property
    def _called(self) -> Counter[str]:
        """Names that examples call as methods, each with the count of examples that do."""
        return Counter(name for code in self._codes() for name in set(_CALLED.findall(code)))

    def _codes(self) -> Iterator[str]:
        yield from self._introduced

    @cached_property
    def _introduced(self) -> dict[str, str]:
        """Examples, each with the sentence that it stands below."""
        examples = self._index.examples
        contexts = examples.get("context", ())
        pairs = zip_longest(examples["code"], contexts, fillvalue="")
        return {str(code): str(context) for code, context in pairs}

    @cached_property
    def _titles(self) -> frozenset[str]:
        return frozenset(str(title) for title in self._index.columns["title"])

    @cached_property
    def _passed_on(self) -> frozenset[str]:
        """Names that the crate shows from others: of several places only one is in the tables."""
        columns = self._index.columns
        pairs = zip(columns["title"], columns["kind"], strict=True)
        return frozenset(str(title) for title, kind in pairs if kind == "re-export")

    @cached_property
    def _foreign_types(self) -> frozenset[str]:
        """Types of signatures that are nobody's here: a crate may show them and hide that."""
        signatures = self._index.columns["signature"]
        written = {name for text in signatures for name in _TYPE_NAMES.findall(text)}
        return frozenset(written) - self._titles - standard_types()

    def _unseen(self, name: str) -> bool:
        """Whether a name may need a feature that the docs were made without.

        A feature of many words brings no name of one of them: ``max_level_info`` no ``Info``.
        """
        wanted = set(words(name)) - _EVERYDAY_WORDS
        return bool(wanted) and any(
            brings <= wanted or (wanted <= brings and 2 * len(wanted) >= len(brings))
            for brings in self._brought
        )

    @cached_property
    def _brought(self) -> list[set[str]]:
        """The words of each feature that the docs may have been made without."""
        found = (set(words(feature)) - _EVERYDAY_WORDS for feature in self._unseen_features)
        return [each for each in found if each]

    @cached_property
    def _seen_features(self) -> frozenset[str]:
        attributes = self._index.columns["attributes"]
        return frozenset(
            feature
            for row, text in enumerate(attributes)
            if '"features"' in text
            for feature in self._index.features(row)
        )

    @cached_property
    def _unseen_features(self) -> frozenset[str]:
        """Features that no item is said to need, the everyday ones left out."""
        facts = self._index.snapshot.facts
        needed = {each["name"] for each in facts.get("dependencies", ())}
        everyday = {"default", "std", "alloc", "full", "nightly", "unstable", *needed}
        declared = frozenset(facts.get("features", {})) | self._listed_features
        return declared - self._seen_features - everyday - self.defaults

    @cached_property
    def _listed_features(self) -> frozenset[str]:
        """Features that the crate's front page lists: records of it may know fewer."""
        return frozenset(feature for text in self._of_features for feature in _LISTED.findall(text))

    @cached_property
    def _of_features(self) -> list[str]:
        """What the front page says of features."""
        passages = self._index.passages
        return [
            str(text)
            for number, text in enumerate(passages["text"])
            if passages["document"][number] == 0
            and _HEADING.search(f"# {passages['heading_path'][number]}\n{text}")
        ]

    @cached_property
    def _foreign_globs(self) -> frozenset[str]:
        """Modules that show names of crates which are not at hand."""
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
    """Where each part of a path ends, the last and the first left out."""
    at = path.find("::", path.find("::") + 2)
    while at >= 0:
        yield at
        at = path.find("::", at + 2)
