"""Markdown parsed: the blocks of a text, by pulldown-cmark, which is also what rustdoc reads with.

The parser says what begins and ends where; its events become blocks in one flat list, outer ones
before those in them, so that nothing recurses into a text that nests deeply.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    import pyromark

from docstow.core.patterns import lazy_pattern

#: What a block is.
PARAGRAPH, HEADING, ROW, CODE, HTML = "paragraph", "heading", "row", "code", "html"
LIST, ITEM, QUOTE, TABLE, RULE = "list", "item", "quote", "table", "rule"

#: The parser's names of blocks that hold others, and of those that hold text.
_OUTER = {"List": LIST, "Item": ITEM, "BlockQuote": QUOTE, "Table": TABLE}
_INNER = {
    "Paragraph": PARAGRAPH,
    "Heading": HEADING,
    "TableHead": ROW,
    "TableRow": ROW,
    "CodeBlock": CODE,
    "HtmlBlock": HTML,
}
#: Those that change nothing in a plain text.
_NEITHER = frozenset({"Emphasis", "Strong", "Strikethrough"})
#: What paragraphs are made of where no character has another meaning: words, code and links.
_WORDS = r"[^`\\*_\[\]<>&!|~\x00-\x1f]++"
_CODE = r"`[^`\s](?:[^`\x00-\x1f]*[^`\s])?`(?!`)"
_LABEL = rf"(?:{_WORDS}|{_CODE})++"
_TARGET = r"\([^\s()<>\\`\x00-\x1f]*+\)"
_INLINE = rf"(?:{_WORDS}|{_CODE}|\[{_LABEL}\]{_TARGET})++"
_LINE = rf"""(?:(?=[^\W\d_]|[`(\["']){_INLINE}|\*(?=[^\s*]){_INLINE}(?<=\S)\*)"""
_PLAIN = lazy_pattern(rf"{_LINE}(?:\n++{_LINE})*+\n*+")
_CODE_OR_LINK = lazy_pattern(rf"({_CODE})|\[({_LABEL})\]{_TARGET}")
_FENCE = lazy_pattern(rb"`{3,}|~{3,}")
_HASHES = lazy_pattern(rb"#{1,6}(?=[ \t\n]|\Z)")


class Block(NamedTuple):
    """One block of a text; a tuple, as there are many.

    Attributes:
        kind: one of the names above.
        begin: its first line, counted from 0.
        end: the line after its last one.
        depth: the number of blocks that it stands in.
        text: of code and HTML the content; of a row its cells with bars between them; of other
            blocks that hold text this as plain text on one line.
        level: of a heading, from 1.
        info: what stands behind the opening fence of code.
        markup: the marks of a fence or before a heading; empty of other code and other headings.
        tight: whether it is a paragraph of a list that has no empty lines between items.
    """

    kind: str
    begin: int
    end: int
    depth: int
    text: str = ""
    level: int = 0
    info: str = ""
    markup: str = ""
    tight: bool = False


@lru_cache(maxsize=4)
def parse(text: str) -> tuple[Block, ...]:
    r"""Return the blocks of a text: CommonMark with tables and strikethrough.

    They are cached, as one text is divided in several ways.

    Args:
        text: Markdown; its lines end with ``\n``, ``\r\n`` or ``\r``. At what the parser cannot
            take it is one paragraph.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    body = text.encode("utf-8", "replace")
    text = body.decode()
    if _PLAIN.fullmatch(text):
        return tuple(_paragraphs(text))
    try:
        return tuple(_Reader(body).blocks(_events(text)))
    except BaseException as fault:
        # The parser is Rust: its panic is no Exception, and would end more than this text.
        if type(fault).__name__ != "PanicException":
            raise
        return (Block(PARAGRAPH, 0, text.count("\n") + 1, 0, " ".join(text.split())),)


def _paragraphs(text: str) -> Iterator[Block]:
    """Yield the blocks of a text of plain paragraphs: as the parser would, in a tenth of its time.

    Most docs of items are no more than that.
    """
    found: list[str] = []
    for number, line in enumerate([*text.split("\n"), ""]):
        if line:
            found.append(line[1:-1] if line.startswith("*") else line)
        elif found:
            words = _without_links(" ".join(found))
            yield Block(PARAGRAPH, number - len(found), number, 0, words)
            found.clear()


def plain_line(line: str) -> str | None:
    """Return a line of a paragraph or a heading as plain text; None where the parser has to."""
    if not _PLAIN.fullmatch(line) or line.startswith("*"):
        return None
    return _without_links(line)


def _without_links(words: str) -> str:
    if "](" in words:
        words = _CODE_OR_LINK.sub(r"\1\2", words)
    return " ".join(words.split())


def _events(text: str) -> Iterator[tuple[Any, Mapping[str, int]]]:
    """Yield the parser's events, each with its place in bytes."""
    import pyromark  # only when a text needs it

    found = pyromark.events_with_range(text, options=_options(), merge_text=True)
    # An event's type is a union of dozens of dictionaries.
    return cast("Iterator[tuple[Any, Mapping[str, int]]]", found)


@cache  # which take as long to join as a short text to parse
def _options() -> pyromark.Options:
    import pyromark

    return pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_STRIKETHROUGH


class _Reader:
    """Turns the events of one text into blocks."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._ends = list(accumulate(map(len, body.splitlines(keepends=True))))
        self._found: list[Block] = []
        self._depth = 0
        self._kind = ""  # of the open block that holds text
        self._tag: Any = None  # of this block, if it has one
        self._start = self._last = 0
        self._parts: list[str] = []
        self._cells: list[str] = []
        self._links = self._images = self._before_image = 0

    def blocks(self, events: Iterator[tuple[Any, Mapping[str, int]]]) -> list[Block]:
        """Return all blocks."""
        parts = self._parts
        for event, place in events:
            if event.__class__ is str:
                if event == "Rule":
                    self._close()
                    self._add(RULE, place["start"], place["end"])
                else:  # the end of a line in a paragraph
                    parts.append(" ")
                continue
            (name,) = event
            value = event[name]
            if name == "Text" and self._tag is not None:
                parts.append(value)
            elif name in ("Start", "End"):
                tag = value if value.__class__ is str else next(iter(value))
                if tag in _NEITHER:
                    continue
                if name == "Start":
                    self._begin(tag, value, place)
                else:
                    self._finish(tag)
            else:
                self._inline(name, value, place)
        return self._found

    def _begin(self, name: str, tag: Any, place: Mapping[str, int]) -> None:
        if name in _INNER:
            self._close()
            self._kind, self._tag = _INNER[name], tag
            self._start, self._last = place["start"], place["end"]
        elif name in _OUTER:
            self._close()
            self._add(_OUTER[name], place["start"], place["end"])
            self._depth += 1
        elif name == "Link":
            self._links += 1
        elif name == "Image":
            if not self._images:
                self._before_image = len(self._parts)
            self._images += 1

    def _finish(self, name: str) -> None:
        if name in _INNER:
            self._close()
        elif name in _OUTER:
            self._close()
            self._depth -= 1
        elif name == "TableCell":
            self._cells.append(self._words())
        elif name == "Link":
            self._links -= 1
        elif name == "Image":
            self._images -= 1
            if self._links and not self._images:  # badges say nothing
                del self._parts[self._before_image :]

    def _inline(self, name: str, value: str, place: Mapping[str, int]) -> None:
        if not self._kind:
            self._kind, self._tag, self._start = PARAGRAPH, None, place["start"]
        if self._tag is None:
            self._last = place["end"]
        if name == "Code":
            ticks = "``" if "`" in value else "`"
            self._parts.append(f"{ticks}{value}{ticks}")
        elif name != "InlineHtml":
            self._parts.append(value)
        elif value.startswith("<br"):
            self._parts.append(" ")

    def _words(self) -> str:
        words = " ".join("".join(self._parts).split())
        self._parts.clear()
        self._links = self._images = 0
        return words

    def _close(self) -> None:
        """End the open block that holds text; one of a tight list has no end of its own."""
        kind, tag = self._kind, self._tag
        if not kind:
            return
        self._kind, self._tag = "", None
        if kind in (CODE, HTML):
            text = "".join(self._parts)
            self._parts.clear()
        elif kind == ROW:
            text = " | ".join(self._cells)
            self._cells.clear()
        else:
            text = self._words()
        level, info, markup = 0, "", ""
        if kind == HEADING:
            level, markup = int(tag["Heading"]["level"][1:]), self._marks(_HASHES)
        elif kind == CODE and tag["CodeBlock"] != "Indented":
            info, markup = tag["CodeBlock"]["Fenced"], self._marks(_FENCE)
        self._add(kind, self._start, self._last, text, level, info, markup, tight=tag is None)

    def _add(
        self,
        kind: str,
        start: int,
        end: int,
        text: str = "",
        level: int = 0,
        info: str = "",
        markup: str = "",
        *,
        tight: bool = False,
    ) -> None:
        first, last = bisect_right(self._ends, start), bisect_left(self._ends, end)
        self._found.append(
            Block(kind, first, max(first, last) + 1, self._depth, text, level, info, markup, tight)
        )

    def _marks(self, pattern: re.Pattern[bytes]) -> str:
        found = pattern.match(self._body, self._start)
        return found[0].decode() if found else ""
