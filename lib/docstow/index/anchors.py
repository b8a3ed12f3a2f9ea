"""What other texts of a snapshot say of an item, as the texts of links say what a page is about.

A sentence that links to an item or names it, and the comment or sentence before code that calls
it, are found in the docs of other items and in the pages of the package. Each is a keyword text of
the items that it is about, in the field for so many of them: what is said of one item describes
it, what is said of ten only lists it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from docstow.core.model import Document, Example
from docstow.core.patterns import lazy_pattern
from docstow.text.chunking import sentences
from docstow.text.markdown import FENCED

#: Name of the table with the inverted index of these texts.
ANCHORS = "anchor_postings"

#: The fields by the most items that a text of theirs may be about, with their BM25F weight and
#: length normalisation b. A text about more items is left out.
FIELDS: Mapping[int, tuple[float, float]] = {1: (1.0, 0.5), 3: (0.5, 0.5), 8: (0.2, 0.5)}

#: So many characters of a sentence count, and of a line of code.
_LONGEST = 400

#: What stands before a block of code is said of what it calls, if that is no more than so many.
_MOST_CALLED = 3

#: By so many last parts of its path an item can be named.
_MOST_PARTS = 6

_INDENTED = lazy_pattern(r"(?:(?<=\n\n)|\A)(?:(?: {4}|\t).*\n?)+")
# Paragraphs, items of lists, rows of tables and headings, each a text of its own.
_BLOCK_END = lazy_pattern(r"\n[ >\t]*\n|\n(?=[ >\t]*(?:[-*+|#]|\d+[.)])[ \t|#]*)")
_LEAD = lazy_pattern(r"^[ >\t]*(?:[-*+]|\d+[.)]|#+)?[ \t]+")
_MENTION = lazy_pattern(
    r"!\[[^\[\]\n]{0,200}\]\([^()\n]{0,400}\)"  # a picture
    r"|\[((?:[^\[\]]|\[[^\[\]]{0,40}\]){0,200})\]"
    r"\(([^()\s]{1,400}(?:\([^()\s]{0,100}\))?)(?:\s+\"[^\"]{0,200}\")?\)"
    r"|(?<!`)(`{1,3})(?!`)(.{1,200}?)(?<!`)\3(?!`)",
    re.DOTALL,
)
_QUALIFIED = lazy_pattern(r"[.#:]*[A-Za-z_$][\w$]*(?:(?:::|\.|#)[A-Za-z_$][\w$]*)*")
_GENERICS = lazy_pattern(r"(?:::)?<[^<>]*>")
_JOINT = lazy_pattern(r"::|[.#]")
# Where a mention stood in a text; nobody writes these characters.
_MARK = lazy_pattern("\ue000(\\d+)\ue001")

_CALL = lazy_pattern(
    r"((?<![\w$.:])[A-Za-z_$][\w$]*(?:(?:::|\.)[A-Za-z_$][\w$]*)*|(?<=[)\]}?])\.[A-Za-z_$][\w$]*)"
    r"(?:(?:::)?<[^()\n]{0,60}?>)?!?\s*[({\[]"
)
_COMMENT = lazy_pattern(r"^\s*(?://[/!]?|#(?!\[|!))\s?(.*)$")
_BESIDE = lazy_pattern(r"^(.*?\S)\s+(?://|#)\s+(.*)$")


def anchor_texts(
    documents: Sequence[Document], examples: Sequence[Example], aliases: Mapping[str, str]
) -> list[tuple[str, ...]]:
    """Return what others say of each document: a text for each of :data:`FIELDS`.

    Args:
        documents: all of the snapshot.
        examples: their code blocks, sorted by document.
        aliases: further public paths with the path that they stand for.
    """
    names = _Names(documents, aliases)
    found: list[dict[str, int]] = [{} for _ in documents]
    for row, text, targets in _said(documents, examples, names):
        # That a member belongs to its owner says nothing about the owner.
        parent = documents[row].parent
        about = {each for each in targets if each != row and documents[each].path != parent}
        if not about or len(about) > max(FIELDS):
            continue
        text = text[:_LONGEST]
        for target in about:
            earlier = found[target].get(text, len(about))
            found[target][text] = min(earlier, len(about))
    return [tuple(_fields(each)) for each in found]


def _fields(texts: Mapping[str, int]) -> Iterator[str]:
    """Yield the texts of each field; each stands in the first one that takes it."""
    least = 0
    for most in FIELDS:
        yield "\n".join(text for text, count in texts.items() if least < count <= most)
        least = most


def _said(
    documents: Sequence[Document], examples: Sequence[Example], names: _Names
) -> Iterator[tuple[int, str, set[int]]]:
    """Yield texts with the row of the document that they stand in and the rows they are about."""
    for row, document in enumerate(documents):
        if document.text:
            for text, targets in _in_prose(row, document, names):
                yield row, text, targets
    for example in examples:
        for text, targets in _in_code(example, names):
            yield example.document, text, targets


def _in_prose(row: int, document: Document, names: _Names) -> Iterator[tuple[str, set[int]]]:
    """Yield each sentence that names items."""
    text = document.text
    if "`" not in text and "](" not in text:
        return
    if "```" in text or "~~~" in text:
        text = FENCED.sub("\n\n", text)
    if "    " in text or "\t" in text:
        text = _INDENTED.sub("", text)
    for block in _BLOCK_END.split(text) if "\n" in text else (text,):
        if "`" not in block and "](" not in block:
            continue
        written, marked = _mark(block)
        mentions = [
            (names.linked(url) if url is not None else None) or names.named(shown, row)
            for shown, url in written
        ]
        if not any(mentions):
            continue
        for sentence in sentences(" ".join(_LEAD.sub("", marked).split())):
            targets = {r for n in _MARK.findall(sentence) for r in mentions[int(n)]}
            if targets:
                yield _MARK.sub("", sentence), targets


@lru_cache(maxsize=256)
def _mark(block: str) -> tuple[list[tuple[str, str | None]], str]:
    """Return what a block mentions, with the targets of links, and its text with marks behind each.

    It is kept for a while: members say the same of what they belong to.
    """
    written: list[tuple[str, str | None]] = []

    def mark(match: re.Match[str]) -> str:
        label, url, _, code = match.groups()
        if url is None and code is None:
            return ""
        shown = label if url is not None else code
        written.append((shown, url))
        return f"{shown.replace('`', '')}\ue000{len(written) - 1}\ue001"

    return written, _MENTION.sub(mark, block)


def _in_code(example: Example, names: _Names) -> Iterator[tuple[str, set[int]]]:
    """Yield comments with what is called behind them, and what stands before a whole block."""
    called: set[int] = set()
    comment: list[str] = []
    for line in example.code.split("\n"):
        line = line[:_LONGEST]
        commented = "//" in line or "#" in line
        if commented and (whole := _COMMENT.match(line)):
            comment.append(whole[1])
            continue
        beside = _BESIDE.match(line) if commented else None
        code = beside[1] if beside else line
        calls = _CALL.findall(code) if "(" in code or "{" in code or "[" in code else ()
        rows = {row for name in calls for row in names.called(name, example.document)}
        called |= rows
        said = [" ".join(comment)] if comment else []
        said += [beside[2]] if beside else []
        if rows:
            yield from ((text, rows) for text in said if " " in text)
        if code.strip():
            comment = []
    if " " in example.context and len(called) <= _MOST_CALLED:
        yield example.context, called


class _Names:
    """The rows that names and links in a text mean."""

    def __init__(self, documents: Sequence[Document], aliases: Mapping[str, str]) -> None:
        self._documents = documents
        self._by_url: defaultdict[str, set[int]] = defaultdict(set)
        self._by_tail: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
        self._by_path: defaultdict[str, set[int]] = defaultdict(set)
        self._written: dict[str, tuple[str, bool]] = {}
        for row, document in enumerate(documents):
            if document.kind == "page":
                continue
            if document.url:
                self._by_url[document.url].add(row)
            self._by_path[document.path].add(row)
            self._add(document.path, row)
        for alias, path in aliases.items():
            for row in tuple(self._by_path.get(path, ())):
                self._add(alias, row)

    def _add(self, path: str, row: int) -> None:
        parts = tuple(_JOINT.split(path))
        for count in range(1, min(len(parts), _MOST_PARTS) + 1):
            self._by_tail[parts[-count:]].add(row)

    def linked(self, url: str) -> set[int]:
        """Return the rows of a link's target."""
        return self._by_url.get(url, set())

    def named(self, code: str, row: int) -> set[int]:
        """Return the rows that a quoted name means in the text of a document."""
        found = self._written.get(code)
        if found is None:
            found = self._written[code] = _read_name(code)
        name, sure = found
        return self._resolve(name, row, sure=sure) if name else set()

    def called(self, name: str, row: int) -> set[int]:
        """Return the rows that a name means that code calls."""
        found = self._resolve(name, row, sure=True)
        if not found and len(parts := _JOINT.split(name)) > 1 and "::" not in name:
            found = self._resolve(parts[-1], row, sure=True)
        return found

    def _resolve(self, name: str, row: int, *, sure: bool) -> set[int]:
        """Return what a name means: the only item of that name, or the only one near by."""
        parts = tuple(filter(None, _JOINT.split(name)))[-_MOST_PARTS:]
        rows = self._by_tail.get(parts, set())
        if len(rows) == 1 and (sure or len(parts) > 1 or not _is_word(name)):
            return rows
        if not rows:
            return set()
        here = self._documents[row]
        near = {
            each
            for each in rows
            if self._documents[each].parent in (here.path, here.parent)
            and self._documents[each].parent
        }
        return near if len(near) == 1 else set()


def _read_name(code: str) -> tuple[str, bool]:
    """Return the name that quoted code is, and whether it is sure to be one; empty if it is none.

    It is sure where it is called, or begins with a joint.
    """
    bare = _GENERICS.sub("", code.strip("`* ")).lstrip("&@")
    match = _QUALIFIED.match(bare)
    if match is None:
        return "", False
    tail = bare[match.end() :]
    if tail and tail[0] not in "(!{[":
        return "", False
    return match[0], bool(tail) or match[0][0] in ".#:"


def _is_word(name: str) -> bool:
    """Return whether a name could be a parameter's or a word of English."""
    return name.isalpha() and name.islower()
