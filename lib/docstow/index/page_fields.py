"""What whole pages are about: their titles, headings and beginnings, and what links to them say.

Chunks are found by what they say. Which page a question is about shows in its title, in what it
begins with, in all its headings together, or in the sentence by which another page leads to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import Document
from docstow.core.patterns import lazy_pattern
from docstow.embedding.words import WordVectors
from docstow.index.near_rows import NearRows
from docstow.index.near_words import Floats, NearWords
from docstow.text.headings import find_headings
from docstow.text.markdown import FENCED, LINK

#: The columns of the documents' table that keep these texts, in the order of :func:`page_fields`.
COLUMNS = ("about", "lead")

#: So many words are the lead of a page, out of so many lines of its text.
_LEAD_WORDS, _LEAD_LINES = 60, 12
#: Which most pages have in so many characters.
_LEAD_CHARACTERS = 1000
#: So many words say what a page is about, and so many different terms of either text are kept.
_ABOUT_WORDS, _MOST_TERMS = 400, 150

#: A text that links to more pages lists them and describes none.
_MOST_LINKED = 2
#: So much is kept of a text with a link: all, or what stands so far around it.
_LONGEST, _BEFORE, _BEHIND = 400, 150, 250
#: A link that has so few characters beside it is described by the text after it.
_BARE, _FOLLOWING = 8, 200

#: The target of anything that may be a link.
_TARGET = lazy_pattern(r"\]\(<?([^()\s>]+(?:\([^()\s]*\))?)")
_MARK = lazy_pattern(r"[*_`#>|\\]+")
# Paragraphs, items of lists and cells of tables.
_BLOCK_END = lazy_pattern(r"\n\s*\n|\n(?=\s*(?:[-*+|]|\d+[.)])\s)|<br>|(?<=\|) (?=\S)")


class PageWords:
    """The words of the fields of pages, to compare with those of queries.

    Args:
        vectors: of words.
        fields: :data:`COLUMNS` of the documents' table.
    """

    def __init__(self, vectors: WordVectors, fields: Mapping[str, NDArray[np.object_]]) -> None:
        split = {name: [text.split(" ") for text in fields[name]] for name in COLUMNS}
        terms = dict.fromkeys(chain.from_iterable(chain.from_iterable(split.values())))
        self._near = NearWords(vectors, terms, lambda _: None, 0)
        read = [list(map(self._near.read, texts)) for texts in split.values()]
        self._rows = NearRows(
            self._near,
            lambda rows: [texts[row] for texts in read for row in rows.tolist()],
            fields=len(read),
            count=len(read[0]),
        )

    def compare(self, query: Sequence[str], rows: NDArray[np.int64]) -> dict[str, Floats]:
        """Return how much of a query the words of each page's fields mean, 0 to 1, by field.

        Args:
            query: its terms.
            rows: of the pages.
        """
        terms, shares = self._near.weigh(query)
        found = np.zeros(len(COLUMNS) * len(rows), np.float32)
        if terms and len(rows):
            found = shares @ self._rows.compare(terms, rows).reshape(len(terms), -1)
        return dict(zip(COLUMNS, found.reshape(len(COLUMNS), -1), strict=True))


def page_fields(
    documents: Sequence[Document], summaries: Sequence[str], terms: Callable[[str], list[str]]
) -> tuple[list[str], list[str]]:
    """Return the terms of what each page is about, and of what it begins with; each term once.

    Args:
        documents: all pages of a snapshot.
        summaries: the first sentence of each.
        terms: gives the terms of a text.
    """
    about, leads = [], []
    for page, summary, texts in zip(documents, summaries, _said_of(documents), strict=True):
        headings = (each.title for each in find_headings(page.text))
        words = " ".join([page.title, summary, *headings, *texts]).split()
        about.append(_distinct(terms(" ".join(words[:_ABOUT_WORDS]))))
        leads.append(_distinct(terms(_lead(page.text))))
    return about, leads


def _distinct(terms: Sequence[str]) -> str:
    return " ".join(list(dict.fromkeys(terms))[:_MOST_TERMS])


def _lead(text: str) -> str:
    end = text.find("\n\n", _LEAD_CHARACTERS)
    lines = _lead_lines(text[:end]) if end >= 0 else []
    if len(lines) < _LEAD_LINES:  # the text is short, or begins with code
        lines = _lead_lines(text)
    return " ".join(_MARK.sub("", " ".join(lines[:_LEAD_LINES])).split()[:_LEAD_WORDS])


def _lead_lines(text: str) -> list[str]:
    body = LINK.sub(r"\2", FENCED.sub("", text))
    return [line for line in body.split("\n") if line.strip() and not line.startswith("#")]


def _said_of(documents: Sequence[Document]) -> list[list[str]]:
    """Return for each page what others say where they link to it, each text once."""
    rows = {page.url: row for row, page in enumerate(documents) if page.url}
    said: list[dict[str, None]] = [{} for _ in documents]
    for row, page in enumerate(documents):
        if any(target.partition("#")[0] in rows for target in _TARGET.findall(page.text)):
            for text, targets in _linking(page.text, rows):
                for target in targets - {row}:
                    said[target][text] = None
    return [list(texts) for texts in said]


def _linking(text: str, rows: Mapping[str, int]) -> Iterator[tuple[str, set[int]]]:
    """Yield the texts around links, with the rows of the pages that they link to."""
    split = _BLOCK_END.split(FENCED.sub("\n\n", text))
    blocks = [block for block in split if block.strip()]
    for number, block in enumerate(blocks):
        links = [match for match in LINK.finditer(block) if not match[1]]
        linked = (rows.get(match[3].partition("#")[0]) for match in links)
        targets = {row for row in linked if row is not None}
        if not targets or len(targets) > _MOST_LINKED:
            continue
        said = _plain(LINK.sub(r"\2", block))
        labels = _plain(" ".join(match[2] for match in links))
        following = blocks[number + 1] if number + 1 < len(blocks) else ""
        if len(said) - len(labels) < _BARE and _describes(following):
            said += f": {_plain(following)[:_FOLLOWING]}"
        if len(said) > _LONGEST:
            place = max(said.find(labels[:30]), 0)
            said = said[max(0, place - _BEFORE) : place + _BEHIND]
        yield said.strip(" -+*"), targets


def _describes(block: str) -> bool:
    """Return whether a block may describe the link before it: it is prose of its own."""
    opening = block.lstrip()
    return bool(opening) and opening[0] not in "#-*|" and not LINK.search(block[:150])


def _plain(text: str) -> str:
    return " ".join(_MARK.sub(" ", text).split())
