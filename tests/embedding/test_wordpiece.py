"""Tokens by the vocabulary alone, beside those of the tokenizer that the same file makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from docstow import embedding
from docstow.embedding.wordpiece import WordPieces

FILE = Path(embedding.__file__).parent / "bundled" / "tokenizer.json"
MOST = 24

PIECES = WordPieces(FILE.read_bytes(), MOST)
TOKENIZER = Tokenizer.from_file(str(FILE))
TOKENIZER.enable_truncation(MOST)


def told(text: str) -> list[int]:
    (encoded,) = TOKENIZER.encode_batch_fast([text], add_special_tokens=False)
    return list(encoded.ids)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "wait for several things at once",
        "HTTPServer::bindToAddress x86_64 utf8 4k sha256",
        "Größe naïve Ελληνικά русский язык",
        "日本語の文書を検索する 한국어 ไทย",
        "unbelievably antidisestablishmentarianism qzxqzx",
        "a" * 64,
        "a" * 65,
        "word " * 40,
        "e\u0301tude \u0130stanbul \ufb01ne \U0001f600 x\u200dy",
        "\x00\x7f\ufffd",
    ],
)
def test_a_text_has_the_tokenizers_tokens(text: str) -> None:
    assert PIECES.encode(text) == told(text)


@given(st.text(max_size=60))
def test_any_text_has_the_tokenizers_tokens(text: str) -> None:
    assert PIECES.encode(text) == told(text)


def test_every_piece_has_the_tokenizers_number() -> None:
    vocabulary = TOKENIZER.get_vocab()
    assert len(PIECES) == len(vocabulary)
    assert {piece: PIECES.number(piece) for piece in vocabulary} == vocabulary
    assert PIECES.number("no such piece") is None
