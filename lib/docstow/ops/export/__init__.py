"""A whole snapshot as text, piece by piece: JSON Lines, Markdown, ``llms.txt``, Open WebUI."""

from __future__ import annotations

from collections.abc import Iterator

from docstow.index.loaded import Index
from docstow.index.profiles import ITEMS
from docstow.ops.export.items import ITEM_FORMATS, ItemWriter
from docstow.ops.export.pages import PAGE_FORMATS, PageWriter
from docstow.ops.export.pieces import Piece

__all__ = ["ITEM_FORMATS", "PAGE_FORMATS", "Export"]


class Export:
    """The export of a snapshot.

    In every format each document is exactly once, in an order that only the snapshot decides.

    Args:
        index: the snapshot's tables.
        title: what people call the source; name and version if it is left out.
    """

    def __init__(self, index: Index, title: str | None = None) -> None:
        revision = index.snapshot.revision
        self.title = f"{revision.source.name} {revision.version}" if title is None else title
        writer = ItemWriter if index.profile is ITEMS else PageWriter
        self._writer: ItemWriter | PageWriter = writer(index, self.title)

    def pieces(self, form: str, begin: int = 0) -> Iterator[Piece]:
        """Yield the pieces of a format in order, without the first ``begin`` ones."""
        return self._writer.pieces(form, begin)

    def texts(self, form: str, begin: int = 0) -> Iterator[str]:
        """Yield the same as texts; before each file of a folder stands a comment with its name."""
        for piece in self.pieces(form, begin):
            name = f"<!-- file: {piece.file} -->\n\n" if piece.opens else ""
            yield name + piece.text
