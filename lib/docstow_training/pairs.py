"""Training pairs: a question-like text and the item that answers it, made from docs by rule."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from docstow.text.chunking import sentences
from docstow_training.everyday import EVERYDAY
from docstow_training.texts import Item

OPENINGS = (
    "",
    "",
    "",
    "",
    "",
    "how to ",
    "how do i ",
    "i want to ",
    "way to ",
    "what can i use to ",
)
_WORD = re.compile(r"[A-Za-z]+|[^A-Za-z]+")
_FEWEST, _MOST = 3, 30
_KEPT = 0.55
PATH, SIGNATURE, FIRST, REST, NAME = range(5)


@dataclass(frozen=True, slots=True)
class Pair:
    """A query and its answer.

    Attributes:
        query: what is asked.
        item: position of the item that answers.
        hidden: fields of the item that the query was taken from, which must not match it.
    """

    query: str
    item: int
    hidden: tuple[int, ...] = ()


def mined(items: Sequence[Item], chance: random.Random) -> Iterator[Pair]:
    """Pairs of each item: what it says of itself, asked in several ways, and what it still shows.

    The first sentence is asked with itself hidden, and in parts and everyday words with it in
    sight; the path and one later sentence are asked with themselves hidden.
    """
    for number, item in enumerate(items):
        if len(item.first.split()) >= _FEWEST:
            yield Pair(question(item.first, chance, change=0.3), number, (FIRST,))
            yield Pair(_partly(item.first, chance), number)
            yield Pair(_partly(item.first, chance), number, (PATH, NAME))
            path = item.path if chance.random() < 0.5 else item.name
            yield Pair(path, number, (PATH, NAME))
        later = [each for each in sentences(item.rest) if _FEWEST < len(each.split()) <= _MOST]
        if later:
            yield Pair(question(chance.choice(later), chance, change=0.3), number, (REST,))


def _partly(sentence: str, chance: random.Random) -> str:
    """About half of the words, as a question."""
    kept = [word for word in sentence.split()[:_MOST] if chance.random() < _KEPT]
    return question(" ".join(kept) or sentence, chance, change=0.6)


def question(sentence: str, chance: random.Random, *, change: float) -> str:
    """A sentence of documentation as somebody might ask for it.

    Args:
        sentence: ``Returns the number of elements in the map.``
        chance: decides.
        change: how likely a word is replaced by an everyday one (``get the count of ...``).
    """
    words = " ".join(sentence.split()[:_MOST]).rstrip(".:").lower()
    asked = "".join(_everyday(word, chance, change) for word in _WORD.findall(words))
    return chance.choice(OPENINGS) + asked


def _everyday(word: str, chance: random.Random, change: float) -> str:
    """The word, or one of those that people say for it."""
    if chance.random() >= change:
        return word
    others = EVERYDAY.get(word) or EVERYDAY.get(word.removesuffix("s"))
    return chance.choice(others) if others else word
