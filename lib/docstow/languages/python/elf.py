"""The sections of a compiled module that are loaded: its code and data, without names of symbols.

Format: System V ABI, "Object Files" (ELF), of 64 bits with the lowest byte first.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

_MAGIC = b"\x7fELF\x02\x01"
#: Where the header has the offset of the section headers, and their size, count and names.
_HEADERS, _COUNTS = 0x28, 0x3A
#: Name, type, flags, address, offset and size of a section.
_SECTION = struct.Struct("<IIQQQQ")
_STRING_TABLE, _NO_BITS, _SYMBOLS = 3, 8, 11
_LOADED = 2


def contains(body: bytes, text: bytes) -> bool:
    """Return whether a compiled module has a text where it is not the name of a symbol.

    Those of C functions, and what is there to debug them, say nothing of Python's names.

    Args:
        body: the module's file. All of it counts where it is no ELF file with sections.
        text: what is searched.
    """
    ranges = list(_loaded(body)) or [(0, len(body))]
    return any(body.find(text, start, end) >= 0 for start, end in ranges)


def _loaded(body: bytes) -> Iterator[tuple[int, int]]:
    """Yield where the sections begin and end that are loaded and hold no names of symbols."""
    if not body.startswith(_MAGIC):
        return
    try:
        (offset,) = struct.unpack_from("<Q", body, _HEADERS)
        size, count = struct.unpack_from("<HH", body, _COUNTS)
        for number in range(count):
            _, kind, flags, _, start, length = _SECTION.unpack_from(body, offset + number * size)
            if flags & _LOADED and kind not in {_STRING_TABLE, _NO_BITS, _SYMBOLS}:
                yield start, start + length
    except struct.error:
        yield 0, len(body)
