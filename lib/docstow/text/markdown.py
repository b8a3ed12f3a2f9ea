"""Markdown as a sequence of plain pieces, and code blocks by rustdoc's conventions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from docstow.core.patterns import lazy_pattern
from docstow.text.parsing import CODE, HEADING, HTML, ITEM, PARAGRAPH, ROW, Block, parse

# Words of rustdoc's info strings that say how to test a block, not what language it is in.
RUSTDOC_WORD = lazy_pattern(
    r"ignore(-.*)?|should_panic|no_run|compile_fail|test_harness|standalone(_crate)?|allow_fail"
    r"|edition\d{4}|E\d{4}|custom|[{.].*|.*}"
)

#: A fenced block of code, whole; one that is not closed reaches to the end.
FENCED = lazy_pattern(
    r"^[ >\t]*(```+|~~~+).*?(?:^[ >\t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)

#: A link or a picture: the sign of a picture, the label, the target.
LINK = lazy_pattern(
    r"(!?)\[((?:[^\[\]\n]|\[[^\[\]\n]*\]){0,160})\]"
    r"\(<?([^()\s>]{1,500}(?:\([^()\s]*\))?)>?(?:\s+\"[^\"]*\")?\)"
)

_LANGUAGE_ALIASES = {"rs": "rust", "none": "text", "plain": "text", "plaintext": "text"}


def block_language(info: str, default: str) -> str:
    """Return the language that the info string of a code block names, in lower case."""
    words = [word for word in re.split(r"[\s,]+", info.strip()) if word]
    names = [word for word in words if not RUSTDOC_WORD.fullmatch(word)]
    if names:
        name = names[0].lower()
        return _LANGUAGE_ALIASES.get(name, name)
    return "rust" if words else default


def visible_lines(lines: Iterable[str]) -> list[str]:
    """Leave out what rustdoc compiles but does not show: ``# use x;``; ``##`` stands for ``#``."""
    kept = []
    for line in lines:
        bare = line.strip()
        if bare.startswith("##"):
            kept.append(line.replace("##", "#", 1))
        elif bare != "#" and not bare.startswith("# "):
            kept.append(line)
    return kept


_TAG = lazy_pattern(r"<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]*>", re.DOTALL)

_CODE = r"`[^`\s](?:[^`\n]*[^`\s])?`(?!`)"

_WORDS = r"[^`\\*_\[\]<>&!|~\t\r\n\0\f\v]"

_LINK = rf"\[({_CODE}|{_WORDS}+)\]\((?:https?://|#)[^\s()<>\\`]*\)"

_CODE_OR_LINK = lazy_pattern(rf"({_CODE})|(?<!!){_LINK}")


def without_links(text: str) -> str:
    """Return Markdown with the words of its links alone; code, and links with markup, stay."""
    if "](" not in text:
        return text
    fence = ""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        mark = line.lstrip(" >")[:3]
        if mark in ("```", "~~~") and fence in ("", mark):
            fence = "" if fence else mark
        elif not fence and "](" in line:
            lines[number] = _CODE_OR_LINK.sub(r"\1\2", line)
    return "\n".join(lines)


class Piece(NamedTuple):
    """One block of a text: a heading (``level`` > 0), code (``info`` is not None) or prose."""

    text: str
    level: int = 0
    info: str | None = None
    tight: bool = False


@lru_cache(maxsize=64)
def pieces(text: str) -> tuple[Piece, ...]:
    """Return the blocks of a text in order; cached for passages and examples of one text."""
    return tuple(pieces_of(parse(text)))


def pieces_of(blocks: Iterable[Block]) -> Iterator[Piece]:
    """Yield the pieces of some blocks of a text that is parsed already."""
    opens = False  # whether an item waits for its first words
    for block in blocks:
        kind = block.kind
        if kind == CODE:
            yield Piece(block.text, info=block.info)
        elif kind == ITEM:
            opens = True
        elif kind == ROW:
            yield Piece(block.text, tight=True)
        elif kind == HTML:
            words = " ".join(_TAG.sub(" ", block.text).split())
            if words:
                yield Piece(words)
        elif not block.text:
            continue
        elif kind == HEADING:
            yield Piece(block.text, block.level)
        elif kind == PARAGRAPH:
            yield Piece(f"- {block.text}" if opens else block.text, tight=opens or block.tight)
            opens = False


# What a reader of the code must know; the other words concern rustdoc's tests alone.
_WORTH_KNOWING = {"compile_fail", "should_panic"}


@lru_cache(maxsize=512)
def rewrite_code_blocks(text: str, *, default_language: str = "rust") -> str:
    """Rewrite the fenced code blocks of a Markdown text as rustdoc shows them.

    What is shown is kept: the same items answer many questions.

    Args:
        text: Markdown with rustdoc's info strings and hidden lines.
        default_language: of blocks that name none.
    """
    if "```" not in text and "~~~" not in text:
        return text
    lines = text.split("\n")
    # From the end, so that the places of earlier blocks stay valid.
    for block in reversed(parse(text)):
        if block.kind != CODE or not block.markup:
            continue
        begin, end = block.begin, block.end
        named = block_language(block.info, default_language)
        words = re.split(r"[\s,]+", block.info)
        notes = [word for word in words if word in _WORTH_KNOWING and RUSTDOC_WORD.fullmatch(word)]
        opening = lines[begin]
        fence = opening[: opening.index(block.markup) + len(block.markup)]
        last = end - 1 if lines[end - 1].strip(" >\t").startswith(block.markup) else end
        if named == "rust":
            lines[begin + 1 : last] = visible_lines(lines[begin + 1 : last])
        lines[begin] = fence + ",".join([named, *notes])
    return "\n".join(lines)
