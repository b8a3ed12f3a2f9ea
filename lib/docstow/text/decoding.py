"""Bytes to text: by a byte order mark, a charset that was sent, UTF-8, or a guess.

HTML's own ``<meta charset>`` is read by :mod:`docstow.formats.html`.
"""

from __future__ import annotations

import codecs

from docstow.core.errors import UnreadableInput

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: A guess reads no more than this: more makes it slower and not better.
_SAMPLE = 32 * 1024


def decode(body: bytes, charset: str = "", *, name: str = "The file") -> str:
    r"""Decode bytes to text, with ``\n`` as the only line end and without NUL.

    Args:
        body: the bytes.
        charset: what was sent with them; tried first, and used only where it fits.
        name: for the message of an error.

    Raises:
        UnreadableInput: the bytes are no text.
    """
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return _normalise_lines(body[len(mark) :].decode(encoding, "replace").replace("\0", ""))
    if b"\0" in body:
        raise UnreadableInput(f"{name} is no text: it has NUL bytes.")
    for encoding in (charset, "utf-8"):
        try:
            return _normalise_lines(_decode_strictly(body, encoding))
        except (LookupError, UnicodeError, ValueError):
            continue
    return _normalise_lines(body.decode(_guess(body, name), "replace").replace("\0", ""))


def _decode_strictly(body: bytes, encoding: str) -> str:
    # Python knows codecs that are no charsets, such as hex: only what gives text counts.
    if not encoding or not codecs.lookup(encoding)._is_text_encoding:  # noqa: SLF001
        raise LookupError(encoding)
    return body.decode(encoding)


def _guess(body: bytes, name: str) -> str:
    from charset_normalizer import from_bytes

    guesses = from_bytes(body[:_SAMPLE])
    # Western texts fit their neighbours' encodings nearly as well: the common one is meant.
    western = (guess for guess in guesses if guess.encoding == "cp1252")
    best = next(western, None) or guesses.best()
    if best is None:
        raise UnreadableInput(f"{name} is no text in any encoding that docstow knows.")
    return best.encoding


def _normalise_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
