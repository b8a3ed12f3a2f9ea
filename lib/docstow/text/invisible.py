"""Characters that no reader of a text sees, and that can carry instructions or disguise code.

Unicode's tags, marks of direction ("Trojan Source", CVE-2021-42574), characters of no width, and
variation selectors in a row. They are dropped from code too: what is shown is what is stored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from docstow.core.model import Document
from docstow.core.patterns import lazy_pattern

#: Scripts in which joiners are spelling: Arabic, Syriac, N'Ko, those of India, Sri Lanka, Tibet,
#: Burma, Cambodia and Mongolia, and the presentation forms of Arabic.
_SCRIPT = lazy_pattern(
    "[\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc]"
)
#: Emoji and what modifies them; a joiner between two makes one picture of them.
_EMOJI = lazy_pattern("[\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]")
_SELECTORS, _JOINERS = "\ufe00-\ufe0f\U000e0100-\U000e01ef", "\u200c\u200d"
_OTHERS = "\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f"
#: A run of them. One selector of a variant may be meant, and a joiner after it.
_ANY = f"[{_SELECTORS}{_JOINERS}{_OTHERS}]"
_FIRST = lazy_pattern(_ANY)
_RUN = lazy_pattern(f"(?={_ANY})(?P<selector>[{_SELECTORS}]?)(?P<joiner>[{_JOINERS}]?){_ANY}*")
#: The attribute of a document that counts what was dropped from it.
INVISIBLE = "invisible"

#: Types of JSON values without characters.
_ATOMS = frozenset((int, float, bool, type(None)))


def may_hide(text: str) -> bool:
    """Return whether a text has characters of those that :func:`drop_invisible` drops or weighs."""
    return not text.isascii() and _FIRST.search(text) is not None


def drop_invisible(text: str) -> tuple[str, int]:
    """Return a text without invisible characters, and their number.

    Joiners stay where they are spelling or make one emoji of several.
    """
    if not may_hide(text):
        return text, 0
    shown = _RUN.sub(_kept, text)
    return shown, len(text) - len(shown)


def _kept(run: re.Match[str]) -> str:
    """Return what is meant of a run of invisible characters."""
    text = run.string
    before, after = text[max(run.start() - 1, 0) : run.start()], text[run.end() : run.end() + 1]
    spelling = _SCRIPT.match(before)
    picture = run["joiner"] == "\u200d" and _EMOJI.match(before) and _EMOJI.match(after)
    return run["selector"] + (run["joiner"] if spelling or picture else "")


def drop_from_value(value: Any) -> tuple[Any, int]:
    """Return a JSON value whose strings have no invisible characters, and their number."""
    return (value, 0) if _is_plain(value) else _drop_from_value(value)


def _is_plain(value: Any) -> bool:
    """Return whether a value has ASCII alone, as most have; others may have."""
    kind = type(value)
    if kind is str:
        return bool(value.isascii())
    if kind is dict:
        return all(map(_is_plain, value.values()))
    if kind is list or kind is tuple:
        return all(map(_is_plain, value))
    return kind in _ATOMS


def _drop_from_value(value: Any) -> tuple[Any, int]:
    if isinstance(value, str):
        return drop_invisible(value)
    if isinstance(value, Mapping):
        pairs = {name: _drop_from_value(each) for name, each in value.items()}
        total = sum(number for _, number in pairs.values())
        return ({name: each for name, (each, _) in pairs.items()}, total) if total else (value, 0)
    if isinstance(value, list | tuple):
        items = [_drop_from_value(each) for each in value]
        total = sum(number for _, number in items)
        return (type(value)(each for each, _ in items), total) if total else (value, 0)
    return value, 0


def drop_from_document(document: Document) -> Document:
    """Return a document without invisible characters; :data:`INVISIBLE` counts them if any."""
    title, in_title = drop_invisible(document.title)
    text, in_text = drop_invisible(document.text)
    signature, in_signature = drop_invisible(document.signature)
    attributes, in_attributes = drop_from_value(document.attributes)
    total = in_title + in_text + in_signature + in_attributes
    if not total:
        return document
    return replace(
        document,
        title=title,
        text=text,
        signature=signature,
        attributes={**attributes, INVISIBLE: total},
    )
