"""Match the items of two versions of a crate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from docstow.core.model import Document
from docstow.languages.shared.diff import OWNERS, Change, Side

Key = tuple[str, str]


class Match:
    """The items of two versions, matched with each other.

    Attributes:
        old: documents of the old version by path and kind.
        new: those of the new version.
        pairs: items that both have.
        gone: items that the new version lacks; members of lost owners are left out.
        added: items that the old version lacks; members of new owners are left out.
        moves: changes of paths and kinds.
        images: old path to new path of each item in ``pairs``.
        originals: the other way round.
        old_paths: every path of the old version, aliases left aside.
        new_paths: likewise.
    """

    def __init__(self, old: Side, new: Side) -> None:
        self.old = _by_key(old.documents)
        self.new = _by_key(new.documents)
        self.old_paths = {path for path, _ in self.old}
        self.new_paths = {path for path, _ in self.new}
        self._aliases = dict(_aliases(new))
        self._old_aliases: defaultdict[str, list[str]] = defaultdict(list)
        for alias, path in _aliases(old):
            self._old_aliases[path].append(alias)
        self._fresh: defaultdict[Key, list[Key]] = defaultdict(list)
        self._by_path: defaultdict[str, list[Key]] = defaultdict(list)
        for key, document in self.new.items():
            self._by_path[key[0]].append(key)
            if key not in self.old:
                self._fresh[document.title, document.kind].append(key)
        self._old_owners = {path: kind for path, kind in self.old if kind in OWNERS}
        self.pairs: list[tuple[Document, Document]] = []
        self.gone: list[Document] = []
        self.moves: list[Change] = []
        self.images: dict[str, str] = {}
        self._taken: set[Key] = set()
        lost: set[str] = set()
        for document in self.old.values():
            ownerless = document.parent in lost and document.parent not in self.images
            if ownerless or not self._place(document):
                lost.add(document.path)
        self.originals = {new.path: old.path for old, new in self.pairs}
        self.added = [each for key, each in self.new.items() if self._is_added(key, each)]
        self.moves += self._lost_aliases()

    def resolve(self, path: str) -> str:
        """Return the path of the new version's item that an old path means; empty if none."""
        head, tail = path, ""
        while head:
            target = self._aliases.get(head, head) + tail
            if target in self.new_paths:
                return target
            head, _, last = head.rpartition("::")
            tail = f"::{last}{tail}"
        return ""

    def _place(self, document: Document) -> bool:
        """Find a document's counterpart; False if it has none under any name."""
        kind, owner = document.kind, self.images.get(document.parent, document.parent)
        expected = f"{owner}::{document.title}" if document.parent else document.path
        for path in (document.path, expected):
            if self._take(document, (path, kind)):
                return True
        if self._take(document, (self.resolve(document.path), kind)):
            self._record_move(document, "alias-kept")
            return True
        for alias in self._old_aliases[document.path]:
            if self._take(document, (self.resolve(alias), kind)):
                self._record_move(document, "item-moved")
                return True
        if document.parent not in self._old_owners:
            others = self._fresh[document.title, kind]
            if len(others) == 1 and others[0] not in self._taken:
                self._take(document, others[0])
                self._record_move(document, "item-moved")
                return True
            if self._other_kind(document):
                return False
        self.gone.append(document)
        return False

    def _take(self, document: Document, key: Key) -> bool:
        """Record that a document is that item now; it is paired with it unless another is."""
        if key not in self.new:
            return False
        namesake = self.old.get(key, document)
        if key not in self._taken and namesake is document:
            self._taken.add(key)
            self.pairs.append((document, self.new[key]))
        self.images[document.path] = key[0]
        return True

    def _record_move(self, document: Document, rule: str) -> None:
        now = self.images[document.path]
        self.moves.append(Change(document.path, document.kind, rule, document.path, now, now))

    def _other_kind(self, document: Document) -> bool:
        """Record the same path with another kind of item as one change, not as two."""
        for key in self._by_path.get(self.resolve(document.path), ()):
            kind, other = key[1], self.new[key]
            if key not in self.old and key not in self._taken:
                self._taken.add(key)
                foreign = "re-export" in {kind, document.kind}
                rule = "reexport-changed" if foreign else "kind-changed"
                texts = (f"{each.kind} {each.signature}" for each in (document, other))
                self.moves.append(Change(document.path, document.kind, rule, *texts))
                return True
        return False

    def _is_added(self, key: Key, document: Document) -> bool:
        if key in self._taken:
            return False
        owners = [(document.parent, kind) for kind in OWNERS if (document.parent, kind) in self.new]
        return all(owner in self._taken and document.parent in self.originals for owner in owners)

    def _lost_aliases(self) -> Iterator[Change]:
        kinds = dict(self.old.keys())
        for path, aliases in self._old_aliases.items():
            kind = kinds.get(path, "")
            for alias in aliases if path in self.images else ():
                if not self.resolve(alias):
                    now = self.images[path]
                    yield Change(alias, kind, "alias-removed", path, "", now)


def _by_key(documents: Iterable[Document]) -> dict[Key, Document]:
    """Documents by path and kind, owners before members.

    Left out is what says nothing by itself: members that a trait implementation gives, which
    ``implements`` relations stand for, names that begin with ``__``, and numbered fields of
    variants, which are documents only if they have docs; and globs of other crates, whose names
    are not known.
    """
    variants = {each.path for each in documents if each.kind == "variant"}
    kept = (
        each
        for each in documents
        if "trait" not in each.attributes
        and not each.title.startswith("__")
        and not each.title.endswith("*")
        and not (each.parent in variants and each.title.isdigit())
    )
    return {(each.path, each.kind): each for each in sorted(kept, key=lambda d: (d.path, d.kind))}


def _aliases(side: Side) -> Iterator[tuple[str, str]]:
    return ((each.subject, each.object) for each in side.relations if each.predicate == "alias")
