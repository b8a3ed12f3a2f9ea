"""Documents in the making: everything but the text, whose links need all the others' URLs.

This room knows how parts with the same path and kind become one document, and which id ended up
at which path. It does not know how items are found or rendered.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from docstow.languages.rust.rustdoc import attributes as rust_cfg
from docstow.languages.rust.rustdoc.attributes import Cfg, facts, words
from docstow.languages.rust.rustdoc.file import RustdocFile
from docstow.languages.rust.rustdoc.format import Id, Item


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
    """Where an id can be linked to. ``document`` is the path of the nearest document."""

    document: str
    url: str


class Drafts:
    """All drafts of a crate by (path, kind), and what each id became."""

    def __init__(self, file: RustdocFile) -> None:
        self.file = file
        self.by_key: dict[tuple[str, str], Draft] = {}
        self.anchors: dict[Id, Anchor] = {}
        self._conditions: dict[Id, tuple[Cfg, ...]] = {}

    def add(self, draft: Draft, item_id: Id) -> Draft:
        """Keep a draft, or let it join the one that has its path and kind."""
        self.anchors.setdefault(item_id, Anchor(draft.path, draft.url))
        present = self.by_key.setdefault((draft.path, draft.kind), draft)
        if present is not draft:
            present.parts += draft.parts
            present.mentioned |= draft.mentioned
        return present

    def path_of(self, item_id: Id) -> str:
        """The document that an id became or stands in; empty if none so far."""
        anchor = self.anchors.get(item_id)
        return anchor.document if anchor is not None else ""

    def conditions(self, ids: Iterable[Id]) -> list[Cfg]:
        """The conditions that these items state, outermost first."""
        found: list[Cfg] = []
        for each in ids:
            if each not in self._conditions:
                self._conditions[each] = self._stated(self.file.index[each])
            found += self._conditions[each]
        return found

    def attributes(self, item: Item, conditions: list[Cfg]) -> dict[str, Any]:
        """Facts of an item, with the features and further conditions under which it exists."""
        found = facts(self.file, item)
        cfg = rust_cfg.combine([*conditions, *self._stated(item)])
        if cfg is not None:
            found["cfg"] = str(cfg)
            if features := list(dict.fromkeys(cfg.features())):
                found["features"] = features
        return found

    def _stated(self, item: Item) -> tuple[Cfg, ...]:
        raw = bytes(item.attrs)
        if b"cfg" not in raw and b"CfgTrace" not in raw:
            return ()
        return rust_cfg.from_attributes(words(self.file.attrs(item)))
