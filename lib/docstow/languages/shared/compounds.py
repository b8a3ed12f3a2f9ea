"""Words that are written as one, taken apart: ``hexsha`` is ``hex`` and ``sha``.

The parts are words of the vocabulary of the bundled vectors, which numbers them by how common they
are; of several ways the one with the commonest words is taken.
"""

from __future__ import annotations

import math
from functools import lru_cache

from docstow.embedding import word_vectors

_SHORTEST, _LONGEST, _LONGEST_PART, _SHORTEST_PART = 6, 24, 12, 3
_MOST_PARTS = 3
#: Words of two letters that are parts of others.
_SHORT = frozenset(
    {
        *("to", "is", "by", "in", "of", "on", "at", "id", "as", "no", "un", "re", "io", "up", "ip"),
        *("db", "pw", "fs", "go", "or", "if", "do", "ok"),
    }
)
#: From this number on words of code follow, counted anew, which are that much rarer.
_CODE, _RARER = 27_600, 4
_COMMON, _COMMON_IN_CODE = 200, 2_500


@lru_cache(maxsize=5_000)
def parts(word: str) -> tuple[str, ...]:
    """Return the parts of a word in lower case; itself where it is a word, or has none."""
    is_long = _SHORTEST <= len(word) <= _LONGEST
    if not is_long or not word.isalpha() or word_vectors().number(word) is not None:
        return (word,)
    best: list[tuple[float, tuple[str, ...]] | None] = [(0.0, ()), *[None] * len(word)]
    for end in range(1, len(word) + 1):
        for begin in range(max(0, end - _LONGEST_PART), end):
            before, part = best[begin], word[begin:end]
            if before is None or len(before[1]) == _MOST_PARTS:
                continue
            rarity = _rarity(part)
            here = best[end]
            if rarity is not None and (here is None or before[0] + rarity < here[0]):
                best[end] = before[0] + rarity, (*before[1], part)
    found = best[-1]
    return found[1] if found is not None else (word,)


def _rarity(part: str) -> float | None:
    if len(part) < _SHORTEST_PART and part not in _SHORT:
        return None
    vectors = word_vectors()
    number = vectors.number(part)
    if number is None and part.endswith("s"):
        number = vectors.number(part[:-1])
    if number is None:
        return None
    is_code = number >= _CODE
    return math.log(_COMMON_IN_CODE + _RARER * (number - _CODE) if is_code else _COMMON + number)
