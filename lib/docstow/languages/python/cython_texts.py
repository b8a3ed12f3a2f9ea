"""The texts of a compiled module, which Cython keeps compressed, and the signatures among them.

Cython joins the texts and bytes of a module, sorted, and packs them by zlib or, since 3.3, by a
method of its own: a byte of eight flags, lowest first, stands before eight parts, each of which is
a byte as it is (1) or the place and length of bytes before it (0).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from contextlib import suppress

#: What the C code that unpacks them says if it fails.
_OWN_METHOD = b"LZSS string"
#: How data of zlib begin.
_ZLIB = re.compile(rb"x[\x9c\xda]")
#: Bytes of texts that belong to a module: shorter pieces are none.
_SHORTEST = 64
_LONGEST = 16 * 1024 * 1024
#: The end of texts that are packed by Cython's own method has no mark.
_LONGEST_OWN = 512 * 1024
#: Where the compiler puts constants of some length.
_ALIGNMENT = 32
#: How texts packed by Cython's own method begin: flags, of which the lowest three are set, then
#: bytes as they are, since the shortest repetition has three.
_PACKED = re.compile(
    rb"[%s][\0\t\n\r -~]{3}" % b"".join(re.escape(bytes([each])) for each in range(7, 256, 8))
)
#: Bytes that are unpacked to see whether they are texts, and of which it is seen where these end.
_BEGINNING = 150
_PIECE = 4096
#: The least share of readable bytes in texts, and where these end.
_READABLE = 0.97
_LEAST_READABLE = 0.3
_LETTERS = bytes([9, 10, 13, *range(32, 127)])
#: A text of every module.
_ALWAYS = b"__main__"
#: What every module that Cython compiled has in it.
CYTHON = b"__pyx_"


def embedded_signatures(body: bytes, name: str) -> list[str]:
    """Return the signatures that docstrings begin with: ``tostring(element, method="xml")``.

    Cython writes them there (``embedsignature``), of classes those of their constructors, and of
    methods without their classes.

    Args:
        body: the module's file.
        name: of functions, classes or methods.
    """
    if CYTHON not in body:
        return []
    inside = rb"[^()\0]|\([^()\0]*\)"
    found = re.findall(rb"\0(%s\((?:%s)*\))(?=[\0\n ])" % (name.encode(), inside), body)
    return [" ".join(each.decode("utf-8", "replace").split()) for each in found]


def compressed_texts(body: bytes) -> Iterator[bytes]:
    """Yield the texts that are compressed in a compiled module, with what stands behind them.

    Args:
        body: the module's file.
    """
    if _OWN_METHOD in body:
        for start in range(0, len(body) - _BEGINNING, _ALIGNMENT):
            if _PACKED.match(body, start) and _is_readable(_unpacked(body, start, _BEGINNING)):
                text = _unpacked(body, start, _LONGEST_OWN)
                if _ALWAYS in text:
                    yield bytes(text)
                    break  # A module has one of them.
    view = memoryview(body)
    for found in _ZLIB.finditer(body):
        with suppress(zlib.error):
            inflated = zlib.decompressobj().decompress(view[found.start() :], _LONGEST)
            if len(inflated) >= _SHORTEST:
                yield inflated


def _is_readable(text: bytearray) -> bool:
    return len(text) >= _BEGINNING and _share(text) >= _READABLE


def _share(text: bytes | bytearray) -> float:
    """Return the share of readable bytes."""
    return 1 - len(text.translate(None, _LETTERS)) / len(text)


def _unpacked(body: bytes, at: int, most: int) -> bytearray:
    """Unpack what Cython's own method packed, as far as it can be read."""
    found = bytearray()
    checked = _PIECE
    with suppress(IndexError):
        while len(found) < most:
            if len(found) >= checked:
                if _share(found[-_PIECE:]) < _LEAST_READABLE:
                    break  # Behind the texts, bytes and other data of the module follow.
                checked = len(found) + _PIECE
            flags = body[at]
            at += 1
            for bit in range(8):
                if flags >> bit & 1:
                    found.append(body[at])
                    at += 1
                    continue
                low, high = body[at], body[at + 1]
                at += 2
                if low < 0x80:
                    back, length = low, high
                elif high < 0x80:
                    back, length = 0x80 + (high << 2 & 0x180 | low & 0x7F), high & 0x1F
                else:
                    back, length = 0x80 + ((high & 0x7F) << 7 | low & 0x7F), body[at]
                    at += 1
                length += 3
                start = len(found) - back - length
                if start < 0:
                    return found
                found += found[start : start + length]
    return found
