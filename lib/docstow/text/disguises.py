"""What a text says when its disguise is taken off: encodings, letters apart, backwards, misspelled.

Each disguise has a cheap sign by which most texts are passed over.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import contextlib
import html
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from itertools import filterfalse, islice, pairwise
from urllib.parse import unquote

from docstow.core.patterns import lazy_pattern

#: Blobs of Base64, Base32 or hex, and characters that are looked for in them.
_BLOB = lazy_pattern(r"[A-Za-z0-9+/_-]{32,}={0,2}")
_BASE32 = lazy_pattern(r"[A-Z2-7]{40,}={0,6}")
_HEX = lazy_pattern(r"[0-9a-fA-F]{40,}")
_LONGEST_BLOB, _MOST_BLOBS = 4000, 20
#: Words without blanks, where a text says that it is in Base85.
_BASE85 = lazy_pattern(r"[!-~]{30,}")
#: Codes of characters as numbers: bits, two hexadecimal digits, three octal ones, decimal numbers.
_NUMBERS = (
    (lazy_pattern(r"\b[01]{8}(?:[ ,]{1,2}[01]{8}){11,}\b"), 2),
    (lazy_pattern(r"\b(?:0x)?[0-9a-fA-F]{2}(?:[ :,]{1,2}(?:0x)?[0-9a-fA-F]{2}){15,}\b"), 16),
    (lazy_pattern(r"\b[01][0-7]{2}(?:[ ,]{1,2}[01][0-7]{2}){15,}\b"), 8),
    (lazy_pattern(r"\b\d{2,3}(?:[ ,]{1,2}\d{2,3}){15,}\b"), 10),
)
#: So many in a row; those of letters begin with a digit in every base.
_IN_ROW = lazy_pattern(r"(?:\d\w{1,8}[ :,]{1,2}){11}")
_ESCAPED = lazy_pattern(r"(?:%[0-9a-fA-F]{2}){4}|%20")
_CODE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_CODES = lazy_pattern(rf"(?:{_CODE.pattern}){{8}}")
_MORSE = lazy_pattern(r"(?:[.-]{1,5} (?:/ )?){12,}[.-]{1,5}")
_MORSE_CODE = dict(
    zip(
        (
            *(".-", "-...", "-.-.", "-..", ".", "..-.", "--.", "....", "..", ".---", "-.-", ".-.."),
            *("--", "-.", "---", ".--.", "--.-", ".-.", "...", "-", "..-", "...-", ".--", "-..-"),
            *("-.--", "--.."),
        ),
        "abcdefghijklmnopqrstuvwxyz",
        strict=True,
    )
)
#: Letters one by one, with the same between all of them.
_SPACED = lazy_pattern(r"\b\w(?:([ .\-_]{1,3})\w){7,}\b")
#: Every second character of a text with single blanks, where six words are single letters.
_SINGLE_LETTERS = " " * 7
#: Letters with a sign between all of them, and the same around blanks.
_SIGNED = lazy_pattern(r"(?<!\w)(?:\w([.*|/_-]) ?\1?){10,}\w(?!\w)")
_HYPHEN = lazy_pattern(r"(?<=[A-Za-z])-(?=[A-Za-z])")
_BEFORE, _AFTER = lazy_pattern(r"[a-z]+\Z"), lazy_pattern(r"[a-z]+")
#: Letters of a word on one side of a hyphen.
_SYLLABLES = 10
#: What stands before each line of a quotation or a comment.
_QUOTED = lazy_pattern(r"\n[ \t]*(?:>|//|--)+[ \t]?(?=\w)")
#: Between the parts of a text that code puts together.
_CONCATENATED = lazy_pattern(r"""(['"])\s*(?:\+|\.\.|;\s*\w+\s*=)\s*['"]""")
_LEET_WORD = lazy_pattern(r"[a-z][013457][a-z]|\b[013457][a-z]{2}")
_LEETS = tuple(str.maketrans("013457@$", f"o{one}eastas") for one in "il")
#: Small capitals, and letters in squares and circles.
_SMALL = str.maketrans(
    "\u1d00\u0299\u1d04\u1d05\u1d07\ua730\u0262\u029c\u026a\u1d0a\u1d0b\u029f\u1d0d\u0274\u1d0f\u1d18\u01eb\u0280\ua731\u1d1b\u1d1c\u1d20\u1d21\u028f\u1d22",
    "abcdefghijklmnopqrstuvwyz",
)
_BADGES = str.maketrans(
    {
        start + place: chr(ord("a") + place)
        for start in (0x1F130, 0x1F150, 0x1F170, 0x1F1E6)
        for place in range(26)
    }
)
_UNUSUAL = lazy_pattern(
    "[\u1d00-\u1d22\u0262\u026a\u0274\u0280\u028f\u029f\ua730\ua731\U0001f130-\U0001f189\U0001f1e6-\U0001f1ff]{4}"
)
#: Letters with marks above or below them, at least every second of a word.
_ACCENTED = lazy_pattern("(?:[a-z]?[\u00e0-\u024f\u1e00-\u1eff]\u0301?){3}")
#: What asks for letters to be moved in the alphabet.
_ROTATED = ("rot13", "rot 13", "by 13", "13 letters", "caesar")
#: Words of attacks.
_KEYWORDS = frozenset(
    (
        *("ignore", "disregard", "forget", "previous", "earlier", "instructions", "instruction"),
        *("reveal", "system", "prompt", "assistant", "password", "secret", "override"),
    )
)
_BACKWARDS = frozenset(word[::-1] for word in _KEYWORDS if len(word) > len("ignore"))
_ROT13 = frozenset(codecs.decode(word, "rot13") for word in _KEYWORDS)


def undone(
    text: str, folded: str, words: Sequence[str], distinct: Collection[str]
) -> Iterator[str]:
    """Yield what a text says with each disguise taken off whose sign it has.

    Args:
        text: as it is.
        folded: the same where words are always written alike.
        words: of that.
        distinct: each once.
    """
    yield from _escapes(text)
    yield from _blobs(text, folded)
    yield from _numbers(text)
    yield from _letters_apart(text, words)
    yield from _plain_letters(text, folded, distinct)
    yield from _turned(text, folded, words, distinct)
    yield from _joined(text)


def _escapes(text: str) -> Iterator[str]:
    """Undo escapes of HTML, URLs and code."""
    if "&#" in text or "&amp" in text:
        yield html.unescape(text)
    if "%" in text and _ESCAPED.search(text):
        yield unquote(text)
    if ("\\u" in text or "\\x" in text) and _CODES.search(text):
        yield _CODE.sub(lambda code: chr(int(code[1] or code[2], 16)), text)


def _blobs(text: str, folded: str) -> Iterator[str]:
    """Decode what is in Base64, Base32, Base85 or hex; what was encoded twice, too."""
    for blob in islice(_BLOB.finditer(text), _MOST_BLOBS):
        for said in _decode(blob[0][:_LONGEST_BLOB]):
            yield said
            if _BLOB.fullmatch(said):
                yield from _decode(said)
    if "base85" in folded or "ascii85" in folded:
        for blob in islice(_BASE85.finditer(text), _MOST_BLOBS):
            for decode in (base64.b85decode, base64.a85decode):
                with contextlib.suppress(ValueError):
                    yield from _readable(decode(blob[0][:_LONGEST_BLOB]))


def _decode(blob: str) -> Iterator[str]:
    if _BASE32.fullmatch(blob):
        with contextlib.suppress(binascii.Error):
            yield from _readable(base64.b32decode(blob + "=" * (-len(blob) % 8)))
    if _HEX.fullmatch(blob):
        yield from _readable(bytes.fromhex(blob[: len(blob) // 2 * 2]))
        return
    with contextlib.suppress(binascii.Error):
        altchars = b"-_" if "-" in blob or "_" in blob else None
        yield from _readable(base64.b64decode(blob + "=" * (-len(blob) % 4), altchars))


def _readable(data: bytes) -> Iterator[str]:
    with contextlib.suppress(UnicodeDecodeError):
        said = data.decode()
        if said.replace("\n", " ").isprintable():
            yield said


def _numbers(text: str) -> Iterator[str]:
    """Yield what codes of characters say that are written as numbers, or in Morse's code."""
    for pattern, base in _NUMBERS if _IN_ROW.search(text) else ():
        for run in islice(pattern.finditer(text), _MOST_BLOBS):
            codes = re.split(r"[ :,]+", run[0][:_LONGEST_BLOB])
            said = "".join(chr(int(each, base)) for each in codes if each)
            if said.isprintable() and said.isascii():
                yield said
    signs = " ." in text and " -" in text
    for run in islice(_MORSE.finditer(text), _MOST_BLOBS) if signs else ():
        yield "".join(_MORSE_CODE.get(each, " ") for each in run[0].split())


def _letters_apart(text: str, words: Sequence[str]) -> Iterator[str]:
    """Join words whose letters stand apart, or that hyphens divide where none belong."""
    spaced = f" {' '.join(words)} "
    if _SINGLE_LETTERS in spaced[::2] or _SINGLE_LETTERS in spaced[1::2]:
        yield _SPACED.sub(_join_letters, text)
        if _SIGNED.search(text):
            yield _SIGNED.sub(_join_signed, text)
    if "-" in text and not _KEYWORDS.isdisjoint(_unhyphenated(text)):
        yield _HYPHEN.sub("", text)


def _join_letters(run: re.Match[str]) -> str:
    """Return words whose letters stood apart; a longer gap, or another, is one between words."""
    return re.sub(rf"(?<=\w){re.escape(run[0][1])}(?=\w)", "", run[0])


def _join_signed(run: re.Match[str]) -> str:
    """Return words between whose letters a sign stood, and two around a blank between words."""
    sign = run[1]
    return " ".join(each.replace(sign, "") for each in run[0].split(f"{sign} {sign}"))


def _unhyphenated(text: str) -> Iterator[str]:
    """Yield each two parts of words as one word, between which there is a hyphen."""
    for before, after in pairwise(text.split("-")):
        first = _BEFORE.search(before[-_SYLLABLES:].lower())
        second = _AFTER.match(after[:_SYLLABLES].lower())
        if first and second:
            yield first[0] + second[0]


def _plain_letters(text: str, folded: str, distinct: Collection[str]) -> Iterator[str]:
    """Yield a text with usual letters in place of digits, marked and decorated ones."""
    unusual = " ".join(filterfalse(str.isalpha, distinct))
    if len(_LEET_WORD.findall(unusual)) > 1:
        for letters in _LEETS:
            yield folded.translate(letters)
    if text.isascii():
        return
    if _UNUSUAL.search(text):
        yield text.translate(_SMALL).translate(_BADGES)
    if _ACCENTED.search(folded):
        parts = unicodedata.normalize("NFKD", text)
        yield "".join(each for each in parts if not unicodedata.combining(each))


def _turned(
    text: str, folded: str, words: Sequence[str], distinct: Collection[str]
) -> Iterator[str]:
    """Yield a text with its letters, or its alphabet, the right way round."""
    if any(each in folded for each in _ROTATED) or not _ROT13.isdisjoint(distinct):
        yield codecs.decode(text, "rot13")
    if "revers" in folded or "backwards" in folded or not _BACKWARDS.isdisjoint(distinct):
        yield text[::-1]
    if len(_TYPOS.keys() & distinct) > 1:
        yield " ".join(_TYPOS.get(each, each) for each in words)


def _misspelled(word: str) -> Iterator[str]:
    """Yield a word with two letters in each other's place, one left out, or one twice."""
    for at in range(1, len(word) - 1):
        yield word[:at] + word[at + 1 :]
        yield word[: at + 1] + word[at:]
        if at < len(word) - 2:
            yield word[:at] + word[at + 1] + word[at] + word[at + 2 :]


#: Words of attacks as somebody may misspell them, with what is meant.
_TYPOS = {typo: word for word in _KEYWORDS for typo in _misspelled(word) if typo not in _KEYWORDS}


def _joined(text: str) -> Iterator[str]:
    """Yield a text without what divides it: signs of quotations, or parts that code joins."""
    if len(_QUOTED.findall(text)) > 1:
        yield _QUOTED.sub("\n", text)
    if _CONCATENATED.search(text):
        yield _CONCATENATED.sub("", text)
