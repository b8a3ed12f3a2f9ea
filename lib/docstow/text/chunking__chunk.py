"""Chunks: Markdown as passages of prose, whole code blocks, first sentences and snippets.

This room knows Markdown and rustdoc's code block conventions. It does not know which documents
texts belong to, how passages are embedded or how they are ranked.

Plain text here means: markup is gone, list items begin with ``- ``, cells are parted by ``|``, and
inline code keeps its backticks, so that ``Vec<T>`` and ``*const T`` stay what they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from docstow.text.markdown import Piece, pieces
from docstow.text.markdown__chunk_blocks import language, visible
from docstow.text.markdown__chunk_shown import shown
from docstow.text.sentences import sentences, snippet

__all__ = ["CHUNKER", "Block", "examples", "first_sentence", "plain", "shown", "snippet", "split"]

CHUNKER = "chunk/1"


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


def split(text: str, *, limit_words: int = 300) -> list[tuple[str, str]]:
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
        passages.extend((path, prose) for prose in _packed(section, limit_words))
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


def examples(text: str, *, default_language: str = "rust") -> list[Block]:
    """All code blocks of a Markdown text, fenced or indented, each whole.

    Args:
        text: Markdown; rustdoc's info strings (``ignore``, ``no_run``, ``edition2021``) are known.
        default_language: of blocks that name none.
    """
    blocks = []
    sentence = heading = ""
    for piece in pieces(text):
        if piece.level:
            sentence, heading = "", piece.text
        elif piece.info is None:
            *_, sentence = sentences(piece.text)
        else:
            named = language(piece.info, default_language)
            lines = piece.text.split("\n")
            code = "\n".join(visible(lines) if named == "rust" else lines)
            if code.strip():
                blocks.append(Block(named, code.strip("\n"), sentence or heading))
    return blocks


def first_sentence(text: str) -> str:
    """The first sentence of the first paragraph, as plain text on one line; may be empty."""
    for piece in pieces(text):
        if not piece.level and piece.info is None:
            return next(sentences(piece.text))
    return ""


def plain(markdown: str, *, code: bool = False) -> str:
    """Markdown as plain text, headings included; without code blocks unless they are wanted."""
    return _joined([piece for piece in pieces(markdown) if code or piece.info is None])


def _joined(pieces: Sequence[Piece]) -> str:
    """Pieces as one text: lists and tables by line, paragraphs by empty line."""
    text = ""
    for piece in pieces:
        text += ("\n" if piece.tight else "\n\n") * bool(text) + piece.text
    return text


def _packed(section: Sequence[Piece], limit_words: int) -> Iterator[str]:
    """Fill passages with whole pieces up to the limit."""
    passage: list[Piece] = []
    used = 0
    for piece in _within(section, limit_words):
        words = len(piece.text.split())
        if passage and used + words > limit_words:
            yield _joined(passage)
            passage, used = [], 0
        passage.append(piece)
        used += words
    if passage:
        yield _joined(passage)


def _within(section: Sequence[Piece], limit_words: int) -> Iterator[Piece]:
    """Pieces of no more words than the limit: sentences, or runs of words, of those with more."""
    for piece in section:
        if len(piece.text.split()) <= limit_words:
            yield piece
            continue
        for sentence in sentences(piece.text):
            words = sentence.split()
            for first in range(0, len(words), limit_words):
                yield Piece(" ".join(words[first : first + limit_words]), tight=True)
