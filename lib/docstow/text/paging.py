"""Long Markdown in pages: each within a limit, none empty, together the whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass

#: Characters that a token of English and code takes on average, for bounding a page.
CHARACTERS_PER_TOKEN = 4

#: Longest info string of a fence that is opened again; a longer one is cut.
_LONGEST_INFO = 30

#: The lines of so many texts are kept that have no more characters.
_TEXTS_KEPT, _LONGEST_KEPT = 128, 50_000

# A fenced code block (CommonMark 0.31, section 4.5), in quotes and list items too.
_OPENING = lazy_pattern(
    r"([ \t>]*)((?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}(?=[^`\n]*$)|~{3,})[ \t]*(.*)"
)
_CLOSING = lazy_pattern(r"[ \t>]*(`{3,}|~{3,})[ \t]*\n?")
_FENCED_LINE = lazy_pattern(r"^.*(?:```|~~~).*\n?", re.MULTILINE)
_HEADING = lazy_pattern(r" {0,3}#{1,6}(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Part:
    """A page of a text.

    Attributes:
        text: what stands in it; a code block that is cut is closed, and opened again at the
            beginning of the next part, in lines of their own.
        following: where the next part begins; None where the text ends.
        first: the line of the whole that it begins in, from 1.
        last: the line that it ends in; the next part begins in the same one where a single line
            is longer than a page.
    """

    text: str
    following: int | None
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _Fence:
    """An open code block: its mark, and the lines that close and open it."""

    mark: str
    opening: str
    closing: str


def part(text: str, begin: int, limit: int) -> Part:
    """Return as much of a Markdown text from a place on as fits.

    It is cut between paragraphs, list items and code blocks; within one that is longer than a
    page between lines; within a line that is longer than a page anywhere.

    Args:
        text: the whole.
        begin: where the part begins: 0, or an earlier part's ``following``.
        limit: the most characters of the part's text; at least 100.
    """
    fence = _open_fence(text, text.rfind("\n", 0, begin) + 1)
    opening = fence.opening if fence else ""
    end = _find_end(text, begin, limit - len(opening), fence)
    shown = opening + text[begin:end]
    if end < len(text) and (cut := _open_fence(text, text.rfind("\n", 0, end) + 1)):
        shown += cut.closing if shown.endswith("\n") else f"\n{cut.closing}"
    return Part(
        shown,
        end if end < len(text) else None,
        first=text.count("\n", 0, begin) + 1,
        last=text.count("\n", 0, max(end - 1, begin)) + 1,
    )


def count_lines(text: str) -> int:
    """Return how many lines a text has, a last one without its end included."""
    return text.count("\n") + (not text.endswith("\n"))


def _find_end(text: str, begin: int, limit: int, fence: _Fence | None) -> int:
    """Return where a part ends that has room for so many characters of the text."""
    if len(text) - begin <= limit:
        return len(text)
    line_end = block_end = begin
    kept = not begin and len(text) <= _LONGEST_KEPT
    lines = _kept_lines(text) if kept else _read_lines(text, begin, fence)
    for end, fence, ends in lines:
        if end - begin + (len(fence.closing) if fence else 0) > limit:
            break
        line_end = end
        if ends:
            block_end = end
    if line_end - begin < limit // 4:  # the next line is longer than a page
        return begin + _cut_line(text[begin : begin + limit], fence)
    whole = block_end > begin and _is_block_within(text, block_end, limit)
    return block_end if whole or block_end - begin >= limit // 2 else line_end


def _read_lines(
    text: str, begin: int, fence: _Fence | None
) -> Iterator[tuple[int, _Fence | None, bool]]:
    """Yield the lines from a place on, where a code block may be open.

    Of each: its end, the code block that is open there, and whether a block ends with it that is no
    heading: that stays with what follows.
    """
    place, headed = begin, False
    while place < len(text):
        line = text[place : text.find("\n", place) + 1 or len(text)]
        # The state after a line depends on the whole of it, though a part may begin within it.
        fence = _after(text[text.rfind("\n", 0, place) + 1 : place] + line, fence)
        place += len(line)
        headed = headed if not line.strip() else fence is None and bool(_HEADING.match(line))
        ends = fence is None and not headed and _ends_block(line, text[place : place + 20])
        yield place, fence, ends


@lru_cache(_TEXTS_KEPT)
def _kept_lines(text: str) -> Sequence[tuple[int, _Fence | None, bool]]:
    """Return the lines of a whole text: the same few texts are cut again, at other places."""
    return tuple(_read_lines(text, 0, None))


def _ends_block(line: str, following: str) -> bool:
    return not line.strip() or following.lstrip().startswith("- ")


def _is_block_within(text: str, begin: int, limit: int) -> bool:
    """Return whether the block that begins at a place is no longer than a page."""
    fence, place = None, begin
    while place < len(text) and place - begin <= limit:
        end = text.find("\n", place) + 1 or len(text)
        fence = _after(text[place:end], fence)
        if fence is None and _ends_block(text[place:end], text[end : end + 20]):
            return end - begin <= limit
        place = end
    return place - begin <= limit


def _cut_line(line: str, fence: _Fence | None) -> int:
    """Return how much of a line is shown that is longer than a page."""
    if fence is not None:
        return max(1, len(line) - len(fence.closing) - 1)
    space = line.rfind(" ") + 1
    return space if space > len(line) // 2 else len(line)


def _open_fence(text: str, end: int) -> _Fence | None:
    """Return the code block that is open before a line."""
    fence = None
    for line in _FENCED_LINE.finditer(text, 0, end):
        fence = _after(line[0], fence)
    return fence


def _after(line: str, fence: _Fence | None) -> _Fence | None:
    """Return the code block that is open after a line, by the one that is open before it."""
    if "```" not in line and "~~~" not in line:
        return fence
    if fence is not None:
        closing = _CLOSING.fullmatch(line)
        return None if closing and closing[1].startswith(fence.mark) else fence
    opening = _OPENING.match(line)
    if opening is None:
        return None
    indent = opening[1] + " " * len(opening[2] or "")
    info = opening[4].strip()[:_LONGEST_INFO]
    return _Fence(opening[3], f"{indent}{opening[3]}{info}\n", f"{indent}{opening[3]}\n")
