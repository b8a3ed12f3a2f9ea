"""Texts that speak to an assistant instead of its user (prompt injection), found by rules.

What is screened is third-party text that an agent is about to read. A mark says why; it proves
nothing, and what is not marked is not safe. The rules are in :mod:`docstow.text.injection_rules`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

from docstow.core.patterns import lazy_pattern
from docstow.text.disguises import undone
from docstow.text.injection_rules import (
    CALLS,
    DATA,
    ENCODED,
    FAINT,
    FOREIGN,
    IMAGES,
    PARTS,
    ROLE,
    ROLES,
    RULES,
    STRONG,
    TOOL,
    WEAK,
    Rule,
    compiled,
)

#: Characters within which two weak reasons count together.
_NEAR = 300
#: From so many texts on one pattern finds a word with all that may stand behind it. To compile it
#: takes milliseconds, which a process that begins would spend on dozens of words.
_SELDOM = 4
_wanted = Counter[tuple[str, tuple[str, ...]]]()
#: Lines through letters.
_STRUCK = lazy_pattern("[\u0332\u0335-\u0338]")
#: Letters of Cyrillic and Greek that look like Latin ones.
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁһӏкмтвнгԛԝοαιερτυνκχηω",
    "aeopcyxijsdhlkmtbhrqwoaieptuvkxnw",
)
_MIXED = lazy_pattern("[a-z][\u0370-\u052f]|[\u0370-\u052f][a-z]")
#: Hebrew, Arabic, Devanagari, Thai, Japanese, Chinese, Korean.
_OTHER_SCRIPT = lazy_pattern(
    "[\u0590-\u05ff\u0e00-\u0e7f\u0600-\u06ff\u0900-\u097f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]"
)
#: Signs within words, those of emphasis, and all that stand between words.
_WITHIN = ("_", "-", "[", "]", '"')
_EMPHASIS = ("*", "`")
_TYPED = (
    *((sign, "'") for sign in "\u2018\u2019"),
    *((sign, " ") for sign in "\u2010\u2011\u2013\u2014\u201c\u201d\u2026\u00b7\u2022"),
)
_BETWEEN = str.maketrans(dict.fromkeys("!#$%&()*+,./:;<=>?@\\^{|}~", " "))
#: The same for texts of ASCII alone, which are most.
_EMPHASIS_BYTES = "".join(_EMPHASIS).encode()
_WITHIN_BYTES = bytes.maketrans("".join(_WITHIN).encode(), b" " * len(_WITHIN))
_BETWEEN_BYTES = bytes.maketrans(bytes(_BETWEEN), b" " * len(_BETWEEN))
#: Words of phrases in other languages: a text without any of them has none.
_FOREIGN_WORDS = frozenset().union(*(phrase.words for phrase in FOREIGN))


class _Row(NamedTuple):
    """A rule, with the words of which one is needed."""

    rule: Rule
    needs: frozenset[str]


_ByHead = Mapping[str, Sequence[_Row]]


def screen(text: str) -> tuple[str, ...]:
    """Return why a text seems to speak to an assistant; nothing for most texts.

    Args:
        text: Markdown, code or a name, without invisible characters.
    """
    folded = _fold(text)
    words = _split(folded)
    distinct = set(words)
    reasons = _judge(text, folded, distinct)
    if not reasons:
        for other in undone(text, folded, words, distinct):
            plain = _fold(other)
            if found := _judge(other, plain, set(_split(plain))):
                return ENCODED, *found
    return tuple(reasons)


def _fold(text: str) -> str:
    """Return a text in which the same words are always written alike."""
    if not text.isascii():
        for sign, typed in _TYPED:
            text = text.replace(sign, typed)
        if not text.isascii():
            text = _STRUCK.sub("", unicodedata.normalize("NFKC", text))
    if text.isascii():
        plain = text.encode("ascii").translate(_WITHIN_BYTES, _EMPHASIS_BYTES)
        return " ".join(plain.lower().decode("ascii").split())
    for sign in _EMPHASIS:
        text = text.replace(sign, "")
    for sign in _WITHIN:
        text = text.replace(sign, " ")
    words = text.lower().split()
    return " ".join(
        each.translate(_LOOKALIKES) if not each.isascii() and _MIXED.search(each) else each
        for each in words
    )


def _split(folded: str) -> list[str]:
    """Return the words of a folded text, without the signs between them."""
    if folded.isascii():
        return folded.encode("ascii").translate(_BETWEEN_BYTES).decode("ascii").split()
    return folded.translate(_BETWEEN).split()


def _judge(text: str, folded: str, words: set[str]) -> list[str]:
    """Return the reasons of what is found: strong ones, and weak ones near each other."""
    found = [*_match(_rules(), folded, words), *_match_others(text, folded, words)]
    if found:
        found += _match(_rules(faint=True), folded, words)
    found.sort()
    strong = [reason for _, weight, reason in found if weight == STRONG]
    near = []
    for place, (at, weight, first) in enumerate(found):
        for other, beside, second in islice(found, place + 1, None):
            if other > at + _NEAR:
                break
            if first != second and weight + beside > 2 * FAINT:
                near += [first, second]
    return list(dict.fromkeys(strong + near))


def _match(by_head: _ByHead, folded: str, words: set[str]) -> Iterator[tuple[int, int, str]]:
    """Yield where a rule matches, its weight and its reason."""
    for head in by_head.keys() & words:
        rules = [rule for rule, needs in by_head[head] if not needs or not needs.isdisjoint(words)]
        if not rules:
            continue
        tails, at = tuple(rule.tail for rule in rules), folded.find(head)
        _wanted[head, tails] += 1
        if _wanted[head, tails] > _SELDOM:
            anything = _behind(head, tails).search(folded)
            at = anything.start() if anything else -1
        while at >= 0:
            end = at + len(head)
            if not (folded[at - 1 : at].isalnum() or folded[end : end + 1].isalnum()):
                for rule in rules:
                    if compiled(rule.tail).match(folded, end):
                        yield at, rule.weight, rule.reason
            at = folded.find(head, end)


@cache
def _behind(head: str, tails: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of a word with any of some tails.

    It begins with the word's letters, for which the regular expression's engine looks fast.
    """
    word, tail = re.escape(head), "|".join(f"(?:{each})" for each in tails)
    return compiled(rf"{word}(?<![^\W_]{word})(?![^\W_])(?:{tail})")


def _match_others(text: str, folded: str, words: set[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the same of what needs signs, and of languages other than English."""
    for table, weight, reason in ((ROLES, WEAK, ROLE), (CALLS, STRONG, TOOL)):
        for sign, pattern in table:
            if sign in text:
                for mark in compiled(pattern).finditer(f"\n{text}"):
                    yield mark.start(), weight, reason
    if "![" in text:
        for mark in IMAGES.finditer(text):
            yield mark.start(), STRONG, DATA
    for phrase in () if _FOREIGN_WORDS.isdisjoint(words) else FOREIGN:
        if not phrase.words.isdisjoint(words) and (
            match := compiled(phrase.pattern).search(folded)
        ):
            yield match.start(), STRONG, phrase.reason
    if not text.isascii() and _OTHER_SCRIPT.search(folded):
        for reason, patterns in PARTS:
            if all(compiled(each).search(folded) for each in patterns):
                yield 0, STRONG, reason


@cache
def _rules(*, faint: bool = False) -> _ByHead:
    """Return the rules by the words that they begin with: those that are faint, or all others."""
    rules: dict[str, list[_Row]] = {}
    for rule in RULES:
        if (rule.weight == FAINT) == faint:
            for head in dict.fromkeys(rule.heads.split()):
                rules.setdefault(head, []).append(_Row(rule, frozenset(rule.needs.split())))
    return rules
