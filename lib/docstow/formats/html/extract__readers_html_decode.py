"""Bytes of a web page to text, though what is said of their encoding may be wrong.

This room knows byte order marks, ``<meta charset>`` and how browsers read wrong labels. It does
not know HTML beyond that.
"""

from __future__ import annotations

import re

from docstow.text.decoding import decode

#: Browsers look for the declaration in the first 1024 bytes; generators that inline styles put
#: it later.
_HEAD = 8192
_DECLARED = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)|<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:-]+)",
    re.IGNORECASE,
)
#: One byte per character, so that any bytes fit: what they are called says little.
_LATIN = re.compile(r"(?:iso[-_]?8859[-_]?1|latin[-_]?1|us[-_]?ascii|ascii|l1)$", re.IGNORECASE)
_WIDE = {"utf16": "utf-16-le", "utf16le": "utf-16-le", "utf16be": "utf-16-be", "utf32": "utf-32-le"}
_HIGH = bytes(range(128, 256))
#: UTF-8 with some dirt has this many high bytes for each that is wrong.
_MOSTLY = 8
#: Western languages have no more high bytes than this; other scripts are left to a guess.
_SPARSE = 0.08
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
#: What XML, and so the parser, has no place for; U+FDD0 and U+FDD1 mark places of our own.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufdd0\ufdd1\ufffe\uffff]")


def page_text(body: bytes, charset: str = "") -> str:
    r"""Make text of a page, with ``\n`` as the only line end and no control characters.

    UTF-8 that decodes is UTF-8 whatever was declared: bytes of other encodings hardly ever do.
    Latin-1 means windows-1252, as in browsers.

    Args:
        body: the page's bytes.
        charset: what was sent with them; may be empty or wrong.

    Raises:
        UnreadableInput: the bytes are no text.
    """
    if body.startswith(_MARKS):
        return _clean(decode(body, name="The page"))
    wide = charset.lower().replace("-", "").replace("_", "")
    if wide in _WIDE:
        return _clean(body.decode(_WIDE[wide], "replace"))
    # Elsewhere NUL is dirt.
    body = body.replace(b"\0", b"")
    encoding = _encoding(body, charset)
    if encoding == "utf-8":
        return _clean(body.decode("utf-8", "replace"))
    return _clean(decode(body, encoding, name="The page"))


def _encoding(body: bytes, sent: str) -> str:
    """What to try first; empty where only a guess is left."""
    declared = _DECLARED.search(body[:_HEAD])
    found = (declared[1] or declared[2]).decode("ascii", "replace") if declared else ""
    named = next((name for name in (sent, found) if name and not _is_utf8(name)), "")
    if named.lower().startswith("iso-2022") and b"\x1b" in body:
        return named
    wrong = body.decode("utf-8", "replace").count("\ufffd")
    high = len(body) - len(body.translate(None, _HIGH))
    if not wrong or high > _MOSTLY * wrong:
        return "utf-8"
    if named:
        return "windows-1252" if _LATIN.match(named) else named
    return "windows-1252" if high < len(body) * _SPARSE else ""


def _is_utf8(name: str) -> bool:
    return name.lower().replace("-", "").replace("_", "") in {"utf8", "unicode", "utf8mb4"}


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n"))
