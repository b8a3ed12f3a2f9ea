"""One sibling of a split crate, by paths: what stands where in it and what belongs to what.

This room knows the documents and relations of one crate. It does not know where they are hung.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from docstow.core.model import Document
from docstow.languages.rust.rustdoc import CrateDocs

_MEMBERS = frozenset({"method", "assoc_const", "assoc_type"})


class Part:
    """One sibling, by paths."""

    def __init__(self, docs: CrateDocs) -> None:
        self.docs = docs
        self.by_path: defaultdict[str, list[Document]] = defaultdict(list)
        self.children: defaultdict[str, list[str]] = defaultdict(list)
        for document in docs.documents:
            self.by_path[document.path].append(document)
            self.children[document.parent].append(document.path)
        self.aliases = {r.subject: r.object for r in docs.relations if r.predicate == "alias"}
        for alias in self.aliases:
            self.children[alias.rpartition("::")[0]].append(alias)
        self.globs: defaultdict[str, list[str]] = defaultdict(list)
        for relation in docs.relations:
            if relation.predicate == "re-exports" and relation.object.endswith("::*"):
                self.globs[relation.subject].append(relation.object.removesuffix("::*"))

    def canonical(self, path: str) -> str | None:
        """The path under which the sibling itself documents what ``path`` means."""
        for candidate in (path, self.aliases.get(path), self.docs.definitions.get(path)):
            if candidate is not None and candidate in self.by_path:
                return candidate
        return None

    def is_module(self, path: str) -> bool:
        """Whether a module has this path; a primitive type can have it too."""
        return any(document.kind == "module" for document in self.by_path[path])

    def primitive_members(self, path: str) -> Iterator[str]:
        """Paths of the members of a primitive type, without those of a module of the same name."""
        if any(document.kind == "primitive" for document in self.by_path[path]):
            for child in dict.fromkeys(self.children[path]):
                if any(document.kind in _MEMBERS for document in self.by_path[child]):
                    yield child

    def owned(self, path: str) -> Iterator[Document]:
        """The documents of an item: itself and its members, theirs included."""
        for document in self.by_path[path]:
            if document.kind != "module":
                yield document
        for child in dict.fromkeys(self.children[path]):
            if child in self.by_path and not self.is_module(path):
                yield from self.owned(child)
