"""Whole passages of pages within a budget, in place of snippets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from docstow.text.markdown import without_links
from docstow.text.paging import part

if TYPE_CHECKING:
    from docstow.index.loaded import Index
    from docstow.index.search_pages import ChunkHit

_GAP = "\n\n[…]\n\n"
#: Less of a passage than this is not worth showing, in characters; the least of a part.
_LEAST = 400


@dataclass(slots=True)
class _Opened:
    """A page that is shown: its best hit, and the rows of its chunks."""

    best: ChunkHit
    index: Index
    rows: set[int]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What is shown of a page: its best hit, and passages in the page's order."""

    hit: ChunkHit
    text: str


def make_excerpts(
    open_index: Callable[[ChunkHit], Index],
    hits: Sequence[ChunkHit],
    limit: int,
    *,
    around: int,
) -> tuple[list[Excerpt], int]:
    """Return whole passages of the best hits, merged by page, and how many hits they cover.

    Hits are taken in order while they fit. What is left of the budget goes to the neighbours of
    a passage within its section: what came before it, then what comes after it. The first
    passage is shown even if it alone is too long, and is cut then.

    Args:
        open_index: gives the snapshot of a hit.
        hits: best first.
        limit: characters of all passages together, with what is said around each page.
        around: characters that each page needs beside its passages.
    """
    pages: dict[str, _Opened] = {}
    used = shown = 0
    for hit in hits:
        index = open_index(hit)
        row = index.find_passage(hit.chunk_id)
        if row is None:
            continue
        page = pages.get(hit.document_id)
        size = len(str(index.passages["text"][row])) + (len(_GAP) if page else around)
        if used and used + size > limit:
            break
        used += size
        shown += 1
        if page is None:
            pages[hit.document_id] = page = _Opened(hit, index, set())
        page.rows.add(row)
    for page in pages.values():
        used = _add_neighbours(page, used, limit)
    excerpts = [Excerpt(each.best, _text(each)) for each in pages.values()]
    if excerpts and used > limit:
        room = max(limit - around, _LEAST)
        excerpts = [Excerpt(each.hit, part(each.text, 0, room).text) for each in excerpts]
    return excerpts, shown


def _add_neighbours(page: _Opened, used: int, limit: int) -> int:
    """Add what stands beside the passages in their section; return what is used then."""
    chunks = page.index.passages
    for row in sorted(page.rows):
        rows = page.index.passage_rows(int(chunks["document"][row]))
        heading = str(chunks["heading_path"][row])
        for step in (-1, 1):
            other = row + step
            while other in rows and _is_within(str(chunks["heading_path"][other]), heading, step):
                size = len(str(chunks["text"][other])) + len(_GAP)
                if other not in page.rows:
                    if used + size > limit:
                        break
                    used += size
                    page.rows.add(other)
                other += step
    return used


def _is_within(path: str, heading: str, step: int) -> bool:
    """Return whether a chunk continues a section; what comes after may be a section of it."""
    return path == heading or (step > 0 and bool(heading) and path.startswith(f"{heading} > "))


def _text(page: _Opened) -> str:
    """Return the passages in the page's order, each as it stands there."""
    first = min(page.rows)
    whole = page.index.text(int(page.index.passages["document"][first]))
    parts: list[str] = []
    for run in _runs(sorted(page.rows)):
        chunks = [page.index.passage(row) for row in run]
        text = _slice(whole, [each.text for each in chunks])
        path = chunks[0].heading_path
        if path != page.best.heading_path and not text.startswith("#"):
            text = f"**{path}**\n\n{text}"
        parts.append(text)
    return without_links(_GAP.join(parts))


def _runs(rows: Sequence[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for row in rows:
        if runs and runs[-1][-1] == row - 1:
            runs[-1].append(row)
        else:
            runs.append([row])
    return runs


def _slice(whole: str, chunks: Sequence[str]) -> str:
    """Return neighbours as one text; chunks repeat the end of the one before."""
    begin = end = whole.find(chunks[0])
    for chunk in chunks:
        place = whole.find(chunk, max(begin, end - len(chunk)))
        if begin < 0 or place < 0:  # parts of a code block have fences of their own
            return "\n\n".join(chunks)
        end = place + len(chunk)
    return whole[begin:end]
