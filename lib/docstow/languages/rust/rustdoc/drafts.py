"""Drafts: documents without their texts, whose links need the URLs of all other documents.

Declarations with the same path and kind become one draft.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from docstow.languages.rust.rustdoc.cfg import Cfg, combine, from_attributes
from docstow.languages.rust.rustdoc.facts import attribute_texts, item_facts
from docstow.languages.rust.rustdoc.file import RustdocFile
from docstow.languages.rust.rustdoc.schema import Id, Item


@dataclass(frozen=True, slots=True)
class Part:
    """One declaration of a document.

    Attributes:
        header: the impl block that it stands in; empty elsewhere.
        signature: the declaration.
        sources: ids of the items whose docs make its text, in order.
    """

    header: str
    signature: str
    sources: tuple[Id, ...]


@dataclass(slots=True)
class Draft:
    """A document without its text.

    Attributes:
        path, kind, title, parent, url: as in the document.
        parts: at least one; several where impl blocks declare the same name.
        attributes: as in the document.
        mentioned: ids that the signatures name.
        impl_docs: (header, impl id) of blocks that have docs of their own.
    """

    path: str
    kind: str
    title: str
    parent: str
    url: str
    parts: list[Part]
    attributes: dict[str, Any]
    mentioned: set[Id]
    impl_docs: list[tuple[str, Id]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Anchor:
    """The target of links to an id; ``document`` is the path of the nearest document."""

    document: str
    url: str


class Drafts:
    """All drafts of a crate by path and kind, and the link target of each id."""

    def __init__(self, file: RustdocFile) -> None:
        self.file = file
        self.by_key: dict[tuple[str, str], Draft] = {}
        self.anchors: dict[Id, Anchor] = {}
        self._conditions: dict[Id, tuple[Cfg, ...]] = {}

    def add(self, draft: Draft, item_id: Id) -> Draft:
        """Add a draft, or its parts to the draft that has its path and kind; return that one."""
        self.anchors.setdefault(item_id, Anchor(draft.path, draft.url))
        present = self.by_key.setdefault((draft.path, draft.kind), draft)
        if present is not draft:
            present.parts += draft.parts
            present.mentioned |= draft.mentioned
        return present

    def path_of(self, item_id: Id) -> str:
        """Return the path of the document that an id is or belongs to; empty if none so far."""
        anchor = self.anchors.get(item_id)
        return anchor.document if anchor is not None else ""

    def conditions(self, ids: Iterable[Id]) -> list[Cfg]:
        """Return the conditions that these items state, outermost first."""
        found: list[Cfg] = []
        for each in ids:
            if each not in self._conditions:
                self._conditions[each] = self._stated(self.file.index[each])
            found += self._conditions[each]
        return found

    def attributes(self, item: Item, conditions: list[Cfg]) -> dict[str, Any]:
        """Return the facts of an item, with the features and conditions under which it exists."""
        found = item_facts(self.file, item)
        cfg = combine([*conditions, *self._stated(item)])
        if cfg is not None:
            found["cfg"] = str(cfg)
            if features := list(dict.fromkeys(cfg.features())):
                found["features"] = features
        return found

    def _stated(self, item: Item) -> tuple[Cfg, ...]:
        raw = bytes(item.attrs)
        if b"cfg" not in raw and b"CfgTrace" not in raw:
            return ()
        return from_attributes(attribute_texts(self.file.attrs(item)))
