"""Code blocks by rustdoc's conventions: the info string and the hidden lines.

Source: the rustdoc book, "Documentation tests". Knows one block's lines, and nothing of where it
stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Words of rustdoc's info strings that say how to test a block, not what language it is in.
RUSTDOC_WORD = re.compile(
    r"ignore(-.*)?|should_panic|no_run|compile_fail|test_harness|standalone(_crate)?|allow_fail"
    r"|edition\d{4}|E\d{4}|custom|[{.].*|.*}"
)
_LANGUAGE_ALIASES = {"rs": "rust", "none": "text", "plain": "text", "plaintext": "text"}


def language(info: str, default: str) -> str:
    """The language that an info string names, in lower case."""
    words = [word for word in re.split(r"[\s,]+", info.strip()) if word]
    names = [word for word in words if not RUSTDOC_WORD.fullmatch(word)]
    if names:
        name = names[0].lower()
        return _LANGUAGE_ALIASES.get(name, name)
    return "rust" if words else default


def visible(lines: Iterable[str]) -> list[str]:
    """Leave out what rustdoc compiles but does not show: ``# use x;``; ``##`` stands for ``#``."""
    kept = []
    for line in lines:
        bare = line.strip()
        if bare.startswith("##"):
            kept.append(line.replace("##", "#", 1))
        elif bare != "#" and not bare.startswith("# "):
            kept.append(line)
    return kept
