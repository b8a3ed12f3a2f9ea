"""Text divided: items into passages and code blocks, pages into chunks, prose into sentences.

Passages are plain prose without code. Chunks are slices of a page's Markdown: headings divide them
first, then blocks, and only then the number of tokens, so that a code block, a list or a table is
cut only where it alone is too long.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass
from docstow.text import parsing
from docstow.text.markdown import Piece, block_language, pieces, pieces_of, visible_lines
from docstow.text.parsing import CODE, HEADING, ITEM, LIST, PARAGRAPH, QUOTE, parse

#: Ids of :func:`split_passages` and :func:`split_chunks`, a part of recipes.
CHUNKER = "chunk/2"
PROSE_CHUNKER = "chunk-prose/3"

_LINE = lazy_pattern(r"[^\n]*\n|[^\n]+\Z")
_WORD = lazy_pattern(r"\s*\S+(?:\s+\Z)?")
#: What may be the definition of a link: a label with its address.
_DEFINITION = lazy_pattern(r"^[ \t>*+.)\-\d]*\[[^\]]{1,999}\]:", re.MULTILINE)
_SHORTEST_SNIPPET = 200
#: Lists and quotes that nest more deeply are cut between lines.
_DEEPEST = 20
_ELLIPSIS = "\u2026"
#: What stands between the last sign of a sentence and the next sentence.
_CLOSERS = " \"')"

#: The last sign of a sentence with what follows it, or the ends of lines. It begins with one of a
#: set of characters, which is how most places are passed over quickly.
_SENTENCE_END = lazy_pattern(
    "[.!?\\s\u3002\uff0e\uff01\uff1f\uff61](?:"
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bcf\.)(?<!\bvs\.)(?<!\betc\.)"
    r"[)\"'*_]*[ \t]+(?=[^a-z\s])"
    r"|(?<=\s)(?<!\s\s)(?:(?<=\n)|\s*\n)\s*"
    # Chinese and Japanese have no space behind a sentence.
    "|(?<=[\u3002\uff0e\uff01\uff1f\uff61])[\u300d\u300f\uff09\u3011\u201d\u2019]*[ \t]*(?=\\S))"
)


#: What a text of several sentences has somewhere; quickly seen to be missing.
_MAY_END = lazy_pattern(
    r"\n|[.!?][)\"'*_]*[ \t]|[\u3002\uff0e\uff01\uff1f\uff61]",
)


@dataclass(frozen=True, slots=True)
class Block:
    """A whole code block.

    Attributes:
        language: in lower case.
        code: as a reader sees it: rustdoc's hidden lines are left out.
        context: the sentence before it, or else the heading above it; plain text, may be empty.
    """

    language: str
    code: str
    context: str


def split_passages(text: str, *, limit_words: int = 300) -> list[tuple[str, str]]:
    """Split Markdown into passages that respect headings and paragraphs.

    Args:
        text: Markdown.
        limit_words: a passage has no more words than this; a paragraph that alone is longer is
            split between sentences, a sentence that alone is longer between words.

    Returns:
        ``(heading_path, prose)`` in order: the headings above it, outermost first, joined by
        `` > ``, and plain text without code blocks. Sections without prose give nothing.
    """
    passages: list[tuple[str, str]] = []
    headings: list[tuple[int, str]] = []
    section: list[Piece] = []

    def close() -> None:
        path = " > ".join(title for _, title in headings)
        passages.extend((path, prose) for prose in _fill_passages(section, limit_words))
        section.clear()

    for piece in pieces(text):
        if piece.level:
            close()
            headings = [each for each in headings if each[0] < piece.level]
            headings.append((piece.level, piece.text))
        elif piece.info is None:
            section.append(piece)
    close()
    return passages


def code_blocks(text: str, *, default_language: str = "rust") -> list[Block]:
    """Return all code blocks of a Markdown text, fenced or indented, each whole.

    Args:
        text: Markdown; rustdoc's info strings (``ignore``, ``no_run``, ``edition2021``) are known.
        default_language: of blocks that name none.
    """
    blocks = []
    prose = heading = ""
    for piece in pieces(text):
        if piece.level:
            prose, heading = "", piece.text
        elif piece.info is None:
            prose = piece.text
        else:
            named = block_language(piece.info, default_language)
            lines = piece.text.split("\n")
            code = "\n".join(visible_lines(lines) if named == "rust" else lines)
            if code.strip():
                *_, sentence = sentences(prose)
                blocks.append(Block(named, code.strip("\n"), sentence or heading))
    return blocks


def first_sentence(text: str) -> str:
    """Return the first sentence of the first paragraph as plain text; may be empty."""
    for piece in pieces(text):
        if not piece.level and piece.info is None:
            return next(sentences(piece.text))
    return ""


def plain(markdown: str, *, code: bool = False) -> str:
    """Return Markdown as plain text with its headings, and without code blocks unless wanted."""
    return join([piece for piece in pieces(markdown) if code or piece.info is None])


def join(pieces: Sequence[Piece]) -> str:
    """Return pieces as one plain text: lists and tables by line, paragraphs by empty line."""
    text = ""
    for piece in pieces:
        text += ("\n" if piece.tight else "\n\n") * bool(text) + piece.text
    return text


def _fill_passages(section: Sequence[Piece], limit_words: int) -> Iterator[str]:
    """Fill passages with whole pieces up to the limit."""
    passage: list[Piece] = []
    used = 0
    for piece in _shorten(section, limit_words):
        words = len(piece.text.split())
        if passage and used + words > limit_words:
            yield join(passage)
            passage, used = [], 0
        passage.append(piece)
        used += words
    if passage:
        yield join(passage)


def _shorten(section: Sequence[Piece], limit_words: int) -> Iterator[Piece]:
    """Yield pieces of no more words than the limit; longer ones become sentences or runs."""
    for piece in section:
        if len(piece.text.split()) <= limit_words:
            yield piece
            continue
        for sentence in sentences(piece.text):
            words = sentence.split()
            for first in range(0, len(words), limit_words):
                yield Piece(" ".join(words[first : first + limit_words]), tight=True)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a page.

    Attributes:
        heading_path: the headings above it and its own, outermost first, joined by `` > ``.
        text: Markdown as it stands in the page, code and headings included.
        tokens: of the text.
        blocks: of the page that the text is made of; empty where it is cut within a block.
    """

    heading_path: str
    text: str
    tokens: int
    blocks: Sequence[parsing.Block] = field(default=(), compare=False)

    def pieces(self) -> Sequence[Piece]:
        """Return the text as plain pieces."""
        return tuple(pieces_of(self.blocks)) if self.blocks else pieces(self.text)


class _Part(NamedTuple):
    """A slice of the page that stays whole, with what it needs around it to be what it was.

    Where it is a whole block of the page, it has this block and those in it. A tuple, as there
    are many.
    """

    start: int
    end: int
    tokens: int
    prose: bool = False
    heading: bool = False
    fence: tuple[str, str] | None = None
    blocks: Sequence[parsing.Block] = ()


def split_chunks(
    text: str,
    count: Callable[[str], int],
    *,
    target: int = 400,
    most: int = 800,
    overlap: int = 60,
) -> list[Chunk]:
    """Split a page into chunks.

    Args:
        text: Markdown.
        count: gives a text's number of tokens.
        target: chunks are filled with whole blocks up to so many tokens.
        most: no chunk has more; a word that alone has is cut, as many scripts have no spaces.
        overlap: so many tokens at most of one chunk's last sentences begin the next chunk of the
            section again.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # as the parser counts lines
    return list(_Splitter(text, count, target, most, overlap).chunks())


class _Splitter:
    """Splits one page."""

    def __init__(
        self, text: str, count: Callable[[str], int], target: int, most: int, overlap: int
    ) -> None:
        self._text = text
        self._count = count
        self._target = target
        self._most = most
        self._overlap = overlap
        self._lines = [match.start() for match in _LINE.finditer(text)]
        # What a link leads to may stand in another part of the page.
        self._divisible = _DEFINITION.search(text) is None

    def chunks(self) -> Iterator[Chunk]:
        """Yield the chunks of all sections; headings without text go with the next one."""
        headings: list[tuple[int, str]] = []
        section: list[_Part] = []
        bare = True
        blocks = parse(self._text)
        if not blocks:  # nothing but the addresses of links
            section += self._by_lines(0, len(self._text), self._most)
        for start, end, block in self._blocks(blocks, 0, len(self._text)):
            level = block[0].level
            if level:
                if section and not (bare and level > headings[-1][0]):
                    yield from self._fill(section, headings)
                    section = []
                headings = [each for each in headings if each[0] < level]
                headings.append((level, block[0].text))
                bare = not section or bare
            else:
                bare = False
            section += self._parts(start, end, block)
        yield from self._fill(section, headings)

    def _blocks(
        self, blocks: Sequence[parsing.Block], start: int, end: int
    ) -> Iterator[tuple[int, int, Sequence[parsing.Block]]]:
        """Yield the outermost blocks of a slice, which cover all of it, with what they hold."""
        depth = blocks[0].depth if blocks else 0
        first = [place for place, block in enumerate(blocks) if block.depth == depth]
        starts = [self._offset(blocks[place].begin) for place in first]
        for number, place in enumerate(first):
            after = first[number + 1] if number + 1 < len(first) else len(blocks)
            yield (
                max(starts[number], start) if number else start,
                starts[number + 1] if number + 1 < len(first) else end,
                blocks[place:after],
            )

    def _offset(self, line: int) -> int:
        return self._lines[line] if line < len(self._lines) else len(self._text)

    def _parts(self, start: int, end: int, blocks: Sequence[parsing.Block]) -> Iterator[_Part]:
        """Yield a block as one part, or as several if it is too long."""
        size = self._count(self._text[start:end])
        block = blocks[0]
        if size <= self._most:
            whole = blocks if self._divisible and not block.depth else ()
            prose, heading = block.kind == PARAGRAPH, block.kind == HEADING
            yield _Part(start, end, size, prose, heading, blocks=whole)
        elif block.kind == CODE and block.markup:
            first, last = self._offset(block.begin), min(self._offset(block.end), end)
            yield from self._by_lines(start, first, self._most)
            yield from self._fenced(first, last, block)
            yield from self._by_lines(last, end, self._most)
        elif block.kind == PARAGRAPH:
            yield from self._sentences(start, end)
        elif block.kind in (LIST, ITEM, QUOTE) and len(blocks) > 1 and block.depth < _DEEPEST:
            for each in self._blocks(blocks[1:], start, end):
                yield from self._parts(*each)
        else:
            yield from self._by_lines(start, end, self._most)

    def _sentences(self, start: int, end: int) -> Iterator[_Part]:
        borders = [start + each for each in sentence_starts(self._text[start:end])]
        for first, last in zip(borders, [*borders[1:], end], strict=True):
            size = self._count(self._text[first:last])
            if size <= self._most:
                yield _Part(first, last, size, prose=True)
            else:
                yield from self._words(first, last, self._most, prose=True)

    def _fenced(self, start: int, end: int, block: parsing.Block) -> Iterator[_Part]:
        """Yield the lines of a code block, each part in the block's own fence."""
        opening, closing = f"{block.markup}{block.info}\n", f"\n{block.markup}"
        around = self._count(opening + closing)
        lines = [match.end() for match in _LINE.finditer(self._text, start, end)]
        if len(lines) < 3 or 2 * around > self._most:
            yield from self._by_lines(start, end, self._most)
            return
        begin, stop = lines[0], end
        if self._text[lines[-2] : end].strip().endswith(block.markup):
            stop = lines[-2]  # else it is never closed and ends with what it stands in
        for part in self._by_lines(begin, stop, self._most - around):
            yield _Part(part.start, part.end, part.tokens, fence=(opening, closing))

    def _by_lines(self, start: int, end: int, limit: int) -> Iterator[_Part]:
        for part in self._runs(start, end, limit, _LINE):
            if part.tokens <= limit:
                yield part
            else:
                yield from self._words(part.start, part.end, limit)

    def _words(self, start: int, end: int, limit: int, *, prose: bool = False) -> Iterator[_Part]:
        for part in self._runs(start, end, limit, _WORD, prose=prose):
            yield from self._halves(part, limit)

    def _halves(self, part: _Part, limit: int) -> Iterator[_Part]:
        """Yield a run without spaces, cut in the middle until its pieces fit."""
        if part.tokens <= limit or part.end - part.start < 2:
            yield part
            return
        middle = (part.start + part.end) // 2
        for first, last in ((part.start, middle), (middle, part.end)):
            size = self._count(self._text[first:last])
            yield from self._halves(_Part(first, last, size, part.prose), limit)

    def _runs(
        self, start: int, end: int, limit: int, unit: re.Pattern[str], *, prose: bool = False
    ) -> Iterator[_Part]:
        """Yield runs of lines or words that fit together; a longer one is alone."""
        begin, used = start, 0
        for match in unit.finditer(self._text, start, end):
            size = self._count(match[0])
            if used and used + size > limit:
                yield _Part(begin, match.start(), used, prose)
                begin, used = match.start(), 0
            used += size
        if begin < end:
            yield _Part(begin, end, used, prose)

    def _fill(
        self, section: Sequence[_Part], headings: Sequence[tuple[int, str]]
    ) -> Iterator[Chunk]:
        """Yield the chunks of one section, each filled up to the target."""
        path = " > ".join(title for _, title in headings if title)
        filled: list[_Part] = []
        used = 0
        for part in section:
            alone = part.fence or (filled and filled[-1].fence)
            # A heading goes with what follows, even if that alone fills a chunk.
            limit = self._most if all(each.heading for each in filled) else self._target
            if filled and (alone or used + part.tokens > limit):
                yield from self._chunk(path, filled)
                filled = self._repeated(filled[-1], part)
                used = sum(each.tokens for each in filled)
            filled.append(part)
            used += part.tokens
        if filled:
            yield from self._chunk(path, filled)

    def _repeated(self, last: _Part, following: _Part) -> list[_Part]:
        """Return the last sentences of a chunk, with which the next one begins."""
        if not last.prose or following.fence:
            return []
        limit = min(self._overlap, self._most - following.tokens)
        for start in sentence_starts(self._text[last.start : last.end])[1:]:
            size = self._count(self._text[last.start + start : last.end])
            if size <= limit:
                return [_Part(last.start + start, last.end, size, prose=True)]
        return []

    def _chunk(self, path: str, parts: Sequence[_Part]) -> Iterator[Chunk]:
        text = self._text[parts[0].start : parts[-1].end].strip("\n")
        if parts[0].fence:
            opening, closing = parts[0].fence
            text = opening + text + closing
        if text.strip():
            yield Chunk(path, text, self._count(text), _blocks_of(parts, text))


def _blocks_of(parts: Sequence[_Part], text: str) -> Sequence[parsing.Block]:
    """Return the blocks of parts that are whole ones; none where any is not.

    Args:
        parts: of a chunk.
        text: of the chunk.
    """
    if not all(each.blocks for each in parts):
        return ()
    blocks = tuple(chain.from_iterable(each.blocks for each in parts))
    last = blocks[-1]
    if last.kind == CODE and not (last.markup and text.endswith(last.markup)):
        return ()  # code that nothing closes has the end of its last line, which the text has not
    return blocks


def snippet(
    text: str,
    terms: Collection[str],
    *,
    size: int = 280,
    windows: Sequence[tuple[int, int]] | None = None,
) -> str:
    """Return the part of a plain text that has the most of the terms; the earliest of equals.

    It begins and ends with sentences or paragraphs where these are short enough, and is marked with
    an ellipsis where it does not.

    Args:
        text: plain text.
        terms: lower-case words or beginnings of words.
        size: no more characters than this, from 240 on; at least 200 are used where the text has
            them.
        windows: of the text, as :func:`snippet_windows` gives them, where they are known.
    """
    text = text.strip()
    if len(text) <= size:
        return text
    start, end = _best_window(
        text, _known_windows(text, size) if windows is None else windows, terms
    )
    lead = "" if _is_border(text, start) else _ELLIPSIS
    tail = "" if _is_border(text, end) else _ELLIPSIS
    return lead + text[start:end].rstrip() + tail


def snippet_windows(text: str, size: int = 280) -> list[tuple[int, int]]:
    """Return where snippets of a plain text may begin and end, in order; none of a short text."""
    text = text.strip()
    if len(text) <= size:
        return []
    shortest = min(_SHORTEST_SNIPPET, size)
    spans = list(_short_spans(text, max(size // 2, 1)))
    ends = [end for _, end in spans]
    return [
        (start, _window_end(text, ends, start, size, shortest))
        for start, _ in spans
        if not start or len(text) - start >= shortest
    ]


#: The same passages answer many questions.
_known_windows = lru_cache(512)(snippet_windows)


def _best_window(
    text: str, windows: Sequence[tuple[int, int]], terms: Collection[str]
) -> tuple[int, int]:
    lower = text.lower()
    parts = [lower[start:end] for start, end in windows]
    found = [sum([term in part for term in terms]) for part in parts]
    return windows[found.index(max(found))]


def _window_end(text: str, ends: Sequence[int], start: int, size: int, shortest: int) -> int:
    """Return where a window from ``start`` ends: after sentences if these are long enough."""
    limit = start + size - 2 * len(_ELLIPSIS)
    if limit >= len(text):
        return len(text)
    fitting = ends[bisect_left(ends, start + shortest) : bisect_right(ends, limit)]
    if fitting:
        return next((end for end in reversed(fitting) if _is_border(text, end)), fitting[-1])
    blank = text.rfind(" ", start, limit)
    return blank if blank - start >= shortest else limit


def _is_border(text: str, position: int) -> bool:
    """Return whether a sentence or paragraph ends just before, or begins at, this position."""
    start = end = position
    while start and text[start - 1] in _CLOSERS:
        start -= 1
    while end < len(text) and text[end] in _CLOSERS:
        end += 1
    return not start or end == len(text) or text[start - 1] in ".!?:\n" or text[end] == "\n"


def _short_spans(text: str, size: int) -> Iterator[tuple[int, int]]:
    """Yield sentences as ``(start, end)``; those longer than ``size`` in parts."""
    start = 0
    for match in [*_SENTENCE_END.finditer(text), None]:
        end = match.start() + len(match.group().rstrip()) if match else len(text)
        while end - start > size:
            blank = text.rfind(" ", start + 1, start + size)
            cut = blank if blank > 0 else start + size
            yield start, cut
            start = cut + (blank > 0)
        if end > start:
            yield start, end
        start = match.end() if match else end


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a plain text; at least one, which is then empty."""
    if not _MAY_END.search(text):
        yield text
        return
    start = 0
    for match in _SENTENCE_END.finditer(text):
        yield text[start : match.start()] + match.group().rstrip()
        start = match.end()
    yield text[start:]


def sentence_starts(markdown: str) -> list[int]:
    """Return where the sentences of a paragraph begin, which may run over the ends of lines."""
    on_one_line = markdown.replace("\n", " ")
    ends = [match.end() for match in _SENTENCE_END.finditer(on_one_line)]
    return [0, *(end for end in ends if end < len(markdown))]
