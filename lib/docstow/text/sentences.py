"""Plain text as sentences, and the few sentences that show a match best."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence

_SHORTEST_SNIPPET = 200
_ELLIPSIS = "\u2026"

_SENTENCE_END = re.compile(
    r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bcf\.)(?<!\bvs\.)(?<!\betc\.)(?<=[.!?])"
    r"[)\"'*_]*[ \t]+(?=[^a-z\s])"
    r"|(?<!\s)\s*\n\s*"
    # Chinese and Japanese have no space behind a sentence.
    "|(?<=[\u3002\uff0e\uff01\uff1f\uff61])[\u300d\u300f\uff09\u3011\u201d\u2019]*[ \t]*(?=\\S)"
)


def snippet(text: str, terms: Collection[str], *, size: int = 280) -> str:
    """Return the part of a plain text that has the most of the terms; the earliest of equals.

    It begins and ends with sentences or paragraphs where these are short enough, and is marked with
    an ellipsis where it does not.

    Args:
        text: plain text.
        terms: lower-case words or beginnings of words.
        size: no more characters than this, from 240 on; at least 200 are used where the text has
            them.
    """
    text = text.strip()
    if len(text) <= size:
        return text
    shortest = min(_SHORTEST_SNIPPET, size)
    spans = list(_short_spans(text, max(size // 2, 1)))
    ends = [end for _, end in spans]
    lower = text.lower()
    best, best_found = (0, 0), -1
    for start, _ in spans:
        if start and len(text) - start < shortest:
            break
        end = _window_end(text, ends, start, size, shortest)
        found = sum(term in lower[start:end] for term in terms)
        if found > best_found:
            best, best_found = (start, end), found
    start, end = best
    lead = "" if _is_border(text, start) else _ELLIPSIS
    tail = "" if _is_border(text, end) else _ELLIPSIS
    return lead + text[start:end].rstrip() + tail


def _window_end(text: str, ends: Sequence[int], start: int, size: int, shortest: int) -> int:
    """Return where a window from ``start`` ends: after sentences if these are long enough."""
    limit = start + size - 2 * len(_ELLIPSIS)
    if limit >= len(text):
        return len(text)
    fitting = ends[bisect_left(ends, start + shortest) : bisect_right(ends, limit)]
    whole = [end for end in fitting if _is_border(text, end)]
    if whole or fitting:
        return (whole or fitting)[-1]
    blank = text.rfind(" ", start, limit)
    return blank if blank - start >= shortest else limit


def _is_border(text: str, position: int) -> bool:
    """Return whether a sentence or paragraph ends just before, or begins at, this position."""
    before, after = text[:position].rstrip(" \"')"), text[position:].lstrip(" \"')")
    return not before or not after or before[-1] in ".!?:\n" or after[0] == "\n"


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
