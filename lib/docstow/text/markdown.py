"""Markdown as a sequence of plain pieces: headings, prose and code blocks.

Knows markup, and nothing of passages, sentences or what code is written in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_TAG = re.compile(r"<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]*>", re.DOTALL)
# Texts that need no parser, which are most of an API's: paragraphs whose lines begin with a word,
# with no markup but simple code spans and links.
_CODE = r"`[^`\s](?:[^`\n]*[^`\s])?`(?!`)"
_WORDS = r"[^`\\*_\[\]<>&!|~\t\r\n\0\f\v]"
_LINK = rf"\[({_CODE}|{_WORDS}+)\]\((?:https?://|#)[^\s()<>\\`]*\)"
_LINE = rf"(?:[A-Za-z(\"']|{_CODE}|{_LINK})(?:{_WORDS}|!(?!\[)|{_CODE}|{_LINK})*+"
_SIMPLE = re.compile(rf"{_LINE}(?:\n+{_LINE})*+\n*")
_CODE_OR_LINK = re.compile(rf"({_CODE})|{_LINK}")


@dataclass(frozen=True, slots=True)
class Piece:
    """One block of a text: a heading (``level`` > 0), code (``info`` is not None) or prose."""

    text: str
    level: int = 0
    info: str | None = None
    tight: bool = False


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    """CommonMark with tables, imported only when a text needs it."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


@lru_cache(maxsize=64)
def pieces(text: str) -> tuple[Piece, ...]:
    """The blocks of a text in order; cached, as each text is asked for passages and examples."""
    if _SIMPLE.fullmatch(text):
        return tuple(_simple_paragraphs(text))
    return tuple(parsed(text))


def _simple_paragraphs(text: str) -> Iterator[Piece]:
    """What the parser would give for a text that ``_SIMPLE`` matches."""
    for paragraph in re.split(r"\n\n+", text.strip("\n")):
        yield Piece(" ".join(_CODE_OR_LINK.sub(r"\1\2", paragraph).split()))


@lru_cache(maxsize=4)
def parse(text: str) -> list[Token]:
    """The parser's tokens, to be read only: a text is asked for pieces and for chunks."""
    return _parser().parse(text)


def parsed(text: str) -> Iterator[Piece]:
    """The blocks of any text, by the parser."""
    tokens = parse(text)
    item_open = False
    row: list[str] = []
    for position, token in enumerate(tokens):
        if token.type in ("fence", "code_block"):
            yield Piece(token.content, info=token.info)
        elif token.type == "html_block":
            words = " ".join(_TAG.sub(" ", token.content).split())
            if words:
                yield Piece(words)
        elif token.type == "list_item_open":
            item_open = True
        elif token.type == "tr_close":
            yield Piece(" | ".join(row), tight=True)
            row = []
        elif token.type == "inline":
            words = inline_text(token.children or [])
            opener = tokens[position - 1]
            if opener.tag in ("td", "th"):
                row.append(words)
            elif words and opener.type == "heading_open":
                yield Piece(words, level=int(opener.tag[1:]))
            elif words:
                yield Piece("- " + words if item_open else words, tight=item_open or opener.hidden)
                item_open = False


def inline_text(children: Sequence[Token]) -> str:
    """Inline tokens as plain text on one line; pictures inside links (badges) are left out."""
    parts = []
    links = 0
    for token in children:
        if token.type == "text":
            parts.append(token.content)
        elif token.type == "code_inline":
            ticks = "``" if "`" in token.content else "`"
            parts.append(f"{ticks}{token.content}{ticks}")
        elif token.type in ("softbreak", "hardbreak", "html_inline"):
            parts.append(
                " " if token.type != "html_inline" or token.content.startswith("<br") else ""
            )
        elif token.type == "image" and not links:
            parts.append(token.content)
        elif token.type in ("link_open", "link_close"):
            links += token.nesting
    return " ".join("".join(parts).split())
