"""Facts about an item that its attributes and its span state."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from docstow.languages.rust.rustdoc.file import RustdocFile
from docstow.languages.rust.rustdoc.schema import Item

_MUST_USE = re.compile(
    r'#\[must_use(?:\s*=\s*"((?:[^"\\]|\\.)*)")?\]|MustUse(?: \{reason: "(.*)"\})?'
)
_OLD_STABILITY = re.compile(r'#\[(stable|unstable)\(.*?feature = "([^"]*)"', re.DOTALL)
_OLD_SINCE = re.compile(r'since = "([^"]*)"')
_STABILITY = re.compile(
    r"Stability \{stability: Stability \{level: (Stable|Unstable)(.*?)\},\s*feature: \"([^\"]*)\"",
    re.DOTALL,
)
_SINCE = re.compile(r"major: (\d+), minor: (\d+), patch: (\d+)")


class _Span(msgspec.Struct):
    filename: str
    begin: tuple[int, int]


_span = msgspec.json.Decoder(_Span | None)


def attribute_texts(attributes: Iterable[str | dict[str, Any]]) -> list[str]:
    """Return the attributes that are text, and the text of those that are ``other``."""
    texts = (each if isinstance(each, str) else each.get("other") for each in attributes)
    return [each for each in texts if isinstance(each, str)]


def item_facts(file: RustdocFile, item: Item) -> dict[str, Any]:
    """Return the document attributes that come from an item's own attributes and span."""
    found: dict[str, Any] = {}
    if item.deprecation is not None:
        found["deprecated"] = msgspec.structs.asdict(item.deprecation)
    if bytes(item.attrs) != b"[]":
        for each in file.attrs(item):
            _add(found, each)
    if item.stability is not None:
        found["stability"] = _level(item.stability)
    span = _span.decode(item.span)
    if span is not None:
        found["source"] = f"{span.filename}:{span.begin[0]}"
    return found


def _add(found: dict[str, Any], attribute: str | dict[str, Any]) -> None:
    if isinstance(attribute, dict):
        if "must_use" in attribute:
            found["must_use"] = (attribute["must_use"] or {}).get("reason") or True
            return
        attribute = str(attribute.get("other", ""))
    if attribute in {"non_exhaustive", "#[non_exhaustive]", '#[attr = "NonExhaustive"]'}:
        found["non_exhaustive"] = True
    elif "must_use" in attribute or "MustUse" in attribute:
        if must_use := _MUST_USE.match(attribute.removeprefix("#[attr = ")):
            found["must_use"] = must_use[1] or must_use[2] or True
    elif "table(" in attribute or "Stability {" in attribute:
        stability = _printed_stability(attribute)
        if stability:
            found["stability"] = stability


def _printed_stability(text: str) -> dict[str, str]:
    """Return the stability before format 58, which stated it as an attribute."""
    if found := _OLD_STABILITY.match(text):
        since = _OLD_SINCE.search(text)
        return _without_empty(found[1], found[2], since[1] if since else "")
    if found := _STABILITY.search(text):
        since = _SINCE.search(found[2])
        return _without_empty(found[1].lower(), found[3], ".".join(since.groups()) if since else "")
    return {}


def _level(stability: dict[str, Any]) -> dict[str, str]:
    """Return the stability of formats 58 to 60 (``level`` a word) and 61 (an object)."""
    level, since = stability.get("level", ""), stability.get("since")
    if isinstance(level, dict):
        ((level, detail),) = level.items()
        since = detail.get("since") if isinstance(detail, dict) else None
    return _without_empty(str(level), str(stability.get("feature") or ""), str(since or ""))


def _without_empty(level: str, feature: str, since: str) -> dict[str, str]:
    values = {"level": level, "feature": feature, "since": since}
    return {key: value for key, value in values.items() if value}
