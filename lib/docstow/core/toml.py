"""TOML of strangers: what costs more than its length to parse is refused."""

from __future__ import annotations

import re
import tomllib
from typing import Any

TomlError = tomllib.TOMLDecodeError

#: Parts of a dotted key. The parser walks from the root for each of them, so its time grows with
#: their square or more; tables by hand have five.
_MOST_PARTS = 32

_PART = r"(?>[A-Za-z0-9_-]+|\"[^\"\n]*\"|'[^'\n]*')[ \t]*+"
_DEEP_KEY = re.compile(rf"(?<![A-Za-z0-9_-]){_PART}(?:\.[ \t]*+{_PART}){{{_MOST_PARTS}}}")


def loads(text: str) -> dict[str, Any]:
    """Parse TOML.

    Raises:
        TomlError: it is none, or has a key of more than 32 parts, or is nested too deeply. It is a
            ValueError.
    """
    if deep := _DEEP_KEY.search(text):
        line = text.count("\n", 0, deep.start()) + 1
        raise TomlError(f"a key of more than {_MOST_PARTS} parts (line {line})")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise TomlError("nested too deeply") from None
