"""Tokens of single texts by a WordPiece vocabulary, without the index that a tokenizer makes of it.

To load a tokenizer takes longer than all else that a first search does with the model. So its file
is read as JSON, and a tokenizer without a vocabulary splits the text into words; the pieces of a
word are the longest that the vocabulary has, from its beginning on (Y. Wu et al., "Google's Neural
Machine Translation System", 2016, section 4.1).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class WordPieces:
    """What :class:`tokenizers.Tokenizer` would do with the same file. Threads may share it.

    Args:
        file: a tokenizer as JSON: a normalizer, a splitter into words and a WordPiece model.
        most: a text has so many tokens at most; further ones are left out.
    """

    def __init__(self, file: bytes, most: int) -> None:
        fields: dict[str, Any] = json.loads(file)
        model = fields["model"]
        self._numbers: dict[str, int] = model["vocab"]
        self._inner: str = model["continuing_subword_prefix"]
        self._longest: int = model["max_input_chars_per_word"]
        self._unknown = self._numbers[model["unk_token"]]
        self._most = most
        model["vocab"] = {model["unk_token"]: 0}
        self._splitting = json.dumps(fields)
        self._splitter: Tokenizer | None = None

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, piece: str) -> int | None:
        """Return the number of a piece; None where the vocabulary does not have it."""
        return self._numbers.get(piece)

    def encode(self, text: str) -> list[int]:
        """Return the numbers of a text's tokens."""
        return list(islice(self._encode(text), self._most))

    def _encode(self, text: str) -> Iterator[int]:
        if self._splitter is None:
            from tokenizers import Tokenizer

            self._splitter = Tokenizer.from_str(self._splitting)
        normalizer, splitter = self._splitter.normalizer, self._splitter.pre_tokenizer
        for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text)):
            yield from self._pieces(word)

    def _pieces(self, word: str) -> list[int]:
        if len(word) > self._longest:
            return [self._unknown]
        found, begin = list[int](), 0
        while begin < len(word):
            prefix = self._inner if begin else ""
            ends = range(len(word), begin, -1)
            named = ((end, self._numbers.get(prefix + word[begin:end])) for end in ends)
            end, number = next((each for each in named if each[1] is not None), (0, None))
            if number is None:
                return [self._unknown]
            found.append(number)
            begin = end
        return found
