"""Markdown as a sequence of plain pieces, and code blocks by rustdoc's conventions."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# Words of rustdoc's info strings that say how to test a block, not what language it is in.
RUSTDOC_WORD = re.compile(
    r"ignore(-.*)?|should_panic|no_run|compile_fail|test_harness|standalone(_crate)?|allow_fail"
    r"|edition\d{4}|E\d{4}|custom|[{.].*|.*}"
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


_TAG = re.compile(r"<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]*>", re.DOTALL)

# Texts that need no parser, which are most of an API's: paragraphs whose lines begin with a word,
# with no markup but simple code spans and links.
_CODE = r"`[^`\s](?:[^`\n]*[^`\s])?`(?!`)"

_WORDS = r"[^`\\*_\[\]<>&!|~\t\r\n\0\f\v]"

_LINK = rf"\[({_CODE}|{_WORDS}+)\]\((?:https?://|#)[^\s()<>\\`]*\)"

_LINE = rf"(?:[A-Za-z(\"']|{_CODE}|{_LINK})(?:{_WORDS}|!(?!\[)|{_CODE}|{_LINK})*+"

_SIMPLE = re.compile(rf"{_LINE}(?:\n+{_LINE})*+\n*")


_CODE_OR_LINK = re.compile(rf"({_CODE})|(?<!!){_LINK}")


def without_links(text: str) -> str:
    """Return Markdown with the words of its links alone; code, and links with markup, stay."""
    fence = ""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        mark = line.lstrip(" >")[:3]
        if mark in ("```", "~~~") and fence in ("", mark):
            fence = "" if fence else mark
        elif not fence:
            lines[number] = _CODE_OR_LINK.sub(r"\1\2", line)
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Piece:
    """One block of a text: a heading (``level`` > 0), code (``info`` is not None) or prose."""

    text: str
    level: int = 0
    info: str | None = None
    tight: bool = False


_MAKING = threading.Lock()


def _parser() -> MarkdownIt:
    """CommonMark with tables, made by the first thread that needs it while others wait."""
    with _MAKING:
        return _make_parser()


@lru_cache(maxsize=1)
def _make_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # only when a text needs it

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    # The first address makes tables that other threads would read half-filled.
    parser.parse("[a](b) <http://c.d/>")
    return parser


@lru_cache(maxsize=64)
def pieces(text: str) -> tuple[Piece, ...]:
    """Return the blocks of a text in order; cached for passages and examples of one text."""
    if _SIMPLE.fullmatch(text):
        return tuple(_simple_paragraphs(text))
    return tuple(parse_pieces(text))


def _simple_paragraphs(text: str) -> Iterator[Piece]:
    """Yield what the parser gives for a text that ``_SIMPLE`` matches."""
    for paragraph in re.split(r"\n\n+", text.strip("\n")):
        yield Piece(" ".join(_CODE_OR_LINK.sub(r"\1\2", paragraph).split()))


@lru_cache(maxsize=4)
def parse(text: str) -> list[Token]:
    """Return the parser's tokens, which are cached and must not be changed."""
    return _parser().parse(text)


def parse_pieces(text: str) -> Iterator[Piece]:
    """Yield the blocks of any text, by the parser."""
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
    """Return inline tokens as plain text on one line, without pictures in links (badges)."""
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
    for token in reversed(parse(text)):
        if token.type != "fence" or token.map is None:
            continue
        begin, end = token.map
        named = block_language(token.info, default_language)
        words = re.split(r"[\s,]+", token.info)
        notes = [word for word in words if word in _WORTH_KNOWING and RUSTDOC_WORD.fullmatch(word)]
        opening = lines[begin]
        fence = opening[: opening.index(token.markup) + len(token.markup)]
        last = end - 1 if lines[end - 1].strip(" >\t").startswith(token.markup) else end
        if named == "rust":
            lines[begin + 1 : last] = visible_lines(lines[begin + 1 : last])
        lines[begin] = fence + ",".join([named, *notes])
    return "\n".join(lines)
