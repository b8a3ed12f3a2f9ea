"""What hits show of chunks, worked out when their page is stowed: text, windows of it, fragment."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import Document, Passage
from docstow.core.records import dataclass
from docstow.text.chunking import snippet, snippet_windows
from docstow.text.headings import find_anchor

#: The columns that :func:`shown_columns` gives.
COLUMNS = ("plain", "windows", "fragment")

_WINDOW = np.dtype("<i4")


@dataclass(frozen=True, slots=True)
class ShownChunk:
    """What a hit shows of a chunk.

    Attributes:
        plain: its text with its code, without Markdown's signs.
        windows: where snippets of that may begin and end: shape (windows, 2).
        fragment: leads to it on its page, as URLs quote it; empty where there is none.
    """

    plain: str
    windows: NDArray[np.int32]
    fragment: str

    def snippet(self, beginnings: Collection[str]) -> str:
        """Return the part that has most words that begin so."""
        return snippet(self.plain, beginnings, windows=self.windows.tolist())


def show_chunk(page: Document, chunk: Passage, plain: str) -> ShownChunk:
    """Work out what a hit shows of a chunk.

    Args:
        page: that it is of.
        chunk: a slice of the page's text.
        plain: the chunk as plain text with its code.
    """
    text = plain.strip()
    windows = np.array(snippet_windows(text), _WINDOW).reshape(-1, 2)
    anchors, terms = page.attributes.get("anchors", ()), page.attributes.get("terms", ())
    fragment = ""
    if page.url and "#" not in page.url and (anchors or terms):
        fragment = find_anchor(page.text, anchors, chunk.heading_path, chunk.text, terms)
    return ShownChunk(text, windows, quote(fragment, safe="!$&'()*+,;=:@/?"))


def shown_columns(shown: Sequence[ShownChunk]) -> Mapping[str, Sequence[Any]]:
    """Return the columns that keep what hits show: a row a chunk."""
    return {
        "plain": [each.plain for each in shown],
        "windows": [each.windows.tobytes() for each in shown],
        "fragment": [each.fragment for each in shown],
    }


def read_shown(columns: Mapping[str, NDArray[Any]], row: int) -> ShownChunk:
    """Return what the columns keep of a chunk."""
    windows = np.frombuffer(columns["windows"][row], _WINDOW).reshape(-1, 2)
    return ShownChunk(str(columns["plain"][row]), windows, str(columns["fragment"][row]))
