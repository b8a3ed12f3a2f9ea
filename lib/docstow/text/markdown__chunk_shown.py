"""Markdown of rustdoc as rustdoc shows it: code blocks name their language, hidden lines are gone.

Knows where code blocks stand in a text, and leaves every other line as it is.
"""

from __future__ import annotations

import re

from docstow.text.markdown import parse
from docstow.text.markdown__chunk_blocks import RUSTDOC_WORD, language, visible

# What a reader of the code must know; the other words concern rustdoc's tests alone.
_WORTH_KNOWING = {"compile_fail", "should_panic"}


def shown(text: str, *, default_language: str = "rust") -> str:
    """Rewrite the fenced code blocks of a Markdown text.

    Args:
        text: Markdown with rustdoc's info strings and hidden lines.
        default_language: of blocks that name none.
    """
    if "```" not in text and "~~~" not in text:
        return text
    lines = text.split("\n")
    # From the end, so that the places of earlier blocks stay valid.
    for token in reversed(parse(text)):
        if token.type != "fence" or token.map is None:
            continue
        begin, end = token.map
        named = language(token.info, default_language)
        words = re.split(r"[\s,]+", token.info)
        notes = [word for word in words if word in _WORTH_KNOWING and RUSTDOC_WORD.fullmatch(word)]
        opening = lines[begin]
        fence = opening[: opening.index(token.markup) + len(token.markup)]
        last = end - 1 if lines[end - 1].strip(" >\t").startswith(token.markup) else end
        if named == "rust":
            lines[begin + 1 : last] = visible(lines[begin + 1 : last])
        lines[begin] = fence + ",".join([named, *notes])
    return "\n".join(lines)
